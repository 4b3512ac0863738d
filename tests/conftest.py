"Set before numpy and matplotlib load: one thread a process, since pytest runs one process a core; figures without a screen."
import os, sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

os.environ.setdefault('OMP_NUM_THREADS', '1')
os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
os.environ['MPLBACKEND'] = 'Agg'
os.environ['MATPLOTLIBRC'] = str(ROOT/'nbs'/'matplotlibrc')
sys.path.insert(0, str(ROOT/'nbs'))     # for build_docs
