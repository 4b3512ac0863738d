"""The bounds on rounds against what they are proved of: trees of answers, rules in common, agents
that fit all answers, and runs."""
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import null_space
from scipy.optimize import linprog

from conftest import examples
from oia_nb.all import (action_informed_oracle, agent_profit, generator, load_world, make_world,
                        mix, optimal_rule, principal_profit, sharp, simulate)
from oia_nb.limits import answers_needed, lower_bound, rules_needed
from oia_nb.core import InvalidInput
from oia_nb.identification import LEARNERS
from oia_nb.limits import (Case, CommonRule, answers_from, cost_limits, draw_costs,
                           have_common_rule, with_costs, worlds_apart)
from oia_nb.programs import properness_rows
from oia_nb.scoring import brier, menu_rule

LOOK, TEST, SURVEY = [[.5, .5]], [[.4, .1], [.1, .4]], [[.47, .03], [.03, .47]]
TWO = make_world([LOOK, TEST], [0., .1], np.eye(2), bound=1.)
THREE = make_world([LOOK, TEST, SURVEY], [0., .08, .14], np.eye(2), bound=1.)


def random_rules(world, n, seed):
    "Proper rules: menus of one to three columns, small and large, and mixtures with the best."
    z, rng = world.setting, generator(seed)
    for _ in range(n):
        size = z.bound*rng.choice([.1, .3, 1.])
        yield menu_rule(z.support, rng.uniform(0, size, (rng.integers(1, 4), z.W)), z.bound)


# --- Samples ---------------------------------------------------------------------------

def test_bounds_on_samples():
    "Less is asked of a coarser target; knowing more can only help."
    for world in load_world('clinic'), TWO:
        bounds = [lower_bound(world, eps, .05) for eps in (.02, .04)]
        assert bounds[0] >= bounds[1] >= lower_bound(world, .04, .05, coupled=True) - 1e-6
        assert lower_bound(world, .02, .01) >= bounds[0]
        dearest = optimal_rule(world).gaps.max()
        for coupled in (False, True):
            least = lower_bound(world, .02, .05, coupled, money=True)
            assert least <= dearest*lower_bound(world, .02, .05, coupled)*(1 + 1e-5)

def test_no_other_arm_has_a_rule():
    for coupled in False, True:
        assert lower_bound(with_costs(TWO, [0., 5.]), .04, .05, coupled=coupled) == 0

@pytest.mark.parametrize('bound', [lower_bound, answers_needed, rules_needed])
@pytest.mark.parametrize('eps, delta, name', [(0., .1, 'eps'), (np.nan, .1, 'eps'),
                                              (.1, 0., 'delta'), (.1, 1.5, 'delta')])
def test_bad_input(bound, eps, delta, name):
    with pytest.raises(InvalidInput, match=name):
        bound(TWO, eps, delta)

@pytest.mark.parametrize('option', [dict(margin=-1.), dict(tries=0), dict(seed=-1)])
def test_bad_options(option):
    with pytest.raises(InvalidInput, match=next(iter(option))):
        worlds_apart(TWO, .1, **option)


# --- Answers ---------------------------------------------------------------------------

def test_costs_keep_the_promise():
    "Costs within the limits do; a cost beyond a limit doesn't."
    for world in TWO, THREE, load_world('clinic'):
        oracle, rng, K = action_informed_oracle(world), generator(3), world.setting.K
        L = cost_limits(world, oracle, .5*oracle.margin)
        for _ in range(10):
            other = with_costs(world, draw_costs(L, rng))
            for k, rule in enumerate(oracle.rules):
                g = agent_profit(other, rule)
                assert g[k] - np.delete(g, k).max() >= .5*oracle.margin - 1e-12
        direct = np.array([[(world.belief_distributions[k] - world.belief_distributions[j])
                            @ oracle.rules[k].expected for j in range(K)] for k in range(K)])
        off = ~np.eye(K, dtype=bool)
        assert (L[off] <= direct[off] - .5*oracle.margin + 1e-12).all()
        k, j = np.unravel_index(np.where(off, direct - L, np.inf).argmin(), L.shape)
        costs = np.zeros(K)
        costs[k] = L[k, j] + .5*oracle.margin + 1e-3
        g = agent_profit(with_costs(world, costs - costs.min()), oracle.rules[k])
        assert g[j] > g[k]

def common_by_scipy(world, one, two, eps):
    "Whether a rule is within eps in both cases: each pair of arms by a program of its own."
    z, q = world.setting, world.belief_distributions
    pay = (q[:, :, None]*z.support).reshape(z.K, -1)
    for arms in product(range(z.K), repeat=2):
        A, b = [-properness_rows(z.support).toarray()], [np.zeros(properness_rows(
            z.support).shape[0])]
        for case, k in zip((one, two), arms):
            A += [pay - pay[k], pay[[k]]]
            b += [case.costs - case.costs[k], [q[k] @ z.belief_utility - case.profits.max() + eps]]
        if linprog(np.zeros(z.M*z.W), np.vstack(A), np.concatenate(b), bounds=(0, z.bound),
                   method='highs').status == 0:
            return True
    return False

def test_rules_in_common():
    "The program with multipliers against a program a pair of arms, without them."
    found = []
    for world, eps in (TWO, .05), (THREE, .05), (load_world('clinic'), .02):
        L, rng = cost_limits(world, action_informed_oracle(world)), generator(5)
        program, cases = CommonRule(world), []
        for _ in range(6):
            costs = draw_costs(L, rng)
            cases.append(Case(costs, optimal_rule(with_costs(world, costs)).profits))
        for i, one in enumerate(cases):
            for two in cases[:i]:
                found.append(have_common_rule(world, program, one, two, eps))
                assert found[-1] == common_by_scipy(world, one, two, eps)
    assert 5 <= sum(found) <= len(found) - 5

def test_worlds_are_apart():
    "No rule is within eps in two of them; many are within three times as much."
    for world in TWO, THREE:
        eps, near = .03, 0
        cases = worlds_apart(world, eps, tries=25, seed=1)
        worlds = [with_costs(world, c.costs) for c in cases]
        best = [optimal_rule(w) for w in worlds]
        tried = [*random_rules(world, 60, 2), *(b.rule for b in best)]
        tried += [mix(a.rule, b.rule, .5) for a in best for b in best]
        for rule in tried:
            lost = np.array([b.profit - principal_profit(w, rule) for w, b in zip(worlds, best)])
            assert (lost <= eps - 1e-9).sum() <= 1
            near += (lost <= 3*eps).sum() >= 2
        assert len(cases) >= 3 and near >= 2

def depths(tree, depth=0):
    "The depths of the leaves of a tree: nested lists, a leaf is None."
    return [depth] if tree is None else [d for t in tree for d in depths(t, depth + 1)]

@settings(max_examples=examples(500))
@given(st.integers(2, 5), st.randoms(use_true_random=False), st.floats(.01, .9))
def test_trees_keep_the_bound(K, random, delta):
    """Any tree of K answers a round that is right in a share 1 - delta of N worlds, with at most
    one of them a leaf, is as deep as `eq-answers` says, also if it stops at once in the others."""
    def grow(left):
        return [grow(left - 1) for _ in range(random.randint(1, K))] if (
            random.random() < left/6) else None
    leaves = sorted(depths(grow(random.randint(0, 5))))
    right = random.randint(1, len(leaves))
    N = int(np.floor(right/(1 - delta) + 1e-9))
    if N >= right:
        assert sum(leaves[:right])/N >= answers_from(N, K, 1 - right/N) - 1e-9

def test_a_full_tree_attains_the_bound():
    """One with K^n leaves does, also if half of the worlds are given up at once: a larger bound
    would be false."""
    for K, n in (2, 5), (3, 3):
        assert answers_from(K**n, K, 1e-12) == pytest.approx(n)
        assert answers_from(2*K**n, K, .5) == pytest.approx(.5*n)

def test_bisection_comes_near():
    "Two arms, all known but costs: thresholds halve what is left."
    oracle = action_informed_oracle(TWO)
    cases = sorted(worlds_apart(TWO, .02, tries=60), key=lambda c: c.costs[1] - c.costs[0])
    worlds = [with_costs(TWO, c.costs) for c in cases]
    def between(i):
        "A rule that arm 1 answers in the worlds before i only."
        low, high = 0., 1.
        for _ in range(50):
            t = (low + high)/2
            ones = sum(w.best_response(mix(*oracle.rules, t)) for w in worlds)
            if ones == i:
                return mix(*oracle.rules, t)
            low, high = (t, high) if ones < i else (low, t)
    cuts = {i: between(i) for i in range(1, len(worlds))}
    asked = []
    for truth in worlds:
        low, high, n = 0, len(worlds), 0
        while high - low > 1:
            i = (low + high)//2
            low, high = (low, i) if truth.best_response(cuts[i]) else (i, high)
            n += 1
        assert worlds[low] is truth
        asked.append(n)
    bound = answers_from(len(worlds), 2, 1e-9)
    assert bound - 1e-6 <= np.mean(asked) <= bound + 1 and bound > 2


# --- Rules -----------------------------------------------------------------------------

def fitting(payments):
    "Functions (v, w), ⟨v, 1⟩ = 0, that vanish at all payments (n, M): a basis (d, M + 1)."
    M = payments.shape[1]
    rows = np.vstack([np.c_[payments, np.ones(len(payments))], np.append(np.ones(M), 0.)])
    return null_space(rows, rcond=1e-9).T

@pytest.mark.parametrize('name', ['clinic', 'wine', 'two'])
def test_too_few_rules_leave_an_agent_that_fits(name):
    """After M - 1 rules some agent answers each of them as the true one did, and answers a rule
    that is too good as well; after M rules in general position there is none of the kind."""
    world = TWO if name == 'two' else load_world(name)
    z, best, eps = world.setting, optimal_rule(world), .04
    assert rules_needed(world, eps, .05) == pytest.approx(.95*max(z.M - z.K, 0))
    earned = world.belief_distributions @ z.belief_utility
    j = int(earned.argmax())
    full = .5*brier(z.support, z.bound).values + .25*z.bound
    rng = generator(4)
    noise = [full + 1e-5*z.bound*rng.uniform(-1, 1, (z.M, 1)) for _ in range(z.M)]
    asked = np.array([(z.support*values).sum(1) for values in noise])
    assert len(fitting(asked)) == 0
    for kept in (np.delete(asked, i, 0) for i in range(z.M)):
        (line,) = fitting(kept)
        ell = lambda s: s @ line[:-1] + line[-1]
        size = .5*(earned[j] - best.profit - eps)/(world.belief_distributions[j] @ asked[0])
        tempting = size*asked
        at = np.abs(ell(tempting)).argmax()
        assert earned[j] - world.belief_distributions[j] @ tempting[at] > best.profit + eps
        theta = 10*z.bound/ell(tempting[at])
        g = world.belief_distributions @ tempting[at] - world.costs
        g[j] += theta*ell(tempting[at])
        assert g.argmax() == j
        assert np.abs(theta*ell(kept)).max() <= 1e-3*z.bound
        assert abs(line[:-1].sum()) <= 1e-9

def test_no_rules_where_nothing_tempts():
    clinic = load_world('clinic')
    earned = clinic.belief_distributions @ clinic.setting.belief_utility
    edge = earned.max() - optimal_rule(clinic).profit
    assert rules_needed(clinic, edge + 1e-6, .05) == 0 < rules_needed(clinic, edge - 1e-6, .05)

def test_a_sharp_run_asks_them():
    """The rules of a certified run and its oracle leave no agent of the kind; the oracle's alone,
    as of a learner that certifies at once, do."""
    world, eps = load_world('clinic'), .05
    world = replace(world, setting=replace(world.setting, prior=None))
    oracle, asked = action_informed_oracle(world), []
    class Watched:
        def respond(self, rule, rng):
            asked.append(rule.expected)
            return world.respond(rule, rng)
    run = simulate(LEARNERS['sharp'].make(world.setting, oracle, eps=eps, delta=.1), Watched(), 0)
    promised = [rule.expected for rule in oracle.rules]
    assert run.status == 'certified' and run.rounds >= rules_needed(world, eps, .1) > 0
    assert len(fitting(np.array(asked + promised))) == 0
    assert len(fitting(np.array(promised))) == world.setting.M - world.setting.K


def test_of_which_class_the_sharp_learner_is():
    """With two states it asks as many rules as learners must that prove their boundaries by
    answers; with three states it doesn't belong to them: one ray is enough."""
    def rules_asked(world, eps):
        asked = set()
        class Ears:
            def respond(self, rule, rng):
                asked.add(rule.values.tobytes())
                return world.respond(rule, rng)
        found = simulate(sharp(world.setting, action_informed_oracle(world), eps=eps, delta=.1,
                               examined=False), Ears(), 0)
        assert found.status == 'certified'
        return len(asked)
    likely = np.random.default_rng(1).dirichlet(np.full(39, .5), 3)
    three = make_world([np.full((1, 3), 1/3), (likely/3).T], [0., .3032], np.eye(3), 4.)
    clinic = load_world('clinic')
    assert rules_asked(clinic, .04) >= rules_needed(clinic, .04, .1)
    assert rules_asked(three, .341) < rules_needed(three, .341, .1)
