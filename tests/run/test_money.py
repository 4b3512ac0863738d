"""What learning costs: a stop at a sum, fees, rules that pay nothing for nothing, and whether to
learn at all.

Why: chapters 2, 24, 27, 62 and 67.
"""
import numpy as np
import pytest

from oia_nb.all import Session, forecast, generator, identify, load_world, simple_regret
from oia_nb.run.experiments import profit_of_nothing, with_fee
from people import CLINIC, TESTS, WORLD, play

ADVERT = load_world('advert')
TARGET = dict(eps=.04, delta=.05)

@pytest.mark.parametrize('method', ['sharp', 'oiafc', 'patient', 'own_beliefs'])
@pytest.mark.parametrize('most', [0., 3., 11.])
def test_no_more_is_paid_than_was_said(method, most):
    "Whatever the learner; the certificate is what was proved by then."
    found = identify(CLINIC, **TARGET, seed=1, method=method, max_paid=most)
    assert found.status == 'paid_cap' and found.paid <= most + 1e-9
    if found.certificate is not None:
        assert simple_regret(CLINIC, found.rule) <= found.certificate.bound + 1e-9

def test_a_sum_that_is_never_reached_changes_nothing():
    one, other = (identify(ADVERT, eps=.2, delta=.05, seed=0, max_paid=most)
                  for most in (None, 1e6))
    assert one.status == other.status == 'certified' and one.rounds == other.rounds
    assert one.rule == other.rule and one.paid == other.paid

def test_a_fee_counts_for_each_round():
    plain, dear = (forecast(ADVERT, eps=.1, runs=2, fee=fee).iloc[0] for fee in (0., .5))
    assert dear.rounds == plain.rounds and dear.lost > plain.lost
    assert plain.break_even < dear.break_even < np.inf
    found = identify(ADVERT, eps=.2, delta=.05, seed=0)
    assert with_fee(found, .5).lost == pytest.approx(found.lost + .5*found.rounds)

def test_a_session_with_a_fee_and_a_sum(tmp_path):
    path = tmp_path/'a.jsonl'
    with Session.create(path, CLINIC, **TARGET, fee=.25, max_paid=6., currency='€') as s:
        assert 'paid 0.25 €, whatever' in str(s.announce())
        assert '0.25 €, whatever you answer' in s.announce().sheet()
        play(s, rng=generator(0))
        found = s.result
    assert found.status == 'paid_cap' and .25*found.rounds <= found.paid <= 6.
    due = sum(r.due for r in s._rounds)
    assert found.paid == pytest.approx(.25*s.rounds + sum(r.rule.expected[r.belief]
                                                          for r in s._rounds if r.due is not None))
    assert s.paid == pytest.approx(due + .25*s.rounds)
    with Session.open(path) as again:
        assert again.result.paid == found.paid and not again.notes
    with Session.create(tmp_path/'b.jsonl', CLINIC, **TARGET) as s:
        assert 'whatever you answer' not in str(s.announce())

@pytest.mark.parametrize('world', [CLINIC, ADVERT, WORLD], ids=['clinic', 'advert', 'arms'])
def test_nothing_is_paid_for_nothing(world):
    "No announced rule has a floor; where priors depend on the arm, none of all states alike."
    found = identify(world, eps=.1, delta=.05, seed=0)
    rules = np.array(found.certificate.facts['rules'])
    told = world.setting.prior is not None
    assert len(rules) > 3 and (rules.min(1) if told else rules.min((1, 2))).max() <= 1e-12

def test_samples_cost_less_than_by_the_rules_of_the_oracle(monkeypatch):
    import oia_nb.sharp.bets as bets
    def dear(known, k):
        return known.oracle.rules[k]
    cheap = [identify(TESTS, eps=.05, delta=.05, seed=s) for s in range(3)]
    monkeypatch.setattr(bets, 'cheapest_answer', dear)
    before = [identify(TESTS, eps=.05, delta=.05, seed=s) for s in range(3)]
    assert sum(f.paid for f in cheap) < .85*sum(f.paid for f in before)

def test_whether_to_learn_at_all(oia):
    "The command says what the forecast says, in a sentence and in JSON."
    TESTS.save('w.json')
    ask = 'plan w.json --delta .05 --runs 1 --quiet'
    for hires, learn in (20, False), (5000, True):
        worth = oia.json(ask, '--hires', hires)[0]['worth']
        nothing = hires*(TESTS.best_profit - profit_of_nothing(TESTS))
        assert worth['learn'] is learn and worth['nothing'] == pytest.approx(nothing)
        assert (worth['total'] < worth['nothing']) is learn and worth['hires'] == hires
    assert oia(ask, '--hires', 20)[1].startswith("Don't learn: in 20 hires")
    status, _, err = oia(ask)
    assert status != 0 and '--eps' in err
