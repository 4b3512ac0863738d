"""A small Sphinx extension: the paper's numbers as references, and its statements with verdicts.

- {paper}`Lemma 4`, {paper}`section 3.1`, {paper}`eq. (27)`, {paper}`Algorithm 1, line 15`,
  {paper}`lines 2 to 4 <Algorithm 1, line 2>`: a link to the place where the book shows it. What
  isn't in the table of the numbers that the paper prints (paper/labels.json) is a warning.
- {erratum}`E12`: a link to the entry among the errata.
- {verdict}`holds as printed`: a badge.
- The directive `ledger` shows what the ledger of claims says of a statement: verdict, place in the
  book, code, errata, tests. The boxes and errata that the ledger names link back by themselves.
- A number of the paper, or of an erratum, that is written in prose without a role is a warning.
"""
import ast
import json
import re
import tomllib
from functools import cache
from pathlib import Path

from copies import read_notebook
from docutils import nodes
from sphinx import addnodes
from sphinx.util import logging
from sphinx.util.docutils import ReferenceRole, SphinxDirective, SphinxRole

logger = logging.getLogger(__name__)
HERE = Path(__file__).resolve().parent.parent
TABLE = HERE/'paper'/'labels.json'
STATEMENTS = ('Definition', 'Assumption', 'Example', 'Remark', 'Lemma', 'Theorem', 'Corollary',
              'Algorithm', 'Table')
MARKS = {'holds as printed': '✓', 'holds corrected': '✎', 'false as printed': '✗',
         'not checkable': '?'}
CLASSES = {'holds as printed': 'holds', 'holds corrected': 'corrected',
           'false as printed': 'false', 'not checkable': 'open'}

# --- The numbers that the paper prints ------------------------------------------------

@cache
def table():
    return json.loads(TABLE.read_text(encoding='utf-8'))

def name(item):
    "What a reader calls it: Lemma 4, section 3.1, eq. (27)."
    number = f"({item['number']})" if item['kind'] == 'eq.' else item['number']
    return f"{item['kind']} {number}"

@cache
def names():
    "{what one may write, in small letters: the name}: numbers, and lines of listings."
    found = {}
    for item in table()['items']:
        if not item['number']:
            continue
        found[name(item).lower()] = name(item)
        for i in range(1, item.get('lines', 0) + 1):
            found[f'{name(item)}, line {i}'.lower()] = f'{name(item)}, line {i}'
    return found

def canonical(target):
    "The name of what the paper prints, or None."
    target = ' '.join(target.lower().split())
    target = re.sub(r'^(equation|eq) ', 'eq. ', target)
    target = re.sub(r'^eq\. (\d+)$', r'eq. (\1)', target)
    target = re.sub(r'^§ ?', 'section ', target)
    return names().get(target)

def anchor(name):
    return 'paper-' + re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-')

def reference(shown, label, docname):
    return addnodes.pending_xref(
        '', nodes.inline(shown, shown), refdomain='std', reftype='ref', reftarget=label,
        refexplicit=True, refwarn=True, refdoc=docname)

class PaperRole(ReferenceRole):
    def run(self):
        known = canonical(self.target)
        if known is None:
            logger.warning('the paper prints no %r', self.target, location=self.get_location())
            return [nodes.Text(self.title)], []
        return [reference(self.title, anchor(known), self.env.docname)], []

class ErratumRole(ReferenceRole):
    def run(self):
        return [reference(self.title, f'sec-{self.target.lower()}', self.env.docname)], []

class VerdictRole(SphinxRole):
    def run(self):
        if self.text not in MARKS:
            logger.warning('%r is no verdict', self.text, location=self.get_location())
        shown = f"{MARKS.get(self.text, '')} {self.text}"
        return [nodes.inline(shown, shown,
                             classes=['verdict', f'verdict-{CLASSES.get(self.text)}'])], []

# --- The ledger of claims -------------------------------------------------------------

@cache
def ledger():
    "The records of claims.toml."
    return tomllib.loads((HERE/'_static'/'claims.toml').read_text(encoding='utf-8'))['claim']

SUBJECT = re.compile(rf'(?:{"|".join(STATEMENTS)}) \d+|(?:Section|Appendix) [\dA-I](?:\.\d)?')

def subject(row):
    "The statement, section or appendix that a row of the ledger is about, or None."
    m = SUBJECT.match(row['claim'])
    return canonical(m[0]) if m else None

def rows_of(name):
    return [r for r in ledger() if subject(r) == name]

def verdict(name):
    "The weightiest verdict on a statement: false before corrected before holds."
    given = {r['verdict'] for r in rows_of(name)}
    return next((v for v in ('false as printed', 'holds corrected', 'holds as printed',
                             'not checkable') if v in given), None)

# --- The code beside a statement ------------------------------------------------------

LABEL = re.compile(r'(?m)^:label: (\S+)|^\(([\w-]+)\)=|\$\$ \((\S+)\)')
EXPORT = re.compile(r'\s*#\s*\|\s*exports?\b[ \t]*([\w.]*)')
MOST = 4        # functions that are named beside a statement

def defined(source):
    "The public functions and classes that a cell defines, without attached methods."
    body = ast.parse(re.sub(r'(?m)^\s*[%!].*', '', source)).body
    return [d.name for d in body if isinstance(d, (ast.FunctionDef, ast.ClassDef))
            and not d.name.startswith('_')
            and not any('patch' in ast.unparse(deco) for deco in d.decorator_list)]

@cache
def code_beside():
    "{label: what the section defines after it}, with the names that the API page has."
    found = {}
    for path in sorted(HERE.rglob('[0-9]*.ipynb')):
        module, section = None, []
        for cell in read_notebook(path)['cells']:
            source = cell['source']
            if cell['cell_type'] == 'markdown':
                if re.search(r'(?m)^#+ ', source):
                    section = []
                section += [a or b or c for a, b, c in LABEL.findall(source)]
            elif m := re.search(r'(?m)^#\s*\|\s*default_exp\s+(\S+)', source):
                module = m[1]
            elif (m := EXPORT.match(source)) and (m[1] or module):
                for label in section:
                    found.setdefault(label, []).extend(
                        f'oia_nb.{m[1] or module}.{d}' for d in defined(source))
    return {label: names[:MOST] for label, names in found.items()}

# --- A statement's rows ---------------------------------------------------------------

def link(here):
    "A place in the book as a MyST reference."
    kind, _, rest = here.partition('-')
    if kind == 'eq':
        return f'{{eq}}`{here}`'
    if kind == 'fig':
        return f'{{numref}}`{here}`'
    if kind == 'sec':
        return (f'{{erratum}}`{rest.upper()}`' if re.fullmatch(r'e\d+', rest)
                else f'{{ref}}`{here}`')
    if '/' in here:
        return f'[](/{here.replace("#", ".ipynb#")})'
    return f'{{prf:ref}}`{here}`'

def test_label(test):
    "The place of a test on the page of tests, and its name."
    file, test_name = re.fullmatch(r'(\w+)\.py::(.+)', test).groups()
    if m := re.fullmatch(r'test_law\[(\w+)\]', test_name):
        file, test_name = 'laws', m[1]
    return f'{file}-{test_name}'.replace('_', '-'), test_name

def listed(title, links):
    return f'*{title}* {", ".join(links)}' if links else ''

def shown(row, alone):
    "A row as an item of a list."
    here = row['here']
    code = list(dict.fromkeys(n for label in here for n in code_beside().get(label, [])))
    claim = [] if alone else [
        f'{row["claim"].partition(", ")[2] or row["claim"]}: {row["says"]}']
    said = '; '.join([*claim, *filter(None, [row['instead']])])
    parts = [
        listed('Here:', [link(h) for h in here if not re.fullmatch(r'sec-e\d+', h)]),
        listed('Code:', [f'{{py:obj}}`~{n}`' for n in code[:MOST]]),
        listed('Errata:', [f'{{erratum}}`{e}`' for e in row['errata']]),
        listed('Tests:', ['{{ref}}`{1} <{0}>`'.format(*test_label(t))
                          for t in row['tests']]),
    ]
    return (f'- {{verdict}}`{row["verdict"]}`{" " + said + "." if said else ""}\n'
            f'  {" · ".join(filter(None, parts))}')

class Ledger(SphinxDirective):
    "What the ledger says of the statement that is its argument."
    required_arguments, final_argument_whitespace = 1, True

    def run(self):
        known = canonical(self.arguments[0])
        rows = rows_of(known) if known else []
        if not rows:
            logger.warning('the ledger of claims has no row for %r', self.arguments[0],
                           location=self.get_location())
        text = '\n'.join(shown(row, len(rows) == 1) for row in rows)
        box = nodes.container(classes=['ledger'])
        box += self.parse_text_to_nodes(text)
        return [box]

class Statements(SphinxDirective):
    "All numbered statements of the paper, with their verdicts."
    def run(self):
        lines = []
        for kind in STATEMENTS:
            of_kind = [name(i) for i in table()['items'] if i['kind'] == kind]
            lines += [f'- {{paper}}`{n}` {{verdict}}`{verdict(n)}`' for n in of_kind
                      if verdict(n)]
        box = nodes.container(classes=['statements'])
        box += self.parse_text_to_nodes('\n'.join(lines))
        return [box]

def equations(claim):
    "The numbers of the equations that a claim names: (7), or (3) to (5)."
    found = []
    for low, high in re.findall(r'\((\d+)\)(?: to \((\d+)\))?', claim):
        found += range(int(low), int(high or low) + 1)
    return found

class Equations(SphinxDirective):
    "The rows of the ledger that name numbered equations, in the order of these."
    def run(self):
        rows = sorted((r for r in ledger() if equations(r['claim'])),
                      key=lambda r: equations(r['claim'])[0])
        text = ''
        for row in rows:
            places = ''.join(f'[]{{#{anchor(f"eq. ({n})")}}}' for n in equations(row['claim']))
            own = subject(row)
            title = row['claim'] if own is None else row['claim'].replace(
                own, f'{{paper}}`{own}`', 1)
            text += f'{places}**{title}**: {row["says"]}.\n\n{shown(row, True)}\n\n'
        box = nodes.container(classes=['ledger'])
        box += self.parse_text_to_nodes(text)
        return [box]

# --- Back links -----------------------------------------------------------------------

def named_by(field, label):
    "The statements whose rows name `label` in `field`."
    found = [subject(r) for r in ledger() if label in r[field]]
    return [n for n in dict.fromkeys(found) if n and n.startswith(STATEMENTS)]

def back_link(names, docname):
    line = nodes.paragraph(classes=['in-the-paper'])
    line += nodes.Text('In the paper: ')
    for i, known in enumerate(names):
        line += [nodes.Text(', '), reference(known, anchor(known), docname)][not i:]
    line += nodes.Text('.')
    return line

def link_back(app, doctree):
    "Boxes and errata say to which statements of the paper the ledger says that they belong."
    page = app.env.docname
    for box in doctree.findall(lambda n: 'countertype' in getattr(n, 'attributes', {})):
        if statements := named_by('here', box['label']):
            box[-1] += back_link(statements, page)
    for section in doctree.findall(nodes.section):
        numbers = [m[1] for n in section['names'] if (m := re.fullmatch(r'sec-(e\d+)', n))]
        if numbers and (statements := named_by('errata', numbers[0].upper())):
            section.insert(1, back_link(statements, page))

# --- No number without a role ---------------------------------------------------------

NUMBER = r'\d+(?!\.\d|\d)'
BARE = re.compile(
    r'(?<![\w`{<-])(?:'
    r'E[1-9]\d?\b'
    r'|(?:[Ss]ections?|§)\s?\d(?:\.\d+)?'
    rf'|(?:Lemma|Theorem|Algorithm|Definition|Remark|Assumption|Example)s?\s{NUMBER}'
    rf'|Corollar(?:y|ies)\s{NUMBER}'
    r'|[Aa]ppendi(?:x|ces)\s[A-I]\b'
    r'|[Ee]qs?\.\s?\(?\d+\)?|[Ee]quations?\s\(?\d+\)?'
    r')')
OTHER = re.compile(r'(?:\{cite:\w+\}`(?!wang2025)[^`]*`|(?:19|20)\d\d|[Tt]heir)[,(\s]*$')
OF_OTHER = re.compile(r'(?:\.\d+)?\s+(?:of|in)\s+\{cite:\w+\}`(?!wang2025)')
SET_ASIDE = re.compile(
    r'(?P<keep>\{cite:\w+\}`[^`]*`)|(?s:^```.*?^```)|\{[\w:-]+\}`[^`]*`|`[^`\n]*`|'
    r'(?s:\$\$.*?\$\$)|\$[^$]*\$|^#+ .*|\[[^]\n]*\]\([^)\n]*\)|^:(?:label|class|name):.*',
    re.M)

def prose(text):
    "The text, of the same length, with blanks for code, roles, formulas, links and headings."
    def blank(m):
        return m[0] if m['keep'] else re.sub(r'\S', ' ', m[0])
    return SET_ASIDE.sub(blank, text)

def bare(text):
    """Matches of the paper's and errata's numbers that stand in prose without a role. Another
    work's items may: after its citation, its year or `their`, or before `of` its citation."""
    text = prose(text)
    return [m for m in BARE.finditer(text)
            if not OTHER.search(text[max(0, m.start() - 60):m.start()])
            and not OF_OTHER.match(text[m.end():])]

def markdown(path, text):
    "The Markdown of a page."
    if not path.endswith('.ipynb'):
        return [text]
    return [''.join(c['source']) for c in json.loads(text)['cells']
            if c['cell_type'] == 'markdown']

def check_prose(app, docname, source):
    for text in markdown(str(app.env.doc2path(docname)), source[0]):
        for m in bare(text):
            around = ' '.join(text[max(0, m.start() - 30):m.end() + 10].split())
            logger.warning('%r stands without a role in "…%s…"', m[0], around,
                           location=docname)

# --- The tests that the ledger names --------------------------------------------------

def list_tests(app, docname, source):
    "Completes paper/tests.md, when it is read, with each test of the ledger."
    if docname != 'paper/tests':
        return
    seen = {}
    for row in ledger():
        for test in row['tests']:
            label, test_name = test_label(test)
            file = 'laws' if '[' in test else test.partition('.py')[0]
            seen.setdefault(file, {})[test_name] = label
    places = {p.stem: p for p in (HERE.parent/'tests').rglob('*.py')}
    for file in sorted(seen):
        place = places[file].relative_to(HERE.parent).as_posix()
        source[0] += f'\n## {file}.py\n'
        for test_name, label in sorted(seen[file].items()):
            source[0] += (
                f'\n({label})=\n### {test_name}\n\n```{{raw}} html\n<details class="hide">'
                '<summary>the test</summary>\n```\n```{literalinclude} '
                f'../../{place}\n:pyobject: {test_name}\n:language: text\n```\n'
                '```{raw} html\n</details>\n```\n')

def setup(app):
    app.add_role('paper', PaperRole())
    app.add_role('erratum', ErratumRole())
    app.add_role('verdict', VerdictRole())
    app.add_directive('ledger', Ledger)
    app.add_directive('statements', Statements)
    app.add_directive('equations', Equations)
    app.connect('source-read', check_prose)
    app.connect('source-read', list_tests)
    app.connect('doctree-read', link_back)
    return {'parallel_read_safe': False, 'parallel_write_safe': False}
