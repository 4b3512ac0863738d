# Made by nbs/build_stubs.py from oiafb.py and nbs/hints.txt.  Do not edit.
from collections.abc import Callable
from typing import Any
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

def event_failure(setting: Setting, budget: int, a: float) -> float: ...
def budget_parameter(setting: Setting, budget: int, delta: float) -> float: ...
def safest(run: Exploration) -> tuple[ScoringRule,int]: ...
def before_a_success(run: Exploration) -> bool: ...
def best_or_safest(run: Exploration, plan: Plan | None) -> dict[str,Any]: ...
def oiafb(setting: Setting, oracle: Oracle, *, eps: float, budget: int, a: float | None=..., delta: float | None=..., solver: str=..., watch: Callable[[Any], object] | None=...) -> Learner: ...
