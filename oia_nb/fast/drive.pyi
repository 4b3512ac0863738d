# Made by nbs/build_stubs.py from fast.drive.py and nbs/hints.txt.  Do not edit.
from collections.abc import Callable, Generator
from typing import Any
import numpy as np
from types import SimpleNamespace
import numpy as np
from ..core import InvalidInput, OracleViolated, generator
from ..exploration import certify
from .loop import DONE, FALLBACK, ZERO_RULE, Engine
from .points import check_agent
from ..learner import Finding, finish, simulate
from ..oiafb import budget_parameter, event_failure, oiafb
from ..oiafc import MIXINGS, oiafc
from ..oracle import action_informed_oracle
from ..proving import by_counts
from ..scoring import ScoringRule, mix
from ..learner import Identification
from ..oracle import Oracle
from ..experiments import Run
from ..information import World

def as_oiafc(z, oracle, *, eps, delta, mixing=..., max_rounds=...): ...
def as_oiafb(z, oracle, *, eps, delta=..., budget=..., a=...): ...
ENGINES: Any
def status(engine, why): ...
def best_rule(engine): ...
def answered(run: Run) -> dict[int,np.ndarray]: ...
def proved(engine, found, played, eps, delta): ...
def as_identification(engine: Engine, why: int, eps: float, delta: float) -> Identification: ...
def simulate_fast(world: World, *, method: str=..., eps: float, delta: float | None=..., seed: int | np.random.Generator | None=..., oracle: Oracle | None=..., compile: bool=..., solver: str=..., watch: Callable[[Any], object] | None=..., **options: Any) -> Identification: ...
