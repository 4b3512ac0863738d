# Made by nbs/build_stubs.py from open_setting.py and nbs/hints.txt.  Do not edit.
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, TypeVar
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from dataclasses import dataclass, replace
import numpy as np
from .core import REPORT_TOL, InvalidInput, OracleViolated, Value, as_array
from .core import as_integer, as_number
from .estimation import Transcript
from .information import Setting
from .learner import FORCED, INIT, NORMAL, Certificate, Identification, Learner, announce, check_learner, confirm, finish, three_digits
from .oracle import Oracle
from .scoring import menu_rule
from .sharp.learner import sharp
from .told import ALARM, Told
from .scoring import ScoringRule

_Path = str | PathLike[str]
_T = TypeVar('_T')
_F = TypeVar('_F')
_R = TypeVar('_R', bound=Any)

@dataclass(frozen=True, eq=False)
class OpenSetting(Value):
    utility: np.ndarray
    bound: float
    arms: tuple
    states: tuple | None
    decisions: tuple | None
    def __init__(self, utility: ArrayLike, bound: float, arms: Any, states: Any | None = ..., decisions: Any | None = ...) -> None: ...
    @property
    def K(self) -> int: ...
    @property
    def W(self) -> int: ...
    @property
    def spread(self) -> float: ...
    def closed(self, beliefs: Any) -> Setting: ...
@dataclass(frozen=True, eq=False)
class OpenRule(Value):
    tickets: np.ndarray
    bound: float
    def __init__(self, tickets: ArrayLike, bound: float) -> None: ...
    def on(self, support: ArrayLike) -> ScoringRule: ...
def freeze_bound(m, r, K, delta): ...
class Seen:
    def __init__(self, open_setting, delta) -> None: ...
    def place(self, report): ...
    def see(self, arm, report): ...
    @property
    def mass(self): ...
MASS_SHARE: Any
NEWS_SHARE: Any
@dataclass(frozen=True, eq=False)
class Discovery:
    found: Identification
    setting: Setting
    rule: OpenRule
    arm: int
    status: str
    bound: float
    charge: float
    mass: np.ndarray
    rounds: int
    collecting: int
    runs: int
    def __init__(self, found: Identification, setting: Setting, rule: OpenRule, arm: int, status: str, bound: float, charge: float, mass: ArrayLike, rounds: int, collecting: int, runs: int) -> None: ...
def hear(seen, rule): ...
def collect(seen, open_setting, menus, mass, max_rounds): ...
def run_frozen(seen, learner, max_rounds): ...
def discover(open_setting, menus, *, eps, delta, mass=..., within=..., max_rounds=...): ...
def as_discovery(seen, open_setting, menus, *, found, status, runs, collecting): ...
def shares_of(open_setting, eps, mass): ...
@dataclass(frozen=True, eq=False)
class OpenIdentification(Identification):
    discovery: Discovery | None
    @property
    def statement(self): ...
def steps(setting, coroutine, eps, delta): ...
def conclude(data, d, eps, delta): ...
def what_was_seen(d): ...
def open_support(setting: Setting, oracle: Oracle, *, eps: float, delta: float, mass: float | None=..., within: float=..., max_rounds: int=...) -> Learner: ...
