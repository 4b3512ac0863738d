# Made by nbs/build_stubs.py from binary_search.py and nbs/hints.txt.  Do not edit.
from collections.abc import Callable, Generator
from typing import Any
from dataclasses import dataclass
from math import frexp
import numpy as np
from .core import InvalidInput, as_number
from .scoring import mix
from .estimation import FORCED
from .learner import announce
from .information import Response
from .scoring import ScoringRule
from .estimation import Transcript

@dataclass(frozen=True)
class Search:
    t0: int
    t1: int
    lam_min: float
    lam_max: float
    k0: int
    k1: int
    rounds: int
    truncated: bool
    def __init__(self, t0: int, t1: int, lam_min: float, lam_max: float, k0: int, k1: int, rounds: int, truncated: bool) -> None: ...
def binary_search(transcript: Transcript, S0: ScoringRule, S1: ScoringRule, *, k_S0: int, k1: int, threshold: float, max_rounds: float=..., place: Callable[[float], Any]=...) -> Generator[ScoringRule,Response,Search]: ...
def search_depth(threshold: float) -> int: ...
