"""Proper scoring rules on random supports, with two to five states: what Definition 1 and its
lemmas promise. Beliefs are on the boundary, at corners, nearly equal, and from one to ten."""
import numpy as np
from hypothesis import given, settings, strategies as st
from conftest import examples
from oia_nb.core import PROPER_TOL, TIE_TOL
from oia_nb.game.information import best_reply, make_world, merge_beliefs
from oia_nb.game.scoring import (ScoringRule, brier, is_proper, lie, logarithmic, menu_rule,
                                 spherical, v_shaped)

often = settings(max_examples=examples(100))
bounds = st.sampled_from([1e-4, .1, .3, 1., 1.1, 7., 1e4])

# arrays from a drawn seed: a hundred times as fast as number by number
rngs = st.integers(0, 2**32 - 1).map(np.random.default_rng)

@st.composite
def belief_rows(draw, W, low=1, high=10):
    """(n, W): beliefs whose entries are small integers over their sum, sometimes one of them a
    hair off."""
    rng, n = draw(rngs), draw(st.integers(low, high))
    rows = rng.integers(0, 10, (n, W)).astype(float)
    rows[rows.sum(1) == 0, rng.integers(W)] = 1.
    rows[0] += draw(st.sampled_from([0, 1e-12, 1e-7, 1e-3]))*np.arange(W)
    return rows/rows.sum(1, keepdims=True)

@st.composite
def menus(draw):
    "(support, menu, bound) with payments at the limits and in between, and lines that occur twice."
    W, bound, rng, n = draw(st.integers(2, 5)), draw(bounds), draw(rngs), draw(st.integers(1, 8))
    menu = rng.choice([0, 0, .1, 1/3, .5, .9, 1, 1], (n, W))
    return merge_beliefs(draw(belief_rows(W)))[0], bound*menu, bound

@st.composite
def families(draw):
    "One of the four famous rules on a random support."
    W, bound = draw(st.integers(2, 5)), draw(bounds)
    support = merge_beliefs(draw(belief_rows(W)))[0]
    least, kink = draw(st.sampled_from([1e-9, .01, .19])), draw(rngs).integers(1, 10, W)
    return draw(st.sampled_from([
        brier(support, bound), spherical(support, bound), logarithmic(support, bound, least),
        v_shaped(support, kink/kink.sum(), bound)]))

def extension_gap(rule, beliefs):
    """The largest gain of a lie among any beliefs, under the menu extension, in units of the
    bound; payments are checked on the way."""
    columns = np.array([rule.column(b) for b in beliefs])
    assert 0 <= columns.min() and columns.max() <= rule.bound
    pay = beliefs @ columns.T
    return (pay - pay.diagonal()[:, None]).max()/rule.bound

@often
@given(menus())
def test_menus_are_proper(case):
    support, menu, bound = case
    rule = menu_rule(support, menu, bound)
    assert is_proper(rule) and lie(rule) is None
    np.testing.assert_allclose(rule.expected, (support@menu.T).max(1), rtol=1e-12, atol=1e-12*bound)

@often
@given(families(), st.data())
def test_famous_rules_are_proper_everywhere(rule, data):
    W = rule.support.shape[1]
    assert is_proper(rule) and 0 <= rule.values.min() and rule.values.max() <= rule.bound
    others = data.draw(belief_rows(W))
    assert extension_gap(rule, np.vstack([others, rule.support, np.eye(W)])) <= PROPER_TOL

@often
@given(menus(), st.data())
def test_extension_pays_the_best_line(case, data):
    """The extension's expected payment is the convex function of Savage's theorem, so tangents
    support it."""
    rule = menu_rule(*case)
    for i, b in enumerate(rule.support):
        np.testing.assert_array_equal(rule.column(b), rule.values[i])
    for b in data.draw(belief_rows(rule.support.shape[1])):
        assert abs(b @ rule.column(b) - (rule.values @ b).max()) <= PROPER_TOL*rule.bound

@often
@given(st.integers(2, 5).flatmap(lambda W: st.tuples(belief_rows(W, 2), belief_rows(W, 2))), bounds)
def test_linear_score_is_answered_with_a_witness(rows, bound):
    """lie() is None or a true, most profitable lie; the linear score is proper only if no belief
    is beaten."""
    support = merge_beliefs(rows[0])[0]
    rule = ScoringRule(np.minimum(bound*support, bound), support, bound)
    found, best = lie(rule), np.max(bound*(support @ support.T - (support**2).sum(1)[:, None]))
    if found is None:
        assert best <= PROPER_TOL*bound*(1 + 1e-6)
    else:
        np.testing.assert_allclose(found.gain, best, rtol=1e-9, atol=1e-12*bound)
        truth, told = (support[found.belief] @ rule.values[i] for i in (found.belief, found.report))
        np.testing.assert_allclose(found.gain, told - truth, rtol=1e-9, atol=1e-12*bound)
        assert found.belief != found.report and not is_proper(rule)

@often
@given(menus())
def test_agent_is_truthful_wherever_a_rule_counts_as_proper(case):
    """Rows moved by what a solver may get wrong of what they pay don't turn the agent into a liar,
    who measures its gain by that, and not by what could be paid."""
    support, menu, bound = case
    if len(support) < 2:
        return
    joint = [np.full((len(support), 1), 1/len(support))*support]*2
    world = make_world(joint, [0., 0.], np.eye(support.shape[1]), bound)
    rule = menu_rule(world.setting.support, menu, bound)
    noise = np.random.default_rng(len(support)).uniform(-1, 1, rule.values.shape)*3*TIE_TOL
    paid = rule.values.max()
    noisy = ScoringRule((rule.values + paid*noise).clip(0, bound), world.setting.support, bound)
    assert is_proper(noisy)
    np.testing.assert_array_equal(best_reply(world, noisy).reports, np.arange(world.setting.M))
