"""What a reader may rely on in the built site, checked.

    python nbs/tools/check_site.py      one line a fault; build_docs.py runs it after each build

Every link arrives, every figure has words, no page is heavy, code fits into its column, numbers in
the text are those of cells, paper shows no buttons, pages that moved are still found, and the
search finds first what words.json says.
The last of these, and print, need a Chromium; without one they are left out, and said so.
"""
import json
import posixpath
import re
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from copies import chapter_paths, read_notebook

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path += [str(ROOT), str(ROOT/'nbs'), str(ROOT/'tests')]

HEAVIEST = 500_000              # bytes of a page
COLUMNS = 88                    # of a line of code in a notebook

HREF = re.compile(r'<(?:a|link)\b[^>]*?\shref="([^"]*)"')
SOURCE = re.compile(r'<(?:img|script)\b[^>]*?\ssrc="([^"]*)"')
IDENTITY = re.compile(r' (?:id|name)=(?:"([^"]+)"|([^\s>"]+))')
FIGURE = re.compile(r'<img\b[^>]*>')
WORDS = re.compile(r'\salt="([^"]*)"')
NO_WORDS = re.compile(r'\s*|A figure|.*\.(svg|png)')

def pages(docs):
    "Each page's path below docs/ and its text."
    return {p.relative_to(docs).as_posix(): p.read_text(encoding='utf-8')
            for p in sorted(docs.rglob('*.html'))}

# --- What the pages' text shows -------------------------------------------------------

def dead_links(docs, texts):
    "A link within the site leads to a file that is there, and to a place in it."
    files = {p.relative_to(docs).as_posix() for p in docs.rglob('*') if p.is_file()}
    anchors = {page: {unquote(a or b) for a, b in IDENTITY.findall(text)}
               for page, text in texts.items()}
    for page, text in texts.items():
        for target in sorted({*HREF.findall(text), *SOURCE.findall(text)} - {'', '#'}):
            url = urlsplit(target.replace('&amp;', '&'))
            if url.scheme or url.netloc:
                continue
            path, place = unquote(url.path), unquote(url.fragment)
            there = posixpath.normpath(posixpath.join(page, '..', path)) if path else page
            if there not in files and not (docs/there).is_file():
                yield f'{page}: no file for the link {target}'
            elif place and place not in anchors.get(there, {place}):
                yield f'{page}: no place for the link {target}'

def figures_without_words(docs, texts):
    "A figure says what it shows, which is more than where its file is."
    for page, text in texts.items():
        for image in FIGURE.findall(text):
            found = WORDS.search(image)
            if found is None or NO_WORDS.fullmatch(found[1]):
                yield f'{page}: no words for {image[:120]}'

def heavy_pages(docs, texts):
    for page in texts:
        if (size := (docs/page).stat().st_size) > HEAVIEST:
            yield f'{page}: {size:,} bytes, more than {HEAVIEST:,}'

def lost_pages(docs, texts, root=ROOT):
    "A page of an earlier edition leads to where its text is now."
    import build_docs
    for old, new in build_docs.redirects(root):
        if f'href="{build_docs.link(old, new)}"' not in texts.get(old, ''):
            yield f"{old}: doesn't lead to {new}"

def wide_code(root):
    "Code fits into the column that it is shown in."
    for path in chapter_paths(root/'nbs'):
        for cell in read_notebook(root/'nbs'/path)['cells']:
            widest = max(map(len, cell['source'].splitlines()), default=0)
            if cell['cell_type'] == 'code' and widest > COLUMNS:
                yield f'{path.stem}, cell {cell["id"]}: {widest} columns'

# --- Numbers in the text --------------------------------------------------------------

VOID = {'br', 'img', 'hr', 'input', 'meta', 'link', 'wbr', 'source', 'col', 'path', 'use'}
NUMBER = re.compile(r'(?<![\w.§-])(\d{1,3}(?:,\d{3})+|\d*\.\d{2,}|\d{3,}(?:\.\d)?)(?!\w)')
ANY_NUMBER = re.compile(r'\d*\.?\d+(?:e[-+]?\d+)?')
YEARS = range(1900, 2031)

def kind_of(tag, words):
    "What stands in an element: nothing to read, a caption, what a cell shows, or the article."
    if tag in ('a', 'script', 'style', 'math') or {'math', 'katex', 'caption-number'} & words:
        return 'skipped'
    if tag == 'figcaption':
        return 'caption'
    if tag in ('pre', 'table', 'code', 'svg') or 'cell' in words:
        return 'shown'
    return tag

class Article(HTMLParser):
    "The `prose` of a page and of its captions, and what its cells have `shown`."

    def __init__(self, page):
        super().__init__()
        self.prose, self.shown = [], []
        self.open = [('', frozenset())]     # tags, and what stands in them and around them
        self.feed(re.sub(r'(?s)<(math|script|style)\b.*?</\1>', '',
                         page[page.find('<article'):page.rfind('</article>')]))

    def handle_starttag(self, tag, attributes):
        if tag not in VOID:
            around = self.open[-1][1]
            if 'skipped' not in around:
                around |= {kind_of(tag, {*(dict(attributes).get('class') or '').split()})}
            self.open.append((tag, around))

    def handle_endtag(self, tag):
        at = next((i for i in reversed(range(len(self.open))) if self.open[i][0] == tag), None)
        del self.open[len(self.open) if at is None else at:]

    def handle_data(self, data):
        kinds = self.open[-1][1]
        if 'article' in kinds and 'skipped' not in kinds:
            by_cell = 'shown' in kinds and 'caption' not in kinds
            (self.shown if by_cell else self.prose).append(data)

def unheld_numbers(texts, held):
    "A longer number in the text is in the code or the output of a cell there, or `held` by a test."
    for name, page in texts.items():
        if 'class="cell' not in page:
            continue
        text, stem = Article(page), name.removesuffix('.html')
        chapter = re.match(r'0?(\d+)_', stem.rpartition('/')[2])
        shown = [float(x) for x in ANY_NUMBER.findall(re.sub('[,_]', '', ' '.join(text.shown)))]
        for number in NUMBER.findall(' '.join(text.prose)):
            value = float(number.replace(',', ''))
            near = .51*10.**-len(number.partition('.')[2])
            if not (value in YEARS or number in held.get(stem, ())
                    or chapter and number.startswith(chapter[1] + '.')
                    or any(abs(value - y) <= near or abs(value - 100*y) <= near for y in shown)):
                yield f'{name}: no cell shows {number}'

CODE = re.compile(r'```.*?```|`[^`\n]*`|^    .*?$', re.S | re.M)
MARKUP = re.compile(r'<[a-zA-Z/!][^>\n]*>')

def readme_markup(root):
    "README.md is Markdown alone: a code host prints style sheets, and drops pictures, in HTML."
    text = CODE.sub('', (root/'README.md').read_text(encoding='utf-8'))
    for m in MARKUP.finditer(text):
        if not m[0].startswith(('<http', '<mailto')):
            yield f'README.md: HTML, {m[0][:60]}'

# --- What a browser shows -------------------------------------------------------------

PAPER = ('.skip-to-content', 'button', '.sidebar-drawer', '.toc-drawer', '.headerlink',
         'p.notebook', '.related-pages')

def printed_tools(docs, browser):
    "Paper shows nothing to click at."
    page = min(docs.glob('paper/[01]*.html'), default=docs/'index.html')
    browser.open(page)
    browser.call('Emulation.setEmulatedMedia', media='print')
    shown = browser.value(f'''{json.dumps(PAPER)}.filter(s => [...document.querySelectorAll(s)]
        .some(e => e.checkVisibility()))''')
    browser.call('Emulation.setEmulatedMedia', media='')
    for selector in shown:
        yield f'{page.name}: {selector} is printed'

def first_hits(docs, browser, queries):
    "The address, below docs/, of what the search shows first for each query; '' for nothing."
    browser.open(docs/'search.html')
    browser.wait('typeof Search === "object" && Search.hasIndex()')
    return browser.value(f'''{json.dumps(queries)}.map(query => {{
        const found = Search._performSearch(...Search._parseQuery(query)).at(-1)
        return found ? `${{found[0]}}.html${{found[2]}}` : ''
    }})''')

def words_of(root):
    """Of words.json: `questions`, rows (question, words that are typed, page that is found first),
    and `ways`, rows (question, page that answers, words on it)."""
    return json.loads((root/'nbs'/'tools'/'words.json').read_text(encoding='utf-8'))

def lost_questions(docs, browser, rows):
    "The search finds first the page that answers."
    for (asked, words, page), hit in zip(rows, first_hits(docs, browser, [r[1] for r in rows])):
        if hit.partition('#')[0] != f'{page}.html':
            yield f'the search for {words!r} ({asked}) finds {hit or "nothing"}, not {page}.html'

# --- A reader's way -------------------------------------------------------------------

CLICKS = 2
ARTICLE = re.compile(r'(?s)<article.*?</article>')

def led_to(texts, page):
    "The pages that the text of a page leads to, with what its links say."
    article = ARTICLE.search(texts.get(page, ''))
    for target, said in re.findall(r'(?s)<a\b[^>]*?\shref="([^"]*)"[^>]*>(.*?)</a>',
                                   article[0] if article else ''):
        url = urlsplit(target)
        if not url.scheme and url.path:
            yield (posixpath.normpath(posixpath.join(posixpath.dirname(page), url.path)),
                   re.sub(r'<[^>]*>', '', said))

def ways(texts, start='index.html'):
    "{page: what is clicked on the way to it}, from the front page, with `CLICKS` at most."
    found = {start: ()}
    for _ in range(CLICKS):
        for page, way in list(found.items()):
            for there, said in led_to(texts, page):
                found.setdefault(there, (*way, said))
    return found

def lost_readers(texts, rows):
    "From the front page each question is answered within `CLICKS`, by links in the text."
    found = ways(texts)
    for asked, page, words in rows:
        if f'{page}.html' not in found:
            yield f'{asked} {page}.html is more than {CLICKS} clicks from the front page'
        elif words not in re.sub(r'<[^>]*>', '', texts.get(f'{page}.html', '')):
            yield f"{asked} {page}.html doesn't say {words!r}"

# --- All of it ------------------------------------------------------------------------

def faults(root, docs):
    "One line a fault."
    texts = pages(docs)
    for check in dead_links, figures_without_words, heavy_pages, lost_pages:
        yield from check(docs, texts)
    yield from lost_readers(texts, words_of(root)['ways'])
    yield from unheld_numbers(texts, words_of(root)['held'])
    yield from wide_code(root)
    yield from readme_markup(root)
    import browser
    if not browser.installed():
        print('no Chromium: neither print nor the search was checked', file=sys.stderr)
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, \
            browser.Browser(folder) as window:
        yield from printed_tools(docs, window)
        yield from lost_questions(docs, window, words_of(root)['questions'])

if __name__ == '__main__':
    sys.exit('\n'.join(faults(ROOT, ROOT/'docs')) or None)
