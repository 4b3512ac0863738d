"""Beliefs that nobody listed, and the learner that collects them."""

import numpy as np
import pytest

from conftest import amount
from laws import detection, most_failures, statistical
from oia_nb.all import (Oracle, Setting, World, action_informed_oracle, generator,
                        is_proper, random_world, simulate)
from oia_nb.experts.open_setting import (OpenRule, OpenSetting, Reported, discover, freeze_bound,
                                         open_support, shares_of)

DUO = random_world(2, 2, 2, 5, prior='arm', margin=.05, name='duo')
ORACLE = action_informed_oracle(DUO)
Z = DUO.setting
OPEN = OpenSetting(Z.utility, Z.bound, Z.arms)

SEQUENCES, DELTA = amount(150, 400), .3

def sequences_that_lie(seed, bound):
    "How many sequences of samples are told of less unseen mass than there is, at any time."
    rng, lied = generator(90, seed), 0
    shares = .5**np.arange(1, 9)
    shares[-1] *= 2
    for _ in range(SEQUENCES):
        known, since = np.zeros(len(shares), bool), 0
        for i in rng.choice(len(shares), 150, p=shares):
            since = since + 1 if known[i] else 0
            known[i] = True
            if shares[~known].sum() > bound(since, known.sum()) + 1e-12:
                lied += 1
                break
    return lied

# the first two samples are alike in a third of the sequences; then a half is said to be excluded
@statistical(false_alarm=1e-6, planted='one over the number of samples, without the logarithm',
             power=lambda: detection(SEQUENCES, DELTA, .7))
def test_what_is_unseen_is_bounded_at_all_times():
    limit = most_failures(SEQUENCES, DELTA)
    proved = lambda m, r: freeze_bound(m, r, 1, DELTA)
    hasty = lambda m, r: 1. if m == 0 else .3/m
    assert sequences_that_lie(0, proved) <= limit < sequences_that_lie(1, hasty)

def widened(world, extra):
    "The same world with more beliefs on its support, which nobody ever holds."
    z = world.setting
    support = np.vstack([z.support, extra])
    setting = Setting(support, z.utility, z.bound, z.arms, z.states, z.decisions)
    return World(world.structure, setting)

def test_the_support_is_not_seen():
    "Beliefs that are listed and never held change nothing."
    wide = widened(DUO, [[p, 1 - p] for p in (.013, .37, .61, .987)])
    menus = [OpenRule(np.unique(r.values, axis=0), Z.bound) for r in ORACLE.rules]
    oracle = Oracle([menu.on(wide.setting.support) for menu in menus])
    runs = [simulate(open_support(w.setting, o, eps=.3, delta=.1), w, 4)
            for w, o in ((DUO, ORACLE), (wide, oracle))]
    assert runs[0].rounds == runs[1].rounds and runs[0].status == runs[1].status
    assert runs[1].rule.values[:Z.M] == pytest.approx(runs[0].rule.values)

class Menus:
    "The expert of DUO, who is shown menus."
    def respond(self, menu, rng):
        return DUO.respond(menu.on(Z.support), rng)

def test_the_coroutine_stands_alone():
    menus = [OpenRule(r.values, r.bound) for r in ORACLE.rules]
    found = simulate(discover(OPEN, menus, eps=.4, delta=.1), Menus(), 1)
    assert found.status == 'certified' and found.bound <= .4 and found.setting.M == Z.M
    assert found.collecting < found.rounds and found.mass.max() <= shares_of(OPEN, .4, None)[0]
    assert is_proper(found.rule.on(Z.support))

def test_beliefs_are_numbered_as_they_come():
    seen = Reported(OPEN, delta=.1)
    assert [seen.see(k, np.array(b)) for k, b in ((0, [.2, .8]), (1, [.5, .5]), (1, [.2, .8]),
                                                  (0, [.2, .8]))] == [True, True, False, False]
    assert seen.beliefs.tolist() == [[.2, .8], [.5, .5]] and seen.rounds == 4
    assert seen.since.tolist() == [1, 0] and [len(s) for s in seen.known] == [1, 2]
