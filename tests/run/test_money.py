"""What learning costs: payments, losses, fees and forecasts, held against accounts that are kept
apart; a stop at a sum; rules that pay nothing for nothing; and whether to learn at all."""
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from conftest import amount
from oia_nb.all import (LEARNERS, ScoringRule, Session, action_informed_oracle,
                        forecast, generator, identify, load_world, make_world, optimal_rule,
                        principal_profit, random_world, simple_regret, simulate)
from oia_nb.run.experiments import break_even, profit_of_nothing, total_loss, with_fee
from people import CLINIC, COIN, TARGET, TESTS, WORLD, few, play

ADVERT = load_world('advert')
SMALL = random_world(3, 2, 3, 5, prior='arm', margin=.05)

@cache
def found(world=TESTS, eps=.1, delta=.1):
    return identify(world, eps=eps, delta=delta, seed=0)

class Cashier:
    "A world that keeps accounts: what each rule pays at the belief reported, and what is kept."
    def __init__(self, world):
        self.world, self.setting, self.payments, self.kept = world, world.setting, [], []

    def respond(self, rule, rng):
        response, z = self.world.respond(rule, rng), self.setting
        belief = np.array(response.report)
        self.payments.append(belief @ rule.values[z.index(response.report)])
        self.kept.append((belief @ z.utility).max() - self.payments[-1])
        return response

@pytest.mark.parametrize('world', amount([COIN], [COIN, SMALL]), ids=lambda world: world.name)
@pytest.mark.parametrize('method', LEARNERS)
def test_paid_and_lost_of_every_learner(world, method):
    "To the last round, for every learner there is."
    options = few(method) | (dict(max_rounds=300) if method == 'oiafc' else {})
    cashier, rng = Cashier(world), generator(3)
    row, oracle = LEARNERS[method], action_informed_oracle(world)
    extra = dict(rng=rng.spawn(1)[0]) if 'rng' in row.options else {}
    alone = simulate(row.make(world.setting, oracle, **options, **extra), cashier, rng)
    assert alone.trace.payments == pytest.approx(cashier.payments) and alone.lost is None
    assert alone.paid == pytest.approx(sum(cashier.payments))
    assert len(cashier.payments) == alone.rounds
    again = identify(world, method=method, seed=3, **options)
    assert again.paid == pytest.approx(alone.paid)
    assert again.lost == pytest.approx(
        optimal_rule(world).profit*again.rounds - sum(cashier.kept), abs=1e-9)

def test_what_all_hires_lose():
    "A run's own loss as far as it goes, and its rule's regret in every hire after that."
    run, best = found(), optimal_rule(TESTS).profit
    kept = TESTS.setting.belief_utility[run.trace.beliefs] - run.trace.payments
    after = np.full(500, principal_profit(TESTS, run.rule))
    lost = np.cumsum(best - np.r_[kept, after])
    for n in 1, run.rounds - 1, run.rounds, run.rounds + 500:
        assert total_loss(TESTS, run, n) == pytest.approx(lost[n - 1])
    zero = ScoringRule(np.zeros((4, 2)), TESTS.setting.support, 1.)
    assert profit_of_nothing(TESTS) == pytest.approx(principal_profit(TESTS, zero))
    assert break_even(TESTS, run) > run.rounds
    assert break_even(TESTS, replace(run, rule=zero)) == np.inf
    assert break_even(TESTS, replace(run, lost=-1e6)) == run.rounds

def test_a_forecast_is_of_the_runs_that_identify_plays():
    told = dict(eps=.15, delta=.1, methods=['sharp', 'etc'], runs=4, seed=7, cap=400)
    frame = forecast(COIN, **told)
    for row in frame.itertuples():
        runs = [identify(COIN, eps=.15, delta=.1, method=row.method, budget=400,
                         seed=generator(7, i)) for i in range(4)]
        middle = lambda name, runs=runs: sorted(getattr(r, name) for r in runs)[1]
        assert (row.runs, row.paid, row.lost) == (4, middle('paid'), middle('lost'))
    assert frame.finished[0] == 4 and frame.rounds[0] < 400
    assert frame.equals(forecast(COIN, **told))

def test_a_forecast_of_hires_ends_with_paying_nothing():
    H, gain = 400, TESTS.best_profit - profit_of_nothing(TESTS)
    frame = forecast(TESTS, delta=.1, methods=['sharp'], runs=2, seed=3, hires=H)
    assert frame.method.tolist() == ['sharp']*3 + ['pay nothing']
    assert frame.eps.tolist()[:3] == pytest.approx([gain, gain/2, gain/4])
    assert frame.total.iloc[-1] == pytest.approx(H*gain)
    runs = [identify(TESTS, eps=gain/2, delta=.1, seed=generator(3, i)) for i in range(2)]
    assert frame.total[1] == pytest.approx(np.mean([total_loss(TESTS, r, H) for r in runs]))
    # where paying nothing is best, there is nothing to learn
    idle = make_world([[[.5, .5]], [[.4, .1], [.1, .4]]], [0., .5], np.eye(2), 2.)
    frame = forecast(idle, hires=100, runs=1)
    assert frame.method.tolist() == ['pay nothing'] and frame.total[0] == pytest.approx(0.)

def test_whether_to_learn_at_all(oia):
    "The command says what the forecast says, as text and in JSON."
    TESTS.save('w.json')
    ask = 'plan w.json --delta .05 --runs 1 --quiet'
    worth = oia.json(ask, '--hires', 5000)[0]['worth']
    assert worth['learn'] is True and worth['total'] < worth['nothing']
    assert worth['nothing'] == pytest.approx(5000*(TESTS.best_profit - profit_of_nothing(TESTS)))
    assert re.match(r'worth learning +no\nhires +20\n', oia(ask, '--hires', 20)[1])
    assert '--eps' in oia(ask)[2]

# --- Sums and fees --------------------------------------------------------------------

@pytest.mark.parametrize('method', ['sharp', 'oiafc', 'patient', 'own_beliefs'])
def test_no_more_is_paid_than_was_said(method):
    "Whatever the learner; the certificate is what was proved by then."
    for most in 0., 3., 11.:
        run = identify(CLINIC, **TARGET, seed=1, method=method, max_paid=most)
        assert run.status == 'paid_cap' and run.paid <= most + 1e-9
        if run.certificate is not None:
            assert simple_regret(CLINIC, run.rule) <= run.certificate.bound + 1e-9

def test_a_sum_that_is_never_reached_changes_nothing():
    one, other = found(ADVERT, .2), identify(ADVERT, eps=.2, delta=.1, seed=0, max_paid=1e6)
    assert one.status == other.status == 'certified' and one.rounds == other.rounds
    assert one.rule == other.rule and one.paid == other.paid

def test_a_fee_counts_for_each_round():
    plain, dear = (forecast(ADVERT, eps=.1, runs=1, fee=fee).iloc[0] for fee in (0., .5))
    assert dear.rounds == plain.rounds and dear.lost > plain.lost
    assert plain.break_even < dear.break_even < np.inf
    run = found(ADVERT, .2)
    assert with_fee(run, .5).lost == pytest.approx(run.lost + .5*run.rounds)

def test_a_session_with_a_fee_and_a_sum(tmp_path):
    path = tmp_path/'a.jsonl'
    with Session.create(path, CLINIC, **TARGET, fee=.25, max_paid=6., currency='€') as s:
        assert '0.25 €, whatever you answer' in s.announce().sheet()
        play(s, rng=generator(0))
        run = s.result
    assert run.status == 'paid_cap' and .25*run.rounds <= run.paid <= 6.
    expected = sum(r.rule.expected[r.belief] for r in s._rounds if r.due is not None)
    assert run.paid == pytest.approx(.25*s.rounds + expected)
    assert s.paid == pytest.approx(sum(r.due for r in s._rounds) + .25*s.rounds)
    with Session.open(path) as again:
        assert again.result.paid == run.paid and not again.notes

@pytest.mark.parametrize('world', [WORLD, CLINIC, ADVERT][:amount(2, 3)], ids=lambda w: w.name)
def test_nothing_is_paid_for_nothing(world):
    "No announced rule has a floor; where priors depend on the arm, none of all states alike."
    rules = np.array(found(world).certificate.facts['rules'])
    told = world.setting.prior is not None
    assert len(rules) > 3 and (rules.min(1) if told else rules.min((1, 2))).max() <= 1e-12

def test_samples_cost_less_than_by_the_rules_of_the_oracle(monkeypatch):
    import oia_nb.sharp.bets as bets
    paid = lambda: sum(identify(TESTS, eps=.05, delta=.05, seed=s).paid for s in range(2))
    cheap = paid()
    monkeypatch.setattr(bets, 'cheapest_answer', lambda known, k: known.oracle.rules[k])
    assert cheap < .85*paid()
