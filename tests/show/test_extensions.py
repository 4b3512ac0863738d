"""What the site's own extensions do: the glossary names what there is, the first use of a term in a
chapter leads to it, and every numbered statement has one owner."""
import io
import re
import sys

import pytest

from conftest import ROOT
from copies import read_notebook

for name in 'myst_parser', 'sphinx_proof', 'sphinxcontrib.bibtex':
    pytest.importorskip(name)
from docutils import nodes  # noqa: E402
from sphinx.application import Sphinx  # noqa: E402
from sphinx.util.docutils import docutils_namespace  # noqa: E402

NBS = ROOT/'nbs'

def prose(path):
    cells = read_notebook(path)['cells']
    return '\n'.join(c['source'] for c in cells if c['cell_type'] == 'markdown')

@pytest.fixture(autouse=True)
def terms():
    "The extensions are imported anew."
    import terms
    yield terms
    for name in 'terms', 'owners':
        sys.modules.pop(name, None)

def built(folder, pages, *extensions, **options):
    "What Sphinx says of the pages (name: Markdown), their doctrees, and the last one resolved."
    source = folder/'source'
    source.mkdir()
    (source/'refs.bib').write_bytes((NBS/'refs.bib').read_bytes())
    for name, text in pages.items():
        (source/f'{name}.md').write_text(text, encoding='utf-8')
    said = io.StringIO()
    with docutils_namespace():
        app = Sphinx(source, None, folder/'out', folder/'trees', 'html', status=None, warning=said,
                     keep_going=True, confoverrides=options | dict(
                         extensions=['myst_parser', *extensions],
                         myst_enable_extensions=['dollarmath', 'amsmath', 'colon_fence']))
        app.builder.read()
        read = {name: app.env.get_doctree(name) for name in pages}
        last = app.env.get_and_resolve_doctree(name, app.builder)
    return said.getvalue(), read, last

ENTRIES = re.search(r'(?s)````\{glossary\}\n(.*?)````', prose(NBS/'glossary.ipynb'))[1]
TERMS = re.findall(r'(?m)^(\S.*)$', ENTRIES)

def test_the_first_use_in_prose_is_a_link_and_no_other(tmp_path):
    said, _, tree = built(tmp_path, {
        'index': '# Book\n\n```{toctree}\n01_chapter\n```\n\n```{glossary}\narm\n  A way.\n\n'
                 'best response\n  What is best.\n\nboundary\n  An edge.\n```\n',
        '01_chapter': '# Arms of a best response\n\nSome `arm`, $arm$, <https://arm.org> and '
                      '**two\narms**, each a Best Response; arms have boundaries, an arm has a '
                      'best response, and harms none.\n'}, 'terms')
    links = [(x.astext(), x['refuri']) for x in tree.findall(nodes.reference)
             if 'term' in x['classes']]
    assert not said and links == [('arms', 'index.html#term-arm'),
                                  ('Best Response', 'index.html#term-best-response'),
                                  ('boundaries', 'index.html#term-boundary')]
    assert 'two\narms, each a Best Response; arms have' in tree.astext()

def uses(finder, text):
    "The terms that a finder finds in a text, one after the other."
    found = []
    while hit := finder.next(text):
        found.append(hit[0])
        text = text[hit[2]:]
    return found

def test_a_word_with_an_everyday_meaning_is_told_by_its_company(terms):
    text = 'The oracle\'s margin is no target accuracy, on the event that the support is known.'
    assert uses(terms.Finder(TERMS), text) == ['margin', 'target', 'event', 'support']
    text = 'it supports what we report in any event, and answers prior to this'
    assert uses(terms.Finder(TERMS), text) == []

def test_every_form_belongs_to_an_entry(terms):
    assert set(terms.FORMS) <= set(TERMS) and len(TERMS) == len(set(TERMS)) >= 60
    assert [t.lower() for t in TERMS] == sorted((t.lower() for t in TERMS),
                                                key=lambda t: t.replace('-', ' '))

def test_chapters_are_called_by_their_numbers():
    for number, page in re.findall(r'\{doc\}`(\d+) <(.+?)>`', ENTRIES):
        assert (NBS/f'{page[1:]}.ipynb').exists() and f'/{int(number):02}_' in page, page

def test_every_term_is_used_in_some_chapter(terms):
    left = terms.Finder(TERMS)
    for path in NBS.rglob('[0-9]*.ipynb'):
        uses(left, prose(path))
    assert not left.left, left.left

# --- Owners ---------------------------------------------------------------------------

@pytest.mark.parametrize('owner, body, wrong', [
    ('ours', 'It is so.', None), ('', 'It is so.', 'no owner'),
    ('paper ours', 'It is so.', 'paper and ours'),
    ('theirs', 'It is so.', 'no owner'), ('known', 'It is so.', 'names its source')])
def test_a_wrong_owner_is_noticed(tmp_path, owner, body, wrong):
    "Of the book's own statements the build says it."
    of = f':class: {owner}\n' if owner else ''
    box = f':::{{prf:lemma}} Sums\n:label: lem-sums\n{of}\n{body}\n:::'
    said, trees, _ = built(tmp_path, {'first': f'# first\n\n{box}\n'}, 'sphinx_proof',
                           'sphinxcontrib.bibtex', 'owners', bibtex_bibfiles=['refs.bib'],
                           bibtex_reference_style='author_year', root_doc='first')
    said = [line for line in said.splitlines() if '[owners]' in line]
    owned = sum('owner' in n['classes'] for n in trees['first'].findall(nodes.Element))
    assert (owned, said) == (1, []) if wrong is None else len(said) == 1 and wrong in said[0]
    assert wrong is None or 'lem-sums' in said[0]
