"""OIAFC keeps its promise, within the corrected bounds, and can be run again.

The guarantee is tested on 20 small worlds × 10 runs for each choice of α.  The number of failures (true regret above ε) is compared
with the 1 - 10⁻⁶ quantile of Binomial(200, δ): a right algorithm fails one of these tests with probability below 10⁻⁶.
"""
import gc
import numpy as np
import pytest
from scipy.stats import binom
from oia_nb.all import *

FALSE_ALARM, DELTA, RUNS = 1e-6, .1, 10
SHAPES = [(2, 2, 2), (2, 2, 3), (3, 2, 2), (2, 3, 2)]      # arms, states, signals

def small_world(i):
    K, W, signals = SHAPES[i % 4]
    prior = 'arm' if K == 3 else ('common', 'arm')[i % 2]
    return random_world(K, W, signals, generator(101, i), prior=prior, margin=.03, tries=1000)

WORLDS = [small_world(i) for i in range(20)]

def event_held(world, result):
    "Whether the event held in every round, from the trace: the empirical distribution of each arm after each of its answers."
    z, q = world.setting, world.belief_distributions
    for k in range(z.K):
        rounds = np.flatnonzero(result.trace.arms == k) + 1
        counts = np.cumsum(np.eye(z.M)[result.trace.beliefs[rounds - 1]], axis=0)
        n = np.arange(1, len(rounds) + 1)
        radius = radius_fc(n, rounds + 1, K=z.K, M=z.M, delta=result.delta)
        if (np.abs(counts/n[:, None] - q[k]).sum(1) > radius).any(): return False
    return True

def target(world): return .5*2*world.setting.B

def play(i, run, mixing):
    "The first two runs in a world by the coroutine, the others in compiled code, which `test_engine.py` shows to be the same round by round."
    world = WORLDS[i]
    return identify(world, method='oiafc', eps=target(world), delta=DELTA, seed=generator(7, 100*i + run), mixing=mixing, max_rounds=20_000,
                    engine='coroutine' if run < 2 else 'fast')

@pytest.fixture(scope='module', params=list(MIXINGS))
def runs(request):
    return request.param, [(i, play(i, run, request.param)) for i in range(len(WORLDS)) for run in range(RUNS)]

def test_regret(runs):
    "P(regret > ε) ≤ δ, over all runs; those cut short count as failures if their rule is worse than ε."
    _, found = runs
    optima = [optimal_rule(w).profit for w in WORLDS]
    failures = sum(optima[i] - principal_profit(WORLDS[i], r.rule) > r.eps for i, r in found)
    assert failures <= binom.ppf(1 - FALSE_ALARM, len(found), DELTA)

def test_every_run_ends(runs):
    "On the event the stopping rule holds at last; these targets are loose enough for that to happen within the cap."
    _, found = runs
    assert {r.status for _, r in found} == {'certified'}
    assert all(r.certificate.bound <= r.eps for _, r in found)

def test_rounds_within_corrected_bounds(runs):
    "On the event no run has more normal rounds, searches or rounds than the corrected Lemmas 3 and 4 and Theorem 1 or Corollary 1 allow."
    mixing, found = runs
    for i, r in found:
        world = WORLDS[i]
        if not event_held(world, r): continue
        z, p = world.setting, problem_of(world, r.eps, DELTA)
        assert r.rounds == z.K + r.normal_rounds + r.forced_rounds == r.counts.sum()
        assert r.rounds <= (theorem1_bound if mixing == 'theorem1' else corollary1_bound)(p)
        if mixing == 'theorem1':
            normal = tau1_bound(p, r.rounds)
            inverse = max(1., max(np.bincount(r.trace.arms[r.trace.kinds == NORMAL], minlength=z.K) + 1)/z.M)
        else: normal, inverse = corollary1_tau1(p, r.rounds), p.alpha**-2
        assert r.normal_rounds <= normal
        assert r.searches <= searches_bound(p, r.rounds, inverse)
        assert r.forced_rounds <= search_rounds(p, r.rounds)*r.searches

def test_certificate_bounds_regret(runs):
    "On the event the certificate of the returned rule is a bound on its true regret."
    _, found = runs
    for i, r in found:
        if event_held(WORLDS[i], r): assert simple_regret(WORLDS[i], r.rule) <= r.certificate.bound + 1e-9

def test_returned_rule(runs):
    "Proper, bounded, and answered by the arm that is returned with it."
    _, found = runs
    for i, r in found:
        assert is_proper(r.rule) and WORLDS[i].best_response(r.rule) == r.arm
        assert 0 <= r.rule.values.min() and r.rule.values.max() <= WORLDS[i].setting.bound

@pytest.mark.parametrize('i', [0, 1, 2, 3])
def test_deep_run(i):
    "A tighter target, so that the linear programs have work to do: along the run, on the event, optimism and the certificates hold."
    world = WORLDS[i]
    best, seen = optimal_rule(world), []
    def check(plan):
        if not event_holds(world, plan.q_hat, plan.I): return
        assert (plan.profits >= best.profits - 1e-8).all()
        if world.best_response(plan.rule) == plan.target:
            bound = certify(world.setting, plan.alpha, plan.I[plan.target]).bound
            assert best.profit - principal_profit(world, plan.rule) <= bound + 1e-8
        seen.append(plan.t)
    identify(world, method='oiafc', eps=.02, delta=1., seed=3, max_rounds=2500, watch=check)
    assert len(seen) > 100

@pytest.mark.parametrize('mixing', list(MIXINGS))
def test_same_seed_same_run(mixing):
    "Same seed, same rounds, arms and rule; another seed, another run."
    a, b, c = (identify(WORLDS[2], method='oiafc', eps=target(WORLDS[2]), delta=DELTA, seed=s, mixing=mixing) for s in (5, 5, 6))
    assert a.rounds == b.rounds and (a.trace.arms == b.trace.arms).all() and (a.rule.values == b.rule.values).all()
    assert a.rounds != c.rounds or (a.trace.beliefs != c.trace.beliefs).any()

def test_both_solvers_same_run():
    "The reference route gives the same rounds, arms and rules as the fast one, where programs are really solved."
    world = WORLDS[0]
    plans = {}
    for solver in PROGRAMS:
        plans[solver] = []
        identify(world, method='oiafc', eps=.02, delta=1., seed=3, max_rounds=700, solver=solver, watch=plans[solver].append)
    assert len(plans['highs']) == len(plans['cvxpy'])
    for a, b in zip(*plans.values()):
        assert a.target == b.target and np.abs(a.profits - b.profits).max() < 1e-7 and np.abs(a.rule.values - b.rule.values).max() < 1e-6

def reachable(start):
    "Every object that can be reached from `start` without passing through a module, a class or a plain function's globals."
    seen, queue = {}, [start]
    while queue:
        o = queue.pop()
        if id(o) in seen or isinstance(o, (type, type(gc), type(len))): continue
        if isinstance(o, dict) and '__builtins__' in o: continue
        seen[id(o)] = o
        queue += gc.get_referents(o)
    return list(seen.values())

def sees_secret(start, world):
    "Whether a world, an information structure, q or the costs can be reached from `start`."
    secrets = [world.belief_distributions, world.costs, *world.structure.joint]
    def secret(o):
        if isinstance(o, (Environment, InformationStructure)): return True
        return isinstance(o, np.ndarray) and o.dtype == float and any(o.shape == s.shape and np.allclose(o, s) for s in secrets)
    return any(secret(o) for o in reachable(start))

LEARNERS = dict(oiafc=oiafc, oiafb=lambda *a, **k: oiafb(*a, **k, budget=100), sharp=sharp, chen=lambda *a, **k: chen(*a, **k, budget=100, decision='uniform', rng=0),
                etc=lambda *a, **k: etc(*a, **k, explore=50), oiafc_simple=lambda *a, **k: oiafc_simple(*a, **k, beliefs=3))

@pytest.mark.parametrize('name', LEARNERS)
def test_learner_cannot_reach_the_secrets(name):
    "In the middle of a run, nothing that a learner holds leads to q or to the costs."
    world = WORLDS[2]
    learner, rng = LEARNERS[name](world.setting, action_informed_oracle(world), eps=.5, delta=DELTA), generator(1)
    rule = next(learner)
    for _ in range(50): rule = learner.send(world.respond(rule, rng))
    assert not sees_secret(learner, world)

def test_the_search_for_secrets_finds_one():
    "The check above can fail: a learner that closes over the world is caught."
    world = WORLDS[2]
    def cheat(setting):
        if world.costs.sum() >= 0: yield setting
    learner = cheat(world.setting)
    next(learner)
    assert sees_secret(learner, world)
