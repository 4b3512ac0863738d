"""The compiled engine is the coroutine: same arms, targets, kinds and rules, round by round, on the same random numbers; and it checks itself."""
import subprocess, sys
import numpy as np
import pytest

pytest.importorskip('numba')
from oia_nb import engine as E
from oia_nb.all import *

# Programs in thousands of rounds of the paper's radii would need long runs; with a small `a` the radii of OIAFB are small at once,
# so that most rounds need their linear programs, and some runs see the event fail.
SMALL = 1e-5, 1e-3, 1e-2, 0.1

def a_world(i, rng):
    "The first of some random worlds in which each arm can be induced; costs differ as much as that allows."
    K, W, signals, bound = int(rng.integers(2, 5)), int(rng.integers(2, 4)), int(rng.integers(2, 4)), float(rng.choice([.5, 1., 3.]))
    for max_cost in (.9, .5, .2, .05, .01):
        try:
            if i % 5 == 4: world = blackwell_world(2, W, signals, rng, bound=bound, max_cost=max_cost, margin=1e-3, tries=20)
            else: world = random_world(K, W, signals, rng, prior='arm', bound=bound, max_cost=max_cost, margin=1e-3, tries=20)
            z, s = world.setting, world.structure
            return make_world(s.joint, s.costs, z.utility*rng.choice([1., 20.]), z.bound)       # much at stake: dear arms are worth their rules
        except NotInducible: pass
    raise AssertionError('no world found')

def a_case(i, rounds=250):
    "World i, its oracle, and what to play: by turns OIAFC with both mixings and OIAFB with radii of several sizes."
    rng = generator(7, i)
    world = a_world(i, rng)
    eps = float(rng.choice([.1, 1., 2.]))*world.setting.B
    if i % 6 < 4: return world, 'oiafb', dict(eps=eps, budget=rounds, a=SMALL[i % 6])
    return world, 'oiafc', dict(eps=eps, delta=float(rng.choice([.1, 1.])), mixing='theorem1' if i % 6 == 4 else 'corollary1', max_rounds=rounds)

def coroutine_run(world, oracle, method, options, seed):
    "The `Identification`, and of every plan (round, profits, target, rule)."
    plans = []
    learner = dict(oiafc=oiafc, oiafb=oiafb)[method](world.setting, oracle, watch=lambda p: plans.append((p.t, p.profits, p.target, p.rule.values)), **options)
    return simulate(learner, world, seed), plans

def engine_run(monkeypatch, world, oracle, method, options, seed):
    "The same from the engine; of profits only those that it worked out, NaN for the others."
    plans = []
    def step(engine, verify=False):
        until = 0
        while (why := engine.advance(until)) == E.STEP:
            k, view, d = int(engine.data.ints[E.TARGET]), engine.view, engine.data
            b = engine.warm.rule[k]
            alpha = min(np.sqrt(engine.game.alpha/d.L[k]), 1.) if engine.game.log_alpha else engine.game.alpha
            S = oracle.rules[k] if engine.pool.rules.kind[b] == E.FALLBACK else engine.pool.rule(b, engine.warm.w[k])
            plans.append((d.ints[E.ROUNDS] + 1, np.where(view.exact > 0, view.h, np.nan), k, mix(S, oracle.rules[k], alpha).values))
            until = d.ints[E.ROUNDS] + 1
        step.engine = engine
        return why
    monkeypatch.setattr(E, 'run_engine', step)
    return E.simulate_fast(world, method=method, oracle=oracle, seed=seed, **options), plans, step.engine

def assert_same(a, b, plans_a, plans_b, world):
    "Equal but for rounding: 1e-9 of the bound in rules and profits, everything else exactly."
    tol = 1e-9*world.setting.bound
    for name in 'arms', 'beliefs', 'targets', 'kinds': np.testing.assert_array_equal(getattr(a.trace, name), getattr(b.trace, name), err_msg=name)
    for name in 'arm', 'rounds', 'status', 'normal_rounds', 'forced_rounds', 'searches', 'event_violated', 'eps', 'delta': assert getattr(a, name) == getattr(b, name), name
    np.testing.assert_array_equal(a.counts, b.counts)
    np.testing.assert_allclose(a.rule.values, b.rule.values, rtol=0, atol=tol)
    np.testing.assert_array_equal(a.trace.rounds, b.trace.rounds)
    for name in 'profits', 'radii', 'bounds': np.testing.assert_allclose(getattr(a.trace, name), getattr(b.trace, name), rtol=0, atol=tol*10)
    assert (a.certificate is None) == (b.certificate is None)
    if a.certificate: assert abs(a.certificate.bound - b.certificate.bound) < tol*10
    assert len(plans_a) == len(plans_b)
    for (t, h, k, S), (t2, h2, k2, S2) in zip(plans_a, plans_b):
        assert (t, k) == (t2, k2)
        np.testing.assert_allclose(S, S2, rtol=0, atol=tol, err_msg=f'rule of round {t}')
        known = ~np.isnan(h2)
        np.testing.assert_allclose(h[known], h2[known], rtol=0, atol=tol, err_msg=f'profits of round {t}')

@pytest.mark.parametrize('block', range(4))
def test_equal_to_the_coroutine_on_100_worlds(block, monkeypatch):
    solves = [0, 0]
    for i in range(25*block, 25*block + 25):
        world, method, options = a_case(i)
        oracle = action_informed_oracle(world)
        a, plans = coroutine_run(world, oracle, method, options, i)
        b, fast_plans, engine = engine_run(monkeypatch, world, oracle, method, options, i)
        assert_same(a, b, plans, fast_plans, world)
        solves[0] += a.lp_solves
        solves[1] += sum(p.solves for p in engine.programs.values())
    assert solves[0] > 1000 and solves[1] < solves[0]/3       # programs were needed, and most of them skipped
