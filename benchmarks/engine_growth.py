"""A round costs the same after a million rounds as after ten thousand, and ten million rounds fit into memory and minutes.

Baseline: the same run's cost per round up to round 10⁴. K = 3, M = 6, W = 2, with arms dear enough for linear programs to be needed.
"""
import resource, sys
from os import getloadavg
from time import perf_counter, thread_time
import numpy as np
from oia_nb.all import *
from oia_nb import engine as E

# seed, a, what: in the last two, programs are needed as often at both ends, in the second only late
CASES = (2, None, 'zero rule optimal throughout'), (1, None, 'programs needed late only (the plain figure)'), (4, 1e-5, 'a program in every round, at both ends'), (7, .1, 'in every tenth round')

def world(seed=1):
    "Three arms with two beliefs each; high stakes, so that the dear arms are worth their rules."
    w = random_world(3, 2, 2, seed, prior='arm', max_cost=.5, margin=.02)
    z, s = w.setting, w.structure
    return make_world(s.joint, s.costs, 20*z.utility, z.bound)

def engine(w, oracle, seed, last, a=None):
    "A run of OIAFC (with `a`, of OIAFB) that can't end before round `last`."
    z = w.setting
    how = dict(log_radius=False, c=a, log_alpha=False, alpha=.01) if a else dict(log_radius=True, c=np.log(4*z.K/.1) + z.M*np.log(2), log_alpha=True, alpha=z.M)
    return E.Engine(w, oracle, generator(seed), eps=1e-9, stops=False, last_round=last, **how)

def cpu(run, until):
    t = thread_time()
    run.advance(until)
    return thread_time() - t

def memory(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss/1024

def growth(seed, a=None, runs=5):
    "Processor time of a round up to 10⁶ over that up to 10⁴, each over the second half, in which the log doubles once; shares of rounds with a program at both ends; µs late; and the last run."
    w, ratios, late, shares = world(seed), [], [], []
    oracle = action_informed_oracle(w)
    engine(w, oracle, 0, 100, a).advance()          # compile
    for i in range(runs):
        run = engine(w, oracle, i, 1_000_000, a)
        evals, counted = run.data.ints, []
        run.advance(5_000); counted.append(int(evals[E.EVALS]))
        early = cpu(run, 10_000)/5_000; counted.append(int(evals[E.EVALS]))
        run.advance(500_000); counted.append(int(evals[E.EVALS]))
        late.append(cpu(run, 1_000_000)/500_000)
        ratios.append(late[-1]/early)
        shares.append(((counted[1] - counted[0])/5_000, (evals[E.EVALS] - counted[2])/500_000))
    return ratios, np.mean(shares, 0), late, run

if __name__ == '__main__':
    print('load', getloadavg())
    for seed, a, what in CASES:
        ratios, (x, y), late, run = growth(seed, a)
        print(f'{what}: cost of a round at 10⁶ / at 10⁴ median {np.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}), target 1.2; {np.median(late)*1e6:.2f} µs at 10⁶; '
              f'programs a round {x:.3f} and {y:.3f}; points {run.points.n.max()}, waiting {run.shelf.n.max()}, solver {sum(p.solves for p in run.programs.values())}', flush=True)
    w, before, n = world(1), memory(), int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    run, t = engine(w, action_informed_oracle(w), 0, n), perf_counter()
    run.advance()
    r = E.result(run, 'round_cap', 1e-9, .1)
    print(f'{r.rounds} rounds in {perf_counter() - t:.1f} s (target 180 s), {memory() - before:.0f} MB more than before (target 300 MB); linear programs {r.lp_solves}, normal rounds {r.normal_rounds}')
