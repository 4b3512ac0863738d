"""OIAFC in compiled code, 20,000 rounds, one thread, against three baselines.

In three worlds. K = 5, M = 20, W = 3: a random one, in which the zero rule stays optimal for so
long, and one with a dear and well informed arm, whose linear programs the loop leaves to HiGHS.
K = 3, M = 6, W = 2: a program in every round, which the loop solves. The baselines, in turn:

- the cvxpy route as a researcher would write it down: UCB-LP of every arm in every round (timed on
  a slice of rounds),
- the coroutine of this book (its arms, targets and rules must be the same),
- the floor: a compiled loop that only draws the response and counts it.
"""
from os import getloadavg
from time import perf_counter, thread_time
import numba
import numpy as np
from oia_nb.core import generator
from oia_nb.fast import points
from oia_nb.fast.drive import ENGINES, simulate_fast
from oia_nb.fast.loop import Engine
from oia_nb.game.information import make_world
from oia_nb.run.learner import simulate
from oia_nb.paper.oiafb import oiafb
from oia_nb.paper.oiafc import oiafc
from oia_nb.game.oracle import action_informed_oracle
from oia_nb.game.programs import CvxpyProgram
from oia_nb.paper.ucb_lp import ucb_bounds
from oia_nb.worlds.generators import random_world

ROUNDS, RUNS = 20_000, 5
OPTIONS = dict(eps=.5, delta=.1, max_rounds=ROUNDS)
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
    z, s = w.setting, w.structure
    return make_world(s.joint, s.costs, 20*z.utility, z.bound)

def seconds(f):
    t = perf_counter()
    f()
    return perf_counter() - t

def cpu(f):
    t = thread_time()
    f()
    return thread_time() - t

def cvxpy_rounds(world, oracle, method, options, n=4):
    "Seconds a round for K programs by cvxpy, with counts and cost estimates from a run."
    z, times = world.setting, []
    programs = [CvxpyProgram(z.support, z.K, k) for k in range(z.K)]
    def watch(plan):
        if plan.t < 1000 or len(times) > n:
            return
        t = perf_counter()
        for k in range(z.K):
            lower = ucb_bounds(z, plan.I, plan.C_hat, plan.I_c, k)/z.bound
            programs[k].minimum(plan.q_hat, lower, plan.I[k], rule=k == plan.target)
        times.append(perf_counter() - t)
    few = {name: 1500 for name in ('max_rounds', 'budget') if name in options}
    simulate(METHODS[method](z, oracle, watch=watch, **options | few), world, 0)
    return float(np.median(times[1:]))

@numba.njit(error_model='numpy')
def floor(draw, agent, counts, N, arms, beliefs, uniform, arm):
    for t in range(len(uniform)):
        i = draw(agent, arm, uniform[t])
        counts[arm, i] += 1
        N[arm] += 1
        arms[t], beliefs[t] = arm, i

def a_floor(world, oracle):
    z = world.setting
    table, u = points.agent_table(world, oracle), np.random.default_rng(0).random(ROUNDS)
    counts, N = np.zeros((z.K, z.M)), np.zeros(z.K)
    log = np.zeros(ROUNDS, np.int16), np.zeros(ROUNDS, np.int16)
    draw = numba.njit(error_model='numpy')(points.draw_report)
    return lambda: floor(draw, table, counts, N, *log, u, 0)

def loop_and_floor(world, oracle, bare, method, options):
    "How many times longer the rounds of a run take than the floor, in processor time."
    game = ENGINES[method](world.setting, oracle, **options)[2]
    run = Engine(world, oracle, generator(0), **game)
    return cpu(run.advance)/cpu(bare)

def report(name, ratios, target):
    spread = f'{np.median(ratios):,.1f} ({min(ratios):,.1f} to {max(ratios):,.1f})'
    print(f'  {name}: median {spread}; target {target}', flush=True)

def compare(name, world, *, ratio, loop, method='oiafc', options=OPTIONS):
    oracle = action_informed_oracle(world)
    fast = lambda: simulate_fast(world, method=method, oracle=oracle, seed=0, **options)
    slow = lambda: simulate(METHODS[method](world.setting, oracle, **options), world, 0)
    bare = a_floor(world, oracle)
    a, b = fast(), slow()
    for field in 'arms', 'beliefs', 'targets', 'kinds':
        assert (getattr(a.trace, field) == getattr(b.trace, field)).all()
    off = np.abs(a.rule.values - b.rule.values).max()
    assert a.rounds == b.rounds and off < 1e-8
    bare()
    runs = [(seconds(fast)/a.rounds, loop_and_floor(world, oracle, bare, method, options),
             cpu(fast)/cpu(bare),
             cvxpy_rounds(world, oracle, method, options)) for _ in range(RUNS)]
    f, g, w, c = (np.array(o) for o in zip(*runs))
    s = np.array([seconds(slow)/b.rounds for _ in range(3)])
    print(f'{name}: {a.rounds} rounds, M = {world.setting.M}, {np.median(f)*1e6:.2f} µs a round; '
          f'programs solved by the coroutine {b.lp_solves}, by the engine {a.lp_solves}; '
          f'rules differ by {off:.0e}')
    report('cvxpy route / engine', c/f, ratio)
    report('coroutine / engine', s/np.median(f), 'none')
    report('loop / floor (processor time, without setting up)', g, loop)
    report('whole run / floor (processor time, with setting up and telling the result)', w, 'none')

if __name__ == '__main__':
    print('load', getloadavg())
    compare('a program in every round', stakes(4), ratio='at least 10,000', loop='none',
            method='oiafb', options=dict(eps=.5, budget=ROUNDS, a=1e-5))
    compare('programs of three states', dear_world(), ratio='none', loop='none')
    compare('zero rule', random_world(5, 3, 4, 1, prior='arm', margin=.02),
            ratio='at least 100,000', loop='at most 15')
    print('load', getloadavg())
