# Made by nbs/build_stubs.py from fast.state.py and nbs/hints.txt.  Do not edit.
from collections.abc import Callable, Sequence
from typing import Any, TypeVar
import numpy as np
import hashlib
import os
import sys
import tempfile
from pathlib import Path
from types import FunctionType
from typing import NamedTuple
import numpy as np
from ..core import InvalidInput

_F = TypeVar('_F')
_R = TypeVar('_R', bound=Any)
KERNELS: dict
INLINED: set
def kernel(f: _F) -> _F: ...
def inlined(f: _F) -> _F: ...
def by_reference(run): ...
def reference(numba): ...
def fingerprint(numba: Any) -> str: ...
def writable(folder: Path) -> bool: ...
def cache_folder(name) -> Path | None: ...
SECONDS: int
COMPILED: dict
def announced(folder: Path | None) -> None: ...
def compiled() -> dict[str,Callable[...,Any]]: ...
class AgentTable(NamedTuple):
    cumulative: np.ndarray
    cells: np.ndarray
    belief_of: np.ndarray
    costs: np.ndarray
    q_utility: np.ndarray
    q_oracle: np.ndarray
    S_oracle: np.ndarray
    most: float
class Game(NamedTuple):
    utility: np.ndarray
    oracle: np.ndarray
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
def array(dims, kind=..., fill=...): ...
def start(Record: type[_R], K: int, M: int, **sizes: int) -> _R: ...
class Reports(NamedTuple):
    counts: np.ndarray
    N: np.ndarray
    inverse: np.ndarray
    L: np.ndarray
    value: np.ndarray
    uniform: np.ndarray
ENDS: Any
class Points(NamedTuple):
    n: np.ndarray
    s: np.ndarray
    products: np.ndarray
    lowest: np.ndarray
    owner: np.ndarray
    par: np.ndarray
    share: np.ndarray
    when: np.ndarray
    ends: np.ndarray
    noted: np.ndarray
class Shelf(NamedTuple):
    n: np.ndarray
    owner: np.ndarray
    par: np.ndarray
    ref: np.ndarray
    drift: np.ndarray
    due: np.ndarray
    limit: np.ndarray
class Plan(NamedTuple):
    I: np.ndarray
    U: np.ndarray
    stale: np.ndarray
    least: np.ndarray
    N: np.ndarray
    C: np.ndarray
    length: np.ndarray
    lower: np.ndarray
    zero: np.ndarray
    v: np.ndarray
    h: np.ndarray
    profit: np.ndarray
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
ZERO: Any
FALLBACK: Any
POINT: Any
VALUE: Any
PRICE: Any
class Rules(NamedTuple):
    n: np.ndarray
    arm: np.ndarray
    kind: np.ndarray
    r: np.ndarray
    S0: np.ndarray
    Z: np.ndarray
    s0: np.ndarray
    Zs: np.ndarray
    q0: np.ndarray
    qZ: np.ndarray
class Proofs(NamedTuple):
    active: np.ndarray
    valid: np.ndarray
    v: np.ndarray
    nf: np.ndarray
    T: np.ndarray
    y0: np.ndarray
    obj: np.ndarray
    nh: np.ndarray
    h0: np.ndarray
    H: np.ndarray
    seen: np.ndarray
    n0: np.ndarray
    nZ: np.ndarray
class Warm(NamedTuple):
    last: np.ndarray
    rule: np.ndarray
    v: np.ndarray
    w: np.ndarray
    best_w: np.ndarray
    A: np.ndarray
    X: np.ndarray
    y: np.ndarray
    m: np.ndarray
    d: np.ndarray
class Run(NamedTuple):
    agent: AgentTable
    game: Game
    clock: np.record
    reports: Reports
    points: Points
    shelf: Shelf
    plan: Plan
    log: Log
    rules: Rules
    proofs: Proofs
    warm: Warm
def padded(x: np.ndarray, shape: Sequence[int]) -> np.ndarray: ...
