"""The compiled engine is the coroutine, on the same random numbers: arms, targets and kinds are the
same round by round, rules and profits equal but for rounding. And it checks itself."""
from contextlib import suppress
from dataclasses import replace
import numpy as np
import pytest
from conftest import amount
pytest.importorskip('numba')
from test_agents import Stubborn
from test_supports import TOLD
from oia_nb.all import (InvalidInput, NotInducible, Oracle, Rational, ScoringRule,
                        action_informed_oracle, generator, identify, load_world, make_world, oiafb,
                        oiafc, random_world, simulate)
from oia_nb.fast import drive, loop
from oia_nb.fast.drive import simulate_fast
from oia_nb.game.oracle import check_oracle
from oia_nb.paper.oiafc import MIXINGS

# radii of OIAFB so small that most rounds need programs, and some runs see the event fail
SMALL = 1e-5, 1e-3, 1e-2, 0.1
TOL = 1e-8      # of the bound: profits and rules of the engine against the coroutine's

def a_world(i, rng):
    "A random world in which each arm can be induced; costs differ as much as that allows."
    K, W, signals = (int(rng.integers(2, n)) for n in (5, 4, 4))
    bound = float(rng.choice([.5, 1., 3.]))
    kind = dict(K=2, prior='blackwell') if i % 5 == 4 else dict(K=K, prior='arm')
    for max_cost in (.9, .5, .2, .05, .01):
        with suppress(NotInducible):
            world = random_world(W=W, signals=signals, seed=rng, bound=bound, max_cost=max_cost,
                                 margin=1e-3, tries=20, **kind)
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

WITH_PROGRAMS = a_case(1, 150)      # in most rounds

def both(world, method, options, seed, oracle=None, **how):
    "The coroutine's result and the engine's, which leave a generator in the same state."
    oracle, rngs = oracle or action_informed_oracle(world), (generator(seed), generator(seed))
    learner = dict(oiafc=oiafc, oiafb=oiafb)[method](world.setting, oracle, **options)
    found = simulate(learner, world, rngs[0]), simulate_fast(
        world, method=method, oracle=oracle, seed=rngs[1], **options, **how)
    assert rngs[0].random() == rngs[1].random()
    return found

def assert_same(a, b, world):
    "Equal but for rounding in profits and rules, everything else exactly."
    for name in 'arms', 'beliefs', 'targets', 'kinds', 'rounds':
        np.testing.assert_array_equal(getattr(a.trace, name), getattr(b.trace, name), err_msg=name)
    for name in ('arm', 'rounds', 'status', 'normal_rounds', 'forced_rounds', 'searches',
                 'event_violated', 'eps', 'delta'):
        assert getattr(a, name) == getattr(b, name), name
    np.testing.assert_array_equal(a.counts, b.counts)
    tol = TOL*world.setting.bound
    np.testing.assert_allclose(a.rule.values, b.rule.values, rtol=0, atol=tol)
    for name in 'profits', 'radii', 'bounds', 'payments':
        np.testing.assert_allclose(getattr(a.trace, name), getattr(b.trace, name), rtol=0, atol=tol,
                                   err_msg=name)
    assert (a.certificate is None) == (b.certificate is None)
    if a.certificate:
        assert abs(a.certificate.bound - b.certificate.bound) < tol

@pytest.mark.parametrize('block', range(4))
def test_equal_to_the_coroutine_on_200_worlds(block):
    "24 of them, each way of playing in each block, without --release."
    solved = normal = 0
    for i in range(50*block, 50*block + amount(6, 50)):
        world, method, options = a_case(i)
        a, b = both(world, method, options, i)
        assert_same(a, b, world)
        solved += b.lp_solves
        normal += b.normal_rounds > 0             # without, the coroutine has played again
    assert solved > amount(10, 500)               # programs were needed
    assert normal > amount(2, 25)
    assert len(loop.compiled().signatures) == 1   # which worlds of all sizes share

def stakes(seed, times=20., bound=1.):
    "Three arms with two beliefs each; high stakes make the dear arms worth their rules."
    w = random_world(3, 2, 2, seed, prior='arm', max_cost=.5, margin=.02)
    return make_world(w.structure.joint, w.structure.costs, times*w.setting.utility, bound)

def in_units(world, eps, **options):
    return world, 'oiafb', dict(eps=eps*world.setting.B, **options)

CLINIC, ADVERT = dict(eps=2.5, delta=.1), dict(eps=1., delta=.1)
LONG = {    # a case, how many rounds in the quick run, and in how many of them a program at least
    'a program in every round': (in_units(stakes(4), 1.2, a=1e-5), 1200, .05),
    'in every tenth': (in_units(stakes(7), 1.2, a=.1), 1200, .05),
    # radii so small that each plan needs programs
    'huge bound': (in_units(stakes(3, 1., 1e6), 2, a=1e-9), 80, .75),
    'told supports, a budget': ((TOLD, 'oiafb', ADVERT), 600, 0)}
for mixing in MIXINGS:
    LONG[mixing] = (load_world('clinic'), 'oiafc', CLINIC | dict(mixing=mixing)), None, 0
    LONG[f'told supports, {mixing}'] = (
        TOLD, 'oiafc', ADVERT | dict(mixing=mixing, max_rounds=600)), None, 0

@pytest.mark.parametrize('name', LONG)
def test_equal_in_a_long_run(name):
    "Points fall asleep, wake, and are thinned out; OIAFC goes on to its certificate."
    (world, method, options), rounds, share = LONG[name]
    if rounds:
        options = options | dict(budget=amount(1, 5)*rounds)
    a, b = both(world, method, options, 1)
    assert_same(a, b, world)
    assert b.lp_solves >= share*a.rounds and (b.normal_rounds or world is TOLD)
    assert (b.status == 'certified') == (name in MIXINGS)

def wrong_radii(run, t):
    ESTIMATE(run, t)
    run.I[:] *= 1.001

def dual_only(T, m, n):
    "No steps once the dual method has none."
    return STEP(T, m, n) if T[:m, -1].min() < 0 else (-1, -1)

def lying(T, r, e):
    "A pivot after which the optimum is off by little."
    PIVOT_ON(T, r, e)
    T[r, -1] += 1e-6

ESTIMATE, STEP, PIVOT_ON = loop.estimate, loop.step, loop.pivot
FAULTS = {'radius': (loop, 'estimate', wrong_radii), 'paths': (loop, 'paths', lambda run: 0),
          'no point': (loop, 'add_points', lambda run: None),
          'all optima alike': (loop, 'step', dual_only)}

@pytest.mark.parametrize('fault', [None, *FAULTS])
def test_a_planted_fault_is_seen(fault, monkeypatch):
    "In one of three runs at least, which are right without it, the comparison fails."
    generous, bought, options = a_generous_world()
    cases = [(generous, 'oiafb', options), in_units(stakes(4), 1.2, budget=200, a=1e-5),
             in_units(stakes(7), 1.2, budget=300, a=.1)]
    if fault:
        monkeypatch.setattr(*FAULTS[fault])
    seen = 0
    for world, method, options in cases:
        oracle = bought if world is generous else None
        try:
            assert_same(*both(world, method, options, 1, oracle, compile=False), world)
        except AssertionError:
            seen += 1
    assert (seen > 0) == (fault is not None)

@pytest.mark.parametrize('reach', [1., .01])
def test_what_sleeps_is_never_the_lowest(reach, monkeypatch):
    "However far estimates move within reach; points that sleep too soon are found."
    world, rng = stakes(4), generator(0)
    z, oracle = world.setting, action_informed_oracle(world)
    run = oiafb(z, oracle, eps=1., budget=9, a=1.).run
    engine = drive.Engine(world, oracle, rng, run, compile=False, **drive.loop_side(run, 1.))
    a = engine.arrays
    a.point_s[:300], a.point_arm[:300] = rng.random((300, z.M)), np.arange(300) % 3
    a.clock.stale = -1
    a.clock.points, a.N[:], a.q[:] = 300, 100, world.belief_distributions
    monkeypatch.setattr(drive, 'REACH', reach)
    engine.fall_asleep()
    assert 3 <= a.clock.awake < 250
    wrong, true = 0, a.reach/reach
    for _ in range(200):
        move = rng.normal(size=a.q.shape)
        move -= move.mean(1, keepdims=True)
        a.q[:] = a.ref + move*(true/np.abs(move).sum(1))[:, None]
        loop.leads(a)
        every = a.point_s[:300] @ a.q.T
        for k in range(3):
            least = (every[k::3, k, None] - every[k::3]).min(0)
            wrong += (np.delete(a.C[k] - least, k) > 1e-12).any()
    assert (wrong > 0) == (reach < 1)

def test_a_wrong_solution_is_not_taken(monkeypatch):
    "The loop holds its rules against what was asked, and leaves such plans to the learner."
    world, method, options = WITH_PROGRAMS
    options = options | dict(method=method, seed=1, compile=False)
    right = simulate_fast(world, **options)
    monkeypatch.setattr(loop, 'pivot', lying)
    assert_same(right, simulate_fast(world, **options), world)

BAD = (dict(eps=-1.), dict(delta=2.), dict(delta=None), dict(mixing=lambda L: .1),
       dict(method='sharp'), dict(watch=print), dict(solver='cvxpy'), dict(method='oiafb'),
       dict(max_rounds=1), dict(method='oiafb', budget=9, a=1.))

@pytest.mark.parametrize('bad', BAD, ids=lambda bad: '-'.join(bad))
def test_bad_arguments_are_refused_before_anything_is_drawn(bad):
    world, rng = WITH_PROGRAMS[0], generator(0)
    with pytest.raises(InvalidInput):
        simulate_fast(world, seed=rng, **dict(eps=.1, delta=.1) | bad)
    assert rng.random() == generator(0).random()

def a_generous_world():
    "Two arms, one of which knows nothing; half of the other's rule doesn't quite pay for it."
    joint = [[.5, .5]], [[.45, .05], [.05, .45]]
    world = make_world(joint, [0., .08 + 3e-6], np.eye(2), 1e6)
    z = world.setting
    quadratic = (1 + 2*z.support - (z.support**2).sum(1, keepdims=True))/2
    rules = [ScoringRule(x, z.support, z.bound) for x in (np.full(z.support.shape, .1), quadratic)]
    return world, check_oracle(world, rules), dict(eps=2*z.B, budget=60, a=1e-3)

def test_an_oracle_that_invites_lies_is_refused():
    "A lie gains 10⁻⁵: nothing of the bound of 10⁶, but something of payments of 1."
    world, oracle, options = a_generous_world()
    z, honest = world.setting, oracle.rules[1].values
    other, i = int(np.abs(z.support[:, 0] - .5).argmin()), int(z.support[:, 0].argmax())
    inviting = honest.copy()
    inviting[other] += z.support[i] @ (honest[i] - honest[other]) + 1e-5
    bad = Oracle((oracle.rules[0], ScoringRule(inviting, z.support, z.bound)))
    assert world.agent.best_reply(world, bad.rules[1]).reports[i] == other
    with pytest.raises(InvalidInput, match='lies gain'):
        identify(world, method='oiafb', delta=None, engine='fast', oracle=bad, seed=1, **options)

@pytest.mark.parametrize('said, agent, options', [
    ('Stubborn', Stubborn(), dict(method='oiafc')),
    # a learner with randomness of its own was a TypeError once
    ('oiafc, oiafb', Rational(), dict(method='chen', budget=9)),
    ('oiafc, oiafb', Rational(), dict(method='sharp'))])
def test_what_the_loop_does_not_play_is_refused_by_name(said, agent, options):
    world = WITH_PROGRAMS[0]
    with pytest.raises(InvalidInput, match=said):
        identify(replace(world, agent=agent), eps=1., delta=.1, seed=1, engine='fast', **options)
