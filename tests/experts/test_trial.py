"""A race of rules: its endings. What it says is a law, `law_trial`; races that end too soon the
checker refuses (`test_verify_learners.py`)."""
from dataclasses import replace

import pytest

from oia_nb.all import (InvalidInput, action_informed_oracle, generator,
                        random_world, simulate)
from oia_nb.experts.experts import Logit
from oia_nb.experts.trial import shortlist, trial

DUO = random_world(2, 2, 2, 5, prior='arm', margin=.05, name='duo')
Z = DUO.setting
ORACLE = action_informed_oracle(DUO)
SHORT = shortlist(Z, ORACLE)

def loss(world, found, rules):
    earned = [world.agent.profit(world, r) for r in rules]
    return max(earned) - earned[found.index]

def raced(agent, seed, *, rules=SHORT, **options):
    world = replace(DUO, agent=agent)
    learner = trial(Z, ORACLE, rules=rules, **dict(eps=.1, delta=.1) | options)
    return world, simulate(learner, world, seed)

@pytest.mark.parametrize('cap', [1, 2, 4, 30])
def test_caps(cap):
    _, found = raced(Logit(.1), 0, eps=.001, max_rounds=cap)
    assert (found.status, found.rounds) == ('round_cap', cap)
    assert found.earns[0] <= found.earns[1] and 'Nothing is certified' in found.statement

def test_a_state_is_needed():
    learner = trial(Z, ORACLE, eps=.1, delta=.1)
    response = DUO.respond(next(learner), generator(0))
    with pytest.raises(InvalidInput, match='response.state'):
        learner.send(replace(response, state=None))
    learner.send(response)
