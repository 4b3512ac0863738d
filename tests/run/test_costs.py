"""What learning costs: payments, losses and forecasts, held against accounts that are kept
apart."""
from dataclasses import replace

import numpy as np
import pytest

from conftest import amount
from oia_nb.all import (InvalidInput, LEARNERS, ScoringRule, Session, action_informed_oracle,
                        forecast, generator, identify, make_world, optimal_rule,
                        principal_profit, random_world, simulate)
from oia_nb.run.experiments import break_even, profit_of_nothing, total_loss
from people import COIN, TESTS

SMALL = random_world(3, 2, 3, 5, prior='arm', margin=.05)

class Cashier:
    "A world that keeps accounts: what each rule pays at the belief reported, and what is kept."
    def __init__(self, world):
        self.world, self.setting, self.payments, self.kept = world, world.setting, [], []

    def respond(self, rule, rng):
        response, z = self.world.respond(rule, rng), self.setting
        belief = np.array(response.report)
        i = z.index(response.report)
        self.payments.append(belief @ rule.values[i])
        self.kept.append((belief @ z.utility).max() - self.payments[-1])
        return response

RUNS = {'sharp': dict(eps=.1), 'oiafc': dict(eps=2., max_rounds=300),
        'oiafb': dict(eps=2., budget=200), 'chen': dict(eps=2., budget=200),
        'explore_then_commit': dict(eps=2., budget=200), 'patient': dict(eps=.1),
        'own_beliefs': dict(eps=.5), 'open_support': dict(eps=1.), 'trial': dict(eps=.3)}

@pytest.mark.parametrize('world', amount([COIN], [COIN, SMALL]), ids=lambda world: world.name)
@pytest.mark.parametrize('method', LEARNERS)
def test_paid_and_lost_of_every_learner(world, method):
    "To the last round, for every learner there is; a learner without an entry above fails here."
    options = dict(delta=.1) | RUNS[method]
    cashier, rng = Cashier(world), generator(3)
    row, oracle = LEARNERS[method], action_informed_oracle(world)
    extra = dict(rng=rng.spawn(1)[0]) if 'rng' in row.options else {}
    alone = simulate(row.make(world.setting, oracle, **options, **extra), cashier, rng)
    assert alone.trace.payments == pytest.approx(cashier.payments) and alone.lost is None
    assert alone.paid == pytest.approx(sum(cashier.payments))
    assert len(cashier.payments) == alone.rounds
    found = identify(world, method=method, seed=3, **options)
    best = optimal_rule(world).profit
    assert found.paid == pytest.approx(alone.paid)
    assert found.lost == pytest.approx(best*found.rounds - sum(cashier.kept), abs=1e-9)

def test_a_result_of_a_session_tells_how_it_was_learned(tmp_path):
    "Method, options and seed, in the session, opened again, and in its document; no world."
    options = dict(method='chen', decision='uniform', budget=5, rng=3)
    with Session.create(tmp_path/'s.jsonl', COIN, eps=2., delta=.1, **options) as s:
        while s.status == 'open':
            r = COIN.respond(s.announce().rule, generator(1, s.rounds))
            s.answer(r.arm, list(r.report))
        done = s.result.to_dict()
    with Session.open(tmp_path/'s.jsonl') as s:
        assert s.stop().to_dict() == s.result.to_dict() == done
    assert (done['world'], done['method'], done['seed']) == (None, 'chen', 3)
    assert done['options'] == dict(decision='uniform', budget=5, rng=3)

# --- Forecasts -----------------------------------------------------------------------------------

def test_a_forecast_is_of_the_runs_that_identify_plays():
    frame = forecast(COIN, eps=.15, delta=.1, methods=['sharp', 'etc'], runs=4, seed=7, cap=400)
    for row in frame.itertuples():
        runs = [identify(COIN, eps=.15, delta=.1, method=row.method, budget=400,
                         seed=generator(7, i)) for i in range(4)]
        assert row.runs == 4
        assert row.paid == sorted(r.paid for r in runs)[1]
        assert row.lost == sorted(r.lost for r in runs)[1]
        if row.method == 'sharp':
            assert row.finished == 4
            low, median, _, high = sorted(r.rounds for r in runs)
            assert (row.rounds_10, row.rounds, row.rounds_90) == (low, median, high)
    again = forecast(COIN, eps=.15, delta=.1, methods=['sharp', 'etc'], runs=4, seed=7, cap=400)
    assert frame.equals(again)

def test_break_even():
    """The round from which on more was kept than by paying nothing; never, for a rule that
    leaves no more than that."""
    found = identify(TESTS, eps=.1, delta=.1, seed=0)
    zero = ScoringRule(np.zeros((4, 2)), TESTS.setting.support, 1.)
    before, after = principal_profit(TESTS, zero), principal_profit(TESTS, found.rule)
    kept = found.rounds*optimal_rule(TESTS).profit - found.lost
    n = break_even(TESTS, found)
    ahead = lambda m: kept + (m - found.rounds)*after - m*before
    assert n > found.rounds and ahead(n - 1) < 0 < ahead(n + 1)
    assert break_even(TESTS, replace(found, rule=zero)) == np.inf
    assert break_even(TESTS, replace(found, lost=-1e6)) == found.rounds

# --- Hires in all --------------------------------------------------------------------------------

def test_what_all_hires_lose():
    "A run's own loss as far as it goes, and its rule's regret in every hire after that."
    found = identify(TESTS, eps=.1, delta=.1, seed=0)
    regret = TESTS.best_profit - principal_profit(TESTS, found.rule)
    assert total_loss(TESTS, found, found.rounds) == pytest.approx(found.lost)
    assert total_loss(TESTS, found, found.rounds + 500) == pytest.approx(found.lost + 500*regret)
    parts = [total_loss(TESTS, found, n) for n in range(1, found.rounds + 1)]
    kept = TESTS.setting.belief_utility[found.trace.beliefs] - found.trace.payments
    assert np.diff([0., *parts]) == pytest.approx(TESTS.best_profit - kept)

def test_a_forecast_of_hires_ends_with_paying_nothing():
    H = 400
    frame = forecast(TESTS, delta=.1, methods=['sharp', 'etc'], runs=2, seed=3, hires=H)
    gain = TESTS.best_profit - profit_of_nothing(TESTS)
    assert frame.method.tolist() == ['sharp']*3 + ['etc']*3 + ['pay nothing']
    assert frame.eps.tolist()[:3] == pytest.approx([gain, gain/2, gain/4])
    assert frame.total.iloc[-1] == pytest.approx(H*gain)
    runs = [identify(TESTS, eps=gain/2, delta=.1, seed=generator(3, i)) for i in range(2)]
    assert frame.total[1] == pytest.approx(np.mean([total_loss(TESTS, r, H) for r in runs]))

def test_where_paying_nothing_is_best_there_is_nothing_to_learn():
    idle = make_world([[[.5, .5]], [[.4, .1], [.1, .4]]], [0., .5], np.eye(2), 2.)
    frame = forecast(idle, hires=100, runs=1)
    assert frame.method.tolist() == ['pay nothing'] and frame.total[0] == pytest.approx(0.)
    with pytest.raises(InvalidInput, match='eps'):
        forecast(idle, runs=1)
