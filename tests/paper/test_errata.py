"""The page of errata is complete: every number has a row, a section, and verdicts of the kinds
that the page explains."""
import json
import re
import tomllib

import pytest
from conftest import ROOT

PAGE = ROOT/'nbs'/'paper'/'errata.ipynb'
NUMBERS = [f'E{i}' for i in range(1, 48)]
# Claims that don't hold as printed: each must have a counterexample.
FALSE = 'E1 E17 E18 E20 E21 E27 E30 E35 E37 E39'.split()

def records():
    path = ROOT/'nbs'/'_static'/'errata.toml'
    return tomllib.loads(path.read_text(encoding='utf-8'))['erratum']

def sections():
    "Label -> (heading, text, code) of each section that carries a label."
    found, label = {}, None
    for c in json.loads(PAGE.read_text(encoding='utf-8'))['cells']:
        source = ''.join(c['source'])
        if m := re.match(r'\((sec-[\w-]+)\)=\n#+ (.+)', source):
            label = m[1]
            assert label not in found, f'{label} twice'
            found[label] = [m[2], '', '']
        elif source.startswith('#') and c['cell_type'] == 'markdown':
            label = None
        elif label:
            found[label][1 if c['cell_type'] == 'markdown' else 2] += source + '\n'
    return found

def problems(rows, sections):
    "What is wrong with the page, one line each."
    found = [f'{n} has no row' for n in NUMBERS if n not in [r['number'] for r in rows]]
    found += [f'{r["number"]} has two rows' for i, r in enumerate(rows)
              if r['number'] in [o['number'] for o in rows[:i]]]
    for r in rows:
        heading, text, code = sections.get(f'sec-{r["number"].lower()}', ('', '', ''))
        if not heading.startswith(r['number'] + '.'):
            found.append(f'{r["number"]} has no section')
        if not re.search(r'\bassert\b|\btest_', code):
            found.append(f'{r["number"]}: nothing is checked')
        if r['kind'] != 'none' and '**Instead' not in text:
            found.append(f'{r["number"]}: nothing is put in its place')
        if r['number'] in FALSE and r['shown'] != 'counterexample':
            found.append(f'{r["number"]}: a false claim needs a counterexample')
    return found

def test_errata():
    assert problems(records(), sections()) == []

def test_references():
    "Each reference to a section of this page, from any page, has its target."
    labels = set(sections())
    for path in (ROOT/'nbs').rglob('*.ipynb'):
        for target in re.findall(r'\bsec-e\d+\b', path.read_text(encoding='utf-8')):
            assert target in labels, f'{path.name}: {target}'

@pytest.mark.parametrize(
    'fault, expected',
    [(lambda rows, s: rows.pop(6), 'E7 has no row'),
     (lambda rows, s: rows.append(rows[3]), 'E4 has two rows'),
     (lambda rows, s: s.pop('sec-e17'), 'E17 has no section'),
     (lambda rows, s: s['sec-e30'].__setitem__(2, 'x = 8'), 'E30: nothing is checked'),
     (lambda rows, s: s['sec-e3'].__setitem__(1, 'It is wrong.'),
      'E3: nothing is put in its place'),
     (lambda rows, s: rows[36].update(shown='run'),
      'E37: a false claim needs a counterexample')])
def test_check_finds_fault(fault, expected):
    rows, found = records(), sections()
    fault(rows, found)
    assert expected in problems(rows, found)
