# Made by nbs/build_stubs.py from learner.py and nbs/hints.txt.  Do not edit.
from collections.abc import Callable, Generator, Sequence
from os import PathLike
from typing import Any, TypeVar
from numpy.typing import ArrayLike
import numpy as np
import pandas as pd
import signal
import threading
from array import array
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import wraps
import numpy as np
from .core import InvalidInput, OIAError, OracleViolated, as_choice, as_integer
from .core import as_number, generator, patch_to
from .information import Setting
from .oracle import Oracle
from .scoring import ScoringRule
from .told import CHECKS, UNCHECKED, VIOLATIONS, Told
from .information import Response
from .estimation import Transcript
from .information import World

_Path = str | PathLike[str]
_R = TypeVar('_R', bound=Any)
def check_response(setting: Setting, response: Response) -> tuple[int,int]: ...
def announce(transcript: Transcript, rule: ScoringRule, line: Any=..., place: float=..., see: Any=...) -> Generator[ScoringRule,Response,int]: ...
def confirm(setting: Setting, k: int, arm: int) -> None: ...
def ask_oracle(transcript: Transcript, oracle: Oracle, k: int, line: Any=...) -> Generator[ScoringRule,Response,None]: ...
def check_learner(setting: Setting, oracle: Oracle, eps: float, delta: float) -> tuple[float,float]: ...
INIT: Any
NORMAL: Any
FORCED: Any
@dataclass(frozen=True, eq=False)
class Trace:
    arms: np.ndarray
    beliefs: np.ndarray
    targets: np.ndarray
    kinds: np.ndarray
    rounds: np.ndarray
    profits: np.ndarray
    radii: np.ndarray
    bounds: np.ndarray
    payments: np.ndarray | None
    def __init__(self, arms: ArrayLike, beliefs: ArrayLike, targets: ArrayLike, kinds: ArrayLike, rounds: ArrayLike, profits: ArrayLike, radii: ArrayLike, bounds: ArrayLike, payments: ArrayLike | None = ...) -> None: ...
    def __repr__(self): ...
    def to_frame(self, setting: Setting | None=...) -> pd.DataFrame: ...
    def _repr_html_(self): ...
@dataclass(frozen=True)
class Certificate:
    bound: float
    mixing: float
    confidence: float
    def __init__(self, bound: float, mixing: float, confidence: float) -> None: ...
@dataclass(frozen=True)
class Origin:
    world: str | None
    method: str | None
    options: dict | None
    seed: int | None
    def __init__(self, world: str | None = ..., method: str | None = ..., options: dict | None = ..., seed: int | None = ...) -> None: ...
@dataclass(frozen=True, eq=False)
class Identification:
    rule: ScoringRule
    arm: int
    setting: Setting | None
    origin: Origin | None
    rounds: int
    status: str
    eps: float
    delta: float
    certificate: Certificate
    counts: np.ndarray
    normal_rounds: int
    forced_rounds: int
    searches: int
    lp_solves: int
    event_violated: bool
    trace: Trace
    paid: float | None
    lost: float | None
    told: Told | None
    checks: tuple
    violated: str | None
    profit: float | None
    lead: float | None
    def __init__(self, rule: ScoringRule, arm: int, rounds: int, status: str, eps: float, delta: float, certificate: Certificate, counts: ArrayLike, normal_rounds: int, forced_rounds: int, searches: int, lp_solves: int, event_violated: bool, trace: Trace, *, setting: Setting | None = ..., origin: Origin | None = ..., paid: float | None = ..., lost: float | None = ..., told: Told | None = ..., checks: Any = ..., violated: str | None = ..., profit: float | None = ..., lead: float | None = ...) -> None: ...
    def priced(self, payments: np.ndarray) -> Identification: ...
    def to_dict(self, trace: bool=...) -> dict[str,Any]: ...
    def save(self, path: _Path, trace: bool=...) -> None: ...
    @property
    def statement(self) -> Any: ...
    def __repr__(self): ...
    def _repr_html_(self): ...
    def to_frame(self) -> pd.DataFrame: ...
@dataclass(frozen=True)
class Status:
    text: str
    sound: bool
    cut_short: bool
    def __init__(self, text: str, sound: bool = ..., cut_short: bool = ...) -> None: ...
STATUS: Any
def was_cut_short(status: str) -> bool: ...
def finish(transcript: Transcript, *, rule: ScoringRule, arm: int, status: str, eps: float, delta: float, certificate: Certificate | None=..., kinds: Sequence[int], targets: Sequence[int] | None=..., searches: int=..., lp_solves: int=..., violated: bool=..., snapshots: Sequence[Any]=..., result: type[_R]=..., **more: Any) -> _R: ...
class Learner:
    def __init__(self, setting: Setting, steps: Generator[Any, Any, Any], best: Callable[[], Any] | None=...) -> None: ...
    def __iter__(self): ...
    def __next__(self) -> ScoringRule: ...
    def send(self, response: Response | None) -> ScoringRule: ...
    def close(self) -> None: ...
    @property
    def best(self) -> Finding | None: ...
    def stop(self) -> Identification: ...
@dataclass(frozen=True, eq=False)
class Finding:
    rule: ScoringRule
    arm: int
    bound: float
    def __init__(self, rule: ScoringRule, arm: int, bound: float) -> None: ...
    def __repr__(self): ...
    def _repr_html_(self): ...
class Stopped(OIAError):
    ...
def learner(make: Callable[..., Any]) -> Callable[...,Learner]: ...
def interrupts_held() -> Any: ...
def simulate(learner: Any, world: World, seed: int | np.random.Generator | None) -> Any: ...
def three_digits(x: Any, up: bool) -> str: ...
