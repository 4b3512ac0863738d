# Made by nbs/build_stubs.py from fast.drive.py and nbs/hints.txt.  Do not edit.
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, TypeVar
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from types import SimpleNamespace
import numpy as np
from ..core import PROPER_TOL, TIE_TOL, InvalidInput, SolverFailure, generator, patch_to
from .agent import check_agent
from .loop import DONE, STEP, Engine, share_of
from .plan import bounds, paths
from .points import resum
from .shelf import scan
from .state import FALLBACK, PRICE
from ..information import make_world
from ..oiafb import budget_parameter, event_failure, oiafb
from ..exploration import certify
from ..learner import finish, simulate
from ..oiafc import MIXINGS, oiafc
from ..oracle import action_informed_oracle
from ..programs import LP_SPARE, RuleProgram, price_weights
from ..scoring import gains, mix
from ..learner import Identification
from ..oracle import Oracle
from ..information import World

_Path = str | PathLike[str]
_T = TypeVar('_T')
_F = TypeVar('_F')
_R = TypeVar('_R', bound=Any)

def as_oiafc(z, oracle, *, eps, delta, mixing=..., max_rounds=...): ...
def as_oiafb(z, oracle, *, eps, delta=..., budget=..., a=...): ...
ENGINES: Any
def status(engine, why): ...
def best_rule(engine): ...
def as_identification(engine: Engine, why: int, eps: float, delta: float) -> Identification: ...
CHECK_TOL: float
PRICE_TOL: float
class PlanCheck:
    def __init__(self, engine: Engine) -> None: ...
    def fail(self, what: str) -> None: ...
    def __call__(self) -> None: ...
    def asks(self, k): ...
    def value(self, k): ...
    def check_easy(self): ...
    def check_rule(self, k, value): ...
def play_checked(engine: Engine, following: Callable[[int], int]=...) -> tuple[int,PlanCheck]: ...
def simulate_fast(world: World, *, method: str=..., eps: float, delta: float | None=..., seed: int | np.random.Generator | None=..., oracle: Oracle | None=..., verify: bool=..., compile: bool=..., solver: str=..., watch: Callable[[Any], object] | None=..., **options: Any) -> Identification: ...
def compile_all() -> None: ...
