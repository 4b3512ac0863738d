"""Closed forms against the linear programs: what is known about the best rule, with random
numbers in it.

Contracts by the arm, and what a rule can do that ignores the report, are tried against all
contracts on a grid.
"""
from itertools import product
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from conftest import amount, examples
from laws import FALSE_ALARM, detection, most_failures, statistical
from oia_nb.all import (ScoringRule, brier, is_proper, make_world, menu_rule, optimal_rule,
                        random_world, v_shaped)
from oia_nb.oracle import widest_margin
from oia_nb.stackelberg import arm_profit, lp_arm, region_margin
from oia_nb.core import REPORT_TOL, InvalidInput, generator
from oia_nb.baselines import (find_payment, incentives_bound, learn_incentives, paid_arm,
                              simulate_incentives)
from oia_nb.offline import (arm_payments, as_v_rules, best_gain, certainty_payment,
                            common_support, effort_gain, effort_payment, effort_world,
                            from_v_rules, kink_program, max_min_rule, one_v_rule, prior_and_spread,
                            report_free, worths)

some = settings(max_examples=examples(20))
rngs = st.integers(0, 2**32 - 1).map(np.random.default_rng)
bounds = st.sampled_from([1e-3, 1., 40.])

def joint_of(rng, W=2):
    "p(o, ω) with 1 to 6 signals; some of them can't occur, or occur in one state only."
    p = rng.dirichlet(np.full(rng.integers(1, 7)*W, rng.choice([.2, 1., 5.]))).reshape(-1, W)
    if rng.random() < .3:
        p[rng.integers(len(p)), rng.integers(W)] = 0
    return p/p.sum() if p.sum() > .1 else joint_of(rng, W)

def within(a, b, tol):
    assert abs(a - b) <= tol, (a, b, tol)

# --- One level of effort, two states --------------------------------------------------

@some
@given(rngs, bounds, st.sampled_from([0., 1e-4, .2, .7, 1 - 1e-6, 1 + 1e-6, 3.]))
def test_price_of_effort(rng, bound, share):
    joint = joint_of(rng)
    gain = best_gain(joint, bound)
    if gain < 1e-4*bound or abs(1 - share)*gain < 3e-8*bound:
        return            # nearer to the edge than a linear program can tell
    w = effort_world(joint, share*gain, bound*rng.uniform(-2, 2, (2, 3)), bound)
    found, u, payment = optimal_rule(w), (
        joint@w.setting.utility).max(1).sum(), effort_payment(joint, share*gain, bound)
    assert np.isfinite(found.profits[1]) == np.isfinite(payment) == (share <= 1)
    within(widest_margin(w, 1)[0], (1 - share)*gain, 1e-7*bound)
    if share <= 1:
        within(u - found.profits[1], payment, 1e-6*bound)
    one = one_v_rule(w, 'effort')
    within(one.reach, gain, 1e-7*bound)
    within(one.kink, joint[:, 1].sum(), 1e-7)
    if share <= 1:
        within(one.payment, payment, 1e-7*bound)

@some
@given(rngs)
def test_the_price_is_that_of_the_test(rng):
    "Sensitivity and specificity decide, the prior doesn't; a garbled test is dearer."
    # (4, 2): p(o | ω)
    likelihood = rng.dirichlet(np.ones(4), 2).T
    prices = [effort_payment(likelihood*[1 - m, m], 1e-9)/1e-9 for m in (.01, .3, .5, .9)]
    assert np.ptp(prices) < 1e-6*prices[0] and min(prices) >= 2
    within(prices[0], 1 + 1/(np.abs(likelihood[:, 0] - likelihood[:, 1]).sum()/2), 1e-6*prices[0])
    garbled = rng.dirichlet(np.ones(3), 4).T @ likelihood
    assert effort_payment(garbled*[.5, .5], 1e-12)/1e-12 >= prices[0] - 1e-6*prices[0]

@some
@given(rngs, bounds)
def test_no_rule_beats_the_prize(rng, bound):
    joint = joint_of(rng)
    p = np.linspace(0, 1, 7)
    S = menu_rule(np.c_[1 - p, p],
                  bound*rng.random((rng.integers(1, 6), 2))**rng.choice([.2, 1, 4]),
                  bound)
    assert 0 <= effort_gain(S, joint) + 1e-12*bound and effort_gain(
        S, joint) <= best_gain(joint, bound) + 1e-12*bound
    m = joint[:, 1].sum()
    if .001 < m < .999:
        within(
            effort_gain(
                v_shaped(np.c_[1 - np.r_[p, m], np.r_[p, m]], [1 - m, m], bound),
                joint), best_gain(joint, bound), 1e-12*bound)

@some
@given(rngs, bounds, st.integers(2, 5), st.sampled_from([0., .01, .4, .8, 1 - 1e-6, 1 + 1e-6]))
def test_price_of_certainty(rng, bound, W, share):
    prior = rng.dirichlet(np.full(W, rng.choice([.3, 1., 10.])))
    if prior.min() < 1e-4:
        return
    cost = share*bound*(1 - prior.max())
    found, payment = lp_arm(effort_world(np.diag(prior), cost, bound=bound),
                            1), certainty_payment(prior, cost, bound)
    assert (found is not None) == np.isfinite(payment) == (share <= 1)
    if found:
        within(1 - found[0], payment, 1e-6*bound)

# --- Sums of V-rules ---------------------------------------------------------------------

@some
@given(rngs, bounds)
def test_v_rules_there_and_back(rng, bound):
    p = np.unique(np.r_[rng.random(rng.integers(1, 9)), [0, 1][:rng.integers(3)]])
    support = np.c_[1 - p, p][rng.permutation(len(p))]
    S = menu_rule(support, bound*rng.random((rng.integers(1, 7), 2)), bound)
    kinks, weights = as_v_rules(S)
    T = from_v_rules(support, kinks, weights, bound)
    assert weights.min() >= 0 and is_proper(T)
    assert np.abs(weights @ worths(kinks, support[:, 1]) - S.expected).max() <= 1e-9*bound
    assert np.abs(T.expected - S.expected).max() <= 1e-9*bound
    assert weights @ kinks <= bound*(1 + 1e-12) and weights @ (1 - kinks) <= bound*(1 + 1e-12)

@pytest.mark.parametrize('prior', ['common', 'arm'])
def test_kinks_give_the_same_program(prior):
    """120 arms each (22 without --release), with two to six arms a world, and bounds far from
    one; the last few by the readable route as well."""
    induced, n = [], amount(6, 30)
    for i in range(n):
        rng = generator(501, i)
        bound = float(rng.choice([1e-3, 1., 40.]))
        w = random_world(2 + i%5, 2, int(rng.integers(1, 6)), rng, prior=prior,
                         bound=bound, max_cost=float(rng.choice([.01, .1, .5])))
        for k in range(w.setting.K):
            a, b = lp_arm(w, k), kink_program(w, k)
            assert (a is None) == (b is None)
            induced.append(a is not None)
            if not a:
                continue
            within(a[0], b[0], 1e-7*bound)
            assert is_proper(b[1]) and region_margin(w, b[1], k) >= -1e-7*bound
            within(arm_profit(w, b[1])[k], b[0], 1e-7*bound)
            if i >= n - 3:
                within(lp_arm(w, k, solver='cvxpy')[0], b[0], 1e-7*bound)
    assert .1 < np.mean(induced) < .95

def test_one_v_rule():
    """Least payment of 80 worlds with two informative arms each: that of a single V-rule as far as
    it reaches, and not less beyond."""
    for i in range(80):
        rng = generator(502, i)
        free = random_world(2, 2, 1 + i % 5, rng, prior=('common', 'arm')[i % 2], max_cost=0)
        reach = one_v_rule(free, 0).reach
        if reach < 1e-3:
            continue
        C = reach*float(rng.choice([.1, .9, 1 - 1e-6, 1.05]))
        w = make_world(free.structure.joint, [C, 0.], free.setting.utility, 1.)
        found, one = lp_arm(w, 0), one_v_rule(w, 0)
        if C > reach and found is None:
            continue
        payment = w.belief_distributions[0] @ w.setting.belief_utility - found[0]
        if C <= reach:
            within(payment, one.payment, 1e-7)
        else:
            assert payment >= one.payment - 1e-7

# --- Several structures ---------------------------------------------------------------

@settings(some, max_examples=examples(20))
@given(rngs, st.integers(2, 4), st.integers(1, 4))
def test_max_min(rng, W, L):
    joints = [joint_of(rng, W) for _ in range(L)]
    value, S = max_min_rule(joints, 3.)
    assert is_proper(S) and S.bound == 3.
    within(min(effort_gain(S, p) for p in joints), value, 1e-6)
    within(max_min_rule(joints, 1., solver='cvxpy')[0], value/3, 1e-6)
    within(max_min_rule(joints + joints[:1], 3.)[0], value, 1e-6)
    assert max_min_rule(joints + [joint_of(rng, W)], 3.)[0] <= value + 1e-7
    assert all(value <= max_min_rule([p], 3.)[0] + 1e-7 for p in joints)
    for _ in range(20):
        T = menu_rule(S.support, 3*rng.random((rng.integers(1, 5), W)), 3.)
        assert min(effort_gain(T, p) for p in joints) <= value + 1e-7

def test_max_min_rule_makes_the_agent_work():
    """A rule with a prize of t has the agent make an effort that costs less, in each of the
    worlds; the support is that of all of them, beliefs closer than a report can tell merged."""
    for i in range(10):
        joints = [joint_of(generator(503, i), 2) for i in range(3*i, 3*i + 3)]
        value, S = max_min_rule(joints)
        if value < 1e-3:
            continue
        support, q = common_support(joints)
        for l, p in enumerate(joints):
            assert np.array_equal(
                support, S.support) and abs(q[l]@support - p.sum(0)).max() < REPORT_TOL
            w = effort_world(p, .999*value)
            T = ScoringRule(np.array([S.column(b) for b in w.setting.support]),
                            w.setting.support, 1.)
            assert w.best_response(T) == 1

# --- Payments by the arm --------------------------------------------------------------

def test_no_payment_by_the_arm_does_better():
    """All contracts of a grid, in 30 worlds of three arms, with costs on the grid, so that the
    best contract is among them."""
    levels = np.linspace(0, 1, 11)
    for i in range(amount(8, 30)):
        rng = generator(504, i)
        w = random_world(3, 2, 3, rng, prior='arm')
        w = make_world(w.structure.joint, rng.choice(np.r_[levels, 1.3], 3), w.setting.utility, 1.)
        for listen in (True, False):
            profits, payments = arm_payments(w, listen)
            U = w.belief_distributions@w.setting.belief_utility if listen else (
                w.structure.priors@w.setting.utility).max(1)
            best = np.full(3, -np.inf)
            for pi in product(levels, repeat=3):
                g = pi - w.costs
                for k in np.flatnonzero(g >= g.max() - 1e-12):
                    best[k] = max(best[k], U[k] - pi[k])
            assert np.array_equal(
                np.isfinite(best), np.isfinite(profits)) and np.allclose(
                    best[np.isfinite(best)], profits[np.isfinite(best)])
            assert np.array_equal(np.isinf(payments), np.isneginf(profits))

def test_ignoring_the_report():
    """One prior: only the cheapest arms. Priors of the arms' own: no payment by state on a grid
    does better."""
    grid = np.array(list(product(np.linspace(0, 1, 41), repeat=2)))
    for i in range(amount(6, 20)):
        common = random_world(3, 3, 2, generator(505, i), bound=2.)
        cheapest = common.costs == common.costs.min()
        assert np.array_equal(np.isfinite(report_free(common)), cheapest)
        assert np.allclose(report_free(common)[cheapest], optimal_rule(common).profits[cheapest])
        w = random_world(3, 2, 2, generator(506, i), prior='arm')
        pay = grid @ w.structure.priors.T
        g, u = pay - w.costs, w.belief_distributions @ w.setting.belief_utility
        for k, h in enumerate(report_free(w)):
            chosen = g[:, k] >= g.max(1)
            if np.isneginf(h):
                assert not chosen.any()
            elif chosen.any():
                assert -1e-9 <= h - (u[k] - pay[chosen, k]).max()

def true_regret(world, arms, paid, listen):
    profits, pi = arm_payments(world, listen)
    U = np.where(np.isfinite(profits), profits + np.where(np.isfinite(pi), pi, 0), np.nan)
    return float(np.sum(profits.max() - (U[arms] - paid)))

def dearest_regret(world, T, listen):
    "Of T rounds in which the worst arm is paid as much as may be."
    worst = max(range(world.setting.K), key=lambda k: true_regret(world, [k], [0.], listen))
    return true_regret(world, [worst]*T, np.full(T, world.setting.bound), listen)

LEARNED = amount(20, 40)        # runs

@pytest.mark.parametrize('listen', [True, False])
@statistical(false_alarm=2*FALSE_ALARM, planted='pays the worst arm as much as may be',
             power=lambda: detection(LEARNED, .2, 1.))
def test_regret_of_learning_incentives(listen):
    """40 runs (20 without --release) of 300 rounds at δ = 0.2 in random worlds: payments always end
    where they must; a binomial test of the bound on the regret."""
    n, delta, T, broken, planted = LEARNED, .2, 300, 0, 0
    for i in range(n):
        w = random_world(2 + i % 2, 2, 3, generator(507, i), prior='arm', max_cost=.3)
        found, arms, paid = simulate_incentives(
            learn_incentives(w.setting, T, delta, listen), w, generator(508, i))
        assert len(arms) == T and found.plays.sum() == T - w.setting.K*10
        least = w.costs - w.costs.min()
        assert (found.payments >= least - 1e-12).all() and (found.payments <= least + 1/T).all()
        bound = incentives_bound(w.setting, T, delta, listen)
        broken += true_regret(w, arms, paid, listen) > bound
        planted += dearest_regret(w, T, listen) > bound
    assert broken <= most_failures(n, delta) < planted == n

@statistical(false_alarm=FALSE_ALARM, planted='plays the arms in turn',
             power=lambda: detection(LEARNED, .2, 1.))
def test_plays_of_the_worse_arm():
    """40 runs (20 without --release) of 300 rounds at δ = 0.2, with a gap Δ = 0.85. On the event of
    the proof the worse arm is played at most 1 + 2 log(2KT/δ)/(Δ - 1/T)² times; and at least until
    its radius is below 1 + 2 r, where r is the radius of the better arm with all rounds. Whoever
    plays the arms in turn plays it 150 times."""
    w = make_world([[[.95, .05]], [[.05, .95]]], [0., .05], [[0.], [1.]], 1.)
    n, delta, T, broken = LEARNED, .2, 300, 0
    L = np.log(2*2*T/delta)
    most, least = 1 + 2*L/(.85 - 1/T)**2, L/2/(1 + 2*np.sqrt(L/2/(T - 20 - 30)))**2
    assert 2 < least < most < 32 < T/2
    for i in range(n):
        found, arms, paid = simulate_incentives(learn_incentives(w.setting, T, delta),
                                                w, generator(509, i))
        broken += not (least <= found.plays[0] <= most) or found.arm != 1
    assert broken <= most_failures(n, delta) < n

def test_an_arm_beyond_the_bound_is_left_alone():
    w = make_world([[[.5, .5]], [[.5, 0], [0, .5]], [[.4, .1], [.1, .4]]],
                   [.2, 1.25, .3], np.eye(2), 1.)
    found, arms, paid = simulate_incentives(learn_incentives(w.setting, 300), w, 1)
    assert np.isinf(found.payments[1]) and found.plays[1] == 0 and (
        arms != 1).all() and np.isneginf(found.values[1])
    assert found.plays.sum() == 300 - 2*10 - 1 and paid.max() <= 1

# --- Bad input ------------------------------------------------------------------------

look, world3, world2 = np.array([[.48, .12],
                                 [.12,
                                  .28]]), random_world(3, 3, 2,
                                                       1), random_world(3, 2, 2, 1)
brier2 = brier(world2.setting.support)
BAD = [('rule', lambda: effort_gain(None, look)),
       ('joint', lambda: effort_gain(brier2, look*2)),
       ('joint', lambda: effort_gain(brier2,
                                     np.eye(3)/3)),
       ('joint', lambda: prior_and_spread(np.eye(3)/3)),
       ('joint', lambda: best_gain('look')), ('bound', lambda: best_gain(look, 0.)),
       ('joint', lambda: effort_world([[1., .5]], 0.)),
       ('cost', lambda: effort_world(look, -1.)),
       ('bound', lambda: effort_world(look, 0., bound=-1.)),
       ('utility', lambda: effort_world(look, 0., [[np.nan], [1.]])),
       ('kinks', lambda: worths([1.1], [.5])), ('p', lambda: worths([.5], [np.nan])),
       ('rule',
        lambda: as_v_rules(ScoringRule([[1., 0], [0, 0]], [[.2, .8], [.7, .3]], 1.))),
       ('rule', lambda: as_v_rules('brier')),
       ('support', lambda: as_v_rules(brier(np.eye(3)))),
       ('kinks', lambda: from_v_rules(look/[[.6], [.4]], [2.], [1.])),
       ('weights', lambda: from_v_rules(look/[[.6], [.4]], [.2], [-1.])),
       ('weights', lambda: from_v_rules(look/[[.6], [.4]], [.2, .5], [1.])),
       ('weights', lambda: from_v_rules(look/[[.6], [.4]], [.5], [3.])),
       ('support', lambda: from_v_rules(np.eye(3), [.5], [1.])),
       ('support', lambda: from_v_rules(look, [.5], [1.])),
       ('bound', lambda: from_v_rules(look/[[.6], [.4]], [.5], [1.], -1)),
       ('support', lambda: kink_program(world3, 0)),
       ('arm', lambda: kink_program(world2, 3)),
       ('arm', lambda: kink_program(world2, 'none')),
       ('world', lambda: one_v_rule(world2, 0)),
       ('support', lambda: one_v_rule(random_world(2, 3, 2, 1), 0)),
       ('arm', lambda: one_v_rule(random_world(2, 2, 2, 1), True)),
       ('joint', lambda: effort_payment(look[0], 1.)),
       ('cost', lambda: effort_payment(look, np.nan)),
       ('bound', lambda: effort_payment(look, .1, np.inf)),
       ('prior', lambda: certainty_payment([.5, .6], .1)),
       ('cost', lambda: certainty_payment([.5, .5], -.1)),
       ('bound', lambda: certainty_payment([.5, .5], .1, 0)),
       ('joints', lambda: max_min_rule([])), ('joints', lambda: max_min_rule(None)),
       ('joints', lambda: max_min_rule(look)),
       ('joints[1]', lambda: max_min_rule([look, np.eye(3)/3])),
       ('joints[0]', lambda: common_support([look*np.nan])),
       ('bound', lambda: max_min_rule([look], -1.)),
       ('solver', lambda: max_min_rule([look], solver='ipm')),
       ('arm', lambda: find_payment(world2.setting, 7, 3)),
       ('steps', lambda: find_payment(world2.setting, 0, -1)),
       ('horizon', lambda: learn_incentives(world2.setting, 10)),
       ('horizon', lambda: learn_incentives(world2.setting, 1e3)),
       ('delta', lambda: learn_incentives(world2.setting, 1000, 0.)),
       ('delta', lambda: learn_incentives(world2.setting, 1000, 1.5)),
       ('payments', lambda: paid_arm(world2, [0., 1.])),
       ('payments', lambda: paid_arm(world2, [0., 2., 0.])),
       ('payments', lambda: paid_arm(world2, [0., -1., 0.])),
       ('horizon', lambda: incentives_bound(world2.setting, 0)),
       ('delta', lambda: incentives_bound(world2.setting, 100, 2.))]

@pytest.mark.parametrize('argument, call', BAD)
def test_bad_input(argument, call):
    with pytest.raises(InvalidInput) as caught:
        call()
    assert caught.value.argument.split('[')[0] == argument.split(
        '[')[0] and 'expected' in str(caught.value)
