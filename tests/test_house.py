"""How the parts of the package hang together, how pages and docstrings read, and a new learner that
is one row of a table. Nothing here is left to chance."""
import ast
import re
from collections import Counter
from dataclasses import replace
from functools import cache, partial
from graphlib import CycleError, TopologicalSorter
from importlib.util import resolve_name
from pathlib import Path
from types import SimpleNamespace
import pytest
import oia_nb
from conftest import amount, ROOT
from check_site import wide_code
from copies import read_notebook
from laws import COIN as coin
from oia_nb.all import InvalidInput, action_informed_oracle, identify, simulate
from oia_nb.core import as_integer
from oia_nb.paper.estimation import Transcript
from oia_nb.run.learner import STATUS, Finding, Status, ask_oracle, finish, learner
from oia_nb.run.experiments import compare, suite
from oia_nb.run.identification import LEARNERS, Flag, Row

PACKAGE = Path(oia_nb.__file__).parent
parsed = cache(ast.parse)      # several tests read all modules

# --- Imports --------------------------------------------------------------------------

def module_of(path):
    parts = path.relative_to(PACKAGE.parent).with_suffix('').parts
    return '.'.join(parts[:-1] if parts[-1] == '__init__' else parts)

def is_aside(node):
    "Whether a node is a block for type checkers, or a method that imports and calls one function."
    if isinstance(node, ast.If):
        return ast.unparse(node.test) == 'TYPE_CHECKING'
    if not isinstance(node, ast.FunctionDef) or not node.args.args:
        return False
    body = node.body[1 if ast.get_docstring(node) is not None else 0:]
    return (node.args.args[0].arg in ('self', 'cls') and len(body) == 2
            and isinstance(body[0], ast.ImportFrom)
            and isinstance(getattr(body[1], 'value', None), ast.Call)
            and ast.unparse(body[1].value.func) == body[0].names[0].name)

def imports_of(path):
    """(source, names) of all that a module imports from others of the package, wherever it stands;
    but for what only type checkers follow, and for a method of two lines that asks a later one."""
    tree = parsed(path.read_text(encoding='utf-8'))
    aside = {id(n) for part in ast.walk(tree) if is_aside(part) for n in ast.walk(part)}
    package = module_of(path if path.name == '__init__.py' else path.parent/'__init__.py')
    for node in (n for n in ast.walk(tree) if id(n) not in aside):
        found = []
        if isinstance(node, ast.Import):
            found = [(a.name, set()) for a in node.names]
        elif isinstance(node, ast.ImportFrom):
            source = resolve_name('.'*node.level + (node.module or ''), package)
            found = [(source, {a.name for a in node.names})]
        yield from (x for x in found if x[0].split('.')[0] == 'oia_nb')

def below(imports):
    "{module: the modules it takes names from}, but for the package as a whole."
    return {module: {taken for source, names in found for taken in
                     {f'{source}.{n}' for n in names} & set(imports) or {source}}
            - {'oia_nb', module} for module, found in imports.items()}

def circle(arrows):
    "Modules each of which imports the next one, and the last one the first; None without any."
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as e:
        return e.args[1]

def test_every_arrow_points_down():
    "No circle of imports, those inside functions included."
    imports = {module_of(path): list(imports_of(path)) for path in sorted(PACKAGE.rglob('*.py'))}
    assert len(sum(imports.values(), [])) > 50 and circle(below(imports)) is None
    planted = imports | {'oia_nb.core': [('oia_nb', {'all'})]}
    assert set(circle(below(planted))) >= {'oia_nb.core', 'oia_nb.all'}

# --- Rooms of a human size ------------------------------------------------------------

SOURCES = {module_of(path): path.read_text(encoding='utf-8') for path in PACKAGE.rglob('*.py')}
FUNCTION = 45         # lines at most, of decorators, signature and body; a docstring aside

def long_functions(source):
    "Functions, however deep inside, of more than `FUNCTION` lines."
    for node in ast.walk(parsed(source)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first, said = min([node.lineno, *(d.lineno for d in node.decorator_list)]), node.body[0]
            doc = 0 if ast.get_docstring(node) is None else said.end_lineno - said.lineno + 1
            if node.end_lineno - first + 1 - doc > FUNCTION:
                yield node.name

def test_no_function_is_longer_than_a_screen():
    assert [name for source in SOURCES.values() for name in long_functions(source)] == []
    for head, lines in ('def f():', 44), ('class C:\n  def f(self):', 44), (
            '@d\ndef f(x,\n      y):', 42), ('def f():\n    """1\n    2"""', 44):
        for more, long in (0, []), (1, ['f']):
            assert [*long_functions(head + '\n    x = 0'*(lines + more))] == long

# every module that reports has the first; `views` gives the second to many classes
IN_EACH = {'log', '_repr_html_'}

def defined(source):
    "The names that a module gives: to functions and classes, as often as it does, and to values."
    values = set()
    for node in parsed(source).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        targets = getattr(node, 'targets', [getattr(node, 'target', None)])
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            values |= {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
    yield from values

def shared_names(sources):
    "The names that two modules define, or one twice."
    count = Counter(name for source in sources for name in defined(source))
    return {name for name, n in count.items()
            if n > 1 and name not in IN_EACH and not name.startswith('__')}

def test_one_word_is_one_thing():
    """No name, public or private, is given by two modules: who reads it knows whose it is. A cell
    that came in twice is found as well; the linter lets it pass, since `__all__` uses its names."""
    assert shared_names(SOURCES.values()) == set()
    pair = ['X, Y = 1, 2\ndef f(): pass\nlog = 1', 'class f: pass\nY: int = 3\nlog = 2']
    assert shared_names(pair) == {'f', 'Y'}
    assert shared_names(['def f(): 1\ndef g(): 1\ndef f(): 2']) == {'f'}

def sources(page, kind):
    return [c['source'] for c in page if c['cell_type'] == kind]

def test_the_paper_in_one_sitting_stays_one_sitting():
    "At most 4,000 words, 500 lines and 72 columns, and one call of a solver."
    page = read_notebook(ROOT/'nbs'/'paper'/'one_sitting.ipynb')['cells']
    code = sources(page, 'code')
    lines = [line for cell in code for line in cell.split('\n') if line.strip()]
    assert len(' '.join(sources(page, 'markdown')).split()) <= 4000 and len(lines) <= 500
    assert max(map(len, lines)) <= 72 and sum('linprog(' in line for line in lines) == 1
    until = next(n for n, cell in enumerate(code) if 'oia_nb' in cell)
    taken = {n for cell in code[:until] for n in re.findall(r'(?m)^(?:import|from) (\w+)', cell)}
    assert taken == {'typing', 'matplotlib', 'numpy', 'scipy'}

def test_code_fits_into_its_column():
    assert list(wide_code(ROOT)) == []

# --- Prose ----------------------------------------------------------------------------

READ = sorted((ROOT/'nbs').rglob('[!_]*.ipynb'))
READ += [*sorted((ROOT/'nbs').rglob('[!_]*.md')), ROOT/'CHANGELOG.md', ROOT/'CONTRIBUTING.md']
WORDS_OF = dict(paragraph=120, sentence=40)
END = re.compile(r'(?<=[.!?:;])\s+(?=["(*`]*[A-Zx\d`])')       # of a sentence

def paragraphs(text):
    "The paragraphs of a page's Markdown, a formula or a role as one word; no tables, no headings."
    text = re.sub(r'(?ms)^```.*?^```', '', text)
    text = re.sub(r'(?s)\$\$.*?\$\$(?: \([\w-]+\))?', 'F.', text)
    text = re.sub(r'\{[\w:]+\}`[^`]*`|\$[^$]*\$', 'x', text)
    text = re.sub(r'\[([^\]]*)\]\([^)]*\)', r'\1', text)
    for paragraph in re.split(r'\n\s*\n|\n(?=[-*|:] |\d+\. )', text):
        if not re.match(r'\s*(?:\||:|#|\()', paragraph):
            yield ' '.join(paragraph.split())

def too_long(text):
    "The paragraphs and the sentences of a text that nobody can read aloud."
    for paragraph in paragraphs(text):
        parts = [('paragraph', paragraph)]
        parts += [('sentence', s) for s in END.split(paragraph)]
        yield from (part for kind, part in parts if len(part.split()) > WORDS_OF[kind])

FORBIDDEN = re.compile(r'\b[Ww]hoever\b|\b[Ss]omebody\b|\bthereby\b|'
                       r'\b(?:for|to|of|from|than) who\b|'
                       r'\bthat one\b.{0,40}\b(?:by|of|in|from|for|to) which\b')

@pytest.mark.parametrize('path', READ, ids=lambda p: p.stem)
def test_prose_can_be_read_aloud(path):
    if path.suffix == '.ipynb':
        page = read_notebook(path)['cells']
        texts = sources(page, 'markdown') + [c['metadata']['mystnb']['figure']['caption']
                                             for c in page if is_picture(c)]
        assert 'ε' not in ''.join(texts)        # the target is ϵ, a margin is in a formula
    else:
        texts = [path.read_text(encoding='utf-8')]
    assert [part for text in texts for part in too_long(text)] == []
    assert [text for text in texts if FORBIDDEN.search(text)] == []

CHAPTERS = [p for folder in ('sharp', 'experts') for p in (ROOT/'nbs'/folder).glob('*.ipynb')
            if not re.match('2[14]|39|4[0-2]|certificate', p.stem)]

def is_picture(cell):
    return 'figure' in cell['metadata'].get('mystnb', {})

def is_solution(cell):
    return 'solution' in cell['metadata'].get('tags', [])

def missing_parts(page):
    "What a chapter lacks of an overview, a picture before its first formula, a summary, exercises."
    text = '\n'.join(sources(page, 'markdown'))
    first = next((c for c in page if is_picture(c) or c['cell_type'] == 'markdown'
                  and '$$' in c['source']), {'metadata': {}})
    there = dict(overview='} Overview' in text, summary='\n## Summary\n' in text,
                 exercises=len(re.findall(r'(?m)^\*\*\d\.\*\*', text)) == sum(
                     map(is_solution, page)) >= 3, picture=is_picture(first))
    return [part for part, found in there.items() if not found]

@pytest.mark.parametrize('path', CHAPTERS, ids=lambda p: p.stem)
def test_a_chapter_has_all_its_parts(path):
    page = read_notebook(path)['cells']
    assert missing_parts(page) == []
    for part, kind in dict(picture=is_picture, exercises=is_solution).items():
        assert missing_parts([c for c in page if not kind(c)]) == [part]

def said(source):
    "The prose of a module's docstrings, without lists of parameters and examples."
    for node in ast.walk(parsed(source)):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Module)):
            text = ast.get_docstring(node) or ''
            text = re.sub(r'(?m)^>>>.*(\n(?!\s*$).*)*', '', text)
            yield re.sub(r'(?ms)^Parameters\n-+\n.*?(?:\n\n|\Z)', '', text)

# a label of the pages' source says nothing to who reads `help`: name the chapter
LABEL = re.compile(r'`(?:alg|cor|def|eq|ex|fig|lem|prop|rem|thm)-[\w-]+`|'
                   r'\{(?:doc|paper|erratum|ref)\}`')

def unreadable(text):
    "Sentences of a docstring that are too long, labels, and phrases that nobody says."
    parts = [s for paragraph in paragraphs(text) for s in re.split(r'(?<=[.!?:;])\s+', paragraph)]
    yield from (s for s in parts if len(s.split()) > WORDS_OF['sentence'])
    yield from (m[0] for pattern in (FORBIDDEN, LABEL) for m in pattern.finditer(text))

def test_docstrings_can_be_read_aloud():
    assert [f'{module}: {part}' for module, source in SOURCES.items() if '._' not in module
            for text in said(source) for part in unreadable(text)] == []
    long, words = 'Long ' + 'word '*40 + 'end.', 'One $x + y$ of these. '*40
    assert len(list(unreadable('It is for who ' + 'goes '*40))) == 2
    assert [*unreadable('See `prop-robust`.')] and [*unreadable('{doc}`/experts/31`')]
    assert list(too_long(f'Short. {long}')) == [long]
    assert list(too_long(words)) == [words.replace('$x + y$', 'x').strip()]
    assert list(too_long('| ' + 'cell '*200 + '|\n\n```\n' + 'code '*200 + '\n```')) == []

ORACLE = action_informed_oracle(coin)

@pytest.mark.parametrize('name', LEARNERS)
def test_a_learner_survives_slips(name):
    "What is no response is refused, and the same round goes on: a run with slips is one without."
    limit = 'budget' if 'budget' in LEARNERS[name].options else 'max_rounds'
    learners = [LEARNERS[name].make(coin.setting, ORACLE, eps=2., delta=.1, **{limit: 40})
                for _ in range(2)]
    def respond(rule, rng):
        right = coin.respond(rule, rng)
        for wrong in (None, 'better', *(replace(right, **slip) for slip in (
                dict(arm=2), dict(arm='better'), dict(arm=True), dict(state=2),
                dict(report=(.5, .5)), dict(report=None)))):
            with pytest.raises(InvalidInput):
                learners[0].send(wrong)
            assert learners[0].rule is rule
        return right
    clumsy = SimpleNamespace(setting=coin.setting, respond=respond)
    found, plain = (simulate(steps, world, 3) for steps, world in zip(learners, (clumsy, coin)))
    alike = [r.to_dict(trace=True) | dict(seconds=0) for r in (found, plain)]
    assert plain.rounds > 0 and alike[0] == alike[1]

@pytest.mark.parametrize('name', LEARNERS)
def test_statuses_are_those_of_the_row(name):
    row, few = LEARNERS[name], (1, 2, 40) if 'budget' in LEARNERS[name].options else (2, 40)
    cases = [(.01, n) for n in (*few, *amount((), (400, )))] + [(3.5, n) for n in (*few, 400)]
    seen = {identify(coin, method=name, eps=eps, delta=.1, budget=n, seed=1).status
            for eps, n in cases}
    assert seen <= set(row.statuses) <= set(STATUS) and len(seen) > 1

@learner
def first_impression(setting, oracle, *, eps, delta, patience=3):
    "A learner that knows no limit on its rounds: it asks each rule of the oracle `patience` times."
    patience, run = as_integer('patience', patience, 1), Transcript(setting)
    for k in [*range(setting.K)]*patience:
        yield from ask_oracle(run, oracle, k)
    return finish(run, Finding(oracle.rules[0], 0), status='impressed', eps=eps, delta=delta)

def test_one_row_is_all_that_a_new_learner_takes(monkeypatch, oia, capfd):
    "And its status: then `identify`, comparisons and the command play it."
    monkeypatch.setitem(STATUS, 'impressed', Status('One arm made an impression', cut_short=False))
    monkeypatch.setitem(LEARNERS, 'impression', Row(
        'impression', first_impression, 'a first impression', ('impressed', ),
        flags=dict(patience=Flag(int, 'how often an arm has to succeed'))))
    play = partial(identify, coin, eps=1., delta=.1, seed=1, method='impression')
    found = play(patience=5)
    assert (found.status, found.rounds) == ('impressed', 10)
    for options, said in ((dict(mixing='theorem1'), 'method impression: patience'),
                          (dict(engine='fast'), 'engine="fast"'),
                          (dict(budget=50), 'budget: got 50.*impression takes no limit')):
        with pytest.raises(InvalidInput, match=said):
            play(**options)
    assert suite()['impression'] == ('impression', {})
    table = compare([coin], eps=1., delta=.1, methods=['impression'], repetitions=1, n_jobs=0).table
    assert list(table.method) == ['impression'] and not table.failed.any()
    coin.save('coin.json')
    line = 'identify coin.json --eps 1 --delta 0.1 --seed 1 --quiet --method impression'
    shown = oia(f'{line} --patience 4')[1]
    assert shown.split(maxsplit=1)[1].startswith('One arm made an impression\n')
    for words, said in ('--patience 0', 'patience'), ('--budget 50', 'takes no limit'):
        assert said in oia(f'{line} {words}')[2]
    with pytest.raises(SystemExit):
        oia('identify --help')
    shown = ' '.join(capfd.readouterr().out.split())
    assert ('impression (a first impression)' in shown
            and 'for impression: how often an arm has to succeed' in shown)
