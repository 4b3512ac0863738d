"""Both routes to the linear programs give the same answer, on ordinary, scaled, degenerate and
impossible programs; no wrong answer of a solver gets through; the rule that is returned doesn't
depend on what was solved before; what is too large is refused, and what is too near is told."""
import tracemalloc
import warnings
import highspy
import numpy as np
import pytest
from conftest import amount
from oia_nb.all import InvalidInput, generator, load_world, make_world, world_names
from oia_nb.core import SolverFailure
from oia_nb.game import programs
from oia_nb.game.information import merge_beliefs
from oia_nb.game.programs import (CvxpyProgram, MenuProgram, RuleProgram, VProgram, check_size,
                                  program_route, properness_rows, worst_lies)

AGREE = 1e-7        # relative to the bound

def beliefs(rng, tiny=False):
    "A support of 2 to 8 beliefs over 2 to 4 states; if `tiny`, with probabilities down to 1e-12."
    M, W = int(rng.integers(2, 9)), int(rng.integers(2, 5))
    p = rng.dirichlet(np.full(W, rng.choice([.3, 1., 3.])), M)
    if tiny:
        p = np.where(rng.random((M, W)) < .4, 10.**rng.uniform(-12, -3, (M, W)), p)
    return merge_beliefs(p/p.sum(1, keepdims=True))[0]

def plain(rng, M, K):
    q = rng.dirichlet(np.full(M, rng.choice([.3, 1., 3.])), K)
    return q, rng.normal(0, rng.choice([.01, .05, .2]), K), 0.

def optimistic(rng, M, K):
    "As UCB-LP poses them: counts up to 1e7, room for error in all constraints."
    q, slack = plain(rng, M, K)[0], float(rng.choice([1e-4, .01, .1, 1.]))
    counts = np.array([rng.multinomial(int(10**rng.uniform(0, 7)), p) for p in q], float)
    return counts, rng.normal(0, .1, K) - slack*rng.random(K), slack

def few_answers(rng, M, K):
    "Arms with one signal, arms that are copies of others, costs that are zero or equal."
    q, way = rng.dirichlet(np.ones(M), K), rng.integers(4)
    if way == 0:
        q = np.eye(M)[rng.integers(M, size=K)]
    elif way < 3:
        q[way - 1:] = q[0]
    return q, rng.choice([-.1, 0., .1], K)*(way < 2), float(rng.choice([0., .01]))

def tiny(rng, M, K):
    q, lower, slack = plain(rng, M, K)
    q = np.where(rng.random((K, M)) < .4, 10.**rng.uniform(-12, -3, (K, M)), q)
    return q/q.sum(1, keepdims=True), lower, float(rng.choice([0., .01]))

def impossible(rng, M, K):
    "The last arm but one is to lead the last one by more than the largest payment."
    q, lower, slack = plain(rng, M, K)
    return q, lower + (1.01 + slack)*(np.arange(K) == K - 1), slack

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
    solved, n = [], amount(5, 16) if kind in ('plain', 'optimistic') else amount(2, 8)
    for i in range(n):
        rng = generator(100 + list(KINDS).index(kind), i)
        support, K = beliefs(rng, kind == 'tiny'), int(rng.integers(2, 5))
        arm = K - 2 if kind == 'impossible' else int(rng.integers(K))
        routes = RuleProgram(support, K, arm), CvxpyProgram(support, K, arm)
        for _ in range(10):
            program = KINDS[kind](rng, len(support), K)
            a, b = (route.minimum(*program) for route in routes)
            assert (a is None) == (b is None)
            solved.append(a is not None)
            if a is not None:
                assert a.value == pytest.approx(b.value, abs=AGREE)
                check_rule(support, program[0], arm, *program[1:], a.value, a.rule)
    assert not any(solved) if kind == 'impossible' else sum(solved) > 5*n
    assert kind not in ('plain', 'optimistic') or len(solved) - sum(solved) > amount(1, 3)

# --- A solver that errs ---------------------------------------------------------------

def example():
    rng = generator(130)
    support = beliefs(rng)
    while True:
        program, route = plain(rng, len(support), 3), program_route('fast')
        if (found := route(support, 3, 0).minimum(*program)) and found.value > .01:
            return support, program, (found.value, found.rule)

def once(method, wrong):
    "`method`, except that its first call returns `wrong`."
    answers = [wrong]
    return lambda: answers.pop() if answers else method()

@pytest.mark.parametrize('wrong', [-.001, -1., .01, np.nan, None])
def test_wrong_answers_are_caught(wrong):
    """The solution of a program that asks for more or less, or no numbers, handed out as this
    one's, or the claim that there is none: it is thrown away, and the program solved cold. If all
    solutions are wrong, the solver has failed."""
    support, (q, lower, slack), (v, S) = example()
    program = RuleProgram(support, 3, 0)
    program.minimum(q, lower + np.nan_to_num(wrong or 0.), slack, rule=False)
    name, given = 'getSolution', program.highs.getSolution()
    if wrong is None:
        name, given = 'getModelStatus', highspy.HighsModelStatus.kInfeasible
    elif np.isnan(wrong):
        given.col_value = [wrong]*len(given.col_value)
    honest, before = getattr(program.highs, name), program.solves
    setattr(program.highs, name, once(honest, given))
    found = program.minimum(q, lower, slack, rule=False)
    assert found.value == pytest.approx(v, abs=2e-9) and program.solves - before >= 2
    np.testing.assert_allclose(program.cheapest(found, q, lower, slack), S, atol=1e-9)
    if wrong is not None:
        program.highs.getSolution = lambda: given
        with pytest.raises(SolverFailure, match='not verified'):
            program.minimum(q, lower, slack)

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

@pytest.mark.parametrize('W, M, kind', [(2, 1500, VProgram), (2, 1500, RuleProgram),
                                        (3, 250, RuleProgram), (3, 400, MenuProgram)])
def test_memory_is_foreseen(W, M, kind, monkeypatch):
    """What a program is said to take is about what it does take: two states, more, and where only
    the beliefs of one arm are paid."""
    r, q = np.random.default_rng(0), np.zeros((2, M))
    support, rule = r.dirichlet(np.ones(W), M), r.random((M, W))
    q[0, :M//2] = q[1, M//2:] = 2/M
    tracemalloc.start()
    kind(support, q if kind is MenuProgram else 2, 0)
    worst_lies(support, rule, 9.)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    monkeypatch.setattr(programs, 'MEMORY_MOST', 1.)
    lies = {VProgram: 0, MenuProgram: M*(M//2), RuleProgram: 2*M if W == 2 else M*M}[kind]
    with pytest.raises(InvalidInput, match='GiB') as e:
        check_size(M, W, lies)
    foreseen = 2**30*float(str(e.value).split('about ')[1].split(' GiB')[0])
    assert .3*foreseen < used < 1.05*foreseen

def test_beliefs_that_become_one_are_told():
    "Whether the two signals are of one table or of two; not where they differ by rounding only."
    rare = lambda p: [[[1 - p, p]], [[1 - p, 0], [0, p]]]
    near = lambda d: [[[.3, .2], [.15 + d, .1 - d], [.05 - d, .2 + d]], [[.5, .5]]]
    for joint in rare(1e-9), rare(1e-7), near(1e-9), near(1e-7):
        with pytest.warns(UserWarning, match='within 1e-06 of another one'):
            make_world(joint, [0., .01], np.eye(2), 1.)
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        for joint in rare(1e-4), rare(1e-13), near(0.), near(1e-4), near(1e-14):
            make_world(joint, [0., .01], np.eye(2), 1.)
        for name in world_names():
            load_world(name).without(load_world(name).setting.arms[-1])
