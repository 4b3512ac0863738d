# Made by nbs/build_stubs.py from identification.py and nbs/hints.txt.  Do not edit.
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, TypeVar
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from inspect import signature
import numpy as np
from .core import InvalidInput, as_choice, as_integer, fresh_seed, generator, patch_to
from .information import Rational, World
from .oracle import action_informed_oracle
from .stackelberg import optimal_rule
from .exploration import SNAPSHOT_GROWTH
from .learner import Origin, simulate
from .oiafc import MIXINGS, STOPS, oiafc
from .oiafb import oiafb
from .sharp.learner import sharp
from .told import as_told
from .baselines import DECISIONS, chen, explore_then_commit
from .beliefs import own_beliefs
from .lapses import patient
from .open_setting import open_support
from .trial import trial
from .learner import Identification
from .oracle import Oracle
from .exploration import Plan
from .information import Setting

_Path = str | PathLike[str]
_T = TypeVar('_T')
_F = TypeVar('_F')
_R = TypeVar('_R', bound=Any)

log: Any
def rounds_left(before: Any, now: Any, eps: float) -> Any: ...
class ProgressBar:
    def __init__(self, setting: Setting, eps: float, watch: Callable[[Any], object] | None=..., total: Any=...) -> None: ...
    def follow(self, learner: Any) -> Any: ...
    def __enter__(self): ...
    def __call__(self, plan: Any) -> None: ...
    def said(self, plan: Plan) -> str: ...
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
def learner_row(method: str) -> Row: ...
LEAD: Any
def check_options(row: Row, options: dict[str, Any]) -> None: ...
def add_budget(row: Row, world: World, budget: int | None, options: dict[str, Any]) -> dict[str,Any]: ...
def learner_for(told: Any=...) -> Any: ...
def add_told(row: Row, told: Any, options: dict[str, Any]) -> Any: ...
def add_rng(row: Row, rng: np.random.Generator, options: dict[str, Any]) -> dict[str,Any]: ...
def add_lost(world: World, result: _R) -> _R: ...
def origin_of(world: World, row: Row, options: dict[str, Any], seed: int | np.random.Generator | None) -> Origin: ...
def _checked_row(world, method, engine, options): ...
def _play(row, world, oracle, rng, /, *, eps, delta, engine, progress, **options: Any): ...
def identify(world: World, *, eps: float, delta: float, method: str=..., budget: int | None=..., seed: int | np.random.Generator | None=..., progress: bool=..., oracle: Oracle | None=..., engine: str=..., told: Any=..., **options: Any) -> Identification: ...
def run_fast(row: Row, world: World, oracle: Oracle, rng: np.random.Generator, /, *, eps: float, delta: float, progress: bool=..., **options: Any) -> Identification: ...
