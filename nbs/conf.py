"Sphinx configuration: this folder is the source of the site.  Built by build_docs.py."
import os
import sys
from configparser import ConfigParser
from datetime import datetime, timezone
from hashlib import sha256
from pathlib import Path
from sphinx.util.inspect import TypeAliasForwardRef

here = Path(__file__).resolve().parent
root = here.parent
sys.path[:0] = [str(root), str(here), str(here/'tools')]

ini = ConfigParser(delimiters=['='])
ini.read(root/'settings.ini', encoding='utf-8')
cfg = ini['DEFAULT']
project, author, copyright = cfg['lib_name'], cfg['author'], cfg['copyright']
version = release = cfg['version']

# What the notebooks' kernels inherit: this very package, one date (Sphinx puts its year into the
# footer), our figure style, one thread a solver.
year = datetime(int(copyright[:4]), 1, 1, tzinfo=timezone.utc)
os.environ['SOURCE_DATE_EPOCH'] = str(int(year.timestamp()))
os.environ['PYTHONPATH'] = os.pathsep.join(filter(None, [str(root), os.environ.get('PYTHONPATH')]))
os.environ['MATPLOTLIBRC'] = str(here/'matplotlibrc')
os.environ['OMP_NUM_THREADS'] = '1'
os.environ.pop('JPY_SESSION_NAME', None)      # a page shows figures, not widgets

extensions = [
    'myst_nb', 'nbdev_myst', 'pages', 'paper_refs', 'paper_graph', 'sphinx_proof',
    'sphinxcontrib.bibtex',
    'sphinxcontrib.katex', 'sphinx_copybutton', 'sphinx.ext.autodoc',
    'sphinx.ext.napoleon', 'owners', 'terms'
]
# as for nbdev, a leading underscore marks a scratch notebook
exclude_patterns = ['_*', '**/_*', '**/.*']

# Pages
html_theme, html_title = 'furo', f'{project} {version}'
html_static_path, html_css_files = ['_static'], ['custom.css', 'paper.css']
html_js_files = ['sidebar.js']
html_show_sourcelink = html_copy_source = False
html_search_scorer = str(here/'tools'/'search.js')
templates_path = []

# Notebooks.  The cache is keyed by code cells alone, so all else that they depend on goes into its
# path.
myst_enable_extensions = [
    'dollarmath', 'amsmath', 'colon_fence', 'deflist', 'attrs_inline', 'attrs_block'
]
myst_heading_anchors = 3
nb_custom_formats = {'.ipynb': 'nbdev_myst.read'}
nb_execution_mode, nb_execution_timeout = 'cache', 600
nb_execution_raise_on_error = True
dependencies = sorted([
    *root.glob('oia_nb/**/*.py'), *root.glob('oia_nb/data/*'),
    *root.glob('oia_nb/js/*'), here/'matplotlibrc'
])
nb_execution_cache_path = str(root/'build'/'cache'
                              /sha256(b''.join(p.read_bytes()
                                               for p in dependencies)).hexdigest()[:16])
nb_merge_streams = True
nb_render_markdown_format = 'myst'
nb_mime_priority_overrides = [('html', 'image/svg+xml', 15)]

# The API, from docstrings: a `name` in single backticks links to what it names.
autodoc_member_order, autodoc_typehints = 'bysource', 'description'
autodoc_type_aliases = {'ArrayLike': 'ArrayLike'}        # not all that it stands for
TypeAliasForwardRef.__repr__ = lambda alias: alias.name   # also in a union
autodoc_default_options = {'members': True, 'undoc-members': True}
default_role = 'py:obj'
napoleon_custom_sections = [('Errors', 'notes_style'), ('Remarks', 'notes_style')]
suppress_warnings = ['ref.python']      # `K` may be an attribute of several classes

# Numbers: formulas, figures and theorems count by chapter; lemmas, theorems and the like share one
# count.
numfig = math_numfig = True
math_eqref_format = '({number})'
prf_realtyp_to_countertyp = dict.fromkeys([
    'lemma', 'corollary', 'proposition', 'conjecture', 'definition', 'example', 'remark'
], 'theorem')

# Formulas become HTML here and now, by the Node that pip installed; a page needs only the style
# sheet and fonts in _static.
katex_prerender, katex_css_path = True, 'katex/katex.min.css'

bibtex_bibfiles, bibtex_default_style, bibtex_reference_style = ['refs.bib'], 'plain', 'author_year'
