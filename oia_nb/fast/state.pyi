# Made by nbs/build_stubs.py from fast.state.py and nbs/hints.txt.  Do not edit.
from collections.abc import Callable, Sequence
from typing import Any, TypeVar
import numpy as np
import hashlib
import sys
from pathlib import Path
from types import FunctionType
from typing import NamedTuple
import numpy as np
from ..core import InvalidInput
from ..sharp.record import Record

_F = TypeVar('_F')
_R = TypeVar('_R', bound=Any)
KERNELS: dict
INLINED: set
def kernel(f: _F) -> _F: ...
def inlined(f: _F) -> _F: ...
def by_reference(run): ...
def reference(numba): ...
def fingerprint() -> str: ...
SECONDS: int
COMPILED: dict
def remember(play: Any) -> None: ...
def compiled() -> dict[str,Callable[...,Any]]: ...
class AgentTable(NamedTuple):
    cumulative: np.ndarray
    cells: np.ndarray
    belief_of: np.ndarray
    costs: np.ndarray
    q_utility: np.ndarray
    q_oracle: np.ndarray
    q_vees: np.ndarray
    S_oracle: np.ndarray
    most: float
class Game(NamedTuple):
    utility: np.ndarray
    oracle: np.ndarray
    vees: np.ndarray
    by_belief: np.ndarray
    payments: np.ndarray
    tops: np.ndarray
    price: np.ndarray
    bound: float
    B_u: float
    anytime: bool
    radius_c: np.ndarray
    falling: bool
    alpha: float
    eps: float
    stops: bool
    last_round: int
CLOCK: Any
def new_clock() -> Any: ...
SPARE: int
FIRST: Any
ENDS: Any
def array(dims, kind=..., fill=...): ...
def start(Record: type[_R], K: int, M: int, W: int=...) -> _R: ...
class Seen(NamedTuple):
    counts: np.ndarray
    N: np.ndarray
    inverse: np.ndarray
    L: np.ndarray
    value: np.ndarray
    products: np.ndarray
    pays: np.ndarray
    share: np.ndarray
    when: np.ndarray
class Points(NamedTuple):
    s: np.ndarray
    arm: np.ndarray
    when: np.ndarray
    key: np.ndarray
    slack: np.ndarray
    products: np.ndarray
    awake: np.ndarray
    ref: np.ndarray
    scale: np.ndarray
    due: np.ndarray
    low: np.ndarray
class Plan(NamedTuple):
    I: np.ndarray
    U: np.ndarray
    where: np.ndarray
    least: np.ndarray
    N: np.ndarray
    C: np.ndarray
    length: np.ndarray
    lower: np.ndarray
    zero: np.ndarray
    v: np.ndarray
    w: np.ndarray
    h: np.ndarray
    S: np.ndarray
    s: np.ndarray
    q: np.ndarray
    best: np.ndarray
    profit: np.ndarray
    share: np.ndarray
    when: np.ndarray
class Table(NamedTuple):
    data: np.ndarray
    T: np.ndarray
    basis: np.ndarray
    free: np.ndarray
    x: np.ndarray
    y: np.ndarray
    z: np.ndarray
class Log(NamedTuple):
    arms: np.ndarray
    beliefs: np.ndarray
    targets: np.ndarray
    kinds: np.ndarray
    payments: np.ndarray
    rounds: np.ndarray
    profits: np.ndarray
    radii: np.ndarray
    bounds: np.ndarray
class Run(NamedTuple):
    agent: AgentTable
    game: Game
    clock: np.record
    seen: Seen
    points: Points
    plan: Plan
    table: Table
    log: Log
def longer(record: _R, names: Sequence[str]) -> _R: ...
