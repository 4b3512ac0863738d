"""The book as a reader gets it: every chapter as a notebook that runs, with nothing but the
installed package.  `setup.py` puts it into a wheel, and `build_docs.py` below docs/.
"""
import json
import re
import shutil
from pathlib import Path

def chapter_paths(folder):
    "The notebooks below `folder`, as paths relative to it, in the order of the book."
    return sorted(
        p.relative_to(folder) for p in folder.rglob('*.ipynb')
        if not any(part.startswith(('_', '.')) for part in p.relative_to(folder).parts))

# --- References ---------------------------------------------------------------------

LABEL = re.compile(
    r'(?m)^:label: (\S+)|\$\$ \((\S+)\)|^\(([\w-]+)\)=|"name": "(fig-\S+?)"')

def read_notebook(path):
    "A notebook as nested dicts, the source of each cell as one string."
    nb = json.loads(path.read_text(encoding='utf-8'))
    for cell in nb['cells']:
        cell['source'] = ''.join(cell['source'])
    return nb

def title_of(nb):
    "The first heading of a notebook."
    text = '\n'.join(c['source'] for c in nb['cells'] if c['cell_type'] == 'markdown')
    return re.search(r'(?m)^# (.+)$', text)[1]

def labels_of(nb):
    "The labels that a notebook defines: of statements, formulas, sections, figures."
    texts = [c['source'] for c in nb['cells'] if c['cell_type'] == 'markdown']
    text = '\n'.join(texts + [json.dumps(c['metadata']) for c in nb['cells']])
    return {name for found in LABEL.findall(text) for name in found if name}

def cited(folder):
    """The words for each key of refs.bib:
    `{'wang2025': ('Wang, Li and Wang', '2025'), …}`."""
    words = {}
    text = (folder/'refs.bib').read_text(encoding='utf-8')
    for key, body in re.findall(r'(?ms)^@\w+\{(\S+?),(.*?)(?=^@|\Z)', text):
        people = re.search(r'(?s)(?:author|editor)\s*=\s*\{(.*?)\}\s*,\s*\n', body)
        names = re.split(r'\s+and\s+', people[1]) if people else [key]
        names = [re.sub(r'[{}\\"\']', '', n.split(',')[0]).strip() for n in names]
        listed = ' and '.join(filter(None, [', '.join(names[:-1]), names[-1]]))
        year = re.search(r'year\s*=\s*\{?(\d{4})', body)
        words[key] = listed, year[1] if year else 'n.d.'
    return words

def in_words(text, here, where, sources, own):
    """The Markdown `text` of the chapter `here` for Jupyter. `where` maps a label or
    a page to (path, title), `sources` a key of refs.bib to words, `own` are the
    chapter's own labels."""
    def link(target, shown=None):
        path, title = where[target]
        up = '../'*(len(here.parts) - 1)
        return f'[{shown or title}]({up}{path.as_posix()})'
    def reference(m):
        role, target = m[1], m[2]
        named = re.fullmatch(r'(.*?)\s*<(.+)>', target)
        target = named[2] if named else target
        if role == 'paper':
            return named[1] if named else target
        if role == 'erratum':
            entry = f'sec-{target.lower()}'
            return link(entry, target) if entry in where else target
        if role == 'doc':
            page = (Path('/')/here.parent/target).relative_to('/').as_posix()
            return link(page) if page in where else f'*{named[1] if named else page}*'
        return link(target) if target in where and target not in own else m[0]
    def citation(m):
        parts = [sources[key.strip()] for key in m[2].split(',')]
        if m[1] == 't':
            return '; '.join(f'{names} ({year})' for names, year in parts)
        return '(' + '; '.join(f'{names}, {year}' for names, year in parts) + ')'

    text = re.sub(r'\{(doc|prf:ref|eq|numref|ref|paper|erratum)\}`([^`]+)`', reference, text)
    text = re.sub(r'\{cite:([pt])\}`([^`]+)`', citation, text)
    return re.sub(r'(?s)```\{toctree\}.*?```\n?', '', text)

OWNERS = dict(paper='Paper', corrected='Paper, corrected', known='Known', ours='Ours')
OWNED = re.compile(r'(?m)^(:{3,}\{prf:\w+\}.*)\n(:label: .*\n)?:class: (%s)$'
                   % '|'.join(OWNERS))

def with_owners(text):
    "The Markdown `text` with the owner of each statement in its title."
    return OWNED.sub(lambda m: f'{m[1]} · {OWNERS[m[3]]}\n{m[2] or ""}:class: {m[3]}',
                     text)

# --- Cells --------------------------------------------------------------------------

DIRECTIVES = re.compile(r'^(\s*#\s*\|.*\n?)+')
NOT_RUN = re.compile(r'^\s*#\s*\|\s*eval: false')
INTRODUCTION = """\
*A copy to play with.* **Run → Run All Cells** plays the chapter; it writes nothing. \
Cells that define something run the package's own code: change a line, then run this \
cell and all below, and see which assertion falls. The exercises at the end say \
where to begin."""

def plain_code(code):
    "The code without its leading directives."
    return DIRECTIVES.sub('', code)

def handed_out(nb, here, where, sources):
    """The notebook as a reader gets it: no directive, no build cell, an introduction
    after the title."""
    own, cells = labels_of(nb), []
    for cell in nb['cells']:
        if cell['cell_type'] == 'markdown':
            text = in_words(with_owners(cell['source']), here, where=where,
                            sources=sources, own=own)
            cells.append(cell | dict(source=text))
            continue
        if NOT_RUN.match(cell['source']):
            shown = f"```python\n{plain_code(cell['source'])}\n```"
            cells.append(
                dict(cell_type='markdown', id=cell['id'], metadata={}, source=shown))
            continue
        folds = dict(jupyter=dict(source_hidden=True))
        folded = 'solution' in cell['metadata'].get('tags', [])
        cells.append(cell | dict(source=plain_code(cell['source']), outputs=[],
                                 execution_count=None,
                                 metadata=cell['metadata'] | (folds if folded else {})))
    cells = [cell for cell in cells if cell['source'].strip()]
    cells.insert(1, dict(cell_type='markdown', id='introduction', metadata={},
                         source=INTRODUCTION))
    return nb | dict(cells=cells)

def write_book(source, folder):
    "The book of the folder `source` (nbs/), ready to run, in the new `folder`."
    books = {path: read_notebook(source/path) for path in chapter_paths(source)}
    where = {}
    for path, nb in books.items():
        place = path, title_of(nb)
        where |= dict.fromkeys([path.with_suffix('').as_posix(), *labels_of(nb)], place)
    sources = cited(source)
    for path, nb in books.items():
        (folder/path).parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(handed_out(nb, path, where, sources), indent=1, ensure_ascii=False)
        (folder/path).write_text(text + '\n', encoding='utf-8')
        shutil.copy(source/'matplotlibrc', folder/path.parent)
    (folder/'_static').mkdir()
    for data in sorted((source/'_static').glob('*.*')):
        if data.suffix in ('.csv', '.json', '.toml'):
            shutil.copy(data, folder/'_static')
