"""Builds all that is shown from its sources: docs/ and README.md.

    python nbs/build_docs.py            build; any warning is an error
    python nbs/build_docs.py --check    say whether the sources have changed since the last build

`docs/manifest.json` holds a hash of every source and of every product of the last build.  The
check compares only these hashes, so it takes no time and doesn't depend on the processor (which
may change the last digit in a figure).
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT/'nbs'), str(ROOT/'nbs'/'tools')]

import check_site  # noqa: E402
import nbdev_myst  # noqa: E402
from copies import write_book  # noqa: E402

# --- What the pages depend on, and what was built -------------------------------------

def sources(root):
    """All that the pages depend on; neither scratch files (`_name`) nor what editors and Python
    leave behind."""
    found = [p for p in (root/'nbs').rglob('*') if p.is_file() and not any(
        s[0] == '.' or s[0] == '_' and s != '_static' for s in p.relative_to(root).parts)]
    ledger = root/'nbs'/'_static'/'claims.toml'
    if ledger.exists():                     # paper/tests shows the tests that it names
        named = set(re.findall(r'test_\w+\.py', ledger.read_text(encoding='utf-8')))
        found += [p for p in (root/'tests').rglob('*.py') if p.name in {'laws.py', *named}]
    found += [*root.glob('oia_nb/**/*.py'), *root.glob('oia_nb/data/*'), *root.glob('oia_nb/js/*'),
              root/'settings.ini']
    return sorted(p for p in found if p.exists())

def products(root):
    return sorted(p for p in [root/'README.md', *(root/'docs').rglob('*')]
                  if p.is_file() and p != root/'docs'/'manifest.json')

def hashes(root, paths):
    return {p.relative_to(root).as_posix(): sha256(p.read_bytes()).hexdigest()
            for p in paths if p.is_file()}

def manifest(root):
    return {'sources': hashes(root, sources(root)), 'products': hashes(root, products(root))}

def write_manifest(root):
    text = json.dumps(manifest(root), indent=1, sort_keys=True)
    (root/'docs'/'manifest.json').write_text(text + '\n', encoding='utf-8')

def stale(root):
    "One line for each file that isn't as the last build saw it or made it."
    path = root/'docs'/'manifest.json'
    if not path.exists():
        return ['docs/manifest.json: missing']
    then, now = json.loads(path.read_text(encoding='utf-8')), manifest(root)
    lines = []
    for kind in now:
        old, new = then[kind], now[kind]
        for name in sorted(old.keys() | new.keys()):
            if old.get(name) != new.get(name):
                what = 'removed' if name not in new else 'changed' if name in old else 'added'
                lines.append(f'{name}: {kind[:-1]} {what}')
    return lines

# --- The site -------------------------------------------------------------------------

def build_site(root):
    "Sphinx into build/html, which starts empty, so that no page of the past survives."
    build = root/'build'
    for d in ('html', 'doctrees', 'jupyter_execute'):
        shutil.rmtree(build/d, ignore_errors=True)
    run = subprocess.run([sys.executable, '-m', 'sphinx', '-b', 'html', '-W', '--keep-going', '-q',
                          '-d', str(build/'doctrees'), str(root/'nbs'), str(build/'html')],
                         cwd=root, env={**os.environ, 'PYTHONHASHSEED': '0'})
    if run.returncode:
        sys.exit('The site was not built, and docs/ is as before: see the warnings above.')

def publish(root):
    "build/html becomes docs/, without what is of use only to Sphinx."
    docs = root/'docs'
    shutil.rmtree(docs, ignore_errors=True)
    shutil.copytree(root/'build'/'html', docs, ignore=shutil.ignore_patterns(
        '.buildinfo*', '_sources', '.doctrees'))
    write_book(root/'nbs', docs/'notebooks')
    (docs/'.nojekyll').touch()

# --- Pages that moved -----------------------------------------------------------------

# Pages of earlier editions. Each is now where the notebook of this name is; but some names changed,
# to the one that is given here.
MOVED = """00_core 01_information 02_scoring 03_stackelberg 04_oracle 05_estimation 06_ucb_lp
    07_binary_search 08_oiafc 09_oiafb 10_complexity 11_baselines 12_best_arm 13_offline 14_sharp
    15_identification 20_worlds 20a_clinic 20b_wine 21_experiments 22_plots 25_cli 99_all
    companion/77_fast_loop companion/78_fast_drive claims errata results"""
RENAMED = {'paper/08_exploration': 'oiafc'} | dict.fromkeys("""30_engine companion/72_fast_agent
    companion/73_fast_points companion/74_fast_shelf companion/75_fast_bases companion/76_fast_plan
    appendix/71_fast_state appendix/72_fast_points""".split(), 'fast_loop')
# Where the pages of a folder were in the edition before.
BEFORE = dict(sharp='beyond', experts='beyond', handbook='companion', appendix='companion')
REDIRECT = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>This page has moved</title>
<link rel="canonical" href="{page}">
<script>location.replace("{page}" + location.hash)</script>
<noscript><meta http-equiv="refresh" content="0; url={page}"></noscript>
<p>This page has moved to <a href="{page}">{page}</a>.</p>
</html>
"""

def redirects(root):
    """Pairs (old page, new page), relative to docs/: pages that `MOVED`; all notebooks of a folder
    that had another name; and the pages of the API whose modules went into a folder."""
    nbs = root/'nbs'
    now = {re.sub(r'^\d+_', '', p.stem): p for p in nbs.glob('*/*.ipynb')}
    names = {old: re.sub(r'^\d+\w?_', '', old.rpartition('/')[2]) for old in MOVED.split()}
    for old, name in (names | RENAMED).items():
        yield f'{old}.html', now[name].relative_to(nbs).with_suffix('.html').as_posix()
    for new, old in BEFORE.items():
        for path in sorted((nbs/new).glob('[!_.]*.ipynb')):
            yield f'{old}/{path.stem}.html', f'{new}/{path.stem}.html'
    for _, module in nbdev_myst.chapters(nbs):
        folder, _, name = module.rpartition('.')
        if folder not in ('', 'fast', 'sharp'):
            yield f'api/{name}.html', f'api/{module}.html'
    yield 'api/paper.exploration.html', 'api/paper.oiafc.html'

def link(old, new):
    "The address of a page as another one has to write it."
    return os.path.relpath(new, Path(old).parent).replace(os.sep, '/')

def write_redirects(root):
    "Small pages under the old names, so that a link to a page or to a place in it still arrives."
    for old, new in redirects(root):
        page = root/'docs'/old
        page.parent.mkdir(exist_ok=True)
        page.write_text(REDIRECT.format(page=link(old, new)), encoding='utf-8')

# --- README.md ------------------------------------------------------------------------

OPEN = ('**To read the book**, clone this repository and open `docs/index.html` in a browser; it '
        'needs no network.')

def build_readme(root):
    """index.ipynb, run as the site build runs it, in Markdown: links lead into docs/, pictures
    are files there."""
    import conf                         # sets the environment of kernels
    from nbclient import NotebookClient
    from nbconvert import MarkdownExporter
    from traitlets.config import Config
    nb = nbdev_myst.read((root/'nbs'/'index.ipynb').read_text(encoding='utf-8'))
    NotebookClient(nb, timeout=conf.nb_execution_timeout,
                   resources={'metadata': {'path': str(root/'nbs')}}).execute()
    nb.cells = [c for c in nb.cells if '{toctree}' not in c.source
                and 'site' not in c.metadata.get('tags', [])]
    config = Config({
        # a code host shows no HTML, but its style sheets as text
        'NbConvertBase': {'display_data_priority': ['image/svg+xml', 'image/png', 'text/markdown',
                                                    'text/plain']},
        'TagRemovePreprocessor': {
            'enabled': True, 'remove_cell_tags': ['remove-cell'],
            'remove_input_tags': ['remove-input', 'hide-input'],
            'remove_all_outputs_tags': ['remove-output', 'live']
        }, 'ExtractOutputPreprocessor': {
            'output_filename_template': 'readme-{cell_index}-{index}{extension}'
        }
    })
    text, resources = MarkdownExporter(config=config).from_notebook_node(nb)
    for name, data in resources['outputs'].items():
        (root/'docs'/'_images').mkdir(exist_ok=True)
        (root/'docs'/'_images'/name).write_bytes(data)
        text = text.replace(f']({name})', f'](docs/_images/{name})')
    # a picture's words are those in italics below it
    text = re.sub(r'!\[svg\](\(\S+\)\s+\*(.+?)\*\n)', r'![\2]\1', text)
    text = re.sub(r'\{(?:paper|erratum)\}`([^`<]*?)(?: *<[^`]*)?`', r'\1', text)
    text = re.sub(r'\]\((?!\w+:)([\w/-]+)\.(?:ipynb|md)(#[^)\s]*)?\)', r'](docs/\1.html\2)', text)
    text = re.sub(r'\]\((?!\w+:)(_static/)', r'](nbs/\1', text)
    text = text.replace('\n\n', f'\n\n{OPEN}\n\n', 1)
    text = re.sub(r'\n{3,}', '\n\n', '\n'.join(line.rstrip() for line in text.splitlines())).strip()
    (root/'README.md').write_text(text + '\n', encoding='utf-8')

def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        '--check', action='store_true',
        help='build nothing; fail if the sources have changed since the last build')
    if parser.parse_args().check:
        if lines := stale(ROOT):
            sys.exit('\n'.join(['docs/ and README.md are not those of the sources; run '
                                '`python nbs/build_docs.py`:', *lines]))
        return
    build_site(ROOT)
    publish(ROOT)
    write_redirects(ROOT)
    build_readme(ROOT)
    if lines := list(check_site.faults(ROOT, ROOT/'docs')):
        sys.exit('\n'.join(['The site has faults:', *lines]))
    write_manifest(ROOT)

if __name__ == '__main__':
    main()
