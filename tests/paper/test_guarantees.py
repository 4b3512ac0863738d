"""What the paper promises, seen in whole runs and in exact numbers.

The guarantee of OIAFC is tested in worlds where a wrong rule loses more than ε, by compiled code
(`test_engine.py` shows that it plays the same runs). What the guarantees of all learners say on the
event is tested without chance, by laws and their mutants."""
import gc
from functools import partial
from itertools import combinations
import numpy as np
import pytest
from conftest import amount
import laws
from laws import FALSE_ALARM, detection, guess, most_failures, outcomes, shaped_world, statistical
from scipy.stats import multinomial
from oia_nb.all import (action_informed_oracle, chen, generator, identify, is_proper, make_world,
                        oiafb, oiafc, sharp, simple_regret, simulate)
from oia_nb.paper.baselines import explore_then_commit as etc
from oia_nb.game.information import InformationStructure, World
from oia_nb.paper.oiafc import (MIXINGS, Exploration, budget_parameter, event_failure, interact,
                                never, remember)

# --- Fixed confidence -----------------------------------------------------------------

DELTA = .01
WORLDS = [shaped_world(101, i, [(2, 2, 2), (2, 2, 3), (3, 2, 2), (2, 3, 2)], margin=.03,
                       prior='common' if i == 0 else 'arm') for i in range(4)]

# World, target: two and three arms, beliefs hidden or noisy, the best arm first or last; in the
# last two arms are searched for and programs solved.
WRONG = [(outcomes([.7, .3], [0., 0.], .05), .66),
         (outcomes([.2, .8], [.002, 0.], .05, accuracy=.5), .99),
         (outcomes([.8, .2], [0., 0.], .05, accuracy=.95), .99),
         (outcomes([.8, .2, .5], [0., .001, 0.], .05), .99),
         (outcomes([.8, .2], [0., .15], .3), 1.15),
         (outcomes([.2, .8], [0., .05], .3), 1.1)]

@pytest.fixture(scope='module', params=list(MIXINGS))
def runs(request):
    "(world, result) of 22 runs (300 with --release); those with programs take long."
    return [(w, identify(w, method='oiafc', eps=eps, delta=DELTA, seed=generator(7, 1000*i + n),
                         mixing=request.param, max_rounds=400_000, engine='fast'))
            for i, (w, eps) in enumerate(WRONG) for n in range(amount(5 if i < 4 else 1, 50))]

def failures(runs):
    "How many of the (world, result) have a true regret above their target."
    return sum(simple_regret(world, r.rule) > r.eps for world, r in runs)

@statistical(false_alarm=2*FALSE_ALARM,
             planted="returns the oracle's rule for the worst arm, certified, unasked",
             power=lambda: detection(22, DELTA, 1.))
def test_regret(runs):
    "P(regret > ε) ≤ δ, over 22 runs for each choice of α; all of them end certified."
    assert all(r.status == 'certified' and r.certificate.bound <= r.eps for _, r in runs)
    guesses = [(world, guess(world, r.eps)) for world, r in runs]
    assert failures(runs) <= most_failures(len(runs), DELTA) < failures(guesses)

def test_returned_rule(runs):
    """Proper, bounded, and answered by the arm that is returned with it; the rounds add up. In the
    last of these worlds tens of thousands of searches are made, and programs left to the solver."""
    for world, r in runs:
        assert is_proper(r.rule) and world.best_response(r.rule) == r.arm
        assert 0 <= r.rule.values.min() and r.rule.values.max() <= world.setting.bound
        assert r.rounds == world.setting.K + r.normal_rounds + r.forced_rounds == r.counts.sum()
    assert r.searches > 10_000 and r.lp_solves > 0

# --- Fixed budget ---------------------------------------------------------------------

@pytest.mark.parametrize('seed', range(6))
def test_budget_is_spent_exactly(seed):
    world = shaped_world(100, seed, [(2, 2, 2), (3, 2, 2)], prior='arm', margin=.01)
    oracle, K = action_informed_oracle(world), world.setting.K
    for budget in [*range(1, 12), 30]:
        plans = []
        r = simulate(oiafb(world.setting, oracle, eps=.5, budget=budget, delta=.1,
                           watch=plans.append), world, seed)
        assert r.rounds == budget == len(r.trace.arms) == r.counts.sum()
        assert r.rounds == min(K, budget) + r.normal_rounds + r.forced_rounds
        assert r.status == ('budget_too_small' if budget < K else
                            'budget' if r.normal_rounds else 'uncertified')
        assert (r.certificate is None) or r.status == 'budget'
        # answered once, answered always
        assert world.best_response(r.rule) == r.arm
        assert is_proper(r.rule)
        # the normal round with the smallest radius, i.e. the most observations before it
        if r.status == 'budget':
            N = [p.N[p.target] for p in plans if world.best_response(p.rule) == p.target]
            B, alpha = world.setting.B, .5/(4*world.setting.B)
            a = budget_parameter(world.setting, budget, .1)
            assert r.event_violated or abs(r.certificate.bound - (
                2*alpha*B + (1-alpha)*2*B*np.sqrt(a/max(N)))) < 1e-9

def test_fallback_is_the_best_guarantee():
    "No normal round: no announced rule has a larger profit at worst than the returned one."
    world = make_world([[[.5, .5]], [[.45, .05], [.05, .45]]], [0., .2], [[1., -1.], [-1., 1.]], 1.)
    oracle, a = action_informed_oracle(world), 20.
    run = Exploration(world.setting, oracle, radius=lambda N, t: np.sqrt(a/N),
                      mixing=lambda L, t: .5/(4*world.setting.B))
    simulate(remember(run, interact(run, never, 80), keep=lambda run: True), world, 0)
    seen = run.kept
    assert run.best is None
    worst = lambda rule, k: run.transcript.q_hat[k]@(
        world.setting.belief_utility - rule.expected) - world.setting.B*np.sqrt(
            a/run.transcript.N[k])
    r = simulate(oiafb(world.setting, oracle, eps=.5, budget=80, a=a), world, 0)
    assert r.status == 'uncertified'
    assert np.isclose(worst(r.rule, r.arm), max(worst(*s[:2]) for s in seen))

def test_a_and_delta():
    world = WORLDS[0]
    z, oracle = world.setting, action_informed_oracle(world)
    for T in (2, 50, 10**6):
        for delta in (1e-6, .1, 1.):
            assert np.isclose(event_failure(z, T, budget_parameter(z, T, delta)), delta)
    by_delta = simulate(oiafb(z, oracle, eps=1., budget=20, delta=.1), world, 0)
    by_a = simulate(oiafb(z, oracle, eps=1., budget=20, a=budget_parameter(z, 20, .1)), world, 0)
    assert (by_delta.trace.arms == by_a.trace.arms).all() and np.isclose(
        by_a.delta, .1) and by_delta.delta == .1

# --- Numbers --------------------------------------------------------------------------

def all_counts(n, M):
    bars = np.array(list(combinations(range(n + M - 1), M - 1)))
    return np.diff(bars, axis=1, prepend=-1, append=n + M - 1) - 1

@pytest.mark.parametrize('M', [2, 3, 4])
@pytest.mark.parametrize('n', [1, 2, 3, 5, 8, 12])
def test_concentration_holds_exactly_for_every_distance(M, n):
    rng, x = generator(M), all_counts(n, M)
    for q in [np.full(M, 1/M), *rng.dirichlet(np.ones(M), 10), *rng.dirichlet(np.full(M, .2), 10)]:
        distance, which = np.unique(np.abs(x/n - q).sum(1).round(12), return_inverse=True)
        mass = np.bincount(which, multinomial.pmf(x, n, q))
        assert abs(mass.sum() - 1) < 1e-9
        tail = mass[::-1].cumsum()[::-1]
        bound = (2**M - 2)*np.exp(-n*distance**2/2)
        assert (tail <= bound + 1e-12)[distance > 0].all()
        # and a third of it would be none for two beliefs: at the largest distances it is too small
        assert n > 3 or M > 2 or (tail > bound/3)[distance > 0].any()
        assert tail[distance >= np.sqrt(2*np.log(2**M/.3)/n)].max(initial=0) <= .3

def test_searches_come_near_their_bound():
    """A run of hundreds of thousands of rounds: a twelfth of Lemma 4's count, or a quarter of
    the logarithm for half of it, is exceeded. (Normal rounds: `law_normal_rounds`.)"""
    laws.check_searches()
    for old, new in (('(p.K - 1)*np.ceil(N_bar)', '(p.K - 1)*np.ceil(N_bar/12)'),
                     ('t/(2*Lambda)))/2', 't/(2*Lambda)))/4')):
        broken = laws.bounds(old, new)
        with pytest.raises(AssertionError):
            laws.check_searches(broken)

# --- Who knows what -------------------------------------------------------------------

def sees_secret(start, world):
    """Whether a world, an information structure, q or the costs can be reached from `start` without
    passing through a module, a class or a plain function's globals."""
    secrets = [world.belief_distributions, world.costs, *world.structure.joint]
    seen, queue = {}, [start]
    while queue:
        o = queue.pop()
        if id(o) in seen or isinstance(o, (type, type(gc), type(len))) or (
                isinstance(o, dict) and '__builtins__' in o):
            continue
        if isinstance(o, (World, InformationStructure)) or isinstance(o, np.ndarray) and any(
                o.shape == s.shape and np.allclose(o, s) for s in secrets if o.dtype == float):
            return True
        seen[id(o)] = o
        queue += gc.get_referents(o)
    return False

def cheat(setting, oracle, world=WORLDS[2], **options):
    "A learner that holds the world."
    while world:
        yield oracle.rules[0]

LEARNERS = dict(oiafc=oiafc, oiafb=partial(oiafb, budget=100), sharp=sharp, cheat=cheat,
                chen=partial(chen, budget=100, decision='uniform', rng=0),
                etc=partial(etc, samples=50))

@pytest.mark.parametrize('name', LEARNERS)
def test_learner_cannot_reach_the_secrets(name):
    "In the middle of a run, nothing that a learner holds leads to q or to the costs."
    world = WORLDS[2]
    learner, rng = LEARNERS[name](world.setting, action_informed_oracle(world), eps=.05,
                                  delta=DELTA), generator(1)
    rule = next(learner)
    for _ in range(50):
        rule = learner.send(world.respond(rule, rng))
    assert sees_secret(learner, world) == (name == 'cheat')
