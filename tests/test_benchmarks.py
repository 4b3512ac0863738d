"""Every script of the benchmarks runs, at a tiny size; what they stored says which commit made it,
and is what the learners give today; and the page of results says what is stored."""
import io
import json
import shutil
import subprocess
from importlib import import_module
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import results
from conftest import amount, ROOT
from copies import read_notebook
from oia_nb.run.experiments import experiment, planned

STATIC = ROOT/'nbs'/'_static'
RUNS = pd.read_csv(STATIC/'results.csv')
SHARP, EXPERTS, LIMITS = (json.loads((STATIC/f'{name}.json').read_text())
                          for name in ('sharp', 'experts', 'limits'))
TABLES = {name: SHARP[name] for name in ('suite', 'faithful', 'accuracy', 'money', 'parts')} | dict(
    small=[SHARP['small']], experts=EXPERTS, limits=LIMITS,
    results=RUNS.to_dict('records'))

def run_tiny(name, module, monkeypatch, tmp_path):
    "Run a script's parts, each as small as it can be."
    if name in ('sharp', 'experts'):
        copied = shutil.copy(module.RESULTS, tmp_path)
        monkeypatch.setattr(module, 'RESULTS', Path(copied))
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
        for many in 'ROUNDS', 'REPEAT':
            monkeypatch.setattr(module, many, 3)
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

# --- The page of results --------------------------------------------------------------

CELL = ['world', 'method', 'eps', 'mixing', 'share', 'a', 'budget', 'repetition']

def in_order(frame):
    return frame[CELL].sort_values(CELL, ignore_index=True)

@pytest.mark.parametrize('name', results.PARTS)
def test_part_is_complete(name):
    "Every run of the definition is there, once, and no other."
    runs = planned(**results.PARTS[name], seed=results.SEED)[3].values()
    cells = pd.DataFrame([r['parameters'] | r for r in runs])
    wanted = pd.read_csv(io.StringIO(cells.reindex(columns=CELL).to_csv(index=False)))
    pd.testing.assert_frame_equal(in_order(RUNS[RUNS.part == name]), in_order(wanted),
                                  check_dtype=False)

def test_files_are_small_and_worlds_are_described_as_they_are():
    assert sum(path.stat().st_size for path in STATIC.glob('results*.csv')) < 500_000
    assert list(RUNS.columns) == results.KEPT and set(RUNS.part) == set(results.PARTS)
    assert np.isfinite(RUNS[['rounds', 'regret', 'eps']]).all(axis=None)
    worlds = pd.read_csv(STATIC/'results_worlds.csv').set_index('world')
    assert set(worlds.index) == set(results.WORLDS)
    for name in list(results.WORLDS)[::4]:
        row, told = results.world_row(name, results.WORLDS[name]), worlds.loc[name]
        numbers = lambda row: [*row[['K', 'M', 'B_S', 'B_u', 'margin']],
                               *map(float, row.gaps.split())]
        assert numbers(pd.Series(row)) == pytest.approx(numbers(told))

def sample(name, thorough):
    "The shortest run of a part; with --release, and where runs are short, another by chance."
    rows = RUNS[RUNS.part == name].sort_values('rounds', kind='stable')
    cheap = rows[rows.rounds <= (20_000 if rows.method.isin(['oiafc']).all() else 100)]
    another = min(1, len(cheap)) if thorough else 0
    return pd.concat([rows.head(1), cheap.sample(another, random_state=1)])

@pytest.mark.parametrize('name', list(results.PARTS)[::amount(4, 1)])
def test_rows_are_what_the_code_gives(name, request):
    part = results.PARTS[name]
    for _, row in sample(name, request.config.getoption('--release')).iterrows():
        method = part['methods'][row.method]
        fixed = method[1] if isinstance(method, tuple) else {}
        grid = {k: [v for v in values if k not in row or v == row[k]] for k,
                values in part['grid'].items() if k not in fixed}
        again = results.as_stored(experiment({row.world: part['worlds'][row.world]},
                                             {row.method: method}, grid, [row.repetition],
                                             results.SEED, n_jobs=0), name)
        # which older parts have not
        money = ['paid', 'lost', 'break_even']*pd.isna(row.paid)
        both = [frame.drop(columns=['commit', *money]).reset_index(drop=True).astype(object)
                for frame in (again, row.to_frame().T)]
        pd.testing.assert_frame_equal(*(x.where(x.notna(), None) for x in both),
                                      check_dtype=False, rtol=1e-7, atol=1e-7)

def run_page(folder, monkeypatch):
    "Run the code of the page in `folder`, in which `_static` lies."
    (folder/'handbook').mkdir()
    monkeypatch.chdir(folder/'handbook')
    plt.close('all')
    names = {}
    for c in read_notebook(ROOT/'nbs'/'handbook'/'results.ipynb')['cells']:
        if c['cell_type'] == 'code' and 'nbdev' not in c['source']:
            exec('\n'.join(s for s in c['source'].split('\n') if not s.startswith('%')), names)

@pytest.mark.parametrize('part, column',
                         [('eps', 'rounds'), ('gaps', 'arm_rounds'), ('arms', 'rounds'),
                          ('margin_paying', 'rounds'), ('shares', 'rounds'),
                          ('peers_sharp', 'regret'), ('budget_close', 'regret')][::amount(3, 1)])
def test_page_derives_from_the_file(part, column, tmp_path, monkeypatch):
    "With half the numbers in the opposite order the page is wrong, and its cells say so."
    changed = RUNS.copy()
    rows = changed.part == part
    changed.loc[rows, column] = (changed.loc[rows, column].to_numpy()[::-1]/2).astype(
        changed[column].dtype)
    (tmp_path/'_static').mkdir()
    shutil.copy(STATIC/'results_worlds.csv', tmp_path/'_static')
    changed.to_csv(tmp_path/'_static'/'results.csv', index=False)
    with pytest.raises(AssertionError):
        run_page(tmp_path, monkeypatch)
