# Made by nbs/build_stubs.py from trial.py and nbs/hints.txt.  Do not edit.
from typing import Any
import numpy as np
from array import array
from dataclasses import dataclass
import numpy as np
from .beliefs import StateLearner
from .best_arm import Pulls, Rewards, by_bounds, gap_index, pick_pair
from .core import InvalidInput, as_integer
from .estimation import INIT, NORMAL, Transcript
from .learner import STATUS, Certificate, Finding, Identification, Status, Stopped, announce, check_learner, finish, in_percent, three_digits
from .proving import bet_on
from .scoring import ScoringRule, mix
from .sharp.evidence import betting_threshold, mean_lower
from .told import as_told
from .learner import Learner
from .oracle import Oracle
from .information import Setting

STALE: float
NO_CAP: Any
TINY_RANGE: float
class Ledger:
    def __init__(self, setting, rules, delta) -> None: ...
    @property
    def family(self): ...
    def interval(self, means, level): ...
def shortlist(setting: Setting, oracle: Oracle) -> Any: ...
@dataclass(frozen=True, eq=False, repr=False)
class TrialIdentification(Identification):
    index: int
    behind: float
    earns: tuple
    means: np.ndarray | None
    proved: Certificate | None
    @property
    def statement(self): ...
    def unfounded(self): ...
def steps(setting, rules, *, eps, delta, told, max_rounds): ...
class Trial:
    def __init__(self, setting, rules, eps, delta, told) -> None: ...
def announce_seen(data, rule, kind): ...
def conclude(run, i, behind, status): ...
def certificate_of(run, i, behind): ...
def trial(setting: Setting, oracle: Oracle, *, eps: float, delta: float, told: Any=..., rules: Any=..., max_rounds: int=...) -> Learner: ...
def checked(setting, rules): ...
