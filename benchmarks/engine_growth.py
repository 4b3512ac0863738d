"""A round costs the same after a million rounds as after ten thousand; ten million fit in minutes.

Baseline: the same run's cost per round up to round 10⁴. First a world of `engine_round.py` (K = 5,
M = 20, W = 3), then four with K = 3, M = 6, W = 2 and high stakes.
"""
import resource
import sys
from os import getloadavg
from time import perf_counter
import numpy as np
from engine_round import cpu, stakes
from oia_nb.core import generator
from oia_nb.fast.drive import as_identification
from oia_nb.fast.loop import CAP, Engine
from oia_nb.game.oracle import action_informed_oracle
from oia_nb.worlds.generators import random_world

CASES = [('K = 5, M = 20, W = 3, faithful',
          random_world(5, 3, 4, 1, prior='arm', margin=.02), None),
         ('zero rule optimal throughout', stakes(2), None),
         ('a program in every round, at both ends', stakes(4), 1e-5),
         ('in every tenth round', stakes(7), .1), ('programs begin in between', stakes(1), None)]

def engine(w, oracle, seed, last, a=None):
    "A run of OIAFC (with `a`, of OIAFB) that can't end before round `last`."
    z = w.setting
    c = np.log(4*z.K/.1) + z.support_sizes*np.log(2)
    faithful = dict(anytime=True, radius_c=c, falling=True, alpha=float(z.M))
    how = dict(anytime=False, radius_c=np.full(z.K, a), falling=False, alpha=.01) if a else faithful
    return Engine(w, oracle, generator(seed), eps=1e-9, stops=False, last_round=last, **how)

def advancing(run, until):
    "Processor time of the rounds up to `until`."
    return cpu(lambda: run.advance(until))

def memory():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss/1024

def growth(w, a=None, runs=5):
    """Processor time of a round up to 10⁶ over that up to 10⁴, each over the second half.

    In these the log doubles once. Also programs a round at both ends, µs late, and the last run.
    """
    ratios, late, shares = [], [], []
    oracle = action_informed_oracle(w)
    engine(w, oracle, 0, 100, a).advance()          # compile
    for i in range(runs):
        run = engine(w, oracle, i, 2_000_000, a)
        seen = []
        for until in 5_000, 10_000, 500_000, 1_000_000:
            seen.append((advancing(run, until), int(run.run.clock.solved)))
        (_, e0), (early, e1), (_, e2), (t, e3) = seen
        late.append(t/500_000)
        ratios.append(late[-1]/(early/5_000))
        shares.append(((e1 - e0)/5_000, (e3 - e2)/500_000))
    return ratios, np.mean(shares, 0), late, run

def told(ratios):
    return f'{np.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})'

if __name__ == '__main__':
    print('load', getloadavg())
    w, n = stakes(1), int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    oracle = action_informed_oracle(w)
    engine(w, oracle, 0, 100).advance()             # compile
    before, t, run = memory(), perf_counter(), engine(w, oracle, 0, n)
    run.advance()
    r = as_identification(run, CAP, 1e-9, .1)
    print(f'{r.rounds} rounds in {perf_counter() - t:.1f} s (target 180 s), '
          f'{memory() - before:.0f} MB more than before (target 300 MB); '
          f'linear programs {r.lp_solves}, normal rounds {r.normal_rounds}', flush=True)
    for what, w, a in CASES:
        ratios, (x, y), late, run = growth(w, a)
        print(f'{what}: cost of a round at 10⁶ / at 10⁴ median {told(ratios)}, target 1.2; '
              f'{np.median(late)*1e6:.2f} µs at 10⁶; '
              f'programs a round {x:.3f} and {y:.3f}; '
              f'points {run.run.clock.points}, awake {run.run.clock.awake}', flush=True)
