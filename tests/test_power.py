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
    names = lambda *nodes: {n.id for node in nodes for n in ast.walk(node)
                            if isinstance(n, ast.Name)}
    return {f.name: bool(names(*f.decorator_list) & REGISTERING) for f in ast.parse(source).body
            if isinstance(f, ast.FunctionDef) and f.name.startswith('test_') and names(f) & LIMITS}

FILES = {path: path.read_text(encoding='utf-8') for path in (ROOT/'tests').rglob('test_*.py')}

def test_every_statistical_test_is_registered():
    assert not {f'{path.name}::{name}' for path, source in FILES.items()
                for name, known in limits_in(source).items() if not known}

def test_every_statistical_test_has_power():
    "The table: test, false alarm, planted fault, power against it."
    for path in [path for path, source in FILES.items() if 'statistical(' in source]:
        import_module(path.stem)
    rows = [(name, entry.false_alarm, entry.planted, entry.power())
            for name, entry in laws.STATISTICAL.items() if name.startswith('test_')]
    for name, alarm, planted, power in rows:
        print(f'{name:60} {alarm:7.0e} {power:.6f}  {planted}')
        assert alarm <= 1e-4 and power >= LEAST_POWER
    assert len(rows) >= 9

@pytest.mark.parametrize('source, expected', [
    ('def test_a(): assert x <= binom.ppf(.9, 3, .1)', {'test_a': False}),
    ('@statistical(false_alarm=1, planted="", power=f)\ndef test_a(): assert x <= most_failures(3, '
     '.1)', {'test_a': True}), ('def test_a(): assert x <= 3', {})
])
def test_limits_are_found(source, expected):
    assert limits_in(source) == expected
