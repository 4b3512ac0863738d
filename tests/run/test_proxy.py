"""Truth by proxy: what is proved of a game that pays on a test is true of the state."""
from functools import partial

import numpy as np
import pytest

from oia_nb.all import (InvalidInput, Session, Setting, generator, identify, load_setting,
                        load_world, optimal_rule, simple_regret, world_from_table)
from oia_nb.game.information import posterior
from people import CLINIC, THREE

TEST = dict(benign=dict(clear=.95, stained=.05), malignant=dict(clear=.1, stained=.9))
PATHOLOGY = CLINIC.by_proxy(TEST)
RATES = np.array([[.8, .1, .05, .05], [.1, .7, .1, .1], [0., .1, .6, .3]])

def in_truth(world, rates, rule):
    "The best arm and the principal's profit, from p(state, signal) and p(outcome | state) alone."
    earned, profits = [], []
    for joint, cost in zip(world.structure.joint, world.costs):
        pays = profit = 0.
        for p, belief in zip(joint, posterior(joint)):
            i = int(np.abs(rule.support - belief @ rates).max(1).argmin())
            decision = (world.setting.utility.T @ belief).argmax()
            pay = p @ rates @ rule.values[i]
            pays, profit = pays + pay, profit + p @ world.setting.utility[:, decision] - pay
        earned.append(pays - cost)
        profits.append(profit)
    # ties go to the principal
    k = max(np.flatnonzero(np.array(earned) > max(earned) - 1e-9), key=lambda k: profits[k])
    return int(k), profits[k]

@pytest.mark.parametrize('world, rates', [(CLINIC, PATHOLOGY.setting.rates), (THREE, RATES)],
                         ids=['two states', 'three states'])
def test_the_game_over_outcomes_is_the_game_over_states(world, rates):
    "Also with more outcomes than states: profits under any rule, and the regret of what is found."
    seen = world.by_proxy(rates)
    assert seen.setting.belief_utility == pytest.approx(world.setting.belief_utility)
    best = optimal_rule(seen)
    assert in_truth(world, rates, best.rule) == (best.arm, pytest.approx(best.profit))
    found = identify(seen, eps=.3, delta=.1, seed=0)
    assert found.status == 'certified' and found.verify()
    assert best.profit - in_truth(world, rates, found.rule)[1] <= found.certificate.bound <= .3
    assert 'the test of the state errs as it is said to' in found.statement
    # to pay on a test is never cheaper than to pay on the state
    assert best.profit <= optimal_rule(world).profit + 1e-9

def test_a_session_that_never_sees_the_state(tmp_path):
    "Nature draws the state, a signal and the test's outcome; paid is on the outcome."
    rng, rates = generator(3), PATHOLOGY.setting.rates
    with Session.create(tmp_path/'a.jsonl', PATHOLOGY, eps=.3, delta=.05) as s:
        assert 'pays if clear' in s.announce().sheet()
        while s.status == 'open':
            rule = s.announce().rule
            arm = PATHOLOGY.best_response(rule)
            joint = CLINIC.structure.joint[arm]
            o, w = divmod(rng.choice(joint.size, p=joint.ravel()/joint.sum()), 2)
            y = rng.choice(2, p=rates[w])
            r = s.answer(arm, list(posterior(joint)[o] @ rates), state=int(y))
            assert r.due == rule.values[r.belief, y]
        found = s.result
        assert found.status == 'certified' and s.verify()
    regret = optimal_rule(PATHOLOGY).profit - in_truth(CLINIC, rates, found.rule)[1]
    assert regret == pytest.approx(simple_regret(PATHOLOGY, found.rule))
    assert regret <= found.certificate.bound <= .3
    with Session.open(tmp_path/'a.jsonl', write=False) as s:
        assert s.setting == PATHOLOGY.setting and 'errs as' in s.statement

def test_a_proxy_is_kept_and_refused_by_name(tmp_path):
    z = CLINIC.setting
    given = Setting(z.support, z.utility, z.bound, z.arms, z.states, proxy=TEST)
    assert given.states == ('clear', 'stained') and given.rates.tolist() == [[.95, .05], [.1, .9]]
    for subject, load in (given, load_setting), (PATHOLOGY, load_world):
        subject.save(tmp_path/'a.json')
        assert load(tmp_path/'a.json') == subject
    assert PATHOLOGY.without('biopsy').setting.rates is not None
    for bad in ([[.5, .5], [.5, .5]], dict(benign=dict(clear=1.)), [[.9, .1]],
                [[.9, .2], [.1, .8]], 'a test', [[1., 0., 0.]]*2):
        with pytest.raises(InvalidInput, match='proxy'):
            CLINIC.by_proxy(bad)

def test_a_table_whose_truth_is_paid_by_a_test():
    make = partial(world_from_table, dict(truth=['a', 'b']*20, seen=['x', 'y']*15 + ['y', 'x']*5),
                   state='truth', arms=dict(look=['seen'], guess=[]),
                   costs=dict(look=.03, guess=0.), utility=np.eye(2), bound=1.)
    proxy = dict(a=dict(no=.9, yes=.1), b=dict(no=.2, yes=.8))
    assert make(proxy=proxy) == make().by_proxy(proxy)
    assert make(proxy=proxy).setting.states == ('no', 'yes')
