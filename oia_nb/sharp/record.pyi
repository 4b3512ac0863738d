# Made by nbs/build_stubs.py from sharp.record.py and nbs/hints.txt.  Do not edit.
from dataclasses import dataclass, field, replace
from typing import NamedTuple
import numpy as np
from ..core import InvalidInput, as_integer
from ..estimation import PAST

CHECK: int
class Round(NamedTuple):
    rule: int
    arm: int
    belief: int
    state: int
    kind: int
    target: int
@dataclass(eq=False)
class Record:
    rules: list
    rounds: list
    registered: list
    changed: int
    def __init__(self, rules: list = ..., rounds: list = ..., registered: list = ..., changed: int = ...) -> None: ...
    def index(self, rule): ...
    def append(self, rule, arm, belief, state=..., kind=..., target=...): ...
    def register(self, rule, arm): ...
    def copied(self): ...
    def without(self, round): ...
    def amended(self, round, *, arm=..., belief=..., state=...): ...
    def as_dict(self): ...
    @staticmethod
    def from_dict(stored): ...
