"""OIAFB: statuses and budgets as laws over random worlds; what finished runs have proved, by Monte
Carlo.

The Monte-Carlo test makes 80 or 200 runs on each of 10 worlds and compares the number of errors in
each with the 1 - 1e-6 quantile of the binomial distribution that the corrected bound allows: its
false-alarm rate is at most 10 x 1e-6. What holds on the event is tested without chance by
`law_oiafb` and its mutants.
"""
import numpy as np
import pytest
from conftest import amount
from laws import (FALSE_ALARM, detection, guess, most_failures, noisy, outcomes, shaped_world,
                  statistical)
from oia_nb.all import (action_informed_oracle, generator,
                        identify, is_proper, make_world, optimal_rule, principal_profit, simulate)
from oia_nb.paper.complexity import problem_of
from oia_nb.paper.oiafc import Exploration, interact, never, remember
from oia_nb.paper.oiafb import budget_parameter, event_failure, oiafb

# A wrong arm costs more than the target of 1.75 B, so that errors are possible, and walls are far,
# so that few rounds are forced.
LOOSE, ROUND = 1.75, amount(80, 200)
WORLDS = [outcomes([.98, .02], [0., 0.], .05), outcomes([.97, .02], [.005, 0.], .05),
          outcomes([.02, .97], [0., .005], .06), outcomes([.98, .03], [0., .01], .05),
          outcomes([.99, .01], [0., 0.], .1), outcomes([.98, .02], [0., .005], .05, seen=False),
          outcomes([.03, .98], [.002, 0.], .05, seen=False), noisy([.98, .02], .95, [0., 0.], .05),
          noisy([.97, .01], .9, [0., .002], .05), outcomes([.96, .01], [.002, .001], .04)]

def normal_rounds_needed(world, eps, a):
    return 4*(1 - eps/(4*world.setting.B))**2*problem_of(
        world.setting, eps, 1., margin=world.setting.bound).H_eps*a

def budget_that_proves(world, eps, delta, spare):
    """The smallest T whose normal rounds, all but `spare`, are enough by the second half of
    prop-afterwards."""
    T = world.setting.K
    while T < world.setting.K + spare + normal_rounds_needed(
            world, eps, budget_parameter(world.setting, T, delta)):
        T += 1
    return T

def error_counts(world, eps, delta, runs, seed, spare=4):
    """Of `runs` compiled runs: how many proved enough, how many of those were off by more than eps,
    and how many of all."""
    oracle, best = action_informed_oracle(world), optimal_rule(world)
    T = budget_that_proves(world, eps, delta, spare)
    a = budget_parameter(world.setting, T, delta)
    results = [identify(world, method='oiafb', eps=eps, delta=None, budget=T, a=a,
                        seed=generator(seed, i), oracle=oracle, engine='fast')
               for i in range(runs)]
    wrong = np.array([best.profit - principal_profit(world, r.rule) > eps for r in results])
    proved = np.array([r.normal_rounds >= normal_rounds_needed(world, eps, a) for r in results])
    assert all(r.certificate.bound <= eps + 1e-12 for r, yes in zip(results, proved)
               if yes and not r.event_violated)
    return proved.sum(), (wrong & proved).sum(), wrong.sum(), event_failure(world.setting, T, a)

@pytest.mark.parametrize('i', range(amount(1, len(WORLDS))))
@statistical(false_alarm=len(WORLDS)*FALSE_ALARM,
             planted="returns the oracle's rule for the worst arm",
             power=lambda: detection(ROUND, .2, 1.))
def test_error_rate(i):
    """80 runs (200 with --release): where the corrected bound is below 1, errors respect it.

    Before the first round it is 1 at any budget that a test can afford (the smallest T of
    Theorem 2, corrected, is some ten thousand even here); for runs with enough normal rounds it
    is KT2^M exp(-a/2) = 0.2.
    """
    world, delta = WORLDS[i], .2
    eps = LOOSE*world.setting.B
    oracle, best = action_informed_oracle(world), optimal_rule(world)
    # an error is possible
    assert best.profit - min(principal_profit(world, r) for r in oracle.rules) > eps
    proved, errors, all_errors, bound = error_counts(world, eps, delta, ROUND, i)
    assert proved >= .75*ROUND and abs(bound - delta) < 1e-9
    assert errors <= most_failures(ROUND, delta)
    assert all_errors - errors <= ROUND - proved
    assert ROUND*(best.profit - principal_profit(world, guess()(world, eps).rule)
                  > eps) > most_failures(ROUND, delta)

@pytest.mark.parametrize('seed', range(6))
def test_budget_is_spent_exactly(seed):
    world = shaped_world(100, seed, [(2, 2, 2), (3, 2, 2)], prior='arm', margin=.01)
    oracle, K = action_informed_oracle(world), world.setting.K
    for budget in [*range(1, 12), 30]:
        plans = []
        r = simulate(oiafb(world.setting, oracle, eps=.5, budget=budget, delta=.1,
                           watch=plans.append), world, seed)
        assert r.rounds == budget == len(r.trace.arms) == r.counts.sum()
        assert r.rounds == min(K, budget) + r.normal_rounds + r.forced_rounds
        assert r.status == ('budget_too_small' if budget < K else
                            'budget' if r.normal_rounds else 'uncertified')
        assert (r.certificate is None) or r.status == 'budget'
        # answered once, answered always
        assert world.best_response(r.rule) == r.arm
        assert is_proper(r.rule) and 0 <= r.rule.values.min() and r.rule.values.max(
        ) <= world.setting.bound
        # the normal round with the smallest radius, i.e. the most observations before it
        if r.status == 'budget':
            N = [p.N[p.target] for p in plans if world.best_response(p.rule) == p.target]
            B, alpha = world.setting.B, .5/(4*world.setting.B)
            a = budget_parameter(world.setting, budget, .1)
            assert r.event_violated or abs(r.certificate.bound - (
                2*alpha*B + (1-alpha)*2*B*np.sqrt(a/max(N)))) < 1e-9

def test_fallback_is_the_best_guarantee():
    "No normal round: no announced rule has a larger profit at worst than the returned one."
    world = make_world([[[.5, .5]], [[.45, .05], [.05, .45]]], [0., .2], [[1., -1.], [-1., 1.]], 1.)
    oracle, a = action_informed_oracle(world), 20.
    run = Exploration(world.setting, oracle, radius=lambda N, t: np.sqrt(a/N),
                      mixing=lambda L, t: .5/(4*world.setting.B))
    simulate(remember(run, interact(run, never, 80), keep=lambda run: True), world, 0)
    seen = run.kept
    assert run.best is None
    worst = lambda rule, k: run.transcript.q_hat[k]@(
        world.setting.belief_utility - rule.expected) - world.setting.B*np.sqrt(
            a/run.transcript.N[k])
    r = simulate(oiafb(world.setting, oracle, eps=.5, budget=80, a=a), world, 0)
    assert r.status == 'uncertified'
    assert np.isclose(worst(r.rule, r.arm), max(worst(*s[:2]) for s in seen))

def test_a_and_delta():
    world = WORLDS[0]
    z, oracle = world.setting, action_informed_oracle(world)
    for T in (2, 50, 10**6):
        for delta in (1e-6, .1, 1.):
            assert np.isclose(event_failure(z, T, budget_parameter(z, T, delta)), delta)
    by_delta = simulate(oiafb(z, oracle, eps=1., budget=20, delta=.1), world, 0)
    by_a = simulate(oiafb(z, oracle, eps=1., budget=20, a=budget_parameter(z, 20, .1)), world, 0)
    assert (by_delta.trace.arms == by_a.trace.arms).all() and np.isclose(
        by_a.delta, .1) and by_delta.delta == .1
