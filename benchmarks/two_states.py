"""With two states: the best rule of a world, and rounds of a learner, by V-rules and by HiGHS.

Baseline: the same functions with `solver='highs'`, in turn, on the same worlds and seeds; profits
must agree, and the runs must have the same arms.
"""
from time import process_time
import numpy as np
from oia_nb.core import SolverFailure, generator
from oia_nb.game.information import make_world
from oia_nb.run.learner import simulate
from oia_nb.paper.oiafc import oiafb
from oia_nb.game.oracle import action_informed_oracle
from oia_nb.game.stackelberg import optimal_rule
from oia_nb.worlds.files import load_world
from oia_nb.worlds.generators import random_world

def large(K, n, seed):
    "K arms, the first of them blind, the others with n signals each."
    rng = generator(seed)
    joints = [[[.5, .5]]]
    joints += [np.c_[rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(n))]/2 for _ in range(K - 1)]
    return make_world(joints, np.sort(rng.uniform(0, .03, K)), np.eye(2), 1.)

def stakes(seed):
    "Three arms with two beliefs each; high stakes, so that the dear arms are worth their rules."
    w = random_world(3, 2, 2, seed, prior='arm', max_cost=.5, margin=.02)
    return make_world(w.structure.joint, w.structure.costs, 20*w.setting.utility, w.setting.bound)

def seconds(f):
    start = process_time()
    return f(), process_time() - start

def best_rules(name, world, runs=5):
    fast, slow = [], []
    for _ in range(runs):
        a, t = seconds(lambda: optimal_rule(world))
        fast.append(t)
        try:
            b, t = seconds(lambda: optimal_rule(world, solver='highs'))
        except SolverFailure as error:
            print(f'{name}: HiGHS fails ({error}); V-rules {min(fast)*1e3:.1f} ms')
            return
        np.testing.assert_allclose(a.profits, b.profits, atol=1e-7)
        slow.append(t)
    ratios = np.array(slow)/fast
    print(f'{name}, M = {world.setting.M}: optimal_rule {np.median(ratios):.1f} times as fast '
          f'({ratios.min():.1f} to {ratios.max():.1f}); {min(fast)*1e3:.1f} ms', flush=True)

def rounds(name, world, a, budget=600, runs=3):
    oracle = action_informed_oracle(world)
    def play(solver):
        learner = oiafb(world.setting, oracle, eps=2*world.setting.B, budget=budget, a=a,
                        solver=solver)
        return seconds(lambda: simulate(learner, world, 3))
    ratios = []
    for _ in range(runs):
        (x, fast), (y, slow) = play('fast'), play('highs')
        assert (x.trace.arms == y.trace.arms).all()
        ratios.append(slow/fast)
    print(f'{name}: rounds {np.median(ratios):.2f} times as fast ({min(ratios):.2f} to '
          f'{max(ratios):.2f}); programs a round {x.lp_solves/x.rounds:.2f}, by HiGHS '
          f'{y.lp_solves/y.rounds:.2f}', flush=True)

if __name__ == '__main__':
    for name in 'small_clinic', 'clinic', 'advert':
        best_rules(name, load_world(name))
    best_rules('K = 6', large(6, 20, 1))
    best_rules('K = 6, large', large(6, 120, 2), runs=2)
    rounds('a program in every round', stakes(4), 1e-5)
    rounds('in some rounds', stakes(7), .1)
    rounds('clinic, none', load_world('clinic'), 1e-3)
