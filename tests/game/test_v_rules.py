"""Programs in V-rules against solvers that share nothing with them, in worlds of all kinds."""
from contextlib import suppress
import numpy as np
import pytest
from conftest import amount
from scipy.optimize import linprog
from oia_nb.game import programs
from oia_nb.core import NotInducible, SolverFailure, TIE_TOL, generator
from oia_nb.game.information import make_world
from oia_nb.game.oracle import action_informed_oracle, widest_margin
from oia_nb.game.programs import is_close, simplex
from oia_nb.game.scoring import VRules, is_proper
from oia_nb.game.stackelberg import optimal_rule, region_margin
from oia_nb.worlds.generators import random_world

TIGHT = dict(primal_feasibility_tolerance=1e-10, dual_feasibility_tolerance=1e-10)

# --- Worlds and an independent solver -------------------------------------------------

def arm(rng, p, before, n, kind):
    "A joint distribution (n, 2) with the prior `p` of the second state."
    a, b = (rng.dirichlet(np.full(n, rng.choice([.1, 1., 5.]))) for _ in range(2))
    joint = np.c_[(1 - p)*a, p*b]
    if kind == 'near' and before is not None:
        joint = before*(1 + 10.**rng.uniform(-9, -3)*rng.normal(size=before.shape))
    if kind in ('extreme', 'certain') and n > 2:
        share = 1e-12 if kind == 'extreme' else 0.
        joint[0, 1], joint[1, 0] = share*joint[0, 0], share*joint[1, 1]
    joint = joint*np.array([1 - p, p])/joint.sum(0)
    joint = joint/joint.sum()
    joint[np.unravel_index(joint.argmax(), joint.shape)] += 1 - joint.sum()
    return joint

KINDS = 'plain', 'near', 'extreme', 'certain', 'units', 'purse'

def hostile(seed):
    """A world with 2 to 10 arms and up to 900 beliefs: plain; with beliefs 10⁻⁹ to 10⁻³ apart; with
    beliefs of 10⁻¹² or 0; in units of 10⁻⁹ to 10⁹; with a bound that is too large by as much."""
    rng, kind = generator(77, seed), KINDS[seed % 6]
    K, n = int(rng.integers(2, 11)), int(rng.choice([2, 3, 8, 30, 100]))
    p, joints = rng.uniform(.2, .8), []
    for _ in range(K - 1):
        joints.append(arm(rng, p, joints[-1] if joints else None, min(n, 30)
                          if kind == 'near' else n, kind))
    unit = 10.**rng.uniform(-9, 9) if kind in ('units', 'purse') else 1.
    bound = unit*10.**(rng.uniform(0, 6) if kind == 'purse' else rng.uniform(-1, 1))
    costs = np.sort(rng.uniform(0, rng.choice([1e-3, .03, .1]), K))*unit
    return make_world([[[1 - p, p]], *joints], costs, unit*rng.uniform(0, 1, (2, 3)), bound)

def by_hand(world, k):
    "A, b and cost of LP_k in V-rules, written down once more."
    z, q, c = world.setting, world.belief_distributions, world.costs
    s, others = z.support, np.delete(np.arange(z.K), k)
    first, last = s[:, 1].argmin(), s[:, 1].argmax()
    D, tops = np.empty((z.M, z.M)), np.empty((z.M, 2))
    for i, belief in enumerate(s):
        m = belief.min()
        with np.errstate(divide='ignore', invalid='ignore'):
            D[i], tops[i] = (m/belief*s).max(1), m/belief
    D[first], tops[first], D[last], tops[last] = s[:, 0], (1, 0), s[:, 1], (0, 1)
    A = np.vstack([(q[others] - q[k]) @ D.T, tops.T])
    return A, np.r_[c[others] - c[k], z.bound, z.bound], D @ q[k]

def reference(world, A, b, cost):
    """The least payment by another solver, infinite if there is none; in units in which its
    tolerance is small beside costs."""
    unit = min(world.setting.bound, 64*world.costs.max())
    for method in 'highs', 'highs-ds', 'highs-ipm':
        found = linprog(cost, A, b/unit, method=method, options=TIGHT)
        if found.status in (0, 2):
            return unit*found.fun if found.status == 0 else np.inf
    raise AssertionError(found.message)

@pytest.mark.filterwarnings('ignore:.*signals lead to a belief')
def test_worlds_of_all_kinds():
    """No failure; profits to 1e-9 of the scale, and feasibility, as by another solver; rules
    proper, within the bound, answered.

    Where an arm is made to lead by a few ties, its profit is that of asks raised by as much.
    """
    compared = infeasible = 0
    for seed in range(amount(30, 300)):
        world = hostile(seed)
        z, best = world.setting, optimal_rule(world)
        for k in range(z.K):
            assert np.isfinite(widest_margin(world, k)[0])
            A, b, cost = by_hand(world, k)
            worth = world.belief_distributions[k] @ z.belief_utility
            most = worth - reference(world, A, b, cost)
            rule, profit = best.rules[k], best.profits[k]
            assert (rule is None) == np.isinf(most)
            compared, infeasible = compared + 1, infeasible + (rule is None)
            if rule is None:
                continue
            stake = max(rule.values.max(), world.costs.max())
            close = 1e-9*(z.B_u + min(z.bound, 64*world.costs.max()))
            if abs(profit - most) > close:
                b[:-2] -= 2.1*TIE_TOL*stake
                least = worth - reference(world, A, b, cost)
                assert least - close <= profit <= most + close
            assert is_proper(rule) and rule.values.max() <= z.bound
            assert region_margin(world, rule, k) >= -TIE_TOL*stake
    assert compared > amount(100, 1000) and infeasible > amount(5, 50)

# --- The method -----------------------------------------------------------------------

def test_random_programs_in_every_shape():
    "Dual and primal starts, costs of both signs without broken rows, ties, rows of no size."
    solved = 0
    for i in range(amount(150, 3000)):
        rng = generator(770, i)
        m, n = int(rng.integers(1, 9)), int(rng.integers(1, 40))
        A = rng.normal(size=(m, n)).round(int(rng.integers(0, 4)))
        A[rng.random(A.shape) < .3] = 0.
        A = np.vstack([A, np.ones(n)])
        b, cost = np.append(rng.normal(size=m), 5.), rng.random(n).round(1)
        if i % 3 == 0:
            b, cost = np.abs(b), rng.normal(size=n)
        found, other = simplex(A, b, cost, rng.random(n)), linprog(cost, A, b)
        assert (found is None) == (other.status == 2)
        if found is None:
            continue
        solved += 1
        w, y = found
        assert cost @ w == pytest.approx(other.fun, abs=1e-9) and is_close(A, b, cost, w, y)
        assert (w > 0).sum() <= m + 1
    assert solved > amount(60, 1000)

def test_stalls_end(monkeypatch):
    "Beale's example cycles under the rule of the largest gain; with Bland's rule it ends."
    A = np.array([[.25, -60, -1/25, 9], [.5, -90, -1/50, 3], [0, 0, 1, 0]])
    b, cost = np.array([0., 0, 1]), np.array([-.75, 150, -.02, 6])
    for patience in (0, 60):
        monkeypatch.setattr(programs, 'PATIENCE', patience)
        w, y = simplex(A, b, cost, np.zeros(4))
        assert cost @ w == pytest.approx(-.05)

def test_wrong_answers_are_not_returned(monkeypatch):
    "Whatever the pivots do, an answer is verified, or the program comes with the failure."
    world = random_world(3, 2, 3, 0, prior='arm', margin=.02)
    A, b, cost = by_hand(world, world.belief_distributions.shape[0] - 1)
    right = simplex(A, b, cost, cost)[0]
    true, answers = programs.turn, 3*[('optimal', 0)]
    monkeypatch.setattr(programs, 'turn', lambda *at: answers.pop() if answers else true(*at))
    np.testing.assert_allclose(simplex(A, b, cost, cost)[0], right, atol=1e-12)
    for wrong in 'optimal', 'infeasible':
        monkeypatch.setattr(programs, 'turn', lambda *at, wrong=wrong: (wrong, 0))
        with pytest.raises(SolverFailure) as failure:
            simplex(A, b, cost, cost)
        assert all(map(np.array_equal, failure.value.program, (A, b, cost)))

# --- Few tickets ----------------------------------------------------------------------

def test_few_v_rules():
    "A best rule is a sum of K + 1 V-rules at most, K - 1 if no payment reaches the bound."
    most = 0
    for i in range(amount(20, 200)):
        world = random_world(2 + i % 4, 2, 12, i, prior='arm', margin=1e-3, tries=50)
        D = VRules(world.setting.support).D
        for rule in filter(None, optimal_rule(world).rules):
            few = int((np.linalg.solve(D.T, rule.expected) > 1e-9).sum())
            assert few <= world.setting.K - (1 if rule.values.max() < 1 - 1e-9 else -1)
            assert len(np.unique(rule.values.round(9), axis=0)) <= few + 1
            most = max(most, few)
    assert most >= 2

# --- Three states and more: the second stage, and noise -----------------------------------

@pytest.mark.parametrize('W', [2, 3])
def test_oracle_is_no_noise(W):
    "Where all costs are 0 a blind arm is nobody's favourite; every rule is answered by its arm."
    made = 0
    for i in range(amount(20 if W == 2 else 8, 300)):
        rng = generator(772 + W, i)
        prior = rng.dirichlet(np.full(W, 3.))
        joints = [rng.dirichlet(np.full(3, 1.), W).T*prior for _ in range(2)]
        blind = [prior[None]]*(i % 2)
        world = make_world([j/j.sum() for j in blind + joints], np.zeros(2 + i % 2), np.eye(W), 3.)
        with suppress(NotInducible):
            oracle = action_informed_oracle(world)
            made += 1
            assert i % 2 == 0
            for k, rule in enumerate(oracle.rules):
                assert world.best_response(rule) == k and rule.values.max() > 1e-6*rule.bound
    assert made
