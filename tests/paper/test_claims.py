"""The ledger of claims is complete, and each of its rows leads somewhere.

Every labelled or numbered statement and every numbered equation of the paper has a row; what a row
names (a place in the book, a test, an erratum, a verdict) exists; and a verdict has what it takes:
a correction its erratum, a refutation its counterexample, an abstention its reason. Each erratum
has its record, and a section with a check.
"""
import ast
import copy
import json
import re
import tomllib
from functools import cache
import pytest
from jsonschema import Draft202012Validator
from nbdev.config import get_config
from nbdev.doclinks import nbglob
import paper_refs
from conftest import ROOT, file_of
from paper_refs import equations, ledger as records

PAGE = ROOT/'nbs'/'paper'/'claims.ipynb'

# The paper's statements and numbered equations, with the labels of its source, or `-` for none.
PRINTED = paper_refs.table()['items']
KINDS = set('Definition Assumption Example Lemma Theorem Corollary Algorithm Remark'.split())
STATEMENTS = {paper_refs.name(i): i['label'] or '-' for i in PRINTED if i['kind'] in KINDS}
STATEMENTS |= {'Section 4.3, $\\text{UCB-LP}_{k,t}$': 'opt5', 'Section 3.1, protocol': 'sec2.1'}
EQUATIONS = {int(i['number']): i['label'] or '-' for i in PRINTED
             if i['kind'] == 'eq.' and i['number']}
ERRATA = [f'E{i}' for i in range(1, 48)]

# --- What there is --------------------------------------------------------------------

@cache
def cells(path):
    return [(c['cell_type'], ''.join(c['source']), c['metadata'])
            for c in json.loads(path.read_text(encoding='utf-8'))['cells']]

def read(name):
    return tomllib.loads((ROOT/'nbs'/'_static'/name).read_text(encoding='utf-8'))

def has_check(source):
    return bool(re.search(r'\bassert\b|\btest_\w+\(', source))

def places():
    """{label, or chapter, or chapter#heading: whether a code cell of its section is a check},
    over all notebooks that run as tests."""
    found = {}
    for path in nbglob(get_config().nbs_path, as_path=True):
        page = path.relative_to(ROOT/'nbs').with_suffix('').as_posix()
        section, checked = [page], {}
        for kind, source, meta in cells(path):
            if kind == 'markdown' and (m := re.match(r'(?:\(\S+\)=\n)?#+ (.+)', source)):
                slug = re.sub(r'[^\w\- ]', '', m[1].lower()).strip().replace(' ', '-')
                section = [page, f'{page}#{slug}']
            if kind == 'markdown':
                labels = r'(?m)^:label: (\S+)|^\((\S+)\)=$|\$\$ \((eq-[\w-]+)\)'
                section += [''.join(found) for found in re.findall(labels, source)]
            if name := meta.get('mystnb', {}).get('figure', {}).get('name'):
                section.append(name)
            for place in section:
                checked[place] = checked.get(place, False) or (kind == 'code' and has_check(source))
        found |= checked
    return found

@cache
def functions(path):
    "Names of the top-level functions of a file."
    return {node.name for node in ast.parse(path.read_text(encoding='utf-8')).body
            if isinstance(node, ast.FunctionDef)}

def test_exists(name):
    "Whether `test_file.py::test_name`, or `::test_law[law_name]`, is a test."
    m = re.fullmatch(r'(test_\w+\.py)::(test_\w+)(?:\[(\w+)\])?', name)
    if not m or not file_of(m[1]) or m[2] not in functions(file_of(m[1])):
        return False
    return m[3] is None or (m[2] == 'test_law' and m[3] in functions(ROOT/'tests'/'laws.py'))
test_exists.__test__ = False

# --- What is wrong --------------------------------------------------------------------

def unclaimed(rows):
    "Statements and equations of the paper without a row that names their number and their label."
    named = lambda r, name: re.match(re.escape(name) + r'(?!\d)', r['claim'])
    found = [f'{name} has no row' for name, label in STATEMENTS.items()
             if not any(named(r, name) and (label == '-' or label in r['labels']) for r in rows)]
    return found + [f'equation ({n}) has no row' for n, label in EQUATIONS.items()
                    if not any(n in equations(r['claim']) and (label == '-' or label in r['labels'])
                               for r in rows)]

def problems(rows, places, errata):
    "What is wrong with the ledger, one line each."
    found, shown = unclaimed(rows), {e['number']: e['shown'] for e in errata}
    known = {*STATEMENTS.values(), *EQUATIONS.values()}
    for r in rows:
        for names, exists, what in (
                (r['labels'], known.__contains__, 'the paper has no label'),
                (r['here'], places.__contains__, 'no place'), (r['tests'], test_exists, 'no test'),
                (r['errata'], shown.__contains__, 'no erratum')):
            found += [f'{r["claim"]}: {what} {name}' for name in names if not exists(name)]
        checked = r['tests'] or any(places.get(p) for p in r['here'])
        if not checked and r['verdict'] != 'not checkable':
            found.append(f'{r["claim"]}: nothing checks it')
        of_errata = [shown.get(e) for e in r['errata']]
        if r['verdict'] == 'false as printed' and 'counterexample' not in of_errata:
            found.append(f'{r["claim"]}: false, without a counterexample')
    found += [f'{n}: no section with a check' for n in ERRATA if not places.get(f'sec-{n.lower()}')]
    claims, numbers = [r['claim'] for r in rows], [e['number'] for e in errata]
    found += [f'{c} has two rows' for c in dict.fromkeys(claims) if claims.count(c) > 1]
    return found + [f'{n} has not one row' for n in ERRATA if numbers.count(n) != 1]

@pytest.fixture(scope='module')
def book():
    return records(), places(), read('errata.toml')['erratum']

def test_claims(book):
    assert problems(*book) == []

def test_records(book):
    assert len(STATEMENTS) == 34 and len(EQUATIONS) == 58 and len(book[0]) > 80

SCHEMA = Draft202012Validator(json.loads((ROOT/'nbs'/'_static'/'ledger.schema.json').read_text()))

def test_records_have_their_form():
    for name in ('claims.toml', 'errata.toml'):
        SCHEMA.validate(read(name))

@pytest.mark.parametrize('file, fault', [
    ('claims.toml', dict(verdict='holds')), ('claims.toml', dict(here=[])),
    ('claims.toml', dict(tests=['test_scoring.py'])), ('claims.toml', dict(remark='new')),
    ('claims.toml', dict(errata=[])), ('claims.toml', dict(instead='')),
    ('claims.toml', dict(verdict='not checkable', instead='')),
    ('claims.toml', dict(verdict='false as printed', errata=[])),
    ('errata.toml', dict(kind='blunder')), ('errata.toml', dict(survives='maybe')),
    ('errata.toml', dict(corrected=''))])
def test_form_finds_fault(file, fault):
    "Of the first record; a verdict asks for what it takes."
    wrong = read(file)
    next(iter(wrong.values()))[0].update(fault)
    assert not SCHEMA.is_valid(wrong)

def test_page_shows_every_part(book):
    "Each part's table is on the page, under a heading of the same name."
    headings = {m[1] for kind, source, _ in cells(PAGE) if kind == 'markdown'
                and (m := re.match('## (.+)', source))}
    tables = [re.match(r"table\('(.+)'\)$", source)[1] for kind, source, _ in cells(PAGE)
              if kind == 'code' and source.startswith('table(')]
    parts = dict.fromkeys(r['part'] for r in book[0])
    assert set(parts) <= headings
    assert [[t for t in tables if p.startswith(t)] for p in parts] == [[t] for t in tables]

# --- And it can tell ------------------------------------------------------------------

def row(rows, claim):
    return next(r for r in rows if r['claim'] == claim)

def drop(claim):
    return lambda rows, places, errata: rows.remove(row(rows, claim))

def put(name, **fields):
    return lambda rows, places, errata: row(rows, name).update(fields)

@pytest.mark.parametrize(
    'fault, expected',
    [(drop('Remark 2'), 'Remark 2 has no row'), (drop('Eq. (22)'), 'equation (22) has no row'),
     (drop('Lemma 7, eqs. (27) to (31)'), 'equation (29) has no row'),
     (put('Lemma 3', labels=['lemma4']), 'Lemma 3 has no row'),
     (put('Lemma 3', labels=['lemmasample1', 'l99']), 'Lemma 3: the paper has no label l99'),
     (put('Lemma 3', claim='Lemma 4'), 'Lemma 4 has two rows'),
     (lambda rows, places, errata: errata.pop(6), 'E7 has not one row'),
     (lambda rows, places, errata: errata.append(errata[3]), 'E4 has not one row'),
     (lambda rows, places, errata: places.pop('sec-e17'), 'E17: no section with a check'),
     (put('Lemma 3', here=['lem-tau1', 'lem-nowhere']), 'Lemma 3: no place lem-nowhere'),
     (put('Lemma 5', tests=['test_guarantees.py::play']),
      'Lemma 5: no test test_guarantees.py::play'),
     (put('Lemma 4', errata=['E21', 'E99']), 'Lemma 4: no erratum E99'),
     (put('Lemma 14, eq. (55)', errata=['E38']),
      'Lemma 14, eq. (55): false, without a counterexample'),
     (lambda rows, places, errata: places.update({'sec-claims-gap': False, 'lem-tau1': False}),
      'Eqs. (17), (18): nothing checks it')])
def test_check_finds_fault(fault, expected, book):
    faulty = copy.deepcopy(book)
    fault(*faulty)
    assert expected in problems(*faulty)
