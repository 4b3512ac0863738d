"""The oTree app of examples/otree_app.py, played by a bot of oTree's; skipped without oTree
(pip install otree)."""
import importlib.util
import os
import subprocess
import sys

import pytest

from conftest import ROOT
from oia_nb.all import OIAError, Session, load_world

ROUNDS = 5
BOT = '''
from otree.api import *
from oia_nb.all import generator, load_world
from . import FIELDS, C, Offer, session

CLINIC = load_world('clinic')

class PlayerBot(Bot):
    def play_round(self):
        s = session()
        n = s.rounds
        assert f'name="offer" value="{s.announce().round}"' in self.html
        assert '<table>' in self.html and 'pays if malignant' in self.html
        r = CLINIC.respond(s.announce().rule, generator(3, n))
        said = {name: round(100*p, 1) for name, p in zip(FIELDS, r.report)}
        answer = dict(offer=s.announce().round, arm=C.ARMS[r.arm]) | said
        yield SubmissionMustFail(Offer, answer | dict.fromkeys(FIELDS, 99))
        # a page that was shown before, sent again
        yield SubmissionMustFail(Offer, answer | dict(offer=answer['offer'] - 1 or 9))
        assert s.rounds == n
        yield Offer, answer
        assert s.rounds == n + 1 and self.player.payoff == .25
'''

@pytest.mark.skipif(importlib.util.find_spec('otree') is None, reason='oTree is not installed')
def test_a_bot_answers_the_offers_of_a_session(tmp_path):
    "What it answers is in the journal; what is refused is said in the form and isn't."
    env = os.environ | {'PYTHONPATH': os.pathsep.join([str(ROOT), *sys.path])}
    def run(*words, cwd):
        return subprocess.run([sys.executable, *words], cwd=cwd, env=env, capture_output=True,
                              text=True, timeout=120)
    example = importlib.util.spec_from_file_location('otree_app', ROOT/'examples'/'otree_app.py')
    module = importlib.util.module_from_spec(example)
    example.loader.exec_module(module)
    path = tmp_path/'day.jsonl'
    Session.create(path, load_world('clinic'), eps=.04, delta=.05, currency='€', fee=.25).close()
    project = module.export(path, tmp_path/'project', rounds=ROUNDS)
    (project/'offers'/'tests.py').write_text(BOT)
    played = run('-c', 'from otree.main import execute_from_command_line as run; run()', 'test',
                 'offers', cwd=project)
    assert played.returncode == 0, played.stderr[-2000:]
    with Session.open(path, write=False) as s:
        assert s.rounds == ROUNDS and s.status == 'open'
    with pytest.raises(OIAError, match='does not exist yet'):
        module.export(path, project)
    failed = run(ROOT/'examples'/'otree_app.py', 'nowhere.jsonl', 'x', cwd=tmp_path)
    assert failed.returncode == 1 and failed.stderr.count('\n') == 1
    assert 'otree_app: ' in failed.stderr
