"""What all tests share: where they are, how thorough they are, and one thread a process.
The environment is set before numpy and matplotlib load; figures need no screen."""
import gc
import importlib
import importlib.util
import json
import os
import pkgutil
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

ROOT = Path(__file__).resolve().parent.parent

def modules():
    "All modules of the package, but for that which gathers their names."
    import oia_nb
    return [importlib.import_module(m.name)
            for m in pkgutil.walk_packages(oia_nb.__path__, 'oia_nb.')
            if '.chapters' not in m.name and m.name != 'oia_nb.all']

os.environ.setdefault('OMP_NUM_THREADS', '1')
os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
os.environ['MPLBACKEND'] = 'Agg'
os.environ['MATPLOTLIBRC'] = str(ROOT/'nbs'/'matplotlibrc')
# a list of fonts of its own, whatever the one at home holds; the workers share that of the first
FONTS = tempfile.TemporaryDirectory()
os.environ.setdefault('MPLCONFIGDIR', FONTS.name)
# for build_docs and what it needs, for the scripts that fill the stored tables, and for tests
# that use those of another folder
sys.path[:0] = [*(str(ROOT/name) for name in ('nbs', 'nbs/tools', 'benchmarks')),
                *(str(p) for p in (ROOT/'tests').iterdir() if p.is_dir())]

def file_of(name):
    "The place of a file of tests, in whatever folder it is; None if there is none."
    return next((ROOT/'tests').rglob(name), None)

# Bytecode is kept: every process, and every copy of the package with a mutant in it, would
# compile the whole package once more.
os.environ.pop('PYTHONDONTWRITEBYTECODE', None)
sys.dont_write_bytecode = False

# --- How thorough ----------------------------------------------------------------------

# What a release tries more often, it tries this many times as often.
RELEASE = 5

# Examples differ from run to run; one that fails is printed so that it can be repeated.
settings.register_profile('release', max_examples=RELEASE*200, deadline=None, print_blob=True,
                          suppress_health_check=list(HealthCheck))
settings.register_profile('quick', settings.get_profile('release'), max_examples=60)
settings.load_profile('quick')

def examples(n):
    "`max_examples` of a property: `.3*n`, and `RELEASE` times `n` with --release."
    return max(n*settings().max_examples//200, 1)

def seeded(n, *more):
    "A property of a drawn seed, and of what `more` strategies draw, as often as `examples` has it."
    return lambda test: settings(max_examples=examples(n))(
        given(st.integers(0, 10**6), *more)(test))

def amount(quick, release):
    """`quick`, or with --release `release`: how many worlds, seeds or programs are tried of those
    that are the same at every run."""
    is_quick = settings().max_examples == settings.get_profile('quick').max_examples
    return quick if is_quick else release

def pytest_addoption(parser):
    parser.addoption('--release', action='store_true',
                     help='every test in full, as before a release: .ci/run --release does it')
    parser.addoption('--box', type=float, metavar='SECONDS',
                     help='after so long skip what is left, and say how many tests that is; '
                          'files come in another order every time')

def pytest_configure(config):
    config.addinivalue_line('markers', 'release: runs only with --release')
    if config.getoption('--release'):
        settings.load_profile('release')
    if hasattr(config, 'workerinput'):
        wait_for_engine()
    elif config.getoption('numprocesses', None):
        compile_engine()

def pytest_collection_finish():
    "What was loaded by now stays: the collector of garbage needn't go through it time and again."
    gc.freeze()

UNREACHED, ENDS = 'not reached in the time box', pytest.StashKey()

def pytest_runtest_setup(item):
    "The time box opens with the first test."
    box = item.config.getoption('--box')
    if box and time.monotonic() > item.config.stash.setdefault(ENDS, time.monotonic() + box):
        pytest.skip(UNREACHED)

def pytest_terminal_summary(terminalreporter, config):
    if box := config.getoption('--box'):
        skipped = terminalreporter.stats.get('skipped', [])
        n = sum(UNREACHED in str(report.longrepr) for report in skipped)
        terminalreporter.write_line(f'{n} tests were not reached in {box:g} s')

def pytest_collection_modifyitems(config, items):
    addresses = [item.nodeid for item in items if ' at 0x' in item.nodeid]
    if addresses:       # they differ from worker to worker, which then have no test in common
        raise pytest.UsageError(f'a test is named by an address in memory: {addresses[0]}')
    if config.getoption('--box'):
        files = sorted({item.path for item in items})
        # all workers need the same order
        random.Random(getattr(config, 'workerinput', {}).get('testrunuid')).shuffle(files)
        items.sort(key=lambda item: files.index(item.path))
    for item in items:
        if item.get_closest_marker('release') and not config.getoption('--release'):
            item.add_marker(pytest.mark.skip(reason='runs with --release'))

# --- The command -----------------------------------------------------------------------

@pytest.fixture
def oia(tmp_path, monkeypatch, capfd):
    """A function that runs the command in a folder of its own: (status, output, error); its `json`
    returns the one JSON value that is printed with --json, and the errors."""
    from oia_nb.cli import main
    monkeypatch.chdir(tmp_path)
    def run(line, *words):
        status = main([*line.split(), *map(str, words)])
        return status, *capfd.readouterr()
    def told(line, *words):
        status, out, err = run(line, *words, '--json')
        assert status == 0 and out.count('\n') == 1 and out.endswith('\n'), err
        refuse = lambda constant: pytest.fail(f'{constant} is no JSON')
        return json.loads(out, parse_constant=refuse), err
    run.json = told
    return run

@pytest.fixture
def usual_interrupt():
    "Ctrl-C means what it usually does, whatever the process that runs the tests made of it."
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.signal(signal.SIGINT, before) is signal.default_int_handler

@pytest.fixture(scope='session')
def window(tmp_path_factory):
    "A browser, one for all tests of a process; without Chromium they are skipped."
    import browser
    if not browser.installed():
        pytest.skip('Chromium is not installed')
    with browser.Browser(tmp_path_factory.mktemp('profile')) as opened:
        yield opened

# --- The compiled engine ---------------------------------------------------------------

COMPILED = 'OIA_TESTS_COMPILED'     # names a file that is there once the engine is on disk

ENGINE_RUN = """
from oia_nb.run.identification import identify
from oia_nb.worlds.files import load_world
identify(load_world('clinic'), eps=3., delta=.1, method='oiafc', engine='fast', seed=0)
"""

def compile_engine():
    "A short run in a process of its own, while the workers do what needs no engine."
    if importlib.util.find_spec('numba') is None:
        return
    done = Path(tempfile.mkdtemp())/'done'
    os.environ[COMPILED] = str(done)
    run = subprocess.Popen([sys.executable, '-c', ENGINE_RUN], cwd=ROOT,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    def report():
        run.wait()
        done.touch()
    threading.Thread(target=report, daemon=True).start()

def wait_for_engine():
    "A worker that needs the compiled loop waits for it, rather than compile it once more."
    if COMPILED not in os.environ:
        return
    from oia_nb.fast import drive
    done, compiled = Path(os.environ[COMPILED]), drive.compiled
    def once_compiled():
        while not done.exists():
            time.sleep(.2)
        return compiled()
    drive.compiled = once_compiled
