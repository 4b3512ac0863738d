"""What no learner can do without, in the worlds of the suite of benchmarks/sharp.py: the bounds
of the chapter on limits.

    python benchmarks/limits.py

Files them in nbs/_static/limits.json, which that chapter shows beside the rounds that
benchmarks/sharp.py filed. About a minute.
"""
import json
import time

from chapter import BOOK, answers_needed, lower_bound, rules_needed
from commit import commit
from sharp import SHAPES, posed

RESULTS = BOOK/'_static'/'limits.json'
DELTA = .05

def bounds(n):
    "The bounds for the n-th problem of the suite, with what tells whether it is still the same."
    world, eps = posed(n)
    z = world.setting
    return dict(world=world.name, K=z.K, M=z.M, W=z.W, eps=eps, delta=DELTA, commit=commit(),
                given=lower_bound(world, eps, DELTA),
                coupled=lower_bound(world, eps, DELTA, coupled=True),
                money=lower_bound(world, eps, DELTA, money=True),
                rules=rules_needed(world, eps, DELTA),
                answers=answers_needed(world, eps, DELTA))

if __name__ == '__main__':
    rows = []
    for n in range(2 + len(SHAPES)):
        start = time.process_time()
        rows.append(bounds(n))
        print({k: round(v, 2) if isinstance(v, float) else v for k, v in rows[-1].items()},
              f'{time.process_time() - start:.0f} s', flush=True)
        RESULTS.write_text(json.dumps(rows, indent=1) + '\n')
