"""The compiled engine is the coroutine: same arms, targets, kinds and rules, round by round, on the same random numbers; and it checks itself."""
import subprocess, sys
import numpy as np
import pytest

pytest.importorskip('numba')
from oia_nb import engine as E
from oia_nb.programs import LinearProgram, solve_menu
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

def exact(solve):
    """HiGHS's solution, and then the vertex itself: the linear system of the constraints that are active in its basis.

    A rule moves by up to 1e4 times as much as the cap on its cost, which HiGHS finds to about 1e-12: without this the
    coroutine's rules were off by up to 9e-9, with it by 7e-11.
    """
    def vertex(program):
        import highspy
        x = solve(program)
        if x is None: return None
        basis, basic = program.highs.getBasis(), highspy.HighsBasisStatus.kBasic
        free, tight = (np.array([(o == basic) == b for o in part]) for part, b in ((basis.col_status, True), (basis.row_status, False)))
        if free.sum() != tight.sum(): return x
        at_bound = lambda x, bounds: np.where(abs(x - bounds[0]) < abs(x - bounds[1]), *bounds)
        A, y = program.A[np.flatnonzero(tight)].toarray(), np.where(free, 0., at_bound(x, program.columns))
        y[free] = np.linalg.solve(A[:, free], at_bound(A @ x, program.rows[:, tight]) - A @ y)
        assert np.abs(y - x).max() < 1e-4
        return y
    return vertex

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
    "Equal but for rounding: 1e-9 of the bound in profits and rules, everything else exactly."
    tol = rule_tol = 1e-9*world.setting.bound
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
        with monkeypatch.context() as m:
            m.setattr(LinearProgram, 'solve', exact(LinearProgram.solve))
            a, plans = coroutine_run(world, oracle, method, options, i)
        b, fast_plans, engine = engine_run(monkeypatch, world, oracle, method, options, i)
        assert_same(a, b, plans, fast_plans, world)
        solves[0] += a.lp_solves
        solves[1] += sum(p.solves for p in engine.programs.values())
    assert solves[0] > 500 and solves[1] < solves[0]/3       # programs were needed, and most of them skipped

@pytest.mark.parametrize('block', range(4))
def test_plans_agree_with_cold_solves_on_50_worlds(block):
    """2,000 rounds each. Every program that isn't the zero rule's is solved anew, cold, and so is the rule that is announced;
    skipped ones where the multipliers of the last cold solve don't prove the bound."""
    checked = skipped = 0
    for i in range(block, 50, 4):
        world, method, options = a_case(i, 2000)
        engine = an_engine(world, action_informed_oracle(world), method, options, i)
        E.run_engine(engine, verify=True)
        assert engine.check.worst <= 1e-8*world.setting.bound
        checked, skipped = checked + engine.check.checked, skipped + engine.check.skipped
    assert checked > 2000 and skipped > 3000

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

def test_a_wrong_bound_is_caught_by_the_check():
    "Likewise the bound by which a program was skipped."
    world, oracle, method, options = a_run_with_programs()
    engine = an_engine(world, oracle, method, options, 1)
    check, until = E.PlanCheck(engine), 0
    while engine.advance(until) == E.STEP:
        check()
        if (engine.view.exact == 0).any(): break
        until = engine.data.ints[E.ROUNDS] + 1
    k = np.flatnonzero(engine.view.exact == 0)[0]
    engine.view.h[k] = check.cold(k) - 1e-6
    with pytest.raises(SolverFailure, match='bounds'): check()

def test_corners_hold_all_points_of_a_flat_trail():
    X = np.cumsum(generator(0).normal(size=(30_000, 3))*[1, .1, 1e-9], 0)
    left = E.corners(X)
    assert len(left) < 300
    for scale in [1, 1, 1], [0, 1, 1e8], [0, 0, 1]:
        for d in generator(1).normal(size=(50, 3))*scale: assert (X[left] @ d).min() - (X @ d).min() <= 1e-12*np.abs(d).sum()*np.abs(X).max()

def test_lists_and_shelf_know_the_minima_of_a_full_scan(monkeypatch):
    "The leads U of plans against a scan of all rules announced so far; long lists are thinned out, and the shelf looked through, on the way."
    world, method, options = a_case(1, 3000)
    engine, z = an_engine(world, action_informed_oracle(world), method, options, 1), world.setting
    seen, until, shelved, thinned = [[] for _ in range(z.K)], 0, 0, []
    monkeypatch.setattr(E, 'LISTED', 4)
    monkeypatch.setattr(E, 'LONG', 8)
    thin_out = E.thin_out
    monkeypatch.setattr(E, 'thin_out', lambda points, shelf, *a: thinned.append(points.n.sum() + shelf.n.sum()) or thin_out(points, shelf, *a))
    engine.kernels = E.KERNELS
    happen = E.happen
    def watched(agent, game, data, points, view, log, rules, b, w, share, k, kind):
        arm = happen(agent, game, data, points, view, log, rules, b, w, share, k, kind)
        s = rules.s0[b] + w[:rules.r[b] - 1] @ rules.Zs[b, :rules.r[b] - 1]
        seen[arm].append((1 - share)*s + share*game.oracle[k])
        return arm
    monkeypatch.setattr(E, 'happen', watched)
    while engine.advance(until) == E.STEP:
        q, t = engine.data.counts/engine.data.N[:, None], engine.data.ints[E.ROUNDS]
        assert not engine.data.ints[E.EASY]                       # an easy plan may have leads that are out of date
        for k in range(z.K):
            f = np.array(seen[k]) @ (q[k] - q).T
            np.testing.assert_allclose(np.delete(engine.view.U[k], k), np.delete(f.min(0), k), rtol=0, atol=1e-12*z.bound)
        shelved, until = max(shelved, engine.shelf.n.sum()), t + 97
    assert shelved > 100 and len(thinned) > 1 and engine.data.ints[E.LOOKED] > 0

def test_a_whole_list_finds_room_on_the_shelf():
    "With the least D every point of a long list can be put away at once: the loop asks for room before that could be too much."
    world, method, options = a_case(1, 3000)
    engine = an_engine(world, action_informed_oracle(world), method, options, 1)
    engine.kernels, grown = E.KERNELS, 0
    for t in range(200, 2600, 200):
        assert engine.advance(t) == E.STEP
        p, f, k = engine.points, engine.shelf, int(engine.shelf.n.argmax())
        room, spare = f.par.shape[1], E.SPARE + 2*len(f.n)
        if f.n[k] < 50: continue
        engine.shelf = f = f._replace(owner=f.owner[:, :p.n[k] + f.n[k] + spare - 1], par=f.par[:, :p.n[k] + f.n[k] + spare - 1])      # one too few
        assert E.short(engine.data, p, f, engine.log, engine.data.ints[E.ROUNDS] + 1) == E.POINTS
        engine.make_room()
        grown += engine.shelf.par.shape[1] > f.par.shape[1]
        assert E.short(engine.data, p, engine.shelf, engine.log, engine.data.ints[E.ROUNDS] + 1) != E.POINTS
    assert grown > 3

def test_an_easy_plan_is_what_all_points_and_paths_lead_to(monkeypatch):
    "Leads out of date and rays not written down: every easy plan of faithful runs against the prop's condition on all rules announced so far."
    easy = stale = 0
    for i in range(6):
        world = random_world(int(2 + i % 3), 2, 3, i, prior='arm', max_cost=.3, margin=.01)
        z, oracle = world.setting, action_informed_oracle(world)
        engine, seen = an_engine(world, oracle, 'oiafc', dict(eps=.5, delta=.5, max_rounds=600), i), [[] for _ in range(z.K)]
        engine.kernels, happen = E.KERNELS, E.happen
        def watched(agent, game, data, points, view, log, rules, b, w, share, k, kind):
            arm = happen(agent, game, data, points, view, log, rules, b, w, share, k, kind)
            seen[arm].append(share*game.oracle[k])                # the zero rule is all that these runs announce
            assert rules.kind[b] == E.ZERO
            return arm
        until = 0
        with monkeypatch.context() as m:
            m.setattr(E, 'happen', watched)
            while engine.advance(until) == E.STEP:
                d, until = engine.data, engine.data.ints[E.ROUNDS] + 5
                if not d.ints[E.EASY]: continue
                easy, stale = easy + 1, stale + (engine.view.N != d.N).any()
                q = d.counts/d.N[:, None]
                for k in range(z.K): assert (np.array(seen[k]) @ (q[k] - np.delete(q, k, 0)).T).min() >= -2*z.bound*engine.view.I[k] - 1e-12*z.bound
    assert easy > 300 and stale > 100

def test_a_wrong_easy_plan_is_caught_by_the_check(monkeypatch):
    world, oracle, method, options = a_run_with_programs()
    engine = an_engine(world, oracle, method, options, 1)
    engine.kernels, check = E.KERNELS, E.PlanCheck(engine)
    monkeypatch.setattr(E, 'easy', lambda *args: True)
    assert engine.advance(20) == E.STEP
    with pytest.raises(SolverFailure, match='not an easy plan'): check()

def test_the_generator_is_left_where_the_coroutine_leaves_it():
    world, oracle, method, options = a_run_with_programs()
    a, b = generator(3), generator(3)
    simulate(oiafb(world.setting, oracle, **options), world, a)
    E.simulate_fast(world, method=method, oracle=oracle, seed=b, **options)
    assert a.random() == b.random()

def test_bad_arguments_are_refused_before_anything_is_drawn():
    world, oracle, _, _ = a_run_with_programs()
    good = dict(eps=.1, delta=.1)
    for bad in dict(eps=-1., delta=.1), dict(eps=.1, delta=2.), dict(eps=.1), *(good | o for o in (dict(mixing=lambda L: .1), dict(method='sharp'), dict(watch=print),
                dict(solver='cvxpy'), dict(method='oiafb'), dict(method='oiafb', budget=9, a=1.), dict(max_rounds=1))):
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
        menu = solve_menu(z.support, q, k, (world.costs[k] - world.costs)/z.bound)
        assert (menu is None) == (full.rules[k] is None)
        if menu is None: continue
        S = ScoringRule(z.bound*menu.rule, z.support, z.bound)
        assert abs(q[k] @ z.belief_utility - z.bound*menu.value - full.profits[k]) < 1e-8
        assert is_proper(S) and region_margin(world, S, k) > -1e-8 and abs(arm_profit(world, S)[k] - full.profits[k]) < 1e-8
