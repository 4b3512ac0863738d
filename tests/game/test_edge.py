"""Right at the edge: costs at the threshold, beliefs close together, money in any unit.

The law throughout is that of `test_hostile.py`: the claimed profit of every rule returned is its
true one, or the arm is not inducible. Each kind fails on a solver that stops at its own tolerance;
`planted` shows it for the check of the answer.
"""
import numpy as np
import pytest
from test_hostile import true_optimum
from oia_nb.core import NotInducible, SolverFailure, generator
from oia_nb.game.information import make_world, merge_beliefs
from oia_nb.game.oracle import widest_margin
from oia_nb.game.programs import LIE_TOL, RuleProgram, known_program
from oia_nb.game.scoring import ScoringRule
from oia_nb.game.stackelberg import (is_claim_true, lp_arm, optimal_rule, principal_profit,
                                     region_margin)

SOLVERS = 'highs', 'cvxpy'

def drawn(rng, W=2, K=2, signals=3, cost=.05, bound=1., decimals=None):
    "A random world; with `decimals`, of joints as a table prints them."
    joint = [rng.dirichlet(np.ones(signals*W)).reshape(signals, W) for _ in range(K)]
    if decimals:
        joint = [np.round(p, decimals) for p in joint]
    joint = [p/p.sum() for p in joint]
    return make_world(joint, rng.uniform(0, cost, K), rng.uniform(-1, 1, (W, 3)), bound)

# --- Thresholds -----------------------------------------------------------------------

def test_example():
    "Accuracy .9 against a coin, with a cost of just what the difference can pay."
    see, coin = [[.45, .05], [.05, .45]], [[.5, .5]]
    for cost, profits in ((np.float32(.4), (-np.inf, 2.)), (.4, (2.7, 2.)),
                          (.4 + 1e-12, (2.7, 2.)), (.4 - 1e-12, (2.7, 2.)),
                          (.4 + 1e-9, (-np.inf, 2.)), (.4 - 1e-9, (2.7, 2.))):
        world = make_world([see, coin], [cost, 0], 4*np.eye(2), 1.)
        for solver in SOLVERS:
            best = optimal_rule(world, solver)
            true_optimum(world, best)
            np.testing.assert_allclose(best.profits, profits, atol=1e-8)

def test_planted_claim_is_caught(monkeypatch):
    "A program that asks a billionth too little is found out by the agent, and repaired or refused."
    import oia_nb.game.stackelberg as module
    true, wrong = module.least_paying_rule, 0
    short = lambda program, q, C, bound: true(program, q, C - 1e-9, bound)
    for i in range(12):
        world = drawn(generator(401, i))
        z, q = world.setting, world.belief_distributions
        for k in range(z.K):
            found = short(known_program(z.support, q, k), q, world.costs[k] - world.costs, z.bound)
            if found is None:
                continue
            claim = float(q[k] @ z.belief_utility - found.value)
            rule = ScoringRule(found.rule, z.support, z.bound)
            wrong += not is_claim_true(world, rule, claim)
        with monkeypatch.context() as m:
            m.setattr(module, 'least_paying_rule', short)
            true_optimum(world, optimal_rule(world))
    assert wrong >= 4                          # without the check, these claims would have passed

def test_margin():
    """The best of the rules under which the arm leads by so much; less than without, and nothing
    beyond the widest margin."""
    for i in range(10):
        world = drawn(generator(403, i), K=3)
        plain = optimal_rule(world)
        for k in range(3):
            top = widest_margin(world, k)[0]
            for margin in (.3*top, .9*top) if top > 1e-6 else ():
                profit, rule = lp_arm(world, k, margin=margin)
                assert region_margin(world, rule, k) >= margin - 1e-9
                assert profit <= plain.profits[k] + 1e-9
                assert principal_profit(world, rule) == pytest.approx(profit, abs=2e-9)
            assert lp_arm(world, k, margin=max(top, 0.) + 1e-3) is None
    with pytest.raises(NotInducible):
        optimal_rule(world, margin=2.)

# --- Beliefs close together -----------------------------------------------------------

def near(rng, gap, M=6):
    "A support on the line with neighbours at about `gap`."
    p = np.sort(rng.uniform(.05, .95, M//2))
    p = np.r_[p, p + gap*rng.uniform(1, 2, len(p))]
    return merge_beliefs(np.c_[1 - p, p])[0]

@pytest.mark.parametrize('gap', [2e-6, 1e-5, 1e-4])
def test_no_lies_between_near_beliefs(gap):
    "Not one lie above the tolerance, whatever is asked; values as with all pairs asked."
    solved = 0
    for i in range(25):
        rng = generator(410, i)
        support, K = near(rng, gap), 3
        program = RuleProgram(support, K, 0)
        for _ in range(4):
            q, lower = rng.dirichlet(np.ones(len(support)), K), rng.normal(0, .1, K)
            found = program.minimum(q, lower)
            if found is None:
                continue
            solved += 1
            pay = support @ found.rule.T
            assert (pay - pay.diagonal()[:, None]).max() <= 2*LIE_TOL
            assert found.bound <= found.value + 1e-15 and found.value - found.bound <= 1e-8
    assert solved > 30

# --- Scales ---------------------------------------------------------------------------

def test_many_states():
    "W = 6, M = 60: by the menu, in seconds, and true."
    rng = generator(423)
    joint = [rng.dirichlet(np.ones(72)).reshape(12, 6) for _ in range(5)]
    world = make_world(joint, rng.uniform(0, .05, 5), np.eye(6), 1.)
    assert world.setting.M == 60
    true_optimum(world, optimal_rule(world))

# --- Bounds and answers ---------------------------------------------------------------

def test_time_limit(monkeypatch):
    "A solver that may not take any time has failed."
    import oia_nb.game.programs as module
    rng = generator(431)
    support = merge_beliefs(rng.dirichlet(np.ones(4), 40))[0]
    q = rng.dirichlet(np.ones(40), 3)
    program = RuleProgram(support, 3, 0)
    monkeypatch.setattr(module, 'SOLVER_SECONDS', 0.)
    with pytest.raises(SolverFailure):
        program.minimum(q, np.array([0., .01, .02]))
    monkeypatch.undo()
    assert program.minimum(q, np.array([0., .01, .02])) is not None
