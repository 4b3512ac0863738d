"""Answers from before a run count (chapter 25). That the promise holds with answers to rules of
every kind, `test_inside.py` sees, which plays such runs among others."""
from dataclasses import replace

import numpy as np
import pytest

from oia_nb.all import (Drifting, Session, action_informed_oracle, brier, generator, identify,
                        load_world)

CLINIC = load_world('clinic')

def brier_answers(n, seed=9):
    rule, rng = brier(CLINIC.setting.support, CLINIC.setting.bound), generator(seed)
    answers = [CLINIC.respond(rule, rng) for _ in range(n)]
    return [(rule, r.arm, r.report, r.state) for r in answers]

@pytest.mark.release
def test_old_answers_save_rounds():
    """A year of answers to Brier's rule, which no learner would announce. The mean of 24 pairs is
    .88 of that without; three would say nothing."""
    past, options = brier_answers(150), dict(eps=.04, delta=.05)
    known = [identify(CLINIC, seed=s, history=past, **options).rounds - 150 for s in range(24)]
    assert np.mean(known) <= np.mean([identify(CLINIC, seed=s, **options).rounds
                                      for s in range(24)])

def test_a_session_reads_all_old_answers(tmp_path):
    "What was paid before isn't paid again."
    past = [row[:3] for row in brier_answers(60)]
    with Session.create(tmp_path/'a.jsonl', CLINIC, eps=.2, delta=.05, history=past) as s:
        rng, asked = generator(1), 0
        while s.status == 'open':
            r = CLINIC.respond(s.announce().rule, rng)
            s.answer(r.arm, r.report)
            asked += 1
        assert s.unused == 0 and s.result.past == 60 and s.result.rounds == 60 + asked
        assert s.result.paid == pytest.approx(s.result.trace.payments[60:].sum())
        assert s.result.status == 'certified' and not s.result.verify().refused
    with Session.open(tmp_path/'a.jsonl') as again:
        assert again.result.rule == s.result.rule and not again.notes

def test_old_answers_that_no_expert_gives_now_are_seen():
    "Two that contradict each other; or its costs were others then."
    rule, arm, report, state = brier_answers(1)[0]
    other = (rule, (arm + 1) % 3, report, state)
    found = identify(CLINIC, eps=.2, delta=.05, seed=0, history=[(rule, arm, report), other])
    assert (found.status, found.violated) == ('assumption_violated', 'drift')
    assert found.contradiction == (1, 2) and found.certificate is None
    agent = Drifting((0., 0., .5), 1, 1)
    world = replace(CLINIC, agent=agent)
    found = identify(world, eps=.04, delta=.05, seed=0, history=brier_answers(20),
                     oracle=action_informed_oracle(CLINIC))
    assert found.status == 'assumption_violated' and found.certificate is None
