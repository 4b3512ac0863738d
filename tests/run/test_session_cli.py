"""Sessions by command: each step leaves what it says in the file, and what is refused leaves
nothing."""
import runpy
import subprocess
import sys
from types import SimpleNamespace
from unittest.mock import MagicMock

import numpy as np
import pytest

from conftest import ROOT
from oia_nb.all import OIAError, Offer, Session
from people import CLINIC, TARGET, Z, held, records_of, reply
from test_study import TRIAGE

@pytest.fixture
def begun(oia, tmp_path, journal=[]):       # noqa: B006  made once, for all tests
    "Three rounds answered by command, of which the first is revealed; the fourth is open."
    path = tmp_path/'day.jsonl'
    if not journal:
        assert oia('session new day.jsonl clinic --eps .04 --delta .05 --currency €')[0] == 0
        for _ in range(3):
            answer(oia)
        assert oia('session reveal day.jsonl 1 benign')[0] == 0
        assert oia('session next day.jsonl')[0] == 0
        journal.append(path.read_bytes())
    path.write_bytes(journal[0])
    return oia

def answer(oia):
    "The expert answers the open round by command; returns what the command says."
    offer = oia.json('session next day.jsonl')[0]
    rule = Session.open('day.jsonl', write=False)._rounds[-1].rule
    r = reply(Offer(offer['round'], rule, Z))
    said = ','.join(f'{100*p:.1f}' for p in r.report)
    return oia.json('session answer day.jsonl', '--arm', Z.arms[r.arm], '--report', said)[0]

def test_commands_do_what_the_session_does(begun, tmp_path):
    "The file holds the session that Python would have made with the same answers."
    with Session.create(tmp_path/'python.jsonl', CLINIC, **TARGET, currency='€') as s:
        for _ in range(3):
            r = reply(s.announce())
            s.answer(Z.arms[r.arm], np.round(100*np.array(r.report), 1).tolist())
        s.reveal(1, 'benign')
        s.announce()
        with Session.open(tmp_path/'day.jsonl') as other:
            assert held(other) == held(s)

def test_all_that_a_session_takes_can_be_said(oia, tmp_path):
    "By command as in Python: the first line of the file is the same."
    TRIAGE.save('w.json')
    line = ('session new day.jsonl w.json --eps 25 --delta .05 --currency € --unit .01 --fee .5 '
            '--asks --max-paid 900 --snap .02 --told rounding=2 --margin 1 --method own_beliefs')
    assert oia(line, '--person', 'R. Roe', '--lottery', 'a coin')[0] == 0
    Session.create('python.jsonl', TRIAGE, eps=25., delta=.05, currency='€', unit=.01, fee=.5,
                   asks=True, person='R. Roe', max_paid=900., snap=.02, told='rounding=2',
                   method='own_beliefs', lottery='a coin', margin=1.).close()
    assert records_of(tmp_path/'day.jsonl') == records_of(tmp_path/'python.jsonl')

def test_an_answer_and_what_follows(begun):
    found = begun.json('session status day.jsonl')[0]
    assert (found['status'], found['rounds'], found['pending']) == ('open', 3, [2, 3])
    found = answer(begun)
    due = begun.json('session reveal day.jsonl 4 malignant')[0]
    assert due['paid'] >= due['due'] == due['paid'] - found['paid'] >= 0
    assert begun.json('session undo day.jsonl 4', '--why', 'wrong line')[0]['rounds'] == 3
    first = begun('session next day.jsonl')[1]
    assert begun('session decline day.jsonl --why ill')[0] == 0
    assert begun('session next day.jsonl')[1] == first
    claim = begun.json('session stop day.jsonl')[0]['statement'].split(' Checked: ')[0]
    assert begun.json('session status day.jsonl')[0]['status'] == 'stopped'
    assert claim in begun('session stop day.jsonl')[1]

REFUSED = [         # beside what `as_report` refuses
    *(f'answer day.jsonl --arm {words}' for words in (
        'telepathy --report 50,50', 'imaging --report likely', 'imaging --report 36,46',
        'imaging --report 62.6,37.4 --state well', 'imaging --report 62.6,37.4 --round 3')),
    'decline day.jsonl --round 3 --why ill', 'decline day.jsonl', 'undo day.jsonl 9 --why so',
    *(f'reveal day.jsonl {words}' for words in ('1 benign', '4 benign', '2 well')),
    'new day.jsonl clinic --eps .04 --delta .05', 'new x.jsonl clinic --eps 0 --delta .05',
    'next nowhere.jsonl', 'wish day.jsonl']

@pytest.mark.parametrize('line', REFUSED)
def test_what_is_refused_writes_nothing(begun, tmp_path, line):
    before = (tmp_path/'day.jsonl').read_bytes()
    for extra in (), ('--json',):
        status, out, err = begun('session ' + line, *extra)
        assert (status, out, err.count('\n')) == (2, '', 1) and 'Traceback' not in err
    assert (tmp_path/'day.jsonl').read_bytes() == before
    assert not [p.name for p in tmp_path.iterdir() if p.name[0] in 'xn']

def test_the_day_of_the_example(tmp_path):
    "Killed in the middle and resumed; forty answers, of which four are refused and one undone."
    run = subprocess.run(
        [sys.executable, ROOT/'examples'/'session.py', tmp_path/'cut.jsonl'],
        capture_output=True, text=True, timeout=120,
        env={'PYTHONPATH': str(ROOT), 'PATH': '/usr/bin:/bin', 'HOME': str(tmp_path)})
    assert 'killed: True' in run.stdout and run.stdout.count('refused') == 4, run.stderr
    with Session.open(tmp_path/'cut.jsonl') as s:
        assert s.status == 'stopped' and s.rounds == 35 and s.result.verify()

def test_the_otree_app(tmp_path, monkeypatch):
    "In place of oTree: its page records an answer, and refuses one to an earlier page."
    base = {name: type(name, (), {}) for name in (
        'BaseConstants', 'BaseSubsession', 'BaseGroup', 'BasePlayer', 'Page')}
    api = SimpleNamespace(**base, models=MagicMock(), widgets=MagicMock(), __all__=[
        *base, 'models', 'widgets'])
    monkeypatch.setitem(sys.modules, 'otree.api', api)
    monkeypatch.setitem(sys.modules, 'otree', SimpleNamespace(api=api))
    path, example = tmp_path/'day.jsonl', runpy.run_path(str(ROOT/'examples'/'otree_app.py'))
    Session.create(path, CLINIC, **TARGET, currency='€', fee=.25).close()
    project = example['export'](path, tmp_path/'project', rounds=5)
    app = SimpleNamespace(**runpy.run_path(str(project/'offers'/'__init__.py')))
    player = SimpleNamespace(participant=SimpleNamespace(vars={}))
    page, s = app.Offer, app.session()
    for n in range(3):
        shown, r = page.vars_for_template(player), reply(s.announce())
        assert page.is_displayed(player) and shown['round'] == s.announce().round
        assert 'pays if malignant' in shown['table']
        said = {name: round(100*p, 1) for name, p in zip(app.FIELDS, r.report)}
        said |= dict(offer=shown['round'], arm=app.C.ARMS[r.arm])
        for bad, told in ((dict.fromkeys(app.FIELDS, 99), 'in percent'),
                          (dict(offer=n or 9), 'earlier round')):
            assert told in page.error_message(player, said | bad) and s.rounds == n
        assert page.error_message(player, said) is None and s.rounds == n + 1
        page.before_next_page(player, False)
        assert player.payoff == .25
    s.close()
    with pytest.raises(OIAError, match='does not exist yet'):
        example['export'](path, project)
