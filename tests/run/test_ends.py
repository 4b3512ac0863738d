"""Every learner, ended in every way: what is filed of its rounds fits together, and can be shown
and stored."""
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from conftest import amount
from oia_nb.all import (LEARNERS, InvalidInput, Oracle, action_informed_oracle, generator, identify,
                        load_identification, load_world, parse_expert, simple_regret, simulate)
from oia_nb.experts.examination import Watches
from oia_nb.paper.estimation import FORCED, NORMAL, Transcript
from oia_nb.run.learner import Finding, Stopped, Trace, announce, finish
from people import COIN

ORACLE = action_informed_oracle(COIN)
SWAPPED = Oracle(ORACLE.rules[::-1], ORACLE.margins)
# coarse enough for every learner to come to an end of its own
EPS = dict(sharp=.1, patient=.1, own_beliefs=.5, open_support=1., trial=.3)
LED = [name for name, row in LEARNERS.items() if 'margin' in row.options]
METHODS = [*((name, {}) for name in LEARNERS),
           *((name, dict(margin=.01)) for name in amount(LED[:1], LED))]
NAMES = [name + (', led' if more else '') for name, more in METHODS]

def played(method, more, world=COIN, oracle=ORACLE, seed=3, **options):
    "A run on `world`; None where the learner doesn't take what it is told."
    row = LEARNERS[method]
    options = dict(eps=EPS.get(method, 2.), delta=.1) | more | options
    if row.needs_budget or method == 'explore_then_commit':
        options.setdefault('budget', 200)
    if method == 'oiafc':
        options.setdefault('budget', 300)
    try:
        return identify(world, method=method, seed=seed, oracle=oracle, **options)
    except InvalidInput as e:
        assert str(e).startswith(('told', 'margin')), e
        return None

def stopped(method, more, answers):
    "A run that is stopped after so many answers; None for one that can't be, or is over."
    row = LEARNERS[method]
    options = dict(eps=EPS.get(method, 2.), delta=.1) | more
    if row.needs_budget:
        options['budget'] = 200
    if 'rng' in row.options:
        options['rng'] = generator(5)
    steps, rng = row.make(COIN.setting, ORACLE, **options), generator(3)
    rule = next(steps)
    try:
        for _ in range(answers):
            rule = steps.send(COIN.respond(rule, rng))
        found = steps.stop()
    except (StopIteration, Stopped):
        return None
    assert found.rounds == answers and found.status == 'stopped'
    return replace(found, origin=None)

WAYS = {'done': played, 'out of rounds': lambda m, more: played(m, more, eps=.01, budget=9),
        'hardly a round': lambda m, more: played(m, more, budget=2),
        'stopped at once': lambda m, more: stopped(m, more, 0),
        'stopped early': lambda m, more: stopped(m, more, 1),
        'stopped': lambda m, more: stopped(m, more, 14),
        'stopped late': lambda m, more: stopped(m, more, 40),
        'oracle': lambda m, more: played(m, more, oracle=SWAPPED),
        'rounding': lambda m, more: played(m, more, told='beliefs=own,rounding=0', eps=.5),
        'lapses': lambda m, more: played(m, more, replace(COIN, agent=parse_expert('lapsing:0.6')),
                                         told='lapses=0.01', eps=.05, budget=300),
        'drift': lambda m, more: played(m, more, replace(COIN,
                                                         agent=parse_expert('drifting:0.2:9:9')),
                                        eps=.05, budget=150)}

def fits(found, tmp_path):
    "Asserts that what was filed is of one length, and survives being shown and stored."
    n, t = found.rounds, found.trace
    assert len(t.arms) == len(t.beliefs) == len(t.kinds) == len(t.targets) == n
    assert len(t.payments) == len(t.states) == n
    assert n == found.counts.sum() == (
        found.normal_rounds + found.forced_rounds + (t.kinds == 0).sum())
    assert found.paid == pytest.approx(t.payments.sum())
    assert (np.bincount(t.arms, minlength=len(found.counts)) == found.counts).all()
    assert ((t.kinds != NORMAL) | (t.arms == t.targets)).all()
    frame = found.to_frame()
    assert len(frame) == n and f'{n:,} rounds' in repr(t)
    assert found._repr_html_() and t._repr_html_() and found.statement and repr(found)
    text = json.dumps(found.to_dict(trace=True), allow_nan=False)
    found.save(tmp_path/'found.json')
    again = load_identification(tmp_path/'found.json')
    assert json.loads(text)['rounds'] == again.rounds == n and type(again) is type(found)
    assert again.to_dict(trace=True) == found.to_dict(trace=True) and repr(again) == repr(found)
    assert 5 <= len(repr(found).splitlines()) <= 9 and 'array(' not in repr(found)
    pd.testing.assert_frame_equal(again.to_frame(), frame, check_dtype=False)

@pytest.mark.parametrize('method,more', METHODS, ids=NAMES)
def test_every_learner_in_every_way(method, more, tmp_path):
    ended = {}
    for way, play in WAYS.items():
        found = play(method, more)
        if found is not None:
            fits(found, tmp_path)
            ended[way] = found.violated or found.status
    assert len(ended) >= 6 and len(set(ended.values())) >= 3

@pytest.mark.parametrize('method', ['sharp', 'patient', 'own_beliefs', 'open_support'])
def test_the_round_that_a_watch_ends_is_whole(method, monkeypatch, tmp_path):
    "A watch may end a run in any round; that one is filed as well."
    for last in range(1, amount(12, 40), amount(2, 1)):
        seen = []
        def see(watches, *shown):
            seen.append(shown)
            return 'calibration' if len(seen) == last else None
        monkeypatch.setattr(Watches, 'see', see)
        found = identify(COIN, eps=EPS[method]/2, delta=.1, seed=1, method=method, max_rounds=300)
        assert found.violated == 'calibration' or len(seen) < last
        assert method not in ('sharp', 'own_beliefs') or found.rounds == len(seen)
        assert found.lost is not None
        fits(found, tmp_path)

def test_a_round_that_another_arm_answers_is_forced():
    data = Transcript(COIN.setting)
    simulate(announce(data, ORACLE.rules[1], target=0), COIN, 0)
    simulate(announce(data, ORACLE.rules[1], target=1), COIN, 0)
    assert list(data.kinds) == [FORCED, NORMAL] and list(data.targets) == [0, 1]
    other = Transcript(COIN.setting)
    other.follow(data)
    assert list(other.payments) == list(data.payments) and (other.counts == data.counts).all()
    assert isinstance(finish(other, Finding(ORACLE.rules[1], 1), status='stopped', eps=1.,
                             delta=.1).trace, Trace)

def test_a_run_that_no_question_helps_ends_as_stalled():
    """Sums in tenths of the bound say too little of boundaries for this accuracy. Without the
    end that was built for it, the run goes on to its cap."""
    world = load_world('clinic')
    found = identify(world, eps=.1, delta=.05, seed=1, unit=.1, budget=5000, examined=False)
    assert found.status == 'stalled' and found.rounds < 5000
    assert found.certificate.bound > .1 and found.verify()
    assert simple_regret(world, found.rule) <= found.certificate.bound
    assert 'more rounds would not prove it: no question tells' in str(found)
