"The glossary names what there is, and the first use of a term in a chapter leads to it."
import io
import json
import re
import sys

import pytest

from conftest import ROOT

pytest.importorskip('myst_parser')
from docutils import nodes  # noqa: E402
from sphinx.application import Sphinx  # noqa: E402
from sphinx.util.docutils import docutils_namespace  # noqa: E402

NBS = ROOT/'nbs'
GLOSSARY = '\n'.join(''.join(cell['source']) for cell in json.loads(
    (NBS/'glossary.ipynb').read_text(encoding='utf-8'))['cells'])
ENTRIES = re.search(r'(?s)````\{glossary\}\n(.*?)````', GLOSSARY)[1]
TERMS = re.findall(r'(?m)^(\S.*)$', ENTRIES)

@pytest.fixture(autouse=True)
def terms(monkeypatch):
    monkeypatch.syspath_prepend(str(NBS))
    import terms
    yield terms
    sys.modules.pop('terms', None)

def resolved(folder, text, name='01_chapter'):
    "The resolved doctree of a chapter beside a glossary of three terms."
    source = folder/'source'
    source.mkdir()
    (source/'index.md').write_text(
        f'# Book\n\n```{{toctree}}\n{name}\n```\n\n```{{glossary}}\narm\n  A way.\n\n'
        'best response\n  What is best.\n\nboundary\n  An edge.\n```\n', encoding='utf-8')
    (source/f'{name}.md').write_text(text, encoding='utf-8')
    said = io.StringIO()
    with docutils_namespace():
        app = Sphinx(source, None, folder/'out', folder/'trees', 'html', status=None,
                     confoverrides=dict(extensions=['myst_parser', 'terms'],
                                        myst_enable_extensions=['dollarmath']), warning=said)
        app.builder.read()
        tree = app.env.get_and_resolve_doctree(name, app.builder)
    assert not said.getvalue()
    return tree

def links(tree):
    return [(x.astext(), x['refuri']) for x in tree.findall(nodes.reference)
            if 'term' in x['classes']]

def test_the_first_use_in_prose_is_a_link_and_no_other(tmp_path):
    tree = resolved(tmp_path, '# Arms of a best response\n\nSome `arm`, $arm$, [arm](x.md#y) and '
                    '**two\narms**, each a Best Response; arms have boundaries, an arm has a '
                    'best response, and harms none.\n'.replace('[arm](x.md#y)', '<https://arm.org>'))
    assert links(tree) == [('arms', 'index.html#term-arm'),
                           ('Best Response', 'index.html#term-best-response'),
                           ('boundaries', 'index.html#term-boundary')]
    assert 'two\narms, each a Best Response; arms have' in tree.astext()

def test_a_word_with_an_everyday_meaning_is_told_by_its_company(terms):
    finder = terms.Finder(TERMS)
    assert not finder.next('it supports what we report in any event, and answers prior to this')
    found = []
    text = 'The oracle\'s margin is no target accuracy, on the event that the support is known.'
    while hit := finder.next(text):
        found.append(hit[0])
        text = text[hit[2]:]
    assert found == ['margin', 'target', 'event', 'support']

def test_every_form_belongs_to_an_entry(terms):
    assert set(terms.FORMS) <= set(TERMS) and len(TERMS) == len(set(TERMS)) >= 60
    assert [t.lower() for t in TERMS] == sorted((t.lower() for t in TERMS),
                                                key=lambda t: t.replace('-', ' '))

def test_chapters_are_called_by_their_numbers():
    for number, page in re.findall(r'\{doc\}`(\d+) <(.+?)>`', ENTRIES):
        assert (NBS/f'{page[1:]}.ipynb').exists() and f'/{int(number):02}_' in page, page

def test_every_term_is_used_in_some_chapter(terms):
    finder = terms.Finder(TERMS)
    for path in sorted(NBS.rglob('[0-9]*.ipynb')):
        for cell in json.loads(path.read_text(encoding='utf-8'))['cells']:
            if cell['cell_type'] == 'markdown':
                text = ''.join(cell['source'])
                while hit := finder.next(text):
                    text = text[hit[2]:]
    assert not finder.left, finder.left
