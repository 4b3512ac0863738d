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
from unittest.mock import patch
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent/'tests'))
import inside
import oia_nb.verify as checker
from oia_nb.all import (InvalidInput, action_informed_oracle, brier, mix, simulate,
                        spherical)
from oia_nb.experts.experts import Rounded
from oia_nb.sharp import bets, hints, walls
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
    return world, {}

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
            return world, dict(eps=eps, delta=.5, max_rounds=400)

def shipped(i, rng):
    "Every world at five ε, round and round."
    worlds = inside.shipped()
    world, n = worlds[i % len(worlds)], i//len(worlds)
    share = (1., .5, .2, .08, .04)[n % 5]
    return world, dict(eps=share*world.setting.B, delta=1e-9, max_rounds=400)

KINDS = dict(sure=sure, chance=chance, ties=ties, shipped=shipped)

# --- Faults that are planted --------------------------------------------------------------

def quarter(patches, checked):
    "A quarter of the evidence is asked for."
    asked = bets.asked_of
    patches.append(patch.object(bets, 'asked_of', lambda c, j: .25*asked(c, j)))

def share(patches, checked):
    "Each candidate has all of δ, and as much again."
    patches.append(patch.object(bets, 'share', lambda n: 2.))
    if not checked:
        for place in checker, hints:
            patches.append(patch.object(place, 'share', lambda n: 2.))

def registration(patches, checked):
    "Samples from before a registration count for its candidate."
    register, candidate = bets.register_fact, checker.candidate
    def early(known, fact):
        register(known, fact)
        known.candidates[-1].counts[:] = 0
    def begins(f, claim, n):
        return 0, candidate(f, claim, n)[1]
    patches.append(patch.object(bets, 'register_fact', early))
    if not checked:
        patches.append(patch.object(checker, 'candidate', begins))

def reuse(patches, checked):
    "Every sample counts four times."
    wealth, counts = bets.wealth, checker.counts
    patches.append(patch.object(bets, 'wealth', lambda *a: 4*wealth(*a)))
    if not checked:
        patches.append(patch.object(checker, 'counts', lambda *a: 4*counts(*a)))

def bound(patches, checked):
    "Half-spaces say a fifth more than they prove."
    proved, cut = walls.proved_least, checker.cut
    def tight(*given):
        low = proved(*given)
        return low + .2*abs(low)
    def larger(f, j, hint):
        g, h = cut(f, j, hint)
        return g, 1.25*h
    patches.append(patch.object(walls, 'proved_least', tight))
    if not checked:
        patches.append(patch.object(checker, 'cut', larger))

def dual(patches, checked):
    "Functionals are two fifths too small: multipliers that aren't dual."
    weigh, cut_by, cut = walls.weigh, walls.Cut.cut_by, checker.cut
    patches.append(patch.object(walls, 'weigh', lambda ups, p: (
        weigh(ups, p)[0], .6*weigh(ups, p)[1])))
    patches.append(patch.object(walls.Cut, 'cut_by', lambda *given: (
        .6*cut_by(*given)[0], *cut_by(*given)[1:])))
    def smaller(f, j, hint):
        g, h = cut(f, j, hint)
        return .6*g, h
    if not checked:
        patches.append(patch.object(checker, 'cut', smaller))

PLANTS = dict(quarter=quarter, share=share, registration=registration, reuse=reuse,
              bound=bound, dual=dual)

# --- The runs -------------------------------------------------------------------------------

def play(kind, i, seconds, looks=True):
    "(how a run ends, what of it is false, rounds, what was looked at)."
    rng = np.random.default_rng([2611, list(KINDS).index(kind), i])
    drawn = KINDS[kind](i, rng)
    if drawn is None:
        return 'no world', [], 0, {}
    world, options = drawn
    try:
        learner = sharp(world.setting, action_informed_oracle(world), examined=bool(i % 2),
                        **options)
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
        looking.judge.most = -np.inf
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
    parser.add_argument('--plant', choices=PLANTS)
    parser.add_argument('--checked', action='store_true', help='the checker has no fault')
    parser.add_argument('--blind', action='store_true', help='look at ends only')
    given = parser.parse_args()
    warnings.simplefilter('ignore')
    signal.signal(signal.SIGVTALRM, give_up)
    patches = []
    if given.plant:
        PLANTS[given.plant](patches, given.checked)
    for one in patches:
        one.start()
    numbers = range(*map(int, given.numbers.split(':')))
    campaign(given.kind, numbers, given.seconds, not given.blind)

if __name__ == '__main__':
    main()
