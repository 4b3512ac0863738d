"""Every notebook is a test: nbdev runs its cells, and heeds the directives and the `tst_flags`
of settings.ini."""
import re

import nbformat
import numpy as np
import pytest
from IPython.core import pylabtools
from matplotlib.layout_engine import ConstrainedLayoutEngine
from nbdev.config import get_config
from nbdev.doclinks import nbglob
# under this name pytest would take it for a test
from nbdev.test import test_nb as run_notebook

from conftest import amount, modules
from oia_nb.game.information import Agent

cfg = get_config()
notebooks = sorted(nbglob(cfg.nbs_path, as_path=True))

@pytest.fixture(autouse=True)
def kinds_of_agents(request):
    "A kind of agent that a notebook defines was perhaps defined before, by the module made of it."
    kinds = dict(Agent.kinds)
    path = getattr(request.node, 'callspec', None) and request.node.callspec.params.get('path')
    if path:
        for name in re.findall(r'class (\w+)\(', path.read_text(encoding='utf-8')):
            Agent.kinds.pop(name, None)
    yield
    Agent.kinds.clear()
    Agent.kinds.update(kinds)

@pytest.fixture(autouse=True)
def no_painting(monkeypatch):
    """All that is in a figure is drawn, which is where a wrong one fails, but no pixel is painted
    and its axes aren't fitted to each other: that takes most of the time, and the site does it."""
    def draw(fig, *args, **options):
        with monkeypatch.context() as m:
            m.setattr(ConstrainedLayoutEngine, 'execute', lambda self, fig: None)
            fig.draw_without_rendering()
    monkeypatch.setattr(pylabtools, 'print_figure', draw)

@pytest.fixture(autouse=True)
def methods():
    "What a notebook attaches to a class of the package stays there; so does how NumPy prints."
    before = {c: dict(vars(c)) for module in modules() for c in vars(module).values()
              if isinstance(c, type) and c.__module__.startswith('oia_nb')}
    with np.printoptions():
        yield
    for c, methods in before.items():
        for name in [name for name, f in methods.items() if vars(c).get(name) is not f]:
            setattr(c, name, methods[name])

# cells that take long; they run with --release, and in the book of a reader
SLOW = 'slow'

def passes(path):
    flags = amount(cfg.tst_flags.split(), [f for f in cfg.tst_flags.split() if f != SLOW])
    return run_notebook(path.absolute(), skip_flags=flags, basepath=cfg.config_path)[0]

@pytest.mark.parametrize(
    'path', notebooks, ids=[p.relative_to(cfg.nbs_path).as_posix() for p in notebooks])
def test_notebook(path, capfd):
    if not passes(path):
        pytest.fail(capfd.readouterr().err[-4000:], pytrace=False)

@pytest.mark.parametrize('directive, passed', [('', False), ('#| hide', False),
                                               ('#| export', False), ('#| notest', True),
                                               ('#| slow', amount(True, False)),
                                               ('#| eval: false', True)])
def test_failing_cell(directive, passed, tmp_path, capfd):
    "A cell that raises fails its notebook, unless a directive says that it isn't a test."
    cells = [nbformat.v4.new_code_cell(f'{directive}\nassert 1 == 2')]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path/'planted.ipynb')
    assert passes(tmp_path/'planted.ipynb') == passed
