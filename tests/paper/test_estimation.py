"""Laws of the estimates: concentration, exactly; cost graph against networkx; brackets and
optimism on random worlds; two points a segment."""
import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from itertools import combinations
from scipy.stats import multinomial

from conftest import examples
from oia_nb.all import Setting, generator, make_world, menu_rule, mix
from oia_nb.paper.estimation import (Transcript, cost_estimates, cost_upper, event_holds,
                                     shortest_paths)

seeds = st.integers(0, 2**32 - 1)
quick = settings(max_examples=examples(80), deadline=None)

def random_world(rng, K=3):
    "K arms, two or three states, a common prior, small costs."
    W = int(rng.integers(2, 4))
    prior = rng.dirichlet(3*np.ones(W))
    joint = [rng.dirichlet(np.full(3, .6), size=W).T*prior for _ in range(K)]
    return make_world(joint, .1*rng.random(K), np.eye(W).tolist(), float(rng.choice([.5, 1., 4.])))

def random_rules(world, n, rng):
    z = world.setting
    return [menu_rule(z.support, z.bound*rng.random((4, z.W)), z.bound) for _ in range(n)]

def played(world, rules, rounds, rng):
    "A transcript of `rounds` mixtures of two of the rules."
    data, z = Transcript(world.setting), world.setting
    for _ in range(rounds):
        i, j = rng.choice(len(rules), 2, replace=False)
        rule = mix(rules[i], rules[j], rng.random())
        answer = world.respond(rule, rng)
        data.record(answer.arm, z.index(answer.report), rule.expected)
    return data

def true_costs(world):
    return world.costs[:, None] - world.costs

# --- Concentration --------------------------------------------------------------------

def outcomes(n, M):
    bars = np.array(list(combinations(range(n + M - 1), M - 1)))
    return np.diff(bars, axis=1, prepend=-1, append=n + M - 1) - 1

@pytest.mark.parametrize('M', [2, 3, 4])
@pytest.mark.parametrize('n', [1, 2, 3, 5, 8, 12])
def test_concentration_holds_exactly_for_every_distance(M, n):
    rng, x = generator(M), outcomes(n, M)
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

# --- Counts and points ----------------------------------------------------------------

@quick
@given(seeds)
def test_counts_are_those_of_the_rounds(seed):
    rng = generator(seed)
    data = Transcript(Setting(np.eye(3), np.eye(3), 1., 4))
    rounds = [(int(rng.integers(4)), int(rng.integers(3))) for _ in range(rng.integers(1, 80))]
    for arm, belief in rounds:
        data.record(arm, belief, rng.random(3))
    expected = np.zeros((4, 3))
    for r in rounds:
        expected[r] += 1
    assert np.array_equal(data.counts, expected) and np.array_equal(
        data.N, expected.sum(1)) and data.rounds == len(rounds)
    assert list(zip(data.arms, data.beliefs)) == rounds
    seen = data.N > 0
    assert np.allclose(data.q_hat[seen].sum(1), 1) and not data.q_hat[~seen].any()
    before = data.N
    data.record(0, 0, np.zeros(3))
    # what was handed out earlier doesn't change
    assert data.N[0] == before[0] + 1

# --- The cost graph -------------------------------------------------------------------

@quick
@given(seeds, st.integers(2, 9), st.floats(0, .7))
def test_shortest_paths_agree_with_networkx(seed, K, missing):
    rng = generator(seed)
    upper = np.triu(np.ones((K, K), bool), 1)
    theta, phi = np.where(upper, rng.normal(size=(K, K)), 0), np.where(upper, rng.random((K, K))
                                                                       + .01, 0)
    phi[upper & (rng.random((K, K)) < missing)] = np.inf
    theta[np.isinf(phi)] = 0
    theta, phi = theta - theta.T, phi + phi.T
    C, length = shortest_paths(theta, phi)
    assert np.array_equal(C, -C.T) and np.array_equal(length, length.T)          # to the last bit
    graph = nx.from_numpy_array(np.where(np.isfinite(phi), phi, 0))
    found = dict(nx.all_pairs_dijkstra(graph))
    for i in range(K):
        for j in range(K):
            if j not in found[i][0]:
                assert length[i, j] == np.inf
            else:
                path = found[i][1][j]
                assert np.isclose(length[i, j], found[i][0][j], rtol=1e-12, atol=0)
                assert np.isclose(C[i, j], sum(theta[e] for e in zip(path, path[1:])), atol=1e-12)

@settings(max_examples=examples(50), deadline=None)
@given(seeds)
def test_brackets_hold_the_truth_on_the_event(seed):
    rng = generator(seed)
    world = random_world(rng)
    data = played(world, random_rules(world, 6, rng), 120, rng)
    # the smallest radii that make the event true
    I = np.where(data.N > 0, np.abs(data.q_hat - world.belief_distributions).sum(1), np.inf)
    assert event_holds(world, data.q_hat, I)
    U, C = cost_upper(data, I), true_costs(world)
    assert (C <= U + 1e-9).all() and (-U.T <= C + 1e-9).all()
    # half the radius is enough for payments that aren't negative
    assert (C <= cost_upper(data, I/2) + 1e-9).all()
    C_hat, I_c, violated = cost_estimates(U, world.setting.bound)
    known = np.isfinite(I_c)
    assert not violated and (np.abs(C_hat - C)[known] <= I_c[known] + 1e-9).all()
    assert np.array_equal(C_hat, -C_hat.T) and np.array_equal(
        I_c, I_c.T) and not I_c.diagonal().any()

def test_half_of_the_printed_room_is_needed():
    """Beliefs are certainties, the rule sits on the wall, both estimates err the bad way: C_+
    meets the truth at half the radii."""
    data, s = Transcript(Setting(np.eye(2), np.eye(2), 1., 2)), np.array([1., 0.])
    # of ten; the truth is 5 and 2, so C(0, 1) = 0.3
    for arm, up in (0, 4), (1, 3):
        for n in range(10):
            data.record(arm, int(n >= up), s)
    I = np.full(2, .2)
    assert np.isclose(cost_upper(data, I/2)[0, 1], .3) and np.isclose(cost_upper(data, I)[0, 1], .5)

@quick
@given(st.floats(-1, 1), st.floats(0, 1))
def test_two_arms_have_the_bracket_for_an_estimate(low, width):
    U = np.array([[0., low + width], [-low, 0.]])
    C_hat, I_c, _ = cost_estimates(U, 1.)
    assert np.allclose([C_hat[0, 1] - I_c[0, 1], C_hat[0, 1] + I_c[0, 1]], [low, low + width])

@quick
@given(seeds)
def test_an_empty_bracket_is_flagged_and_no_other(seed):
    rng, K = generator(seed), 4
    C, half = rng.normal(size=K), rng.random((K, K)) + .01
    U = C[:, None] - C + half
    np.fill_diagonal(U, 0)
    assert not cost_estimates(U, 1.)[2]
    U[0, 1] = -U[1, 0] - .01
    assert cost_estimates(U, 1.)[2]
