"""Worlds from tables: one population for all arms, whatever they look at, and every fault of a
table named. The laws are asserted on drawn tables."""
import time
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from oia_nb.all import InvalidInput, world_from_table
from oia_nb.worlds.tables import check_table, scored
from conftest import examples
from test_worlds import same

pytestmark = pytest.mark.filterwarnings('ignore:rare levels')

# --- Drawn tables ---------------------------------------------------------------------

def drawn(seed, n=60):
    "Columns s (the state), x and y (which depend on it) and z (which depends on y)."
    rng = np.random.default_rng(seed)
    n = int(rng.integers(n//3, n))
    W = int(rng.integers(2, 4))
    s = np.r_[np.arange(W), rng.choice(W, n - W, p=rng.dirichlet(np.ones(W)))]
    x = (s + rng.integers(0, 2, n)) % 3
    y = (s*rng.integers(0, 2, n) + rng.integers(0, 3, n)) % 4
    z = (y + rng.integers(0, 3, n)) % 3
    return {c: [f'{c}{i}' for i in v] for c, v in dict(s=s, x=x, y=y, z=z).items()}

CHAIN = {'nothing': [], 'x': ['x'], 'xy': ['x', 'y'], 'xyz': ['x', 'y', 'z']}

def world_of(table, arms=CHAIN, **options):
    "A world in which all of `arms` are free."
    return world_from_table(table, state='s', arms=arms, costs=[0.]*len(arms), bound=1.,
                            **dict(utility=np.eye(len(set(table['s'])))) | options)

many = settings(max_examples=examples(20), deadline=None)

@given(st.integers(0, 10**6), st.sampled_from([.01, .5, 1., 4., 100.]), st.booleans())
@many
def test_the_formula(seed, smoothing, given_prior):
    """Each arm is the sum over the common refinement, smoothed by its own marginal distributions,
    cell by cell: more columns are never worth less, and an independent one is worth nothing."""
    table = drawn(seed)
    states, n = sorted(set(table['s'])), len(table['s'])
    shares = np.array([table['s'].count(v) for v in states])/n
    prior = np.random.default_rng(seed).dirichlet(np.ones(len(states))) if given_prior else shares
    rows = list(zip(*(table[c] for c in 'xyz')))
    share = lambda c, s: sum(seen == (c, s) for seen in zip(rows, table['s']))/table['s'].count(s)
    likelihood = {c: np.array([share(c, s) for s in states]) for c in set(rows)}
    fine = {c: (n*prior*L + smoothing*prior*(prior@L))/(n+smoothing) for c, L in likelihood.items()}
    arms = CHAIN | {'z': ['z'], 'yx': ['y', 'x']}
    world = world_of(table, arms, smoothing=smoothing, prior=prior)
    for names, columns, p in zip(world.signals, arms.values(), world.structure.joint):
        for name, row in zip(names, p):
            want = sum(v for c, v in fine.items() if name == (', '.join(
                f'{k}={c["xyz".index(k)]}' for k in columns) or 'nothing'))
            assert np.abs(row - want).max() <= 1e-12

@given(st.integers(0, 10**6))
@many
def test_rows_in_another_order_or_repeated(seed):
    "The same world; an arm's part of it is the same whatever others look at."
    table, rng = drawn(seed), np.random.default_rng(seed)
    taken = lambda rows: {c: [values[i] for i in rows] for c, values in table.items()}
    n, world = len(table['s']), world_of(table)
    assert same(world, world_of(taken(rng.permutation(n))))
    alone = world_of(table, {'nothing': [], 'x': ['x']})
    assert (alone.structure.joint[1] == world.structure.joint[1]).all()
    times = rng.integers(0, 4, n)
    times[:3] = 2       # each state stays
    weighted = world_of(table | {'Freq': times.tolist()}, weights='Freq',
                        utility=np.eye(world.setting.W))
    assert same(weighted, world_of(taken(np.arange(n).repeat(times))))

GOODS = dict(state='s', arms={'a': ['x'], 'b': ['x', 'y'], 'c': []},
             costs={'a': 0, 'b': .1, 'c': 0}, utility={'u': [1, 0], 'v': [0, 1]}, bound=1)
ROWS = {'s': list('uuvuvvvu'), 'x': [1, 1, 2, 1, 2, 2, 1, 2], 'y': list('ppqqppqq')}
OWN = {'0 and 1': [0, 1], 'bools': [False, True], 'numpy integers': [np.int64(3), np.int64(4)],
       'numpy bools': [np.False_, np.True_], 'whole floats': [1., 2.],
       'numpy floats': [np.float64(1), np.float64(2)], 'numpy texts': [np.str_('a'), np.str_('b')]}

@pytest.mark.parametrize('kind', OWN)
@pytest.mark.parametrize('make', [list, np.array, pd.Series, pd.Categorical])
def test_the_columns_own_values_are_keys(kind, make):
    low, high = OWN[kind]
    column = make([low, high]*4)
    made = lambda utility, **more: world_from_table(
        {'s': column, 'x': [1, 1, 2, 2]*2}, state='s', arms={'a': ['x'], 'b': []},
        costs={'a': .1, 'b': 0}, utility=utility, bound=1, **more)
    plain = made([[1, 0], [.2, .7]])
    for a, b in (low, high), (column[0], column[1]), plain.setting.states:
        assert same(made({b: [.2, .7], a: [1, 0]}), plain)
        turned = made({a: [1, 0], b: [.2, .7]}, states=[b, a])
        assert turned.setting.states == plain.setting.states[::-1]
        told = made(plain.setting.utility, prior={b: .9, a: .1})
        assert told.structure.priors[0, 1] == pytest.approx(.9, abs=1e-12)

def test_labels_are_aligned():
    "Rows of utilities, states, decisions, costs: by label, wherever there are labels."
    world = world_from_table(ROWS, **GOODS)
    assert world.signals[0] == ('x=1', 'x=2') and world.signals[2] == ('nothing', )
    turned = world_from_table(ROWS, **GOODS, states=['v', 'u'])
    assert (turned.setting.utility == [[0, 1], [1, 0]]).all()
    assert (turned.structure.joint[1] == world.structure.joint[1][:, ::-1]).all()
    utility = pd.DataFrame([[0, .3], [1, .2]], index=['v', 'u'], columns=['stay', 'go'])
    rows = {'v': pd.Series({'go': .3, 'stay': 0}), 'u': {'stay': 1, 'go': .2}}
    made = lambda utility, **more: world_from_table(
        ROWS, **GOODS | dict(utility=utility, costs=pd.Series({'c': 0, 'b': .1, 'a': .05})) | more)
    assert made(utility).setting.decisions == ('stay', 'go')
    assert made(utility).costs.tolist() == [.05, .1, 0]
    for u, d, wanted in ((utility, None, [[1, .2], [0, .3]]),
                         (utility, ['go', 'stay'], [[.2, 1], [.3, 0]]),
                         (rows, ['stay', 'go'], [[1, .2], [0, .3]]),
                         (pd.DataFrame(utility.to_numpy()), None, utility.to_numpy())):
        assert (made(u, decisions=d).setting.utility == wanted).all()

def test_categories_keep_their_order():
    frame = pd.DataFrame(ROWS).assign(y=pd.Categorical(ROWS['y'], ['q', 'p', 'r'], ordered=True))
    assert world_from_table(frame, **GOODS).signals[1] == ('x=1, y=q', 'x=1, y=p',
                                                           'x=2, y=q', 'x=2, y=p')
    intervals = pd.DataFrame(ROWS).assign(x=pd.cut(pd.Series(ROWS['x']), [0, 1.5, 3]))
    assert world_from_table(intervals, **GOODS).signals[0] == ('x=(0.0, 1.5]', 'x=(1.5, 3.0]')

# --- Faults ---------------------------------------------------------------------------

MESSY = {'lump': ['hard', 'Hard', ' hard', 'hard', 'soft', 'soft', None, 'odd', 'soft', 'soft'],
         'size': [1.5, 2.25, 4., 1.75, 8.5, 3.25, 2.5, 6., float('nan'), 2.],
         'found': ['ill', 'ill', 'well', 'ill', 'well', 'well', 'ill', 'Well ', 'well', None]}
MESSY_WORLD = dict(state='found', arms={'a': ['lump', 'size'], 'b': []}, costs=[0, 0],
                   utility=[[1], [0]], bound=1)

def test_one_message_names_all_faults_with_counts():
    with pytest.raises(InvalidInput, match=r'^frame: got [^\n]*check_table') as e:
        world_from_table(MESSY, **MESSY_WORLD, rare=2)
    for part in ("column 'lump': no value in 1 row, the first is row 6", "column 'lump': ' hard' "
                 "(1 row), 'Hard' (1 row), 'hard' (2 rows) differ only by case or blanks",
                 "'odd' (1 row) in fewer than 2 rows",
                 "column 'size': 6 rows with a fraction, such as 1.5"):
        assert part in str(e.value), part

def test_faults_are_counted_by_weight():
    table = dict(s=['u', 'v', 'u', 'v', 'u'], x=['a', 'b', 'A', None, 'c'], n=[10, 20, 3, 7, 0])
    found = check_table(table, state='s', weights='n', rare=5).faults
    assert [(f.column, f.kind, f.counts) for f in found] == [('x', 'missing', {None: 7.}),
                                                             ('x', 'alike', {'A': 3., 'a': 10.}),
                                                             ('x', 'rare', {'A': 3.})]

@pytest.mark.parametrize('missing, lumps', [
    ('own class', ['hard', 'hard', 'hard', 'hard', 'soft', 'soft', 'missing', 'other', 'soft']),
    ('drop', ['hard', 'hard', 'hard', 'hard', 'soft', 'soft', 'other'])])
def test_fix_leaves_no_fault_and_tells_what_it_does(missing, lumps, capsys):
    for frame in (MESSY, pd.DataFrame(MESSY)):
        before = repr(frame)
        fixed = check_table(frame, state='found', rare=2).fix(rare=2, missing=missing, bins=2)
        said = capsys.readouterr().out
        for part in ("' hard' (1 row) is now 'hard'", "'odd' (1 row) is now 'other'",
                     "column 'size': cut at 2.5 into 1/2, 2/2",
                     "column 'found': no value in 1 row, dropped", "now 'missing'"
                     if missing == 'own class' else "column 'lump': no value in 1 row, dropped"):
            assert part in said, part
        assert repr(frame) == before
        assert check_table(fixed, state='found', rare=0).faults == ()
        assert list(fixed['lump']) == lumps
        assert world_from_table(fixed, **MESSY_WORLD, rare=0).setting.states == ('ill', 'well')

def left(table, capsys, **options):
    "The table after `fix`, and what it says is left."
    fixed = check_table(table, state='s').fix(**options).to_dict('list')
    said = capsys.readouterr().out.splitlines()
    return fixed, [line.removeprefix('left: ') for line in said if line.startswith('left: ')]

def test_fix_says_what_it_left(capsys):
    "Word for word what another look at the repaired table finds."
    names = [f'name {i}' for i in range(120)]
    table = dict(s=['u', 'v']*60, x=['a']*60 + ['b']*57 + ['c']*3, y=names, z=[None] + ['q']*119,
                 n=[i/7 for i in range(120)])
    for options in ({}, dict(rare=5), dict(bins=3), dict(missing='own class'),
                    dict(rare=5, missing='drop', bins=3), dict(missing='own class', bins={'n': 2})):
        fixed, said = left(table, capsys, **options)
        again = check_table(fixed, state='s', rare=5)
        plain = lambda lines: sorted(re.sub(r', the first is row \d+', '', line) for line in lines)
        assert plain(said) == plain(map(str, again.faults)), options
    assert any('pool its levels, or leave it out' in line for line in said)

def test_new_classes_have_names_of_their_own(capsys):
    "No class is merged into one that was there, whatever it is called."
    gap, rare = dict(missing='own class'), dict(rare=5)
    for how, before, after in (
            (gap, [('missing', 20), (None, 20)], [('missing', 20), ('missing2', 20)]),
            (gap, [('Missing ', 20), (None, 20)], [('Missing ', 20), ('missing2', 20)]),
            (gap, [('no', 20), (None, 20)], [('no', 20), ('missing', 20)]),
            (rare, [('other', 20), ('other2', 12), ('a', 4), ('b', 4)],
             [('other', 20), ('other2', 12), ('other3', 8)]),
            (rare, [('a', 32), ('other', 4), ('b', 4)], [('a', 32), ('other', 8)])):
        x, wanted = ([v for v, n in column for _ in range(n)] for column in (before, after))
        fixed, said = left(dict(s=['u', 'v']*20, x=x), capsys, **how)
        assert fixed['x'] == wanted and said == []

def test_one_number_of_bins_cuts_all_that_has_to_be_cut(capsys):
    "Also whole numbers of more levels than an arm may have, and numbers that came as text."
    for x in list(range(300)), [str(i) for i in range(300)], [f'{i/3:.3f}' for i in range(300)]:
        table = dict(s=['u', 'v']*150, x=x)
        assert 'cut it into classes' in str(check_table(table, state='s'))
        fixed, said = left(table, capsys, bins=4)
        assert said == [] and [fixed['x'].count(v) for v in sorted(set(fixed['x']))] == [75]*4
        assert fixed['x'] == sorted(fixed['x'])

def test_the_advice_helps(capsys):
    "What a refusal or a warning tells to do leaves nothing to refuse, or to warn of."
    r, arms = np.random.default_rng(0), {'a': ['x'], 'b': []}
    table = dict(s=r.choice(['u', 'v'], 900), x=r.integers(0, 9, 900), y=r.integers(0, 9, 900),
                 z=r.choice(list('abc'), 900))
    made = lambda t: world_of(t, {'all': ['x', 'y', 'z'], 'none': []})
    with pytest.raises(InvalidInput, match=r"fix\(bins={'x': 2, 'y': 2}\)"):
        made(table)
    assert made(check_table(table).fix(bins={'x': 2, 'y': 2})).structure.joint[0].shape[0] <= 12
    few = dict(s=['u', 'v']*40, x=['a']*40 + ['b']*37 + ['c']*3)
    pooled = dict(few, x=['a']*40 + ['b']*34 + ['c']*3 + ['d']*3)
    for t, told in ((few, r"column 'x': 'c' \(3 rows\) in fewer than 5 rows"),
                    (few, 'together they are still rare'), (pooled, r'fix\(rare=…\) pools them')):
        with pytest.warns(UserWarning, match=told):
            world_of(t, arms)
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        world_of(check_table(pooled, state='s').fix(rare=5), arms)
        world_of(few, arms, rare=3)

@pytest.mark.parametrize('mark', ['NA', 'n/a', ' - ', '?'])
def test_texts_that_may_stand_for_no_value(mark):
    "They are values, as a zone may be called NA; but they are pointed out."
    table = dict(s=['u', 'v']*20, x=[mark]*8 + ['a']*32)
    with pytest.warns(UserWarning, match=re.escape(repr(mark)) + ' .8 rows. may stand for'):
        world = world_of(table, {'a': ['x'], 'b': []})
    assert len(world.structure.joint[0]) == 2

def test_a_score_of_many_columns(capsys):
    "Six columns, too many to be told apart, make one arm. Costs may be intervals."
    pytest.importorskip('sklearn')
    rng = np.random.default_rng(0)
    truth = rng.random(400) < .4
    table = {f'c{i}': np.where(rng.random(400) < .7, truth, ~truth).astype(int) for i in range(5)}
    table |= dict(age=rng.normal(truth, 1.), truth=np.where(truth, 'bad', 'good'))
    world = world_from_table(
        table, state='truth', utility=np.eye(2), bound=1., costs=dict(guess=0., audit=(.01, .05)),
        arms=dict(guess=[], audit=scored([*(f'c{i}' for i in range(5)), 'age'], bins=4)))
    assert world.costs.tolist() == pytest.approx([0., .03])
    assert world.cost_ranges == ((0., 0.), (.01, .05))
    assert len(world.structure.joint[1]) == 4
    assert '4 classes of a score of 6 columns' in capsys.readouterr().out
    sure = world.structure.joint[1]/world.structure.joint[1].sum(1, keepdims=True)
    assert sure.max() > .8

@pytest.mark.parametrize('n', [2, 4, 7, 12])
def test_bins_are_about_equal(n):
    "And survive ties: of sixty zeros and 1 to 40 come fewer classes, all zeros in one."
    cut = lambda x: np.array(check_table(dict(x=list(x))).fix(bins=n)['x'])
    x = np.sort(np.random.default_rng(n).random(240))
    classes, sizes = np.unique(cut(x), return_counts=True)
    assert (cut(x) == classes.repeat(sizes)).all() and np.ptp(sizes) <= 1
    tied = cut([0.]*60 + [i + .5 for i in range(40)])
    assert len(set(tied[:60])) == 1 and 1 < len(set(tied)) <= max(n - 1, 2)
    assert (np.sort(tied) == tied).all() and len(set(cut([.5, .5]))) == 1

def test_many_rows_take_little_time():
    "100,000 rows of ten columns: 0.2 s on a machine of 2024, of which ten times is allowed."
    rng, n = np.random.default_rng(0), 100_000
    texts = np.array(['alpha', 'beta', 'gamma'])
    table = {f'x{i}': texts[rng.integers(0, 3, n)].tolist() for i in range(10)}
    table['s'] = texts[rng.integers(0, 2, n)].tolist()
    start = time.process_time()
    world_of(table, {f'arm {i}': [f'x{i}', f'x{(i + 1) % 10}'] for i in range(10)})
    assert time.process_time() - start < 2
