"""The sharp learner: its parts as laws, its events at their own shares, planted mutants that
must turn red, its endings one by one.

Exact tests follow the distribution of counts and have no false alarms. Each Monte-Carlo test
states the number n of runs and compares failures with the
1 - 1e-6 quantile of the binomial distribution with the probability of failure that is allowed:
its false-alarm rate is at most 1e-6.
"""
import numpy as np
import pytest
from scipy.stats import binom
from oia_nb.all import (DEGENERATE, INIT, InvalidInput, NotInducible, Oracle,
                        OracleViolated, Response, action_informed_oracle,
                        degenerate_world, generator, is_proper, load_world,
                        lower_bound, make_world, menu_rule, optimal_rule,
                        principal_profit, random_world, sharp, simulate)
from oia_nb.sharp import evidence, learner as module
from oia_nb.sharp.cone import bets
from oia_nb.sharp.evidence import own_wealth, pair_wealth
from oia_nb.sharp.learner import Run, candidate, explore, missing, no_agent, open_run, share, wealth

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

# --- Events, each at its own share, exactly -------------------------------------------

def own_ever(p, delta, horizon=150):
    "The exact chance that `own_wealth` of d = (1, 0), whose mean is p, ever reaches 1/δ against p."
    alive, lost = {0: 1.}, 0.
    s, rules = np.array([1., 0.]), np.zeros((1, 2))
    for n in range(1, horizon + 1):
        then = {}
        for k, mass in alive.items():
            then[k] = then.get(k, 0.) + mass*(1 - p)
            then[k + 1] = then.get(k + 1, 0.) + mass*p
        alive = {}
        for k, mass in then.items():
            if own_wealth(np.array([k, n - k], float), rules, s, 1., p)[0] >= -np.log(delta):
                lost += mass
            else:
                alive[k] = mass
    return lost

def pair_ever(p, q, eps, delta, horizon=14):
    """The exact chance that `pair_wealth` of u = (0, 1), sampled in turn from arms that earn p
    and q, ever reaches 1/δ."""
    alive, lost, u, zero = {(0, 0): 1.}, 0., np.array([0., 1.]), np.zeros((1, 2))
    for n in range(1, horizon + 1):
        then = {}
        for (a, b), mass in alive.items():
            for x, px in ((0, 1 - p), (1, p)):
                for y, py in ((0, 1 - q), (1, q)):
                    then[a + x, b + y] = then.get((a + x, b + y), 0.) + mass*px*py
        alive = {}
        for (a, b), mass in then.items():
            w, _ = pair_wealth(np.array([n - a, a], float), zero, u,
                               np.array([n - b, b], float), u, 0., eps)
            if w >= -np.log(delta):
                lost += mass
            else:
                alive[a, b] = mass
    return lost

def law_own():
    for delta in .05, .5, .9:
        assert own_ever(.5, delta, 60) <= delta

def law_pair():
    for delta in .5, .9:
        assert pair_ever(.7, .5, .2, delta) <= delta

def law_rare():
    """A belief of high utility that was never seen counts: an arm that pays 1 once in forty is
    no worse than .02."""
    u, zero, eps, delta, _lost, _alive = np.array([0., 1., .02]), np.zeros((1, 3)), .02, .5, 0., 1.
    for n in range(1, 60):
        never = np.array([n, 0., 0.])
        if pair_wealth(never, zero, u, np.array([0., 0., n]), u, 0., eps)[0] >= -np.log(delta):
            return (39/40)**n <= delta or pytest.fail('too early')

def test_own_event_at_its_share():
    "With power: the chance comes within four times of its share."
    for delta in .05, .5, .9:
        p = own_ever(.5, delta)
        assert delta/6 <= p <= delta

def test_pair_event_at_its_share():
    law_pair()
    assert pair_ever(.7, .5, .2, .9) >= .9/20

# --- The rules by which wealth is used ------------------------------------------------

def law_threshold():
    """What is missing is measured against the logarithm of the candidate's own share, whoever it
    is against."""
    world = small_world(3, 3)
    run = ready(world)
    for c in run.candidates:
        for j, m in missing(run, c).items():
            assert m == pytest.approx(-np.log(c.delta) - wealth(run, c, j, False, run.eps))

def law_shares():
    "No number of candidates uses up more than δ."
    assert sum(share(n) for n in range(200)) <= 1 + 1e-9
    run = ready(small_world(3, 3))
    for _ in range(20):
        run.candidates.append(candidate(run, *other_arm(run)))
    assert sum(c.delta for c in run.candidates) <= run.delta*(1 + 1e-9)

def law_own_arm():
    "The candidate's own arm has to be refuted as well, at the same share."
    run = ready(small_world(3, 3))
    arm, ray = other_arm(run)
    c = candidate(run, arm, ray)
    assert set(missing(run, c)) == set(range(run.setting.K)) and missing(
        run, c)[arm] >= -np.log(c.delta) - 1e-9

def law_later_samples():
    "Samples of its own arm from before a candidate's registration are no evidence for it."
    run = ready(small_world(3, 3), samples=60)
    arm, ray = other_arm(run)
    c = candidate(run, arm, ray)
    none = run.data.counts[arm] - c.counts
    assert not none.any()
    for j in range(run.setting.K):
        if j == arm:
            assert wealth(run, c, j, False, run.eps) == pytest.approx(0., abs=1e-9)

def ready(world, samples=12, eps=.03, delta=.1):
    "A run after the first answers and some samples."
    oracle = action_informed_oracle(world)
    run = Run(world.setting, oracle, eps, delta, 10_000)
    def begin():
        yield from open_run(run)
        for k in range(world.setting.K):
            yield from module.sample(run, k, samples)
    simulate(begin(), world, 1)
    return run

def other_arm(run):
    ray = run.rays[0]
    return next(a for _, a in ray.heard if a != run.first), ray

LAWS = [law_own, law_pair, law_rare, law_threshold, law_shares, law_own_arm, law_later_samples]

@pytest.mark.parametrize('law', LAWS, ids=lambda f: f.__name__)
def test_law(law):
    law()

# as they are; the names are what mutants replace
CANDIDATE, MISSING, PAIR = candidate, missing, pair_wealth

def exaggerated(factor):
    def mutant(run, c, sure=False, eps=None):
        return {j: m + (1 - factor)*np.log(c.delta) for j, m in MISSING(run, c, sure, eps).items()}
    return mutant
def greedy_mix(logs):
    return logs.max(0)
def seen_only(counts_j, rules, u, *rest):
    return PAIR(counts_j, rules, np.where(counts_j > 0, u, u.min()), *rest)
def full_share(run, arm, ray):
    c = CANDIDATE(run, arm, ray)
    c.delta = run.delta
    return c
def early(run, arm, ray):
    c = CANDIDATE(run, arm, ray)
    c.counts = 0*c.counts
    return c
def no_own(run, c, sure=False, eps=None):
    return {j: m for j, m in MISSING(run, c, sure, eps).items() if j != c.arm}
def own_at_one(run, c, sure=False, eps=None):
    return {j: m + np.log(c.delta)*(j == c.arm) for j, m in MISSING(run, c, sure, eps).items()}

MUTANTS = [('threshold × ½', 'missing', exaggerated(.5), law_threshold),
           ('threshold × ¼', 'missing', exaggerated(.25), law_threshold),
           ('samples from before the registration', 'candidate', early,
            law_later_samples),
           ('each candidate at full δ', 'candidate', full_share, law_shares),
           ('unseen beliefs forgotten', 'pair_wealth', seen_only, law_rare),
           ('own arm left out', 'missing', no_own, law_own_arm),
           ('own arm at δ = 1', 'missing', own_at_one, law_own_arm),
           ('the best gambler in place of the mixture', 'mix', greedy_mix, law_own)]

@pytest.mark.parametrize('name, target, mutant, law', MUTANTS, ids=[m[0] for m in MUTANTS])
def test_mutants_turn_red(name, target, mutant, law, monkeypatch):
    import sys
    for place in (evidence, module, sys.modules[__name__]):
        if hasattr(place, target):
            monkeypatch.setattr(place, target, mutant)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        law()

# --- Regions: nothing that an arm answers is left out ---------------------------------

@pytest.mark.parametrize('K, W, signals', [(2, 2, 2), (3, 2, 3), (2, 3, 3), (3, 3, 2)])
def test_regions_contain_what_arms_answer(K, W, signals):
    """At the end of a run every bound of a wall is true, and rules that an arm answers cost at
    least what its region says."""
    world = small_world(K + W, K, W, signals)
    z, q, c = world.setting, world.belief_distributions, world.costs
    run = Run(z, action_informed_oracle(world), .02, .1, 3000)
    try:
        simulate(explore(run), world, 3)
    except module.Halt:
        pass
    if run.cone is None:
        return
    for (l, j), wall in run.walls.items():
        if not wall.valid:
            continue
        assert c[j] > c[l]
        a = run.cone.D @ (q[j] - q[l])/(c[j] - c[l])*z.bound
        assert (a <= wall.up + 1e-6).all() and (wall.low <= a + 1e-6).all()
    rng = generator(77)
    for j, R in run.regions.items():
        p = rng.dirichlet(np.ones(z.M))
        R.refresh(1000*p)
        least = R.prices.min()
        if W > 2:
            least = z.bound*(R.cheapest(p)[0] if R.cuts else 0.)
        for _ in range(200):
            rule = menu_rule(
                z.support, z.bound*rng.uniform(0, rng.uniform(),
                                               (rng.integers(1, 4), W)), z.bound)
            if world.best_response(rule) == j:
                assert p @ rule.expected >= least - 1e-9

def test_bets_span_the_cone():
    for n in range(20):
        rng = generator(610, n)
        x = np.sort(rng.uniform(size=rng.integers(2, 9)))
        line = np.c_[x, 1 - x]
        D = np.array([r.expected for r in bets(line, 1.)])
        for _ in range(20):
            rule = menu_rule(line, rng.uniform(size=(rng.integers(1, 5), 2)), 1.)
            w = np.linalg.solve(D.T, rule.expected)
            assert w.min() >= -1e-6 and all(is_proper(r) for r in bets(line, 1.))

# --- The learner ----------------------------------------------------------------------

@pytest.mark.parametrize('seed', range(3))
def test_clinic_is_told_apart_at_004(seed):
    clinic = load_world('clinic')
    r = simulate(
        sharp(clinic.setting, action_informed_oracle(clinic), eps=.04, delta=.05),
        clinic, seed)
    assert r.status == 'certified' and r.rounds <= 1000 and sound(clinic, r)

def test_guarantee_on_small_worlds():
    "n = 72 runs at delta = 0.5 on 12 worlds."
    failures = certified = 0
    for i in range(12):
        world = small_world(i, 2 + i % 2)
        oracle, eps = action_informed_oracle(world), max(gap_of(world)/2, .03)
        for seed in range(6):
            r = simulate(
                sharp(world.setting, oracle, eps=eps, delta=.5, max_rounds=10_000),
                world, generator(700 + i, seed))
            certified += r.status == 'certified'
            failures += r.status == 'certified' and not (sound(world, r)
                                                         and r.certificate.bound <= eps)
    assert certified >= 60 and failures <= binom.ppf(1 - 1e-6, certified, .5)

def test_a_run_adds_up_and_can_be_repeated():
    world = small_world(3, 3)
    oracle, plans = action_informed_oracle(world), []
    run = lambda watch=None: simulate(
        sharp(world.setting, oracle, eps=.02, delta=.1, watch=watch), world, 5)
    r, again = run(plans.append), run()
    assert r.rounds == again.rounds and (r.rule.values == again.rule.values).all() and (
        r.trace.arms == again.trace.arms).all()
    assert r.rounds == r.counts.sum() == len(
        r.trace.kinds) and (r.trace.kinds == INIT).sum() in (1, world.setting.K)
    assert (np.diff([p.bound for p in plans if np.isfinite(p.bound)])
            <= 0).all() and r.certificate.bound <= .02

def test_margin_is_not_needed():
    world = small_world(4)
    r = simulate(
        sharp(world.setting, Oracle(action_informed_oracle(world).rules), eps=.05,
              delta=.1), world, 1)
    assert r.status == 'certified' and sound(world, r)

@pytest.mark.parametrize('unit', [.01, 1e6])
def test_in_any_unit(unit):
    "Everything scales: payments, utilities and costs in cents or in millions."
    w = load_world('clinic')
    scaled = make_world(w.structure.joint, unit*w.costs, unit*w.setting.utility,
                        unit*w.setting.bound)
    r = simulate(
        sharp(scaled.setting, action_informed_oracle(scaled), eps=.1*unit, delta=.1),
        scaled, 2)
    assert r.status == 'certified' and sound(scaled, r) and r.certificate.bound <= .1*unit

@pytest.mark.parametrize('change', [dict(bound=100.), dict(utility=.01), dict(shift=-3.)])
def test_utilities_and_payments_of_unlike_size(change):
    w = load_world('clinic')
    u = change.get('utility', 1.)
    other = make_world(w.structure.joint, w.costs,
                       u*w.setting.utility + change.get('shift', 0.),
                       change.get('bound', 1.))
    r = simulate(
        sharp(other.setting, action_informed_oracle(other), eps=.1*max(u, .1),
              delta=.1), other, 2)
    assert r.status == 'certified' and sound(other, r)

def test_a_coarse_target_needs_one_round():
    clinic = load_world('clinic')
    for eps in (2*clinic.setting.B, clinic.setting.B):
        r = simulate(
            sharp(clinic.setting, action_informed_oracle(clinic), eps=eps, delta=.05),
            clinic, 0)
        assert (r.status, r.rounds, r.forced_rounds) == ('certified', 1, 0) and sound(clinic, r)

@pytest.mark.parametrize('delta', [1., 1e-300, 5e-324])
def test_any_delta(delta):
    "A δ beyond what rounds can buy ends at the cap, with a bound that holds."
    clinic = load_world('clinic')
    r = simulate(
        sharp(clinic.setting, action_informed_oracle(clinic), eps=.1, delta=delta,
              max_rounds=1200), clinic, 0)
    assert r.status in ('certified', 'round_cap') and (r.certificate is None or sound(clinic, r))

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
            sharp(world.setting, oracle, eps=.05, delta=.1, max_rounds=5000), world, 0)
        assert r.status == 'certified' and sound(world, r)
    assert 'tie' in ended

def test_sixty_beliefs():
    world = next(w for w in (drawn(generator(33, n)) for n in range(300)) if w)
    r = simulate(
        sharp(world.setting, action_informed_oracle(world), eps=.08, delta=.1,
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
    for cap in (3, 4, 40, 100):
        r = simulate(sharp(clinic.setting, oracle, eps=.01, delta=.05, max_rounds=cap), clinic, 0)
        assert (r.status, r.rounds, len(r.trace.arms)) == ('round_cap', cap, cap)
        assert r.certificate is None or sound(clinic, r)

class Fickle:
    "Answers as `first` does for a number of rounds, as `then` does from then on."
    def __init__(self, first, then, rounds):
        self.first, self.then, self.left = first, then, rounds
    def respond(self, rule, rng):
        self.left -= 1
        return (self.first if self.left >= 0 else self.then).respond(rule, rng)

@pytest.mark.parametrize('arm, change', [(0, .02), (1, .02), (1, -.01), (2, -.02)])
def test_a_change_of_costs_is_never_certified_in_silence(arm, change):
    clinic = load_world('clinic')
    costs = clinic.costs.copy()
    costs[arm] += change
    other = make_world(clinic.structure.joint, np.maximum(costs, 0),
                       clinic.setting.utility, clinic.setting.bound)
    r = simulate(
        sharp(clinic.setting, action_informed_oracle(clinic), eps=.04, delta=.05,
              max_rounds=3000), Fickle(clinic, other, 60), 0)
    if r.status == 'assumption_violated':
        assert r.certificate is None and r.event_violated and len(
            r.contradiction) >= 2 and max(r.contradiction) <= r.rounds
    else:
        assert r.status == 'round_cap' or any(sound(w, r) for w in (other, clinic))

def test_an_agent_that_answers_at_random():
    clinic = load_world('clinic')
    class Random:
        n = 0
        def respond(self, rule, rng):
            self.n += 1
            arm = self.n - 1 if self.n <= 3 else int(rng.integers(3))
            return Response(arm, tuple(clinic.setting.support[0]), 0)

    r = simulate(
        sharp(clinic.setting, action_informed_oracle(clinic), eps=.04, delta=.05),
        Random(), 0)
    assert r.status == 'assumption_violated' and r.certificate is None and len(r.contradiction) >= 2

def test_contradictions_are_named_and_others_are_not():
    """Answers of an agent never contradict each other; another arm's answer to a rule of the
    oracle does, and is named with the first."""
    for i in range(6):
        world = small_world(i, 3)
        run = Run(world.setting, action_informed_oracle(world), .02, .1, 200)
        try:
            simulate(explore(run), world, 1)
        except module.Halt:
            pass
        strict = module.strict_rounds(run)
        assert no_agent(world.setting, run.answers, strict) == ()
        for a in [a for a in run.answers if a.round in strict]:
            liar = module.Answer(a.rule, a.s, (a.arm + 1) % 3, 999)
            named = no_agent(world.setting, [*run.answers, liar], strict)
            assert 999 in named and len(named) >= 2

def test_an_oracle_that_is_wrong():
    clinic = load_world('clinic')
    rules = list(action_informed_oracle(clinic).rules)
    with pytest.raises(OracleViolated):
        simulate(
            sharp(clinic.setting, Oracle([rules[1], rules[0], rules[2]]), eps=.04,
                  delta=.05), clinic, 0)

@pytest.mark.parametrize('change', [
    dict(eps=0.),
    dict(eps=np.nan),
    dict(delta=0.),
    dict(delta=1.5),
    dict(margin=0.),
    dict(max_rounds=1),
    dict(max_rounds=2.5)
])
def test_bad_input(change):
    clinic = load_world('clinic')
    with pytest.raises(InvalidInput, match=next(iter(change))):
        next(
            sharp(clinic.setting, action_informed_oracle(clinic),
                  **(dict(eps=.1, delta=.1) | change)))

def test_no_world_for_a_learner():
    clinic = load_world('clinic')
    with pytest.raises(InvalidInput, match='never sees a world'):
        next(sharp(clinic, action_informed_oracle(clinic), eps=.1, delta=.1))

# --- The lower bound ------------------------------------------------------------------

def test_lower_bounds():
    """Less is asked of a coarser target; the bound of every learner is no more than that of
    those to whom walls are given."""
    for world in (load_world('clinic'), small_world(1, 3)):
        given = [lower_bound(world, eps, .05) for eps in (.02, .04)]
        assert given[0] >= given[1] >= lower_bound(world, .04, .05, coupled=True) - 1e-6 >= -1e-6
        assert lower_bound(world, .02, .01) >= given[0]
