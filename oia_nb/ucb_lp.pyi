# Made by nbs/build_stubs.py from ucb_lp.py and nbs/hints.txt.  Do not edit.
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, TypeVar
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
import numpy as np
from .programs import Solution, program_route
from .scoring import ScoringRule
from .oracle import Oracle
from .information import Setting

_Path = str | PathLike[str]
_T = TypeVar('_T')
_F = TypeVar('_F')
_R = TypeVar('_R', bound=Any)

def ucb_bounds(setting: Setting, I: np.ndarray, C_hat: np.ndarray, I_c: np.ndarray, arm: int) -> np.ndarray: ...
class OptimisticPrograms:
    def __init__(self, setting: Setting, oracle: Oracle, solver: str=...) -> None: ...
    @property
    def lp_solves(self) -> int: ...
    def solve(self, counts: np.ndarray, I: np.ndarray, C_hat: np.ndarray, I_c: np.ndarray) -> Optimistic: ...
    def program(self, k: int) -> Any: ...
class Optimistic:
    def __init__(self, programs: Any, counts: np.ndarray, I: np.ndarray, asks: Any, found: Any) -> None: ...
    def rule(self, k: int) -> ScoringRule: ...
