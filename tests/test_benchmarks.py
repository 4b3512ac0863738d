"""Every script of the benchmarks runs, at a tiny size; what they stored says which commit made
it, and is what the learners give today.

Why: the scripts' tables are shown in chapters 25, 36 and 38 and on the page of results.
"""
import json
import subprocess
from importlib import import_module

import pandas as pd
import pytest

from conftest import amount, ROOT

STATIC = ROOT/'nbs'/'_static'
SHARP, EXPERTS, LIMITS = (json.loads((STATIC/f'{name}.json').read_text())
                          for name in ('sharp', 'experts', 'limits'))
TABLES = {name: SHARP[name] for name in ('suite', 'faithful', 'accuracy', 'money', 'parts')} | dict(
    small=[SHARP['small']], experts=EXPERTS, limits=LIMITS,
    results=pd.read_csv(STATIC/'results.csv').to_dict('records'))

def run_tiny(name, module, monkeypatch, tmp_path):
    "Run a script's parts, each as small as it can be."
    if name in ('sharp', 'experts'):
        copied = tmp_path/module.RESULTS.name
        copied.write_bytes(module.RESULTS.read_bytes())
        monkeypatch.setattr(module, 'RESULTS', copied)
    if name == 'sharp':
        monkeypatch.setattr(module, 'SMALL', 2)
        for part, rows in dict(suite=module.suite(1, worlds=[3]), money=module.money(1, worlds=[4]),
                               parts=module.parts(2, worlds=[2], names=['FLOOR']),
                               small=module.small(2)).items():
            module.file(part, rows)
        module.show(module.stored())
    elif name == 'experts':
        module.campaign(['sharp'], ['expert'], 1, 0.)
        assert module.cell('sharp', 'duo', 'expert', 1)['money']['lost'] > 0
        module.show()

    elif name == 'imports':
        module.seconds(module.COMMANDS['numpy'])
    elif name == 'large_rule':
        module.menus(module.random_world(2, 2, 2, 0, prior='arm'))
    elif name == 'session':
        monkeypatch.setattr(module, 'ROUNDS', 3)
        monkeypatch.setattr(module, 'REPEAT', 1)
        module.main()
    elif name == 'two_states':
        module.best_rules('small_clinic', module.load_world('small_clinic'), runs=1)
        module.rounds('tiny', module.stakes(4), 1e-5, budget=20, runs=1)

@pytest.mark.parametrize('name', [p.stem for p in (ROOT/'benchmarks').glob('*.py')])
def test_scripts_run(name, monkeypatch, tmp_path):
    run_tiny(name, import_module(name), monkeypatch, tmp_path)

@pytest.mark.release
def test_scripts_of_the_engine_run():
    engine = import_module('engine')
    assert engine.compare(engine.stakes(4), 'oiafb', runs=1, eps=.5, budget=200, a=1e-5)
    assert engine.growth(engine.load_world('clinic'), 2000)[0] == 2000

@pytest.mark.parametrize('name', TABLES)
def test_tables_name_the_commits_that_made_them(name):
    made = {str(row['commit']) for row in TABLES[name]}
    if not (ROOT/'.git').exists():
        pytest.skip('not a clone')
    known = subprocess.run(['git', '-C', ROOT, 'cat-file', '--batch-check=%(objecttype)'],
                           input='\n'.join(made), capture_output=True, text=True, check=True)
    assert known.stdout.split() == ['commit']*len(made)

# --- Some rows, played anew ---------------------------------------------------------------

@pytest.mark.parametrize('n', amount([2, 4], range(12)))
def test_the_suite_is_what_the_learner_gives(n):
    "The first run of the suite's n-th world: `clinic`, `wine` and ten random ones."
    bench = import_module('sharp')
    world, eps = bench.posed(n)
    stored = next(r for r in SHARP['suite'] if r['world'] == world.name)
    best, oracle = bench.optimal_rule(world), bench.action_informed_oracle(world)
    r = bench.play(world, oracle, best, eps, .05, bench.generator(7, 0))
    assert (r['rounds'], r['status']) == (stored['rounds'][0], stored['statuses'][0])
    assert (r['paid'], r['lost']) == pytest.approx((stored['paid'][0], stored['lost'][0]), abs=1e-3)

TRIED = ('trial', 'duo', 'logit:0.002')
PROVED = ('sharp', 'duo', 'expert'), ('patient', 'advert', 'lapsing:0.05')

@pytest.mark.parametrize('learner, world, kind', amount([TRIED], [TRIED, *PROVED]))
def test_the_ladder_is_what_learners_give(learner, world, kind):
    "The first run of some cells."
    stored = next(r for r in EXPERTS if (r['learner'], r['world'], r['expert'])
                  == (learner, world, kind))
    again = import_module('experts').cell(learner, world, kind, 1)
    assert (again['told'], again['money']['first']) == (stored['told'], stored['money']['first'])

def test_the_bounds_are_what_they_were():
    again, stored = import_module('limits').bounds(4), LIMITS[4]
    for name in set(stored) - {'commit', 'world'}:
        assert again[name] == pytest.approx(stored[name], rel=1e-3), name
