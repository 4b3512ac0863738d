"""A round costs the same after a million rounds as after ten thousand, and ten million rounds fit into memory and minutes.

Baseline: the same run's cost per round up to round 10⁴. K = 3, M = 6, W = 2, with arms dear enough for linear programs to be needed.
"""
import resource, sys
from time import perf_counter
import numpy as np
from oia_nb.all import *
from oia_nb import engine as E

def world(seed=1):
    "Three arms with two beliefs each; high stakes, so that the dear arms are worth their rules."
    w = random_world(3, 2, 2, seed, prior='arm', max_cost=.5, margin=.02)
    z, s = w.setting, w.structure
    return make_world(s.joint, s.costs, 20*z.utility, z.bound)

def engine(w, oracle, seed, last):
    "A run of OIAFC that can't end before round `last`."
    z = w.setting
    return E.Engine(w, oracle, generator(seed), eps=1e-9, log_radius=True, c=np.log(4*z.K/.1) + z.M*np.log(2), log_alpha=True, alpha=z.M, stops=False, last_round=last)

def seconds(run, until):
    t = perf_counter()
    run.advance(until)
    return perf_counter() - t

def memory(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss/1024

def growth(seed, runs=5):
    "Ratios of the cost of a round after 10⁶ rounds to that before 10⁴, and the last run."
    w, ratios = world(seed), []
    oracle = action_informed_oracle(w)
    engine(w, oracle, 0, 100).advance()          # compile
    for i in range(runs):
        run = engine(w, oracle, i, 1_100_000)
        run.advance(4_000)
        early, = seconds(run, 10_000)/6_000,
        run.advance(1_000_000)
        ratios.append(seconds(run, 1_100_000)/100_000/early)
    return ratios, run

if __name__ == '__main__':
    for seed, what in (2, 'the zero rule optimal throughout'), (1, 'linear programs needed from some round on'):
        ratios, run = growth(seed)
        print(f'{what}: cost of a round at 10⁶ / at 10⁴ median {np.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}), target 1.2; '
              f'points {run.points.n.max()}, runs of the solver {sum(p.solves for p in run.programs.values())}', flush=True)
    w, before, n = world(1), memory(), int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    run, t = engine(w, action_informed_oracle(w), 0, n), perf_counter()
    run.advance()
    r = E.result(run, 'round_cap', 1e-9, .1)
    print(f'{r.rounds} rounds in {perf_counter() - t:.1f} s (target 180 s), {memory() - before:.0f} MB more than before (target 300 MB); linear programs {r.lp_solves}, normal rounds {r.normal_rounds}')
