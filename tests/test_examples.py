"""The examples in docstrings run, and every name of the front door has one, or is in chapter 90.
They begin with the names of all modules, and the objects of `begin`, which the API page tells."""
import ast
import doctest
import inspect
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import oia_nb.all as oia
from conftest import ROOT, modules
from copies import read_notebook
from oia_nb.paper.complexity import problem_of
from oia_nb.paper.estimation import radius_fc
from oia_nb.paper.oiafc import Exploration, interact, never

NAMES = {name: getattr(m, name) for m in modules()[::-1] for name in getattr(m, '__all__', ())}
FUNCTIONS = {name: f for name, f in NAMES.items()
             if (inspect.isfunction(f) or inspect.isclass(f)) and '>>> ' in (f.__doc__ or '')}
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL

@pytest.fixture(scope='module')
def begin(tmp_path_factory):
    "What an example may name."
    clinic = oia.load_world('clinic')
    z, oracle, plans = clinic.setting, oia.action_informed_oracle(clinic), []
    run = Exploration(z, oracle, radius=lambda N, t: radius_fc(N, t, K=z.K, M=z.M, delta=.1),
                      mixing=lambda L, t: .5, watch=plans.append)
    oia.simulate(interact(run, never, 6), clinic, 0)
    found = oia.identify(clinic, eps=1., delta=.1, seed=0)
    star = {name: getattr(oia, name) for name in oia.__all__}
    return NAMES | star | dict(
        np=np, replace=replace, clinic=clinic, z=z, q=clinic.belief_distributions, oracle=oracle,
        best=oia.optimal_rule(clinic), run=run, plan=plans[-1], found=found, coin_run=found,
        radii=run.radius(run.transcript.N, run.rounds), coin=clinic,
        problem=problem_of(clinic, .5, .1), simple=oia.random_world(2, 2, 2, seed=0),
        folder=str(tmp_path_factory.mktemp('examples')), table=pd.DataFrame(dict(
            state=['sick', 'sound']*20, look=['bad', 'fine']*18 + ['fine', 'bad']*2)))

def failures(name, doc, names):
    "What the examples of a docstring print instead of what they say; None if there are none."
    test = doctest.DocTestParser().get_doctest(doc or '', dict(names), name, None, None)
    if not test.examples:
        return None
    said = []
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.append)
    return ''.join(said)

@pytest.mark.parametrize('name', {f: name for name, f in FUNCTIONS.items()}.values())
def test_example(name, begin):
    found = failures(name, FUNCTIONS[name].__doc__, begin)
    assert found == '', found

def test_every_name_of_the_front_door_has_an_example():
    cells = read_notebook(ROOT/'nbs'/'appendix'/'90_all.ipynb')['cells']
    code = [c['source'] for c in cells if c['cell_type'] == 'code' and '#| exp' not in c['source']]
    shown = {n.id for s in code for n in ast.walk(ast.parse(s)) if isinstance(n, ast.Name)}
    assert set(oia.__all__) - set(FUNCTIONS) <= shown, set(oia.__all__) - set(FUNCTIONS) - shown

@pytest.mark.parametrize('doc, said', [('>>> z.K\n3', ''), ('>>> z.K\n4', 'Expected'),
                                       ('>>> nobody', 'NameError'), ('no example', None)])
def test_a_wrong_example_is_found(doc, said, begin):
    found = failures('wrong', doc, begin)
    assert found is None if said is None else said in found and (said or not found)
