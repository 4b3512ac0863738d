"""Hostile input: constructors, tables, optima, oracles and the command, spoilt by chance.

The property: what is called either raises an `OIAError`, one line, or returns something valid; and
every rule that comes with a claim (a profit, a margin, an arm) makes it good when it is answered.
An example is a number, from which all else is drawn: `python tests/test_hostile.py N` repeats one.
Two hundred in a quick run, two thousand with --release.
"""

import sys
import warnings
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from conftest import amount, examples
from oia_nb.all import (OIAError, Oracle, ScoringRule, World, action_informed_oracle, make_world,
                        optimal_rule, principal_profit, random_world)
from oia_nb.game.oracle import check_oracle, widest_margin
from oia_nb.game.stackelberg import PROFIT_TOL, region_margin
from test_bad_input import REFUSED
from oia_nb.game.stackelberg import is_claim_true, profit_scale

# --- What is spoilt ------------------------------------------------------------------------

class Odd:
    "Something of no kind that is expected."

    def __repr__(self):
        return 'an odd\nthing'

def loop():
    x = []
    x.append(x)
    return x

ANYTHING = [None, True, False, 0, -1, 1, 2, 10**400, -0.5, 0.0, -0.0, 0.5, 1e-300, 5e-324, 1e12,
            1e300, np.nan, np.inf, -np.inf, 1j, '', ' ', 'x', 'a\nb', '\ud800', 'nan', b'x', [], {},
            (), [[]], [None], {'a': 1}, {1, 2}, range(3), loop(), Odd(), object, len,
            np.float32(0.3), np.int64(2), np.array(3.0), np.array([]), np.array(None),
            np.datetime64('2020'), Fraction(1, 3), Decimal('0.1'), Decimal('NaN'), Decimal('sNaN'),
            pd.NA, pd.NaT, pd.DataFrame(), pd.Series([1.0, np.nan]),
            np.ma.array([1.0, 2.0], mask=[1, 0]), iter([1]), slice(2)]
NUMBERS = [lambda x, r: -x, lambda x, r: x * 10.0 ** r.integers(-12, 13), lambda x, r: str(x),
           lambda x, r: [x], lambda x, r: np.array(x), lambda x, r: np.float32(x),
           lambda x, r: Fraction(x), lambda x, r: Decimal(x), lambda x, r: np.nextafter(x, np.inf),
           lambda x, r: x + r.choice([-1, 1]) * 1e-9, lambda x, r: 0 * x, lambda x, r: int(x)]

def entry(x, r, value):
    x = np.array(np.real(x), float)
    x.flat[r.integers(x.size)] = value
    return x

ARRAYS = [
    lambda x, r: entry(x, r, r.choice([np.nan, np.inf, -np.inf, -1e-3, -1e-12, 1e12, 2.0])),
    lambda x, r: x.astype(np.float32), lambda x, r: x.T, lambda x, r: x.ravel(),
    lambda x, r: x[None], lambda x, r: x[:0], lambda x, r: x[:-1],
    lambda x, r: np.concatenate([x, x[:1]]), lambda x, r: x.tolist(),
    lambda x, r: [*x.tolist(), None], lambda x, r: x.astype(object), lambda x, r: x.astype(str),
    lambda x, r: np.round(x, 6), lambda x, r: x*10.**r.integers(-12, 13),
    lambda x, r: x + 1e-9*r.normal(size=x.shape), lambda x, r: x + 1e-12*r.normal(size=x.shape),
    lambda x, r: x + 0j, lambda x, r: x > x.mean(), lambda x, r: np.ma.array(x, mask=x > x.mean()),
    lambda x, r: pd.DataFrame(x) if x.ndim == 2 else pd.Series(x.ravel()),
    lambda x, r: (pd.DataFrame(x, index=[*'zyxwvutsrqponmlkjihgfedcba'][:len(x)])
                  if x.ndim == 2 and len(x) < 26 else x),
    lambda x, r: -x, lambda x, r: 0*x, lambda x, r: r.permutation(x), lambda x, r: entry(x, r, 0.),
    lambda x, r: x.astype(np.float16), lambda x, r: dict(enumerate(x))]
TEXTS = [lambda x, r: '', lambda x, r: x.upper(), lambda x, r: x + '\n', lambda x, r: x + '\0',
         lambda x, r: '\ud800', lambda x, r: x.encode('utf-8', 'replace'), lambda x, r: x * 3000,
         lambda x, r: f'--{x}', lambda x, r: ' ', lambda x, r: '\u202e' + x, lambda x, r: [x]]

def spoilt(x, r, depth=0):
    "A spoilt version of an argument."
    if r.random() < 0.25:
        return ANYTHING[r.integers(len(ANYTHING))]
    if isinstance(x, (bool, type(None))):
        return ANYTHING[r.integers(len(ANYTHING))]
    if isinstance(x, (int, float, np.number)):
        spoil = NUMBERS[r.integers(len(NUMBERS))]
        return spoil(x, r) if np.isfinite(x) else x
    if isinstance(x, np.ndarray) and x.dtype.kind in 'fiu' and x.ndim:
        return ARRAYS[r.integers(len(ARRAYS))](x, r)
    if isinstance(x, str):
        return TEXTS[r.integers(len(TEXTS))](x, r)
    if isinstance(x, (list, tuple)) and len(x) and depth < 4:
        kind, x = r.integers(6), list(x)
        i = r.integers(len(x))
        if kind == 0:
            return x[:i] + x[i + 1 :]
        if kind == 1:
            return x + x[i : i + 1]
        if kind == 2:
            return tuple(x[::-1])
        x[i] = spoilt(x[i], r, depth + 1)
        return x
    if isinstance(x, dict) and len(x) and depth < 6:
        x, keys = dict(x), list(x)
        key = keys[r.integers(len(keys))]
        kind = r.integers(8)
        if kind == 0:
            del x[key]
        elif kind == 1:
            x[f'{key} too'] = x[key]
        else:
            x[key] = spoilt(x[key], r, depth + 1)
        return x
    return ANYTHING[r.integers(len(ANYTHING))]

def some_spoilt(arguments, r):
    "One or two arguments, at times none, in place of good ones."
    arguments = dict(arguments)
    names = r.permutation(list(arguments))
    for name in names[: r.choice([0, 1, 1, 1, 2])]:
        arguments[name] = spoilt(arguments[name], r)
    return arguments

# --- Good arguments ------------------------------------------------------------------------

def parts(r, K=None, W=None):
    "Arguments of `make_world`, some at the edge: six decimals, close beliefs, thresholds."
    K, W = K or int(r.integers(2, 4)), W or int(r.integers(2, 4))
    joint = [r.dirichlet(np.ones(n * W)).reshape(n, W) for n in r.integers(1, 4, K)]
    how = r.integers(8)
    if how == 0:
        joint = [np.round(p, 6) for p in joint]
    if how == 1:
        joint = [p.astype(np.float32).astype(float) for p in joint]
    if how == 2:
        joint[1] = joint[0] + 10.0 ** r.integers(-9, -3) * r.uniform(0, 1, joint[0].shape)
    if how == 3:
        joint[-1] = joint[0]
    if how == 4:
        joint[0] = joint[0].sum(0, keepdims=True)
    if how == 5:
        joint[0][0] *= 10.0 ** r.integers(-12, -3)
    joint = [p / p.sum() for p in joint]
    costs, utility, bound = r.uniform(0, 0.1, K), r.uniform(-1, 1, (W, int(r.integers(1, 4)))), 1.0
    if how == 6:
        costs = np.round(costs, 1)
    if how == 7:  # the dearest at which arm 0 can be had, or a hair off
        margin = outcome(lambda: widest_margin(make_world(joint, np.zeros(K), utility, 1.0), 0)[0])
        if margin and margin > 0:
            costs = np.r_[margin + r.choice([0, 1e-12, -1e-12, 1e-9, -1e-9]), np.zeros(K - 1)]
        if r.random() < 0.3:
            costs = costs.astype(np.float32).astype(float)
    unit = 10.0 ** r.integers(-12, 13) if r.random() < 0.3 else 1.0
    wide = 10.0 ** r.integers(0, 13) if r.random() < 0.3 else 1.0
    return dict(joint=joint, costs=np.abs(costs) * unit, utility=utility * unit, bound=bound * unit
                * wide)

def a_world(r, **sizes):
    return make_world(**parts(r, **sizes))

def plain_world(r):
    "A small world in which every arm can be had."
    return outcome(lambda: random_world(2, 2, 2, int(r.integers(2**31)),
                                        margin=0.01)) or random_world(2, 2, 2, 0, margin=0.01)

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

def valid(rule):
    assert (isinstance(rule, ScoringRule) and np.isfinite(rule.values).all() and rule.values.min()
            >= 0 and rule.values.max() <= rule.bound)
    return rule

def true_claim(world, rule, profit, arm):
    valid(rule)
    assert is_claim_true(world, rule, profit), (principal_profit(world, rule), profit)
    assert world.best_response(rule) == arm or profit_of(world, rule, arm) >= principal_profit(
        world, rule
    ) - PROFIT_TOL * profit_scale(world, rule)

def profit_of(world, rule, arm):
    return float(world.belief_distributions[arm] @ (world.setting.belief_utility - rule.expected))

def valid_world(world):
    assert isinstance(world, World)
    z, q = world.setting, world.belief_distributions
    assert np.allclose(q.sum(1), 1) and np.allclose(z.support.sum(1), 1)
    assert np.isfinite(z.utility).all() and (world.costs >= 0).all() and z.bound > 0
    np.testing.assert_allclose(q @ z.support, world.structure.priors, atol=2e-6)
    return world

def solved(world, **options):
    "The optimum of a world, all of its claims true."
    best = outcome(lambda: optimal_rule(world, **options))
    if best is None:
        return None
    for k, rule in enumerate(best.rules):
        assert (rule is None) == (best.profits[k] == -np.inf)
        if rule is not None:
            true_claim(world, rule, best.profits[k], k)
    assert best.profit == best.profits[
        best.arm
    ] and best.profit >= best.profits.max() - 1e-9 * profit_scale(world, best.rule)
    return best

def true_margins(world, oracle):
    for k, rule in enumerate(oracle.rules):
        assert world.best_response(valid(rule)) == k and oracle.margins[k] > 0
        assert abs(region_margin(world, rule, k) - oracle.margins[k]) <= 1e-8 * profit_scale(world,
                                                                                             rule)
    return oracle

def true_rounding(world, found):
    assert (world.best_response(found.rule) == found.arm and region_margin(world, found.rule,
                                                                           found.arm) >=
            found.margin - 1e-8 * world.setting.bound)
    true_claim(world, found.rule, found.profit, found.arm)
    text = found.text(world.setting)
    assert text.count('Ticket') >= len(found.menu) and 'nan' not in text

# --- The places ----------------------------------------------------------------------------

PLACES = {}
CALLABLE = [name for name in REFUSED if name not in ('a learner', 'identify')]   # which would play

def place(weight):
    def register(f):
        PLACES[f.__name__] = f, weight
        return f

    return register

def judged(found):
    "What came out of a call: valid, if it is a world, a rule or a number."
    if isinstance(found, World):
        valid_world(found)
    if isinstance(found, ScoringRule):
        valid(found)
    assert not isinstance(found, float) or not np.isnan(found)
    return found

@place(16)
def the_table(r):
    "Any call of the table of refusals, its good arguments spoilt."
    make, _ = REFUSED[CALLABLE[r.integers(len(CALLABLE))]]
    f, good = make(r)
    judged(outcome(lambda: f(**some_spoilt(good, r))))

@place(14)
def optima(r):
    solved(a_world(r))

@place(4)
def units(r):
    "The optimum in another unit of money is the same; a bound that is wider leaves no less."
    p = parts(r)
    p['utility'], p['costs'], p['bound'] = (
        p[name] / p['bound'] for name in ('utility', 'costs', 'bound')
    )  # in units of the bound
    small = max(np.abs(p['utility']).max(), p['costs'].max()) < 1e-3
    unit = 2.0 ** int(r.integers(-40, 41))
    best = solved(make_world(**p))
    other = solved(make_world(**p | {name: p[name] * unit for name in ('utility', 'costs',
                                                                       'bound')}))
    wide = solved(make_world(**p | dict(bound=10.0 ** r.integers(1, 12))))
    if best is None or other is None:
        return
    scale = np.abs(p['utility']).max() + min(1.0, 100 * p['costs'].max() if small else 1.0)
    np.testing.assert_allclose(best.profits, other.profits / unit, atol=1e-7 * scale)
    if wide is not None:
        assert wide.profit >= best.profit - 1e-6 * scale, (wide.profit, best.profit)

@place(4)
def optima_spoilt(r):
    w = plain_world(r)
    a = some_spoilt(dict(world=w, solver='highs', margin=0.001), r)
    best = outcome(lambda: optimal_rule(**a))
    if best is not None:
        true_claim(w, best.rule, best.profit, best.arm)

@place(8)
def oracles(r):
    w = a_world(r)
    kind = r.integers(3)
    if kind == 0:
        found = outcome(lambda: action_informed_oracle(w))
        if found is not None:
            true_margins(w, found)
    w = plain_world(r)
    good = action_informed_oracle(w)
    if kind == 1:
        outcome(lambda: Oracle(**some_spoilt(dict(rules=list(good.rules), margins=good.margins),
                                             r)))
    if kind == 2:
        found = outcome(lambda: check_oracle(**some_spoilt(dict(world=w, rules=list(good.rules)),
                                                           r)))
        if isinstance(found, Oracle):
            true_margins(w, found)

@place(6)
def rounding(r):
    w = a_world(r) if r.random() < 0.4 else plain_world(r)
    best = solved(w)
    if best is None:
        return
    unit = -int(np.floor(np.log10(w.setting.bound)))
    digits = int(np.clip(unit + r.integers(0, 5), -12, 15))
    a = dict(digits=digits, where=w if r.random() < 0.8 else w.setting, margin=None)
    if r.random() < 0.5:
        a = some_spoilt(a, r)
    found = outcome(lambda: best.rule.rounded(**a))
    if found is not None and found.arm is not None:
        true_rounding(w, found)
    menu = best.rule.menu()
    text = outcome(lambda: menu.text(w.setting, **some_spoilt(dict(digits=3, currency='EUR'), r)))
    assert text is None or text.count('Ticket') >= len(menu)

# --- All of them ---------------------------------------------------------------------------

NAMES = list(PLACES)
SHARES = np.array([weight for _, weight in PLACES.values()], float)

def example(number):
    "Play one example; returns its place."
    r = np.random.default_rng([15, number])
    name = NAMES[r.choice(len(NAMES), p=SHARES / SHARES.sum())]
    PLACES[name][0](r)
    return name

TOTAL = amount(40, examples(400))
CHUNK = 20

@pytest.mark.parametrize('start', range(0, TOTAL, CHUNK))
def test_hostile(start):
    for number in range(start, start + CHUNK):
        try:
            example(number)
        except Exception as e:
            raise AssertionError(
                f'example {number} (python tests/test_hostile.py {number}): {type(e).__name__}: {e}'
            ) from e

def test_every_place_is_reached():
    "The examples of a release reach every place."
    drawn = Counter()
    for number in range(2_000):
        r = np.random.default_rng([15, number])
        drawn[NAMES[r.choice(len(NAMES), p=SHARES / SHARES.sum())]] += 1
    assert min(drawn[name] for name in NAMES) >= 5

def test_planted_fault_is_seen(monkeypatch):
    "A claim that is a thousandth too high, and a bare error, are seen."
    import dataclasses
    honest = optimal_rule
    raised = lambda best: dataclasses.replace(
        best, profit=best.profit + .001*(1 + abs(best.profit)),
        profits=best.profits + .001*(1 + np.abs(best.profits)))
    monkeypatch.setitem(globals(), 'optimal_rule', lambda *a, **o: raised(honest(*a, **o)))
    with pytest.raises(AssertionError):
        solved(random_world(2, 2, 2, 0, margin=0.01))
    with pytest.raises(ZeroDivisionError):
        outcome(lambda: 1 / 0)

if __name__ == '__main__':
    for number in map(int, sys.argv[1:]):
        print(number, example(number))
