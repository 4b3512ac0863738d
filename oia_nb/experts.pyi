# Made by nbs/build_stubs.py from experts.py and nbs/hints.txt.  Do not edit.
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, TypeVar
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from dataclasses import dataclass
import numpy as np
from .core import InvalidInput, as_number
from .information import Agent, Rational
from .scoring import ScoringRule
from .information import Reply
from .information import World

_Path = str | PathLike[str]
_T = TypeVar('_T')
_F = TypeVar('_F')
_R = TypeVar('_R', bound=Any)

AVERSION_MOST: float
def felt(payments, aversion, bound): ...
@dataclass(frozen=True, eq=False)
class RiskAverse(Agent):
    aversion: float
    lottery: bool
    def __init__(self, aversion: float = ..., lottery: bool = ...) -> None: ...
    def best_reply(self, world: World, rule: ScoringRule) -> Reply: ...
def win_probability(payments, bound): ...
def lottery(payment: float, bound: float, rng: np.random.Generator) -> float: ...
