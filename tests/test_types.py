"""What type checkers and editors see: stubs that are those of the notebooks, and a right script
without an error and a wrong one with all of them.

Nothing here is left to chance.
"""
import ast
import re
import shutil
import subprocess
import sys
from functools import cache

import build_stubs
import export
import pytest
from conftest import amount, ROOT

@cache
def stubs():
    return build_stubs.stubs()


def test_stubs_are_those_of_the_modules():
    made = stubs()
    package = ROOT/'oia_nb'
    there = {p.relative_to(package).as_posix(): p.read_text(encoding='utf-8')
             for p in package.rglob('*.pyi')}
    modules = {p.relative_to(package).with_suffix('.pyi').as_posix()
               for p in package.rglob('*.py') if not p.stem.startswith('_')}
    assert there.keys() == modules
    other = [name for name in made.keys() | there.keys() if made.get(name) != there.get(name)]
    assert not other, f'{other} differ: run python nbs/build_stubs.py'
    assert (ROOT/'oia_nb'/'py.typed').exists()

@pytest.mark.parametrize('old, new, said', [
    ('oiafc.oiafc -> Learner\n', '', 'oiafc.oiafc: no line'),
    ('= eps float\n', '', 'no type for eps'),
    ('identification.learner_row', 'identification.learner_rows', 'no such function'),
    ('core.is_number x:Any', 'core.is_number y:Any', 'has no parameter y'),
    ('sharp.learner.sharp examined', 'sharp.learner.blunt examined', 'sharp.learner.sharp: no line')
][:amount(1, 5)])
def test_a_hint_that_lacks_is_named(old, new, said, tmp_path):
    (tmp_path/'nbs').mkdir()
    shutil.copytree(ROOT/'oia_nb', tmp_path/'oia_nb')
    text = (ROOT/'nbs'/'hints.txt').read_text(encoding='utf-8')
    assert text.count(old) == 1
    (tmp_path/'nbs'/'hints.txt').write_text(text.replace(old, new), encoding='utf-8')
    with pytest.raises(SystemExit, match=said):
        build_stubs.stubs(tmp_path)

ATTACHED = """
class A:
    x = 1

@dataclass
class B:
    y: int
# how many
MANY = TWO = 2
def twice(f):
    return f
# a remark
@patch_to(A)
@twice
def text(self, n=MANY):
    "What it says."
    return f\'\'\'
{n}
  \'\'\'

@patch_to(C)
def z(self):
    return 0
@patch_to(B)
@property
def both(self):
    return self.y, TWO
_all_ = ['text']
"""

WHOLE = """
# how many
MANY = TWO = 2

def twice(f):
    return f

class A:
    x = 1

    # a remark
    @twice
    def text(self, n=MANY):
        "What it says."
        return f\'\'\'
{n}
  \'\'\'

@dataclass
class B:
    y: int

    @property
    def both(self):
        return self.y, TWO
text = A.text
@patch_to(C)
def z(self):
    return 0
_all_ = ['text']
"""

def test_methods_stand_in_their_classes():
    """With their decorators and remarks, below what their defaults need; a string keeps its lines,
    and a class of another module its place."""
    assert export.fold(ATTACHED) == WHOLE == export.fold(WHOLE)

def test_classes_are_whole():
    modules = [ast.parse(path.read_text(encoding='utf-8'))
               for path in (ROOT/'oia_nb').rglob('*.py')]
    classes = [{n.name for n in tree.body if isinstance(n, ast.ClassDef)} for tree in modules]
    assert sum(map(len, classes)) > 100
    assert not [node.name for tree, own in zip(modules, classes) for node in tree.body
                if export.owner(node) in own]

@pytest.fixture(scope='module')
def mypy(tmp_path_factory):
    "mypy as a function of its arguments, whose later runs know what earlier ones found."
    pytest.importorskip('mypy')
    cache = tmp_path_factory.mktemp('mypy')
    return lambda *words: subprocess.run(
        [sys.executable, '-m', 'mypy', '--cache-dir', str(cache), *map(str, words)], cwd=ROOT,
        capture_output=True, text=True).stdout

def test_classes_of_one_name_keep_their_own_methods():
    "`Rounded` is a rule in tickets and an expert in experts; only one shows itself in HTML."
    made = stubs()
    own = {name: re.search(r'(?s)\nclass Rounded.*?(?=\n\S)', made[f'{name}.pyi'])[0]
           for name in ('tickets', 'experts')}
    assert '_repr_html_' in own['tickets'] and '_repr_html_' not in own['experts']

def test_a_right_script_passes(mypy):
    assert mypy().startswith('Success')

WRONG = {
    "optimal_rule('clinic')": 'incompatible type "str"; expected "World"',
    "load_world('clinic').wthout('biopsy')": 'has no attribute "wthout"',
    "identify(load_world('clinic'), eps='one', delta=.1)": 'expected "float"',
    "optimal_rule(load_world('clinic')).rule.menu().txt": '"Menu" has no attribute "txt"',
    "load_world('clinic').setting.index([.5], 2, 3)": 'Too many arguments',
    "sharp(load_world('clinic').setting, 3, eps=.1, delta=.1)": 'expected "Oracle"',
    "Engine(load_world('clinic'), 3, np.random.default_rng())": 'expected "Oracle"'
}

USED = 'import numpy as np\nfrom oia_nb.all import *\nfrom oia_nb.fast.loop import Engine\n'

def test_a_wrong_script_fails(mypy, tmp_path):
    (tmp_path/'wrong.py').write_text(USED + '\n'.join(WRONG))
    lines = mypy(tmp_path/'wrong.py').splitlines()
    for n, said in enumerate(WRONG.values(), 1 + USED.count('\n')):
        assert any(re.search(rf'wrong.py:{n}: ', s) and said in s for s in lines), (n, lines)
    assert len(lines) == len(WRONG) + 1
