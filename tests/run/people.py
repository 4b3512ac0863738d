"""Simulated people who answer the offers of a session, and what a session holds after it."""
import json

from laws import COIN  # noqa: F401
from oia_nb.all import LEARNERS, generator, load_world, make_world, random_world
from oia_nb.run.session import chained, read_journal

CLINIC = load_world('clinic')
Z = CLINIC.setting
WORLD = random_world(2, 2, 2, 5, prior='arm', margin=.05)
TARGET = dict(eps=.04, delta=.05)
SHORT = dict(eps=.5*WORLD.setting.B, delta=.1, method='oiafc', max_rounds=60)
THREE = random_world(2, 3, 3, 1, margin=.01)
TESTS = make_world([[[.30, .20], [.20, .30]], [[.47, .03], [.03, .47]]], [0., .02],
                   [[1., 0.], [0., 1.]], 1., name='two tests')

# coarse enough for every learner to come to an end of its own in `COIN`
EPS = dict(sharp=.1, patient=.1, own_beliefs=.5, open_support=1., trial=.3)

def few(method, budget=200):
    "With these options a learner ends soon, by itself or by the budget that it needs."
    row = LEARNERS[method]
    needed = dict(budget=budget) if row.needs_budget or 'samples' in row.options else {}
    return dict(eps=EPS.get(method, 2.), delta=.1) | needed

def reply(offer, world=CLINIC):
    "What the expert answers to an offer, the same whenever it is asked."
    return world.respond(offer.rule, generator(3, offer.round))

def answer(s, world=CLINIC, offer=None, rng=None):
    """The expert answers the open offer; its `SessionRound`. Without `rng` two of three states are
    known at once, and all of them if the learner needs them; with it, all are."""
    offer = offer or s.announce()
    r = world.respond(offer.rule, rng) if rng else reply(offer, world)
    known = rng or offer.round % 3 or s.head['method'] == 'own_beliefs'
    return s.answer(r.arm, list(r.report), round=offer.round, state=r.state if known else None)

def play(s, rounds=10**9, world=CLINIC, rng=None):
    "Offers are answered until the session is over, or so many answers stand."
    while s.status == 'open' and s.rounds < rounds:
        answer(s, world, rng=rng)

def held(s):
    "What a session holds, in plain values, beside the time."
    best = s.best and (s.best.arm, round(s.best.bound, 9))
    return (s.status, s.rounds, round(s.paid, 9), round(s.owed, 9), s.unused, best,
            json.loads(s.to_frame().to_json(orient='records')))

def journal_of(records):
    "The bytes of a journal with these records, and with hashes that are right."
    text, previous = '', ''
    for record in records:
        previous = chained(previous, record)
        text += json.dumps(record | {'hash': previous}) + '\n'
    return text.encode()

def records_of(path):
    "The records of a session's file."
    return read_journal(path.read_bytes())[0]
