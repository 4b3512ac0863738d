"""The laws hold, and each is able to fail: every broken variant of `mutants.toml` is caught by the
law, or by the test, that is named there, and so are learners that return another thing; each
row of the ledger of claims that names tests is held against something wrong."""
import importlib
import importlib.util
import re
import shutil
import sys
import tomllib
from dataclasses import replace
from functools import partial
from pathlib import Path
import numpy as np
import pytest
from hypothesis import Phase, settings
from conftest import ROOT, amount, file_of
import oia_nb
from oia_nb.paper import complexity
import laws
from laws import chen, etc, oiafb, oiafc
from test_claims import records, test_exists

TABLE = tomllib.loads((ROOT/'tests'/'mutants.toml').read_text(encoding='utf-8'))
MUTANTS, CONSTANTS = TABLE['mutant'], TABLE['constant']

def few(mutants):
    "One mutant of each law, its first, and some of those that tests catch; with --release all."
    firsts = list({m['by']: m for m in reversed(mutants) if 'law_' in m['by']}.values())
    tests = [m for m in mutants if 'law_' not in m['by']]
    return amount(firsts + tests[::4], mutants)

def named(m):
    return m.get('name') or f'{m["claim"]}, {m["by"]}'

def not_python(folder, names):
    "What a copy of the package leaves out of a folder: the pages, and compiled kernels."
    below = [n for n in names if (Path(folder)/n).is_dir()]
    if Path(folder).name == '__pycache__':
        return below
    return [n for n in below if n in ('js', 'chapters')]

class Package:
    "While entered, `oia_nb` and `laws` are imports of a copy in which one text is replaced."
    def __init__(self, folder, module=None, old=None, new=None):
        shutil.copytree(Path(oia_nb.__file__).parent, folder/'oia_nb', ignore=not_python)
        self.folder = folder
        if module is None:
            return
        [path] = (folder/'oia_nb').rglob(f'{module}.py')
        text = path.read_text(encoding='utf-8')
        path.write_text(laws.replaced(text, old, new), encoding='utf-8')
        for compiled in path.parent.glob(f'__pycache__/{path.stem}.*.pyc'):
            compiled.unlink()
    def __enter__(self):
        mine = [name for name in sys.modules if name.split('.')[0] == 'oia_nb']
        self.before = {name: sys.modules.pop(name) for name in mine}
        sys.path.insert(0, str(self.folder))
        importlib.invalidate_caches()
        spec = importlib.util.spec_from_file_location('laws_of_copy', laws.__file__)
        copy = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(copy)
        return copy
    def __exit__(self, *exc):
        sys.path.remove(str(self.folder))
        for name in [n for n in sys.modules if n.split('.')[0] == 'oia_nb']:
            del sys.modules[name]
        sys.modules.update(self.before)

def test_a_place_is_found_however_its_lines_are_broken():
    for source in ('if a: b = f(x, y)', 'if a:\n    b = f(x,\n          y)', 'if a: b=f(x,y)'):
        assert laws.replaced(source, 'a: b = f(x, y)', 'a: b = 0') == 'if a: b = 0'
    for source in ('b = 12', 'b = 1; b = 1', 'ab = 1'):
        with pytest.raises(AssertionError):
            laws.replaced(source, 'b = 1', 'b = 2')

# --- Learners -------------------------------------------------------------------------

def returning(change, learner, setting, oracle, **options):
    "A learner as `learner`, whose result is replaced by `change(setting, oracle, result)`."
    steps = learner(setting, oracle, **options)
    rule = next(steps)
    while True:
        try:
            rule = steps.send((yield rule))
        except StopIteration as stop:
            return replace(stop.value, **change(setting, oracle, stop.value))

def another(setting, oracle, r):
    "The oracle's rule of another arm, though it is answered otherwise than the arm that is best."
    arm = (r.arm + 1) % setting.K
    return dict(rule=oracle.rules[arm], arm=arm)

def pay_all(setting, oracle, r):
    "A rule that pays as much as the bound allows, whatever is reported."
    all_of_it = np.full((1, setting.W), setting.bound)
    return dict(rule=laws.menu_rule(setting.support, all_of_it, setting.bound))

def smaller(setting, oracle, r):
    "Half of the bound that is certified."
    return dict(certificate=r.certificate and replace(r.certificate, bound=r.certificate.bound/2))

LEARNERS = dict(law_oiafc=oiafc, law_oiafb=oiafb, law_chen=chen, law_etc=etc)

@pytest.mark.parametrize('change', amount([another, smaller], [another, smaller, pay_all]))
@pytest.mark.parametrize('law', LEARNERS)
def test_wrong_result_is_caught(law, change):
    with pytest.raises(AssertionError):
        laws.LAWS[law](partial(returning, change, LEARNERS[law]))

def test_oracle_rule_is_caught():
    "The rule of the oracle for the arm that was found: right about the arm, and too dear."
    dear = lambda z, oracle, r: dict(rule=oracle.rules[r.arm])
    with pytest.raises(AssertionError):
        laws.not_too_dear(partial(returning, dear, oiafc))

# --- Laws and mutants -----------------------------------------------------------------

@pytest.mark.parametrize('law', laws.LAWS.values(), ids=list(laws.LAWS))
def test_law(law):
    law()

@pytest.mark.parametrize('m', few(CONSTANTS), ids=named)
def test_wrong_constant_is_caught(m):
    broken = laws.bounds(m['old'], m['new'])
    with pytest.raises(AssertionError):
        laws.LAWS[m['by']](broken)

def test_unchanged_copies_obey(tmp_path):
    "What catches mutants is the change, not the copying; of the bounds, a law without --release."
    for law in amount({'law_depth'}, {m['by'] for m in CONSTANTS}):
        laws.LAWS[law](laws.bounds('C_GAP', complexity.C_GAP))
    with Package(tmp_path) as copy:
        copy.law_search()

@pytest.fixture
def first_failure():
    "Hypothesis is content with the first example that fails, and seeks no simpler one."
    before = settings.get_current_profile_name()
    settings.register_profile('first failure', settings.get_profile(before),
                              phases=[Phase.explicit, Phase.generate])
    settings.load_profile('first failure')
    yield
    settings.load_profile(before)

def freshly(test):
    "A test, from a fresh import of its file."
    name, function = test.split('::')
    spec = importlib.util.spec_from_file_location(f'copy_of_{name[:-3]}', file_of(name))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, function)

def reasons(e):
    return [r for x in e.exceptions for r in reasons(x)] if isinstance(e, ExceptionGroup) else [e]

@pytest.mark.parametrize('m', few(MUTANTS), ids=named)
def test_mutant_is_caught(m, tmp_path, monkeypatch, first_failure):
    "A test may also fail since nothing is raised that should be."
    with Package(tmp_path, m['module'], m['old'], m.get('new', '')) as copy:
        assert copy.optimal_rule.__code__.co_filename.startswith(str(tmp_path))
        monkeypatch.setitem(sys.modules, 'laws', copy)
        check = copy.LAWS.get(m['by']) or freshly(m['by'])
        red = (*copy.BROKEN, pytest.fail.Exception)
        with pytest.raises((*red, ExceptionGroup)) as found:
            check(*m.get('args', ()))
        assert all(isinstance(r, red) for r in reasons(found.value))

# --- The tables -----------------------------------------------------------------------

def test_every_mutant_has_its_place():
    "Its text occurs once where it is said to; and what catches it exists."
    others = dict(checker='verify', constant='complexity')
    for m in [row | dict(module=row.get('module', others.get(kind))) for kind, rows in TABLE.items()
              for row in rows if row['old'] not in ('C_GAP', 'C_EPS')]:
        [path] = Path(oia_nb.__file__).parent.rglob(f'{m["module"]}.py')
        laws.replaced(path.read_text(encoding='utf-8'), m['old'], m.get('new', ''))
    assert all(m['by'] in laws.LAWS or test_exists(m['by']) for m in MUTANTS)

def test_enough_mutants():
    "Each law has one, and so has each module that proves something."
    by = {m['by'] for m in MUTANTS + CONSTANTS if m['by'] in laws.LAWS}
    assert len(MUTANTS + CONSTANTS) >= 80 and by | set(LEARNERS) == set(laws.LAWS)
    assert {m['module'] for m in MUTANTS} >= {'around', 'payoffs', 'session',
                                              'examination', 'experts'}

# Rows of the ledger whose test shows in itself that it can fail, and on what.
BY_THEMSELVES = {'Eq. (49)', 'Table 1, in appendix B', 'Lemma 6, eq. (12)'}

def test_every_row_of_the_ledger_is_held():
    "If it names tests: by a law with a mutant, by a mutant of its own, or by itself."
    rows = {r['claim']: r for r in records() if r['tests']}
    of_rows = {m['claim']: m['by'] for m in MUTANTS if 'claim' in m}
    caught = {m['by'] for m in MUTANTS + CONSTANTS} | set(LEARNERS)
    laws_of = lambda r: set(re.findall(r'test_law\[(\w+)\]', ' '.join(r['tests'])))
    held = {*of_rows, *BY_THEMSELVES}
    assert [c for c, r in rows.items() if not laws_of(r) & caught and c not in held] == []
    assert held <= set(rows)
    assert [m['claim'] for m in MUTANTS if m['by'] not in rows.get(m.get('claim'), {}).get(
        'tests', [m['by']])] == []
