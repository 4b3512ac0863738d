"""How the parts of the package hang together: arrows that point down, and a new learner that is
one row of a table.

Nothing here is left to chance.
"""
import ast
import json
import re
from dataclasses import replace
from functools import cache, partial
from graphlib import CycleError, TopologicalSorter
from importlib.util import resolve_name
from pathlib import Path
import pytest
import oia_nb
from conftest import amount, ROOT
from laws import COIN as coin
from check_site import wide_code
from oia_nb.all import InvalidInput, action_informed_oracle, compose, generator, identify, simulate
from oia_nb.core import as_integer
from oia_nb.paper.estimation import radius_fb
from oia_nb.run.learner import Finding, STATUS, Status, check_learner, learner
from oia_nb.worlds.files import save
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

IMPORTS = {module_of(path): list(imports_of(path)) for path in sorted(PACKAGE.rglob('*.py'))}

def below(imports):
    """{module: the modules it takes names from}; what is taken from the package as a whole, like
    its version, is left out."""
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
    assert len(sum(IMPORTS.values(), [])) > 50 and circle(below(IMPORTS)) is None
    planted = IMPORTS | {'oia_nb.core': [('oia_nb', {'all'})]}
    assert set(circle(below(planted))) >= {'oia_nb.core', 'oia_nb.all'}

def test_imports_name_what_they_take():
    starred = {m for m, found in IMPORTS.items() if any('*' in names for _, names in found)}
    assert starred <= {'oia_nb.all'}

# --- Rooms of a human size ------------------------------------------------------------

FUNCTION = 45         # lines at most, of decorators, signature and body; a docstring aside

def lines_of(node):
    first, said = min([node.lineno, *(d.lineno for d in node.decorator_list)]), node.body[0]
    doc = 0 if ast.get_docstring(node) is None else said.end_lineno - said.lineno + 1
    return node.end_lineno - first + 1 - doc

def long_functions(source):
    "Functions, however deep inside, of more than `FUNCTION` lines."
    return [node.name for node in ast.walk(parsed(source))
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            and lines_of(node) > FUNCTION]

def cells(path):
    "The code of a notebook, cell by cell."
    for cell in json.loads(path.read_text(encoding='utf-8'))['cells']:
        if cell['cell_type'] == 'code':
            yield ''.join(cell['source']).rstrip('\n')

def test_no_function_is_longer_than_a_screen():
    long = {name for path in sorted(PACKAGE.rglob('*.py'))
            for name in long_functions(path.read_text(encoding='utf-8'))}
    assert not long
    body = '    x = 0\n'
    assert long_functions('def f():\n' + 45*body) == ['f']
    assert long_functions('class C:\n  def g(self):\n' + 44*body) == []
    assert long_functions('@d\ndef f(x,\n      y):\n' + 43*body) == ['f']
    assert long_functions('def f():\n    """1\n    2"""\n' + 44*body) == []

# every module that reports has the first; `views` gives the second to many classes
IN_EACH = {'log', '_repr_html_'}

def defined(source):
    """The names that a module gives: to functions and classes, as often as it does so, and to
    values."""
    values = set()
    for node in parsed(source).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        targets = getattr(node, 'targets', [getattr(node, 'target', None)])
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            values |= {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
    yield from values

def shared_names(sources):
    "{name: the modules that define it}, which are two or more, or one that does it twice."
    found = {}
    for module, source in sources.items():
        for name in defined(source):
            if name not in IN_EACH and not name.startswith('__'):
                found.setdefault(name, []).append(module)
    return {name: modules for name, modules in found.items() if len(modules) > 1}

def test_one_word_is_one_thing():
    """No name, public or private, is given by two modules: who reads it knows whose it is. A cell
    that came in twice is found as well; the linter lets it pass, since `__all__` uses its names."""
    assert shared_names({module_of(path): path.read_text(encoding='utf-8')
                         for path in sorted(PACKAGE.rglob('*.py'))}) == {}
    pair = {'a': 'X, Y = 1, 2\ndef f(): pass\nlog = 1', 'b': 'class f: pass\nY: int = 3\nlog = 2'}
    assert shared_names(pair) == {'f': ['a', 'b'], 'Y': ['a', 'b']}
    assert shared_names({'a': 'def f(): 1\ndef g(): 1\ndef f(): 2'}) == {'f': ['a', 'a']}

# --- The page that is the module ------------------------------------------------------

def test_the_paper_in_one_sitting_stays_one_sitting():
    "At most 4,000 words, 500 lines and 72 columns, and one call of a solver."
    page = ROOT/'nbs'/'paper'/'one_sitting.ipynb'
    code = list(cells(page))
    lines = [line for cell in code for line in cell.split('\n') if line.strip()]
    page = json.loads(page.read_text(encoding='utf-8'))
    prose = [''.join(c['source']) for c in page['cells'] if c['cell_type'] == 'markdown']
    assert len(' '.join(prose).split()) <= 4000 and len(lines) <= 500
    assert max(map(len, lines)) <= 72
    assert sum('linprog(' in line for line in lines) == 1
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
    texts = [path.read_text(encoding='utf-8')]
    if path.suffix == '.ipynb':
        page = json.loads(*texts)['cells']
        texts = [''.join(c['source']) for c in page if c['cell_type'] == 'markdown']
        texts += [c['metadata']['mystnb']['figure']['caption'] for c in page
                  if 'figure' in c['metadata'].get('mystnb', {})]
        assert 'ε' not in ''.join(texts)        # the target is ϵ, a margin is in a formula
    assert [part for text in texts for part in too_long(text)] == []
    assert [text for text in texts if FORBIDDEN.search(text)] == []

CHAPTERS = [p for folder in ('sharp', 'experts') for p in (ROOT/'nbs'/folder).glob('*.ipynb')
            if not re.match('2[14]|39|4[0-2]|certificate', p.stem)]

def missing_parts(page):
    "What a chapter lacks of an overview, a picture before its first formula, a summary, exercises."
    text = '\n'.join(''.join(c['source']) for c in page if c['cell_type'] == 'markdown')
    pictures = [n for n, c in enumerate(page) if 'figure' in c['metadata'].get('mystnb', {})]
    formulas = [n for n, c in enumerate(page)
                if c['cell_type'] == 'markdown' and '$$' in ''.join(c['source'])]
    solutions = [c for c in page if 'solution' in c['metadata'].get('tags', [])]
    there = dict(overview='} Overview' in text, summary='\n## Summary\n' in text,
                 exercises=len(re.findall(r'(?m)^\*\*\d\.\*\*', text)) == len(solutions) >= 3,
                 picture=bool(pictures) and pictures[0] < min([*formulas, len(page)]))
    return sorted(part for part, found in there.items() if not found)

@pytest.mark.parametrize('path', CHAPTERS, ids=lambda p: p.stem)
def test_a_chapter_has_all_its_parts(path):
    page = json.loads(path.read_text(encoding='utf-8'))['cells']
    assert missing_parts(page) == []
    pictures = [c for c in page if 'figure' in c['metadata'].get('mystnb', {})]
    assert missing_parts([c for c in page if c not in pictures]) == ['picture']
    solved = [c for c in page if 'solution' not in c['metadata'].get('tags', [])]
    assert missing_parts(solved) == ['exercises']

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
    found = [f'{path.stem}: {part}' for path in sorted(PACKAGE.rglob('[!_]*.py'))
             for text in said(path.read_text(encoding='utf-8')) for part in unreadable(text)]
    assert found == []
    assert len(list(unreadable('It is for who ' + 'goes '*40))) == 2
    assert [*unreadable('See `prop-robust`.')] and [*unreadable('{doc}`/experts/31`')]
    assert list(too_long('Short. Long ' + 'word '*40 + 'end.')) == ['Long ' + 'word '*40 + 'end.']
    assert list(too_long('One $x + y$ of these. '*40)) == [('One x of these. '*40).strip()]
    assert list(too_long('| ' + 'cell '*200 + '|\n\n```\n' + 'code '*200 + '\n```')) == []

# --- A slip ---------------------------------------------------------------------------

ORACLE = action_informed_oracle(coin)
TARGET = dict(eps=2., delta=.1)

def few(name):
    "Options with which a learner plays some tens of rounds."
    row = LEARNERS[name]
    return dict(budget=40) if 'budget' in row.options else dict(max_rounds=40)

MAKERS = {name: lambda name=name: LEARNERS[name].make(coin.setting, ORACLE, **TARGET, **few(name))
          for name in LEARNERS}

def slips(response):
    "What is sent by mistake in place of a response."
    yield from (None, 'better', replace(response, arm=2), replace(response, arm='better'),
                replace(response, arm=True))
    yield from (replace(response, state=2), replace(response, report=(.5, .5)),
                replace(response, report=None))

def careless(steps, world, rng):
    """As `simulate`, but every response comes after all the wrong ones; also how many of them
    were refused."""
    refused, rule = 0, next(steps)
    try:
        while True:
            response = world.respond(rule, rng)
            for wrong in slips(response):
                with pytest.raises(InvalidInput):
                    steps.send(wrong)
                assert steps.rule is rule
                refused += 1
            rule = steps.send(response)
    except StopIteration as stop:
        return stop.value, refused

@pytest.mark.parametrize('name', MAKERS)
def test_a_learner_survives_slips(name):
    found, refused = careless(MAKERS[name](), coin, generator(3))
    plain = simulate(MAKERS[name](), coin, 3)
    assert refused == 8*plain.rounds > 0
    for name in 'status', 'rounds', 'arm', 'certificate':
        assert getattr(found, name) == getattr(plain, name)
    assert (found.trace.arms == plain.trace.arms).all()
    assert (found.trace.beliefs == plain.trace.beliefs).all()
    assert (found.rule.values == plain.rule.values).all()

@pytest.mark.parametrize('name', LEARNERS)
def test_statuses_are_those_of_the_row(name):
    row, seen = LEARNERS[name], set()
    few = (1, 2, 40) if 'budget' in row.options else (2, 40)
    for eps, budgets in (.01, (*few, *amount((), (400, )))), (3.5, (*few, 400)):
        for budget in budgets:
            seen.add(identify(coin, method=name, eps=eps, delta=.1, budget=budget, seed=1).status)
    assert seen <= set(row.statuses) <= set(STATUS) and len(seen) > 1

# --- A new learner --------------------------------------------------------------------

@learner
def first_impression(setting, oracle, *, eps, delta, patience=3, max_rounds=1000, watch=None):
    """Stops as soon as one arm has succeeded `patience` times, and returns that rule: a stopping
    rule of its own."""
    eps, delta = check_learner(setting, oracle, eps, delta)
    patience = as_integer('patience', patience, 1)
    def impressed(run, plan):
        return run.L[plan.target] > patience
    def that_rule(run, plan):
        if plan is None:
            return dict(status='round_cap', found=Finding(oracle.rules[0], 0))
        return dict(status='impressed', found=Finding(plan.rule, plan.target))

    return compose(setting, oracle, eps=eps, delta=delta,
                   radius=lambda N, t: radius_fb(N, t, a=.5), mixing=lambda L, t: .5,
                   stop=impressed, decide=that_rule, rounds=max_rounds, watch=watch)

def test_one_row_is_all_that_a_new_learner_takes(monkeypatch, oia, capfd):
    "And its status: then `identify`, comparisons and the command play it."
    monkeypatch.setitem(STATUS, 'impressed', Status('One arm made an impression', cut_short=False))
    monkeypatch.setitem(
        LEARNERS, 'impression',
        Row('impression', first_impression, 'a first impression',
            ('impressed', 'round_cap'),
            flags=dict(patience=Flag(int, 'how often an arm has to succeed'))))
    play = partial(identify, coin, eps=1., delta=.1, seed=1, method='impression')
    found = play(patience=5)
    assert found.status == 'impressed' and found.normal_rounds >= 5
    assert play(budget=3, patience=50).status == 'round_cap'
    for options, said in ((dict(mixing='theorem1'), 'method impression: max_rounds, patience'),
                          (dict(engine='fast'), 'engine="fast"')):
        with pytest.raises(InvalidInput, match=said):
            play(**options)
    assert suite()['impression'] == ('impression', {})
    table = compare([coin], eps=1., delta=.1, methods=['impression'], repetitions=1, n_jobs=0).table
    assert list(table.method) == ['impression'] and not table.failed.any()
    save(coin, 'coin.json')
    line = 'identify coin.json --eps 1 --delta 0.1 --seed 1 --quiet --method impression'
    status, shown, _ = oia(f'{line} --patience 4')
    assert status == 0 and shown.split(maxsplit=1)[1].startswith('One arm made an impression\n')
    status, _, error = oia(f'{line} --patience 0')
    assert status == 2 and 'patience' in error
    with pytest.raises(SystemExit):
        oia('identify --help')
    shown = ' '.join(capfd.readouterr().out.split())
    assert ('impression (a first impression)' in shown
            and 'for impression: how often an arm has to succeed' in shown)

def test_another_stopping_rule_is_an_argument():
    """Nothing but a function is handed to `identify`; what it stops too early isn't called
    certified."""
    found = identify(coin, eps=.5, delta=.1, method='oiafc', seed=1,
                     stop=lambda run, plan, eps: run.L[plan.target] > 3)
    assert (found.status == 'uncertified' and found.normal_rounds >= 3
            and found.certificate.bound > .5)
    later = identify(coin, eps=3., delta=.1, method='oiafc', seed=1,
                     stop=lambda run, plan, eps: run.L[plan.target] > 100)
    assert later.status == 'certified' and later.certificate.bound <= 3.
    with pytest.raises(InvalidInput, match='stop'):
        identify(coin, eps=.5, delta=.1, method='oiafc', stop=lambda *_: True, engine='fast')
