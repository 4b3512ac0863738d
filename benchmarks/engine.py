"""A round of OIAFC or OIAFB in compiled code: against the coroutine, and late in a run.

In three worlds. K = 5, M = 20, W = 3: a random one, in which the zero rule stays optimal for so
long, and one with a dear and well informed arm, whose linear programs are the learner's. K = 3,
M = 6, W = 2: a program in every round, which the loop solves. The arms, targets and rules of the
two ways must be the same. Then two million rounds in the worlds of the package.
"""
from time import process_time
import numpy as np
from oia_nb.core import generator
from oia_nb.fast.drive import simulate_fast
from oia_nb.game.information import make_world
from oia_nb.game.oracle import action_informed_oracle
from oia_nb.paper.oiafc import oiafb
from oia_nb.paper.oiafc import oiafc
from oia_nb.run.learner import simulate
from oia_nb.worlds.files import load_world
from oia_nb.worlds.generators import random_world

METHODS = dict(oiafc=oiafc, oiafb=oiafb)

def dear_world(seed=5, cost=.45):
    """Four arms that know little and cost little, and one that knows nearly all and is dear.

    Its optimistic rule is a linear program's from about round 15,000 on.
    """
    rng, eye = generator(seed), np.eye(3)
    joint = [rng.dirichlet(np.full(12, 3.)).reshape(4, 3) for _ in range(4)]
    sharp = [.3*(.03*rng.dirichlet(np.ones(3)) + .97*e) for e in eye]
    sharp.append(.1*(.3*rng.dirichlet(np.ones(3)) + .7*eye[rng.integers(3)]))
    costs = [0., *rng.uniform(0, .03, 3), cost]
    return make_world([*joint, np.array(sharp)/np.sum(sharp)], costs, eye, 1.)

def stakes(seed):
    "Three arms with two beliefs each; high stakes, so that the dear arms are worth their rules."
    w = random_world(3, 2, 2, seed, prior='arm', max_cost=.5, margin=.02)
    return make_world(w.structure.joint, w.costs, 20*w.setting.utility, w.setting.bound)

def timed(f):
    t = process_time()
    return f(), process_time() - t

def compare(world, method, runs=3, **options):
    "How many times as long as the engine the coroutine takes, run by run."
    oracle, ratios = action_informed_oracle(world), []
    for seed in range(runs):
        a, fast = timed(lambda: simulate_fast(world, method=method, oracle=oracle, seed=seed,
                                              **options))
        b, slow = timed(lambda: simulate(METHODS[method](world.setting, oracle, **options),
                                         world, seed))
        for field in 'arms', 'beliefs', 'targets', 'kinds':
            assert (getattr(a.trace, field) == getattr(b.trace, field)).all()
        assert np.abs(a.rule.values - b.rule.values).max() < 1e-8
        ratios.append(slow/fast)
    return ratios

def growth(world, rounds=2_000_000, **options):
    "Seconds of `rounds` rounds, and how many times as dear a round of the second half is."
    def play(n):
        return timed(lambda: simulate_fast(world, eps=.2, delta=.1, seed=0, max_rounds=n,
                                           **options))
    (_, half), (found, whole) = play(rounds//2), play(rounds)
    return found.rounds, whole, (whole - half)/half

if __name__ == '__main__':
    simulate_fast(load_world('clinic'), eps=3., delta=.1, seed=0)          # compile
    often = dict(method='oiafb', eps=.5, budget=20_000, a=1e-5)
    rare = dict(method='oiafc', eps=.5, delta=.1, max_rounds=20_000)
    for name, world, how in (('a program in every round', stakes(4), often),
                             ('programs of three states', dear_world(), rare),
                             ('zero rule', random_world(5, 3, 4, 1, prior='arm', margin=.02),
                              rare)):
        ratios = compare(world, **how)
        print(f'{name}: coroutine / engine {np.median(ratios):.1f} '
              f'({min(ratios):.1f} to {max(ratios):.1f})', flush=True)
    for name in 'clinic', 'wine', 'advert', 'small_clinic':
        for mixing in 'theorem1', 'corollary1':
            rounds, seconds, ratio = growth(load_world(name), mixing=mixing)
            print(f'{name}, {mixing}: {rounds} rounds in {seconds:.1f} s, a round of the second '
                  f'half {ratio:.2f} times one of the first', flush=True)
