"""Answers from before a run count, whatever rule they were given to; and the promise holds.

Why: chapter 25, on answers from before.
"""
from dataclasses import replace

import numpy as np
import pytest

from conftest import amount
from inside import gap_of
from laws import detection, guess, most_failures, statistical, worlds as small_worlds
from oia_nb.all import (Drifting, ScoringRule, Session, action_informed_oracle, brier, generator,
                        identify, load_world, mix, simple_regret, spherical)

WORLDS, SEEDS, DELTA = 6, amount(1, 40), amount(.05, .5)
CLINIC = load_world('clinic')

def rules_of_every_kind(world):
    "Strictly proper ones, the oracle's, one that pays nothing, and mixtures."
    z = world.setting
    zero = ScoringRule(np.zeros((z.M, z.W)), z.support, z.bound)
    strict = [brier(z.support, z.bound), spherical(z.support, z.bound)]
    own = list(action_informed_oracle(world).rules)
    return [*strict, *own, zero, mix(zero, strict[0], .1), mix(own[0], own[-1], .5)]

def history(world, n, seed):
    "n answers to rules of every kind, of which some are asked often and some once."
    rules, rng = rules_of_every_kind(world), generator(900, seed)
    asked = [rules[i] for i in rng.permutation(n) % len(rules)]
    return [(rule, r.arm, r.report, r.state) for rule in asked for r in [world.respond(rule, rng)]]

def is_wrong(world, found, eps):
    regret = simple_regret(world, found.rule)
    assert found.status == 'certified'
    return regret > min(eps, found.certificate.bound) + 1e-9

@statistical(false_alarm=1e-6, planted="returns the oracle's rule for the worst arm, unasked",
             power=lambda: detection(WORLDS*SEEDS, DELTA, 1.))
def test_the_promise_holds_with_old_answers():
    "6 runs (240 with --release) whose histories are of 0 to 60 answers."
    wrong = planted = 0
    for i, world in enumerate(small_worlds(WORLDS)):
        eps = max(gap_of(world)/2, .02)
        for seed in range(SEEDS):
            past = history(world, 10*((seed + i + 1) % 7), 100*i + seed)
            found = identify(world, eps=eps, delta=DELTA, seed=generator(i, seed), history=past)
            wrong += is_wrong(world, found, eps)
            assert found.past == len(past) and not found.refused
        planted += SEEDS*is_wrong(world, guess()(world, eps), eps)
    assert wrong <= most_failures(WORLDS*SEEDS, DELTA) < planted

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
