"""Opening a session of 1,000 rounds of the sharp learner, which plays the learner again.

    python benchmarks/session.py

Baseline: the same rounds without a session, by `simulate` with the same answers. The ratio is
what the journal costs on top of the learner: reading, checking the chain of hashes, the tape.
"""
import tempfile
import time
from pathlib import Path

import numpy as np

from oia_nb.all import Session, generator, load_world
from oia_nb.run.identification import learner_row
from oia_nb.game.information import Response
from oia_nb.game.oracle import action_informed_oracle

ROUNDS, REPEAT, MOST = 1000, 5, 3.      # MOST: seconds of this process that opening may take
WORLD = load_world('clinic')
TARGET = dict(eps=1e-5, delta=.05)


def record(path):
    "A session of `ROUNDS` rounds; returns the answers."
    answers = []
    with Session.create(path, WORLD, **TARGET) as s:
        while len(answers) < ROUNDS:
            offer = s.announce()
            r = WORLD.respond(offer.rule, generator(0, offer.round))
            s.answer(r.arm, list(r.report))
            answers.append((r.arm, WORLD.setting.index(r.report)))
    return answers


def alone(oracle, answers):
    "The learner with these answers, and no session."
    learner = learner_row('sharp').make(WORLD.setting, oracle, **TARGET)
    rule = next(learner)
    for arm, belief in answers:
        rule = learner.send(Response(arm, tuple(WORLD.setting.support[belief].tolist()), None))
    return rule


def timed(f):
    start = time.process_time()
    result = f()
    return time.process_time() - start, result


def main():
    with tempfile.TemporaryDirectory() as folder:
        path, oracle = Path(folder)/'session.jsonl', action_informed_oracle(WORLD)
        answers, seconds, ratios = record(path), [], []
        for _ in range(REPEAT):
            base, rule = timed(lambda: alone(oracle, answers))
            took, s = timed(lambda: Session.open(path, write=False))
            assert s.rounds == ROUNDS and (s._rule.values == rule.values).all()
            seconds.append(took)
            ratios.append(took/base)
    print(f'opening {ROUNDS:,} rounds takes {np.median(ratios):.2f} times what the learner alone '
          f'takes ({min(ratios):.2f} to {max(ratios):.2f})')
    said = 'yes' if np.median(seconds) <= MOST else 'no'
    print(f'at most {MOST:g} s of this process: {said}')
    return np.median(ratios)


if __name__ == '__main__':
    main()
