# Made by nbs/build_stubs.py from fast.plan.py and nbs/hints.txt.  Do not edit.
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, TypeVar
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
import numpy as np
from ..core import TIE_TOL
from ..estimation import EVENT_TOL
from .bases import solve
from .shelf import scan
from .state import PRICE, VALUE, inlined, kernel

_Path = str | PathLike[str]
_T = TypeVar('_T')
_F = TypeVar('_F')
_R = TypeVar('_R', bound=Any)

def radii(run, t): ...
def paths(plan, B): ...
def bounds(plan, B): ...
def easy(plan, inverse, B): ...
def programs(run): ...
def aim(run): ...
FULL: int
def make_plan(run): ...
