"""Every statistical test is registered with the wrong thing on which it turns red, and with the
power that it has against it."""
import ast
from importlib import import_module

import pytest

import laws
from conftest import ROOT

LEAST_POWER = .99
# what statistical tests compare with
LIMITS = {'binom', 'most_failures'}

# what registers them
REGISTERING = {'statistical', 'names_the_worst'}

def limits_in(source):
    "{name: whether registered} of the test functions of a file that name one of `LIMITS`."
    found = {}
    for node in ast.parse(source).body:
        if not (isinstance(node, ast.FunctionDef) and node.name.startswith('test_')):
            continue
        names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        decorators = {n.id for d in node.decorator_list for n in ast.walk(d)
                      if isinstance(n, ast.Name)}
        if names & LIMITS:
            found[node.name] = bool(decorators & REGISTERING)
    return found

def files():
    return sorted((ROOT/'tests').rglob('test_*.py'))

def registered():
    for path in files():
        if 'statistical(' in path.read_text(encoding='utf-8'):
            import_module(path.stem)
    return {name: entry for name, entry in laws.STATISTICAL.items() if name.startswith('test_')}

def test_every_statistical_test_is_registered():
    missing = {f'{path.name}::{name}' for path in files()
               for name, known in limits_in(path.read_text(encoding='utf-8')).items() if not known}
    assert not missing

def test_every_statistical_test_has_power():
    "The table: test, false alarm, planted fault, power against it."
    rows = [(name, entry.false_alarm, entry.planted, entry.power())
            for name, entry in registered().items()]
    for name, alarm, planted, power in rows:
        print(f'{name:60} {alarm:7.0e} {power:.6f}  {planted}')
    assert len(rows) >= 7
    assert all(alarm <= 1e-4 and power >= LEAST_POWER for _, alarm, _, power in rows)

@pytest.mark.parametrize('source, expected', [
    ('def test_a(): assert x <= binom.ppf(.9, 3, .1)', {'test_a': False}),
    ('@statistical(false_alarm=1, planted="", power=f)\ndef test_a(): assert x <= most_failures(3, '
     '.1)', {'test_a': True}), ('def test_a(): assert x <= 3', {})
])
def test_limits_are_found(source, expected):
    assert limits_in(source) == expected
