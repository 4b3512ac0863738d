"""Both routes to the linear programs give the same answer, on ordinary, scaled, degenerate and
impossible programs; no wrong answer of a solver gets through; and the rule that is returned doesn't
depend on what was solved before. What is too large is refused before the memory fills, with the
number; what is too near is told."""
import tracemalloc
import warnings
import numpy as np
import pytest
from conftest import amount
from oia_nb.all import InvalidInput, generator, load_world, make_world, world_names
from oia_nb.core import SolverFailure
from oia_nb.game import programs
from oia_nb.game.information import merge_beliefs
from oia_nb.game.programs import (LP_UNIT, CvxpyProgram, MenuProgram, RuleProgram, VProgram,
                                  check_size, properness_rows, solve_program, worst_lies)

AGREE = 1e-7        # relative to the bound

def beliefs(rng, tiny=False):
    "A support of 2 to 8 beliefs over 2 to 4 states; if `tiny`, with probabilities down to 1e-12."
    M, W = int(rng.integers(2, 9)), int(rng.integers(2, 5))
    p = rng.dirichlet(np.full(W, rng.choice([.3, 1., 3.])), M)
    if tiny:
        p = np.where(rng.random((M, W)) < .4, 10.**rng.uniform(-12, -3, (M, W)), p)
    return merge_beliefs(p/p.sum(1, keepdims=True))[0]

def plain(rng, M, K):
    return rng.dirichlet(np.full(M, rng.choice([.3, 1., 3.])),
                         K), rng.normal(0, rng.choice([.01, .05, .2]), K), 0.

def optimistic(rng, M, K):
    "As UCB-LP poses them: counts up to 1e7, room for error in all constraints."
    q, lower, slack = plain(rng, M, K)[0], rng.normal(0, .1,
                                                      K), float(rng.choice([1e-4, .01, .1, 1.]))
    counts = np.array([rng.multinomial(int(10**rng.uniform(0, 7)), p) for p in q], float)
    return counts, lower - slack*rng.random(K), slack

def few_answers(rng, M, K):
    "Arms with one signal, arms that are copies of others, costs that are zero or equal."
    q = rng.dirichlet(np.ones(M), K)
    choice = rng.integers(5)
    if choice == 0:
        q = np.eye(M)[rng.integers(M, size=K)]
    if choice == 1:
        q[:] = q[0]
    if choice == 2:
        q[1:] = q[:1]
        return q, np.zeros(K), 0.
    return q, rng.choice([-.1, 0., .1], K)*(choice < 4), float(rng.choice([0., .01]))

def tiny(rng, M, K):
    q, lower, slack = plain(rng, M, K)
    q = np.where(rng.random((K, M)) < .4, 10.**rng.uniform(-12, -3, (K, M)), q)
    return q/q.sum(1, keepdims=True), lower, float(rng.choice([0., .01]))

def impossible(rng, M, K):
    "More is asked than the largest payment."
    q, lower, slack = plain(rng, M, K)
    return q, lower + np.where(
        rng.random(K) < .5, 0,
        1.01)[rng.permutation(K)] + (1.01+slack)*(np.arange(K) == K - 1), slack

KINDS = dict(plain=plain, optimistic=optimistic, few_answers=few_answers, tiny=tiny,
             impossible=impossible)

def check_rule(support, q, arm, lower, slack, v, S):
    "S is proper, within bounds, and does what it is asked for at the price v."
    s = (support*S).sum(1)
    q = q/q.sum(1, keepdims=True)
    lower = np.where(np.arange(len(q)) == arm, -np.inf, lower)
    assert S.min() >= 0 and S.max() <= 1
    assert (properness_rows(support) @ S.ravel() >= -1e-8).all()
    # all pairs, not only those that were asked for
    assert (support @ S.T - s[:, None]).max() <= 1e-8*len(support)
    assert abs(v - q[arm] @ s) <= slack + 2e-8 and (v - q @ s - lower >= -2e-8).all()

@pytest.mark.parametrize('kind', KINDS)
def test_routes_agree(kind):
    """160 plain or optimistic programs, 80 of each other kind (a third of them without
    --release): ten for each support, one after the other in the same object."""
    solved = impossible = 0
    n = amount(5, 16) if kind in ('plain', 'optimistic') else amount(2, 8)
    for i in range(n):
        rng = generator(100 + list(KINDS).index(kind), i)
        support, K = beliefs(rng, kind == 'tiny'), int(rng.integers(2, 5))
        arm = K - 2 if kind == 'impossible' else int(rng.integers(K))
        routes = RuleProgram(support, K, arm), CvxpyProgram(support, K, arm)
        for _ in range(10):
            program = KINDS[kind](rng, len(support), K)
            a, b = (route.minimum(*program) for route in routes)
            assert (a is None) == (b is None)
            if a is None:
                impossible += 1
                continue
            solved += 1
            assert a.value == pytest.approx(b.value, abs=AGREE)
            check_rule(support, program[0], arm, *program[1:], a.value, a.rule)
    assert impossible == 10*n if kind == 'impossible' else solved > 5*n
    if kind in ('plain', 'optimistic'):
        assert impossible > amount(1, 3)

# --- A solver that errs ---------------------------------------------------------------

def example():
    rng = generator(130)
    support = beliefs(rng)
    while True:
        program = plain(rng, len(support), 3)
        if (found := solve_program(support, program[0], 0, *program[1:])) and found.value > .01:
            return support, program, (found.value, found.rule)

def once(method, wrong):
    "`method`, except that its first call returns `wrong`."
    answers = [wrong]
    return lambda: answers.pop() if answers else method()

def test_wrong_optimum_is_caught():
    """The solution of an easier program, handed out as this one's, is thrown away, and the
    program solved cold."""
    support, (q, lower, slack), (v, S) = example()
    for shift in (-.001, -1., .01):
        program = RuleProgram(support, 3, 0)
        if program.minimum(q, lower + shift, slack, rule=False) is None:
            continue
        program.highs.getSolution = once(program.highs.getSolution, program.highs.getSolution())
        before = program.solves
        found = program.minimum(q, lower, slack, rule=False)
        assert found.value == pytest.approx(v, abs=1e-9)
        assert program.solves - before == 2
        np.testing.assert_allclose(program.cheapest(found, q, lower, slack), S, atol=1e-9)

def test_wrong_infeasibility_is_caught():
    "So is the claim that there is no solution."
    import highspy
    support, (q, lower, slack), (v, S) = example()
    program = RuleProgram(support, 3, 0)
    program.highs.getModelStatus = once(program.highs.getModelStatus,
                                        highspy.HighsModelStatus.kInfeasible)
    assert program.minimum(q, lower, slack).value == pytest.approx(v, abs=2e-9)

def test_solver_that_is_always_wrong():
    support, (q, lower, slack), (v, S) = example()
    program = RuleProgram(support, 3, 0)
    program.minimum(q, lower - .001, slack, rule=False)
    honest, stale = program.highs.getSolution, program.highs.getSolution()
    program.highs.getSolution = lambda: stale
    with pytest.raises(SolverFailure, match='not verified'):
        program.minimum(q, lower, slack)
    program.highs.getSolution = honest
    assert program.minimum(q, lower, slack).value == pytest.approx(v, abs=1e-9)

def test_certificate_has_teeth():
    """Optima pass, with any multiple of noise in the duals below the tolerance; feasible points
    that cost more never do, nor cheaper infeasible ones."""
    for i in range(60):
        rng = generator(140, i)
        support, K = beliefs(rng), 3
        program = RuleProgram(support, K, 0)
        if program.minimum(*optimistic(rng, len(support), K), rule=False) is None:
            continue
        solution = program.highs.getSolution()
        x, y = np.array(solution.col_value)/LP_UNIT, np.array(solution.row_dual)
        assert program.is_optimal(x, y)
        worse, cheaper = x.copy(), x.copy()
        worse[-2], cheaper[-2] = x[-2] + 1e-6, x[-2] - 1e-6
        assert not program.is_optimal(worse, y) and not program.is_optimal(cheaper, y)
        assert not any(program.is_optimal(worse, y + rng.normal(0, .1, len(y))) for _ in range(20))
        assert not program.is_optimal(x*np.nan, y) and not program.is_optimal(x, y*np.nan)

def test_a_solver_without_time_has_failed(monkeypatch):
    rng = generator(431)
    support, q = merge_beliefs(rng.dirichlet(np.ones(4), 20))[0], rng.dirichlet(np.ones(20), 3)
    program, lower = RuleProgram(support, 3, 0), np.array([0., .01, .02])
    with monkeypatch.context() as m:
        m.setattr(programs, 'SOLVER_SECONDS', 0.)
        with pytest.raises(SolverFailure):
            program.minimum(q, lower)
    assert program.minimum(q, lower) is not None

# --- History --------------------------------------------------------------------------

def run_of_programs(rng, n):
    "n programs as a learner meets them: counts that grow, radii that shrink."
    support, K = beliefs(rng), int(rng.integers(2, 5))
    q, lower, _ = plain(rng, len(support), K)
    counts = np.array([rng.multinomial(1, p) for p in q], float)
    for _ in range(n):
        k = rng.integers(K)
        counts[k] += rng.multinomial(int(10**rng.uniform(0, 4)), q[k])
        radius = np.sqrt(rng.uniform(.01, 4)/counts.sum(1))
        yield support, counts.copy(), lower - radius, radius[0]

def test_cheapest_rule_has_no_history():
    "The same rule, whether the solver has gone through all earlier programs or starts afresh."
    n = 0
    for i in range(amount(6, 16)):
        warm = None
        for support, *program in run_of_programs(generator(150, i), 20):
            warm, cold = warm or RuleProgram(support, len(program[0]), 0), RuleProgram(
                support, len(program[0]), 0)
            v, w = warm.minimum(*program), cold.minimum(*program)
            assert (v is None) == (w is None)
            if v is None:
                continue
            assert v.value == pytest.approx(w.value, abs=1e-11)
            np.testing.assert_allclose(v.rule, w.rule, atol=1e-9)
            n += 1
    assert n > amount(50, 150)

# --- Sizes ----------------------------------------------------------------------------

def peak(f):
    "The most bytes that Python held for `f()`."
    tracemalloc.start()
    f()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most

def told(M, W, lies, monkeypatch):
    "The bytes that the refusal names."
    monkeypatch.setattr(programs, 'MEMORY_MOST', 1.)
    with pytest.raises(InvalidInput, match='GiB') as e:
        check_size(M, W, lies)
    monkeypatch.undo()
    return 2**30*float(str(e.value).split('about ')[1].split(' GiB')[0])

def test_memory_is_foreseen(monkeypatch):
    """What a program is said to take is about what it does take: two states, more, and where only
    the beliefs of one arm are paid."""
    r, make = np.random.default_rng(0), dict(V=VProgram, rule=RuleProgram)
    for W, M, kind in (2, 1500, 'V'), (2, 1500, 'rule'), (3, 250, 'rule'), (3, 400, 'menu'):
        support, q = r.dirichlet(np.ones(W), M), np.zeros((2, M))
        q[0, :M//2] = q[1, M//2:] = 2/M
        rule = r.random((M, W))
        def build():
            MenuProgram(support, q, 0) if kind == 'menu' else make[kind](support, 2, 0)
            worst_lies(support, rule, 9.)
        lies = {'V': 0, 'menu': M*(M//2), 'rule': 2*M if W == 2 else M*M}[kind]
        foreseen = told(M, W, lies, monkeypatch)
        used = peak(build)
        assert .3*foreseen < used < 1.05*foreseen, (W, M, kind, used, foreseen)

def merged(joint):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter('always')
        make_world(joint, [0., .01], np.eye(2), 1.)
    return [str(w.message) for w in seen]

def test_beliefs_that_become_one_are_told():
    "Whether the two signals are of one table or of two; not where they differ by rounding only."
    rare = lambda p: [[[1 - p, p]], [[1 - p, 0], [0, p]]]
    near = lambda d: [[[.3, .2], [.15 + d, .1 - d], [.05 - d, .2 + d]], [[.5, .5]]]
    for joint in rare(1e-9), rare(1e-7), near(1e-9), near(1e-7):
        said, = merged(joint)
        assert 'within 1e-06 of another one' in said
    for joint in rare(1e-4), rare(1e-13), near(0.), near(1e-4), near(1e-14):
        assert merged(joint) == []
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        for name in world_names():
            world = load_world(name)
            world.without(world.setting.arms[-1]) if world.setting.K > 2 else None
