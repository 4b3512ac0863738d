"""The parts of the sharp learner's evidence that a run rarely comes to, without chance; what it
believes in runs is looked at in `test_inside.py`."""
from dataclasses import replace
from functools import partial
from itertools import product
import numpy as np
import pytest
from scipy.optimize import linprog
from conftest import amount
from oia_nb.all import (action_informed_oracle, generator, identify, is_proper, load_world,
                        mix, random_world, sharp, simulate)
from oia_nb.core import SolverFailure
from oia_nb.paper.estimation import FORCED, NORMAL
from oia_nb.game.programs import HIGHS_OPTIONS, ProperProgram, properness_rows
from oia_nb.game.scoring import ScoringRule
from inside import small_world
from oia_nb.sharp.hyperplanes import RegionProgram
from oia_nb.sharp import bets as module, evidence, questions, walls
from oia_nb.sharp.bets import Choice, Knowledge, digest, no_agent
from oia_nb.sharp.evidence import pair_wealth
from oia_nb.sharp.record import Record
from oia_nb.sharp.walls import Contradiction

def started(world, delta=.1):
    "The knowledge in no facts."
    return Knowledge(world.setting, action_informed_oracle(world), delta, Record())

def answered(known, world, rule, rng, times=1, kind=FORCED):
    "Announce a rule so often."
    for _ in range(times):
        said = world.respond(rule, rng)
        known.record.append(rule, said.arm, known.setting.index(said.report), kind=kind)
        digest(known)

def ready(world):
    "What is known after the first answers and some samples."
    known, rng = started(world), generator(1)
    answered(known, world, known.zero, rng, 12)
    for k in known.others:
        answered(known, world, known.oracle.rules[k], rng, 12, NORMAL)
    return known

def cut_of(seed, K=2):
    "A world, a cut from bounds of random width, and what is true."
    world, rng = small_world(40 + seed, K, 3, 3), generator(79, seed)
    z, q, c = world.setting, world.belief_distributions, world.costs
    l, j = c.argsort()[[0, -1]]
    wall = walls.Wall(walls.Cone(z), (l, j))
    a = wall.cone.D @ (q[j] - q[l])/(c[j] - c[l])*z.bound
    room = np.abs(a).max()*rng.uniform(0, .3, (2, z.M))
    wall.up, wall.low = a + room[0], a - room[1]
    return world, walls.best_cut(wall, q[j]), a

def law_short_interval():
    "Where ϵ is the range of payoffs but for some last bits, the wealth is a number."
    rng, nothing = generator(31), np.zeros((1, 3))
    for _ in range(100):
        u = rng.choice([0., 1., 100.]) + rng.uniform(0, 1, 3)*10**rng.uniform(-3, 1)
        here, there = rng.integers(0, 30, (2, 3)).astype(float)
        for short in *10**rng.uniform(-14, -8, 3), 0.:
            with np.errstate(all='raise'):
                found = pair_wealth(here, nothing, u, there, u, (1 - short)*np.ptp(u))
            assert found >= -np.inf

def test_points_that_fall_together(monkeypatch):
    law_short_interval()
    monkeypatch.setattr(evidence, 'TINY', 0.)
    with pytest.raises((AssertionError, FloatingPointError)):
        law_short_interval()

# --- Contradictions -------------------------------------------------------------------

def test_contradictions_are_named_and_others_are_not():
    """Answers of an agent never contradict each other; another arm's answer to a rule of the
    oracle does, and is named with the first."""
    for i in range(amount(4, 12)):
        world, rng = small_world(i, 3), generator(2, i)
        known = ready(world)
        for _ in range(20):
            weights = rng.exponential(rng.choice([.01, .1, .5]), len(known.cone.pool))
            answered(known, world, Choice(known, .02).mixture(weights), rng)
        answers = list(known.answers.values())
        strict = {a.round for a in answers if a.rule.values.tobytes() in known.fixed}
        assert no_agent(world.setting, answers, strict) == module.against(known) == ()
        told = next(a for a in answers if a.round in strict)
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
        digest(known)
    assert e.value.contradiction == (first, known.rounds) and e.value.violated == 'drift'

def proved_by(cut, q):
    return RegionProgram(cut.wall.cone.setting, [cut.row]).minimum(q).bound

@pytest.mark.parametrize('seed', range(3))
def test_a_region_knows_what_its_cuts_know(seed):
    """A cut that gets better, and one that comes to be known, between two looks: the price is that
    of the cuts as they are."""
    world, cut, a = cut_of(seed)
    wall, cone = cut.wall, cut.wall.cone
    q = world.belief_distributions[wall.pair[1]]
    region = walls.Region(cone, [wall])
    region.refresh(1000*q)
    before, (up, low) = region.prices[0], (wall.up, wall.low)
    assert before == pytest.approx(proved_by(region.cuts[0], q))
    region.learn(q)                     # outcomes that the cuts allow are remembered
    assert len(region.found) == 1
    wall.up, wall.low = a + .1*(up - a), a - .1*(a - low)
    region.refresh(1000*q)
    assert region.prices[0] == pytest.approx(proved_by(region.cuts[0], q))
    assert region.prices[0] > before
    other = walls.Wall(cone, wall.pair)
    other.up, other.low = wall.up, wall.low
    region.every.append(other)
    region.refresh(1000*q)
    assert len(region.cuts) == 2
    assert region.prices[0] >= max(proved_by(c, q) for c in region.cuts) - 1e-9

def test_programs_that_stay_open_forget_what_they_were_asked_before():
    "The m_i are the least ones that aren't negative at proper rules, whatever came first."
    _, cut, _ = cut_of(0)
    cone, rng = cut.wall.cone, generator(5)
    mus = cut.wall.basis[1]
    lies = properness_rows(cone.setting.support).toarray().T
    onto = cone.outcomes.pays.reshape(len(cone.D), -1).T
    (n, M), L = onto.shape, lies.shape[1]
    A = -np.block([[onto, -lies, np.zeros((n, L))], [onto, np.zeros((n, L)), -lies]])
    free = [(None, None)]*M + [(0, None)]*(2*L)
    for _ in range(3):
        s = rng.dirichlet(np.ones(len(cone.D))) @ cone.D
        m, _ = cone.majorants(s, mus)
        least = [linprog(np.r_[s, np.zeros(2*L)], A, np.r_[np.zeros(n), onto @ mu],
                         bounds=free).fun for mu in mus]
        assert np.allclose(m @ s, least, atol=1e-7)
        paid = cone.values.reshape(len(cone.values), -1) @ onto
        assert (paid @ m.T >= -1e-8).all()
        assert (paid @ (m + mus).T >= -1e-8).all()

def test_a_solver_that_gives_up_leaves_old_bounds():
    "HiGHS may cycle: its steps are limited, and what it doesn't prove isn't known."
    cone = walls.Cone(small_world(1, 2).setting)
    wall = walls.Wall(cone, (0, 1))
    for t, s in enumerate(cone.D, 1):
        wall.hear(.5*s, 0, t)
    wall.highs.setOptionValue('presolve', 'off')
    for limit, is_known in (0, False), (HIGHS_OPTIONS['simplex_iteration_limit'], True):
        wall.highs.setOptionValue('simplex_iteration_limit', limit)
        wall.stale[:] = True
        for i in range(len(cone.D)):
            wall.tighten(i, 1)
        assert np.isfinite(wall.up).all() == is_known

@pytest.mark.parametrize('W', [2, 3])
def test_a_program_that_is_not_verified_is_one_that_was_not_found(W, monkeypatch):
    "What a solver doesn't find delays a run; it neither ends it nor proves anything."
    world, solve, calls = small_world(1, 3, W, 3), ProperProgram.solve, []
    oracle, rng = action_informed_oracle(world), generator(8)
    def now_and_then(program):
        calls.append(1)
        if type(program) is ProperProgram and rng.random() < .3:
            raise SolverFailure('not verified')
        return solve(program)
    monkeypatch.setattr(ProperProgram, 'solve', now_and_then)
    found = identify(world, oracle=oracle, eps=.05, delta=.1, seed=1, max_rounds=1500)
    assert len(calls) > 2 and found.status == 'certified'

@pytest.mark.parametrize('W', [2, 3])
@pytest.mark.parametrize('bound', [.001, .7, 3., 1000.])
def test_a_mixture_is_proper_however_much_it_weighs(W, bound):
    """What is beyond the bound was once cut off, and the rule wasn't proper any more; and of some
    bounds payments were above by their last bit."""
    for seed, unit in product(range(3), (None, .01*bound)):
        world = random_world(2, W, 2, seed, prior='arm', bound=bound)
        known, rng = ready(world), generator(83, W)
        assert all(is_proper(r) and r.values.max() <= bound for r in known.cone.pool)
        # of nothing as well, or of next to nothing
        for size in (*[1.]*10, 0., -1., 1e-9):
            y = rng.uniform(0, 2, len(known.cone.pool))*rng.integers(0, 2, len(known.cone.pool))
            rule = Choice(known, .03*bound, unit=unit).mixture(size*y)
            assert is_proper(rule) and rule.values.max() <= bound
            assert size > 0 or not rule.values.any()

def test_two_arms_of_which_all_is_known():
    "Known supports and a prior may leave nothing to learn of two arms: no cut, no failure."
    world = small_world(3, 2, 3, 2)
    z, of = world.setting, np.flatnonzero(world.belief_distributions[0])
    cone = walls.Cone(replace(z, supports=[of]*z.K, prior=z.support[of].mean(0)))
    wall = walls.Wall(cone, (0, 1))
    wall.hear(.5*cone.D[0], 0, 1)
    region = walls.Region(cone, [wall])
    region.refresh(np.ones(z.M)/z.M)
    assert not region.cuts and not wall.is_known()

def test_a_cheaper_rule_is_sought_once_for_each_guess(monkeypatch):
    """Whatever comes of it: a guess may promise again and again what doesn't come true. Here it
    seems to be worth a hundred times as much as it is."""
    world, sought, guesses = load_world('clinic'), {}, []
    run = sharp(world.setting, action_informed_oracle(world), eps=.04, delta=.05, examined=False,
                max_rounds=1000)
    def guess(old, *given):
        guesses.append(old(*given))
        return guesses[-1]
    def cheapest(old, setting, foretold, j, *given):
        sought.setdefault((len(guesses), j), set()).add(run.known.rounds)
        return old(setting, foretold, j, *given)
    for name, noted in ('Guess', guess), ('cheapest_rule', cheapest):
        monkeypatch.setattr(module, name, partial(noted, getattr(module, name)))
    saved = module.saved
    monkeypatch.setattr(module, 'saved', lambda *given: 100*saved(*given))
    simulate(run, world, 1)
    assert len(sought) > 5 and {len(rounds) for rounds in sought.values()} == {1}

def hopes(choice, known, rng):
    """What a path of questions promises, over what is proved with the same bounds: for each arm,
    with bounds of any sign."""
    for j in known.others:
        R = known.regions[j]
        pairs = [wall for (l, k), wall in known.walls.items() if k == j][:2]
        for wall in pairs:
            wall.up = rng.normal(0, 10, len(wall.up)).cumsum()
        q, ups = known.data.q_hat[j], np.array([w.up for w in pairs])
        p = R.cone.bound*R.cone.prices(q)
        ends, paid = module.path_of_bets(
            R, pairs, np.array([choice.alpha(*w.pair) for w in pairs]), q)
        if ends:
            yield paid[-1]/(p/walls.weigh(ups, p)[1]).min()

def test_a_hope_is_never_below_what_is_proved(monkeypatch):
    """A guess counts for no more than is proved already. Planted: one that is cut off below, as it
    once was, hides the questions that help; one run in 2,000 took samples without end."""
    known, rng = ready(load_world('clinic')), generator(2)
    choice = Choice(known, .05)
    choice.foresee()
    found = [hope for _ in range(40) for hope in hopes(choice, known, rng)]
    assert len(found) > 20 and min(found) > 1 - 1e-9
    alpha = Choice.alpha
    monkeypatch.setattr(Choice, 'alpha', lambda *given: np.maximum(alpha(*given), walls.LEAST))
    assert min(hope for _ in range(40) for hope in hopes(choice, known, rng)) < .99

# --- Guesses and questions -----------------------------------------------------------

def test_a_guess_contradicts_no_answer(monkeypatch):
    """Of a hundred, told one by one; nor does one that is so sure of itself that its own
    deviations move nothing. Planted: a mean that isn't moved."""
    agree = questions.Guess.agree
    def contradicted(seed, moved, share=1.):
        world, rng = random_world(3, 3, 3, seed), generator(83, seed)
        z, answers = world.setting, []
        monkeypatch.setattr(questions.Guess, 'agree', lambda guess: None)
        guess = questions.Guess(rng.integers(0, 9, (3, z.M)), answers, walls.Cone(z), 1)
        for _ in range(12):
            rule, t = questions.draw_rule(z, rng, .5), .5
            for n in range(2, 10):                      # ever nearer to where arms change
                part = mix(ScoringRule(0*rule.values, z.support, z.bound), rule, t)
                answers.append((part.expected/z.bound, world.best_response(part)))
                t += .5**n*(-1 if answers[-1][1] != answers[0][1] else 1)
                guess.learn(answers)
        guess.cov *= share
        moved(guess)
        return -(guess.rows @ guess.mean).min()
    seeds = range(20, 32)
    for share in 1., 1e-20:
        assert max(contradicted(seed, agree, share) for seed in seeds) < 1e-9
    assert max(contradicted(seed, lambda guess: None) for seed in seeds) > 1e-3
    monkeypatch.setattr(questions, 'shortest', lambda G, h: np.zeros(G.shape[1]))
    assert max(contradicted(seed, agree, 1e-20) for seed in seeds) > 1e-3

def promises(world, eps, seed, monkeypatch):
    "By how much each question, answered as foretold, proved less than it promised, relatively."
    made, told, waits = [], [], []
    def question(old, wall, i, side, who, *given):
        made[:] = [(wall, i, side, who, old(wall, i, side, who, *given))]
        return made[0][-1]
    def bound(old, choice, *key):
        for rule, wall, i, side, promise in waits:
            wall.tighten(i, side)
            end = wall.up[i] if side > 0 else wall.low[i]
            if choice.known.answer_to(rule[0]).arm == rule[1]:
                told.append(side*(end - promise)/max(1, abs(promise)))
        found, waits[:] = old(choice, *key), []
        if found and made and made[0][-1]:
            wall, i, side, who, (y, promise) = made[0]
            if who == found[1] and (choice.mixture(y).values == found[0].values).all():
                waits[:] = [(found, wall, i, side, promise)]
        return found
    with monkeypatch.context() as m:
        m.setattr(module, 'question', partial(question, module.question))
        old = Choice.bound
        m.setattr(Choice, 'bound', lambda *given: bound(old, *given))
        simulate(sharp(world.setting, action_informed_oracle(world), eps=eps, delta=.05,
                       examined=False, max_rounds=2000), world, seed)
    return told

def test_questions_prove_what_they_promise(monkeypatch):
    """If they are answered as foretold. Planted: a program that doesn't know that half-spaces are
    a little wider than answers; it asked for one bound 500 times in a run."""
    def worst():
        runs = [(load_world('clinic'), .04), (random_world(4, 2, 3, 48), .05)]
        told = [promises(world, eps, seed, monkeypatch) for world, eps in runs for seed in (0, 1)]
        assert min(map(len, told)) >= 5
        return max(map(max, told))
    assert worst() < 3e-6
    monkeypatch.setattr(questions, 'WIDER', 0.)
    assert worst() > 1e-5

# --- Equal costs ----------------------------------------------------------------------

def orders(share, monkeypatch):
    "Whether answers to questions of order, asked for this share of the rule, prove the order."
    asked, ask = [], Choice.order
    def order(self, j, l):
        found = ask(self, j, l)
        if found:
            found = self.fit(share*found[0].values), l
            asked.append((self.known, found[0], l, j))
        return found
    with monkeypatch.context() as m:
        m.setattr(Choice, 'order', order)
        for seed in 0, 1, 6:
            world = random_world(4, 2, 4, seed, prior='arm', margin=.002, max_cost=.02)
            simulate(sharp(world.setting, action_informed_oracle(world), eps=.03, delta=.1,
                           max_rounds=40, examined=False), world, seed)
    return [known.walls[l, j].is_cheaper() for known, rule, l, j in asked
            if (a := known.answer_to(rule)) and a.arm == l]

def test_a_question_of_order_proves_it(monkeypatch):
    """If the arm that is meant answers. Planted: rules a fifth as large, by which costs differ too
    little for the checker; a run asked for them a hundred times."""
    proved = orders(1., monkeypatch)
    assert len(proved) >= 2 and all(proved)
    assert not any(orders(.2, monkeypatch))

def test_an_answer_to_next_to_nothing_proves_equal_costs():
    known = started(small_world(3, 3))
    rule = known.oracle.rules[1]
    known.record.append(known.zero, 2, 0)
    known.record.append(mix(known.zero, rule, 1e-7/rule.values.max()), 1, 0)
    assert digest(known).tied == {1}
