"""Sessions in the hands of strangers: what is wrong with a file, a path, a disk or a word is said
in one sentence, and the session goes on or stays as it was."""
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from oia_nb.core import InvalidInput, OIAError, generator
from oia_nb.run.session import Damaged, Refused, Session, as_report
from people import CLINIC, Z, journal_of, play, records_of

TARGET = dict(eps=.04, delta=.05)

@pytest.fixture(scope='module')
def day(tmp_path_factory):
    "The file of a session of 60 rounds, past those that only ask the oracle's rules."
    path = tmp_path_factory.mktemp('hostile')/'day.jsonl'
    with Session.create(path, CLINIC, **TARGET) as s:
        play(s, 60)
        s.announce()
    return path

def changed(day, change, name='changed.jsonl'):
    """A copy of the journal in which `change(record)` took the place of each record, with hashes
    that are right."""
    path = day.with_name(name)
    path.write_bytes(journal_of(change(dict(r)) for r in records_of(day)))
    return path

def other(which, /, **fields):
    "A change of the header, or of a record of round 3: fields that are others, or gone (`...`)."
    def change(r):
        if r['kind'] != which or r.get('round', 3) != 3:
            return r
        return {k: v for k, v in (r | fields).items() if v is not ...}
    return change

third, third_offer, head = (partial(other, which) for which in ('answer', 'offer', 'oia-session'))
FLAT = [[0., 0.]]*Z.M
NONSENSE = {
    'round 0': third(round=0), 'a round to come': third(round=99),
    'a round that is a text': third(round='x'), 'no such belief': third(belief=99),
    'no such arm': third(arm=9), 'no arm': third(arm=None), 'answered twice': third(round=2),
    'a kind that is a list': third(kind=['answer']), 'an unknown kind': third(kind='wish'),
    'no such state': third(kind='state', state=9, round=2),
    'a rule nobody knows': third_offer(rule='zzz', values=None),
    'payments of another shape': third_offer(values=[[1, 2]]),
    'payments beyond the bound': third_offer(values=[[9., 9.]]*Z.M),
    'an offer out of turn': third_offer(round=7),
    'no setting': head(setting=None), 'a setting with more': head(setting={'zap': 1}),
    'no such learner': head(method='guess'), 'no such option': head(options={'zap': 1}),
    'no oracle': head(oracle={}), 'a target that is none': head(eps=-1),
    'no target': head(eps=...), 'no confidence': head(delta=...),
    'no options': head(options=...),
    'a history that is a number': head(history=5), 'a history of texts': head(history=['a']),
    'past answers of no arm': head(history=[dict(rule=FLAT, arm=9, belief=0)]),
    'past answers of an arm in words': head(history=[dict(rule=FLAT, arm='imaging', belief=0)]),
    'past answers of no belief': head(history=[dict(rule=FLAT, arm=0)]),
    'past answers to no rule': head(history=[dict(rule=[[1, 2]], arm=0, belief=0)]),
    'a snap that is none': head(snap='wide'),
    'an oracle without a margin': head(oracle=dict(rules=[FLAT]*3, margins=[0, .1, .1])),
    'a result that is none': third(kind='ended', result={'status': 'certified'}),
    'a schema that is a text': head(schema='1'), 'a schema that is true': head(schema=True),
}

@pytest.mark.parametrize('change', NONSENSE.values(), ids=list(NONSENSE))
def test_nonsense_with_right_hashes(day, change):
    "A journal that somebody edited with care is still refused in words, and not changed."
    path = changed(day, change)
    before = path.read_bytes()
    with pytest.raises(OIAError) as e:
        Session.open(path)
    assert path.name in str(e.value) and path.read_bytes() == before

@pytest.mark.parametrize('raw', [b'[' * 10**6 + b'\n', b'[' * 10**6, b'{"a":' * 10**5,
                                 b'{"a":' + b'1' * 10**6 + b'}\n', b'\0' * 10**7],
                         ids=['deep', 'deep and torn', 'deep objects', 'a long number', 'holes'])
def test_files_that_are_no_journals(tmp_path, raw):
    path = tmp_path/'raw.jsonl'
    path.write_bytes(raw)
    with pytest.raises((Damaged, InvalidInput)):
        Session.open(path, write=False)

@pytest.mark.parametrize('path', ['.', 'nowhere/x.jsonl', 'a\0b', 'x'*300, 5, None, '/dev/zero'])
def test_paths_that_are_none(tmp_path, monkeypatch, path):
    "Refused at once, also where reading would never end; no folder is made."
    monkeypatch.chdir(tmp_path)
    for act in (Session.open, lambda p: Session.open(p, write=False),
                lambda p: Session.create(p, CLINIC, **TARGET)):
        with pytest.raises(InvalidInput) as e:
            act(path)
        assert e.value.argument == 'path'
    assert not list(tmp_path.iterdir())

@contextmanager
def disk(size):
    "No file can be longer than that, as on a disk that is full."
    resource = pytest.importorskip('resource')
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
        with pytest.raises(InvalidInput, match='a file that can be written'):
            yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)

def test_full_disk(tmp_path):
    """What can't be written is said, the half line is cut off by the next one, and nothing that
    was acknowledged is lost; where nothing could be written, no file is left."""
    path = tmp_path/'full.jsonl'
    with disk(50):
        Session.create(path, CLINIC, **TARGET)
    assert not path.exists()
    with Session.create(path, CLINIC, **TARGET) as s:
        play(s, 5)
        s.announce()
        size = path.stat().st_size
        for _ in range(2):
            with disk(size + 50):
                play(s, 6)
        assert s.rounds == 5 and path.stat().st_size == size + 50
        with Session.open(path, write=False) as reader:
            assert reader.rounds == 5 and 'torn' in reader.notes[0]
        play(s, 10)
        wanted = s.to_frame()
    with Session.open(path) as s:
        assert s.to_frame().equals(wanted) and not s.notes

def test_a_file_that_somebody_else_changes(tmp_path):
    "A folder that is kept in step by some service: what it adds is noticed before writing."
    path = tmp_path/'shared.jsonl'
    with Session.create(path, CLINIC, **TARGET) as s:
        play(s, 3)
        with open(path, 'ab') as f:
            f.write(b'{"kind": "answer"}\n')
        data = path.read_bytes()
        with pytest.raises(Damaged, match='changed since'):
            play(s, 4)
        assert path.read_bytes() == data
    path.unlink()
    with Session.create(path, CLINIC, **TARGET) as s:
        path.unlink()
        with pytest.raises(InvalidInput, match='a file that can be written'):
            s.announce()

@pytest.mark.parametrize('report', [{1, 2}, b'36', '36,64', [[.3, .7]], np.array(.3), [1e300]*2,
                                    [-5, 105], True, 10**30, {0: 36, 1: 64}, .36, [], [120, 0],
                                    [np.nan, 1], 7, np.int64(7), 7.,
                                    np.float64(.07)], ids=repr)
def test_reports_that_are_none(report):
    with pytest.raises(Refused) as e:
        as_report(Z, report)
    assert len(str(e.value)) < 300

def test_names_in_any_script(tmp_path):
    world = replace(CLINIC, setting=replace(Z, arms=['Röntgen', '触診', 'a"b\\n'],
                                            states=['gut=artig', 'bös,artig']))
    with Session.create(tmp_path/'names.jsonl', world, **TARGET, currency='𝔼"<€>') as s:
        r = world.respond(s.announce().rule, generator(0))
        assert 'Röntgen' in str(s.announce()) and '𝔼&quot;&lt;€&gt;' in s.announce().sheet()
        s.answer('Röntgen', dict(zip(world.setting.states, r.report)), state='bös,artig',
                 note='🙂 "so"')
        wanted = s.to_frame()
    with Session.open(tmp_path/'names.jsonl') as s:
        assert s.to_frame().equals(wanted) and s.setting.arms[1] == '触診'

def test_notes_and_reasons_are_texts(tmp_path):
    with Session.create(tmp_path/'notes.jsonl', CLINIC, **TARGET) as s:
        play(s, 2)
        s.announce()
        size = s.journal.path.stat().st_size
        for bad in (5, object(), '', '  ', 'a\nb', '\ud800'):
            for act in (s.decline, lambda why: s.undo(1, why),
                        lambda why: s.answer(0, belief=0, note=why)):
                with pytest.raises(Refused):
                    act(bad)
        for bad in (0, -1, '1', 1.5, None, True, 99):
            with pytest.raises(Refused):
                s.reveal(bad, 'benign')
        assert s.journal.path.stat().st_size == size
