"""Bounds: laws that hold for all problems, the implications between printed and corrected forms,
and a run that comes near.

The sweeps are over random problems with fixed seeds; nothing here can fail by chance. That
bounds are not too small is seen where runs come
within a factor of ten of them: here, and in the laws that `test_mutants.py` runs on the bounds
and on wrong constants.
"""
from dataclasses import replace
import itertools
import numpy as np
import pytest
import laws
from oia_nb.all import (action_informed_oracle, generator, make_world, oiafc, simulate)
from oia_nb.paper.estimation import NORMAL, event_holds
from oia_nb.paper.oiafc import MIXINGS, should_stop
from oia_nb.paper.complexity import (Problem, corollary1_arm, corollary1_tau1, corollary1_tau2,
                                     corollary2_budget, largest_fixed_point,
                                     n_min, problem_of,
                                     smallest_budget, theorem1_bound, theorem1_explicit,
                                     theorem2_need)
from oia_nb.paper.complexity import C_EPS

def problems(n, seed, K=(2, 20)):
    rng = generator(seed)
    for _ in range(n):
        k, B_S, B_u = int(rng.integers(*K)), 10**rng.uniform(-1, 1), 10**rng.uniform(-1, 1)
        gaps = np.sort(rng.uniform(0, B_S + B_u, k))
        yield Problem(k, int(rng.integers(2, 60)), B_S, B_u,
                      10**rng.uniform(-3, np.log10(2))*(B_S+B_u), 10**rng.uniform(-4, 0),
                      B_S*10**rng.uniform(-2, 0), tuple(gaps - gaps[0]))

def world(p=(.95, .05), costs=(0., .02), utility=(1., .5), bound=.1):
    return make_world([[[x, 0.], [0., 1 - x]] for x in p], costs, [[u] for u in utility], bound)

@pytest.mark.parametrize('mixing', ['theorem1', 'corollary1'])
def test_least_number_of_samples(mixing):
    """The first n that the stopping rule accepts with N = L = n in round K + n; and N > L, or a
    later round, doesn't help below it."""
    rng = generator(4)
    for p in itertools.islice(problems(1000, 5), 25):
        p = replace(p, eps=rng.uniform(.3, 1.9)*p.B)
        z = type('z', (), dict(B=p.B, M=p.M, support_sizes=np.array([p.M])))
        alpha = MIXINGS[mixing](z, p.eps)
        holds = lambda N, L, t: should_stop(z, p.eps, alpha(L), np.sqrt(2*p.Lambda(t)/N))
        n = n_min(p, mixing)
        assert holds(n, n, p.K + n)
        assert not any(holds(m, m, p.K + m) for m in range(max(1, n - 400), n))
        for _ in range(50):
            N = int(rng.integers(1, n))
            assert not holds(N, int(rng.integers(1, N + 1)), p.K + N + int(rng.integers(0, 1000)))

def test_printed_theorem1_for_a_hundred_arms_and_a_thousand():
    far = lambda K: Problem(K, 2, 1., 0., 1e-3, 1., .1, (0.,) + (1.,)*(K - 1))
    for p in itertools.chain(problems(200, 10), problems(100, 11, (99, 101)), [far(100)]):
        assert theorem1_bound(p) <= theorem1_explicit(p, 'printed')[0]
    assert theorem1_bound(far(1000)) > theorem1_explicit(far(1000), 'printed')[0]

def test_printed_corollary1_tau2_is_implied():
    for p in problems(200, 12):
        for t in (10., 1e4, 1e8):
            assert corollary1_tau2(p, max(t, p.K + 4.)) <= corollary1_tau2(
                p, max(t, p.K + 4.), 'printed')

def test_printed_theorem2():
    """At the smallest T and the largest a of the printed theorem the corrected condition holds
    for 0 ≤ S ≤ B_S, and fails somewhere for signed rules."""
    worst = {False: 0., True: 0.}
    for p in problems(400, 13):
        T = largest_fixed_point(lambda T: theorem2_need(
            p, T, 2*(np.log(T*p.K) + p.M*np.log(2)), 'printed'))*(1+1e-9) + 1
        a = (T - p.K)/(144*p.H_eps*max(p.R, 1.)*np.log2(T))
        assert a >= 2*(np.log(T*p.K) + p.M*np.log(2))
        for signed in worst:
            worst[signed] = max(worst[signed], theorem2_need(p, T, a, signed=signed)/T)
    assert worst[False] < 1 < worst[True]

@pytest.mark.parametrize(
    'version, signed', list(itertools.product(['printed', 'corrected'], [False, True])))
def test_corollary2(version, signed):
    for p in problems(300, 14):
        T, Gamma = corollary2_budget(p, version, signed)
        a = 2*(np.log(T*p.K/p.delta) + p.M*np.log(2))
        assert T == np.ceil(T) and T < Gamma and theorem2_need(p, T, a, signed=signed) <= T
        assert smallest_budget(p, signed) <= T

def test_searches_come_near_their_bound():
    """A run of hundreds of thousands of rounds: a twelfth of Lemma 4's count, or a quarter of
    the logarithm for half of it, is exceeded. (Normal rounds: `law_normal_rounds`.)"""
    laws.check_searches()
    for old, new in (('return (p.K - 1)*np.ceil(N_bar)', 'return (p.K - 1)*np.ceil(N_bar/12)'),
                     ('t/(2*Lambda)))/2', 't/(2*Lambda)))/4')):
        broken = laws.bounds(old, new)
        with pytest.raises(AssertionError):
            laws.check_searches(broken)

def test_printed_corollary1_fails_on_a_run():
    "E35: both printed bounds on normal rounds are exceeded on the event; the corrected ones hold."
    w = world((.95, .05), (0., 0.), (1., 1.))
    p, plans = problem_of(w, w.setting.B, .1), []
    r = simulate(oiafc(w.setting, action_informed_oracle(w), eps=p.eps, delta=.1,
                       mixing='corollary1', watch=plans.append), w, 0)
    assert r.status == 'certified' and all(event_holds(w, s.q_hat, s.I) for s in plans)
    L = max(((r.trace.kinds == NORMAL) & (r.trace.arms == k)).sum() for k in range(2))
    assert corollary1_arm(p, r.rounds, 'printed') < L <= corollary1_arm(p, r.rounds)
    assert corollary1_tau1(p, r.rounds, 'printed') < r.normal_rounds <= corollary1_tau1(p, r.rounds)

def test_printed_eq41_fails():
    p = Problem(2, 160, 1., 1., .01, 1., .1)
    n = n_min(p)
    assert (2*2**.5 + 2)**2*p.B**2*p.Lambda(
        p.K + n)/p.eps**2 + 1 < n < C_EPS*p.B**2*p.Lambda(p.K + n)/p.eps**2 + 1
