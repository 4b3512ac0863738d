"""What type checkers and editors see: a right script without an error, a wrong one with all;
and values that are what annotations say. Nothing here is left to chance."""
import inspect
import json
import os
import re
import subprocess
import sys
import typing
from collections import abc
from dataclasses import InitVar
from functools import cached_property
from types import UnionType

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT, modules
from people import COIN, few
from oia_nb import all as front, core
from oia_nb.all import (LEARNERS, Session, Told, compare, forecast_rounds, identify, optimal_rule,
                        parse_expert)

def parts_of(f):
    "What of a function has no annotation; `self` needs none."
    inner = inspect.unwrap(getattr(f, 'fget', None) or getattr(f, 'func', None)
                           or getattr(f, '__func__', f))
    if not inspect.isfunction(inner) or not inner.__module__.startswith('oia_nb'):
        return set()
    named = inspect.signature(inner, follow_wrapped=False).parameters.keys() - {'self', 'cls'}
    return {*named, *['return']*(inner.__name__ != '__init__')} - inner.__annotations__.keys()

def public_functions():
    "The front door's functions, and the methods of its classes, with their names."
    for name in front.__all__:
        found = getattr(front, name)
        if inspect.isclass(found):
            yield from ((f'{name}.{key}', f) for key, f in vars(found).items()
                        if not key.startswith('_'))
        elif callable(found):
            yield name, found

def test_public_functions_say_their_types():
    every = dict(public_functions())
    bare = {name: parts for name, f in every.items() if (parts := parts_of(f))}
    assert not bare and len(every) > 150
    assert parts_of(core._short) == {'value', 'return'} and parts_of(len) == set()

# --- Values ---------------------------------------------------------------------------

# what annotations name, those of imports for type checkers only included
NAMES = {k: v for m in modules() for k, v in vars(m).items() if inspect.isclass(v)}
NAMES |= vars(abc) | dict(np=np, pd=pd, Any=typing.Any)

def resolved(text, owner):
    "An annotation of a class as a type."
    text = getattr(text, '__forward_arg__', text)      # as a NamedTuple keeps it
    if not isinstance(text, str):
        return text
    return eval(text, NAMES | vars(sys.modules[owner.__module__]))

def holds(kind, x):
    "Whether a value is of a type; Python's rule that an int is a float holds."
    if kind in (typing.Any, None) or isinstance(kind, (typing.TypeVar, InitVar)):
        return kind is not None or x is None
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, UnionType):
        return any(holds(k, x) for k in args)
    if origin is tuple and Ellipsis not in args:
        return isinstance(x, tuple) and len(x) == len(args) and all(map(holds, args, x))
    if not isinstance(x, (float, int) if kind is float else origin or kind):
        return False
    parts = x.items() if isinstance(x, dict) else zip(x) if isinstance(x, (list, tuple)) else ()
    return not args or all(all(map(holds, args, part)) for part in parts)

def annotated(x):
    "(name, annotation, value) of the fields and the public properties of a value."
    kind = type(x)
    for base in reversed(kind.__mro__):
        for name, text in inspect.get_annotations(base).items():
            if not name.startswith('_') and 'ClassVar' not in str(text):
                yield name, text, base, getattr(x, name)
    for base in kind.__mro__:
        for name, f in vars(base).items():
            if isinstance(f, (property, cached_property)) and not name.startswith('_'):
                f = getattr(f, 'fget', None) or f.func
                if 'return' in f.__annotations__:
                    yield name, f.__annotations__['return'], base, getattr(x, name)

def wrong_values(x, seen):
    "Lines on what isn't of its type in a value and in all that it is made of."
    if isinstance(x, (list, tuple, dict)) and not hasattr(x, '_fields'):
        for v in x.values() if isinstance(x, dict) else x:
            yield from wrong_values(v, seen)
        return
    if not type(x).__module__.startswith('oia_nb') or id(x) in seen or inspect.isclass(x):
        return
    seen[id(x)] = x
    for name, text, base, value in annotated(x):
        if not holds(resolved(text, base), value):
            yield f'{base.__name__}.{name}: {text}, but {value!r:.60}'
        yield from wrong_values(value, seen)

def results():
    "A run of every learner, ended as it may be."
    for name in LEARNERS:
        for more in {}, dict(budget=30):
            yield identify(COIN, method=name, seed=1, **few(name) | more)
    yield identify(COIN, eps=1., delta=.1, seed=1, told=Told(lapses=.02))

def others(folder):
    "What else a user gets."
    best = optimal_rule(COIN)
    yield from (COIN, best, best.rule.menu(), best.rule.rounded(2, COIN), list(LEARNERS.values()))
    yield from (forecast_rounds(COIN, eps=.2, delta=.1), best.rule.card(COIN.setting))
    yield compare([COIN], eps=2., delta=.1, methods=['oiafb'], repetitions=1, n_jobs=0)
    yield from map(parse_expert, ('lapsing:.1', 'logit:.1', 'noisy:.1', 'satisficing:.1'))
    with Session.create(folder/'s.jsonl', COIN, eps=1., delta=.1) as s:
        yield s.announce()
        yield s.answer('better', [.1, .9], state=1)
        s.stop()
        yield from (s, s.calibration())

def test_values_are_what_annotations_say(tmp_path):
    seen, wrong = {}, set()
    for x in [*results(), *others(tmp_path)]:
        wrong |= set(wrong_values(x, seen))
    assert not wrong, '\n'.join(sorted(wrong))
    kinds = {type(x) for x in seen.values()}
    assert len(kinds) > 30 and front.Identification in kinds

# --- Scripts --------------------------------------------------------------------------

WRONG = {
    "optimal_rule('clinic')": 'incompatible type "str"; expected "World"',
    "load_world('clinic').wthout('biopsy')": 'has no attribute "wthout"',
    "identify(load_world('clinic'), eps='one', delta=.1)": 'expected "float"',
    "optimal_rule(load_world('clinic')).rule.menu().txt": '"Menu" has no attribute "txt"',
    "load_world('clinic').setting.index([.5], 2, 3)": 'Too many arguments',
    "sharp(load_world('clinic').setting, 3, eps=.1, delta=.1)": 'expected "Oracle | None"',
    "oiafc(load_world('clinic').setting, 3, eps=.1, delta=.1)": 'expected "Oracle"',
    "Session.open('s.jsonl').answer(1., [1., 0.])": 'expected "int | str"',
    "identify(load_world('clinic'), eps=.1, delta=.1).certificate.bound":
    'Item "None" of "Certificate | None" has no attribute "bound"',
    "simulate_fast(load_world('clinic'), eps=.1, oracle=3)": 'expected "Oracle | None"'
}

USED = 'from oia_nb.all import *\nfrom oia_nb.fast.drive import simulate_fast\n'

def test_a_right_script_passes_and_a_wrong_one_fails(tmp_path):
    "In one run of mypy, which checks the package as well."
    pytest.importorskip('mypy')
    (tmp_path/'wrong.py').write_text(USED + '\n'.join(WRONG))
    run = subprocess.run(
        [sys.executable, '-m', 'mypy', '--cache-dir', os.devnull, 'oia_nb',
         'tests/typed.py', str(tmp_path/'wrong.py')], cwd=ROOT, capture_output=True, text=True)
    *lines, last = run.stdout.splitlines()
    wrong = [line for line in lines if 'wrong.py' in line]
    assert lines == wrong and re.search(r'checked \d\d+ source files', last)
    assert len(wrong) == len(WRONG)
    for (n, said), found in zip(enumerate(WRONG.values(), 1 + USED.count('\n')), wrong):
        assert f'wrong.py:{n}: ' in found and said in found

@pytest.mark.release
def test_an_editor_finds_nothing_wrong(tmp_path):
    "Pyright over the same files; a script with a fault, which only it sees, shows that it reads."
    pytest.importorskip('pyright')
    (tmp_path/'wrong.py').write_text("def f(x):\n    return len(x) + 'one'\n")
    run = subprocess.run(
        [sys.executable, '-m', 'pyright', '--pythonpath', sys.executable, '--outputjson',
         'oia_nb', 'tests/typed.py', str(tmp_path/'wrong.py')],
        cwd=ROOT, capture_output=True, text=True)
    said = json.loads(run.stdout)
    faults = [d for d in said['generalDiagnostics'] if d['severity'] == 'error']
    wrong = [d for d in faults if d['file'].endswith('wrong.py')]
    assert faults == wrong and len(wrong) == 1 and said['summary']['filesAnalyzed'] > 50
