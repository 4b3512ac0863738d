"""A study with people: what they say, what goes wrong, what is paid, and what can be printed."""
import hashlib
import os
import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from conftest import ROOT
from oia_nb.all import (InvalidInput, Offer, Refused, Session, Setting, action_informed_oracle,
                        forecast, generator, identify, is_proper, load_world, make_world,
                        optimal_rule, parse_expert, simple_regret, v_shaped)
from oia_nb.experts.around import OpenSetting
from oia_nb.game.tickets import decimals, payable, payable_bend
from oia_nb.run.session import drawn
from people import CLINIC, THREE, Z, answer, held, play, records_of, reply

ORACLE = action_informed_oracle(CLINIC)

# --- Payable rules -------------------------------------------------------------------------------

@pytest.mark.parametrize('unit, digits', [(.01, 2), (.05, 2), (.001, 3), (.5, 1), (1., 1)])
@pytest.mark.parametrize('world', [CLINIC, THREE, load_world('advert')], ids=lambda w: w.name)
def test_rules_are_rounded_and_stay_proper(world, unit, digits):
    "Every sum is a multiple of the unit within the bound, and the sheet pays what the rule does."
    assert decimals(unit) == digits
    for rule in (*action_informed_oracle(world).rules, optimal_rule(world).rule):
        found = payable(rule, unit)
        assert is_proper(found) and 0 <= found.values.min() <= found.values.max() <= rule.bound
        assert np.abs(found.values/unit - np.round(found.values/unit)).max() < 1e-9
        assert np.abs(found.expected - rule.expected).max() <= unit
        tickets = found.menu().tickets
        held = tickets[[found.menu().choice(b) for b in found.support]]
        assert (held == found.values).all()
        assert payable(found, unit).values.tolist() == found.values.tolist()

def test_boundaries_are_crossed_in_cents():
    "The examination of a run that pays in cents crosses boundaries, by rules in cents."
    loans = make_world([[[.7, .3]], [[.56, .075], [.14, .225]], [[.644, .024], [.056, .276]]],
                       [0., 1., 3.], [[50, 0], [-100, 0]], 50.)
    found = identify(loans, eps=20., delta=.1, seed=2, unit=.01)
    assert found.status == 'certified'
    assert next(c for c in found.checks if c.name == 'boundaries').rounds >= 2
    oracle = [r.values for r in action_informed_oracle(loans).rules]
    own = [100*r for r in np.array(found.certificate.facts['rules'])
           if not any(np.allclose(r, o) for o in oracle)]
    assert len(own) > 10 and np.abs(own - np.round(own)).max() < 1e-6

def test_coins_cost_few_rounds():
    "Rules in cents bend where the exact ones do if beliefs are whole percents (else 3 times)."
    world = in_euros(CLINIC)
    exact, coins = (identify(world, eps=20., delta=.1, seed=1, unit=unit, max_rounds=400)
                    for unit in (None, .01))
    assert coins.status == 'certified' and coins.rounds <= 2*exact.rounds
    for x in world.setting.support[1:-1, 1]:
        rule = v_shaped(world.setting.support, [1 - x, x], bound=100.)
        found = payable_bend(rule, .01)
        worth = found.menu().tickets @ [1 - x, x]
        assert is_proper(found) and len(worth) == 2 and np.ptp(worth) < 1e-9

# --- What people say -----------------------------------------------------------------------------

WHOLE = 'Say whole percentages.'
GRID = Setting.grid(Z.states, utility=Z.utility, bound=Z.bound, arms=Z.arms, step=.05)

def test_what_a_session_takes_and_asks_for(tmp_path):
    """Multiples of five percent are listed; what is between goes to the nearest, or is refused. As
    many digits are asked for as tell the beliefs apart; whole percents would merge some, and that
    is said. An open setting takes any whole percentage, by the learner that is made for it."""
    where = OpenSetting(Z.utility, Z.bound, Z.arms, Z.states, Z.decisions)
    def begun(subject, *oracle, eps=.3, **options):
        path = tmp_path/f'{len(list(tmp_path.iterdir()))}.jsonl'
        s = Session.create(path, subject, *oracle, eps=eps, delta=.1, **options)
        return s, s.announce()
    s, offer = begun(GRID, ORACLE, snap=.025)
    assert WHOLE in str(offer) and offer.say in offer.sheet()
    r = s.answer('palpation', percent=22)
    assert s.setting.support[r.belief].tolist() == [.8, .2] and r.distance == pytest.approx(.02)
    with pytest.raises(Refused, match='within 0.01'):
        begun(GRID, ORACLE)[0].answer('palpation', percent=22)
    s, offer = begun(CLINIC)
    assert offer.say == 'Say percentages with 2 decimals.' and 'would merge' in s.advice
    s, offer = begun(CLINIC, told='rounding=2')
    assert s.head['method'] == 'own_beliefs' and offer.say == WHOLE == s.advice
    s, _ = begun(where, ORACLE, eps=1.)
    assert s.setting.support[s.answer('palpation', percent=23).belief].tolist() == [.77, .23]
    assert s.head['method'] == 'open_support' and s.advice == WHOLE

def test_rules_on_other_beliefs():
    "On more beliefs the oracle's rules pay old ones as before, and margins stay; on others not."
    assert ORACLE.on(GRID).margins is None and ORACLE.on(Z) is ORACLE
    wider = ORACLE.on(replace(Z, support=np.vstack([Z.support, [[.123, .877]]])))
    places = [np.abs(wider.rules[0].support - b).sum(1).argmin() for b in Z.support]
    assert (wider.margins == ORACLE.margins).all()
    for new, old in zip(wider.rules, ORACLE.rules):
        assert new.expected[places] == pytest.approx(old.expected)

def test_arms_that_no_rule_makes_the_favourite(tmp_path, caplog):
    "They are left out, with a sentence that names them; other worlds are refused as before."
    costs, out = np.r_[CLINIC.costs[:2], 40.], f'favourite: {Z.arms[2]}'
    dear = replace(CLINIC, structure=replace(CLINIC.structure, costs=costs))
    with Session.create(tmp_path/'a.jsonl', dear, eps=.3, delta=.1) as s:
        assert s.setting.arms == Z.arms[:2] and out in s.advice
    with Session.open(tmp_path/'a.jsonl', write=False) as s:
        assert Z.arms[2] in s.advice
    found = identify(dear, eps=1., delta=.1, seed=0)
    assert found.setting.arms == Z.arms[:2] and found.verify() and out in caplog.text
    assert forecast(dear, eps=1., delta=.1, runs=1).finished[0] == 1

def test_sheets():
    "Which ticket a report holds is said in reports, and by a script; in short it is folded away."
    for world in CLINIC, THREE:
        offer = Offer(1, optimal_rule(world).rule, world.setting, '€', digits=2)
        page, short = offer.sheet(), offer.sheet(details=False)
        head, folded = short.split('<details>')
        assert '€ at most' in head and '<table>' not in head and 'what you believe' in head
        assert offer.tickets() in folded.split('</details>')[0] and offer.tickets() in page
        assert '<details>' not in page
    assert '× your probability' not in page and 'if you say' in page
    assert page.count('<input') == 3 and 'src=' not in page
    assert all(' / '.join(f'{100*p:.3g}' for p in b) in page for b in THREE.setting.support)

# --- What goes wrong -----------------------------------------------------------------------------

def test_amend_and_undo_keep_what_was_paid(tmp_path):
    "The right answer takes the place of the wrong one; the books know both, and say how many."
    path = tmp_path/'a.jsonl'
    with Session.create(path, CLINIC, eps=.1, delta=.05, currency='€', fee=1.) as s:
        play(s, 12)
        r = next(r for r in s._rounds if r.due)
        n, due, paid, other = r.number, r.due, s.paid, 1 - r.state
        new = r.rule.values[r.belief, other]
        s.amend(n, state=other, reason='typed the other one')
        assert s.paid == pytest.approx(paid + max(0, new - due)) and r.paid >= due
        s.amend(n, belief=0, reason='another patient')
        assert r.belief == 0 and r.paid >= due and s.changed == 2
        before = s.paid
        s.undo(n, 'a slip')
        assert s.paid == before and s.fees == 12 and s.rounds == 11
        assert '3 answers were amended or taken back' in s.statement
        assert s.payments().paid.iloc[-1] == pytest.approx(s.paid - s.fees)
        for number, bad in (2, {}), (2, dict(arm='telepathy')), (2, dict(state='well')), (
                2, dict(belief=99)), (n, dict(state=0)):        # which is void
            with pytest.raises(Refused):
                s.amend(number, reason='x', **bad)
        seen = held(s), s.statement
    with Session.open(path) as s:
        assert (held(s), s.statement) == seen

def test_it_asks_again_before_it_accuses(tmp_path):
    "What contradicts is refused once. Said again it ends the session; amended, it goes on."
    path = tmp_path/'a.jsonl'
    with Session.create(path, CLINIC, eps=.1, delta=.05, asks=True) as s:
        s.announce()
        s.answer('palpation', belief=7)
        s.announce()
        with pytest.raises(Refused, match='did you mean it'):
            s.answer('palpation', belief=7)
        assert s.status == 'open' and s.rounds == 1 and s.announce().round == 2
    with Session.open(shutil.copy(path, tmp_path/'b.jsonl')) as s:
        answer(s)
        assert s.status == 'open' and '1 answer was asked again' in s.statement
    with Session.open(path) as s:
        s.answer('palpation', belief=7)
        assert s.status == 'assumption_violated' and s.best is None
        assert 'Seen in round' in s.statement and "s.amend(" in s.way_out
        with pytest.raises(Refused, match='amend'):
            s.announce()
        first = s.contradiction[0]
        right = reply(Offer(first, s._rounds[first - 1].rule, Z))
        s.amend(first, arm=right.arm, report=list(right.report), reason='I clicked twice')
        play(s, 10)
        assert s.status == 'open' and '1 answer was amended' in s.statement

def test_the_command_says_what_to_do_next(oia, tmp_path):
    "After each step the literal command, in words and in JSON; typed as it is, it works."
    def does(line, *words):
        status, out, err = oia(line, *words)
        assert status == 0, err
        return out
    out = does('session new a.jsonl clinic --eps .3 --delta .1 --currency €', '--person', 'R. Roe')
    assert 'next: oia session next a.jsonl' in out and 'would merge' in out
    does('session next a.jsonl')
    found = oia.json('session status a.jsonl')[0]
    assert found['next'].startswith('oia session answer a.jsonl --round 1')
    assert 'a point, 36.5' in oia('session answer a.jsonl --arm palpation --report 36,5,63,5')[2]
    for _ in range(2):
        assert 'ticket held: ' in does('session answer a.jsonl --arm palpation --report 62.6,37.4')
        oia('session next a.jsonl')
    out = does('session status a.jsonl')
    assert 'next: oia session amend a.jsonl' in out and 'Seen in round' in out
    does('session amend a.jsonl 2 --arm imaging', '--percent', 100*Z.support[9, 1], '--why', 'slip')
    does('session close a.jsonl --html end.html --csv pay.csv')
    table = pd.read_csv('pay.csv')
    assert table['round'].iloc[-1] == 'total' and (table.person == 'R. Roe').all()
    does('session protocol a.jsonl plan.html --purpose so')
    page = (tmp_path/'plan.html').read_text()
    assert all(part in page for part in ('Control questions', 'at most 1 €', '90 %'))
    assert 'Date and signature' in (tmp_path/'end.html').read_text()

def test_what_is_left(tmp_path):
    "As soon as bounds fall there is a guess of the rounds and the money that are left."
    with Session.create(tmp_path/'a.jsonl', CLINIC, eps=.01, delta=.05) as s:
        assert s.left is None
        play(s, 45)
        s.announce()
        rounds, money = s.left
        assert 10 < rounds < 10**6 and money == pytest.approx(rounds*s.expected/45)
        assert f'About {rounds:,} rounds' in s.statement and 'Proved so far' in s.statement

# --- A whole study -------------------------------------------------------------------------------

def in_euros(world):
    "The world of an expert whose beliefs are whole percents, and payments up to 100 €."
    z = world.setting
    def said(p):
        q = p.sum(1, keepdims=True)
        beliefs = np.round(p/q, 2)
        beliefs[:, -1] = 1 - beliefs[:, :-1].sum(1)
        return np.clip(beliefs, 0, 1)*q
    return make_world([said(p) for p in world.structure.joint], 100*world.costs,
                      utility=100*z.utility, bound=100., arms=z.arms, states=z.states)

def look(p):
    "Three signals of equal probability; each makes its state as likely as p."
    return (np.full((3, 3), (1 - p)/2) + np.eye(3)*(p - (1 - p)/2))/3

TRIAGE = make_world([np.full((1, 3), 1/3), look(.6), look(.9)], [0., 1., 4.], arms=['guess',
                    'glance', 'test'], states=['low', 'mid', 'high'], utility=100*np.eye(3),
                    bound=100.)
STUDIES = {'two states': (in_euros(CLINIC), 30.), 'three states': (TRIAGE, 25.)}

def by_python(path, world, eps, **options):
    """The study in Python, with a slip of the arm in round 5, and of the percents in round 9: one
    is asked again, and the other amended. Returns how many are asked again."""
    rng, z, asked = generator(1), world.setting, 0
    with Session.create(path, world, eps=eps, delta=.05, currency='€', fee=.5, asks=True,
                        person='R. Roe', **options or dict(unit=.01)) as s:
        while s.status == 'open':
            n, r = s.announce().round, world.respond(s.announce().rule, rng)
            right, state = [round(100*p) for p in r.report], z.states[r.state]
            other = (100*z.support[(z.index(r.report) + 1) % z.M]).round().astype(int).tolist()
            try:
                s.answer(z.arms[(r.arm + (n == 5)) % z.K], other if n == 9 else right, state=state)
            except Refused:
                asked += 1
                s.answer(z.arms[r.arm], right, state=state)
            if n == 9:
                s.amend(9, report=right, reason='the line of another patient')
            elif s._rounds[-1].arm != r.arm:
                s.amend(n, arm=z.arms[r.arm], report=right, reason='clicked too soon')
    return asked

def test_an_arm_whose_first_answers_are_alike_is_sampled_on():
    "Without a least deviation, three answers that pay alike are taken for all there is to know."
    found = identify(TRIAGE, eps=25., delta=.05, seed=0, max_rounds=250)
    assert found.status == 'certified'

@pytest.mark.parametrize('name', STUDIES)
def test_a_study_with_people(tmp_path, name):
    "With two slips and an amendment: certified, and the receipt is the journal, to the cent."
    (world, eps), path = STUDIES[name], tmp_path/'study.jsonl'
    assert by_python(path, world, eps) == 1
    with Session.open(path, write=False) as s:
        assert s.result.status == 'certified' and s.result.verify()
        assert simple_regret(world, s.result.rule) <= s.result.certificate.bound <= eps
        assert s.changed and 'amended' in s.statement
        receipt, total = s.payments().iloc[:-1], s.paid
    records, books, answers = records_of(path), {}, {}
    rules = {r['rule']: r['values'] for r in records if r.get('values')}
    offers = {r['round']: rules[r['rule']] for r in records if r['kind'] == 'offer'}
    for r in records:
        if r['kind'] in ('answer', 'amended', 'state'):
            n = r['round']
            answers[n] = answers.get(n, {}) | r
            due = offers[n][answers[n]['belief']][answers[n]['state']]
            books[n] = max(books.get(n, 0), round(100*due))
    cents = sum(books.values()) + 50*len(books)
    assert round(100*total) == cents == round(100*(receipt.paid + receipt.fee).sum())
    assert all(x == round(x, 2) for values in rules.values() for row in values for x in row)

def test_a_lottery_pays_the_prize_or_nothing(tmp_path):
    "The books hold prizes and fees, each draw that of the recorded seed."
    by_python(tmp_path/'a.jsonl', TRIAGE, 25., lottery='a coin of 1999')
    with Session.open(tmp_path/'a.jsonl', write=False) as s:
        offer = Offer(1, s._rounds[0].rule, TRIAGE.setting, '€', lottery=True)
        assert 'wins if low' in offer.sheet() and 'you win 100 €' in str(offer)
        assert s.status == 'certified' and s.result.verify()
        assert simple_regret(TRIAGE, s.result.rule) <= 25
        for r in s._rounds:
            draw = int(hashlib.sha256(f'a coin of 1999:{r.number}'.encode()).hexdigest()[:13], 16)
            assert r.due == 100*(draw/16**13 < r.rule.values[r.belief, r.state]/100)
        assert s.paid == sum(r.due for r in s._rounds) + .5*s.rounds
        assert 'you win' in s.protocol('To see.')
    # false alarm 1e-6: the mean of 4,000 uniform numbers, 4.9 standard deviations
    assert abs(np.mean([drawn('seed', n) for n in range(4000)]) - .5) < 4.9/np.sqrt(12*4000)

def test_a_forecast_for_the_expert_one_has(oia):
    "Of an expert who lapses, by the learner that honours it; what is proved by then, falling."
    found = forecast(replace(CLINIC, agent=parse_expert('lapsing:0.02')), eps=.3, delta=.1, runs=2,
                     told='lapses=0.02', cap=800, rounds=[1, 800], sums=[0., 1e6])
    assert found.method[0] == 'patient' and np.isnan(found.lost[0])
    assert found.proved_1[0] > found.proved_800[0] <= found.proved_for_0[0]
    assert found.proved_800[0] == found['proved_for_1e+06'][0]
    status, out, _ = oia('plan clinic --eps .3 --delta .1 --runs 1 --rounds 9 --sums 5 '
                         '--method patient --currency € --cap 50 --quiet')
    assert status == 0 and 'after round 9' in out and 'proved for 5 ' in out
    assert 'learner patient' in out and ' €' in out

PLUGIN = """
from dataclasses import dataclass, replace
from oia_nb.experts.experts import Expert
from oia_nb.run.identification import learner_row

row = replace(learner_row('sharp'), name='of_theirs', text='a learner of theirs')

@dataclass(frozen=True)
class Sleepy(Expert):
    share: float = .1
"""

def test_entry_points(tmp_path):
    "Another package's learner and expert are found by the command, in a process of its own."
    (tmp_path/'theirs.py').write_text(PLUGIN)
    info = tmp_path/'theirs-1.dist-info'
    info.mkdir()
    (info/'METADATA').write_text('Metadata-Version: 2.1\nName: theirs\nVersion: 1\n')
    (info/'entry_points.txt').write_text('[oia_nb.learners]\nof_theirs = theirs:row\n'
                                         '[oia_nb.experts]\nsleepy = theirs:Sleepy\n')
    code = ('import sys; from oia_nb.cli import main\n'
            'from oia_nb.experts.experts import parse_expert\n'
            'assert parse_expert("sleepy:0.3").share == .3\n'
            'sys.exit(main("identify advert --eps 3 --delta .1 --method of_theirs --seed 0 '
            '--quiet".split()))')
    run = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True,
                         env=os.environ | {'PYTHONPATH': f'{ROOT}{os.pathsep}{tmp_path}'})
    assert run.returncode == 0, run.stderr

def test_what_is_told_chooses_the_learner(tmp_path):
    "In Python as by the command; Python's errors name what would do."
    for n, (told, method) in enumerate([('lapses=0.05', 'patient'), ('beliefs=own', 'own_beliefs'),
                                        ('rounding=2', 'own_beliefs'), ('', 'sharp')]):
        with Session.create(tmp_path/f'{n}.jsonl', CLINIC, eps=.3, delta=.1, told=told) as s:
            assert s.head['method'] == method
        found = identify(CLINIC, eps=1., delta=.1, seed=0, told=told, max_rounds=3)
        assert found.origin.method == method
    with pytest.raises(InvalidInput, match='sharp relies on it'):
        identify(CLINIC, eps=1., delta=.1, told='lapses=0.05', method='sharp')
