"""Run All in every chapter of a copy of the book: python run_book.py FOLDER

A chapter runs in a process of its own, forked from one that has loaded what most chapters load
and has compiled the engine: starting a kernel for each took as long as running its cells.  Those
of `IN_A_KERNEL` run in one all the same, as Jupyter runs them.
"""
import os
import sys
import tempfile
import time
import traceback
from pathlib import Path

import nbformat
from IPython.core.interactiveshell import InteractiveShell
from nbclient import NotebookClient

# the first page, the one with widgets, and one that defines kinds of agents, which the package
# would have registered by then
IN_A_KERNEL = 'index', '85_live', '29_experts'


def in_a_kernel(path):
    NotebookClient(nbformat.read(path, 4), timeout=600,
                   resources={'metadata': {'path': str(path.parent)}}).execute()


class Shell(InteractiveShell):
    def enable_gui(self, gui=None):
        "No windows."


def in_a_shell(path):
    os.chdir(path.parent)
    shell = Shell.instance()
    shell.enable_matplotlib('inline')
    for cell in nbformat.read(path, 4).cells:
        if cell.cell_type == 'code':
            shell.run_cell(cell.source).raise_error()


def fork(run, path):
    "Whether `run(path)` went well in a process of its own; what it wrote is shown if not."
    with tempfile.TemporaryFile() as written:
        child = os.fork()
        if not child:
            status = 1
            try:
                os.dup2(written.fileno(), 1)
                os.dup2(written.fileno(), 2)
                run(path)
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(status)
        good = os.waitpid(child, 0)[1] == 0
        if not good:
            written.seek(0)
            print(written.read().decode(errors='replace')[-8000:])
    return good


def load():
    "What most chapters need."
    import matplotlib.pyplot  # noqa: F401
    import pandas  # noqa: F401
    from oia_nb.all import identify, load_world
    identify(load_world('clinic'), eps=3., delta=.1, method='oiafc', engine='fast', seed=0)


def main(book):
    load()
    failed = []
    for path in sorted(Path(book).resolve().rglob('*.ipynb')):
        start = time.monotonic()
        if not fork(in_a_kernel if path.stem in IN_A_KERNEL else in_a_shell, path):
            failed.append(path.name)
        print(f'{path.relative_to(Path(book).resolve())}: {time.monotonic() - start:.0f} s',
              flush=True)
    sys.exit(f'these fail: {", ".join(failed)}' if failed else 0)


if __name__ == '__main__':
    main(sys.argv[1])
