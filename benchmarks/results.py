"""Rebuilds what the page of results shows: `python benchmarks/results.py`, about a quarter of an
hour on two quiet cores.

Writes nbs/_static/results.csv, one row a run, and nbs/_static/results_worlds.csv, one row a
world. Each part of the experiment is a folder below `--folder`,
to which runs go as they end, so that an interrupted build goes on where it was; `--fresh` starts
anew. Needs Numba for the compiled loop.
"""
import argparse
import shutil
import tempfile
from pathlib import Path
import numpy as np
import pandas as pd
from commit import commit
from oia_nb.all import identify, load_world, mix, optimal_rule
from oia_nb.game.information import InformationStructure, Setting, World
from oia_nb.game.oracle import check_oracle
from oia_nb.paper.complexity import problem_of
from oia_nb.run.experiments import experiment

STATIC = Path(__file__).resolve().parent.parent/'nbs'/'_static'
SEED, DELTA, CAP = 2025, .1, 10_000_000
ACCURACY = .9       # of what an arm sees

# --- Worlds ---------------------------------------------------------------------------

# balanced, pairwise independent functions of eight states
SIGNS = np.array([[(-1.)**(k & w).bit_count() for w in range(8)] for k in range(1, 8)])

def bit_beliefs(k, copies):
    "Two, or `copies` times as many, which differ in the bit of row 3: (2 copies, 8)."
    tilts = (2*np.arange(copies) + 1 - copies)/copies
    return np.array([(1 + x*(2*ACCURACY - 1)*SIGNS[k])*(1 + t*SIGNS[3])/8
                     for x in (1, -1) for t in tilts])

def bits_world(gaps, cost=0., copies=1, listed=None):
    """A world of chapter 76 in which gaps, K, M and costs can be set one by one: up to seven arms,
    eight states, `bound` and B_u both 1. All arms but arm 0, which is free, cost `cost`. There are
    `copies` of each signal, and the public support holds the beliefs of `listed` arms (K)."""
    K, a = len(gaps), ACCURACY
    costs = np.r_[0., [cost]*(K - 1)]
    pays = a*costs/(a - .5)
    weights = .9 - (pays.max() - pays + gaps)/(2*a - 1)
    beliefs = [bit_beliefs(k, copies) for k in range(listed or K)]
    structure = InformationStructure([b/len(b) for b in beliefs[:K]], costs)
    decisions = [(w + .1*x)*x*SIGNS[k] for k, w in enumerate(weights) for x in (1, -1)]
    utility = np.array([*decisions, np.where(np.arange(8) == 0, 1., -1.)]).T
    return World(structure, Setting(np.vstack(beliefs), utility, 1., K), 'bits')

# no arm costs more than another: the agent never deviates
FREE = {'free': bits_world([.3, 0., .3])}
CHEAP = {'cheap is best': bits_world([0., .1], cost=.05)}       # the best rule pays nothing
# the best rule has to pay for the better arm
PAYING = {'paying': bits_world([.1, 0.], cost=.15)}
THREE = {'three free': bits_world([.1, 0., .1])}
CLOSE = {'close': bits_world([.02, 0., .02])}                    # two arms that are nearly as good
GAPS = {f'gap {g:.3g}': bits_world([g, 0.] + 5*[g]) for g in .1*2**np.arange(0, 2.1, .5)}
BELIEFS = {f'M = {4*c}': bits_world([.1, 0.], copies=c) for c in (1, 2, 4, 8, 16)}
ARMS = {f'K = {K}': bits_world([.05, 0.] + (K - 2)*[.05], listed=7) for K in (2, 3, 4, 5, 6, 7)}
SHIPPED = {name: load_world(name) for name in ('advert', 'clinic', 'wine')}
PEERS = PAYING | THREE | {'advert': SHIPPED['advert']}
WORLDS = FREE | CHEAP | PAYING | THREE | CLOSE | GAPS | BELIEFS | ARMS | SHIPPED

# --- Methods --------------------------------------------------------------------------

def weaker_oracle(world, *, eps, delta, mixing, share, budget, seed, oracle):
    "OIAFC with an oracle that has the given share of the widest margins."
    best = optimal_rule(world).rules
    weaker = check_oracle(world, [mix(*rules, share) for rules in zip(best, oracle.rules)])
    return identify(world, method='oiafc', eps=eps, delta=delta, mixing=mixing,
                    budget=budget, engine='fast', oracle=weaker, seed=seed)

def oiafc_until(cap):
    return {'oiafc': ('oiafc', dict(engine='fast', budget=cap))}

SHARES = dict(theorem1='theorem1', corollary1='corollary1')
LAST, UNIFORM = ('chen', dict(decision='last')), ('chen', dict(decision='uniform'))

def steps(high, low, n):
    return [float(f'{x:.4g}') for x in np.geomspace(high, low, n)]

# --- The experiment -------------------------------------------------------------------

def part(worlds, methods, repetitions, **grid):
    return dict(worlds=worlds, methods=methods, grid=dict(delta=[DELTA]) | grid,
                repetitions=repetitions)

both, target = list(SHARES), .05
PARTS = dict(
    eps=part(FREE, oiafc_until(CAP), 5, eps=steps(.8, .05, 9), mixing=both),
    eps_cheap=part(CHEAP, oiafc_until(CAP), 5, eps=steps(1.6, .14, 8), mixing=both),
    eps_paying=part(PAYING, oiafc_until(CAP), 1, eps=steps(2., .6, 7),
                    mixing=['theorem1']),
    gaps=part(GAPS, oiafc_until(CAP), 5, eps=[.1], mixing=['theorem1']),
    beliefs=part(BELIEFS, oiafc_until(CAP), 5, eps=[.2], mixing=['theorem1']),
    arms=part(ARMS, oiafc_until(CAP), 5, eps=[.2], mixing=['theorem1']),
    margin_cheap=part(CHEAP, {'oiafc': (weaker_oracle, dict(budget=CAP))}, 5, eps=[.5],
                      share=steps(1., .25, 5), mixing=['theorem1']),
    margin_paying=part(PAYING, {'oiafc': (weaker_oracle, dict(budget=CAP))}, 3,
                       eps=[1.4], share=steps(1., .25, 5), mixing=['theorem1']),
    shares=part(FREE | CHEAP | PAYING | SHIPPED, oiafc_until(300_000), 1,
                eps=steps(3.2, .4, 7), mixing=both),
    budget_paying=part(PAYING, {'oiafb': ('oiafb', dict(engine='fast'))}, 20,
                       eps=[target], a=[1., 4., 16.], budget=[10, 30, 100, 300,
                                                              1000], delta=[None]),
    budget_close=part(CLOSE, {'oiafb': ('oiafb', dict(engine='fast'))}, 60, eps=[.01],
                      a=[1., 4., 16.], budget=[10, 30, 100, 300, 1000,
                                               3000], delta=[None]),
    peers_sharp=part(PEERS, {'sharp': 'sharp'}, 10, eps=[target],
                     budget=[10, 30, 100, 300, 1000, 30_000]),
    peers_etc=part(PEERS, {'explore-then-commit': 'etc'}, 10, eps=[target],
                   budget=[10, 30, 100, 300, 1000, 3000]),
    peers_oiafc=part(PEERS, {'OIAFC': ('oiafc', dict(engine='fast'))}, 10, eps=[target],
                     mixing=['theorem1'],
                     budget=[10, 30, 100, 300, 1000, 3000, 10_000, 30_000]),
    peers_oiafb=part(PEERS, {'OIAFB': ('oiafb', dict(engine='fast'))}, 10, eps=[target],
                     budget=[10, 30, 100, 300, 1000]),
    peers_chen=part(PEERS, {'Chen et al., last': LAST, 'Chen et al., uniform': UNIFORM},
                    10, eps=[target], budget=[10, 30, 100, 300, 1000]),
    certify_oiafc=part(PEERS,
                       {'OIAFC': ('oiafc', dict(engine='fast', budget=1_000_000))}, 1,
                       eps=[target], mixing=both),
    certify_etc=part(PEERS, {'explore-then-commit': 'etc'}, 1, eps=[target],
                     budget=[10_000, 30_000]),
    certify_chen=part(PEERS,
                      {'Chen et al., last': LAST, 'Chen et al., uniform': UNIFORM}, 1,
                      eps=[target], budget=[3000, 10_000]),
)

# --- What is stored -------------------------------------------------------------------

KEPT = [
    'part', 'world', 'method', 'eps', 'mixing', 'share', 'a', 'budget', 'repetition',
    'rounds', 'normal_rounds', 'forced_rounds', 'arm_rounds', 'status', 'regret',
    'bound', 'correct', 'paid', 'lost', 'break_even', 'commit'
]

def as_stored(frame, name):
    "The columns of a part's frame that are stored. Raises if a run failed."
    if frame.error.notna().any():
        raise RuntimeError(frame[frame.error.notna()].iloc[0].traceback)
    made = frame.assign(part=name, commit=commit())
    return made.reindex(columns=KEPT).astype(dict(budget='Int64'))

def world_row(name, world):
    p = problem_of(world, 1., DELTA)
    return dict(world=name, K=p.K, M=p.M, B_S=p.B_S, B_u=p.B_u, margin=p.margin,
                gaps=' '.join(map(repr, p.gaps)))

def build(names, folder, n_jobs):
    frames = []
    for name in names:
        print(f'{name} ({list(PARTS).index(name) + 1} of {len(PARTS)})', flush=True)
        frames.append(
            as_stored(
                experiment(**PARTS[name], seed=SEED, n_jobs=n_jobs, path=folder/name,
                           progress=True), name))
    return frames

def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        '--folder', type=Path, default=Path(tempfile.gettempdir())/'oia_nb_results',
        help='where runs of a commit are kept until all are there (default: %(default)s)')
    parser.add_argument('--parts', nargs='*', choices=PARTS, default=list(PARTS),
                        help='run only these; the rows of the others stay as stored')
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--fresh', action='store_true', help='throw away what is in the folder')
    args = parser.parse_args()
    if args.fresh:
        shutil.rmtree(args.folder, ignore_errors=True)
    new = dict(zip(args.parts, build(args.parts, args.folder/commit(), args.jobs)))
    if len(new) < len(PARTS):
        stored = pd.read_csv(STATIC/'results.csv', dtype=dict(budget='Int64'))
        new = {name: new.get(name, stored[stored.part == name]) for name in PARTS}
    pd.concat(new.values(), ignore_index=True).to_csv(STATIC/'results.csv', index=False,
                                                      float_format='%.8g')
    pd.DataFrame([world_row(name, w)
                  for name, w in WORLDS.items()]).to_csv(STATIC/'results_worlds.csv',
                                                         index=False)

if __name__ == '__main__':
    main()
