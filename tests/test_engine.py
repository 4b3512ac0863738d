"""The compiled engine is the coroutine, on the same random numbers; and it checks itself.

Arms, targets and kinds are the same round by round; rules and profits equal but for rounding.
"""
import os
import subprocess
import sys
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip('numba')
from oia_nb.core import InvalidInput, NotInducible, SolverFailure, generator
from oia_nb.fast import agent, bases, drive, loop, shelf, state
from oia_nb.fast.drive import ENGINES, PlanCheck, play_checked, simulate_fast
from oia_nb.fast.loop import CAP, DONE, POINTS, STEP, Engine
from oia_nb.identification import identify
from oia_nb.information import Rational, Response, World, make_world
from oia_nb.learner import simulate
from oia_nb.oiafb import oiafb
from oia_nb.oiafc import oiafc
from oia_nb.oracle import Oracle, action_informed_oracle, check_oracle
from oia_nb.programs import LinearProgram, MenuProgram
from oia_nb.scoring import ScoringRule, is_proper, mix
from oia_nb.stackelberg import arm_profit, optimal_rule, region_margin
from oia_nb.worlds import blackwell_world, load_world, random_world

# Programs in thousands of rounds of the paper's radii would need long runs; with a small
# `a` the radii of OIAFB are small at once, so that most rounds need their linear programs,
# and some runs see the event fail.
SMALL = 1e-5, 1e-3, 1e-2, 0.1
TOL = 1e-9      # of the bound: profits and rules of the engine against the coroutine's


@pytest.fixture
def thorough(request):
    "Is this a run of everything?"
    return request.config.getoption('--release')


def a_world(i, rng):
    "A random world in which each arm can be induced; costs differ as much as that allows."
    K, W, signals = (int(rng.integers(2, n)) for n in (5, 4, 4))
    bound = float(rng.choice([.5, 1., 3.]))
    for max_cost in (.9, .5, .2, .05, .01):
        how = dict(bound=bound, max_cost=max_cost, margin=1e-3, tries=20)
        try:
            if i % 5 == 4:
                world = blackwell_world(2, W, signals, rng, **how)
            else:
                world = random_world(K, W, signals, rng, prior='arm', **how)
        except NotInducible:
            continue
        z, s = world.setting, world.structure
        # much at stake in half of them: dear arms are worth their rules
        return make_world(s.joint, s.costs, z.utility*rng.choice([1., 20.]), z.bound)
    raise AssertionError('no world found')


def a_case(i, rounds=80):
    "World i and what to play: by turns OIAFC with both mixings, OIAFB with radii of four sizes."
    rng = generator(7, i)
    world = a_world(i, rng)
    eps = float(rng.choice([.1, 1., 2.]))*world.setting.B
    if i % 6 < 4:
        return world, 'oiafb', dict(eps=eps, budget=rounds, a=SMALL[i % 6])
    mixing = 'theorem1' if i % 6 == 4 else 'corollary1'
    return world, 'oiafc', dict(eps=eps, delta=float(rng.choice([.1, 1.])), mixing=mixing,
                                max_rounds=rounds)


def an_engine(world, oracle, method, options, seed, compile=True):
    "An `Engine` as `simulate_fast` makes it, not yet played."
    game = ENGINES[method](world.setting, oracle, **options)[2]
    return Engine(world, oracle, generator(seed), compile=compile, **game)


@cache
def a_run_with_programs():
    "A world, its oracle, a method and its options (not to be changed); most rounds need programs."
    world, method, options = a_case(1, 150)
    return world, action_informed_oracle(world), method, options


def exact(solve):
    """HiGHS's solution, and then the vertex itself, from the constraints active in its basis.

    A rule moves by up to 1e4 times as much as the cap on its cost, which HiGHS finds to
    about 1e-12: without this the coroutine's rules were off by up to 9e-9, with it by 7e-11.
    """
    def vertex(program):
        import highspy
        found = solve(program)
        if found is None:
            return None
        basis, basic = program.highs.getBasis(), highspy.HighsBasisStatus.kBasic
        free = np.array([o == basic for o in basis.col_status])
        tight = np.array([o != basic for o in basis.row_status])
        if free.sum() != tight.sum():
            return found
        near = lambda x, bounds: np.where(abs(x - bounds[0]) < abs(x - bounds[1]), *bounds)
        A = program.A[np.flatnonzero(tight)].toarray()
        x = np.where(free, 0., near(found.x, program.columns))
        x[free] = np.linalg.solve(A[:, free], near(A @ found.x, program.rows[:, tight]) - A @ x)
        assert np.abs(x - found.x).max() < 1e-4
        return replace(found, x=x, value=float(program.cost @ x))
    return vertex


def coroutine_run(world, oracle, method, options, seed):
    "The `Identification`, and of every plan (round, profits, target, rule)."
    plans = []
    watch = lambda p: plans.append((p.t, p.profits, p.target, p.rule.values))
    learner = dict(oiafc=oiafc, oiafb=oiafb)[method](
        world.setting, oracle, solver='highs', watch=watch, **options)
    return simulate(learner, world, seed), plans


def engine_run(world, oracle, method, options, seed):
    "The same from the engine, and its runs of the solver."
    plans, until = [], 0
    engine = an_engine(world, oracle, method, options, seed)
    while engine.advance(until) == STEP:
        run, clock = engine.run, engine.run.clock
        k = int(clock.target)
        b = run.warm.rule[k]
        alpha = loop.share_of(run.game, run.reports.L[k])
        S = oracle.rules[k]
        if run.rules.kind[b] != state.FALLBACK:
            S = engine.pool.rule(b, run.warm.w[k])
        rule = mix(S, oracle.rules[k], alpha)
        plans.append((clock.rounds + 1, run.plan.h.copy(), k, rule.values))
        until = clock.rounds + 1
    result = simulate_fast(world, method=method, oracle=oracle, seed=seed, **options)
    np.testing.assert_array_equal(result.trace.arms, engine.run.log.arms[:result.rounds])
    return result, plans, sum(p.solves for p in engine.programs.values())


def assert_same(a, b, plans_a, plans_b, world):
    "Equal but for rounding in profits and rules, everything else exactly."
    tol = TOL*world.setting.bound

    def close(x, y, tol, what=''):
        np.testing.assert_allclose(x, y, rtol=0, atol=tol, err_msg=what)
    for name in 'arms', 'beliefs', 'targets', 'kinds', 'rounds':
        np.testing.assert_array_equal(getattr(a.trace, name), getattr(b.trace, name), err_msg=name)
    for name in ('arm', 'rounds', 'status', 'normal_rounds', 'forced_rounds', 'searches',
                 'event_violated', 'eps', 'delta'):
        assert getattr(a, name) == getattr(b, name), name
    np.testing.assert_array_equal(a.counts, b.counts)
    close(a.rule.values, b.rule.values, tol)
    for name in 'profits', 'radii', 'bounds':
        close(getattr(a.trace, name), getattr(b.trace, name), tol*10, name)
    assert (a.certificate is None) == (b.certificate is None)
    if a.certificate:
        assert abs(a.certificate.bound - b.certificate.bound) < tol*10
    assert len(plans_a) == len(plans_b)
    for (t, h, k, S), (t2, h2, k2, S2) in zip(plans_a, plans_b):
        assert (t, k) == (t2, k2)
        close(S, S2, tol, f'rule of round {t}')
        close(h, h2, tol, f'profits of round {t}')


@pytest.mark.parametrize('block', range(4))
def test_equal_to_the_coroutine_on_100_worlds(block, thorough, monkeypatch):
    "16 of them, each way of playing in each block, without --release."
    solves = [0, 0]
    for i in range(25*block, 25*block + (25 if thorough else 4)):
        world, method, options = a_case(i)
        oracle = action_informed_oracle(world)
        with monkeypatch.context() as m:
            m.setattr(LinearProgram, 'solve', exact(LinearProgram.solve))
            a, plans = coroutine_run(world, oracle, method, options, i)
        b, fast_plans, solved = engine_run(world, oracle, method, options, i)
        assert_same(a, b, plans, fast_plans, world)
        solves[0] += a.lp_solves
        solves[1] += solved
    assert solves[0] > (500 if thorough else 20)     # programs were needed …
    assert solves[1] < solves[0]/3                    # … and most bases held


def some_plans(t):
    "All plans of the first 100 rounds, then every 20th."
    return t + 1 if t < 100 else t + 20


@pytest.mark.parametrize('block', range(4))
def test_plans_agree_with_cold_solves_on_80_worlds(block, thorough):
    "Every program that isn't the zero rule's is solved anew, cold, and so is the announced rule."
    solved = 0
    for i in range(block, 50 if thorough else 9, 4):
        world, method, options = a_case(i, 2000)
        engine = an_engine(world, action_informed_oracle(world), method, options, i)
        why, check = play_checked(engine, some_plans)
        assert why in (DONE, CAP) and check.worst <= drive.CHECK_TOL*world.setting.bound
        solved += check.solved
    assert solved > (500 if thorough else 20)


def test_a_wrong_basis_is_refused_and_solved_cold(monkeypatch):
    "A basis that isn't optimal: the loop refuses it, asks again, and the run is the same."
    world, oracle, method, options = a_run_with_programs()
    right = simulate_fast(world, method=method, oracle=oracle, seed=1, **options)
    honest, injected = bases.active_constraints, []

    def lying(program):
        found = honest(program)
        if found is None:
            return None
        asks, rows, columns, x = found
        injected.append(len(injected) % 2 == 0 and columns.any() and not columns.all())
        if injected[-1]:      # another vertex
            columns[[np.flatnonzero(columns)[0], np.flatnonzero(~columns)[0]]] = False, True
        return asks, rows, columns, x
    monkeypatch.setattr(bases, 'active_constraints', lying)
    wrong = simulate_fast(world, method=method, oracle=oracle, seed=1, **options)
    assert sum(injected) > 1
    np.testing.assert_array_equal(right.trace.arms, wrong.trace.arms)
    np.testing.assert_allclose(right.rule.values, wrong.rule.values, rtol=0, atol=TOL)


@pytest.mark.parametrize('off', [1e-6, -1e-6])
def test_a_wrong_claim_is_caught_by_the_check(off):
    "What the loop claims of a program is falsified after the plan: the check must say so."
    world, oracle, method, options = a_run_with_programs()
    engine = an_engine(world, oracle, method, options, 1)
    check, until = PlanCheck(engine), 0
    while engine.advance(until) == STEP:
        check()
        if not engine.run.plan.zero.all():
            break
        until = engine.run.clock.rounds + 1
    engine.run.plan.h[np.flatnonzero(engine.run.plan.zero == 0)[0]] += off
    with pytest.raises(SolverFailure, match='by cold solves'):
        check()


def test_a_dear_rule_is_caught_by_the_check():
    "A rule that isn't the plan's, for the right target."
    world, oracle, method, options = a_run_with_programs()
    engine, until = an_engine(world, oracle, method, options, 1), 0
    while engine.advance(until) == STEP:
        k, run = engine.run.clock.target, engine.run
        b = run.warm.rule[k]
        if run.rules.kind[b] == state.PRICE and run.rules.r[b] > 1:
            break
        until = run.clock.rounds + 1
    check = PlanCheck(engine)
    check()
    run.warm.w[k] += .05
    with pytest.raises(SolverFailure, match='is off by'):
        check()


def test_corners_hold_all_points_of_a_flat_trail():
    X = np.cumsum(generator(0).normal(size=(30_000, 3))*[1, .1, 1e-9], 0)
    left = shelf.corners(X)
    assert len(left) < 300
    for scale in [1, 1, 1], [0, 1, 1e8], [0, 0, 1]:
        for d in generator(1).normal(size=(50, 3))*scale:
            assert (X[left] @ d).min() - (X @ d).min() <= 1e-12*np.abs(d).sum()*np.abs(X).max()


def watched(engine, monkeypatch):
    "An uncompiled engine's list, an arm, of the rules that it answers: expected payments (M,)."
    seen, happen, game = [[] for _ in range(engine.world.setting.K)], loop.happen, engine.run.game

    def watching(run, b, k, share, kind):
        arm = happen(run, b, k, share=share, kind=kind)
        d = run.rules.r[b] - 1
        s = run.rules.s0[b] + run.warm.w[k, :d] @ run.rules.Zs[b, :d]
        seen[arm].append((1 - share)*s + share*game.oracle[k])
        return arm
    monkeypatch.setattr(loop, 'happen', watching)
    return seen


def test_lists_and_shelf_know_the_minima_of_a_full_scan(monkeypatch):
    """The leads U of plans against a scan of all rules announced so far.

    Long lists are put away and thinned out, and the shelf looked through, on the way.
    """
    world, method, options = a_case(1, 1000)
    engine = an_engine(world, action_informed_oracle(world), method, options, 1, compile=False)
    z, until, shelved, thinned, looked, back = world.setting, 0, 0, [], set(), []
    seen, thin_out, look_through = watched(engine, monkeypatch), loop.thin_out, shelf.look_through
    monkeypatch.setattr(shelf, 'LISTED', 4)
    monkeypatch.setattr(loop, 'SPARE', 400)
    monkeypatch.setattr(loop, 'thin_out', lambda *a: thinned.append(1) or thin_out(*a))

    def looking(run):
        before = run.shelf.n.sum()
        done = look_through(run)
        back.append(before - run.shelf.n.sum())
        return done
    monkeypatch.setattr(shelf, 'look_through', looking)
    while engine.advance(until) == STEP:
        run = engine.run
        q = run.reports.counts/run.reports.N[:, None]
        assert not run.clock.easy             # an easy plan may have leads out of date
        for k in range(z.K):
            f = np.array(seen[k]) @ (q[k] - q).T
            U = np.delete(run.plan.U[k], k)
            np.testing.assert_allclose(U, np.delete(f.min(0), k), rtol=0, atol=1e-12*z.bound)
        looked.add(int(run.clock.looked))
        shelved, until = max(shelved, run.shelf.n.sum()), run.clock.rounds + 97
    assert shelved > 100
    assert len(thinned) > 1
    assert len(looked) > 5
    assert sum(back) > 0


def test_a_whole_list_finds_room_on_the_shelf():
    """With the least D every point of a long list can be put away at once.

    The loop asks for room before that could be too much.
    """
    world, method, options = a_case(1, 3000)
    engine = an_engine(world, action_informed_oracle(world), method, options, 1)
    grown = 0
    for t in range(200, 1200, 200):
        assert engine.advance(t) == STEP
        p, f = engine.run.points, engine.run.shelf
        k = int(f.n.argmax())
        room = p.n[k] + f.n[k] + loop.SPARE + 2*len(f.n) - 1      # one too few
        if f.n[k] < 20:
            continue
        f = f._replace(owner=f.owner[:, :room].copy(), par=f.par[:, :room].copy())
        engine.run = engine.run._replace(shelf=f)
        assert loop.short(engine.run) == POINTS
        engine.make_room()
        grown += engine.run.shelf.par.shape[1] > room
        assert loop.short(engine.run) != POINTS
    assert grown > 1


def test_an_easy_plan_is_what_all_points_and_paths_lead_to(monkeypatch):
    """Leads out of date and rays not written down: every easy plan of faithful runs.

    It is held against the proposition's condition on all rules announced so far.
    """
    easy = stale = 0
    for i in range(3):
        world = random_world(2 + i, 2, 3, i, prior='arm', max_cost=.3, margin=.01)
        z, oracle, until = world.setting, action_informed_oracle(world), 0
        options = dict(eps=.5, delta=.5, max_rounds=400)
        engine = an_engine(world, oracle, 'oiafc', options, i, compile=False)
        with monkeypatch.context() as m:
            seen = watched(engine, m)
            while engine.advance(until) == STEP:
                run, until = engine.run, engine.run.clock.rounds + 5
                if not run.clock.easy:
                    continue
                N, I = run.reports.N, run.plan.I
                easy, stale = easy + 1, stale + (run.plan.N != N).any()
                q = run.reports.counts/N[:, None]
                for k in range(z.K):
                    least = (np.array(seen[k]) @ (q[k] - np.delete(q, k, 0)).T).min()
                    assert least >= -2*z.bound*I[k] - 1e-12*z.bound
    assert easy > 100 and stale > 30


def test_a_wrong_easy_plan_is_caught_by_the_check(monkeypatch):
    from oia_nb.fast import plan
    world, oracle, method, options = a_run_with_programs()
    engine = an_engine(world, oracle, method, options, 1, compile=False)
    check = PlanCheck(engine)
    monkeypatch.setattr(plan, 'easy', lambda *args: True)
    assert engine.advance(20) == STEP
    with pytest.raises(SolverFailure, match='not an easy plan'):
        check()


def test_the_generator_is_left_where_the_coroutine_leaves_it():
    world, oracle, method, options = a_run_with_programs()
    a, b = generator(3), generator(3)
    simulate(oiafb(world.setting, oracle, **options), world, a)
    simulate_fast(world, method=method, oracle=oracle, seed=b, **options)
    assert a.random() == b.random()


BAD = (dict(eps=-1.), dict(delta=2.), dict(delta=None), dict(mixing=lambda L: .1),
       dict(method='sharp'), dict(watch=print), dict(solver='cvxpy'), dict(method='oiafb'),
       dict(max_rounds=1), dict(method='oiafb', budget=9, a=1.))


@pytest.mark.parametrize('bad', BAD, ids=lambda bad: '-'.join(bad))
def test_bad_arguments_are_refused_before_anything_is_drawn(bad):
    world, oracle, _, _ = a_run_with_programs()
    rng = generator(0)
    with pytest.raises(InvalidInput):
        simulate_fast(world, oracle=oracle, seed=rng, **dict(eps=.1, delta=.1) | bad)
    assert rng.random() == generator(0).random()


@dataclass(frozen=True)
class Obstinate(Rational):
    "Tells the truth, and plays arm 0 whatever it is paid."

    def best_reply(self, world, rule):
        return replace(super().best_reply(world, rule), arm=0)


def test_another_agent_is_refused():
    "It was played as the rational one, without a word."
    world, oracle, _, _ = a_run_with_programs()
    other = replace(world, agent=Obstinate())
    found = simulate(oiafc(other.setting, oracle, eps=1., delta=.1), other, 1)
    assert found.status == 'assumption_violated'
    with pytest.raises(InvalidInput, match='coroutine') as refused:
        identify(other, eps=1., delta=.1, method='oiafc', seed=1, oracle=oracle, engine='fast')
    assert refused.value.argument == 'world.agent' and 'Obstinate' in str(refused.value)


@pytest.mark.parametrize('method', ['chen', 'explore_then_commit', 'sharp'])
def test_a_learner_that_is_not_compiled_is_refused_by_name(method):
    """Also one with randomness of its own, which was a TypeError once."""
    with pytest.raises(InvalidInput, match='oiafb, oiafc'):
        identify(load_world('small_clinic'), eps=1., delta=.1, method=method, seed=1,
                 engine='fast', **({'budget': 9} if method == 'chen' else {}))


def test_ties_are_measured_by_what_is_at_stake(monkeypatch):
    """Payments of 1, a bound of 10⁶: an arm is better by 3·10⁻⁶, within `TIE_TOL` of the bound.

    An engine whose ties are relative to the bound plays the other arm.
    """
    world, oracle, options = a_generous_world()
    a = simulate(oiafb(world.setting, oracle, **options), world, 1)
    options |= dict(method='oiafb', oracle=oracle, seed=1)
    play = lambda **how: simulate_fast(world, **options, **how)
    assert a.forced_rounds > 0
    for b in play(), play(compile=False):
        np.testing.assert_array_equal(a.trace.arms, b.trace.arms)
        np.testing.assert_array_equal(a.trace.kinds, b.trace.kinds)
        np.testing.assert_allclose(a.trace.payments, b.trace.payments, atol=1e-9)
    monkeypatch.setattr(agent, 'stake', lambda run, b, k, share: run.game.bound)
    assert (play(compile=False).trace.arms != a.trace.arms).any()


def test_equal_to_the_coroutine_under_a_huge_bound():
    "Radii so small that each plan needs programs, solved in units of a bound of 10⁶."
    base = random_world(3, 2, 3, 3, prior='arm', max_cost=.3, margin=.02)
    world = make_world(base.structure.joint, base.structure.costs, base.setting.utility, 1e6)
    oracle = action_informed_oracle(world)
    options = dict(eps=2*world.setting.B, budget=80, a=1e-9)
    a = simulate(oiafb(world.setting, oracle, **options), world, 1)
    b = simulate_fast(world, method='oiafb', oracle=oracle, seed=1, **options)
    assert a.lp_solves > 60
    for name in 'arms', 'targets', 'kinds':
        np.testing.assert_array_equal(getattr(a.trace, name), getattr(b.trace, name))
    np.testing.assert_allclose(a.rule.values, b.rule.values, rtol=0, atol=TOL*1e6)


def a_generous_world():
    "Two arms, one of which knows nothing; half of the other's rule doesn't quite pay for it."
    joint = [[.5, .5]], [[.45, .05], [.05, .45]]
    world = make_world(joint, [0., .08 + 3e-6], np.eye(2), 1e6)
    z = world.setting
    quadratic = (1 + 2*z.support - (z.support**2).sum(1, keepdims=True))/2
    rules = [ScoringRule(x, z.support, z.bound) for x in (np.full(z.support.shape, .1), quadratic)]
    return world, check_oracle(world, rules), dict(eps=2*z.B, budget=60, a=1e-3)


def test_an_oracle_whose_rules_invite_lies_is_refused():
    "A lie gains 10⁻⁵: nothing of the bound of 10⁶, but something of payments of 1."
    world, oracle, options = a_generous_world()
    z = world.setting
    honest = oracle.rules[1].values
    other = int(np.abs(z.support[:, 0] - .5).argmin())
    inviting = honest.copy()
    i = int(z.support[:, 0].argmax())
    inviting[other] += z.support[i] @ (honest[i] - honest[other]) + 1e-5
    bad = Oracle((oracle.rules[0], ScoringRule(inviting, z.support, z.bound)))
    assert world.agent.best_reply(world, bad.rules[1]).reports[i] == other
    with pytest.raises(InvalidInput, match='lies gain'):
        simulate_fast(world, method='oiafb', oracle=bad, seed=1, **options)


def test_a_world_of_another_class_is_refused():
    "Whatever it overrides: the loop would not call it."
    class Deaf(World):
        def respond(self, rule, rng):
            return Response(0, tuple(self.setting.support[0]), 0)
    world, oracle, _, _ = a_run_with_programs()
    deaf = Deaf(world.structure, world.setting)
    with pytest.raises(InvalidInput, match='Deaf'):
        simulate_fast(deaf, eps=1., delta=.1, seed=1, oracle=oracle)


def test_uncompiled_is_the_same():
    world, oracle, method, options = a_run_with_programs()
    a, b = (simulate_fast(world, method=method, oracle=oracle, seed=1, compile=c, **options)
            for c in (True, False))
    np.testing.assert_array_equal(a.trace.arms, b.trace.arms)
    np.testing.assert_allclose(a.rule.values, b.rule.values, rtol=0, atol=1e-12)


def test_compiled_once(thorough):
    "Worlds of all sizes share what is compiled."
    for i in range(6 if thorough else 3):
        world, method, options = a_case(i, 20)
        simulate_fast(world, method=method, seed=1, **options)
    assert len(state.compiled()['play'].signatures) == 1


def python(code, **env):
    homes = 'HOME', 'XDG_CACHE_HOME', 'NUMBA_CACHE_DIR'
    keep = {k: v for k, v in os.environ.items() if k not in homes}
    path = str(Path(state.__file__).parents[2])
    return subprocess.run([sys.executable, '-c', code], capture_output=True, text=True,
                          env=keep | dict(PYTHONPATH=path) | env)


def test_importing_loads_no_compiler():
    "Nor anything else that is slow to load."
    heavy = 'numba cvxpy scipy matplotlib highspy pandas ipywidgets'.split()
    code = ('import sys, oia_nb.all, oia_nb.fast.drive; '
            f'sys.exit(", ".join(m for m in {heavy} if m in sys.modules))')
    assert python(code).stderr.strip() == ''


FOLDER = """
from pathlib import Path
from oia_nb.fast import state
usable, full = state.writable, {full}
state.writable = lambda folder: not any(str(folder).startswith(o) for o in full) and usable(folder)
print(state.cache_folder('f'))
"""


def test_compiled_code_finds_a_folder_to_be_kept_in(tmp_path):
    "The package's own, the user's, a temporary one, none: the first that can be written to."
    package = str(Path(state.__file__).parent)
    home, temp = str(tmp_path/'home'), str(tmp_path/'temp')
    (tmp_path/'temp').mkdir()
    env = dict(HOME=home, TMPDIR=temp)
    where = lambda *full, **env: python(FOLDER.format(full=full), **env).stdout.strip()
    assert where(**env).startswith(package)
    assert where(package, **env).startswith(home)
    assert where(package, TMPDIR=temp).startswith(temp)
    assert where(package, home, **env).startswith(temp)
    assert where(package, home, '/', **env) == 'None'
    assert where(NUMBA_CACHE_DIR=str(tmp_path/'chosen'), **env).startswith(str(tmp_path/'chosen'))


NOWHERE = """
import tempfile
from oia_nb.fast import agent, state
def none(): raise FileNotFoundError('no temporary folder')
tempfile.gettempdir, state.writable = none, lambda folder: False
state.KERNELS = {'play': state.KERNELS['worth']}
print(state.cache_folder('f'), state.compiled()['play'].stats)
"""


@pytest.mark.parametrize('mode', [0o777, 0o722])
def test_a_folder_that_others_can_write_to_is_refused(tmp_path, mode):
    "Compiled code is run: nobody else may leave any there."
    folder = tmp_path/'open'
    folder.mkdir()
    folder.chmod(mode)
    assert not state.writable(folder)


def test_without_a_folder_it_compiles_all_the_same():
    out = python(NOWHERE)
    assert out.returncode == 0 and out.stdout.startswith('None'), out.stderr
    assert 'compiling, once' in out.stderr


@pytest.mark.release
def test_compiling_is_announced_once(tmp_path):
    "On standard error, when there is nothing to load; the second process loads."
    code = 'from oia_nb.fast.drive import compile_all; compile_all()'
    first, second = (python(code, NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(2))
    assert first.returncode == second.returncode == 0
    assert first.stderr.count('compiling, once') == 1 and second.stderr == ''
    assert first.stdout == second.stdout == ''


def test_a_large_world_has_the_best_rule_of_the_full_program():
    "M = 40: the menu of an arm's own beliefs against all payments and all rows."
    world = random_world(4, 5, 10, 0, prior='arm')
    z, q = world.setting, world.belief_distributions
    full = optimal_rule(world)
    for k in range(z.K):
        menu = MenuProgram(z.support, q, k).minimum(q, (world.costs[k] - world.costs)/z.bound)
        assert (menu is None) == (full.rules[k] is None)
        if menu is None:
            continue
        S = ScoringRule(z.bound*menu.rule, z.support, z.bound)
        assert abs(q[k] @ z.belief_utility - z.bound*menu.value - full.profits[k]) < 1e-8
        assert is_proper(S) and region_margin(world, S, k) > -1e-8
        assert abs(arm_profit(world, S)[k] - full.profits[k]) < 1e-8
