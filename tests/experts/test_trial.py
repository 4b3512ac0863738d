"""A race of rules, right for any expert who goes on as it does."""
from dataclasses import replace

import pytest

from conftest import amount
from laws import detection, most_failures, statistical
from oia_nb.experts import trial as chapter
from oia_nb.all import (InvalidInput, action_informed_oracle, generator,
                        mix, optimal_rule, random_world, simulate)
from oia_nb.experts.experts import Lapsing, Logit
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

BEST = optimal_rule(DUO)
CLOSE = [mix(BEST.rules[k], ORACLE.rules[k], t) for k, t in ((0, .1), (1, 0.), (0, .12))]
RACES, DELTA = amount(5, 12), .05

def races(seed):
    "Of races of close rules, how many return one that loses more than ε, how many are refused."
    wrong = refused = 0
    for i in range(RACES):
        world, found = raced(Lapsing(.3), 1000*seed + i, rules=CLOSE, eps=.05, delta=DELTA,
                             max_rounds=4000)
        refused += found.refused is not None and found.status == 'uncertified'
        wrong += (found.status == 'rule_certified' and loss(world, found, CLOSE) > .05 + 1e-9)
    return wrong, refused

def first_of_all(run):
    "Wrong: certifies the first rule after one round."
    yield from chapter.try_once(run, 0)
    return 0, 0.

# the checker sees it each time, and so no run is wrong
@statistical(false_alarm=1e-6, planted='certifies the first rule after one round',
             power=lambda: detection(RACES, DELTA, 1.))
def test_the_best_of_the_list_is_found(monkeypatch):
    limit = most_failures(RACES, DELTA)
    wrong, refused = races(0)
    assert wrong <= limit and refused == 0
    monkeypatch.setattr(chapter, 'race', first_of_all)
    assert races(1) == (0, RACES)

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
