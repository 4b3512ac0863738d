"""A session with a real expert: what is acknowledged stays, what is damaged is noticed, and what is
undone was never there. The expert answers a rule always alike in the same round."""
import multiprocessing
import os
import random
import shutil
import signal
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from conftest import amount, examples
from oia_nb.all import (LEARNERS, OIAError, Refused, Row, Session, action_informed_oracle,
                        generator, oiafc, simulate)
from oia_nb.core import SolverFailure
from oia_nb.run.learner import learner
from people import SHORT, WORLD, answer, few, held, journal_of, play, records_of

@pytest.fixture(scope='module')
def whole(tmp_path_factory):
    "(path, bytes, what it holds) of an uninterrupted session."
    path = tmp_path_factory.mktemp('session')/'whole.jsonl'
    with Session.create(path, WORLD, **SHORT) as s:
        play(s, world=WORLD)
        return path, path.read_bytes(), held(s)

def test_a_session_is_the_run_of_its_learner(whole, monkeypatch):
    "As `simulate`, whatever is revealed when; what opening costs grows with the rounds."
    import oia_nb.run.session as session
    class Expert:
        setting, rounds = WORLD.setting, 0
        def respond(self, rule, rng):
            self.rounds += 1
            return WORLD.respond(rule, generator(3, self.rounds))
    oracle = action_informed_oracle(WORLD)
    alone = simulate(oiafc(WORLD.setting, oracle, eps=SHORT['eps'], delta=.1, max_rounds=60),
                     Expert(), 0)
    calls, digest = [], session.rule_digest
    monkeypatch.setattr(session, 'rule_digest', lambda rule: calls.append(1) or digest(rule))
    with Session.open(whole[0], write=False) as s:
        assert s.rounds == 60 and len(calls) <= 3*s.rounds
        assert s.result.status == alone.status and s.result.rounds == alone.rounds
        assert (s.result.rule.values == alone.rule.values).all()
        assert [r.arm for r in s._rounds] == alone.trace.arms.tolist()

def test_a_result_of_a_session_tells_how_it_was_learned(tmp_path):
    "Method, options and seed, in the session, opened again, and in its document; no world."
    options = dict(method='chen', decision='uniform', budget=5, rng=3)
    with Session.create(tmp_path/'s.jsonl', WORLD, eps=1., delta=.1, **options) as s:
        play(s, world=WORLD)
        done = s.result.to_dict()
    with Session.open(tmp_path/'s.jsonl') as s:
        assert s.stop().to_dict() == s.result.to_dict() == done
    assert (done['world'], done['method'], done['seed']) == (None, 'chen', 3)
    assert done['options'] == dict(decision='uniform', budget=5, rng=3)

def killed_at_a_write(rng):
    "This process ends itself at one of its next writes: before or after it is on disk."
    sync, left = os.fsync, rng.randint(1, 12)
    def fsync(number):
        nonlocal left
        left -= 1
        if left == 0:
            if rng.random() < .5:
                os.ftruncate(number, os.fstat(number).st_size - rng.randint(0, 40))
            os.kill(os.getpid(), signal.SIGKILL)
        sync(number)
    os.fsync = fsync

def answers_until_killed(path, rng):
    "(Rounds that were acknowledged, whether it was killed) of a process that is killed some time."
    at_a_write, moment = rng.random() < .5, rng.uniform(0, .15)
    fork = multiprocessing.get_context('fork')
    acknowledged = fork.Value('i', 0, lock=False)
    def answers():
        if at_a_write:
            killed_at_a_write(rng)
        with Session.open(path) as s:
            while s.status == 'open':
                answer(s, WORLD)
                acknowledged.value = s.rounds
    child = fork.Process(target=answers)
    child.start()
    if not at_a_write:
        time.sleep(moment)
        child.kill()
    child.join()
    assert child.exitcode <= 0
    return acknowledged.value, child.exitcode < 0

@pytest.mark.parametrize('target, quick, full', [
    (SHORT, 10, 200), (dict(eps=.4, delta=.2, told='beliefs=own', max_rounds=60), 5, 100)],
    ids=['oiafc', 'own_beliefs'])
def test_killed_at_random_moments(whole, tmp_path, target, quick, full):
    """300 SIGKILLs (15 in a quick run), at any time or at a write: nothing acknowledged is lost,
    rounds that stood stand, and the paper's learner ends as in the uninterrupted run, with its
    states and sums. The sharp learner guesses anew where it is opened, so that its next question
    may be another one."""
    path, rng, kills, wanted = tmp_path/'killed.jsonl', random.Random(0), 0, amount(quick, full)
    while kills < wanted:
        path.unlink(missing_ok=True)
        Session.create(path, WORLD, **target).close()
        stood, over = [], False
        while not over and kills < wanted:
            acknowledged, killed = answers_until_killed(path, rng)
            kills += killed
            with Session.open(path, write=False) as s:
                assert s.rounds >= acknowledged
                answered = [r for r in held(s)[-1] if r['arm'] is not None]
                assert answered[:len(stood)] == stood
                over, stood = s.status != 'open', answered
        with Session.open(path) as s:
            play(s, world=WORLD)
            assert not s.unused and (held(s) == whole[2] or target is not SHORT)

# --- Damaged -------------------------------------------------------------------------------------

@given(st.integers(0, 2**32 - 1), st.integers(0, 5))
@example(0, 5)
@settings(max_examples=amount(80, examples(500)))
def test_damaged_journals(whole, seed, kind):
    "It is refused in words, or is the same session; never another one, never a traceback."
    path, data, before = whole
    rng, lines = random.Random(seed), data.splitlines(keepends=True)
    at, few, n = rng.randrange(len(data)), rng.randint(1, 50), rng.randrange(len(lines) - 1)
    broken = [data[:at] + rng.randbytes(1) + data[at + 1:], data[:at] + data[at + few:],
              data[:at] + rng.randbytes(few % 9 + 1) + data[at:],
              b''.join(lines[:n] + lines[n + 1:]),
              b''.join([*lines[:n], lines[n + 1], lines[n], *lines[n + 2:]]), data[:-few]][kind]
    def opened(data):
        other = path.with_name(f'damaged-{os.getpid()}.jsonl')
        other.write_bytes(data)
        try:
            with Session.open(other, write=False) as s:
                return held(s)
        except OIAError as e:
            assert str(e) and other.read_bytes() == data
    after = opened(broken)
    # a file cut off within its last line can't be told from a write that was cut off
    if after not in (None, before):
        assert data.startswith(broken) and len(broken) > len(b''.join(lines[:-1]))
        assert after == opened(b''.join(lines[:-1]))

def test_past_answers_lie_on_the_tape(tmp_path):
    "Answers to the oracle's rules from before save as many rounds."
    z, oracle = WORLD.setting, action_informed_oracle(WORLD)
    past = [(k, k, WORLD.respond(oracle.rules[k], generator(9, k)).report) for k in range(z.K)]
    with Session.create(tmp_path/'past.jsonl', WORLD, **SHORT, history=past) as s:
        assert s.rounds == 0 and s.unused == 0
        after = s.announce().rule.values
    with Session.create(tmp_path/'asked.jsonl', WORLD, **SHORT) as s:
        for _, k, report in past:
            s.announce()
            s.answer(k, report)
        assert (s.announce().rule.values == after).all()

def test_payments_fall_due_when_the_state_is_known(whole, tmp_path):
    with Session.open(shutil.copy(whole[0], tmp_path/'due.jsonl')) as s:
        known, pending = ([r for r in s._rounds if (r.state is None) == late]
                          for late in (False, True))
        assert s.paid == pytest.approx(sum(r.rule.values[r.belief, r.state] for r in known))
        assert s.owed == pytest.approx(sum(r.rule.values[r.belief].max() for r in pending))
        for r in pending[-3:]:
            before = s.paid
            due = s.reveal(r.number, WORLD.setting.states[1])
            assert due == r.rule.values[r.belief, 1] and s.paid == pytest.approx(before + due)
        with pytest.raises(Refused, match='not known yet'):
            s.reveal(r.number, 0)

def test_files_of_the_first_schema(tmp_path, whole):
    "The state of an answer is a record of its own, results none: they are read as they were."
    path, records = tmp_path/'old.jsonl', []
    for r in records_of(whole[0]):
        state = r.pop('state', None) if r['kind'] == 'answer' else None
        r |= dict(schema=1) if r['kind'] == 'oia-session' else {}
        records += [r]*(r['kind'] != 'ended')
        if state is not None:
            records.append(dict(kind='state', round=r['round'], state=state, at=r['at']))
    path.write_bytes(journal_of(records))
    with Session.open(path, write=False) as s:
        assert held(s) == whole[2] and s.notes == ['the result is not in the file yet']
    with Session.open(path) as s:
        assert held(s) == whole[2] and not s.notes
    assert records_of(path)[-1]['kind'] == 'ended'

# --- Stopped -------------------------------------------------------------------------------------

def test_what_failed_is_not_stopped(tmp_path, monkeypatch):
    "A learner that broke off has no result: that is said, at once and when it is opened."
    @learner
    def lost(setting, oracle, *, eps, delta):
        yield oracle.rules[0]
        raise SolverFailure('no solution')
    monkeypatch.setitem(LEARNERS, 'lost', Row('lost', lost, 'one that breaks off', ('stopped',)))
    with Session.create(tmp_path/'lost.jsonl', WORLD, eps=.3, delta=.1, method='lost') as s:
        answer(s, WORLD)
        with pytest.raises(Refused, match='got .SolverFailure.*over after round 1'):
            s.stop()
    with Session.open(tmp_path/'lost.jsonl') as s, pytest.raises(Refused, match='SolverFailure'):
        s.stop()

@pytest.mark.parametrize('method', LEARNERS)
def test_stop(tmp_path, method):
    "Every learner returns its best rule so far, with at least the bound that was said before."
    options = few(method) | dict(eps=.3) | (
        dict(told='beliefs=own') if method == 'own_beliefs' else {})
    for rounds in 0, amount(12, 20):
        path = tmp_path/f'{rounds}.jsonl'
        with Session.create(path, WORLD, method=method, **options) as s:
            play(s, rounds, WORLD, generator(3))
            best, found = s.best, s.stop()
            assert found.status == s.status == 'stopped' and found.rounds == rounds
            assert found.violated is None and len(found.trace.kinds) == rounds
            if best is not None:
                assert found.arm == best.arm and (found.rule.values == best.rule.values).all()
                assert found.certificate.bound <= best.bound*(1 + 1e-9)
        with Session.open(path) as again:
            assert again.status == 'stopped' and again.result.rule == found.rule
            with pytest.raises(Refused):
                again.announce()
