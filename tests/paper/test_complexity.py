"""Bounds: the implications between printed and corrected forms, for random problems with fixed
seeds, and a run that comes near. `test_mutants.py` has their laws; the page of errata has what is
false as printed.
"""
import numpy as np
import pytest
import laws
from laws import random_problems
from oia_nb.paper.complexity import (Problem, corollary1_tau2, corollary2_budget, smallest_budget,
                                     theorem1_bound, theorem1_explicit, theorem2_need)

def test_printed_theorem1_for_a_hundred_arms_and_a_thousand():
    far = lambda K: Problem(K, 2, 1., 0., 1e-3, 1., .1, (0.,) + (1.,)*(K - 1))
    for p in [*random_problems(200, 10), *random_problems(100, 11, (99, 101)), far(100)]:
        assert theorem1_bound(p) <= theorem1_explicit(p, 'printed')[0]
    assert theorem1_bound(far(1000)) > theorem1_explicit(far(1000), 'printed')[0]

def test_printed_corollary1_tau2_is_implied():
    for p in random_problems(200, 12):
        for t in (10., 1e4, 1e8):
            assert corollary1_tau2(p, max(t, p.K + 4.)) <= corollary1_tau2(
                p, max(t, p.K + 4.), 'printed')

@pytest.mark.parametrize('signed', [False, True])
@pytest.mark.parametrize('version', ['printed', 'corrected'])
def test_corollary2(version, signed):
    for p in random_problems(300, 14):
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
