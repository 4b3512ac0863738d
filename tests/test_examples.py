"""The examples in docstrings run, and every public function has one.

They begin with `from oia_nb.all import *` and the objects of `begin`, which the API page tells.
Nothing here is left to chance.
"""
import doctest
import inspect
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import oia_nb.all as oia

FUNCTIONS = {
    name: getattr(oia, name)
    for name in oia.__all__ if inspect.isfunction(getattr(oia, name))
}
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL

@pytest.fixture(scope='module')
def begin(tmp_path_factory):
    "What an example may name."
    clinic = oia.load_world('clinic')
    z, oracle, plans = clinic.setting, oia.action_informed_oracle(clinic), []
    run = oia.Exploration(
        z, oracle, radius=lambda N, t: oia.radius_fc(N, t, K=z.K, M=z.M, delta=.1),
        mixing=lambda L, t: .5, watch=plans.append)
    oia.simulate(oia.interact(run, oia.never, 6), clinic, 0)
    star = {name: getattr(oia, name) for name in oia.__all__}
    return star | dict(
        np=np, replace=replace, clinic=clinic, z=z, q=clinic.belief_distributions,
        oracle=oracle, best=oia.optimal_rule(clinic), run=run, plan=plans[-1],
        radii=run.radius(run.transcript.N, run.rounds),
        found=oia.identify(clinic, eps=1., delta=.1, seed=0),
        problem=oia.problem_of(clinic, .5, .1), simple=oia.simple_world(2, 2, seed=0),
        folder=str(tmp_path_factory.mktemp('examples')), table=pd.DataFrame({
            'state': ['sick', 'sound']*20,
            'look': ['bad', 'fine']*18 + ['fine', 'bad']*2
        }))

def failures(name, doc, names):
    "What the examples of a docstring print instead of what they say; None if there are none."
    test = doctest.DocTestParser().get_doctest(doc or '', dict(names), name, None, None)
    if not test.examples:
        return None
    said = []
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.append)
    return ''.join(said)

@pytest.mark.parametrize('name', FUNCTIONS)
def test_example(name, begin):
    found = failures(name, FUNCTIONS[name].__doc__, begin)
    assert found is not None, f'{name} has no example'
    assert found == '', found

@pytest.mark.parametrize('doc, said', [('>>> z.K\n3', ''), ('>>> z.K\n4', 'Expected'),
                                       ('>>> nobody', 'NameError'), ('no example', None)])
def test_a_wrong_example_is_found(doc, said, begin):
    found = failures('wrong', doc, begin)
    assert found is None if said is None else said in found and (said or not found)
