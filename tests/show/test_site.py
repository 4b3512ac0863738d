"""The site keeps what check_site.py asks of it; each check finds a fault that was planted."""
import html
import json
import re

import nbformat
import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell

import build_docs
import check_site
import copies
import nbdev_myst
import pages
from conftest import ROOT

PAGE = """<html><body data-theme="light"><a class="skip-to-content" href="#here">Skip</a>
<a href="b.html#there">b</a><img alt="A rule as a convex function" src="a.svg"><p id="here"></p>
</body></html>"""

@pytest.fixture
def site(tmp_path):
    "A small site without a fault."
    for name, text in {'docs/paper/01_a.html': PAGE, 'docs/paper/b.html': '<p id=there></p>',
                       'docs/paper/a.svg': '<svg width="72pt"/>',
                       'nbs/a.ipynb': notebook('x = 1')}.items():
        (tmp_path/name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path/name).write_text(text, encoding='utf-8')
    return tmp_path

def notebook(source):
    return json.dumps({'cells': [{'cell_type': 'code', 'id': 'abcdef01', 'source': source}]})

def found(check, site):
    docs = site/'docs'
    return list(check(docs, check_site.pages(docs)))

PLAIN = check_site.dead_links, check_site.figures_without_words, check_site.heavy_pages

def test_faults_of_a_small_site(site):
    assert [line for check in PLAIN for line in found(check, site)] == []
    assert list(check_site.wide_code(site)) == []
    (site/'nbs'/'a.ipynb').write_text(notebook('x = 1\ny = ' + '1'*85), encoding='utf-8')
    assert list(check_site.wide_code(site)) == ['a, cell abcdef01: 89 columns']

@pytest.mark.parametrize('check, old, new, expected', [
    (check_site.dead_links, 'b.html#there', 'c.html', 'no file for the link c.html'),
    (check_site.dead_links, '#there', '#nowhere', 'no place for the link b.html#nowhere'),
    (check_site.dead_links, '"#here"', '"#away"', 'no place for the link #away'),
    (check_site.figures_without_words, 'A rule as a convex function', 'a.svg', 'no words'),
    (check_site.figures_without_words, 'alt="A rule as a convex function"', '', 'no words'),
    (check_site.heavy_pages, '</body>', 'x'*check_site.HEAVIEST, 'bytes, more than')])
def test_fault_on_a_page_is_found(site, check, old, new, expected):
    page = site/'docs'/'paper'/'01_a.html'
    page.write_text(PAGE.replace(old, new), encoding='utf-8')
    lines = found(check, site)
    assert len(lines) == 1 and expected in lines[0] and lines[0].startswith('paper/01_a.html')

def test_the_copy_needs_no_tools(tmp_path):
    "No directive, no role that Jupyter doesn't know, owners in words, and the paths of `nbs`."
    book = tmp_path/'book'
    copies.write_book(ROOT/'nbs', book)
    paths = copies.chapter_paths(book)
    assert paths == copies.chapter_paths(ROOT/'nbs') and len(paths) > 60
    cells = [c for p in paths for c in copies.read_notebook(book/p)['cells']]
    code, text = ('\0'.join(c['source'] for c in cells if c['cell_type'] == kind)
                  for kind in ('code', 'markdown'))
    assert not any(mark in text for mark in ('{doc}`', '{cite:', '{toctree}'))
    assert ' · Paper, corrected\n' in text
    assert not re.search(r'\0#\||\0[^\n]*nbdev', code)
    assert (book/'_static'/'claims.toml').exists()
    assert all((book/p.parent/'matplotlibrc').exists() for p in paths)
    for said, left in ('#| export\n#| hide\nx = 1', 'x = 1'), ('x = 1\n#| export', ) * 2:
        assert copies.plain_code(said) == left

def test_lost_page_is_found():
    pairs = list(build_docs.redirects(ROOT))
    texts = {old: f'<a href="{build_docs.link(old, new)}">' for old, new in pairs[1:]}
    assert list(check_site.lost_pages(None, texts)) == [
        f"{pairs[0][0]}: doesn't lead to {pairs[0][1]}"]

# --- In a browser ---------------------------------------------------------------------

def test_printed_button_is_found(site, window):
    page = site/'docs'/'paper'/'01_a.html'
    hidden = '<style>@media print { .skip-to-content { display: none } }</style>'
    for more, faults in (hidden, []), ('', ['01_a.html: .skip-to-content is printed']):
        page.write_text(PAGE + more, encoding='utf-8')
        assert list(check_site.printed_tools(site/'docs', window)) == faults

def test_lost_question_is_found(window):
    asked, words, page = check_site.words_of(ROOT)['questions'][-1]
    lost = lambda page: list(check_site.lost_questions(ROOT/'docs', window, [[asked, words, page]]))
    assert lost(page) == [] and lost('paper/errata')[0].endswith('not paper/errata.html')

def test_site():
    "docs/, as it stands, has no fault."
    assert list(check_site.faults(ROOT, ROOT/'docs')) == []

def test_a_reader_who_is_lost_is_found():
    page = '<nav><a href="b/far.html">no</a></nav><article>{}</article>'.format
    texts = {'index.html': page('<a class="x" href="b/c.html#d">In</a>'),
             'b/c.html': page('<a href="../d.html">on</a>'), 'd.html': page('Here <b>it</b> is.'),
             'b/far.html': ''}
    assert check_site.ways(texts)['d.html'] == ('In', 'on')
    rows = [('Where?', 'd', 'Here it'), ('What?', 'd', 'not'), ('How?', 'b/far', '')]
    assert list(check_site.lost_readers(texts, rows)) == [
        "What? d.html doesn't say 'not'",
        'How? b/far.html is more than 2 clicks from the front page']

@pytest.mark.parametrize('prose, lost', [
    ('In 1,234 rounds or .25 of 2025', []), ('25 % at least, .123 less', ['.123']),
    ('<a>987</a> as in <span class="math">876</span> 3.10', []), ('after 765', ['765'])])
def test_a_number_that_no_cell_shows_is_found(prose, lost):
    page = ('<article><p>{}</p><div class="cell"><pre>1234, 0.25</pre>'
            '<figcaption>{}</figcaption></div></article>')
    for text in (prose, ''), ('', prose):
        found = check_site.unheld_numbers({'a/03_b.html': page.format(*text)}, {'c': ['765']})
        assert [line.rpartition(' ')[2] for line in found] == lost

# --- What pages.py does to a page -----------------------------------------------------

CODE = """def f(x):
    '''What f does.

    Arguments
    ---------
    x : float
    '''
    if x < 0:
        raise ValueError
    if x > 1:
        raise ValueError(1)
    return x
"""

def test_docstrings_and_checks_fold_and_nothing_is_lost():
    assert pages.folds(CODE) == [(1, 2, 7, 'doc'), (7, 8, 11, 'checks')]
    listing = f'<div class="highlight-ipython3 x"><div class="highlight"><pre>{html.escape(CODE)}'
    shown = pages.LISTING.sub(pages.fold, f'{listing}</pre></div></div>')
    assert shown.count('<details') == 2 and html.unescape(re.sub('<[^>]*>', '', shown)) == CODE
    assert pages.folds('def f(x):\n    "One line."\n    return x') == []

@pytest.mark.parametrize('code, bar', [
    ('x = 1', None), ('import a', None), ('import a\nfrom b import c', 'imports'),
    ('x = 1\n'*16, 'the code'), ('x = f(1)\nassert x', 'checks'), ('#| hide\nassert x', None),
    ('for x in y:\n    test_eq(x, 1)', 'checks'),
    ('def f(): return 1\n' + 'f()\n'*15, 'the code of f')])
def test_long_code_and_checks_fold(code, bar):
    "On every page but the one that is the module."
    for title, wanted in ('# A chapter', bar), (nbdev_myst.OPEN, None):
        cells = [nbformat.v4.new_markdown_cell(title), nbformat.v4.new_code_cell(code)]
        book = nbdev_myst.read(json.dumps(nbformat.v4.new_notebook(cells=cells)))
        assert book.cells[-1].metadata.get('mystnb', {}).get('code_prompt_show') == wanted

def test_numbers_on_a_page_have_six_digits():
    shell = InteractiveShell()
    shell.run_cell(nbdev_myst.FIRST.split('\n', 1)[1], silent=True)
    values = .1 + .2, np.float64(1/3), {'a': (2/3, 7)}, 1234567.8, float('inf'), True
    assert [*map(shell.display_formatter.formatters['text/plain'], values)] == [
        '0.3', '0.333333', "{'a': (0.666667, 7)}", '1,234,568', 'inf', 'True']

# --- What is made of docstrings, of the contents and of a rule on paper ----------------

def test_a_list_of_parameters_is_held_against_the_signature():
    "What is raised is no parameter."
    lines = nbdev_myst.sections(['Do it.', '', 'Parameters', '----------', 'eps, delta : float',
                                 'world : World', '    Whose.', '', 'Raises `InvalidInput`.'])
    assert nbdev_myst.documented(lines) == ['eps', 'delta', 'world']
    assert lines[lines.index('Errors') + 1] == '------'
    assert nbdev_myst.misnamed(lambda eps, delta, world: 0, lines) == []
    assert nbdev_myst.misnamed(lambda eps, delta, planet: 0, lines) == ['planet', 'world']

def test_a_page_is_below_one_other_at_most():
    starts = [start for found in pages.PAGES_BELOW.values() for start in found]
    files = [p.stem for p in (ROOT/'nbs').rglob('*.*') if p.suffix in ('.ipynb', '.md')]
    assert len(starts) == len(set(starts)) and not set(starts) & set(pages.PAGES_BELOW)
    for start in {*starts, *pages.PAGES_BELOW} - {*pages.VIRTUAL}:
        assert sum(pages.is_named(name, start) for name in files) == 1, start
    assert pages.is_named('a/08_b', '08') and not pages.is_named('a/080', '08')

@pytest.mark.parametrize('text, wrong', [
    ('A <b>rule</b>.', 2), ('See <https://a.b>, `x < y`, $a<b$.', 0),
    ('```html\n<p>\n```\n\n    <p>\n', 0), ('<style>p{}</style>', 2)])
def test_html_in_the_readme_is_found(text, wrong, tmp_path):
    (tmp_path/'README.md').write_text(text, encoding='utf-8')
    assert len(list(check_site.readme_markup(tmp_path))) == wrong
