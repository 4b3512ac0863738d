# Made by nbs/build_stubs.py from told.py and nbs/hints.txt.  Do not edit.
from typing import Any
from dataclasses import dataclass, fields
from .core import InvalidInput, Value, as_choice, as_kind, as_number, patch_to

CHOICES: Any
LAPSES_MOST: float
ALARM: float
@dataclass(frozen=True, eq=False)
class Told(Value):
    lapses: float
    band: float
    beliefs: str
    costs: str
    arm: str
    alarm: float
    def __init__(self, lapses: float = ..., band: float = ..., beliefs: str = ..., costs: str = ..., arm: str = ..., alarm: float = ...) -> None: ...
    @property
    def unusual(self) -> Any: ...
    def __str__(self): ...
    @classmethod
    def parse(cls, text: str) -> Told: ...
    @classmethod
    def from_plain(cls, record: Any) -> Told: ...
    def require(self, learner: Any, can: Any=...) -> None: ...
    def in_words(self) -> str: ...
def as_told(told): ...
@dataclass(frozen=True, eq=False)
class Check(Value):
    name: str
    evidence: float
    level: float
    rounds: int
    passed: bool
    def __init__(self, name: str, evidence: float, level: float, rounds: int, passed: bool) -> None: ...
    def __str__(self): ...
CHECKS: Any
VIOLATIONS: Any
UNCHECKED: tuple
