# Made by nbs/build_stubs.py from identification.py and nbs/hints.txt.  Do not edit.
from collections.abc import Callable, Generator, Mapping
from typing import Any, TypeVar
import numpy as np
import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from inspect import signature
import numpy as np
from .core import InvalidInput, as_choice, as_integer, as_kind, fresh_seed, generator, patch_to
from .estimation import PAST
from .information import Rational, World
from .oracle import action_informed_oracle
from .stackelberg import optimal_rule
from .exploration import SNAPSHOT_GROWTH
from .learner import Origin, simulate, within_sum
from .oiafc import MIXINGS, STOPS, oiafc
from .oiafb import oiafb
from .sharp.learner import sharp
from .told import as_told
from .baselines import DECISIONS, chen, explore_then_commit
from .sharp.learner import own_beliefs
from .lapses import patient
from .open_setting import open_support
from .trial import trial
from .learner import Identification
from .oracle import Oracle

_R = TypeVar('_R', bound=Any)
log: Any
def rounds_left(before, now, eps) -> Any: ...
class ProgressBar:
    def __init__(self, setting, eps, watch=..., total=...) -> None: ...
    def follow(self, learner) -> Any: ...
    def __enter__(self): ...
    def __call__(self, plan: Any) -> None: ...
    def said(self, plan) -> str: ...
    def __exit__(self, *exc: Any): ...
@dataclass(frozen=True)
class Flag:
    type: Callable[..., Any]
    help: str
    def __init__(self, type: Callable[..., Any], help: str) -> None: ...
@dataclass(frozen=True)
class Row:
    name: str
    make: Callable
    text: str
    statuses: tuple
    compiled: tuple | None
    flags: dict
    rounds: str
    demo: tuple | None
    variants: dict | None
    honours: tuple
    needs_states: bool
    def __init__(self, name: str, make: Callable, text: str, statuses: Any, compiled: Any | None = ..., flags: dict = ..., rounds: str = ..., demo: Any | None = ..., variants: dict | None = ..., honours: Any = ..., needs_states: bool = ...) -> None: ...
    @property
    def parameters(self) -> Mapping[str,Any]: ...
    @property
    def options(self) -> set[str]: ...
    @property
    def needs_budget(self) -> bool: ...
ALIASES: dict
class Learners(dict):
    def __missing__(self, name): ...
    def __contains__(self, name): ...
LEARNERS: Any
def register(row: Row) -> Row: ...
def plugins(group): ...
def learner_row(method: str) -> Row: ...
LEAD: Any
USUAL: tuple
OFTEN: tuple
BOUNDARIES: str
def check_options(row, options) -> None: ...
def completed(row: Row, world: World, rng: np.random.Generator, *, told: Any, budget: int | None, options: dict[str, Any]) -> dict[str,Any]: ...
def learner_for(told=..., support=...) -> Any: ...
def add_lost(world: World, result: _R) -> _R: ...
UNSAID: tuple
def origin_of(world, row, options, seed) -> Origin: ...
def play_row(row: Row, world: World, oracle: Oracle, rng: np.random.Generator, /, *, progress: bool, max_paid: float | None, **options: Any) -> Identification: ...
def identify(world: World, *, eps: float, delta: float, method: str | None=..., budget: int | None=..., seed: int | np.random.Generator | None=..., progress: bool=..., oracle: Oracle | None=..., engine: str=..., told: Any=..., max_paid: float | None=..., **options: Any) -> Identification: ...
def run_fast(row: Row, world: World, oracle: Oracle, rng: np.random.Generator, /, *, eps: float, delta: float, progress: bool=..., max_paid: float | None=..., **options: Any) -> Identification: ...
