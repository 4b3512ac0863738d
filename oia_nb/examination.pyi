# Made by nbs/build_stubs.py from examination.py and nbs/hints.txt.  Do not edit.
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, TypeVar
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from collections.abc import Callable
from dataclasses import dataclass
import numpy as np
from .core import as_integer, generator
from .scoring import ScoringRule, menu_rule, mix
from .sharp.evidence import BETS
from .told import Check

_Path = str | PathLike[str]
_T = TypeVar('_T')
_F = TypeVar('_F')
_R = TypeVar('_R', bound=Any)

SHARPNESS: tuple
SHIFTS: tuple
def miscalibrated(support): ...
class CalibrationWatch:
    def __init__(self, support, K=...) -> None: ...
    def see(self, arm, belief, state): ...
LOG_MOST: float
class PriorWatch:
    def __init__(self, setting) -> None: ...
    def see(self, arm, belief): ...
@dataclass(frozen=True, eq=False)
class Boundary:
    k: int
    j: int
    anchor: ScoringRule
    beyond: ScoringRule
    limits: Callable
    def __init__(self, k: int, j: int, anchor: ScoringRule, beyond: ScoringRule, limits: Callable) -> None: ...
    def is_sure(self, arm, s): ...
OFF: float
HALVINGS: int
def last_held(holds): ...
def sides(boundary, end): ...
def fresh_rule(setting, rng): ...
FRESH: Any
DIRECTIONS: Any
def examine(ask, setting, answers, *, boundaries=..., fresh=..., seed=...): ...
def ask_again(ask, answers): ...
def cross(ask, setting, boundaries, fresh, seed): ...
def crossings(setting, boundary, boundaries, fresh, rng): ...
