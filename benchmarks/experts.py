"""Every kind of expert against every learner that honours something of what it is told, in three
worlds: right, wrong, refused, and rounds.

    python benchmarks/experts.py                    what is missing in the file
    python benchmarks/experts.py --again            and what another commit has filed
    python benchmarks/experts.py sharp patient      of these learners only
    python benchmarks/experts.py --seeds 5 --minutes 10
    python benchmarks/experts.py sharp --kinds insider:0.1 bold
    python benchmarks/experts.py judged --seeds 2   rows whose clauses were never judged
    python benchmarks/experts.py money --seeds 5    rows of which it isn't known what they cost
    python benchmarks/experts.py show

The results are filed in nbs/_static/experts.json as they come, and chapter 36 shows them. A
learner is told what is true of the expert, if it can honour that, and else that it is the paper's;
`inside` says which. A run is wrong if a clause of its sentence is false of this expert
(`false_clauses`): the regret is proved to be more than the bound, or than the accuracy asked for
if that is certified; the rule earns less than it says; its arm leads by less; of `trial`, a rule
that was tried earns more than is said, or its own earns something else. `judged` says in how many
runs each clause was looked at and false: older rows have it from a few runs played again.
`money` has medians of what was paid and lost, and of the break-even, the last two of the paper's
expert alone; and how the `first` run ended, its rounds, and what it paid.
"""
import argparse
import json
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.stats import binom

from commit import commit
from oia_nb.core import InvalidInput
from oia_nb.experts.experts import WRONG_TOL, Expert, best_known, parse_expert
from oia_nb.experts.told import as_told
from oia_nb.experts.payoffs import shortlist
from oia_nb.game.oracle import action_informed_oracle
from oia_nb.run.experiments import break_even
from oia_nb.run.identification import LEARNERS, add_lost, identify
from oia_nb.worlds.files import load_world
from oia_nb.worlds.generators import random_world

RESULTS = Path(__file__).resolve().parent.parent/'nbs'/'_static'/'experts.json'
DELTA, SEEDS, CAP = .05, 20, 6000
# the share of runs that may be wrong about an expert who isn't as told
OUTSIDE = .01
# accuracies
WORLDS = dict(duo=.03, advert=.032, clinic=.04)
# learners that are played besides those of the table: under another name, with options
VARIANTS = {
    'sharp, unexamined': ('sharp', dict(examined=False)),
    'sharp, with a lead': ('sharp', dict(margin=.002)),
}
# how a kind of expert is called, and what is true of it (None: no `Told` says it)
EXPERTS = {
    'expert': '',
    'lapsing:0.01': 'lapses=0.01',
    'lapsing:0.05': 'lapses=0.05',
    'logit:0.0005': None,
    'logit:0.002': None,
    'satisficing:0.0001': 'band=0.0001',
    'satisficing:0.001': 'band=0.001',
    'rounded:2': 'rounding=2',
    'noisy:0.02': None,
    'subjective:1.5': 'beliefs=own',
    'subjective:0.7': 'beliefs=own',
    'subjective:1:0.4': 'beliefs=own',
    'riskaverse:0.3': None,
    'riskaverse:1': None,
    'riskaverse:1:True': '',
    'drifting:0.005:0:1000': None,
    'drifting:0.005:100:100': 'costs=until the end',
    'hiddenarm': 'arm=guessed',
    'hiddenarm/noisy:0.02': 'arm=guessed',
    'insider:0.1': None,
    'insider:1': None,
    'bold': None,
}


def world_called(name):
    if name == 'duo':
        return random_world(2, 2, 2, 5, prior='arm', margin=.05)
    return load_world(name)


def expert_for(world, text):
    "The expert; where costs drift, it is the best arm's that does."
    agent = parse_expert(text)
    if not text.startswith('drifting'):
        return agent
    from oia_nb.game.stackelberg import optimal_rule
    rise = np.zeros(world.setting.K)
    rise[optimal_rule(world).arm] = agent.rise[0]
    return replace(agent, rise=tuple(rise))


def row_of(method):
    "The row of the table of learners; one that isn't examined can't take costs that drift."
    name, options = VARIANTS.get(method, (method, {}))
    return replace(LEARNERS[name], honours=()) if options else LEARNERS[name]


def told_to(row, expert, world):
    "(what the learner is told, whether the expert is as told)."
    true = EXPERTS[expert]
    if true is not None:
        try:
            told = as_told(true).require(row.name, row.honours)
            if told.unusual:
                row.make(world.setting, action_informed_oracle(world), eps=1., delta=.1, told=told)
            return told, True
        except InvalidInput:
            pass
    return as_told(None), False


def play(method, world, expert, told, seed, eps):
    "How a run ends, the clauses that are `false`, its rounds, seconds, and its money."
    start = time.process_time()
    plain, world = world, replace(world, agent=expert)
    method, options = VARIANTS.get(method, (method, {}))
    try:
        found = identify(world, eps=eps, delta=DELTA, method=method, seed=seed, told=told,
                         budget=CAP, **options)
    except Exception as e:      # none is allowed, so each is counted
        return dict(end=f'exception {type(e).__name__}', false=[], rounds=0,
                    seconds=time.process_time() - start)
    spent = time.process_time() - start
    false = false_clauses(world, found)
    if found.certificate is None and found.status != 'rule_certified':
        end = found.violated or found.status
    elif found.status in ('certified', 'rule_certified'):
        end = 'wrong' if false else 'right'
    else:
        end = 'wrong' if false else 'out of rounds'
    money = dict(paid=found.paid)
    if type(expert) is Expert:              # who answers as the rational agent does
        found = add_lost(plain, found)
        money |= dict(lost=found.lost, break_even=break_even(plain, found))
    return dict(end=end, false=false, rounds=found.rounds, seconds=spent) | money


def false_clauses(world, found):
    "What is false in the sentence of a result, of the expert as it is at the end: names."
    agent = world.agent.at(found.rounds) if isinstance(world.agent, Expert) else world.agent
    tol, rule = WRONG_TOL*world.setting.B, found.rule
    if found.status == 'rule_certified':
        rules = shortlist(world.setting, action_informed_oracle(world))
        profits = np.array([agent.profit(world, rule) for rule in rules])
        (low, high), own = found.earns, profits[found.index]
        false = dict(regret=profits.max() - own > max(found.behind, 0) + tol,
                     earns=own < low - tol or own > high + tol)
    elif found.certificate is None:
        return []
    else:
        earned, most = agent.profit(world, rule), found.certificate.bound
        if found.status == 'certified':
            most = min(most, found.eps)
        false = dict(regret=best_known(world, found.rounds) - earned > most + tol,
                     earns=found.profit is not None and earned < found.profit - tol)
        if found.lead is not None:
            profits = agent.policy(world, rule).profits
            others = np.delete(profits, found.arm)
            false['lead'] = profits[found.arm] - others.max() < found.lead - tol
    return [name for name, is_false in false.items() if is_false]


def cell(method, name, text, seeds):
    "The row of the table for a learner, a world and an expert."
    world = world_called(name)
    told, inside = told_to(row_of(method), text, world)
    expert = expert_for(world, text)
    runs = [play(method, world, expert, told, seed, WORLDS[name]) for seed in range(seeds)]
    done = [r['rounds'] for r in runs if r['end'] in ('right', 'wrong')]
    spread = np.quantile(done, [.25, .5, .75]).tolist() if done else None
    false = Counter(clause for r in runs for clause in r['false'])
    return dict(learner=method, world=name, expert=text, told=str(told), inside=inside,
                runs=seeds, ends=dict(Counter(r['end'] for r in runs)), rounds=spread,
                judged=dict(runs=seeds, false=dict(false)), commit=commit(),
                all_rounds=float(np.median([r['rounds'] for r in runs])),
                money=in_money(runs), seconds=round(sum(r['seconds'] for r in runs), 1))


def in_money(runs):
    "The medians of what runs paid and lost, and of their break-even; how the first one ended."
    first = runs[0]
    return dict(runs=len(runs), commit=commit(),
                first=[first['end'], first['rounds'], round(first.get('paid', 0.), 3)],
                **{name: median(runs, name) for name in ('paid', 'lost', 'break_even')})


def median(runs, name):
    "The median of what runs have; None if one has it not, or if it is infinite."
    n = np.median([r.get(name, np.inf) for r in runs])
    return round(float(n), 3) if np.isfinite(n) else None


def key(row):
    return row['learner'], row['world'], row['expert']


def load():
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else []


def is_filed(row, seeds, made):
    """Whether so many runs are there, `made` by this commit (None: by any), of a learner
    that was told what it would be told now."""
    if row is None or row['runs'] < seeds or made not in (
            None, row['commit']):
        return False
    world = world_called(row['world'])
    return row['told'] == str(told_to(row_of(row['learner']), row['expert'], world)[0])


def file(row):
    "Put a row into the file; what another run has filed meanwhile stays."
    rows = {key(r): r for r in load()} | {key(row): row}
    RESULTS.write_text(json.dumps(list(rows.values()), indent=1, sort_keys=True) + '\n')
    return rows


def campaign(methods, kinds, seeds, minutes, made=None):
    "Play what isn't filed, or wasn't `made` by this commit, the small worlds first."
    rows, stop = {key(r): r for r in load()}, time.process_time() + 60*minutes
    for name in WORLDS:
        for text in kinds:
            for method in methods:
                there = is_filed(rows.get((method, name, text)), seeds, made)
                if there or time.process_time() > stop:
                    continue
                row = cell(method, name, text, seeds)
                print(row, flush=True)
                rows = file(row)


def add(part, kinds, seeds, minutes):
    "Play a few runs of rows of these kinds that have no `part`, and file it."
    stop = time.process_time() + 60*minutes
    for row in load():
        if part in row or row['expert'] not in kinds or time.process_time() > stop:
            continue
        again = cell(row['learner'], row['world'], row['expert'], seeds)
        print(row['learner'], row['world'], row['expert'], again['ends'], again[part], flush=True)
        file(row | {part: again[part]})


def judged(rows):
    """{(learner, kind, inside): (runs, certificates, wrong, exceptions, p-value)}, the last of a
    rate of at most δ for experts as told, of `OUTSIDE` for others."""
    found = {}
    for method, kind in sorted({(r['learner'], r['expert']) for r in rows}):
        for inside in True, False:
            these = [r for r in rows if (r['learner'], r['expert'], r['inside'])
                     == (method, kind, inside)]
            if not these:
                continue
            ends = sum((Counter(r['ends']) for r in these), Counter())
            runs, wrong = sum(ends.values()), ends['wrong']
            broken = sum(n for end, n in ends.items() if end.startswith('exception'))
            most = DELTA if inside else OUTSIDE
            p = float(binom.sf(wrong - 1, runs, most)) if runs else 1.
            found[method, kind, inside] = runs, ends['right'] + wrong, wrong, broken, p
    return found


def show():
    for (method, kind, inside), (runs, given, wrong, broken, p) in judged(load()).items():
        print(f'{method:18} {kind:22} {"as told" if inside else "not as told":12} {runs:5} runs, '
              f'{given} certificates, {wrong} wrong (p = {p:.2g}), {broken} exceptions')


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('learners', nargs='*')
    parser.add_argument('--kinds', nargs='*', choices=list(EXPERTS), default=list(EXPERTS))
    parser.add_argument('--seeds', type=int, default=SEEDS)
    parser.add_argument('--minutes', type=float, default=15.)
    parser.add_argument('--again', action='store_true', help='what another commit made as well')
    args = parser.parse_args()
    if args.learners == ['show']:
        show()
    elif args.learners in (['judged'], ['money']):
        add(args.learners[0], args.kinds, args.seeds, args.minutes)
    else:
        chosen = args.learners or [name for name, row in LEARNERS.items() if row.honours]
        campaign(chosen, args.kinds, args.seeds, args.minutes,
                 commit() if args.again else None)
