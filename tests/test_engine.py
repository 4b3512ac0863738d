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

def a_case(i, rounds=80):
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
    """Equal but for rounding: 1e-9 of the bound in profits, everything else exactly.

    The cheapest optimal rule moves with the optimum that caps its cost, and that cap carries the solver's rounding: 9e-9 was seen
    in a payment, hence 1e-7 for rules.
    """
    tol, rule_tol = 1e-9*world.setting.bound, 1e-7*world.setting.bound
    for name in 'arms', 'beliefs', 'targets', 'kinds': np.testing.assert_array_equal(getattr(a.trace, name), getattr(b.trace, name), err_msg=name)
    for name in 'arm', 'rounds', 'status', 'normal_rounds', 'forced_rounds', 'searches', 'event_violated', 'eps', 'delta': assert getattr(a, name) == getattr(b, name), name
    np.testing.assert_array_equal(a.counts, b.counts)
    np.testing.assert_allclose(a.rule.values, b.rule.values, rtol=0, atol=rule_tol)
    np.testing.assert_array_equal(a.trace.rounds, b.trace.rounds)
    for name in 'profits', 'radii', 'bounds': np.testing.assert_allclose(getattr(a.trace, name), getattr(b.trace, name), rtol=0, atol=tol*10)
    assert (a.certificate is None) == (b.certificate is None)
    if a.certificate: assert abs(a.certificate.bound - b.certificate.bound) < tol*10
    assert len(plans_a) == len(plans_b)
    for (t, h, k, S), (t2, h2, k2, S2) in zip(plans_a, plans_b):
        assert (t, k) == (t2, k2)
        np.testing.assert_allclose(S, S2, rtol=0, atol=rule_tol, err_msg=f'rule of round {t}')
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
    assert solves[0] > 500 and solves[1] < solves[0]/3       # programs were needed, and most of them skipped

@pytest.mark.parametrize('block', range(4))
def test_plans_agree_with_cold_solves_on_50_worlds(block):
    "600 rounds each; every program that isn't the zero rule's is solved anew, cold, and so is the rule that is announced."
    checked = skipped = 0
    for i in range(block, 50, 4):
        world, method, options = a_case(i, 600)
        engine = an_engine(world, action_informed_oracle(world), method, options, i)
        E.run_engine(engine, verify=True)
        assert engine.check.worst <= 1e-8*world.setting.bound
        checked, skipped = checked + engine.check.checked, skipped + engine.check.skipped
    assert checked > 2000 and skipped > 500

def an_engine(world, oracle, method, options, seed):
    "An `Engine` as `simulate_fast` makes it, not yet played."
    made = []
    class Caught(Exception): pass
    def catch(engine, verify=False):
        made.append(engine)
        raise Caught
    play, E.run_engine = E.run_engine, catch
    try: E.simulate_fast(world, method=method, oracle=oracle, seed=seed, **options)
    except Caught: return made[0]
    finally: E.run_engine = play

def a_run_with_programs():
    world, method, options = a_case(1, 150)
    return world, action_informed_oracle(world), method, options

def test_a_wrong_basis_is_refused_and_solved_cold(monkeypatch):
    "A basis that isn't optimal: the loop refuses it, asks again, and the run is the same."
    world, oracle, method, options = a_run_with_programs()
    right = E.simulate_fast(world, method=method, oracle=oracle, seed=1, **options)
    honest, injected = E.active_constraints, []
    def lying(program):
        found = honest(program)
        if found is None: return None
        asks, rows, columns, x = found
        injected.append(len(injected) % 2 == 0 and columns.any() and not columns.all())
        if injected[-1]: columns[[np.flatnonzero(columns)[0], np.flatnonzero(~columns)[0]]] = False, True      # another vertex
        return asks, rows, columns, x
    monkeypatch.setattr(E, 'active_constraints', lying)
    wrong = E.simulate_fast(world, method=method, oracle=oracle, seed=1, **options)
    assert sum(injected) > 1
    np.testing.assert_array_equal(right.trace.arms, wrong.trace.arms)
    np.testing.assert_allclose(right.rule.values, wrong.rule.values, rtol=0, atol=1e-9)

def test_a_wrong_claim_is_caught_by_the_check():
    "What the loop claims of a program is falsified after the plan: the check must say so."
    world, oracle, method, options = a_run_with_programs()
    engine = an_engine(world, oracle, method, options, 1)
    check, until = E.PlanCheck(engine), 0
    while engine.advance(until) == E.STEP:
        check()
        if (engine.view.exact == 1).any(): break
        until = engine.data.ints[E.ROUNDS] + 1
    engine.view.h[np.flatnonzero(engine.view.exact == 1)[0]] += 1e-6
    with pytest.raises(SolverFailure, match='by cold solves'): check()

def test_the_generator_is_left_where_the_coroutine_leaves_it():
    world, oracle, method, options = a_run_with_programs()
    a, b = generator(3), generator(3)
    simulate(oiafb(world.setting, oracle, **options), world, a)
    E.simulate_fast(world, method=method, oracle=oracle, seed=b, **options)
    assert a.random() == b.random()

def test_bad_arguments_are_refused_before_anything_is_drawn():
    world, oracle, _, _ = a_run_with_programs()
    for bad in dict(eps=-1., delta=.1), dict(eps=.1, delta=2.), dict(eps=.1, delta=.1, mixing=lambda L: .1), dict(eps=.1, delta=.1, method='chen'):
        rng = generator(0)
        with pytest.raises(InvalidInput): E.simulate_fast(world, oracle=oracle, seed=rng, **bad)
        assert rng.random() == generator(0).random()

def test_uncompiled_is_the_same():
    world, oracle, method, options = a_run_with_programs()
    a, b = (E.simulate_fast(world, method=method, oracle=oracle, seed=1, compile=c, **options) for c in (True, False))
    np.testing.assert_array_equal(a.trace.arms, b.trace.arms)
    np.testing.assert_allclose(a.rule.values, b.rule.values, rtol=0, atol=1e-12)

def test_importing_loads_no_compiler():
    "Nor anything else that is slow to load."
    heavy = 'numba cvxpy scipy matplotlib highspy pandas ipywidgets'.split()
    code = f'import sys, oia_nb.all, oia_nb.engine; sys.exit(", ".join(m for m in {heavy} if m in sys.modules))'
    assert subprocess.run([sys.executable, '-c', code], capture_output=True, text=True).stderr.strip() == ''

def test_a_large_world_has_the_best_rule_of_the_full_program():
    "M = 60: the menu of an arm's own beliefs against all payments and all rows."
    world = random_world(6, 5, 10, 0, prior='arm')
    z, q = world.setting, world.belief_distributions
    full = optimal_rule(world)
    for k in range(z.K):
        menu = E.solve_menu(z.support, q, k, (world.costs[k] - world.costs)/z.bound)
        assert (menu is None) == (full.rules[k] is None)
        if menu is None: continue
        S = ScoringRule(z.bound*menu[1], z.support, z.bound)
        assert abs(q[k] @ z.belief_utility - z.bound*menu[0] - full.profits[k]) < 1e-8
        assert is_proper(S) and region_margin(world, S, k) > -1e-8 and abs(arm_profit(world, S)[k] - full.profits[k]) < 1e-8
