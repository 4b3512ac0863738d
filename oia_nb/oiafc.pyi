# Made by nbs/build_stubs.py from oiafc.py and nbs/hints.txt.  Do not edit.
from collections.abc import Callable
from typing import Any
import numpy as np
from .core import as_integer
from .estimation import radius_fc
from .exploration import as_part, best_so_far, compose, finding_of
from .learner import check_learner
from .exploration import Exploration
from .learner import Learner
from .oracle import Oracle
from .exploration import Plan
from .information import Setting

def mixing_theorem1(setting, eps) -> Callable[...,float]: ...
def mixing_corollary1(setting, eps) -> Callable[...,float]: ...
MIXINGS: Any
def should_stop(setting: Setting, eps: float, alpha: float, I: float) -> bool: ...
def small_enough(run, plan, eps) -> bool: ...
STOPS: Any
def last_or_best(run: Exploration, plan: Plan | None, eps: float) -> dict[str,Any]: ...
def oiafc(setting: Setting, oracle: Oracle, *, eps: float, delta: float, mixing: str | Callable[..., float]=..., stop: str | Callable[..., bool]=..., max_rounds: int=..., solver: str=..., watch: Callable[[Any], object] | None=...) -> Learner: ...
