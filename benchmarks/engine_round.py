"""OIAFC in compiled code, K = 5, M = 20, W = 3, 20,000 rounds, against three baselines in turn, one thread:

- the cvxpy route as a researcher would write it down: UCB-LP of every arm by cvxpy in every round (timed on a slice of rounds),
- the coroutine of this book (its arms, targets and rules must be the same),
- the floor: a compiled loop that only draws the response and counts it.
"""
from time import perf_counter, thread_time
import numba
import numpy as np
from oia_nb.all import *
from oia_nb import engine as E

ROUNDS, RUNS = 20_000, 7
OPTIONS = dict(eps=.5, delta=.1, max_rounds=ROUNDS)

def seconds(f):
    t = perf_counter()
    f()
    return perf_counter() - t

def cvxpy_rounds(world, oracle, n=8):
    "Seconds a round for K programs by cvxpy, with counts and cost estimates from a run."
    z, times = world.setting, []
    programs = [CvxpyProgram(z.support, z.K, k) for k in range(z.K)]
    def watch(plan):
        if plan.t < 1000 or len(times) > n: return
        t = perf_counter()
        for k in range(z.K):
            if programs[k].minimum(plan.q_hat, ucb_bounds(z, plan.I, plan.C_hat, plan.I_c, k)/z.bound, plan.I[k]) is not None and k == plan.target: programs[k].cheapest()
        times.append(perf_counter() - t)
    simulate(oiafc(z, oracle, watch=watch, **OPTIONS | dict(max_rounds=1500)), world, 0)
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
    agent, u = E.agent_arrays(world, oracle), np.random.default_rng(0).random(ROUNDS)
    arrays = np.zeros((z.K, z.M)), np.zeros(z.K), np.zeros(ROUNDS, np.int16), np.zeros(ROUNDS, np.int16)
    return lambda: floor(E.compiled()['draw'], agent, *arrays, u, 0)

def loop_and_floor(world, oracle, bare):
    "How many times longer the rounds of a run take than the floor, in processor time."
    z = world.setting
    run = E.Engine(world, oracle, generator(0), eps=.5, log_radius=True, c=np.log(4*z.K/.1) + z.M*np.log(2), log_alpha=True, alpha=z.M, stops=True, last_round=ROUNDS)
    t = thread_time(); run.advance(); u = thread_time(); bare()
    return (u - t)/(thread_time() - u)

def report(name, ratios, target): print(f'{name}: median {np.median(ratios):,.1f} ({min(ratios):,.1f} to {max(ratios):,.1f}); target {target}', flush=True)

if __name__ == '__main__':
    world = random_world(5, 3, 4, 1, prior='arm', margin=.02)
    oracle = action_informed_oracle(world)
    fast = lambda: E.simulate_fast(world, oracle=oracle, seed=0, **OPTIONS)
    slow = lambda: simulate(oiafc(world.setting, oracle, **OPTIONS), world, 0)
    bare = a_floor(world, oracle)
    a, b = fast(), slow()
    for name in 'arms', 'beliefs', 'targets', 'kinds': assert (getattr(a.trace, name) == getattr(b.trace, name)).all()
    assert a.rounds == b.rounds and np.abs(a.rule.values - b.rule.values).max() < 1e-9
    bare()
    runs = [(seconds(fast)/a.rounds, loop_and_floor(world, oracle, bare), cvxpy_rounds(world, oracle)) for _ in range(RUNS)]
    f, g, c = (np.array(o) for o in zip(*runs))
    print(f'{a.rounds} rounds, M = {world.setting.M}: {np.median(f)*1e6:.2f} µs a round')
    report('cvxpy route / engine', c/f, 'at least 1,000')
    report('coroutine / engine', [seconds(slow)/a.rounds/np.median(f) for _ in range(3)], 'none')
    report('loop / floor (processor time, without setting up)', g, 'at most 15')
