"""Laws of the binary search: what it finds on random worlds, how deep it goes, what it leaves in
the transcript, what it refuses."""
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from conftest import examples
from oia_nb.paper.binary_search import binary_search, search_depth
from oia_nb.all import generator, make_world, menu_rule, mix
from oia_nb.paper.estimation import Transcript, cost_estimates, cost_upper, radius_fb
from oia_nb.run.learner import announce, simulate as drive
from oia_nb.game.stackelberg import region_margin

seeds = st.integers(0, 2**32 - 1)

def random_world(rng, K=4):
    """Each arm sees one random signal more clearly than the one before, at a cost that grows
    faster than its clarity."""
    W, clarity = int(rng.integers(2, 4)), np.sort(rng.random(K))
    prior = rng.dirichlet(3*np.ones(W))
    signal = rng.dirichlet(np.full(3, .4), size=W).T*prior
    blind = signal.sum(1, keepdims=True)*prior
    return make_world([a*signal + (1-a)*blind for a in clarity], .1*rng.random()*clarity**2,
                      np.eye(W).tolist(), float(rng.choice([.5, 1., 4.])))

def segment(rng):
    """A world and the ends of a segment: (world, S0, S1, k0, k1) with k0 ≠ k1 and k1 the strict
    best response to S1."""
    while True:
        world = random_world(rng)
        z = world.setting
        S0, S1 = (menu_rule(z.support, scale*z.bound*rng.random((5, z.W)), z.bound)
                  for scale in (.2, 1.))
        k0, k1 = map(world.best_response, (S0, S1))
        if k0 != k1 and region_margin(world, S1, k1) > 1e-3*z.bound:
            return world, S0, S1, k0, k1

def search(world, S0, S1, k0, k1, threshold, data=None, **kw):
    data = Transcript(world.setting) if data is None else data
    return drive(binary_search(data, S0, S1, k_S0=k0, k1=k1, threshold=threshold, **kw),
                 world, generator(0)), data

def test_some_searches_end_beside_another_arm_than_they_began_with():
    rng = generator(0)
    assert sum(search(*(s := segment(rng)), .001)[0].k0 != s[3] for _ in range(60)) >= 5

@settings(max_examples=examples(40), deadline=None)
@given(seeds, st.floats(.01, .9))
def test_after_a_search_the_pair_is_known_as_radii_and_bracket(seed, threshold):
    """I_c(k0, k1) ≤ B_S (λ_max - λ_min + I_0 + I_1) then and ever after, as long as no bracket
    is empty."""
    rng = generator(seed)
    world, S0, S1, k0, k1 = segment(rng)
    data, z = Transcript(world.setting), world.setting
    drive(announce(data, S0, 'line', 0.), world, rng)
    drive(announce(data, S1, 'line', 1.), world, rng)
    found, _ = search(world, S0, S1, k0, k1, threshold, data, place=lambda lam: ('line', lam))
    for _ in range(5):
        I = radius_fb(data.N, None, a=float(rng.choice([1., 10.])))
        U = cost_upper(data, I)
        a, b = found.k0, found.k1
        if U[a, b] >= -U[b, a]:
            assert cost_estimates(U, z.bound)[1][
                a, b] <= z.bound*(found.lam_max - found.lam_min + I[a] + I[b]) + 1e-9
        for _ in range(20):
            drive(announce(data, mix(S0, S1, lam := rng.random()), 'line', lam), world, rng)

@pytest.mark.parametrize('m', range(30))
def test_depth_at_powers_of_two(m):
    assert [search_depth(x) for x in (2.**-m, np.nextafter(2.**-m, 2),
                                      np.nextafter(2.**-m, 0))] == [m + 1, m, m + 1]
