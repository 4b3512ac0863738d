"""A small Sphinx extension: what a page is made of once its text stands.

Formulas and code without what no reader sees, docstrings and checks folded, words for figures, the
index of statements, the words that the search knows, one page of the API a module.
"""
import ast
import html
import json
import re
from collections import defaultdict
from pathlib import Path

from docutils import nodes
from nbdev_myst import chapter_number
from sphinx import addnodes, search
from sphinx.domains import IndexEntry
from sphinx.domains.std import StandardDomain
from sphinx.util import logging, matching
from sphinx_proof.domain import ProofIndex

logger = logging.getLogger(__name__)

# --- Formulas: the same boxes in half of the bytes ------------------------------------

TAG = re.compile(r'<(/?)span((?: [\w-]+="[^"]*")*)>')
ATTRIBUTE = re.compile(r' ([\w-]+)="([^"]*)"')
FORMULA = '<span class="katex-html" aria-hidden="true">'
SOURCE = re.compile(r'<annotation encoding="application/x-tex">.*?</annotation>', re.S)
SELECTORS = re.compile(r'[^{}]+\{')
LETTERS = 'abcdefghijklmnopqrstuvwxyz'

OFTEN = ('vlist-r', 'sizing', 'reset-size6', 'size3', 'pstrut', 'mspace', 'vlist', 'vlist-t',
         'vlist-t2', 'vlist-s', 'msupsub', 'mathnormal', 'base', 'strut')

def short_names(sheet):
    "A letter or two for each class that KaTeX's style sheet knows inside of a formula."
    known = {name for selector in SELECTORS.findall(sheet)
             for name in re.findall(r'\.([A-Za-z][\w-]*)', selector)}
    rare = sorted(name for name in known - {*OFTEN} if not name.startswith('katex'))
    names = {name: LETTERS[i // 26] + LETTERS[i % 26] for i, name in enumerate(rare)}
    return names | {name: LETTERS[i] for i, name in enumerate(OFTEN)}

def short_sheet(sheet, names):
    "The style sheet, and once more for formulas in these names, whose boxes are `i`, not `span`."
    def rename(m):
        text = re.sub(r'\.([A-Za-z][\w-]*)', lambda c: f'.{names.get(c[1], c[1])}', m[0])
        return re.sub(r'\bspan\b', 'i', text)
    again = re.sub(r'@font-face\{[^}]*\}', '', sheet)
    return sheet + SELECTORS.sub(rename, again) + '.katex i{font-style:inherit}'

def end_of_span(text, start):
    "Where the span ends whose content begins at `start`."
    depth = 1
    for m in TAG.finditer(text, start):
        depth += -1 if m[1] else 1
        if not depth:
            return m.end()
    raise ValueError('a span without an end')

def style_name(n):
    "A capital for each of the first styles, and something behind it for the others."
    return LETTERS[n % 26].upper() + (str(n // 26) if n >= 26 else '')

def slim(formula, known, styles):
    """The boxes of a formula under short names, without classes that no style sheet knows and
    without bare boxes; a `style` becomes a class, which `styles` maps it to."""
    out, ends, at = [], [], 0
    for m in TAG.finditer(formula):
        out.append(formula[at:m.start()])
        at = m.end()
        if m[1]:
            out.append(ends.pop())
            continue
        given = dict(ATTRIBUTE.findall(m[2]))
        names = [known[c] for c in given.pop('class', '').split() if c in known]
        if style := given.pop('style', ''):
            names.append(styles.setdefault(style, style_name(len(styles))))
        rest = ''.join(f' {key}="{value}"' for key, value in given.items())
        if names:
            rest += f' class={names[0]}' if len(names) == 1 else f' class="{" ".join(names)}"'
        out.append(f'<i{rest}>' if rest else '')
        ends.append('</i>' if rest else '')
    return ''.join(out) + formula[at:]

SLIM = FORMULA.replace('"', '')
OUTSIDE = '<span class="math"><span class="katex">'
ATTRIBUTES = re.compile(r'<(m(?!ath\b)\w+) [^>]*>')

def slim_formulas(body, known):
    "A page's body with all its formulas slimmed, and the style sheet that they need."
    out, styles, at = [], {}, 0
    while (start := body.find(FORMULA, at)) >= 0:
        end = end_of_span(body, start + len(FORMULA))
        spoken = ATTRIBUTES.sub(r'<\1>', SOURCE.sub('', body[at:start]))
        inside = body[start + len(FORMULA):end - len('</span>')]
        at = end
        if OUTSIDE in spoken and body.startswith('</span></span>', end):     # one box is enough
            spoken = '<span class="math katex">'.join(spoken.rsplit(OUTSIDE, 1))
            at = end + len('</span>')
        out += [spoken, SLIM, slim(inside, known, styles), '</span>']
    text = ''.join(out) + body[at:]
    text = text.replace(' xmlns="http://www.w3.org/1998/Math/MathML"', '')
    text = text.replace('<semantics>', '').replace('</semantics>', '')
    rules = ''.join(f'.katex .{name}{{{style}}}' for style, name in styles.items())
    return f'<style>{rules}</style>\n{text}' if rules else text

# --- Code: names and operators have the colour of text; docstrings and checks fold ------

PLAIN = re.compile(r'<span class="(?:n|nn|nx|o|p|pm|w|std std-ref)">([^<]*)</span>|<span></span>')
LISTING = re.compile(r'(<div class="highlight-ipython3[^>]*><div class="highlight"><pre>)(.*?)'
                     r'(</pre>)', re.S)
SHORT = 2           # lines that aren't worth a fold

def is_check(statement):
    "Whether a statement does no more than to refuse."
    return (isinstance(statement, ast.If) and not statement.orelse
            and all(isinstance(s, ast.Raise) for s in statement.body))

def paragraph(lines):
    "How many lines come before the first empty one."
    return next((i for i, line in enumerate(lines) if not line.strip()), len(lines))

def folds(code):
    """What folds, as (first line, first line that is hidden, end, kind): after its first paragraph
    a docstring, after its first line a run of checks."""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return []
    lines, found = code.split('\n'), []
    for node in ast.walk(tree):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        first = node.body[0]
        start, end = first.lineno - 1, first.end_lineno
        hidden = start + paragraph(lines[start:end])
        if ast.get_docstring(node) is not None and end - hidden > SHORT:
            found.append((start, hidden, end, 'doc'))
        run = []
        for statement in [*node.body, None]:
            if statement is not None and is_check(statement):
                run.append(statement)
                continue
            if run and run[-1].end_lineno - run[0].lineno >= SHORT:
                start = run[0].lineno - 1
                found.append((start, start + 1, run[-1].end_lineno, 'checks'))
            run = []
    return sorted(found)

def fold(m):
    "A listing whose docstrings and checks are closed until a reader opens them."
    lines = [line + '\n' for line in m[2].split('\n')]
    plain = html.unescape(re.sub(r'<[^>]*>', '', m[2]))
    for start, hidden, end, kind in reversed(folds(plain)):
        head = ''.join(lines[start:hidden]).removesuffix('\n')
        lines[start:end] = [f'<details class="{kind}"><summary><span>{head}</span>\n</summary>'
                            f'{"".join(lines[hidden:end])}</details>']
    inside = ''.join(lines).removesuffix('\n')
    return m[1] + re.sub(r'<span class="(\w+)">', r'<span class=\1>', inside) + m[3]

# --- Figures: words for those who can't see them, a width for small screens -----------

GREEK = {'epsilon': 'ϵ', 'varepsilon': 'ε', 'delta': 'δ', 'Delta': 'Δ', 'alpha': 'α',
         'beta': 'β', 'sigma': 'σ', 'tau': 'τ', 'omega': 'ω', 'Omega': 'Ω', 'le': '≤',
         'ge': '≥', 'times': '×', 'cdot': '·', 'in': '∈', 'to': '→', 'infty': '∞', 'sqrt': '√',
         'log': 'log', 'min': 'min', 'max': 'max', 'Sigma': 'Σ', 'Gamma': 'Γ'}

BELOW = str.maketrans('0123456789kt', '₀₁₂₃₄₅₆₇₈₉ₖₜ')
ABOVE = str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹')

def in_letters(tex):
    "A short formula as text: its commands as letters, without braces."
    text = re.sub(r'\\([A-Za-z]+) ?', lambda m: GREEK.get(m[1], ''), tex)
    text = re.sub(r'_([0-9kt])', lambda m: m[1].translate(BELOW), text)
    text = re.sub(r'\^(-?\d+)', lambda m: m[1].translate(ABOVE), re.sub(r'[{}\\]', '', text))
    return text

def words(node):
    "The text of a node, its formulas in letters."
    if isinstance(node, nodes.math):
        return in_letters(node.astext())
    if isinstance(node, nodes.Text) or not node.children:
        return node.astext()
    return ''.join(map(words, node.children))

def neighbours(node):
    "The nodes after this one, then those before it, from near to far, in its section."
    while not isinstance(node.parent, (nodes.section, nodes.document)):
        if node.parent is None:
            return [], []
        node = node.parent
    at = node.parent.index(node)
    return node.parent.children[at + 1:], node.parent.children[at - 1::-1] if at else []

def in_other_words(image, last):
    """What a figure shows: its caption, the words in italics below it, or the sentence above
    it; in what is folded, a sentence of the `last` paragraph of the page."""
    figure = image.parent
    while figure is not None and not isinstance(figure, nodes.figure):
        figure = figure.parent
    captions = list(figure.findall(nodes.caption)) if figure is not None else []
    after, before = neighbours(image)
    below = [n for n in after[:1] if isinstance(n, nodes.paragraph)
             and n.children and isinstance(n.children[0], nodes.emphasis)]
    above = [n for n in [*before, last] if isinstance(n, (nodes.paragraph, nodes.title))][:1]
    text = ' '.join(words((captions + below + above)[0]).split()) if (
        captions or below or above) else 'A figure'
    sentences = re.split(r'(?<=[.:?!]) (?=[A-Z])', text)
    return sentences[0] if captions or below else sentences[-1]

def describe_figures(app, doctree, docname):
    last = None
    for node in doctree.findall(lambda n: isinstance(n, (nodes.paragraph, nodes.image))):
        if isinstance(node, nodes.paragraph):
            last = node
        elif not node.get('alt'):
            node['alt'] = in_other_words(node, last)

def titles_in_letters(app, doctree, docname):
    "A reference shows the title that it leads to, whose formulas Sphinx leaves as TeX."
    for link in doctree.findall(lambda n: isinstance(n, nodes.inline)
                                and 'std-ref' in n['classes'] and '\\' in n.astext()):
        link.children = [nodes.Text(in_letters(link.astext()))]

IMAGE = re.compile(r'<img alt="[^"]*" src="([^"]*\.svg)"')
WIDTH = re.compile(r'<svg[^>]*?\bwidth="([\d.]+)(pt|px)?"')

def widths(body, folder):
    "Each figure's own width as a variable of style, from the head of its file."
    def with_width(m):
        path = Path(folder)/Path(m[1]).name
        if not path.exists():
            return m[0]
        found = WIDTH.search(path.read_text(encoding='utf-8')[:2000])
        return f'{m[0]} style="--own: {float(found[1])*4/3:.0f}px"' if found else m[0]
    return IMAGE.sub(with_width, body)

# --- Boxes: a link to each ------------------------------------------------------------

BOX = re.compile(r'(<div class="proof [^>]*id="([^"]+)">\s*<p class="admonition-title">.*?)(</p>)',
                 re.S)
PERMALINK = r'\1<a class="headerlink" href="#\2" title="Link to this statement">¶</a>\3'

# --- The contents, and the sidebar that folds its parts -------------------------------

TOCTREE = re.compile(r'```\{toctree\}\n(.*?)```', re.S)
PART = re.compile(r'<p class="caption" role="heading">(.*?)</p>\s*(<ul.*?</ul>)'
                  r'(?=\s*(?:<p class="caption"|</div>|\Z))', re.S)

def first_words(path):
    "The first text of a notebook or a page in Markdown."
    text = path.read_text(encoding='utf-8')
    return ''.join(json.loads(text)['cells'][0]['source']) if path.suffix == '.ipynb' else text

def subtitle(env, page):
    "What a page says of itself below its title, in Markdown; an empty text if it says nothing."
    lines = first_words(Path(env.doc2path(page))).splitlines()
    return ' '.join(line[2:] for line in lines if line.startswith('> '))

# The pages below a page, each by the beginning of its name, in their order.
PAGES_BELOW = {
    '12': ['80'], '65': ['66'],
    '00_paper': ['00a', '00b', '00c', '00d', '00e'],
    'claims': ['tests'], '20': ['21'], '23': ['24'], '39': ['40', '41', '42', '87'],
    '27': ['26'], '30': ['29'], '32': ['37'], '33': ['34'], '28': ['35'],
    '64': ['75'], '67': ['68'],
    'bibliography': ['prf-prf', 'genindex'], '81': ['79'], '61': ['73', '74'],
    '60': ['59', '62', '63', '76', '83', '85', '86', '88', '90'],
}
VIRTUAL = 'prf-prf', 'genindex'                  # pages that have no source

def is_named(page, start):
    return re.match(rf'{start}(?![a-z\d])', page.rsplit('/', 1)[-1]) is not None

def below(env, page):
    "The pages that come below this one."
    starts = next((found for start, found in PAGES_BELOW.items() if is_named(page, start)), [])
    return [name for start in starts for name in sorted({*env.found_docs, *VIRTUAL})
            if is_named(name, start) and not name.startswith('api/')]

def add_below(app, docname, source):
    "Ends a page, when it is read, with the hidden list of those below it."
    entries = '\n'.join(f'/{p}' if p not in VIRTUAL else p for p in below(app.env, docname))
    text = f'```{{toctree}}\n:hidden:\n\n{entries}\n```'
    if entries and Path(app.env.doc2path(docname)).suffix == '.ipynb':
        nb = json.loads(source[0])
        nb['cells'].append(dict(cell_type='markdown', id='below', metadata={}, source=text))
        source[0] = json.dumps(nb)
    elif entries:
        source[0] += f'\n{text}\n'

def parts(env):
    """{part of the book: its pages, each before those below it}, as the contents at the end of the
    front page name them."""
    index = json.loads(Path(env.doc2path('index')).read_text(encoding='utf-8'))
    text = ''.join(index['cells'][-1]['source'])
    found = {}
    for block in TOCTREE.findall(text):
        entries = [e for e in block.split('\n') if e and not e.startswith(':')]
        found[re.search(r':caption: (.*)', block)[1]] = [
            (name, name != page) for e in entries
            for page in sorted(matching.patfilter(env.found_docs, e))
            for name in (page, *below(env, page)) if name not in VIRTUAL]
    return found

def list_chapters(app, docname, source):
    "Completes contents.md, when it is read, with a table of each part."
    if docname != 'contents':
        return
    for part, pages in parts(app.env).items():
        source[0] += f'\n## {part}\n\n| | page | what it holds |\n|---|---|---|\n'
        for page, is_below in pages:
            if page != docname:
                number = chapter_number(page) or ''
                title = f'– {{doc}}`/{page}`' if is_below else f'**{{doc}}`/{page}`**'
                source[0] += f'| {number} | {title} | {subtitle(app.env, page)} |\n'

def fold_parts(tree):
    "The parts of the sidebar fold; the one that the reader is in is open."
    def folded(m):
        here = ' open' if 'class="current' in m[2] else ''
        return f'<details class="part"{here}><summary>{m[1]}</summary>{m[2]}</details>'
    return PART.sub(folded, tree)

# --- All of it, page by page ----------------------------------------------------------

def finish_page(app, page, template, context, doctree):
    if not context.get('body'):
        return
    body = PLAIN.sub(r'\1', context['body'])
    body = BOX.sub(PERMALINK, LISTING.sub(fold, body))
    body = widths(body, Path(app.srcdir).parent/'build'/'jupyter_execute')
    both = slim_formulas(f"{body}\0{context.get('toc', '')}", app.katex_names)
    context['body'], context['toc'] = both.split('\0')
    context['furo_navigation_tree'] = fold_parts(context['furo_navigation_tree'])

SHEET = Path('_static', 'katex', 'katex.min.css')

def read_sheet(app):
    app.katex_names = short_names((Path(app.srcdir)/SHEET).read_text(encoding='utf-8'))

def write_sheet(app, exception):
    if exception is None:
        sheet = (Path(app.srcdir)/SHEET).read_text(encoding='utf-8')
        (Path(app.outdir)/SHEET).write_text(short_sheet(sheet, app.katex_names), encoding='utf-8')

# --- The index of statements ----------------------------------------------------------

KINDS = ('assumption', 'definition', 'algorithm', 'theorem', 'corollary', 'proposition', 'lemma',
         'remark', 'example', 'conjecture')

MANY = 40           # headings, of which the contents beside a page show two levels

def shorten_contents(app, doctree):
    if sum(1 for _ in doctree.findall(nodes.section)) > MANY:
        app.env.metadata[app.env.docname].setdefault('tocdepth', 2)

def title_of(node):
    "The words of a statement's title, without the brackets around it."
    return ' '.join(words(node).split()).removeprefix('(').removesuffix(')')

def statement_titles(app, doctree):
    "Keeps the title of each statement, which the index shows in place of its label."
    env = app.env
    if not hasattr(env, 'statement_titles'):
        env.statement_titles = {}
    for node in doctree.findall(lambda n: 'label' in getattr(n, 'attributes', {})
                                and 'realtype' in n.attributes):
        title = next(iter(node.findall(nodes.title)), None)
        env.statement_titles[node['label']] = title_of(title) if title is not None else ''

def statement_name(env, label):
    "How a statement is cited: 'Lemma 9.4', or its kind where it has no number."
    entry = env.proof_list[label]
    numbers = env.toc_fignumbers.get(entry['docname'], {}).get(entry['countertype'], {})
    number = '.'.join(map(str, numbers.get(label, ())))
    return f"{entry['realtype'].title()} {number}".strip()

def by_kind(self, docnames=None):
    "Statements by their kind, in the order of the book, each with its number and title."
    env, found = self.domain.env, defaultdict(list)
    for label, entry in getattr(env, 'proof_list', {}).items():
        title = getattr(env, 'statement_titles', {}).get(label, '')
        name = statement_name(env, label)
        numbers = [int(n) for n in re.findall(r'\d+', name)]
        page = env.titles[entry['docname']].astext()
        found[entry['realtype']].append((numbers, IndexEntry(
            f'{name}. {title}' if title else name, 0, entry['docname'], label, page, '', '')))
    order = sorted(found, key=lambda kind: KINDS.index(kind) if kind in KINDS else len(KINDS))
    return [(f'{kind.title()}s' if kind[-1] != 'y' else f'{kind.title()[:-1]}ies',
             [entry for _, entry in sorted(found[kind], key=lambda pair: pair[0])])
            for kind in order], False

# --- The search: prose, titles, statements and terms; neither code nor TeX ------------

NUMBERED = re.compile(r'((?:Lemma|Theorem|Corollary|Definition|Algorithm|Assumption|Remark|'
                      r'Example|Appendix|Table) [A-Z\d.]+)\b')

class Words(search.WordCollector):
    "What of a page is found: its prose, and as titles also its statements and terms."
    def dispatch_visit(self, node):
        if isinstance(node, (nodes.literal_block, nodes.math, nodes.math_block, nodes.raw)):
            raise nodes.SkipNode
        if isinstance(node, nodes.term) and node['ids']:
            self.found_titles.append((words(node).strip(), node['ids'][0]))
        if isinstance(node, nodes.title):
            parent = node.parent
            anchor = parent['ids'][0] if parent['ids'] else None
            text = title_of(node) if 'realtype' in parent.attributes else (
                ' '.join(words(node).split()))
            self.found_titles.append((text, anchor))
            if (m := NUMBERED.match(text)) and m[1] != text:
                self.found_titles.append((m[1].rstrip('.'), anchor))
            self.found_title_words.extend(self.lang.split(text))
            return
        super().dispatch_visit(node)

def subjects_of(app):
    "{page: entries of the general index} of the subjects of words.json."
    found, env = defaultdict(list), app.env
    statements = getattr(env, 'proof_list', {})
    path = Path(app.srcdir)/'tools'/'words.json'
    subjects = json.loads(path.read_text(encoding='utf-8'))['subjects']
    for target, names in subjects.items():
        page = statements[target]['docname'] if target in statements else target
        if page not in env.found_docs:
            logger.warning('words.json: neither a page nor a statement: %s', target)
            continue
        anchor = target if page != target else ''
        found[page] += [('single', name, anchor, 'main', None) for name in names]
    return found

def in_plain_words(text):
    "A line of Markdown without its roles, code and dollar signs."
    text = re.sub(r'\{\w+\}`([^`<]*?)(?: *<[^`]*)?`', r'\1', text)
    return re.sub(r'\$([^$]+)\$', lambda m: in_letters(m[1]), text).translate(
        str.maketrans('', '', '`*'))

def write_scorer(app, env):
    "The script of the search, after what it shows below the title of each page."
    said = {page: in_plain_words(subtitle(env, page)) for page in sorted(env.found_docs)}
    said = json.dumps({page: text for page, text in said.items() if text}, ensure_ascii=False)
    path = Path(app.doctreedir)/'search.js'
    script = Path(app.config.html_search_scorer).read_text(encoding='utf-8')
    path.write_text(f'const SUBTITLES = {said}\n{script}', encoding='utf-8')
    app.config.html_search_scorer = str(path)

def index_subjects(app, env):
    app.subjects = subjects_of(app)
    for page, entries in app.subjects.items():
        env.domains.index_domain.entries.setdefault(page, []).extend(entries)

def search_subjects(app, doctree, docname):
    "The search takes its entries from the page."
    if entries := app.subjects.get(docname):
        doctree.append(addnodes.index(entries=entries))

def setup(app):
    search.WordCollector = Words
    ProofIndex.localname, ProofIndex.generate = 'Statements', by_kind
    StandardDomain._virtual_doc_names['prf-prf'] = 'prf-prf', 'Statements'
    app.connect('builder-inited', read_sheet)
    app.connect('source-read', list_chapters)
    app.connect('source-read', add_below)
    app.connect('doctree-read', statement_titles)
    app.connect('doctree-read', shorten_contents)
    app.connect('env-updated', index_subjects)
    app.connect('env-updated', write_scorer)
    app.connect('doctree-resolved', describe_figures)
    app.connect('doctree-resolved', search_subjects)
    app.connect('doctree-resolved', titles_in_letters)
    app.connect('html-page-context', finish_page, priority=900)
    app.connect('build-finished', write_sheet)
    return {'parallel_read_safe': False, 'parallel_write_safe': False}
