"""What all tests share: where they are, how thorough they are, and one thread a process.

The environment is set before numpy and matplotlib load: pytest runs one process a core; figures
need no screen.
"""
import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent

os.environ.setdefault('OMP_NUM_THREADS', '1')
os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
os.environ['MPLBACKEND'] = 'Agg'
os.environ['MATPLOTLIBRC'] = str(ROOT/'nbs'/'matplotlibrc')
sys.path.insert(0, str(ROOT/'nbs'))     # for build_docs

# --- How thorough ----------------------------------------------------------------------

# What a release tries more often, it tries this many times as often.
RELEASE = 5

# Examples differ from run to run; one that fails is printed so that it can be repeated.
settings.register_profile('release', max_examples=RELEASE*200, deadline=None, print_blob=True,
                          suppress_health_check=list(HealthCheck))
settings.register_profile('quick', settings.get_profile('release'), max_examples=200)
settings.load_profile('quick')


def examples(n):
    "`max_examples` of a property: `n`, and `RELEASE` times as many with --release."
    return n*settings().max_examples//settings.get_profile('quick').max_examples


def pytest_addoption(parser):
    parser.addoption('--release', action='store_true',
                     help='every test in full, as before a release: .ci/run does it after `pytest`')


def pytest_configure(config):
    config.addinivalue_line('markers', 'release: runs only with --release')
    if config.getoption('--release'):
        settings.load_profile('release')
    if not hasattr(config, 'workerinput') and config.getoption('numprocesses', None):
        compile_engine()


def pytest_collection_modifyitems(config, items):
    addresses = [item.nodeid for item in items if ' at 0x' in item.nodeid]
    if addresses:       # they differ from worker to worker, which then have no test in common
        raise pytest.UsageError(f'a test is named by an address in memory: {addresses[0]}')
    if not config.getoption('--release'):
        for item in items:
            if item.get_closest_marker('release'):
                item.add_marker(pytest.mark.skip(reason='runs with --release'))


def compile_engine():
    "A short run before the workers start, so that they find the compiled loop on disk."
    try:
        import numba  # noqa: F401
    except ImportError:
        return
    from oia_nb.identification import identify
    from oia_nb.worlds import load_world
    identify(load_world('clinic'), eps=3., delta=.1, method='oiafc', engine='fast', seed=0)
