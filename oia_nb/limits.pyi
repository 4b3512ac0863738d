# Made by nbs/build_stubs.py from limits.py and nbs/hints.txt.  Do not edit.
from typing import Any
import numpy as np
from .core import TIE_TOL, SolverFailure, as_kind, as_number
from .information import World
from .programs import properness_rows, solve_cvxpy
from .stackelberg import optimal_rule

def lower_bound(world: World, eps: float, delta: float, coupled: bool=..., money: bool=...) -> float: ...
def rules_needed(world, eps, delta) -> Any: ...
