# Made by nbs/build_stubs.py from oiafb.py and nbs/hints.txt.  Do not edit.
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, TypeVar
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
import numpy as np
from .core import InvalidInput, as_integer, as_number
from .estimation import radius_fb
from .exploration import compose, never
from .learner import check_learner
from .oiafc import mixing_corollary1
from .exploration import Exploration
from .learner import Learner
from .oracle import Oracle
from .exploration import Plan
from .scoring import ScoringRule
from .information import Setting

_Path = str | PathLike[str]
_T = TypeVar('_T')
_F = TypeVar('_F')
_R = TypeVar('_R', bound=Any)

def sets_of_beliefs(setting: Setting) -> tuple[float,int]: ...
def event_failure(setting: Setting, budget: int, a: float) -> float: ...
def budget_parameter(setting: Setting, budget: int, delta: float) -> float: ...
def safest(run: Exploration) -> tuple[ScoringRule,int]: ...
def before_a_success(run: Exploration) -> bool: ...
def best_or_safest(run: Exploration, plan: Plan | None) -> dict[str,Any]: ...
def oiafb(setting: Setting, oracle: Oracle, *, eps: float, budget: int, a: float | None=..., delta: float | None=..., solver: str=..., watch: Callable[[Any], object] | None=...) -> Learner: ...
