"""The wrong kind of thing, where a name or a number is the likely slip: one line of the package's
own, which names the argument and says what would do.

Nothing here is left to chance.
"""
from dataclasses import dataclass, replace

import numpy as np
import pytest
from oia_nb.all import (InvalidInput, Setting, action_informed_oracle, experiment, generator,
                        identify, load_world, make_world, optimal_rule, principal_profit, register,
                        sharp, simulate, world_from_table)
from oia_nb.worlds import check_table
from oia_nb.cli import main
from oia_nb.experiments import forecast
from oia_nb.identification import LEARNERS, Row
from oia_nb.information import Agent
from oia_nb.learner import Finding, finish, learner
from oia_nb.oracle import bound_needed

CLINIC = load_world('small_clinic')
Z, ORACLE = CLINIC.setting, action_informed_oracle(CLINIC)
BEST = optimal_rule(CLINIC)
TARGET = dict(eps=1., delta=.1)

@dataclass(frozen=True, eq=False)
class Number(Agent):
    "An agent whose best reply is no `Reply`."
    def best_reply(self, world, rule):
        return 1

WRONG = replace(CLINIC, agent=Number())
COLUMNS = dict(costs=[0, 1], utility=np.eye(2), bound=1.)

SLIPS = [
    ('world', 'load_world', lambda: bound_needed('clinic')),
    ('world', 'load_world', lambda: identify('clinic', **TARGET)),
    ('methods', 'list', lambda: forecast(CLINIC, **TARGET, methods='sharp')),
    ('methods', 'list', lambda: experiment([CLINIC], 'sharp', TARGET, 1, 0, n_jobs=0)),
    ('watch', 'a function', lambda: identify(CLINIC, **TARGET, watch=3)),
    ('learner', 'simulate(learner, world',
     lambda: simulate(CLINIC, sharp(Z, ORACLE, **TARGET), 0)),
    ('learner', 'a learner', lambda: simulate(3, CLINIC, 0)),
    ('world', 'load_world', lambda: simulate(sharp(Z, ORACLE, **TARGET), Z, 0)),
    ('currency', 'text', lambda: BEST.rule.card(Z, currency=3)),
    ('title', 'text', lambda: BEST.rule.card(Z, title=3)),
    ('digits', 'integer', lambda: BEST.rule.card(Z, digits='two')),
    ('digits', 'from 0', lambda: BEST.rule.card(Z, digits=-1)),
    ('digits', 'from 0', lambda: BEST.rule.menu().text(Z, digits=-1)),
    ('best_reply of Number', 'Reply', lambda: identify(WRONG, **TARGET)),
    ('best_reply of Number', 'Reply', lambda: principal_profit(WRONG, BEST.rule)),
    ('best_reply of Number', 'Reply', lambda: WRONG.best_response(BEST.rule)),
    ('best_reply of Number', 'Reply', lambda: WRONG.respond(BEST.rule, generator(0))),
    ('state', 'two states', lambda: world_from_table(
        dict(y=['a']*30, x=['u', 'v', 'w']*10), state='y', arms={'l': ['x'], 'g': []}, **COLUMNS)),
    ('joint[0]', 'two states', lambda: make_world([[[.5], [.5]], [[1.]]], [0, 1], [[1.]], 1.)),
    ('support', 'two states', lambda: Setting([[1.]], [[1.]], 1., 2))
]

@pytest.mark.parametrize('n', range(len(SLIPS)))
def test_slips(n):
    argument, wanted, f = SLIPS[n]
    with pytest.raises(InvalidInput) as e:
        f()
    assert e.value.argument.startswith(argument) and wanted in str(e.value)
    assert len(str(e.value)) < 240 and '\n' not in str(e.value)

def test_bounds_are_plain_numbers():
    assert {type(b) for b in bound_needed(CLINIC).values()} == {float}

def test_a_column_twice():
    "The column is named, the table isn't printed."
    pd = pytest.importorskip('pandas')
    frame = pd.DataFrame([[1, 2, 'a'], [0, 1, 'b']]*10, columns=['x', 'x', 'y'])
    for f in (lambda: check_table(frame), lambda: check_table(frame, state='x'),
              lambda: world_from_table(frame, state='y', arms={'l': ['x'], 'g': []}, **COLUMNS)):
        with pytest.raises(InvalidInput, match="got 'x', expected a name that one column"):
            f()

@learner
def unlimited(setting, oracle, *, eps, delta):
    "A learner that asks each rule of the oracle once, and knows no limit on its rounds."
    from oia_nb.estimation import Transcript
    from oia_nb.learner import ask_oracle
    run = Transcript(setting)
    for k in range(setting.K):
        yield from ask_oracle(run, oracle, k)
    return finish(run, Finding(oracle.rules[0], 0), status='uncertified', eps=eps, delta=delta)

def test_a_learner_without_a_limit(capfd):
    "Called with a budget: one line, in Python and by the command; called without: it plays."
    register(Row('unlimited', unlimited, 'asks each rule once', statuses=('uncertified', )))
    try:
        assert identify(CLINIC, **TARGET, method='unlimited').rounds == Z.K
        with pytest.raises(InvalidInput, match='budget: got 50.*unlimited takes no limit'):
            identify(CLINIC, **TARGET, method='unlimited', budget=50)
        line = 'identify small_clinic --eps 1 --delta 0.1 --method unlimited --budget 50'
        assert main(line.split()) == 2
        assert 'takes no limit on its rounds' in capfd.readouterr().err
    finally:
        LEARNERS.pop('unlimited')

def test_runs_of_a_plan(capfd):
    "None may be asked for; fewer than none are refused in these words."
    assert main('plan small_clinic --eps 1 --delta 0.1 --runs 0'.split()) == 0
    assert main('plan small_clinic --eps 1 --delta 0.1 --runs -1'.split()) == 2
    assert 'integer of at least 0' in capfd.readouterr().err
