"""What type checkers and editors see: stubs that are those of the notebooks, and a right script
without an error and a wrong one with all of them.

Nothing here is left to chance.
"""
import re
import shutil
import subprocess
import sys

import build_stubs
import pytest
from conftest import amount, ROOT

def test_stubs_are_those_of_the_modules():
    made = build_stubs.stubs()
    there = {p.name: p.read_text(encoding='utf-8') for p in (ROOT/'oia_nb').glob('*.pyi')}
    other = [name for name in made.keys() | there.keys() if made.get(name) != there.get(name)]
    assert not other, f'{other} differ: run python nbs/build_stubs.py'
    assert (ROOT/'oia_nb'/'py.typed').exists()

@pytest.mark.parametrize('old, new, said', [
    ('oiafc.oiafc -> Learner\n', '', 'oiafc.oiafc: no line'),
    ('= eps float\n', '', 'no type for eps'),
    ('identification.add_rng', 'identification.add_rngs', 'no such function'),
    ('core.is_number x:Any', 'core.is_number y:Any', 'has no parameter y')
][:amount(2, 4)])
def test_a_hint_that_lacks_is_named(old, new, said, tmp_path):
    for name in 'nbs', 'oia_nb':
        (tmp_path/name).mkdir()
    for path in (ROOT/'oia_nb').glob('*.py'):
        shutil.copy(path, tmp_path/'oia_nb')
    text = (ROOT/'nbs'/'hints.txt').read_text(encoding='utf-8')
    assert text.count(old) == 1
    (tmp_path/'nbs'/'hints.txt').write_text(text.replace(old, new), encoding='utf-8')
    with pytest.raises(SystemExit, match=said):
        build_stubs.stubs(tmp_path)

def mypy(*words, cwd=ROOT):
    pytest.importorskip('mypy')
    run = subprocess.run([sys.executable, '-m', 'mypy', '--cache-dir', str(cwd/'.mypy_cache'),
                          *map(str, words)], cwd=ROOT, capture_output=True, text=True)
    return run.stdout

def test_a_right_script_passes(tmp_path):
    assert mypy(cwd=tmp_path).startswith('Success')

WRONG = {
    "optimal_rule('clinic')": 'incompatible type "str"; expected "World"',
    "load_world('clinic').wthout('biopsy')": 'has no attribute "wthout"',
    "identify(load_world('clinic'), eps='one', delta=.1)": 'expected "float"',
    "optimal_rule(load_world('clinic')).rule.menu().txt": '"Menu" has no attribute "txt"',
    "load_world('clinic').setting.index([.5], 2, 3)": 'Too many arguments'
}

def test_a_wrong_script_fails(tmp_path):
    (tmp_path/'wrong.py').write_text('from oia_nb.all import *\n' + '\n'.join(WRONG))
    lines = mypy(tmp_path/'wrong.py', cwd=tmp_path).splitlines()
    for n, said in enumerate(WRONG.values(), 2):
        assert any(re.search(rf'wrong.py:{n}: ', s) and said in s for s in lines), (n, lines)
    assert len(lines) == len(WRONG) + 1
