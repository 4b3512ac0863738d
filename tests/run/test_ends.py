"""Every learner, ended in every way: what is filed of its rounds fits together, and can be shown
and stored; what a certificate says in words is true, and what wasn't checked is said."""
import json
import signal
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from conftest import amount
from laws import is_wrong
from oia_nb.all import (LEARNERS, InvalidInput, Oracle, World, action_informed_oracle, generator,
                        identify, load_identification, load_world, parse_expert)
from oia_nb.experts.examination import CalibrationWatch, Watches
from oia_nb.experts.experts import Insider, Subjective
from oia_nb.experts.told import CHECKS, VIOLATIONS, Check, Told
from oia_nb.paper.estimation import NORMAL
from oia_nb.run.learner import verified
from oia_nb.run.session import Session
from people import CLINIC, COIN, EPS, WORLD, few, play

ORACLE, WORLD_ORACLE = action_informed_oracle(COIN), action_informed_oracle(WORLD)
SWAPPED = Oracle(ORACLE.rules[::-1], ORACLE.margins)
LED = [name for name, row in LEARNERS.items() if 'margin' in row.options]
METHODS = [*((name, {}) for name in LEARNERS),
           *((name, dict(margin=.01)) for name in amount(LED[:1], LED))]
NAMES = [name + (', led' if more else '') for name, more in METHODS]

def played(method, more, **options):
    "A run on `COIN`, or as `options` have it; None where the learner doesn't take what it is told."
    usual = dict(world=COIN, oracle=ORACLE, seed=3) | few(method)
    usual |= dict(budget=300) if method == 'oiafc' else {}
    try:
        return identify(method=method, **usual | more | options)
    except InvalidInput as e:
        assert str(e).startswith(('told', 'margin')), e

def agent(told):
    return replace(COIN, agent=parse_expert(told))

WAYS = {'done': {}, 'out of rounds': dict(eps=.01, budget=9), 'hardly a round': dict(budget=2),
        'oracle': dict(oracle=SWAPPED), 'rounding': dict(told='beliefs=own,rounding=0', eps=.5),
        'lapses': dict(world=agent('lapsing:0.6'), told='lapses=0.01', eps=.05, budget=300),
        'drift': dict(world=agent('drifting:0.2:9:9'), eps=.05, budget=150)}

def fits(found, tmp_path):
    "Asserts that what was filed is of one length, and survives being shown and stored."
    n, t = found.rounds, found.trace
    assert {len(x) for x in (t.arms, t.beliefs, t.kinds, t.targets, t.payments, t.states)} == {n}
    assert n == found.counts.sum() == (
        found.normal_rounds + found.forced_rounds + (t.kinds == 0).sum())
    assert found.paid == pytest.approx(t.payments.sum())
    assert (np.bincount(t.arms, minlength=len(found.counts)) == found.counts).all()
    assert ((t.kinds != NORMAL) | (t.arms == t.targets)).all()
    frame = found.to_frame()
    assert len(frame) == n and f'{n:,} rounds' in repr(t)
    assert found._repr_html_() and t._repr_html_() and found.statement
    found.save(tmp_path/'found.json')
    again = load_identification(tmp_path/'found.json')
    assert type(again) is type(found) and repr(again) == repr(found)
    assert again.to_dict(trace=True) == found.to_dict(trace=True)
    assert 5 <= len(repr(found).splitlines()) <= 9 and 'array(' not in repr(found)
    pd.testing.assert_frame_equal(again.to_frame(), frame, check_dtype=False)

@pytest.mark.parametrize('method,more', METHODS, ids=NAMES)
def test_every_learner_in_every_way(method, more, tmp_path):
    ended = {}
    for way, options in WAYS.items():
        found = played(method, more, **options)
        if found is not None:
            fits(found, tmp_path)
            ended[way] = found.violated or found.status
    assert len(ended) >= 4 and len(set(ended.values())) >= 2

@pytest.mark.parametrize('method', LEARNERS)
def test_interrupted(method, usual_interrupt, monkeypatch, tmp_path):
    "Ctrl-C in any of 40 rounds, of a search too: the best rule so far, and one entry a round."
    respond, asked, searched = World.respond, [], 0
    def interrupted(self, rule, rng, **who):
        asked.append(rule)
        if len(asked) == last:
            signal.raise_signal(signal.SIGINT)
        return respond(self, rule, rng, **who)
    monkeypatch.setattr(World, 'respond', interrupted)
    for last in range(1, 41, amount(7, 1)):
        asked.clear()
        found = played(method, {}, world=WORLD, oracle=WORLD_ORACLE, eps=.02, seed=0)
        assert found.status == 'stopped' and found.rounds == len(asked) == last
        fits(found, tmp_path)
        searched += found.forced_rounds > 0
    assert method != 'oiafb' or searched > amount(1, 10)

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

def test_a_run_that_no_question_helps_ends_as_stalled():
    "Sums in quarters of the bound say too little of boundaries; else it goes on to its cap."
    world = load_world('small_clinic')
    found = identify(world, eps=.05, delta=.05, seed=0, unit=.25, budget=5000, examined=False)
    assert found.status == 'stalled' and found.rounds < 5000
    assert found.certificate.bound > .05 and found.verify() and not is_wrong(world, found)
    assert 'more rounds would not prove it: no question tells' in str(found)

ADVERT = load_world('advert')

def test_a_check_of_no_round_is_not_checked():
    found = identify(WORLD, eps=.1, delta=.1, seed=0, method='patient', told=Told(lapses=.01))
    assert 'in all rounds, lapses among them' in found.statement
    for name in CHECKS:
        never = replace(found, checks=(Check(name, 0., 0., 0, True), ))
        ran = replace(never, checks=(Check(name, 0., 0., 2, True), ))
        needed = name != 'prior'        # nobody told this run of one
        assert 'Checked: nothing.' in never.statement
        assert (CHECKS[name] in never.statement.split('Not checked')[1]) == needed
        assert CHECKS[name] not in ran.statement.split('Not checked')[1]
    # all states are watched where rounds are played
    rounds = {c.name: c.rounds for c in found.checks}
    assert rounds['calibration'] == rounds['lapses'] == found.rounds >= found.handed_on
    assert 0 < rounds['reports'] <= found.rounds

@pytest.mark.parametrize('world, eps', [(WORLD, .03), (ADVERT, .032)][:amount(1, 2)],
                         ids=lambda x: getattr(x, 'name', ''))
def test_who_knows_the_state_and_says_what_pays_is_refused(world, eps):
    "Where all rules are answered alike it can't be seen; what such a run proves is right."
    knowing, refused = replace(world, agent=Insider(1.)), 0
    for seed in amount([3], range(3)):
        found = identify(knowing, eps=eps, delta=.05, seed=seed, method='own_beliefs',
                         told='beliefs=own', budget=2000)
        if found.certificate is not None:
            assert not is_wrong(knowing, found)
            continue
        assert found.violated == 'reports' and VIOLATIONS['reports'] in found.statement
        refused += 1
    assert refused

def test_what_the_insider_leaves_is_what_it_leaves_on_average():
    rule = action_informed_oracle(ADVERT).rules[0]
    knowing, rng, z = replace(ADVERT, agent=Insider(.5)), generator(92), ADVERT.setting
    gain = z.utility[:, z.best_decision].T - rule.values
    answers = [knowing.respond(rule, rng) for _ in range(4000)]
    left = np.array([gain[z.index(r.report), r.state] for r in answers])
    assert abs(left.mean() - knowing.agent.profit(knowing, rule)) < 5*left.std()/4000**.5
    assert {r.arm for r in answers} == {0}

def test_a_certificate_that_states_took_away_is_shown_nowhere(tmp_path, oia):
    "An overconfident expert is certified before the first state is known; then they come out."
    world, rng, states = replace(WORLD, agent=Subjective(8.)), generator(4), []
    with Session.create('s', world, eps=.1, delta=.1) as s:
        while s.status == 'open':
            r = world.respond(s.announce().rule, rng)
            s.answer(r.arm, list(r.report))
            states.append(r.state)
        assert s.status == 'certified'
        assert s.best.bound == s.result.certificate.bound <= .2 and not s.notes
        order, frame, z = generator(5).permutation(len(states)), s.to_frame(), s.setting
        watch = CalibrationWatch(z.support, z.K)
        for n in order:
            s.reveal(int(n) + 1, states[n])
            watch.see(z.arms.index(frame.arm[n]), int(frame.belief[n]), states[n])
        assert s.calibration().evidence == pytest.approx(watch.evidence)
        assert (s.result.status, s.result.violated, s.result.certificate) == (
            'assumption_violated', 'calibration', None)
        assert s.status == 'assumption_violated' and s.best is None
        assert any('nothing is certified any more' in note for note in s.notes)
    with Session.open('s') as again:
        shown = [repr(again), again._repr_html_(), again.result.statement]
    told = oia.json('session status s')[0]
    assert (told['status'], told['best']['bound']) == ('assumption_violated', None)
    for text in *shown, oia('session status s')[1], json.dumps(told):
        assert 'loses at most' not in text and ' certified' not in text.replace(
            'is certified', '').replace('Nothing certified', ''), text
        assert 'assumption_violated' in text or 'Nothing is certified' in text

def test_a_trial_assumes_no_calibration(tmp_path):
    "What it says of an expert whose states contradict the reports stands."
    world = replace(CLINIC, agent=Subjective(8.))
    with Session.create(tmp_path/'s.jsonl', world, eps=.5, delta=.1, method='trial') as s:
        play(s, world=world, rng=generator(4))
        assert not s.calibration().passed and s.status == 'rule_certified'
        assert s.result.statement.startswith('For any expert') and s.verify()

def test_an_alarm_is_no_proof():
    "How often a watch is wrong is said where one ended the run; a refused claim ran out of none."
    found = identify(WORLD, eps=.3, delta=.1, seed=0)
    for name, seen in VIOLATIONS.items():
        ended = replace(found, status='assumption_violated', certificate=None, violated=name)
        checks = tuple(Check(other, np.inf, .005, 2, other != name) for other in CHECKS)
        watched = name in {'lapses', 'calibration', 'prior', 'reports'}
        said = replace(ended, checks=checks if watched else ()).statement
        assert seen in said and 'No agent' not in said
        assert ('a false alarm has a probability of 0.5 % at most' in said) == watched
    wrong = replace(found.certificate, bound=found.certificate.bound/100)
    refused = verified(replace(found, certificate=wrong))
    assert refused.status == 'uncertified' and 'used up' not in refused.statement
    for evidence, said in (199.6, 200), (.2604, .26):
        assert str(Check('prior', evidence, 1/300, 9, True)).endswith(f'evidence {said} of 300)')
