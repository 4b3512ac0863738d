"""Rules with slack: the lead is always there. What its price does to a certificate is a law,
`law_price_of_a_lead`; the checker refuses one that isn't charged (`test_verify_learners.py`)."""
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from conftest import amount, examples
from oia_nb.all import (action_informed_oracle, generator, identify, mix, random_world,
                        simple_regret)
from oia_nb.game.stackelberg import region_margin
from oia_nb.run.identification import LEARNERS
from oia_nb.experts.leads import share_needed
from oia_nb.run.learner import STATUS

DUO = random_world(2, 2, 2, 5, prior='arm', margin=.05)
ORACLE = action_informed_oracle(DUO)
# beyond rounding, an arm that leads by less than was asked for does not lead so
LEAD_TOL = 1e-9
DELTA, EPS = .5, .15

def run(seed, margin=.02, **options):
    given = dict(eps=EPS, delta=DELTA, max_rounds=4000) | options
    return identify(DUO, margin=margin, seed=seed, **given)

def leads_by(found, world=DUO):
    return region_margin(world, found.rule, found.arm)

def is_failure(found):
    "Whether the certificate is wrong, for all rules."
    return simple_regret(DUO, found.rule) > found.certificate.bound + 1e-9

@settings(max_examples=examples(40))
@given(st.integers(0, 10**6), st.floats(0, 1))
def test_a_share_of_the_oracle_leads(seed, part):
    "lem-lead-from-oracle, for rules that an arm answers: the oracle's rule towards another."
    rng = generator(seed)
    k, margin = int(rng.integers(2)), part*float(ORACLE.margins.min())
    rule = mix(ORACLE.rules[k], ORACLE.rules[1 - k], rng.random())
    if region_margin(DUO, rule, k) < 0:
        return
    share = share_needed(DUO.setting, ORACLE, k, margin)
    mixed = mix(rule, ORACLE.rules[k], min(share, 1.))
    assert region_margin(DUO, mixed, k) >= margin - LEAD_TOL
    assert share <= 1 or margin > ORACLE.margins[k]

@pytest.mark.parametrize('off', [-1e-10, -1e-12, 0., 1e-12])
def test_the_whole_margin_of_the_oracle(off):
    "A margin that is the oracle's, to the last digits: the oracle's rule has it."
    for k, known in enumerate(ORACLE.margins):
        assert share_needed(DUO.setting, ORACLE, k, float(known)*(1 + off)) == 1

def test_a_price_that_is_not_well_known_yet():
    """What is seen of a price leaves a quarter of eps, its bound after a hundred rounds hardly a
    tenth: that is no reason to end."""
    world = random_world(2, 2, 3, 5, prior='arm', margin=.05)
    margin = .03*float(action_informed_oracle(world).margins.min())
    found = [identify(world, eps=.02, delta=DELTA, margin=margin, seed=seed, max_rounds=3000)
             for seed in range(amount(1, 3))]
    assert {r.status for r in found} == {'certified'}
    assert all(leads_by(r, world) >= margin - LEAD_TOL for r in found)

@pytest.mark.parametrize('method, options', [('patient', dict(told='lapses=0.05')),
                                             ('own_beliefs', dict(told='beliefs=own'))])
def test_other_learners(method, options):
    found = run(1, method=method, **options)
    assert found.status == 'certified' and leads_by(found) >= .02 - LEAD_TOL
    assert found.lead == .02 and 'leads by at least 0.02' in found.statement
    assert not is_failure(found)

def test_ends():
    "Too dear, out of rounds at any time, and stopped: the lead stays."
    dear = run(0, .1)
    assert dear.status == 'lead_too_dear' and dear.attempts > 1
    for found in dear, *(run(0, cap, max_rounds=n) for cap in amount((.05, ), (.02, .05))
                         for n in amount((3, 70), (2, 3, 10, 40, 70, 150))):
        assert found.status in ('certified', 'round_cap', 'lead_too_dear')
        assert found.rounds <= 4000 and len(found.trace.kinds) == found.rounds
        assert leads_by(found) >= found.lead - LEAD_TOL
        assert found.counts.sum() == found.rounds == len(found.trace.arms)
        if found.certificate is not None:
            assert np.isclose(found.certificate.bound, found.certificate.mixing
                              + found.certificate.confidence)
    assert all(set(LEARNERS[m].statuses) >= {'lead_too_dear'} <= set(STATUS)
               for m in ('sharp', 'patient', 'own_beliefs'))
