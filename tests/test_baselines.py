"""The learners that came before keep the guarantees that are proved for them, and no others are
claimed.

A statistical test states its number of runs; a right learner fails it with probability below 10⁻⁶.
"""
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binom
from conftest import amount
from laws import detection, ever_outside, guess, most_failures, outcomes, statistical
from oia_nb.all import (Response, action_informed_oracle, generator,
                        is_proper, mix, oiafc, optimal_rule, principal_profit, random_world,
                        simple_regret, simulate)
from oia_nb.estimation import event_holds
from oia_nb.exploration import Exploration, initialise, interact, never, remember
from oia_nb.oiafc import MIXINGS
from oia_nb.worlds import simple_world
from oia_nb import baselines
from oia_nb.baselines import (chen, etc, etc_bits, etc_bound,
                              etc_radius, etc_rounds, etc_samples, link_arms,
                              oiafc_simple, radius_simple)

FALSE_ALARM = 1e-6
SHAPES = [(2, 2, 2), (3, 2, 2), (2, 3, 2), (4, 3, 2)]      # arms, states, signals

def small_world(i):
    K, W, signals = SHAPES[i % 4]
    return random_world(K, W, signals, generator(211, i), prior='arm',
                        margin=.04 if K < 4 else .01, tries=5000)

WORLDS = [small_world(i) for i in range(8)]
ORACLES = [action_informed_oracle(w) for w in WORLDS]
BEST = [optimal_rule(w).profit for w in WORLDS]

def play(learner, i, *args, seed=0, **options):
    options.setdefault('eps', WORLDS[i].setting.B)
    options.setdefault('delta', .1)
    return simulate(learner(WORLDS[i].setting, ORACLES[i], *args, **options), WORLDS[i],
                    generator(31, seed))

def regret(i, rule):
    return BEST[i] - principal_profit(WORLDS[i], rule)

# --- Chen et al. ----------------------------------------------------------------------

@statistical(false_alarm=FALSE_ALARM, planted='never draws the last round',
             power=lambda: float(binom.ppf(FALSE_ALARM/20, 2000, .1) > 0))
def test_the_round_that_decides_is_uniform():
    """2000 seeds, ten rounds: each is drawn about as often as the others, by an exact test of
    each count."""
    def rules(run):
        for n in range(10):
            yield n
            run.rounds += 1
    def drawn(seed):
        decides = int(generator(seed).integers(1, 11))
        run = SimpleNamespace(kept=[], kept_at=[], rounds=0)
        steps, answer = remember(run, rules(run), keep=lambda run: run.rounds == decides), 0
        next(steps)
        try:
            while True:
                steps.send(Response(answer, (), 0))
                answer += 1
        except StopIteration:
            return run.kept[0]
    kept = [drawn(seed) for seed in range(2000)]
    # the arm is the one that answered this rule
    assert all(rule == arm for rule, arm in kept)
    counts = np.bincount([rule for rule, _ in kept], minlength=10)
    tail = FALSE_ALARM/20
    # what a draw without the last round fails
    assert binom.ppf(tail, 2000, .1) > 0
    assert (binom.ppf(tail, 2000, .1) <= counts).all() and (counts <= binom.ppf(
        1 - tail, 2000, .1)).all()

@pytest.mark.parametrize('i', range(4))
def test_both_decisions_return_a_rule_of_the_run(i):
    """Whatever the round: announced, answered by the arm that is returned, in a run that the
    decision doesn't change."""
    announced = []
    class Noted:
        def respond(self, rule, rng):
            announced.append((rule, WORLDS[i].best_response(rule)))
            return WORLDS[i].respond(rule, rng)
    for decision in 'last', 'uniform':
        for T in (1, 2, 5, 60):
            announced.clear()
            learner = chen(WORLDS[i].setting, ORACLES[i], eps=.5, delta=.1, budget=T,
                           decision=decision, rng=T)
            found = simulate(learner, Noted(), generator(5, T))
            assert found.rounds == len(announced) == T
            rules = announced[-1:] if decision == 'last' else announced
            assert any(found.rule is rule and found.arm == arm for rule, arm in rules)
            K = WORLDS[i].setting.K
            assert found.status == ('budget_too_small'
                                    if T < K else 'uncertified' if T == K else 'budget')
            assert (found.certificate is None) == (T <= K)

def test_certificate_of_any_rule():
    """As long as the event held in every plan and at the end, the certificate of either decision
    bounds the regret: no statistics."""
    checked = 0
    for i in range(len(WORLDS)):
        for run, decision in enumerate(('last', 'uniform')):
            plans = []
            found = play(chen, i, budget=100, decision=decision, rng=run,
                         watch=plans.append, seed=run)
            if not all(event_holds(WORLDS[i], p.q_hat, p.I) for p in plans):
                continue
            assert regret(i, found.rule) <= found.certificate.bound + 1e-9
            checked += 1
    assert checked > 10

def rounds_regret(i, T, seed):
    regrets, run = [], Exploration(WORLDS[i].setting, ORACLES[i],
                                   **baselines.chen_parts(WORLDS[i].setting, T, .1))
    class Noted:
        def respond(self, rule, rng):
            regrets.append(regret(i, rule))
            return WORLDS[i].respond(rule, rng)
    simulate(interact(run, never, T), Noted(), generator(17, seed))
    return np.array(regrets), run

# so many runs, of whose rounds less than this share may be bad
RUNS, SHARE = amount((30, .6), (80, .8))

@statistical(false_alarm=FALSE_ALARM, planted='returns the worst rule of its run',
             power=lambda: detection(RUNS, SHARE, 1.))
def test_uniform_decision():
    """Runs on two worlds: the drawn rule fails no more often than the rounds of its run do,
    and that is within Markov's bound."""
    eps, T, failures, worst, share, markov, runs = .6, 60, 0, 0, 0., 0., RUNS
    for n in range(runs):
        r, _ = rounds_regret(2*(n % 2), T, n)
        failures += r[int(generator(19, n).integers(T))] > eps
        worst += r.max() > eps
        share, markov = share + (r > eps).mean()/runs, markov + r.mean()/eps/runs
    assert .05 < share <= markov and share < SHARE
    # a sum of unequal chances has no heavier tail than this
    assert failures <= most_failures(runs, share) < worst

def test_share_by_the_clock():
    "All arms get the share of the round, whatever their successes."
    plans = []
    play(chen, 1, budget=200, watch=plans.append)
    K = WORLDS[1].setting.K
    assert np.allclose([p.alpha for p in plans], [min(K*p.t**(-1/3), 1) for p in plans], rtol=1e-12)

# --- Explore, then commit -------------------------------------------------------------

def test_etc_radius():
    """At its own share of δ, exactly: an arm's estimate from n observations is outside with
    probability at most δ/K; at 0.75 of the radius it isn't so."""
    n, delta, z = 400, 1e-12, WORLDS[0].setting
    two = SimpleNamespace(K=z.K, M=2)
    I = etc_radius(two, n, delta)
    outside = lambda factor: ever_outside(.5, np.append(np.full(n - 1, np.inf), factor*I))
    assert outside(1.) <= delta/z.K < outside(.75)

SURE, SURE_EPS = outcomes([.95, .05], [0., .005], .1), 1.2

@statistical(false_alarm=FALSE_ALARM,
             planted="returns the oracle's rule for the worst arm",
             power=lambda: detection(20, .01, 1.))
def test_etc_certifies_its_target():
    """20 runs with n fitted to ε, in a world where a wrong rule loses more: not certified, or
    wrong, with probability at most δ = 0.01."""
    z, oracle, failures = SURE.setting, action_informed_oracle(SURE), 0
    for run in range(20):
        r = simulate(etc(z, oracle, eps=SURE_EPS, delta=.01), SURE, generator(31, run))
        failures += r.status != 'certified' or simple_regret(SURE, r.rule) > r.eps
    assert r.rounds == etc_rounds(z, etc_samples(z, oracle.margin, SURE_EPS, .01), .01)
    assert failures <= most_failures(
        20, .01) < 20*(simple_regret(SURE,
                                     guess()(SURE, SURE_EPS).rule) > SURE_EPS)

@pytest.mark.parametrize('i', range(8))
def test_etc_on_the_event(i):
    """What the theorem says of cost estimates, brackets of profits and the certificate, in
    single runs."""
    world, plans = WORLDS[i], []
    z, n, C = world.setting, 150, world.costs[:, None] - world.costs
    found = play(etc, i, samples=n, watch=plans.append, seed=1)
    plan, = plans
    I = etc_radius(z, n, .1)
    assert found.rounds == etc_rounds(z, n, .1) == found.counts.sum() and found.searches == z.K - 1
    if not event_holds(world, plan.q_hat, plan.I):
        return
    assert (np.abs(plan.C_hat - C) <= plan.I_c + 1e-12).all()
    assert plan.I_c.max() <= (z.K - 1)*z.bound*(2.**-etc_bits(I) + I) + 1e-12
    assert (plan.profits >= optimal_rule(world).profits - 1e-7).all()
    assert regret(i, found.rule) <= found.certificate.bound <= etc_bound(
        z, ORACLES[i].margin, n, .1) + 1e-6
    assert world.best_response(found.rule) == found.arm and is_proper(found.rule)

@pytest.mark.parametrize('i', [1, 3, 5, 7])
def test_links_form_a_tree(i):
    "K - 1 walls that connect all arms; the arms on either side are those that answer there."
    world, rules = WORLDS[i], ORACLES[i].rules
    run = Exploration(world.setting, ORACLES[i], radius=None, mixing=None)
    def steps():
        yield from initialise(run, world.setting.K)
        yield from link_arms(run, 9)
    simulate(steps(), world, 0)
    linked = {0}
    for s in run.searches:
        assert s.k0 in linked and s.k1 not in linked and s.lam_max - s.lam_min == 2**-9
        ends = [{
            world.best_response(mix(rules[0], rules[j], lam))
            for j in range(world.setting.K)
        } for lam in (s.lam_min, s.lam_max)]
        assert s.k0 in ends[0] and s.k1 in ends[1]
        linked.add(s.k1)
    assert linked == set(range(world.setting.K))

@pytest.mark.parametrize('budget', [1, 2, 3, 4, 7, 50, 201])
def test_etc_budget(budget):
    "As much of a budget as fits a whole number of announcements, and never more."
    i = 1
    z = WORLDS[i].setting
    r = play(etc, i, budget=budget)
    assert r.rounds <= budget and (r.status == 'budget_too_small') == (budget < z.K)
    if budget >= z.K:
        n = (r.counts.sum() - r.forced_rounds)//z.K
        assert r.rounds == etc_rounds(z, n, .1) and etc_rounds(z, n + 1, .1) > budget
    else:
        assert r.rounds == budget and r.certificate is None and WORLDS[i].best_response(
            r.rule) == r.arm

def test_etc_contradiction():
    """Reports that belong to the other arm contradict what the arms choose; nothing is certified
    then."""
    i = 0
    world = WORLDS[i]
    class Swapped:
        def respond(self, rule, rng):
            other = ORACLES[i].rules[1 - world.best_response(rule)]
            return Response(world.best_response(rule), world.respond(other, rng).report, 0)
    r = simulate(etc(world.setting, ORACLES[i], eps=1., delta=.5, samples=1500), Swapped(), 0)
    assert r.event_violated and r.status == 'event_violated' and r.certificate is None

# --- The simple setting ---------------------------------------------------------------

SIMPLE = [simple_world(2, 2, generator(41, i), margin=.03, tries=2000) for i in range(4)]

def test_simple_setting():
    """Four simple worlds and both shares: certified, with 2 in place of M. (That the
    certificates are right, and hardly more: `law_simple`.)"""
    for i, world in enumerate(SIMPLE):
        z, oracle, eps = world.setting, action_informed_oracle(world), 1.5*world.setting.B
        r = simulate(
            oiafc_simple(z, oracle, eps=eps, delta=.2,
                         mixing=('theorem1', 'corollary1')[i % 2]), world,
            generator(43, i))
        assert r.status == 'certified' and r.certificate.bound <= eps

def test_simple_event():
    """The radius without M at its own share, exactly: π²δ/24 for one arm with two beliefs; 0.75
    of it isn't enough at δ = 10⁻¹²."""
    n, delta = np.arange(1, 401), 1e-12
    radius = radius_simple(n, n, K=1, delta=delta)
    assert np.allclose(radius, np.sqrt(2*np.log(16*n**2/delta)/n))
    assert ever_outside(.5, radius) <= np.pi**2/24*delta < ever_outside(.5, .75*radius)

@pytest.mark.parametrize('mixing', list(MIXINGS))
def test_all_beliefs_is_the_usual_learner(mixing):
    "With M beliefs for each arm it is OIAFC, round by round."
    options = dict(eps=.5, mixing=mixing, max_rounds=250)
    a, b = play(oiafc, 2, **options), play(oiafc_simple, 2, beliefs=WORLDS[2].setting.M, **options)
    assert (a.trace.arms
            == b.trace.arms).all() and (a.rule.values
                                        == b.rule.values).all() and a.rounds == b.rounds
