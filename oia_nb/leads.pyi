# Made by nbs/build_stubs.py from leads.py and nbs/hints.txt.  Do not edit.
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, TypeVar
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from array import array
from dataclasses import dataclass
from itertools import count
import numpy as np
from .core import TIE_TOL, InvalidInput
from .estimation import Transcript
from .learner import NORMAL, STATUS, Certificate, Finding, Identification, Learner, Status, Stopped, finish
from .scoring import mix
from .sharp.evidence import betting_threshold, mean_lower

_Path = str | PathLike[str]
_T = TypeVar('_T')
_F = TypeVar('_F')
_R = TypeVar('_R', bound=Any)

def share_needed(setting, oracle, arm, margin): ...
def price_of(oracle, arm, rule, share): ...
PRICES: Any
FIRST: Any
NEXT: Any
LEAST: Any
LOOK: Any
ENOUGH: Any
@dataclass(frozen=True, eq=False)
class LedIdentification(Identification):
    contradiction: tuple
    share: float
    attempts: int
class Ended(Exception):
    ...
class LeadRun:
    def __init__(self, make, setting, oracle, *, eps, delta, margin, max_rounds, by_state) -> None: ...
    @property
    def left(self): ...
    def file(self, rule, response): ...
    def payoff(self, arm, rule, share): ...
    def led(self, arm, rule): ...
    def best(self): ...
def attempt(run, eps, delta, share): ...
def settle(run, delta): ...
def steps(run): ...
def conclude(run, status, violated=...): ...
def decision(run, found, price, began): ...
def leading(make, setting, oracle, *, eps, delta, margin, max_rounds, by_state=..., kind=...): ...
