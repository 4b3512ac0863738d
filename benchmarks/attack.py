"""The sharp learner against hostile worlds, some thousands of runs, judged by who knows them.

    python benchmarks/attack.py sure 0:2000           δ = 1e-9: any failure is a bug
    python benchmarks/attack.py chance 0:5000         δ = 1/2, at an ε that a tempting rule misses
    python benchmarks/attack.py ties 0:2000           equal costs, beliefs, utilities; δ = 1e-9
    python benchmarks/attack.py shipped 0:100         every world of the package at five ε
    python benchmarks/attack.py chance 0:300 --plant share      with a fault, in the checker too
    python benchmarks/attack.py chance 0:300 --plant share --checked      in the learner alone

The worlds, the judge and the look into every step are those of `tests/inside.py`. An honest expert
is never to be accused, but for the rate at which the watches of its reports may be wrong. A run
that takes more than `--seconds` is counted as slow and not judged.
"""
import argparse
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from dataclasses import replace
from pathlib import Path
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent/'tests'))
import inside
from oia_nb.all import (InvalidInput, action_informed_oracle, brier, load_world, mix, simulate,
                        spherical, world_names)
from oia_nb.experts.experts import Rounded
from oia_nb.sharp.learner import sharp

WATCHES = 'prior', 'calibration', 'reports'     # each may be wrong at the rate that was told

class Slow(BaseException):
    "A run that takes too long; no handler of errors is to catch it."

def give_up(*_):
    raise Slow

# --- What is played -----------------------------------------------------------------------

def past(world, rng):
    "Answers to rules of every kind, from before."
    z, oracle = world.setting, action_informed_oracle(world)
    rules = [brier(z.support, z.bound), spherical(z.support, z.bound), *oracle.rules,
             mix(oracle.rules[0], oracle.rules[-1], .5)]
    asked = [rules[int(rng.integers(len(rules)))] for _ in range(int(rng.integers(1, 40)))]
    return [(rule, r.arm, r.report, r.state) for rule in asked
            for r in [world.respond(rule, rng)]]

def odd(world, rng):
    "(world, options): what may be told, asked or known beside."
    way = rng.integers(9)
    if way < 2:
        return inside.knowing(world, rng), {}
    if way == 2:
        return world, dict(history=past(world, rng))
    if way == 3:
        return world, dict(told='beliefs=own')
    if way == 4:
        return replace(world, agent=Rounded(3)), dict(told='beliefs=own,rounding=3')
    if way == 5:
        return world, dict(unit=world.setting.bound/100)
    if way == 6 and world.setting.W == 2:
        return world, dict(margin=.3*float(action_informed_oracle(world).margins.min()))
    return world, alone(rng) if way == 7 else {}

def alone(rng):
    "Without an oracle."
    return dict(oracle=None, seed=int(rng.integers(1000)))

def losses(world, judge):
    "What the zero rule and each of the oracle's loses."
    rules = [0*world.setting.support, *(r.values for r in action_informed_oracle(world).rules)]
    return np.array([judge.regret(values) for values in rules])

def sure(i, rng, families=inside.FAMILIES):
    make = list(families.values())[i % len(families)]
    world = inside.hostile(make, rng, 3 + (i % 48 == 47) if i % 16 == 15 else 2)
    if world is None:
        return None
    worst = losses(world, inside.Judge(world)).max()
    most = 2*world.setting.B
    low = np.clip(.3*worst, .01*most, .5*most)
    high = most if rng.random() < .2 else max(1.2*worst, 2*low)
    if families is inside.TIES:         # boundaries are examined where most are known well
        bound = world.setting.bound
        low, high = np.array([.04, .25])*np.clip(world.setting.B_u, .1*bound, bound)
    eps = float(np.exp(rng.uniform(np.log(low), np.log(min(high, most)))))
    world, options = odd(world, rng)
    return world, dict(eps=eps, delta=1e-9, max_rounds=250, **options)

def ties(i, rng):
    return sure(i, rng, inside.TIES)

def chance(i, rng):
    make = list(inside.FAMILIES.values())[i % len(inside.FAMILIES)]
    for _ in range(20):
        world = inside.hostile(make, rng, 3 if i % 50 == 49 else 2)
        if world is None:
            continue
        tempting = losses(world, inside.Judge(world))
        tempting = tempting[tempting > .03*world.setting.B]
        if len(tempting):
            eps = .97*float(rng.choice(tempting))
            options = alone(rng) if i % 4 == 0 else {}
            return world, dict(eps=eps, delta=.5, max_rounds=400, **options)

def shipped(i, rng):
    "Every world at five ε, round and round."
    worlds = [load_world(name) for name in world_names()]
    world, n = worlds[i % len(worlds)], i//len(worlds)
    share = (1., .5, .2, .08, .04)[n % 5]
    return world, dict(eps=share*world.setting.B, delta=1e-9, max_rounds=400)

KINDS = dict(sure=sure, chance=chance, ties=ties, shipped=shipped)

# --- The runs -------------------------------------------------------------------------------

def play(kind, i, seconds, looks=True):
    "(how a run ends, what of it is false, rounds, what was looked at)."
    rng = np.random.default_rng([2611, list(KINDS).index(kind), i])
    drawn = KINDS[kind](i, rng)
    if drawn is None:
        return 'no world', [], 0, {}
    world, options = drawn
    try:
        oracle = options.pop('oracle') if 'oracle' in options else action_informed_oracle(world)
        learner = sharp(world.setting, oracle, examined=bool(i % 2), **options)
    except InvalidInput:
        return 'refused', [], 0, {}
    looks = looks and 'margin' not in options
    looking = inside.Looking(learner, world)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        found = simulate(looking if looks else learner, world, rng)
    except AssertionError as e:
        return 'inside', [str(e)], 0, looking.looked
    except Slow:
        return 'slow', [], 0, looking.looked
    except Exception as e:
        return 'error', [f'{type(e).__name__}: {e}', traceback.format_exc(limit=-3)], 0, {}
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    if 'margin' in options:             # of rules that lead alone are judged what they earn
        looking.judge.profits = dict.fromkeys(looking.judge.profits, -np.inf)
    false = looking.judge.false_clauses(found, found.eps)
    end = found.status if found.violated in (None, *WATCHES) else f'accused: {found.violated}'
    if found.refused:
        end += ', refused'
    return end, false, found.rounds, looking.looked

def campaign(kind, numbers, seconds, looks=True, say=print):
    "The counts of ends, and of what was looked at."
    ends, looked, rounds, start = Counter(), Counter(), [], time.process_time()
    for i in numbers:
        end, false, n, more = play(kind, i, seconds, looks)
        end = 'false' if false and end not in ('inside', 'error') else end
        if false or end.startswith('accused'):
            say(f'{kind} {i}: {end} after {n} rounds, {"; ".join(false)}', flush=True)
        ends[end] += 1
        looked.update(more)
        rounds += [n] if n else []
    say(f'{kind} {numbers.start}:{numbers.stop}', dict(ends), dict(looked), 'rounds: median',
        np.median(rounds or [0]), 'most', max(rounds, default=0),
        f'{time.process_time() - start:.0f} s', flush=True)
    return ends

def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('kind', choices=KINDS)
    parser.add_argument('numbers', help='FIRST:LAST, as slices have it')
    parser.add_argument('--seconds', type=float, default=15.)
    parser.add_argument('--plant', choices=inside.PLANTS)
    parser.add_argument('--checked', action='store_true', help='the checker has no fault')
    parser.add_argument('--blind', action='store_true', help='look at ends only')
    given = parser.parse_args()
    warnings.simplefilter('ignore')
    signal.signal(signal.SIGVTALRM, give_up)
    numbers = range(*map(int, given.numbers.split(':')))
    with inside.planted(given.plant, given.checked):
        campaign(given.kind, numbers, given.seconds, not given.blind)

if __name__ == '__main__':
    main()
