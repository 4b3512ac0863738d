"""A day with an expert, from the first offer to the rule that is found.

    python examples/session.py [FILE]

Forty answers are typed, four of them wrongly; one case is declined, two truths come late, one
answer is taken back. In the middle of the day the process is killed (SIGKILL), as a power cut
would end it. Another one goes on with the file.

Nobody sits here: what the expert types is made by a simulated one. To run a real session,
replace `typed` by `input`.
"""
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from oia_nb.all import Refused, Session, generator, load_world

CLINIC = load_world('clinic')

# What is typed, line by line. "*" stands for what the expert really did and believes.
MORNING = ['telepathy 50 50', *'***', 'imaging 90 90', *'**', 'decline in surgery', *'**',
           'imaging likely', *'****', 'reveal 2 benign', *'*****']
AFTERNOON = [*'***', 'palpation 30', *'***', 'reveal 3 benign', *'*',
             'undo 20 line of another patient', *'*************']


def expert(offer):
    "What the expert does and believes when it is handed an offer."
    return CLINIC.respond(offer.rule, generator(1, offer.round))


def typed(line, offer):
    "A line as it is typed: arm and percentages for \"*\"."
    if line != '*':
        return line
    r = expert(offer)
    return ' '.join([CLINIC.setting.arms[r.arm], *(f'{100*p:.1f}' for p in r.report)])


def enter(s, line):
    "Do what a typed line says."
    word, _, rest = line.partition(' ')
    if word == 'decline':
        return s.decline(rest)
    if word == 'undo':
        number, _, reason = rest.partition(' ')
        return s.undo(int(number), reason)
    if word == 'reveal':
        number, _, state = rest.partition(' ')
        return s.reveal(int(number), state)
    report = [float(p) if p.replace('.', '').isdigit() else p for p in rest.split()]
    s.answer(word, report)


def work(s, lines):
    "Enter line after line; what is refused is said, and the round stays open."
    for line in lines:
        offer = s.announce()
        said = typed(line, offer)
        try:
            enter(s, said)
            print(f'{offer.round:3} {said}')
        except Refused as e:
            print(f'{offer.round:3} {said}  -> refused: {e}')


def morning(path):
    "The first process: it never comes to its end."
    with Session.create(path, CLINIC, eps=.04, delta=.05, currency='€') as s:
        print(s.announce())
        work(s, MORNING)
        sys.stdout.flush()
        os.kill(os.getpid(), signal.SIGKILL)


def afternoon(path):
    "The second process goes on, and stops; returns what was found."
    with Session.open(path) as s:
        print(f'resumed: {s}')
        work(s, AFTERNOON)
        found = s.stop()
        print(s)
        print(found.rule.menu().text(s.setting, currency='€'))
    return found


def main(path):
    ended = subprocess.run([sys.executable, __file__, '--morning', path])
    print('killed:', ended.returncode == -signal.SIGKILL)
    afternoon(path)


if __name__ == '__main__':
    if sys.argv[1:2] == ['--morning']:
        morning(sys.argv[2])
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(sys.argv[1] if sys.argv[1:] else str(Path(folder)/'day.jsonl'))
