"""A record holds facts, and a learner goes on from any facts, those from before among them
(chapters 25 and 42). That the promise holds with old answers to rules of every kind,
`test_inside.py` sees."""
import json
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
import numpy as np
import pytest
from conftest import amount
from people import play
from oia_nb.all import (Drifting, Session, action_informed_oracle, brier, generator, identify,
                        load_world, random_world, sharp, simulate)
from oia_nb.paper.estimation import NORMAL
from oia_nb.experts.experts import Rounded
from oia_nb.experts.told import as_told
from oia_nb.game.scoring import ScoringRule
from oia_nb.sharp import bets
from oia_nb.sharp.record import Record

CLINIC = load_world('clinic')
Z, ORACLE = CLINIC.setting, action_informed_oracle(CLINIC)

def learner(record=None, **more):
    return sharp(Z, ORACLE, eps=.1, delta=.05, max_rounds=1000, record=record, **more)

def played(record=None, seed=1, **more):
    run = learner(record, **more)
    return simulate(run, CLINIC, seed), run.record

@cache
def facts_of_a_run():
    return played(seed=2)[1]

def test_a_record_is_plain_data():
    facts = facts_of_a_run()
    again = Record.from_dict(json.loads(json.dumps(facts.as_dict())))
    assert again.rounds == facts.rounds and again.registered == facts.registered
    assert all(map(np.array_equal, again.rules, facts.rules))

def test_a_learner_goes_on_from_what_is_there():
    facts = facts_of_a_run()
    for n in range(0, len(facts.rounds), amount(70, 9)):
        part = facts.copied()
        part.rounds = facts.rounds[:n]
        part.registered = [c for c in facts.registered if c[0] < n]
        again, whole = played(part, seed=n)
        assert again.status == 'certified' and whole.rounds[:n] == part.rounds
        assert whole.registered[:len(part.registered)] == part.registered
        assert not again.refused and again.rounds == len(whole.rounds)

def test_an_answer_to_any_rule_may_come_at_any_time():
    run, rng = learner(), generator(3)
    odd, rule = brier(Z.support, Z.bound), next(run)
    with pytest.raises(StopIteration) as end:
        for t in range(1, 400):
            asked, hear = (odd, partial(run.hear, odd)) if t in (5, 6, 40) else (rule, run.send)
            rule = hear(CLINIC.respond(asked, rng))
    found = end.value.value
    assert found.status == 'certified' and not found.refused
    assert found.rounds == t == len(run.record.rounds)

def test_changes_are_counted():
    facts = facts_of_a_run()
    n = len(facts.rounds)
    less = facts.without(3)
    assert (len(less.rounds), less.changed, len(facts.rounds)) == (n - 1, 1, n)
    assert less.rounds[2:] == facts.rounds[3:]
    assert all(a[0] - b[0] == (a[0] >= 3) for a, b in zip(facts.registered, less.registered))
    other = less.amended(1, belief=0 if less.rounds[0].belief else 1)
    assert other.changed == 2 and other.rounds[1:] == less.rounds[1:]
    late = Record()
    late.append(np.zeros((Z.M, Z.W)), 0, 0, kind=NORMAL)
    assert late.amended(1, state=1).changed == 0 and late.rounds[0].state == -1

STATES3 = random_world(2, 3, 3, 5, prior='arm', margin=.01)
KINDS = dict(plain={}, own=dict(told='beliefs=own'), unit=dict(unit=.01), history=dict(history=25),
             rounding=dict(told='beliefs=own,rounding=2'), states=dict(world=STATES3))

def known_of(kind, n):
    "The learner after n rounds, or at its end, and how it is digested anew."
    more = dict(KINDS[kind])
    world, told = more.pop('world', CLINIC), as_told(more.get('told'))
    z, rng, oracle = world.setting, generator(4), action_informed_oracle(world)
    world = replace(world, agent=Rounded(told.rounding)) if told.rounding else world
    odd = brier(z.support, z.bound)
    past = [world.respond(odd, rng) for _ in range(more.pop('history', 0))]
    run = sharp(z, oracle, eps=.1, delta=.05, max_rounds=150, examined=False,
                history=[(odd, r.arm, r.report, r.state) for r in past], **more)
    rule = next(run)
    with suppress(StopIteration):
        while n is None or len(run.record.rounds) < n + len(past):
            rule = run.send(world.respond(rule, rng))
    known = run.known
    return run, known, lambda record: bets.digest(
        bets.Knowledge(known.setting, known.oracle, .05, record, told))

@pytest.mark.parametrize('kind, n', amount(
    [*((kind, 30) for kind in KINDS), ('plain', None), ('states', None)],
    [(kind, n) for kind in KINDS for n in (12, 30, None)]))
def test_what_is_known_is_a_function_of_the_facts(kind, n):
    """Bounds, counts, wealths and the proof are the same after a run and digested anew from its
    record. Planted: with one answer less they aren't."""
    run, known, anew = known_of(kind, n)
    again = anew(run.record)
    for k in known, again:
        bets.settle(k)
    ordered = [{pair for pair, w in k.walls.items() if w.order} for k in (known, again)]
    assert ordered[0] == ordered[1] and known.tied == again.tied
    assert np.array_equal(known.outcomes.counts, again.outcomes.counts)
    evidence, then = ([dict(bets.missing(k, c, .1)) for c in k.candidates] for k in (known, again))
    assert len(evidence) == len(then)
    for a, b in zip(evidence, then):
        assert a == pytest.approx(b, abs=1e-5)
    for j, R in known.regions.items():
        # both are bounds, of which a solver may have left one a little wider
        assert again.regions[j].prices == pytest.approx(R.prices, rel=1e-3, abs=1e-4)
    proofs = [bets.prove(k, k.candidates[-1], .1) is not None for k in (known, again)]
    assert proofs[0] == proofs[1] and (proofs[0] or n is not None or known.rounds >= 150)
    less = anew(run.record.without(1))
    assert not np.array_equal(less.outcomes.counts, known.outcomes.counts)

def test_a_registration_stays_whose_answer_was_taken_back():
    "It keeps its share, and the learner goes on; nothing is proved of its rule without an answer."
    facts = facts_of_a_run()
    _, rule, _ = facts.registered[0]
    while rule in (asked := [r.rule for r in facts.rounds]):
        facts = facts.without(1 + asked.index(rule))
    again, whole = played(facts, seed=3)
    assert whole.registered[:len(facts.registered)] == facts.registered
    assert again.status == 'certified' and not again.refused
    assert len(again.certificate.facts['registered']) == len(whole.registered)

# --- Answers from before ----------------------------------------------------------------

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
        play(s, rng=generator(1))
        assert s.unused == 0 and s.result.past == 60 and s.result.rounds == 60 + s.rounds
        assert s.result.paid == pytest.approx(s.result.trace.payments[60:].sum())
        assert s.result.status == 'certified' and not s.result.verify().refused
    with Session.open(tmp_path/'a.jsonl') as again:
        assert again.result.rule == s.result.rule and not again.notes

def test_a_lie_that_gains_next_to_nothing_is_none():
    "A rule that counts as proper (chapter 2) is one for the checker, too; a run once broke off."
    values = .1*np.ones((Z.M, Z.W))
    values[1] += 9.9e-9*Z.bound
    rule = ScoringRule(values, Z.support, Z.bound)
    arm = CLINIC.best_response(rule)
    said = next(i for i, q in enumerate(CLINIC.belief_distributions[arm]) if q > 0)
    past = [(rule, Z.arms[arm], Z.support[said])]
    assert identify(CLINIC, eps=.2, delta=.05, seed=0, history=past).status == 'certified'

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
