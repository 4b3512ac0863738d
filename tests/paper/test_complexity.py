"""Bounds: a run that comes near. `test_mutants.py` has their laws; the appendix on bounds compares
printed, corrected and closed forms, and the page of errata has what is false as printed.
"""
import pytest
import laws

def test_searches_come_near_their_bound():
    """A run of hundreds of thousands of rounds: a twelfth of Lemma 4's count, or a quarter of
    the logarithm for half of it, is exceeded. (Normal rounds: `law_normal_rounds`.)"""
    laws.check_searches()
    for old, new in (('(p.K - 1)*np.ceil(N_bar)', '(p.K - 1)*np.ceil(N_bar/12)'),
                     ('t/(2*Lambda)))/2', 't/(2*Lambda)))/4')):
        broken = laws.bounds(old, new)
        with pytest.raises(AssertionError):
            laws.check_searches(broken)
