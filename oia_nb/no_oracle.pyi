# Made by nbs/build_stubs.py from no_oracle.py and nbs/hints.txt.  Do not edit.
from collections.abc import Generator
from typing import Any
from numpy.typing import ArrayLike
import numpy as np
from dataclasses import dataclass
import numpy as np
from .core import OIAError, as_integer, as_number, generator
from .facts import in_percent
from .learner import Learner, announce
from .oracle import Oracle
from .estimation import Transcript
from .scoring import ScoringRule, menu_rule
from .information import Setting

LEAST_SCALE: float
def draw_rule(setting, rng): ...
def mean_rule(rules): ...
@dataclass(frozen=True, eq=False)
class Found:
    rules: tuple
    missing: tuple
    hits: np.ndarray
    tries: int
    rounds: int
    volume: float
    delta: float
    def __init__(self, rules: Any, missing: Any, hits: ArrayLike, tries: int, rounds: int, volume: float, delta: float) -> None: ...
    @property
    def statement(self): ...
    @property
    def oracle(self): ...
def search(setting, tries, want, delta, rng): ...
def search_oracle(setting: Setting, *, tries: int=..., want: int=..., delta: float=..., seed: int | np.random.Generator=...) -> Any: ...
