"""Sessions under attack, and in the hands of strangers: what was acknowledged stays, and what is
said is true, in one sentence."""
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import ROOT, amount, examples
from spoilt import FINITE, spoil
from oia_nb.all import InvalidInput, OIAError, Refused, Session, generator, load_world
from oia_nb.run.session import Busy, Damaged
from oia_nb.sharp import bets
from people import (CLINIC, COIN, SHORT, TARGET, THREE, WORLD, Z, answer, held, journal_of, play,
                    records_of, reply)

def test_one_session_and_four_threads(tmp_path):
    "20 sessions (2 in a quick run), 4 threads of 4 answers each: each answer is filed, once."
    def work(s, start):
        filed = []
        start.wait()
        while len(filed) < 4:
            try:
                filed.append(answer(s, WORLD, s.announce()).number)
            except Refused as e:            # another thread was faster
                assert e.argument == 'round'
        return filed
    for n in range(amount(2, 20)):
        with Session.create(tmp_path/f'{n}.jsonl', WORLD, **SHORT) as s, (
                ThreadPoolExecutor(4)) as pool:
            filed = sum(pool.map(work, [s]*4, [threading.Barrier(4)]*4), [])
            assert sorted(filed) == list(range(1, 17)) and s.rounds == 16
            seen = held(s)
        with Session.open(tmp_path/f'{n}.jsonl', write=False) as s:
            assert held(s) == seen and not s.notes

def test_open_here_or_elsewhere(tmp_path):
    "Who has the file is said, and that it was closed; what somebody else changed is noticed."
    path = tmp_path/'a.jsonl'
    s = Session.create(path, WORLD, **SHORT)
    with pytest.raises(Busy, match='a.jsonl is open for writing in this process'):
        Session.open(path)
    play(s, 3, WORLD)
    data = path.read_bytes() + b'{"kind": "answer"}\n'
    path.write_bytes(data)
    with pytest.raises(Damaged, match='changed since'):
        play(s, 4, WORLD)
    assert path.read_bytes() == data
    s.close()
    path.unlink()
    with Session.create(path, WORLD, **SHORT) as other, Session.open(path, write=False) as reader:
        for held_by, error, said in ((s, Busy, 'a.jsonl was closed'),
                                     (reader, Busy, 'for reading only'),
                                     (other, InvalidInput, 'a file that can be written')):
            if held_by is other:
                path.unlink()
            with pytest.raises(error, match=said):
                held_by.announce()

# --- Said twice ----------------------------------------------------------------------------------

def test_an_answer_belongs_to_an_offer_that_is_open(tmp_path):
    "Before the first offer, twice, for another round, after an undo: refused, with the round."
    with Session.create(tmp_path/'a.jsonl', WORLD, **SHORT) as s:
        def refused(match, **options):
            size, before = s.journal.path.stat().st_size, held(s)
            for act in partial(s.answer, 0, WORLD.setting.support[0].tolist()), partial(
                    s.decline, 'ill'):
                with pytest.raises(Refused, match=match):
                    act(**options)
            assert (s.journal.path.stat().st_size, held(s)) == (size, before)
        refused('round 1 is not announced')
        refused('round 1 is not announced', round=1)
        s.announce()
        for wrong in 0, -1, 1.5, '1', True:
            refused('round: got', round=wrong)
        refused('1, the open one .round 2 is not announced', round=2)
        answer(s, WORLD)
        refused('round 1 was answered')
        s.announce()
        refused('2, the open one .round 1 was answered', round=1)
        s.answer(0, WORLD.setting.support[0].tolist())
        s.undo(2, 'a slip')
        refused('round 2 was undone')
        refused('round 2 was undone', round=2)
        s.stop()
        refused('over after round 2')

def test_a_belief_by_its_place_or_in_percent(tmp_path):
    "And notes and reasons are texts; what is refused writes nothing."
    with Session.create(tmp_path/'a.jsonl', CLINIC, **TARGET) as s:
        s.announce()
        assert s.answer('palpation', percent=100*CLINIC.setting.support[9, 1]).belief == 9
        s.undo(1, 'only tried')
        s.announce()
        assert s.answer('palpation', belief=7).belief == 7
        s.announce()
        size = s.journal.path.stat().st_size
        acts = [partial(s.answer, 'palpation', **wrong)
                for wrong in ({}, dict(belief=7, percent=7), dict(percent=101))]
        acts += [partial(s.reveal, bad, 'benign') for bad in (0, -1, '1', 1.5, None, True, 99)]
        for bad in 5, '', '  ', 'a\nb', '\ud800':
            acts += [partial(s.decline, bad), partial(s.undo, 2, bad),
                     partial(s.answer, 0, belief=0, note=bad)]
        for act in acts:
            with pytest.raises(Refused):
                act()
        assert s.journal.path.stat().st_size == size

def test_names_in_any_script(tmp_path):
    states = ['gut=artig', 'bös,artig', '🙂']
    world = replace(THREE, setting=replace(THREE.setting, arms=['触診', 'a"b\\n'], states=states))
    with Session.create(tmp_path/'b.jsonl', world, eps=.5, delta=.05, currency='𝔼"<€>') as s:
        assert '触診' in str(s.announce()) and '𝔼&quot;&lt;€&gt;' in s.announce().sheet()
        with pytest.raises(Refused, match='more than two states'):
            s.answer(0, percent=20)
        report = reply(s.announce(), world).report
        s.answer('a"b\\n', dict(zip(states, report)), state='🙂', note='🙂 "so"')
        wanted = s.to_frame()
    with Session.open(tmp_path/'b.jsonl') as s:
        assert s.to_frame().equals(wanted) and s.setting.arms[0] == '触診'

@pytest.mark.skipif(not hasattr(signal, 'setitimer'), reason='timers of POSIX')
def test_interrupted_at_any_moment(tmp_path):
    "The session is what its file says, before or after the step, and ends as without (100 times)."
    rng, hits, ends = random.Random(1), 0, []
    before = {n: signal.getsignal(n) for n in (signal.SIGALRM, signal.SIGINT)}
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        while hits < amount(3, 100):
            path = tmp_path/f'{len(ends)}.jsonl'
            with Session.create(path, WORLD, **SHORT) as s:
                while s.status == 'open':
                    try:
                        if ends:            # the first session is left in peace
                            signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-4, .03))
                        play(s, world=WORLD)
                        signal.setitimer(signal.ITIMER_REAL, 0)
                    except KeyboardInterrupt:
                        hits += 1
                        with Session.open(path, write=False) as file:
                            # the offer of a step that was cut off may be in the file, unread
                            assert held(file) == held(s)
                ends.append(held(s))
                assert ends[-1] == ends[0]
            with Session.open(path) as s:       # files a result that wasn't yet
                assert held(s) == ends[0] and not s.notes
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for n, handler in before.items():
            signal.signal(n, handler)

# --- Files ---------------------------------------------------------------------------------------

def test_a_broken_chain_is_cut_where_it_is_whole(tmp_path):
    "Only on demand; what is cut off is kept, and named; errors name the file and the way out."
    path = tmp_path/'a.jsonl'
    with Session.create(path, WORLD, **SHORT) as s:
        play(s, 6, WORLD)
    lines = path.read_bytes().splitlines(keepends=True)
    broken = b''.join([*lines[:6], lines[5], *lines[6:]])
    path.write_bytes(broken)
    with pytest.raises(Damaged, match=r'a.jsonl: line 7 .*cut=True.*nothing was changed'):
        Session.open(path)
    with Session.open(path, write=False, cut=True) as s:
        assert s.rounds == 2 and 'after line 6 would be cut off' in s.notes[0]
    assert path.read_bytes() == broken and len(list(tmp_path.glob('*.cut*'))) == 0
    (tmp_path/'a.jsonl.cut1').write_text('of another time')
    with Session.open(path, cut=True) as s:
        assert s.rounds == 2 and 'a.jsonl.cut2' in s.notes[0]
        play(s, 6, WORLD)
    assert (tmp_path/'a.jsonl.cut2').read_bytes() == b''.join([lines[5], *lines[6:]])
    with Session.open(path) as s:
        assert s.rounds == 6 and not s.notes
    # nothing is left of a file without its first line
    path.write_bytes(b''.join(lines[1:]))
    with pytest.raises(Damaged, match='line 1'):
        Session.open(path, cut=True)

@pytest.fixture(scope='module')
def files(tmp_path_factory):
    "The records of sessions with all kinds of records, of four learners, and a path to write to."
    folder, found = tmp_path_factory.mktemp('files'), []
    past = [(k, k, CLINIC.respond(rule, generator(k)).report) for k,
            rule in enumerate(Session.create(folder/'o', CLINIC, eps=1., delta=.1).oracle.rules)]
    for n, options in enumerate([dict(eps=.3), dict(eps=.3, history=past),
                                 dict(eps=.3, told='lapses=0.05'),
                                 dict(eps=.5, told='beliefs=own')]):
        with Session.create(folder/str(n), CLINIC, delta=.05, currency='€', **options) as s:
            play(s, 8, rng=generator(5))
            s.announce()
            s.decline('ill')
            s.undo(5, 'a slip')
            s.stop()
        found.append(records_of(folder/str(n)))
    return found, folder/'spoilt.jsonl'

@given(st.integers(0, 2**32 - 1))
@settings(max_examples=amount(30, examples(200)))
def test_spoilt_records_with_right_hashes(files, seed):
    "What another program wrote is opened, or refused in words that name the file; no traceback."
    rng = random.Random(seed)
    records = deepcopy(rng.choice(files[0]))
    for _ in range(rng.choice([1, 1, 2])):
        spoil(records[rng.choice([0, -1, *rng.sample(range(len(records)), 2)])], rng, FINITE)
    data = journal_of(records)
    files[1].write_bytes(data)
    try:
        with Session.open(files[1], write=False) as s:
            repr(s), s.notes, held(s), s.result, s._repr_html_()
    except OIAError as e:
        assert files[1].name in str(e)
    assert files[1].read_bytes() == data

def test_a_registration_is_in_the_file_once(tmp_path):
    "Also when the answer before it is taken back: twice it would have two shares."
    path = tmp_path/'a.jsonl'
    with Session.create(path, CLINIC, eps=.06, delta=.1) as s:
        while not s._registered:
            answer(s)
            s.announce()
        records = records_of(path)
        s.undo(s._registered[0][0], 'a slip')
        s.announce()
        assert s.record.registered == s._learner.record.registered
    next(r for r in records if r.get('new'))['new'][0][0] -= 1
    path.write_bytes(journal_of(records))
    with pytest.raises(Damaged, match='round'):
        Session.open(path, write=False)

# --- A learner that goes another way -------------------------------------------------------------

@pytest.fixture(scope='module')
def day(tmp_path_factory):
    "The file of a session of 45 rounds or more, past those that only ask the oracle's rules."
    path = tmp_path_factory.mktemp('hostile')/'day.jsonl'
    with Session.create(path, CLINIC, **TARGET) as s:
        play(s, amount(45, 120))
        s.announce()
    return path

def evidence(record):
    "Each rule, answer and registration, whatever the numbers of the rules."
    return [[(n, record.rules[rule].tolist(), arm) for n, rule, arm in record.registered], *(
        (record.rules[r.rule].tolist(), r.arm, r.belief) for r in record.rounds)]

def test_undoing_costs_one_answer(day, tmp_path):
    "All others are facts still, at once and when the file is opened; the statement tells it."
    path = shutil.copy(day, tmp_path/'a.jsonl')
    with Session.open(path) as s:
        wanted = evidence(s.record.without(2))
        s.undo(2, 'a slip')
        assert evidence(s.record) == wanted and '1 answer was amended' in s.statement
        assert len(s._learner.record.rounds) == s.rounds == len(wanted) - 1
    with Session.open(path, write=False) as s:
        assert not s.unused and not s.notes and evidence(s.record) == wanted

# 60 rounds in `advert`, of which one ends in a candidate, in a file of version 0.3
OLD = ROOT/'tests'/'data'/'session_0_3.jsonl'
SHOWN = """
import sys
from oia_nb.all import Session
s = Session.open(sys.argv[1], write=False)
print(repr(s.record.as_dict()), s.unused, len(s.notes), s.best.bound, sep="\\n")
"""

def elsewhere(path, kernel):
    "What a session says under a kernel of OpenBLAS: its facts, what waits, notes, and the bound."
    run = subprocess.run([sys.executable, '-c', SHOWN, path], capture_output=True, text=True,
                         env=os.environ | dict(OPENBLAS_CORETYPE=kernel, PYTHONPATH=str(ROOT)))
    *said, bound = run.stdout.splitlines() or [run.stderr]
    return said, float(bound)

@pytest.mark.parametrize('what', ['this', 'older'])
def test_facts_are_the_same_elsewhere(day, tmp_path, monkeypatch, what):
    "With another constant, under another kernel of OpenBLAS, or of another release, in its midst."
    path = shutil.copy(day if what == 'this' else OLD, tmp_path/'a.jsonl')
    with Session.open(path, write=False) as s:
        facts, bound = s.record.as_dict(), s.best.bound
        assert not s.unused and not s.notes
    if what == 'older':
        said = [r['arm'] for r in records_of(OLD) if r['kind'] == 'answer']
        assert [r[1] for r in facts['rounds']] == said and len(said) == 60
        assert len(facts['registered']) == 1 and bound < .1
    for kernel in amount(['Prescott']*(what == 'this'), ['Haswell', 'Prescott']):
        lines, there = elsewhere(path, kernel)
        assert lines == [repr(facts), '0', '0'] and there == pytest.approx(bound, rel=1e-6)
    monkeypatch.setattr(bets, 'HALF', .5*bets.HALF)
    with Session.open(path) as s:
        assert s.record.as_dict() == facts and not s.unused and not s.notes
        assert s.best.bound == pytest.approx(bound, rel=1e-6)
        play(s, s.rounds + 5, CLINIC if what == 'this' else load_world('advert'))

def test_a_certificate_stays_where_the_learner_goes_another_way(tmp_path, monkeypatch):
    "On another processor, say, the result that was filed is shown; undone answers end it."
    path = tmp_path/'a.jsonl'
    with Session.create(path, COIN, eps=.1, delta=.05) as s:
        play(s, world=COIN)
        found = s.result
        assert found.status == 'certified' and not s.notes
    data = path.read_bytes()
    monkeypatch.setattr(bets, 'HALF', .5*bets.HALF)
    with Session.open(path) as s:
        assert not s.notes and s.status == 'certified' and s.rounds == found.rounds
        for again in s.result, s.best:
            assert again.rule == found.rule
        assert s.result.certificate == found.certificate
        assert s.best.bound == found.certificate.bound and path.read_bytes() == data
        s.undo(3, 'a slip')
        assert s.status == 'open'

# --- Strangers -----------------------------------------------------------------------------------

FLAT = [[0., 0.]]*Z.M
NONSENSE = [        # a kind of record, and fields of its first, or that of round 3; `...`: left out
    *[('answer', change) for change in (
        dict(round=0), dict(round=99), dict(round='x'), dict(belief=99), dict(arm=9),
        dict(arm=None), dict(round=2), dict(kind=['answer']), dict(kind='wish'),
        dict(kind='state', state=9, round=2), dict(kind='ended', result={'status': 'certified'}))],
    *[('offer', change) for change in (
        dict(rule='zzz', values=None), dict(values=[[1, 2]]), dict(values=[[9., 9.]]*Z.M),
        dict(round=7))],
    *[('oia-session', change) for change in (
        dict(setting=None), dict(setting={'zap': 1}), dict(method='guess'),
        dict(options={'zap': 1}), dict(options=...), dict(oracle={}), dict(eps=-1), dict(eps=...),
        dict(delta=...), dict(history=5), dict(snap='wide'), *(dict(history=[row]) for row in (
            'a', dict(rule=FLAT, arm=9, belief=0), dict(rule=FLAT, arm='imaging', belief=0),
            dict(rule=FLAT, arm=0), dict(rule=[[1, 2]], arm=0, belief=0))),
        dict(oracle=dict(rules=[FLAT]*3, margins=[0, .1, .1])),
        dict(schema='1'), dict(schema=True), dict(currency='\ud800'))]]

@pytest.mark.parametrize('kind, change', NONSENSE, ids=[str(n) for n in range(len(NONSENSE))])
def test_nonsense_with_right_hashes(day, kind, change):
    "A journal that somebody edited with care is still refused in words, and not changed."
    records, path = records_of(day), day.with_name('changed.jsonl')
    i = next(i for i, r in enumerate(records) if r['kind'] == kind and r.get('round', 3) == 3)
    records[i] = {k: v for k, v in (records[i] | change).items() if v is not ...}
    path.write_bytes(before := journal_of(records))
    with pytest.raises(OIAError, match=path.name):
        Session.open(path)
    assert path.read_bytes() == before

@pytest.mark.parametrize('raw', [b'[' * 10**6 + b'\n', b'[' * 10**6, b'{"a":' * 10**5,
                                 b'{"a":' + b'1' * 10**6 + b'}\n', b'\0' * 10**7],
                         ids=['deep', 'deep and torn', 'deep objects', 'a long number', 'holes'])
def test_files_that_are_no_journals(tmp_path, raw):
    path = tmp_path/'raw.jsonl'
    path.write_bytes(raw)
    with pytest.raises((Damaged, InvalidInput)):
        Session.open(path, write=False)

@contextmanager
def disk(size):
    "No file can be longer than that, as on a disk that is full."
    resource = pytest.importorskip('resource')
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        with pytest.raises(InvalidInput, match='a file that can be written'):
            yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)

def test_full_disk(tmp_path):
    "What can't be written is said; nothing acknowledged is lost, and no empty file is left."
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
