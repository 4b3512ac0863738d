"The page of results says what the stored runs say, and the stored runs are what the code gives."
import io
import json
import shutil
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import results as bench
from conftest import amount, ROOT
from oia_nb.run.experiments import experiment, planned

STATIC = ROOT/'nbs'/'_static'

stored = pd.read_csv(STATIC/'results.csv')
CELL = ['world', 'method', 'eps', 'mixing', 'share', 'a', 'budget', 'repetition']

# --- The file -------------------------------------------------------------------------

def test_file_is_small_and_plain():
    assert sum(path.stat().st_size for path in STATIC.glob('results*.csv')) < 500_000
    assert list(stored.columns) == bench.KEPT and set(stored.part) == set(bench.PARTS)
    assert np.isfinite(stored[['rounds', 'regret', 'eps']]).all(axis=None)
    assert not np.isinf(stored.select_dtypes('number')).any(axis=None)

@pytest.mark.parametrize('name', bench.PARTS)
def test_part_is_complete(name):
    "Every run of the definition is there, once, and no other."
    runs = planned(**bench.PARTS[name], seed=bench.SEED)[3].values()
    cells = pd.DataFrame([r['parameters'] | r for r in runs])
    wanted = pd.read_csv(io.StringIO(cells.reindex(columns=CELL).to_csv(index=False)))
    in_order = lambda frame: frame[CELL].sort_values(CELL, ignore_index=True)
    pd.testing.assert_frame_equal(in_order(stored[stored.part == name]), in_order(wanted),
                                  check_dtype=False)

def test_worlds_are_described_as_they_are():
    worlds = pd.read_csv(STATIC/'results_worlds.csv').set_index('world')
    assert set(worlds.index) == set(bench.WORLDS)
    for name in list(bench.WORLDS)[::4]:
        row, told = bench.world_row(name, bench.WORLDS[name]), worlds.loc[name]
        assert (row['K'], row['M'], row['B_S'], row['B_u']) == tuple(told[['K', 'M', 'B_S', 'B_u']])
        assert np.isclose(row['margin'], told.margin)
        assert np.allclose([float(g) for g in row['gaps'].split()],
                           [float(g) for g in told.gaps.split()])

def sample(name, thorough):
    "The shortest run of a part; with --release, and where runs are short, another by chance."
    rows = stored[stored.part == name].sort_values('rounds', kind='stable')
    cheap = rows[rows.rounds <= (20_000 if rows.method.isin(['oiafc']).all() else 100)]
    another = min(1, len(cheap)) if thorough else 0
    return pd.concat([rows.head(1), cheap.sample(another, random_state=1)])

@pytest.mark.parametrize('name', list(bench.PARTS)[::amount(4, 1)])
def test_rows_are_what_the_code_gives(name, request):
    part = bench.PARTS[name]
    for row in sample(name, request.config.getoption('--release')).to_dict('records'):
        method = part['methods'][row['method']]
        fixed = method[1] if isinstance(method, tuple) else {}
        grid = {k: [v for v in values if k not in row or v == row[k]] for k,
                values in part['grid'].items() if k not in fixed}
        again = bench.as_stored(experiment({row['world']: part['worlds'][row['world']]},
                                           {row['method']: method}, grid, [row['repetition']],
                                           bench.SEED, n_jobs=0), name).iloc[0]
        money = ['paid', 'lost', 'break_even']      # which older parts have not
        kept = [c for c in bench.KEPT[:-1] if c not in money or not pd.isna(row['paid'])]
        for column in kept:
            a, b = again[column], row[column]
            if isinstance(b, float) and not pd.isna(b):
                assert np.isclose(float(a), b, rtol=1e-7, atol=1e-7), (column, a, b)
            else:
                assert (pd.isna(a) and pd.isna(b)) or a == b, (column, a, b)

# --- The page -------------------------------------------------------------------------

def run_page(folder, monkeypatch):
    "Run the code of the page in `folder`, in which `_static` lies."
    cells = json.loads((ROOT/'nbs'/'handbook'/'results.ipynb').read_text(encoding='utf-8'))['cells']
    (folder/'handbook').mkdir(exist_ok=True)
    monkeypatch.chdir(folder/'handbook')
    plt.close('all')
    names = {}
    for c in cells:
        code = ''.join(line for line in c['source'] if not line.startswith('%'))
        if c['cell_type'] == 'code' and 'nbdev' not in code:
            exec(compile(code, 'results.ipynb', 'exec'), names)

@pytest.mark.parametrize('part, column',
                         [('eps', 'rounds'), ('gaps', 'arm_rounds'), ('arms', 'rounds'),
                          ('margin_paying', 'rounds'), ('shares', 'rounds'),
                          ('peers_sharp', 'regret'), ('budget_close', 'regret')][::amount(3, 1)])
def test_page_derives_from_the_file(part, column, tmp_path, monkeypatch):
    """With other numbers in the file, half as large and in the opposite order, what the page says
    of them is wrong, and it says so (that it is right as it stands is a test of notebooks)."""
    changed = stored.copy()
    rows = changed.part == part
    changed.loc[rows, column] = (changed.loc[rows, column].to_numpy()[::-1]/2).astype(
        changed[column].dtype)
    (tmp_path/'_static').mkdir()
    shutil.copy(STATIC/'results_worlds.csv', tmp_path/'_static')
    changed.to_csv(tmp_path/'_static'/'results.csv', index=False)
    with pytest.raises(AssertionError):
        run_page(tmp_path, monkeypatch)
