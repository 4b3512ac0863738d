"""Worlds at the edge: what is called raises an `OIAError`, or every rule that comes with a
claim (a profit, a margin, an arm) makes it good when it is answered."""
import dataclasses
import warnings
from itertools import product

import numpy as np
import pytest
from conftest import amount, examples
from oia_nb.all import (NotInducible, OIAError, ScoringRule, action_informed_oracle, generator,
                        is_proper, make_world, optimal_rule, principal_profit, random_world)
from oia_nb.game import stackelberg
from oia_nb.game.oracle import widest_margin
from oia_nb.game.programs import known_program
from oia_nb.game.stackelberg import PROFIT_TOL, is_claim_true, lp_arm, profit_scale, region_margin

def parts(r):
    "Arguments of `make_world`, some at the edge: six decimals, close beliefs, thresholds."
    K, W, how = int(r.integers(2, 4)), int(r.integers(2, 4)), r.integers(8)
    joint = [r.dirichlet(np.ones(n*W)).reshape(n, W) for n in r.integers(1, 4, K)]
    if how < 2:
        joint = [np.round(p, 6) if how else p.astype(np.float32).astype(float) for p in joint]
    if how == 2:
        joint[1] = joint[0] + 10.**r.integers(-9, -3)*r.uniform(0, 1, joint[0].shape)
    if how == 3:
        joint[-1] = joint[0]
    if how == 4:
        joint[0] = joint[0].sum(0, keepdims=True)
    if how == 5:
        joint[0][0] *= 10.**r.integers(-12, -3)
    joint = [p/p.sum() for p in joint]
    costs, utility = r.uniform(0, .1, K), r.uniform(-1, 1, (W, int(r.integers(1, 4))))
    if how == 6:
        costs = np.round(costs, 1)
    if how == 7:            # the dearest at which arm 0 can be had, or a hair off
        margin = outcome(lambda: widest_margin(make_world(joint, 0*costs, utility, 1.), 0)[0])
        off = r.choice([0, 1e-12, -1e-12, 1e-9, -1e-9])
        costs = np.r_[margin + off, np.zeros(K - 1)] if margin and margin > 0 else costs
    unit, wide = (10.**r.integers(a, 13) if r.random() < .3 else 1. for a in (-12, 0))
    return dict(joint=joint, costs=np.abs(costs)*unit, utility=utility*unit, bound=unit*wide)

def outcome(call):
    "What the call returns; None for an `OIAError`, of one line. All else goes through."
    with warnings.catch_warnings():
        warnings.simplefilter('error', RuntimeWarning)
        try:
            return call()
        except OIAError as e:
            assert str(e).strip() and '\n' not in str(e), repr(e)
            return None

def true_claim(world, rule, profit, arm):
    assert np.isfinite(rule.values).all() and 0 <= rule.values.min() <= rule.values.max()
    assert rule.values.max() <= rule.bound and is_proper(rule)
    assert is_claim_true(world, rule, profit), (principal_profit(world, rule), profit)
    least = principal_profit(world, rule) - PROFIT_TOL*profit_scale(world, rule)
    earned = world.belief_distributions[arm] @ (world.setting.belief_utility - rule.expected)
    assert world.best_response(rule) == arm or earned >= least

def true_optimum(world, best):
    "An optimum, all of whose claims are true."
    for k, rule in enumerate(best.rules):
        assert (rule is None) == (best.profits[k] == -np.inf)
        if rule is not None:
            true_claim(world, rule, best.profits[k], k)
    assert best.profit == best.profits[best.arm]
    assert best.profit >= best.profits.max() - 1e-9*profit_scale(world, best.rule)
    return best

def solved(world):
    best = outcome(lambda: optimal_rule(world))
    return best and true_optimum(world, best)

# --- The places ----------------------------------------------------------------------------

def units(r):
    "The optimum in another unit of money is the same; a bound that is wider leaves no less."
    p = parts(r)
    money = {name: p[name]/p['bound'] for name in ('utility', 'costs', 'bound')}
    unit = 2.**int(r.integers(-40, 41))
    best = solved(make_world(**p | money))
    other = solved(make_world(**p | {name: unit*x for name, x in money.items()}))
    wide = solved(make_world(**p | money | dict(bound=10.**r.integers(1, 12))))
    if best and other:
        u, c = np.abs(money['utility']).max(), money['costs'].max()
        scale = u + min(1., 100*c if max(u, c) < 1e-3 else 1.)
        np.testing.assert_allclose(best.profits, other.profits/unit, atol=1e-7*scale)
        assert wide is None or wide.profit >= best.profit - 1e-6*scale

def oracles(r):
    world = make_world(**parts(r))
    found = outcome(lambda: action_informed_oracle(world))
    for k, rule in enumerate(found.rules if found else ()):
        assert world.best_response(rule) == k and found.margins[k] > 0
        off = region_margin(world, rule, k) - found.margins[k]
        assert abs(off) <= 1e-8*profit_scale(world, rule)

def rounding(r):
    world = make_world(**parts(r))
    unit = -int(np.floor(np.log10(world.setting.bound)))
    digits, best = int(np.clip(unit + r.integers(0, 5), -12, 15)), solved(world)
    found = best and outcome(lambda: best.rule.rounded(digits, world))
    if found and found.arm is not None:
        lead = region_margin(world, found.rule, found.arm)
        assert lead >= found.margin - 1e-8*world.setting.bound
        true_claim(world, found.rule, found.profit, found.arm)
        text = found.text(world.setting)
        assert text.count('Ticket') >= len(found.menu) and 'nan' not in text

PLACES = [lambda r: solved(make_world(**parts(r))), units, oracles, rounding]

@pytest.mark.parametrize('number', range(amount(40, examples(400))))
def test_hostile(number):
    PLACES[number % len(PLACES)](np.random.default_rng([15, number]))

def test_planted_fault_is_seen():
    "A claim that is a thousandth too high, and a bare error, are seen."
    world = random_world(2, 2, 2, 0, margin=.01)
    best = optimal_rule(world)
    up = .001*(1 + np.abs(best.profits))
    with pytest.raises(AssertionError):
        true_optimum(world, dataclasses.replace(best, profit=best.profit + up[best.arm],
                                                profits=best.profits + up))
    with pytest.raises(ZeroDivisionError):
        outcome(lambda: 1/0)

# --- Programs at the edge ------------------------------------------------------------------

def drawn(rng, K=2):
    joint = [rng.dirichlet(np.ones(6)).reshape(3, 2) for _ in range(K)]
    return make_world(joint, rng.uniform(0, .05, K), rng.uniform(-1, 1, (2, 3)), 1.)

def test_thresholds():
    "Accuracy .9 against a coin, with a cost of just what the difference can pay."
    see, coin = [[.45, .05], [.05, .45]], [[.5, .5]]
    for over, first in ((np.float32(.4) - .4, -np.inf), (0., 2.7), (1e-12, 2.7), (-1e-12, 2.7),
                        (1e-9, -np.inf), (-1e-9, 2.7)):
        world = make_world([see, coin], [.4 + over, 0], 4*np.eye(2), 1.)
        for solver in ('highs', 'cvxpy')[:1 + (over == 0)]:
            best = true_optimum(world, optimal_rule(world, solver))
            np.testing.assert_allclose(best.profits, (first, 2.), atol=1e-8)

def test_planted_claim_is_caught(monkeypatch):
    "A program that asks a billionth too little is found out by the agent, and repaired or refused."
    true, wrong = stackelberg.least_paying_rule, 0
    short = lambda program, q, C, bound: true(program, q, C - 1e-9, bound)
    monkeypatch.setattr(stackelberg, 'least_paying_rule', short)
    for i in range(12):
        world = drawn(generator(401, i))
        z, q = world.setting, world.belief_distributions
        for k in range(z.K):
            found = short(known_program(z.support, q, k), q, world.costs[k] - world.costs, z.bound)
            wrong += found is not None and not is_claim_true(
                world, ScoringRule(found.rule, z.support, z.bound),
                float(q[k] @ z.belief_utility - found.value))
        true_optimum(world, optimal_rule(world))
    assert wrong >= 4                          # without the check, these claims would have passed

def test_margin():
    "The best rule of those under which the arm leads by so much; none beyond the widest margin."
    for i, k in product(range(10), range(3)):
        world = drawn(generator(403, i), K=3)
        top, plain = widest_margin(world, k)[0], optimal_rule(world).profits[k]
        for margin in (.3*top, .9*top) if top > 1e-6 else ():
            profit, rule = lp_arm(world, k, margin=margin)
            assert region_margin(world, rule, k) >= margin - 1e-9
            assert profit <= plain + 1e-9
            assert principal_profit(world, rule) == pytest.approx(profit, abs=2e-9)
        assert lp_arm(world, k, margin=max(top, 0.) + 1e-3) is None
    with pytest.raises(NotInducible):
        optimal_rule(world, margin=2.)

def test_many_states():
    "W = 6, M = 60 (30 without --release): by the menu, in seconds, and true."
    rng, n = generator(423), amount(6, 12)
    joint = [rng.dirichlet(np.ones(6*n)).reshape(n, 6) for _ in range(5)]
    world = make_world(joint, rng.uniform(0, .05, 5), np.eye(6), 1.)
    assert world.setting.M == 5*n
    true_optimum(world, optimal_rule(world))
