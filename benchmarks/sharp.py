"""How many rounds the sharp learner needs, against the paper's algorithm: the table of the
chapter on it.

    python benchmarks/sharp.py suite [SEEDS [WORLDS]]   20 seeds of all 12 worlds, or of those
                                                        given: 0,9,11
    python benchmarks/sharp.py small [RUNS [DELTA]]     2,000 runs on small worlds at delta = 0.5;
                                                        interrupted, it goes on where it was
    python benchmarks/sharp.py faithful                 OIAFC itself on the suite's worlds, for up
                                                        to ten million rounds
    python benchmarks/sharp.py accuracy [SEEDS]         rounds against epsilon on clinic; those of
                                                        the first learner stay as they were filed
    python benchmarks/sharp.py speed [FOLDER]           CPU of the first learner over that of this
                                                        one, in turn; prints, and files nothing
    python benchmarks/sharp.py money [SEEDS [WORLDS]]   what learning pays and loses on the suite's
                                                        worlds and advert, whose common priors are
                                                        told, beside what it did at `UNSPARING`
    python benchmarks/sharp.py trade [SEEDS]            rounds against money, as a round costs more
                                                        or less beside the payment
    python benchmarks/sharp.py parts [SEEDS]            what each constant of the choice of
                                                        questions buys: rounds without it
    python benchmarks/sharp.py readme [SEEDS]           what the README's example pays and loses,
                                                        with its own seed and others
    python benchmarks/sharp.py show                     the ratios and their spread

The first learner is that of commit `FIRST` of this repository, which learned whole hyperplanes
only: `git archive` unpacks it into a temporary folder, unless FOLDER holds it already.
Each part files its results in nbs/_static/sharp.json, which the chapter shows. The baseline is
OIAFC itself where it ends within ten million rounds. Elsewhere it is `n_min`, the least
number of observations of its final arm with which its stopping rule can hold, whatever it
explores before; those ratios are lower bounds on the true ones. Both sides have the same
guarantee, and every returned rule is checked against the known world: a run fails if its rule
loses more than epsilon and is said to be certified, or more than its own bound.
"""
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
import numpy as np
from scipy.stats import binom
from chapter import lower_bound
from commit import commit
from oia_nb.all import (NotInducible, action_informed_oracle, generator, is_proper, load_world,
                        optimal_rule, principal_profit, random_world, sharp, simulate)
from oia_nb.paper.complexity import n_min, problem_of
from oia_nb.sharp import bets
from oia_nb.run.experiments import break_even
from oia_nb.fast.drive import simulate_fast
from oia_nb.run.identification import add_lost, identify

RESULTS = Path(__file__).resolve().parent.parent/'nbs'/'_static'/'sharp.json'
# K, W, signals
SHAPES = [(2, 2, 2), (3, 2, 3), (2, 3, 4), (4, 2, 4), (3, 3, 5), (5, 2, 5), (4, 3, 4),
          (2, 2, 13), (5, 3, 3), (4, 2, 6)]
GAPS = np.geomspace(.02, .3, len(SHAPES))[[5, 2, 8, 0, 6, 3, 9, 1, 4, 7]]

SMALL = 20                # small worlds

def stored():
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}

def file(part, found):
    results = stored()
    found = merged(results.get(part), found)
    text = json.dumps({**results, part: found}, indent=1) + '\n'
    new = RESULTS.with_suffix('.new')
    new.write_text(text)
    new.replace(RESULTS)

def gap_of(world):
    return float(np.sort(optimal_rule(world).gaps)[1])

def suite_world(i):
    """The i-th random world: the first of its shape whose second-best arm is within a quarter of
    the gap wanted."""
    K, W, signals = SHAPES[i]
    for n in range(3000):
        try:
            world = random_world(K, W, signals, generator(20250714 + i, n),
                                 prior=('common', 'arm')[n % 2], margin=.01, tries=1,
                                 name=f'random {i}')
        except NotInducible:
            continue
        if abs(gap_of(world)/GAPS[i] - 1) <= .25:
            return world
    raise SystemExit(f'no world {i}')

def play(world, oracle, best, eps, delta, seed, cap=100_000, **options):
    start = time.process_time()
    r = simulate(
        sharp(world.setting, oracle, eps=eps, delta=delta, max_rounds=cap, examined=False,
              **options), world, seed)
    regret, r = best.profit - principal_profit(world, r.rule), add_lost(world, r)
    return dict(rounds=r.rounds, paid=r.paid, lost=r.lost, break_even=break_even(world, r),
                status=r.status, arm=world.setting.arms[r.arm],
                regret=float(regret), forced=r.forced_rounds, violated=r.violated,
                failed=is_failure(world, r, regret, eps),
                seconds=time.process_time() - start)

def is_failure(world, found, regret, eps):
    "Whether a rule loses more than is proved of it, or more than eps though it is certified."
    most = np.inf if found.certificate is None else found.certificate.bound
    if found.status == 'certified':
        most = min(most, eps)
    return bool(np.isfinite(most) and not (
        is_proper(found.rule) and world.best_response(found.rule) == found.arm
        and regret <= most + 1e-6))

def posed(n):
    "The n-th problem of the suite: a world and the accuracy asked for."
    world = load_world(('clinic', 'wine')[n]) if n < 2 else suite_world(n - 2)
    return world, .04 if world.name == 'clinic' else max(gap_of(world)/2, .04)

def faithful(seeds=3, delta=.05, cap=10_000_000):
    """Runs of OIAFC; its first seed alone where that doesn't end, none where its stopping rule
    can't hold within the cap."""
    rows = []
    for n in range(2 + len(SHAPES)):
        world, eps = posed(n)
        least, best, runs, start = n_min(problem_of(
            world, eps, delta)), optimal_rule(world), [], time.perf_counter()
        for seed in range(seeds if least <= cap else 0):
            r = simulate_fast(world, eps=eps, delta=delta, seed=generator(7, seed), max_rounds=cap)
            r = add_lost(world, r)
            runs.append(
                dict(rounds=r.rounds, status=r.status, normal=r.normal_rounds,
                     forced=r.forced_rounds, paid=r.paid, lost=r.lost,
                     break_even=finite(break_even(world, r)),
                     regret=float(best.profit - principal_profit(world, r.rule))))
            if r.status == 'round_cap':
                break
        rows.append(dict(world=world.name, eps=eps, least=least, cap=cap, runs=runs,
                         commit=commit()))
        print(world.name, least, [(r['rounds'], r['status']) for r in runs],
              f'{time.perf_counter() - start:.0f} s', flush=True)
    return rows

def finite(rounds):
    "A number of rounds; None for infinitely many."
    return round(rounds) if np.isfinite(rounds) else None

def in_money(runs):
    "What each of some runs paid and lost, and its break-even."
    return {name: [round(float(r[name]), 3) for r in runs] for name in ('paid', 'lost')} | dict(
        break_even=[finite(r['break_even']) for r in runs])

def suite(seeds=20, delta=.05, worlds=range(2 + len(SHAPES))):
    rows = []
    for n in worlds:
        world, eps = posed(n)
        best, oracle, gap = optimal_rule(world), action_informed_oracle(world), gap_of(world)
        runs = [play(world, oracle, best, eps, delta, generator(7, seed)) for seed in range(seeds)]
        z, rounds = world.setting, [r['rounds'] for r in runs]
        row = dict(world=world.name, K=z.K, M=z.M, W=z.W, gap=gap, eps=eps, commit=commit(),
                   best=z.arms[best.arm], faithful=n_min(problem_of(world, eps, delta)),
                   rounds=rounds, forced=[r['forced'] for r in runs],
                   statuses=[r['status'] for r in runs], **in_money(runs),
                   arms=[r['arm'] for r in runs], regrets=[r['regret'] for r in runs],
                   seconds=[round(r['seconds'], 2) for r in runs],
                   failures=sum(r['failed'] for r in runs),
                   given=lower_bound(world, eps, delta),
                   coupled=lower_bound(world, eps, delta, coupled=True))
        rows.append(row)
        file('suite', [row])              # what is done survives an interruption
        print(world.name, int(np.median(rounds)),
              f'{row["faithful"]/np.median(rounds):.0f} times fewer', row['failures'],
              f'lost {np.median(row["lost"]):.1f},',
              f'slowest {max(r["seconds"] for r in runs):.0f} s', flush=True)
    return rows

UNSPARING = '25bea42'     # the learner before it saved money; its runs stay as they were filed

def thrifty(n):
    "The n-th problem with its common prior told, if there is one; the last is advert."
    world, eps = (load_world('advert'), .2) if n == 2 + len(SHAPES) else posed(n)
    p = np.array(world.structure.priors)
    if np.abs(p - p[0]).max() < 1e-9:
        world = replace(world, setting=replace(world.setting, prior=p[0]))
    return world, eps

def money(seeds=6, delta=.05, worlds=range(3 + len(SHAPES))):
    rows = []
    for n in worlds:
        world, eps = thrifty(n)
        best, oracle = optimal_rule(world), action_informed_oracle(world)
        runs = [play(world, oracle, best, eps, delta, generator(7, seed)) for seed in range(seeds)]
        now = dict(rounds=[r['rounds'] for r in runs], **in_money(runs))
        old = next((r for r in stored().get('money', []) if r['world'] == world.name), {})
        rows.append(old | dict(world=world.name, eps=eps, now=now, commit=commit(),
                               told=world.setting.prior is not None,
                               failures=sum(r['failed'] for r in runs)))
        file('money', rows[-1:])
        print(world.name, now, flush=True)
    return rows

# what a round costs beside the payment, of the bound; the third is the learner's own
ROUND_COSTS = 0., .1, .3, 1., 10.

def trade(seeds=3, delta=.05, worlds=(0, 5, 9)):
    "How rounds and money trade against each other in some worlds, as `round_cost` changes."
    rows = []
    for n in worlds:
        world, eps = thrifty(n)
        best, oracle = optimal_rule(world), action_informed_oracle(world)
        found = {}
        for cost in ROUND_COSTS:
            runs = [play(world, oracle, best, eps, delta, generator(7, seed),
                         round_cost=cost*world.setting.bound) for seed in range(seeds)]
            found[f'{cost:g}'] = dict(rounds=[r['rounds'] for r in runs], **in_money(runs),
                                      failures=sum(r['failed'] for r in runs))
            print(world.name, cost, found[f'{cost:g}'], flush=True)
        rows.append(dict(world=world.name, eps=eps, commit=commit(), costs=found))
        file('trade', rows[-1:])
    return rows

# constants of the choice of questions, and values that take each of them away
NEUTRAL = dict(SLACK=0., FLOOR=1/1000, HALF=1., RENEW=1e9, DRAWS=1, TRUST=(1,), VAIN=0.)

def parts(seeds=5, delta=.05, worlds=(0, 5, 7, 9, 11), cap=3000, names=tuple(NEUTRAL)):
    """Rounds without one constant, over those with all, of the same world and seed. The first
    row changes the seeds alone, so that it shows how much is chance."""
    tried = []
    for n in worlds:
        world, eps = posed(n)
        tried.append((world, action_informed_oracle(world), optimal_rule(world), eps, delta))
    def all_runs(first=0):
        return [play(*problem, generator(7, seed), cap) for problem in tried
                for seed in range(first, first + seeds)]
    before, rows, made = all_runs(), [], commit()
    for name, value in [('other seeds', None), *((name, NEUTRAL[name]) for name in names)]:
        usual = getattr(bets, name, None)
        if value is None:
            runs = all_runs(seeds)
        else:
            setattr(bets, name, value)
            runs = all_runs()
            setattr(bets, name, usual)
        logs = np.log([r['rounds']/b['rounds'] for r, b in zip(runs, before)])
        rows.append(dict(
            world=name, usual=usual, neutral=value, ratio=float(np.exp(logs.mean())),
            error=float(logs.std(ddof=1)/np.sqrt(len(logs))), worst=float(np.exp(logs.max())),
            uncertified=sum(r['status'] != 'certified' for r in runs), runs=len(runs),
            failures=sum(r['failed'] for r in runs),
            seconds=sum(r['seconds'] for r in runs)/sum(b['seconds'] for b in before),
            worlds=[w.name for w, *_ in tried], cap=cap, commit=made))
        print(rows[-1], flush=True)
        file('parts', rows[-1:])
    return rows

def readme(seeds=20):
    "The README's example, its closing examination included."
    world = load_world('clinic')
    runs = [identify(world, eps=.04, delta=.05, seed=seed) for seed in range(seeds)]
    return dict(commit=commit(), rounds=[r.rounds for r in runs], **in_money(
        [dict(paid=r.paid, lost=r.lost, break_even=break_even(world, r)) for r in runs]))

def small(runs=2000, delta=.5):
    """Runs on 20 small worlds, a run of each at a time; filed as they come, so that an
    interrupted campaign goes on where it was."""
    worlds = [next(_small(n)) for n in range(SMALL)]
    posed = [(w, action_informed_oracle(w), optimal_rule(w), max(gap_of(w)/2, .02))
             for w in worlds]
    old = stored().get('small', {})
    new = dict(delta=delta, worlds=SMALL, commit=commit())
    found = old if old | new == old else new | dict(
        runs=0, failures=0, statuses={}, rounds=[], regrets=[], lost=[], others=[])
    for i in range(found['runs']//SMALL, runs//SMALL):
        for n, (world, oracle, best, eps) in enumerate(posed):
            r = play(world, oracle, best, eps, delta, generator(11, 1000*n + i), cap=20_000)
            found['runs'] += 1
            found['failures'] += r['failed']
            found['statuses'][r['status']] = found['statuses'].get(r['status'], 0) + 1
            if r['status'] != 'certified':
                found['others'].append(dict(world=n, run=i, rounds=r['rounds'],
                                            status=r['status'], violated=r['violated']))
            found['rounds'].append(r['rounds'])
            found['regrets'].append(round(r['regret']/eps, 3))
            found['lost'].append(round(r['lost'], 2))
        found['allowed'] = int(binom.ppf(1 - 1e-6, found['runs'], delta))
        file('small', found)
    print(found['runs'], 'runs,', found['failures'], 'failures,', found['statuses'])
    return found

def _small(n):
    for i in range(200):
        try:
            yield random_world(2 + (n % 4 == 3), 2, 2, generator(4000 + n, i),
                               prior='arm', margin=.01, tries=1)
        except NotInducible:
            continue

FIRST = '44a441c'
ROOT = Path(__file__).resolve().parent.parent
# plays the runs that it is asked for, one a line, with the package on its path
WORKER = """
import inspect, json, sys, time
import numpy as np
from oia_nb.all import Setting, World, action_informed_oracle, generator, sharp, simulate
try:
    from oia_nb.game.information import InformationStructure
except ImportError:                     # where it was at first
    from oia_nb.information import InformationStructure
options = {'examined': False} if 'examined' in inspect.signature(sharp).parameters else {}
class Clocked:
    def __init__(self, world):
        self.world, self.at = world, []
    def respond(self, rule, rng):
        self.at.append(time.process_time())
        return self.world.respond(rule, rng)
for line in sys.stdin:
    q = json.loads(line)
    setting = Setting(np.array(q['support']), np.array(q['utility']), q['bound'], q['arms'])
    world = World(InformationStructure([np.array(j) for j in q['joint']],
                                             np.array(q['costs'])), setting)
    agent, oracle, start = Clocked(world), action_informed_oracle(world), time.process_time()
    r = simulate(sharp(setting, oracle, eps=q['eps'], delta=q['delta'],
                       max_rounds=q['cap'], **options), agent, generator(7, q['seed']))
    print(json.dumps(dict(rounds=r.rounds, status=r.status, at=agent.at,
                          seconds=time.process_time() - start)), flush=True)
"""

def asked(world, eps, seed, delta=.05, cap=100_000):
    "A line for a `WORKER`."
    z, structure = world.setting, world.structure
    return json.dumps(dict(support=z.support.tolist(), utility=z.utility.tolist(),
                           bound=z.bound, arms=list(z.arms), costs=world.costs.tolist(),
                           joint=[np.asarray(j).tolist() for j in structure.joint],
                           eps=eps, delta=delta, cap=cap, seed=seed))

@contextmanager
def learners(folder=None):
    "Two functions that play a run: of the first learner, and of this one."
    with tempfile.TemporaryDirectory() as made:
        if folder is None:
            folder = made
            packed = subprocess.run(['git', '-C', ROOT, 'archive', FIRST, 'oia_nb'],
                                    check=True, capture_output=True).stdout
            subprocess.run(['tar', 'x', '-C', folder], input=packed, check=True)
        workers = [
            subprocess.Popen([sys.executable, '-c', WORKER], stdin=subprocess.PIPE, text=True,
                             stdout=subprocess.PIPE, cwd=path,
                             env=os.environ | dict(PYTHONPATH=str(path)))
            for path in (folder, ROOT)
        ]
        def playing(worker):
            def run(*args, **kw):
                print(asked(*args, **kw), file=worker.stdin, flush=True)
                return json.loads(worker.stdout.readline())
            return run
        try:
            yield [playing(w) for w in workers]
        finally:
            for w in workers:
                w.stdin.close()
                w.wait()

# on clinic, for the picture
ACCURACIES = (.4, .25, .15, .1, .06, .04, .03, .02)

def accuracy(seeds=5, delta=.05):
    "Rounds to the certificate at `ACCURACIES`; those of the first learner stay as filed."
    world, rows = load_world('clinic'), {r['eps']: r for r in stored()['accuracy']}
    oracle, best = action_informed_oracle(world), optimal_rule(world)
    for eps in ACCURACIES:
        runs = [play(world, oracle, best, eps, delta, generator(7, seed))
                for seed in range(seeds)]
        rows[eps] |= dict(
            this=[r['rounds'] for r in runs], statuses=[r['status'] for r in runs],
            least=n_min(problem_of(world, eps, delta)), given=lower_bound(world, eps, delta),
            coupled=lower_bound(world, eps, delta, coupled=True), commit=commit(),
            **in_money(runs))
        print(eps, rows[eps]['this'], rows[eps]['lost'], flush=True)
        file('accuracy', list(rows.values()))
    return list(rows.values())

def wide_world():
    "Five states, 44 beliefs."
    return random_world(4, 5, 11, generator(20250714, 0), prior='arm', margin=.01, tries=1,
                        name='W = 5, M = 44')

def speed(folder=None):
    """CPU of the first learner over that of this one, in turn on the same worlds and seeds;
    and of a round after 900 over one after 100, within one run."""
    with learners(folder) as (first, this):
        warm = load_world('clinic')
        for play in (first, this):
            play(warm, 1., 0)
        def compare(world, eps, seeds):
            runs = [(first(world, eps, seed), this(world, eps, seed)) for seed in range(seeds)]
            ratios = [a['seconds']/b['seconds'] for a, b in runs]
            rounds = [(a['rounds'], b['rounds']) for a, b in runs]
            print(f'{world.name}: {np.median(ratios):.2f} times as fast as the first '
                  f'({min(ratios):.2f} to {max(ratios):.2f}), rounds {rounds}', flush=True)
        compare(*posed(0), 5)
        at = np.array(this(warm, .002, 0, cap=1001)['at'])
        early, late = (at[199] - at[99])/100, (at[999] - at[899])/100
        print(f'clinic at 0.002, a round: {late/early:.2f} times as long around round 950 as '
              'around 150', flush=True)
        compare(*posed(1), 2)
        wide = wide_world()
        compare(wide, max(gap_of(wide)/2, .04), 1)

def show(results):
    ratios = {row['world']: row['faithful']/np.array(row['rounds']) for row in results['suite']}
    for name, r in ratios.items():
        print(
            f'{name:12} OIAFC needs at least {np.median(r):8.0f} times as many rounds '
            f'({r.min():.0f} to {r.max():.0f} over {len(r)} seeds)')
    print(
        f'median of the medians {np.median([np.median(r) for r in ratios.values()]):.0f}, smallest '
        f'{min(r.min() for r in ratios.values()):.0f}')

def merged(old, new):
    "The rows of `new`, and those of `old` for other worlds."
    if not isinstance(new, list):
        return new
    names = {r['world'] for r in new}
    return [r for r in old or [] if r['world'] not in names] + new

if __name__ == '__main__':
    part, *rest = sys.argv[1:] or ['']
    if part not in ('suite', 'small', 'faithful', 'accuracy', 'money', 'trade', 'speed',
                    'parts', 'readme', 'show'):
        sys.exit(__doc__)
    if part == 'show':
        show(stored())
    elif part == 'speed':
        speed(*rest)
    else:
        options = {}
        if part in ('suite', 'money') and rest:
            options = dict(seeds=int(rest[0])) | ({} if len(rest) < 2 else dict(
                worlds=[int(n) for n in rest[1].split(',')]))
        if part in ('accuracy', 'parts', 'readme', 'trade') and rest:
            options = dict(seeds=int(rest[0]))
        if part == 'small' and rest:
            options = dict(runs=int(rest[0])) | ({} if len(rest) < 2 else dict(
                delta=float(rest[1])))
        file(part, globals()[part](**options))
