"""The sharp learner: its bounds on means, its guarantee by Monte Carlo, its endings one by one."""
from functools import partial
import numpy as np
import pytest
from hypothesis import strategies as st
from conftest import amount, seeded
from inside import Judge, gap_of, looked_into, small_world
from laws import detection, guess, most_failures, statistical
from oia_nb.all import (Oracle, action_informed_oracle, generator, load_world, make_world,
                        random_world, sharp, simulate)
from oia_nb.paper.estimation import INIT
from results import bits_world
import oia_nb.sharp.learner as module
from oia_nb.sharp.evidence import betting_threshold, mean_lower

plain = partial(sharp, examined=False)      # without the closing examination
CLINIC = load_world('clinic')

def run(world, rng, learner=plain, oracle=None, **options):
    options = dict(delta=.05, max_rounds=10_000) | options
    oracle = oracle or action_informed_oracle(world)
    return looked_into(learner(world.setting, oracle, **options), world, rng)

# --- Bounds on means ------------------------------------------------------------------

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

@seeded(300, st.floats(0, 6), st.floats(1e-6, 1))
def test_mean_lower_by_halving(seed, size, delta):
    "Newton's steps end where halving does, and not above."
    rng = generator(83, seed)
    q, x = rng.dirichlet(np.full(6, .3)), rng.normal(size=6)*10**rng.uniform(-3, 3)
    counts = np.floor(q*10**size).astype(float)
    counts[rng.integers(6)] += 1
    threshold = betting_threshold(counts.sum(), delta)
    exact, found = least_mean(counts, x, threshold), mean_lower(counts, x, threshold)
    assert exact - 1e-7*np.ptp(x) <= found <= exact + 1e-12*np.ptp(x)

# --- The guarantee --------------------------------------------------------------------

RUNS, DELTA = amount((6, .05), (72, .2))

@statistical(false_alarm=2e-6, planted="returns the oracle's rule for the worst arm, unasked",
             power=lambda: detection(RUNS, DELTA, 1.))
@pytest.mark.parametrize('anything', amount([True], [False, True]))
def test_the_promise_is_kept(anything, monkeypatch):
    """Runs on small worlds, each at an ε below its gap, where the oracle's rule for the worst arm
    loses more; also if questions are asked at random, whether they pay or not."""
    rng, options = generator(733), module.bets.Choice.options
    if anything:
        monkeypatch.setattr(module.bets.Choice, 'options', lambda *given: [
            (rng.uniform(0, 2), act) for _, act in options(*given)])
    failed = wrong = 0
    for n in range(RUNS):
        world = small_world(n % 12, 2 + n % 2)
        eps, judge = max(gap_of(world)/2, .03), Judge(world)
        learner = plain(world.setting, action_informed_oracle(world), eps=eps, delta=DELTA)
        found = simulate(learner, world, generator(700, n))
        assert found.status == 'certified'
        failed += bool(judge.false_clauses(found, eps))
        wrong += judge.regret(guess(world, eps).rule.values) > eps
    assert failed <= most_failures(RUNS, DELTA) < wrong

DEEP = make_world(CLINIC.structure.joint, 1e6*CLINIC.costs, 1e6*(CLINIC.setting.utility - 3.),
                  1e6*CLINIC.setting.bound)

# world, seed, options: each ends certified, and nothing that it says is false
ENDS = {
    'no margin is needed': (small_world(4), 1, dict(eps=.05, delta=.1, oracle=Oracle(
        action_informed_oracle(small_world(4)).rules))),
    'sixty beliefs': (small_world(0, 3, 2, 20, begins=33), 3, dict(eps=.08, delta=.1)),
    'a bound from below needs the other arm': (
        random_world(2, 3, 2, 791340154, tries=1), 264, dict(
            eps=.0673, delta=.5, max_rounds=600, learner=sharp)),
    'δ of 1': (CLINIC, 0, dict(eps=.1, delta=1., max_rounds=300))}
MORE = {'four states, dear rules': (bits_world([.1, 0.], cost=.15), 0, dict(eps=.05)),
        'millions below 0': (DEEP, 2, dict(eps=1e5, delta=.1)),
        'clinic': (CLINIC, 0, dict(eps=.04))}

@pytest.mark.parametrize('name', amount(ENDS, ENDS | MORE))
def test_runs_that_end(name):
    world, seed, options = (ENDS | MORE)[name]
    found = run(world, seed, **options)
    assert found.status == 'certified' and found.certificate.bound <= options['eps']

def test_a_run_adds_up_and_can_be_repeated():
    world, plans = small_world(3, 3), []
    r, again = (run(world, 5, eps=.05, delta=.1, watch=watch) for watch in (plans.append, None))
    assert r.rounds == again.rounds and (r.rule.values == again.rule.values).all() and (
        r.trace.arms == again.trace.arms).all()
    assert r.rounds == r.counts.sum() == len(r.trace.kinds)
    assert (r.trace.kinds == INIT).sum() in (1, world.setting.K, world.setting.K + 1)
    bounds = [p.bound for p in plans if np.isfinite(p.bound)]
    assert (np.diff(bounds) <= 0).all() and r.certificate.bound <= .05

def test_a_coarse_target_needs_one_round():
    r = run(CLINIC, 0, eps=CLINIC.setting.B)
    assert (r.status, r.rounds, r.forced_rounds) == ('certified', 1, 0)

# --- Endings --------------------------------------------------------------------------

@pytest.mark.parametrize('cap, options', [(3, {}), (4, {}), (60, dict(delta=5e-324)),
                                          *amount([], [(300, dict(delta=1e-300))])])
def test_a_cap(cap, options):
    "Also of a δ beyond what rounds can buy; a bound that was proved by then holds."
    r = run(CLINIC, 0, eps=.04, max_rounds=cap, **options)
    assert (r.status, r.rounds, len(r.trace.arms)) == ('round_cap', cap, cap)

@pytest.mark.parametrize('n, seed', [(18, 4), *amount([], [(15, 42), (18, 9), (15, 8)])])
def test_runs_of_vain_questions_end(n, seed, monkeypatch):
    """No question is predicted to pay there, though some would. Planted: a learner that asks none
    is certified never."""
    world = small_world(n, 2 + (n % 4 == 3), begins=4000)
    def play(cap):
        return run(world, generator(11, 1000*n + seed), eps=max(gap_of(world)/2, .02), delta=.5,
                   max_rounds=cap)
    found = play(1000)
    assert found.status == 'certified'
    monkeypatch.setattr(module.bets.Choice, 'options', lambda *given: [])
    assert play(3*found.rounds).status in ('round_cap', 'stalled')
