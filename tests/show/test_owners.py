"Every numbered statement of the book has one owner, and the build notices one that has none."
import io
import json
import re
import sys

import pytest

from conftest import ROOT

pytest.importorskip('sphinx_proof')
pytest.importorskip('sphinxcontrib.bibtex')
from sphinx.application import Sphinx  # noqa: E402
from sphinx.util.docutils import docutils_namespace  # noqa: E402

NBS = ROOT/'nbs'
BOX = re.compile(r'(?ms)^(:{3,})(\{prf:(?!proof)\w+\}.*?)^\1\s*$')

@pytest.fixture(autouse=True)
def extensions_of_the_site(monkeypatch):
    monkeypatch.syspath_prepend(str(NBS))
    yield
    sys.modules.pop('owners', None)

def read(folder, pages):
    "What the extension says of the pages (name: Markdown), and their doctrees."
    source = folder/'source'
    source.mkdir()
    (source/'refs.bib').write_bytes((NBS/'refs.bib').read_bytes())
    for name, text in pages.items():
        (source/f'{name}.md').write_text(f'# {name}\n\n{text}\n', encoding='utf-8')
    said = io.StringIO()
    with docutils_namespace():
        app = Sphinx(source, None, folder/'out', folder/'trees', 'dummy',
                     confoverrides=dict(
                         extensions=['myst_parser', 'sphinx_proof', 'sphinxcontrib.bibtex',
                                     'owners'], bibtex_bibfiles=['refs.bib'],
                         bibtex_reference_style='author_year', root_doc='first',
                         myst_enable_extensions=['dollarmath', 'amsmath', 'colon_fence']),
                     status=None, warning=said, keep_going=True)
        app.builder.read()
        trees = {name: app.env.get_doctree(name) for name in pages}
    return [line for line in said.getvalue().splitlines() if '[owners]' in line], trees

def box(owner, body='Two and two is four.', title='Sums'):
    classes = f':class: {owner}\n' if owner else ''
    return f':::{{prf:lemma}} {title}\n:label: lem-sums\n{classes}\n{body}\n:::'

@pytest.mark.parametrize('owner, body, wrong', [('', 'It is so.', 'no owner'),
                                                ('paper ours', 'It is so.', 'paper and ours'),
                                                ('theirs', 'It is so.', 'no owner'),
                                                ('known', 'It is so.', 'names its source')])
def test_a_wrong_owner_is_noticed(tmp_path, owner, body, wrong):
    said, _ = read(tmp_path, {'first': box(owner, body)})
    assert len(said) == 1 and wrong in said[0] and 'lem-sums' in said[0]

def test_every_statement_of_the_book_has_an_owner(tmp_path):
    pages = {}
    for path in sorted(NBS.rglob('*.ipynb')):
        cells = json.loads(path.read_text(encoding='utf-8'))['cells']
        boxes = [m[0] for c in cells if c['cell_type'] == 'markdown'
                 for m in BOX.finditer(''.join(c['source']))]
        if boxes:
            pages[path.stem] = '\n\n'.join(boxes)
    pages['first'] = 'All of them.'
    said, trees = read(tmp_path, pages)
    assert not said, '\n'.join(said)
    assert sum(len(list(tree.findall(lambda n: 'owner' in n.get('classes', []) if hasattr(n, 'get')
                                     else False))) for tree in trees.values()) > 100
