"""Worlds at the edge: close beliefs, thresholds, rounded tables, money in any unit.

The property: what is called either raises an `OIAError`, one line, or every rule that comes with a
claim (a profit, a margin, an arm) makes it good when it is answered. An example is a number, from
which all else is drawn: `python tests/test_hostile.py N` repeats one.
"""
import dataclasses
import sys
import warnings

import numpy as np
import pytest
from conftest import amount, examples
from oia_nb.all import (OIAError, action_informed_oracle, is_proper, make_world, optimal_rule,
                        principal_profit, random_world)
from oia_nb.game.oracle import widest_margin
from oia_nb.game.stackelberg import PROFIT_TOL, is_claim_true, profit_scale, region_margin

# --- Worlds --------------------------------------------------------------------------------

def parts(r):
    "Arguments of `make_world`, some at the edge: six decimals, close beliefs, thresholds."
    K, W, how = int(r.integers(2, 4)), int(r.integers(2, 4)), r.integers(8)
    joint = [r.dirichlet(np.ones(n*W)).reshape(n, W) for n in r.integers(1, 4, K)]
    if how == 0:
        joint = [np.round(p, 6) for p in joint]
    if how == 1:
        joint = [p.astype(np.float32).astype(float) for p in joint]
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
        if margin and margin > 0:
            costs = np.r_[margin + r.choice([0, 1e-12, -1e-12, 1e-9, -1e-9]), np.zeros(K - 1)]
    unit, wide = (10.**r.integers(a, 13) if r.random() < .3 else 1. for a in (-12, 0))
    return dict(joint=joint, costs=np.abs(costs)*unit, utility=utility*unit, bound=unit*wide)

def a_world(r):
    return make_world(**parts(r))

# --- The property --------------------------------------------------------------------------

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

def optima(r):
    solved(a_world(r))

def units(r):
    "The optimum in another unit of money is the same; a bound that is wider leaves no less."
    p = parts(r)
    money = {name: p[name]/p['bound'] for name in ('utility', 'costs', 'bound')}
    unit = 2.**int(r.integers(-40, 41))
    best = solved(make_world(**p | money))
    other = solved(make_world(**p | {name: unit*x for name, x in money.items()}))
    wide = solved(make_world(**p | money | dict(bound=10.**r.integers(1, 12))))
    if best is None or other is None:
        return
    u, c = np.abs(money['utility']).max(), money['costs'].max()
    scale = u + min(1., 100*c if max(u, c) < 1e-3 else 1.)
    np.testing.assert_allclose(best.profits, other.profits/unit, atol=1e-7*scale)
    assert wide is None or wide.profit >= best.profit - 1e-6*scale

def oracles(r):
    world = a_world(r)
    found = outcome(lambda: action_informed_oracle(world))
    for k, rule in enumerate(found.rules if found else ()):
        assert world.best_response(rule) == k and found.margins[k] > 0
        off = region_margin(world, rule, k) - found.margins[k]
        assert abs(off) <= 1e-8*profit_scale(world, rule)

def rounding(r):
    world = a_world(r)
    best = solved(world)
    if best is None:
        return
    unit = -int(np.floor(np.log10(world.setting.bound)))
    digits = int(np.clip(unit + r.integers(0, 5), -12, 15))
    found = outcome(lambda: best.rule.rounded(digits, world))
    if found is not None and found.arm is not None:
        lead = region_margin(world, found.rule, found.arm)
        assert lead >= found.margin - 1e-8*world.setting.bound
        true_claim(world, found.rule, found.profit, found.arm)
        text = found.text(world.setting)
        assert text.count('Ticket') >= len(found.menu) and 'nan' not in text

PLACES = [optima, optima, units, oracles, rounding]

def example(number):
    PLACES[number % len(PLACES)](np.random.default_rng([15, number]))

CHUNK = 20

@pytest.mark.parametrize('start', range(0, amount(40, examples(400)), CHUNK))
def test_hostile(start):
    for number in range(start, start + CHUNK):
        try:
            example(number)
        except Exception as e:
            raise AssertionError(f'python tests/test_hostile.py {number}: {e!r}') from e

def test_planted_fault_is_seen(monkeypatch):
    "A claim that is a thousandth too high, and a bare error, are seen."
    honest = optimal_rule
    raised = lambda best: dataclasses.replace(
        best, profit=best.profit + .001*(1 + abs(best.profit)),
        profits=best.profits + .001*(1 + np.abs(best.profits)))
    monkeypatch.setitem(globals(), 'optimal_rule', lambda *a, **o: raised(honest(*a, **o)))
    with pytest.raises(AssertionError):
        solved(random_world(2, 2, 2, 0, margin=.01))
    with pytest.raises(ZeroDivisionError):
        outcome(lambda: 1/0)

if __name__ == '__main__':
    for number in map(int, sys.argv[1:]):
        print(number, example(number))
