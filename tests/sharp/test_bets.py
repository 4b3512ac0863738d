"""The bets of the sharp learner: their parts as laws, events at their own shares, planted mutants
that must turn red.

Exact tests follow the distribution of counts and have no false alarms. Each Monte-Carlo test
states the number n of runs and compares failures with the
1 - 1e-6 quantile of the binomial distribution with the probability of failure that is allowed:
its false-alarm rate is at most 1e-6.
"""
import numpy as np
import pytest
from conftest import amount
from oia_nb.all import (action_informed_oracle, generator, is_proper, make_world, menu_rule, mix,
                        random_world, sharp)
from oia_nb.paper.estimation import FORCED, NORMAL
from oia_nb.game.programs import HIGHS_OPTIONS
from oia_nb.game.scoring import VRules
from inside import looked_into, small_world
from oia_nb import verify as checker
from oia_nb.sharp.hyperplanes import RegionProgram
from oia_nb.sharp import bets as module, evidence, hints, walls
from oia_nb.sharp.bets import (Choice, digest, learn_round, missing, no_agent, register_fact,
                               set_up, share, wealth)
from oia_nb.sharp.evidence import own_wealth, pair_wealth
from oia_nb.sharp.record import Record
from oia_nb.sharp.walls import Contradiction

def started(world, delta=.1):
    "The knowledge in no facts."
    return digest(Record(), world.setting, action_informed_oracle(world), delta=delta)

def answered(known, world, rule, rng, times=1, kind=FORCED):
    "Announce a rule so often."
    for _ in range(times):
        said = world.respond(rule, rng)
        known.record.append(rule, said.arm, known.setting.index(said.report), kind=kind)
        learn_round(known, rule, known.record.rounds[-1])

def explored(world, eps, delta, seed, most=3000):
    "The knowledge at the end of a run of questions and samples, its candidate and its proof."
    known, rng = started(world, delta), generator(seed)
    choice = Choice(known, eps)
    while known.rounds < most:
        rule, arm, *how = choice.step()
        if isinstance(rule, module.Candidate):
            return known, rule, arm
        answered(known, world, rule, rng, how[1] if arm is not None else 1, how[0])
    return known, None, None

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
    known = ready(small_world(3, 3))
    for c in known.candidates:
        for j, m in missing(known, c, EPS).items():
            asked = module.asked_of(c, j)
            assert asked >= -np.log(c.delta)
            assert m == pytest.approx(asked - wealth(known, c, j, EPS))

def law_shares():
    "No number of candidates uses up more than δ."
    assert sum(share(n) for n in range(200)) <= 1 + 1e-9
    known = ready(small_world(3, 3))
    for _ in range(20):
        module.file(known, other_arm(known))
    assert sum(c.delta for c in known.candidates) <= known.delta*(1 + 1e-9)

def law_own_arm():
    "The candidate's own arm has to be refuted as well, at the same share."
    known = ready(small_world(3, 3))
    c = as_registered(known, other_arm(known))
    assert set(missing(known, c, EPS)) == set(range(known.setting.K))
    lack = missing(known, c, EPS)[c.arm]
    assert lack >= module.asked_of(c, c.arm) - 1e-9 >= -np.log(c.delta)

def best_of(known, won):
    """The chance, at most, that a certificate of the next candidate is wrong, for a principal
    who sees what the best arm's gambler has `won` before she picks it: {wealth: probability}. She
    picks the best arm itself, or another, whichever of the two proofs is then likelier to
    fail; each fails with the probability that Ville's inequality allows."""
    c = as_registered(known, other_arm(known))
    own, across = (np.exp(-module.asked_of(c, j)) for j in (c.arm, known.first))
    return sum(p*max(own, w*across) for w, p in won.items()), c.delta

def law_two_cases():
    "A gambler who has won double or lost all by the time of the choice."
    run = ready(small_world(3, 3))
    for won in {2.: .5, 0.: .5}, {1.: 1.}, {10.: .1, 0.: .9}:
        chance, share = best_of(run, won)
        assert chance <= share*(1 + 1e-9)

def law_later_samples():
    "Samples of its own arm from before a candidate's registration are no evidence for it."
    known = ready(small_world(3, 3), samples=60)
    c = as_registered(known, other_arm(known))
    assert not (known.data.counts[c.arm] - c.counts).any()
    assert wealth(known, c, c.arm, EPS) == pytest.approx(0., abs=1e-9)

EPS = .03

def ready(world, samples=12, delta=.1):
    "What is known after the first answers and some samples."
    known, rng = started(world, delta), generator(1)
    answered(known, world, known.zero, rng, samples)
    for k in known.others:
        answered(known, world, known.oracle.rules[k], rng, samples, NORMAL)
    return known

def as_registered(known, fact):
    "The candidate that a registration makes."
    module.register_fact(known, fact)
    return known.candidates.pop()

def other_arm(known):
    "The registration of an arm that doesn't answer the zero rule."
    arm = known.others[0]
    a = known.answer_to(known.oracle.rules[arm])
    return known.rounds, known.record.index(a.rule), arm

def cut_of(seed, K=2):
    "A world, a cut from true bounds of random width, and the α that it is to majorise."
    world, rng = small_world(40 + seed, K, 3, 3), generator(79, seed)
    z, q, c = world.setting, world.belief_distributions, world.costs
    l, j = c.argsort()[[0, -1]]
    way = (q[j] - q[l])/(c[j] - c[l])
    wall = walls.Wall(walls.Cone(z), (l, j))
    a = wall.cone.D @ way*z.bound
    room = np.abs(a).max()*rng.uniform(0, .3, (2, z.M))
    wall.up, wall.low = a + room[0], a - room[1]
    cut = walls.Cut(wall)
    width = (wall.up - wall.low)[cut.of]
    cut.share_out(width, q[j])
    cut.put(width)
    return world, cut, way

def some_rules(z, rng, n):
    return np.array([menu_rule(z.support, z.bound*rng.uniform(
        0, rng.uniform(), (rng.integers(1, 4), z.W)), z.bound).expected for _ in range(n)])

def law_cut():
    "A cut from bounds on both sides is never below α (`lem-two-sided`)."
    for i in range(5):
        world, cut, way = cut_of(i)
        s, (g, _, error) = some_rules(world.setting, generator(80, i), 300), cut.triple
        assert error < 1e-6 and (s @ (g - way) >= -error - 1e-9).all()
        assert RegionProgram(world.setting).minimum(g - way).bound >= -error - 1e-9

def law_region():
    """What is proved of the wealth over a region holds at its rules, and hardly less is proved than
    what is true (`lem-wealth-region`)."""
    proofs = 0
    for i in range(5):
        world, cut, way = cut_of(i)
        z, rng, (g, h, error) = world.setting, generator(81, i), cut.triple
        facts = checker.Facts(z.support, z.utility, z.bound, z.K, np.zeros((1, z.M, z.W)),
                              np.array([[0, 0, 0, -1]]))
        f = checker.Seen(facts, 1, checker.Arithmetic(False))
        counts = rng.multinomial(60, world.belief_distributions[cut.wall.pair[1]]).astype(float)
        cuts = [((g*z.bound)[:, None]*z.support, h - error)]
        outcomes, mean = f.u.max() - f.u, .7*np.ptp(f.u)
        rules = some_rules(z, rng, 2000)/z.bound
        rules = rules[rules @ g*z.bound >= h - error]
        boxes, low = hints.Boxes(f, cuts, counts, outcomes), np.inf
        for _ in range(9):
            low = min(low, boxes.most(mean))
            try:
                steps = boxes.prove(mean, low - .3)
            except hints.Unproved:
                continue
            proofs += 1
            assert checker.everywhere(f, (None, cuts), counts, outcomes, 1., 1 - mean, low - .3,
                                      steps)
            least = evidence.mixed_wealth(hints.logs(counts, outcomes + rules, mean))
            assert (least >= low - .3).all()
            break
    assert proofs >= 4

def law_short_interval():
    "Where ϵ is the range of payoffs but for some last bits, the wealth is a number."
    rng, nothing = generator(31), np.zeros((1, 3))
    for _ in range(100):
        u = rng.choice([0., 1., 100.]) + rng.uniform(0, 1, 3)*10**rng.uniform(-3, 1)
        here, there = rng.integers(0, 30, (2, 3)).astype(float)
        for short in *10**rng.uniform(-14, -8, 3), 0.:
            with np.errstate(all='raise'):
                found, _row = pair_wealth(here, nothing, u, there, u, float(u.min()),
                                          (1 - short)*np.ptp(u))
            assert found >= -np.inf

def test_what_is_no_number_proves_nothing(monkeypatch):
    "If the evidence against one arm isn't a number, nothing seems to be proved."
    monkeypatch.setattr(module, 'missing', lambda *_: {0: -1., 1: np.nan})
    known = ready(small_world(3, 3))
    assert not module.passes(known, known.candidates[0], EPS)

LAWS = [law_cut, law_region, law_own, law_pair, law_short_interval, law_rare,
        law_threshold, law_shares, law_own_arm, law_two_cases, law_later_samples]

@pytest.mark.parametrize('law', LAWS, ids=lambda f: f.__name__)
def test_law(law):
    law()

# as they are; the names are what mutants replace
REGISTER, MISSING, PAIR = register_fact, missing, pair_wealth

def exaggerated(factor):
    def mutant(known, c, eps):
        return {j: m + (1 - factor)*np.log(c.delta) for j, m in MISSING(known, c, eps).items()}
    return mutant
def greedy_mix(logs):
    return logs.max(-1)
def seen_only(counts_j, rules, u, *rest):
    return PAIR(counts_j, rules, np.where(counts_j > 0, u, u.min()), *rest)
def full_share(known, fact):
    REGISTER(known, fact)
    known.candidates[-1].delta = known.delta
def early(known, fact):
    REGISTER(known, fact)
    known.candidates[-1].counts = 0*known.candidates[-1].counts
def no_own(known, c, eps):
    return {j: m for j, m in MISSING(known, c, eps).items() if j != c.arm}
def own_at_one(known, c, eps):
    return {j: m + np.log(c.delta)*(j == c.arm) for j, m in MISSING(known, c, eps).items()}

def undivided(c, j):
    return -np.log(c.delta)

PUT = walls.Cut.put

def from_below(cut, width):
    cut.wall.up = cut.wall.low
    PUT(cut, width)
def not_dual(cut, width, p):
    cut.shares, cut.short = np.zeros(cut.mu.shape), np.zeros(len(cut.of))

@pytest.mark.parametrize('name, mutant', [('put', from_below), ('share_out', not_dual)])
def test_false_cuts_turn_red(name, mutant, monkeypatch):
    "The lower bounds in place of the upper ones; functionals that aren't dual."
    monkeypatch.setattr(walls.Cut, name, mutant)
    with pytest.raises(AssertionError):
        law_cut()

MUTANTS = [('threshold × ½', 'missing', exaggerated(.5), law_threshold),
           ('threshold × ¼', 'missing', exaggerated(.25), law_threshold),
           ('samples from before the registration', 'register_fact', early,
            law_later_samples),
           ('each candidate at full δ', 'register_fact', full_share, law_shares),
           ('points that fall together', 'TINY', 0., law_short_interval),
           ('unseen beliefs forgotten', 'pair_wealth', seen_only, law_rare),
           ('one share for both cases', 'asked_of', undivided, law_two_cases),
           ('own arm left out', 'missing', no_own, law_own_arm),
           ('own arm at δ = 1', 'missing', own_at_one, law_own_arm),
           ('the best gambler in place of the mixture', 'mixed_wealth', greedy_mix, law_own)]

@pytest.mark.parametrize('name, target, mutant, law', MUTANTS, ids=[m[0] for m in MUTANTS])
def test_mutants_turn_red(name, target, mutant, law, monkeypatch):
    import sys
    for place in (evidence, module, walls, sys.modules[__name__]):
        if hasattr(place, target):
            monkeypatch.setattr(place, target, mutant)
    with pytest.raises((AssertionError, FloatingPointError, pytest.fail.Exception)):
        law()

def test_v_rules_span_the_cone():
    for n in range(20):
        rng = generator(610, n)
        x = np.sort(rng.uniform(size=rng.integers(2, 9)))
        line = np.c_[x, 1 - x]
        v = VRules(line)
        for _ in range(20):
            rule = menu_rule(line, rng.uniform(size=(rng.integers(1, 5), 2)), 1.)
            w = np.linalg.solve(v.D.T, rule.expected)
            assert w.min() >= -1e-6 and all(is_proper(r) for r in v.rules(line, 1.))

# --- Contradictions -------------------------------------------------------------------

def test_contradictions_are_named_and_others_are_not():
    """Answers of an agent never contradict each other; another arm's answer to a rule of the
    oracle does, and is named with the first."""
    for i in range(amount(2, 6)):
        world = small_world(i, 3)
        known, _, _ = explored(world, .02, .1, 2)
        answers = list(known.answers.values())
        strict = {a.round for a in answers if a.rule.values.tobytes() in known.fixed}
        assert no_agent(world.setting, answers, strict) == module.against(known) == ()
        told = next((a for a in answers if a.round in strict), None)
        if told is None:
            continue
        other = module.Answer(told.rule, told.s, (told.arm + 1) % world.setting.K, 10_000)
        named = no_agent(world.setting, [*answers, other], strict)
        assert 10_000 in named and len(named) >= 2

def test_an_arm_that_no_longer_answers_its_rule_is_named():
    world = small_world(3, 3)
    known = ready(world)
    rule = known.oracle.rules[known.others[0]]
    first = known.answer_to(rule).round
    said = world.respond(known.zero, generator(1))
    known.record.append(rule, said.arm, 0)
    with pytest.raises(Contradiction) as e:
        learn_round(known, rule, known.record.rounds[-1])
    assert e.value.rounds == (first, known.rounds) and e.value.violated == 'drift'

@pytest.mark.parametrize('seed', range(3))
def test_a_region_knows_what_its_cuts_know(seed):
    """A cut that gets better, and one that comes to be known, between two looks with the same
    answers and counts: the price is that of the cuts as they are."""
    world, cut, way = cut_of(seed)
    j = cut.wall.pair[1]
    q, region = world.belief_distributions[j], walls.CutRegion(cut.cone, [cut.wall])
    region.cuts = [cut, walls.Cut(cut.wall)]
    region.refresh(1000*q)
    before, (up, low) = region.prices[0], (cut.wall.up, cut.wall.low)
    assert before == pytest.approx(cut.least(q)[0])
    bare = walls.CutRegion(cut.cone, [])
    bare.key = None                     # all is to be anew, and still a proof may fail
    bare.learn(q)
    assert len(bare.found) == 1
    a = cut.cone.D @ way*world.setting.bound
    cut.wall.up, cut.wall.low = a + .1*(up - a), a - .1*(a - low)
    width = (cut.wall.up - cut.wall.low)[cut.of]
    cut.put(width)
    region.refresh(1000*q)
    assert region.prices[0] == pytest.approx(cut.least(q)[0]) and region.prices[0] > before
    region.cuts[1].share_out(width, q)
    region.cuts[1].put(width)
    region.refresh(1000*q)
    assert region.prices[0] >= max(c.least(q)[0] for c in region.cuts) - 1e-9

@pytest.mark.parametrize('bound', [.001, .7, 3., 1000.])
def test_any_bound_will_do(bound):
    "A payment that was above the bound by its last bit ended every run with three states."
    for seed in range(4):
        world = random_world(3, 3, 2, seed, prior='arm', bound=bound)
        pool = walls.Cone(world.setting).pool
        assert all(is_proper(r) and r.values.max() <= bound for r in pool)

def test_two_arms_of_which_all_is_known():
    "Known supports and a prior may leave nothing to learn of two arms: no cut, no failure."
    from dataclasses import replace
    world = small_world(3, 2, 3, 2)
    z = world.setting
    of = np.flatnonzero(world.belief_distributions[0])
    same = replace(z, supports=[of]*z.K, prior=z.support[of].mean(0))
    cone = walls.Cone(same)
    cut = walls.Cut(walls.Wall(cone, (0, 1)))
    cut.wall.add(cone.coordinates(.5*cone.D[0]), 1, 1)
    cut.refresh(np.ones(z.M)/z.M)
    assert cut.triple is None and cut.unknown() == []

def test_a_solver_that_gives_up_leaves_old_bounds(monkeypatch):
    "HiGHS may cycle: its steps are limited, and what it doesn't prove isn't known."
    assert 'simplex_iteration_limit' in HIGHS_OPTIONS
    cone = walls.Cone(small_world(1, 2).setting)
    wall = walls.Wall(cone, (0, 1))
    for t, s in enumerate(cone.D, 1):
        wall.add(cone.coordinates(.5*s), 1, t)
    wall.highs.setOptionValue('presolve', 'off')
    wall.highs.setOptionValue('simplex_iteration_limit', 0)
    for i in range(len(cone.D)):
        wall.tighten(i, 1)
    assert np.isinf(wall.up).any()
    wall.highs.setOptionValue('simplex_iteration_limit',
                              HIGHS_OPTIONS['simplex_iteration_limit'])
    wall.stale[:] = True
    for i in range(len(cone.D)):
        wall.tighten(i, 1)
    assert np.isfinite(wall.up).all()

@pytest.mark.parametrize('W', [2, 3])
def test_a_mixture_is_proper_however_much_it_weighs(W):
    "What is beyond the bound was once cut off, and the rule wasn't proper any more."
    world = small_world(1, 2, W)
    known = ready(world)
    set_up(known)
    choice, rng, n = Choice(known, .03), generator(83, W), len(known.cone.values)
    for _ in range(30):
        y = rng.uniform(0, 2, n)*rng.integers(0, 2, n)
        assert is_proper(choice.mixture(y))

# --- Equal costs ----------------------------------------------------------------------

# an arm answers a rule that pays 4e-7: no finite α agrees with that
TIED = make_world([np.array(j)/np.sum(j) for j in (
    [[.459, .243], [.028, .169], [.013, .088]], [[.307, .091], [.12, .324], [.073, .085]],
    [[.057, .038], [.232, .021], [.211, .441]])], [0., 0., 0.], np.eye(2), 1.)

def test_equal_costs_end_the_question():
    """No honest expert is accused; an answer to next to nothing proves equal costs, and nothing
    more is asked about that arm."""
    found = looked_into(sharp(TIED.setting, action_informed_oracle(TIED), eps=.02, delta=1e-6,
                              max_rounds=400, examined=False), TIED, 3)
    assert found.violated is None
    known = started(TIED)
    bit = mix(known.zero, known.oracle.rules[1], 1e-7/known.oracle.rules[1].values.max())
    known.record.append(known.zero, 2, 0)
    known.record.append(bit, 1, 0)
    for rule, r in zip((known.zero, bit), known.record.rounds):
        learn_round(known, rule, r)
    assert known.tied == {1}
