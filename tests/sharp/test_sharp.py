"""The sharp learner: its walls and bounds as laws, its guarantee by Monte Carlo, its endings one
by one.

Each Monte-Carlo test states the number of runs, and compares failures with the 1 - 1e-6
quantile of the binomial distribution with the probability of failure that is allowed: its
false-alarm rate is at most 1e-6. A learner that returns a rule it never asked about must fail it.
"""
from functools import partial
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from conftest import amount, examples
from oia_nb.all import (InvalidInput, NotInducible, Oracle, Response, action_informed_oracle,
                        generator, is_proper, load_world, make_world, optimal_rule,
                        principal_profit, random_world, sharp)
from oia_nb.paper.estimation import INIT
from oia_nb.game.information import Environment, InformationStructure
from oia_nb.sharp.limits import lower_bound
from laws import DEGENERATE, degenerate_world
from oia_nb.worlds.generators import bits_world
import oia_nb.sharp.learner as module
from oia_nb.sharp.evidence import betting_threshold, mean_lower
from inside import looked_into as simulate
from laws import detection, guess, most_failures, statistical

plain = partial(sharp, examined=False)      # without the closing examination

def small_world(i, K=2, W=2, signals=2):
    for n in range(200):
        try:
            return random_world(K, W, signals, generator(500 + i, n), prior='arm',
                                margin=.01, tries=1)
        except NotInducible:
            continue

def gap_of(world):
    return float(np.sort(optimal_rule(world).gaps)[1])

def sound(world, result):
    "The rule is proper, its arm answers, and its regret is no more than the certificate says."
    best = optimal_rule(world).profit
    return is_proper(result.rule) and world.best_response(
        result.rule) == result.arm and best - principal_profit(
            world, result.rule) <= result.certificate.bound + 1e-6

# --- Statistics -----------------------------------------------------------------------


def least_mean(counts, x, threshold):
    "`mean_lower` by halving."
    N, low, scale, seen = counts.sum(), x.min(), np.ptp(x), counts > 0
    q, y, room = counts[seen]/N, (x[seen] - low)/scale, threshold/N
    def tilted(kappa):
        w = q/(y + kappa)
        return q @ np.log(y + kappa) + np.log(w.sum()), w @ y/w.sum()
    if y.min() > 0 and (at := tilted(0.))[0] <= room:
        return low + scale*at[1]*np.exp(at[0] - room)
    a, b = 1e-15, 1e15
    for _ in range(60):
        middle = np.sqrt(a*b)
        a, b = (middle, b) if tilted(middle)[0] > room else (a, middle)
    return low + scale*tilted(a)[1]


@settings(max_examples=examples(300))
@given(st.integers(0, 10**6), st.floats(0, 6), st.floats(1e-6, 1))
def test_mean_lower_by_halving(seed, size, delta):
    "Newton's steps end where halving does, and not above."
    rng = generator(83, seed)
    q, x = rng.dirichlet(np.full(6, .3)), rng.normal(size=6)*10**rng.uniform(-3, 3)
    counts = np.floor(q*10**size).astype(float)
    counts[rng.integers(6)] += 1
    threshold = betting_threshold(counts.sum(), delta)
    exact, found = least_mean(counts, x, threshold), mean_lower(counts, x, threshold)
    assert exact - 1e-7*np.ptp(x) <= found <= exact + 1e-12*np.ptp(x)


def test_mean_lower_extremes():
    x = np.array([0., 1., 3.])
    assert mean_lower(np.zeros(3), x, 1.) == 0
    assert mean_lower(np.array([1., 2., 3.]), np.full(3, .7), 1.) == .7
    counts = np.array([0., 40., 60.])
    assert 0 < mean_lower(counts, x, 5.) < mean_lower(counts, x, 1.) < mean_lower(
        counts, x, 1e-9) <= counts@x/100 + 1e-9
    assert mean_lower(1e6*counts, x, 5.) == pytest.approx(counts @ x/100, abs=1e-3)

# --- Walls ----------------------------------------------------------------------------


def asking_anything(monkeypatch):
    "Questions at random, whether they pay or not."
    rng, options = generator(733), module.bets.Choice.options
    monkeypatch.setattr(module.bets.Choice, 'options', lambda *given: [
        (rng.uniform(0, 2), act) for _, act in options(*given)])

DELTA = amount(.05, .2)     # of every run below
SEEDS = amount(1, 6)        # runs of each world
WORLDS = amount(5, 6)       # so many worlds at least

def targets(n):
    """n small worlds, each with an ε below its gap: there the oracle's rule for the worst arm
    loses more."""
    for i in range(n):
        world = small_world(i, 2 + i % 2)
        yield world, max(gap_of(world)/2, .03)

def is_failure(world, found, eps):
    "Whether something is certified that isn't so."
    return found.status == 'certified' and not (sound(world, found)
                                                and found.certificate.bound <= eps)

def failures(runs):
    return sum(is_failure(*run) for run in runs)

def guessed(worlds, seeds):
    "As many runs of a learner that returns the oracle's rule for the worst arm, unasked."
    return [(world, guess()(world, eps), eps) for world, eps in worlds]*seeds

@statistical(false_alarm=1e-6, planted="returns the oracle's rule for the worst arm, unasked",
             power=lambda: detection(WORLDS*SEEDS, DELTA, 1.))
def test_the_promise_is_kept_whatever_is_asked(monkeypatch):
    "Runs on 5 worlds (6 runs on each of 6, with --release), without a question that pays."
    asking_anything(monkeypatch)
    worlds = list(targets(WORLDS))
    runs = [(world, play(world, eps, generator(710 + i, seed)), eps)
            for i, (world, eps) in enumerate(worlds) for seed in range(SEEDS)]
    assert {found.status for _, found, _ in runs} == {'certified'}
    assert failures(runs) <= most_failures(len(runs), DELTA) < failures(guessed(worlds, SEEDS))

def play(world, eps, rng):
    learner = plain(world.setting, action_informed_oracle(world), eps=eps, delta=DELTA,
                    max_rounds=10_000)
    return simulate(learner, world, rng)

@pytest.mark.parametrize('seed', range(2))
def test_a_best_rule_that_pays_much(seed):
    "Four states."
    world = bits_world([.1, 0.], cost=.15)
    r = simulate(plain(world.setting, action_informed_oracle(world), eps=.05, delta=.05,
                       max_rounds=1000), world, seed)
    assert r.status == 'certified' and sound(world, r)

def test_an_examined_certificate_costs_rounds_and_says_what_was_checked():
    clinic = load_world('clinic')
    oracle = action_informed_oracle(clinic)
    r = simulate(sharp(clinic.setting, oracle, eps=.1, delta=.05), clinic, 3)
    short = simulate(plain(clinic.setting, oracle, eps=.1, delta=.05), clinic, 3)
    assert r.status == short.status == 'certified' and r.rounds > short.rounds
    assert {c.name for c in r.checks} == {'answers', 'boundaries', 'calibration', 'prior',
                                        'reports'}
    assert all(c.passed for c in r.checks) and not short.violated


# --- The learner ----------------------------------------------------------------------

@pytest.mark.parametrize('seed', range(amount(1, 3)))
def test_clinic_is_told_apart_at_004(seed):
    clinic = load_world('clinic')
    r = simulate(
        plain(clinic.setting, action_informed_oracle(clinic), eps=.04, delta=.05),
        clinic, seed)
    assert r.status == 'certified' and clinic.setting.arms[
        r.arm] == 'imaging' and r.rounds <= 10_000 and sound(clinic, r)

@statistical(false_alarm=1e-6, planted="returns the oracle's rule for the worst arm, unasked",
             power=lambda: detection(WORLDS*SEEDS, DELTA, 1.))
def test_guarantee_on_small_worlds():
    """Runs on 6 worlds (6 runs on each of 12, with --release), of which five in six and more end
    certified."""
    worlds = list(targets(amount(6, 12)))
    runs = [(world, play(world, eps, generator(700 + i, seed)), eps)
            for i, (world, eps) in enumerate(worlds) for seed in range(SEEDS)]
    certified = [run for run in runs if run[1].status == 'certified']
    assert len(certified) >= 5*len(runs)/6
    assert failures(certified) <= most_failures(len(certified), DELTA)
    assert failures(guessed(worlds, SEEDS)) > most_failures(len(runs), DELTA)

def test_a_run_adds_up_and_can_be_repeated():
    world = small_world(3, 3)
    oracle, plans = action_informed_oracle(world), []
    run = lambda watch=None: simulate(
        plain(world.setting, oracle, eps=.05, delta=.1, watch=watch), world, 5)
    r, again = run(plans.append), run()
    assert r.rounds == again.rounds and (r.rule.values == again.rule.values).all() and (
        r.trace.arms == again.trace.arms).all()
    assert r.rounds == r.counts.sum() == len(r.trace.kinds)
    assert (r.trace.kinds == INIT).sum() in (1, world.setting.K, world.setting.K + 1)
    bounds = [p.bound for p in plans if np.isfinite(p.bound)]
    assert (np.diff(bounds) <= 0).all() and r.certificate.bound <= .05

def test_margin_is_not_needed():
    world = small_world(4)
    oracle = action_informed_oracle(world)
    bare = Oracle(oracle.rules)
    r = simulate(plain(world.setting, bare, eps=.05, delta=.1), world, 1)
    assert r.status == 'certified' and sound(world, r)

@pytest.mark.parametrize('unit', amount([1e6], [.01, 1e6]))
def test_in_any_unit(unit):
    "Everything scales: payments, utilities and costs in cents or in millions."
    w = load_world('clinic')
    scaled = make_world(w.structure.joint, unit*w.costs, unit*w.setting.utility,
                        unit*w.setting.bound)
    r = simulate(
        plain(scaled.setting, action_informed_oracle(scaled), eps=.1*unit, delta=.1),
        scaled, 2)
    assert r.status == 'certified' and sound(scaled, r) and r.certificate.bound <= .1*unit

@pytest.mark.parametrize('change', amount([dict(shift=-3.)], [
    dict(bound=100.), dict(utility=.01), dict(shift=-3.)]))
def test_utilities_and_payments_of_unlike_size(change):
    w = load_world('clinic')
    u = change.get('utility', 1.)
    other = make_world(w.structure.joint, w.costs,
                       u*w.setting.utility + change.get('shift', 0.),
                       change.get('bound', 1.))
    r = simulate(
        plain(other.setting, action_informed_oracle(other), eps=.1*max(u, .1),
              delta=.1), other, 2)
    assert r.status == 'certified' and sound(other, r)

def test_a_coarse_target_needs_one_round():
    clinic = load_world('clinic')
    for eps in (2*clinic.setting.B, clinic.setting.B):
        r = simulate(
            plain(clinic.setting, action_informed_oracle(clinic), eps=eps, delta=.05),
            clinic, 0)
        assert (r.status, r.rounds, r.forced_rounds) == ('certified', 1, 0) and sound(clinic, r)

@pytest.mark.parametrize('delta', [1., 5e-324, *amount([], [1e-300])])
def test_any_delta(delta):
    "A δ beyond what rounds can buy ends at the cap, with a bound that holds."
    clinic = load_world('clinic')
    r = simulate(
        plain(clinic.setting, action_informed_oracle(clinic), eps=.1, delta=delta,
              max_rounds=300), clinic, 0)
    assert r.status == ('certified' if delta > 1e-100 else
                        'round_cap') and (r.certificate is None or sound(clinic, r))

def test_worlds_on_the_edge():
    "Where an oracle exists at all, a run ends certified."
    ended = {}
    for kind in DEGENERATE:
        world = degenerate_world(kind)
        try:
            oracle = action_informed_oracle(world)
        except NotInducible:
            continue
        ended[kind] = r = simulate(
            plain(world.setting, oracle, eps=.05, delta=.1, max_rounds=5000), world, 0)
        assert r.status == 'certified' and sound(world, r)
    assert 'tie' in ended

def test_sixty_beliefs():
    world = next(w for w in (drawn(generator(33, n)) for n in range(300)) if w)
    r = simulate(
        plain(world.setting, action_informed_oracle(world), eps=.08, delta=.1,
              max_rounds=10_000), world, 3)
    assert world.setting.M == 60 and r.status == 'certified' and sound(world, r)

def drawn(rng):
    try:
        return random_world(3, 2, 20, rng, prior='arm', margin=.01, tries=1)
    except NotInducible:
        return None

# --- Endings --------------------------------------------------------------------------

def test_cap():
    clinic = load_world('clinic')
    oracle = action_informed_oracle(clinic)
    for cap in (3, 4, 50):
        r = simulate(plain(clinic.setting, oracle, eps=.04, delta=.05, max_rounds=cap), clinic, 0)
        assert (r.status, r.rounds, len(r.trace.arms)) == ('round_cap', cap, cap)
        assert r.certificate is None or sound(clinic, r)

def stuck_world(n):
    "A small world in which no question is predicted to pay, though some would."
    for i in range(200):
        try:
            return random_world(2 + (n % 4 == 3), 2, 2, generator(4000 + n, i), prior='arm',
                                margin=.01, tries=1)
        except NotInducible:
            continue

@pytest.mark.parametrize('n, seed', [(18, 4), *amount([], [(18, 9), (15, 8)])])
def test_runs_of_vain_questions_end(n, seed):
    world = stuck_world(n)
    play = lambda: simulate(plain(world.setting, action_informed_oracle(world), delta=.5,
                                  eps=max(gap_of(world)/2, .02), max_rounds=1000), world,
                            generator(11, 1000*n + seed))
    found = play()
    assert found.status == 'certified' and sound(world, found)

class Fickle:
    "Answers as `first` does for a number of rounds, as `then` does from then on."
    def __init__(self, first, then, rounds):
        self.first, self.then, self.left = first, then, rounds
    def respond(self, rule, rng):
        self.left -= 1
        return (self.first if self.left >= 0 else self.then).respond(rule, rng)

@pytest.mark.parametrize('arm, change', [(1, .02), (2, -.02), *amount([], [(0, .02), (1, -.01)])])
def test_a_change_of_costs_is_never_certified_in_silence(arm, change):
    clinic = load_world('clinic')
    costs = clinic.costs.copy()
    costs[arm] += change
    other = Environment(
        InformationStructure(clinic.structure.joint, np.maximum(costs, 0)),
        clinic.setting)
    r = simulate(
        plain(clinic.setting, action_informed_oracle(clinic), eps=.04, delta=.05,
              max_rounds=6000), Fickle(clinic, other, 400), 0)
    if r.status == 'assumption_violated':
        assert r.certificate is None and r.event_violated and r.contradiction[
            -1] == r.rounds and max(r.contradiction) <= r.rounds
    else:
        assert r.status in ('event_violated', 'round_cap') or world_agrees(other, clinic, r)

def world_agrees(*worlds_and_result):
    *worlds, r = worlds_and_result
    return any(sound(w, r) for w in worlds)

def test_an_agent_that_answers_at_random():
    clinic = load_world('clinic')
    class Random:
        n = 0
        def respond(self, rule, rng):
            self.n += 1
            arm = self.n - 1 if self.n <= 3 else int(rng.integers(3))
            return Response(arm, tuple(clinic.setting.support[0]), 0)

    r = simulate(
        plain(clinic.setting, action_informed_oracle(clinic), eps=.04, delta=.05),
        Random(), 0)
    assert r.status == 'assumption_violated' and r.certificate is None and len(r.contradiction) >= 2

def test_an_oracle_that_is_wrong():
    clinic = load_world('clinic')
    rules = list(action_informed_oracle(clinic).rules)
    swapped = Oracle([rules[1], rules[0], rules[2]])
    r = simulate(plain(clinic.setting, swapped, eps=.04, delta=.05), clinic, 0)
    assert (r.status, r.violated) == ('assumption_violated', 'oracle') and r.certificate is None

@pytest.mark.parametrize('change', [
    dict(eps=0.),
    dict(eps=np.nan),
    dict(delta=0.),
    dict(delta=1.5),
    dict(margin=-1.),
    dict(max_rounds=1),
    dict(max_rounds=2.5)
])
def test_bad_input(change):
    clinic = load_world('clinic')
    with pytest.raises(InvalidInput, match=next(iter(change))):
        next(
            plain(clinic.setting, action_informed_oracle(clinic),
                  **(dict(eps=.1, delta=.1) | change)))

def test_no_world_for_a_learner():
    clinic = load_world('clinic')
    with pytest.raises(InvalidInput, match='never sees a world'):
        next(plain(clinic, action_informed_oracle(clinic), eps=.1, delta=.1))

# --- The lower bound ------------------------------------------------------------------

def test_lower_bounds():
    """Less is asked of a coarser target; the bound of every learner is no more than that of
    those to whom walls are given."""
    for world in (load_world('clinic'), small_world(1, 3)):
        given = [lower_bound(world, eps, .05) for eps in (.02, .04)]
        assert given[0] >= given[1] >= lower_bound(world, .04, .05, coupled=True) - 1e-6 >= -1e-6
        assert lower_bound(world, .02, .01) >= given[0]

def equal_costs(seed):
    """A small world of two states whose expert pays as much for some arms as for others, and the
    accuracy to be asked for."""
    rng = np.random.default_rng([7, seed])
    for attempt in range(60):
        K, decisions = int(rng.integers(2, 6)), int(rng.integers(2, 5))
        try:
            w = random_world(K, 2, decisions, int(rng.integers(1e9)), tries=1)
            costs = np.array(w.costs)
            if attempt % 3 == 0:
                costs[:] = costs.max()
            elif attempt % 3 == 1:
                costs[costs.argsort()[:2]] = costs.min()
            else:
                costs = costs.round(1)
            w = make_world(w.structure.joint, costs, w.setting.utility, w.setting.bound)
            action_informed_oracle(w)
        except NotInducible:
            continue
        return w, float(np.exp(rng.uniform(np.log(.05), np.log(.6)))*w.setting.bound)

@pytest.mark.filterwarnings('ignore:.* signals lead to a belief')
@pytest.mark.parametrize('seed', [805015, 313, 609, 805, 883, 849, 581][:amount(5, 7)])
def test_an_honest_expert_with_equal_costs_is_not_accused(seed):
    """The examination finds a boundary where none was thought to be, which equal costs explain:
    each of these runs ended as a violated assumption. With --release 400 worlds more, of which
    one in fifty did."""
    for s in [seed, *(1000*seed + np.arange(amount(0, 67)))]:
        world, eps = equal_costs(s)
        oracle = action_informed_oracle(world)
        found = simulate(sharp(world.setting, oracle, eps=eps, delta=1e-9), world, s)
        assert found.violated != 'boundaries' and found.status != 'round_cap'
