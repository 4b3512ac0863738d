"""The oracle: widest margins against an independent formulation, worlds that have none, and
worlds that hide an arm."""
from itertools import combinations
import numpy as np
import pytest
from scipy.optimize import linprog
from conftest import amount
from oia_nb.all import (NotInducible, action_informed_oracle,
                        generator, is_proper, make_world, menu_rule, optimal_rule)
from oia_nb.game.oracle import check_oracle, hidden_arm, widest_margin
from oia_nb.game.stackelberg import region_margin
from oia_nb.game.oracle import arms_to_leave
from oia_nb.game.programs import properness_rows

def random_world(rng, bound=1., W=None, K=None, cost=.05):
    W, K = W or int(rng.integers(2, 5)), K or int(rng.integers(2, 5))
    joint = [rng.dirichlet(np.full(W*O, rng.choice([.3, 1.]))).reshape(O, W)
             for O in rng.integers(1, 5, K)]
    return make_world(joint, bound*rng.uniform(0, cost, K), bound*rng.uniform(-1, 1, (W, 2)), bound)

def margin_by_linprog(world, k):
    """The largest m such that some proper rule within [0, B_S] has g(k, S) - g(j, S) ≥ m for all
    j, straight from the definition."""
    z, q, c = world.setting, world.belief_distributions, world.costs
    others = np.delete(np.arange(z.K), k)
    lead = ((q[k] - q[others])[:, :, None]*z.support).reshape(len(others), -1)
    R = properness_rows(z.support).toarray()
    A = np.vstack([np.c_[-R, np.zeros(len(R))], np.c_[-lead, np.ones(len(others))]])
    b = np.r_[np.zeros(len(R)), (c[others] - c[k])/z.bound]
    found = linprog(np.r_[np.zeros(lead.shape[1]), -1], A_ub=A, b_ub=b,
                    bounds=[(0, 1)]*lead.shape[1] + [(None, None)])
    return -found.fun*z.bound

@pytest.mark.parametrize('bound', [1e-4, 1., 1e4])
def test_widest_margin(bound):
    "It agrees with the definition, its rule attains it, and no other rule has a wider one."
    for i in range(amount(6, 40)):
        rng = generator(200, i)
        w = random_world(rng, bound)
        for k in range(w.setting.K):
            margin, rule = widest_margin(w, k)
            assert margin == pytest.approx(margin_by_linprog(w, k), abs=1e-7*bound)
            assert is_proper(rule)
            assert region_margin(w, rule, k) == pytest.approx(margin, abs=1e-7*bound)
            for _ in range(5):
                S = menu_rule(w.setting.support, bound*rng.random((3, w.setting.W)), bound)
                assert region_margin(w, S, k) <= margin + 1e-8*bound

def test_oracle_or_not_inducible():
    """A world has an oracle, all of whose rules are answered by their arm, or names exactly the
    arms without a margin."""
    n = dict(oracle=0, none=0)
    for i in range(amount(20, 80)):
        w = random_world(generator(220, i), cost=.2)
        margins = np.array([margin_by_linprog(w, k) for k in range(w.setting.K)])
        if np.abs(margins - 1e-7).min() < 5e-8:
            continue                    # too close to the tolerance to tell
        try:
            oracle = action_informed_oracle(w)
        except NotInducible as e:
            n['none'] += 1
            assert e.arms == tuple(w.setting.arms[k] for k in np.flatnonzero(margins <= 1e-7))
            assert e.margin == pytest.approx(margins.min(), abs=1e-7)
            assert all(repr(a) in str(e) for a in e.arms)
            assert ('world.without(' in str(e)) == (arms_to_leave(w) is not None)
        else:
            n['oracle'] += 1
            assert [w.best_response(S) for S in oracle.rules] == list(range(w.setting.K))
            assert oracle.margin == pytest.approx(margins.min(), abs=1e-7)
            np.testing.assert_allclose(
                check_oracle(w, oracle.rules).margins, oracle.margins, atol=1e-7)
    assert min(n.values()) > amount(2, 10)

# --- The hidden arm -------------------------------------------------------------------

@pytest.mark.parametrize('n, bound', [(2, 1.), (3, 1e-3), (8, 1.), (15, 50.)])
def test_hidden_arm(n, bound):
    """One setting; an oracle in each world; arm 1 is worth more than all payments; and its rules
    work in one world only."""
    worlds = hidden_arm(n, bound)
    assert len(worlds) == n and all(w.setting is worlds[0].setting for w in worlds)
    for j, w in enumerate(worlds):
        best, oracle = optimal_rule(w), action_informed_oracle(w)
        assert best.arm == 1 and best.gaps[0] > bound
        np.testing.assert_array_equal(w.belief_distributions[0], worlds[0].belief_distributions[0])
        assert [v.best_response(oracle.rules[1]) for v in worlds] == list(np.arange(n) == j)

@pytest.mark.parametrize('n', [2, 5, 8])
def test_no_rule_finds_two(n):
    """No proper rule makes arm 1 a best response in two worlds: for each pair, by linear
    programming."""
    worlds = hidden_arm(n)
    z, R = worlds[0].setting, properness_rows(worlds[0].setting.support).toarray()
    leads = [((w.belief_distributions[1] - w.belief_distributions[0])[:, None]
              *z.support).ravel() for w in worlds]
    for pair in combinations(leads, 2):
        A = np.vstack([np.c_[-R, np.zeros(len(R))], np.c_[-np.array(pair), np.ones(2)]])
        found = linprog(np.r_[np.zeros(z.M*z.W), -1], A_ub=A, b_ub=np.zeros(len(A)),
                        bounds=[(0, 1)]*(z.M*z.W) + [(None, None)])
        assert -found.fun <= worlds[0].costs[1]*5/6 + 1e-9
