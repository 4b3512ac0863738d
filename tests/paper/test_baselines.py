"""The learners that came before keep the guarantees that are proved for them, and no others are
claimed; `law_chen` and `law_etc` have what their certificates say."""
from itertools import product
import numpy as np
import pytest
from inside import Kept
from laws import shaped_world
from oia_nb.all import (action_informed_oracle, generator, is_proper, optimal_rule, simple_regret,
                        simulate)
from oia_nb.paper.estimation import event_holds
from oia_nb.paper.baselines import (chen, etc_bits, etc_bound, etc_radius, etc_rounds,
                                    explore_then_commit as etc)

WORLDS = [shaped_world(211, i, [(2, 2, 2), (3, 2, 2), (2, 3, 2), (4, 3, 2)], prior='arm',
                       margin=.01 if i % 4 == 3 else .04) for i in range(8)]
ORACLES = [action_informed_oracle(w) for w in WORLDS]

# --- Chen et al. ----------------------------------------------------------------------

@pytest.mark.parametrize('i', range(4))
def test_both_decisions_return_a_rule_of_the_run(i):
    """Whatever the round: announced, answered by the arm that is returned, in a run that the
    decision doesn't change."""
    z = WORLDS[i].setting
    for decision, T in product(('last', 'uniform'), (1, 2, 5, 60)):
        run = Kept(chen(z, ORACLES[i], eps=.5, delta=.1, budget=T, decision=decision, rng=T))
        found = simulate(run, WORLDS[i], generator(5, T))
        rounds = [(rule, r.arm) for rule, r in zip(run.rules, run.responses)]
        assert found.rounds == len(rounds) == T
        rounds = rounds[-1:] if decision == 'last' else rounds
        assert any(found.rule is rule and found.arm == arm for rule, arm in rounds)
        assert found.status == ('budget_too_small' if T < z.K else
                                'uncertified' if T == z.K else 'budget')
        assert (found.certificate is None) == (T <= z.K)

# --- Explore, then commit -------------------------------------------------------------

@pytest.mark.parametrize('i', range(8))
def test_etc_on_the_event(i):
    """What the theorem says of cost estimates, brackets of profits and the certificate, in
    single runs."""
    world, plans = WORLDS[i], []
    z, n, C = world.setting, 150, world.costs[:, None] - world.costs
    learner = etc(z, ORACLES[i], eps=z.B, delta=.1, samples=n, watch=plans.append)
    found = simulate(learner, world, generator(31, 1))
    plan, = plans
    I = etc_radius(z, n, .1)
    assert found.rounds == etc_rounds(z, n, .1) == found.counts.sum() and found.searches == z.K - 1
    if not event_holds(world, plan.q_hat, plan.I):
        return
    assert (np.abs(plan.C_hat - C) <= plan.I_c + 1e-12).all()
    assert plan.I_c.max() <= (z.K - 1)*z.bound*(2.**-etc_bits(I) + I) + 1e-12
    assert (plan.profits >= optimal_rule(world).profits - 1e-7).all()
    assert simple_regret(world, found.rule) <= found.certificate.bound <= etc_bound(
        z, ORACLES[i].margin, n, .1) + 1e-6
    assert world.best_response(found.rule) == found.arm and is_proper(found.rule)
