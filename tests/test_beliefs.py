"""An expert whose beliefs are its own, and the learner that counts what follows a report."""
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import examples
from laws import detection, most_failures, statistical
from oia_nb import beliefs
from oia_nb.all import (InvalidInput, action_informed_oracle, generator, identify, is_proper,
                        random_world, simple_regret, simulate)
from oia_nb.beliefs import PairProgram, own_beliefs
from oia_nb.experts import Drifting, Subjective, best_known, is_wrong
from oia_nb.sharp.evidence import betting_threshold, mean_lower
from oia_nb.sharp.hyperplanes import Hyperplane, RegionProgram, spread_rules

DUO = random_world(2, 2, 2, 28, prior='arm', margin=.05, name='duo')
VAIN = replace(DUO, agent=Subjective((1.5, .6)))
ORACLE = action_informed_oracle(DUO)
TRIO = random_world(3, 3, 2, 4, prior='arm', margin=.05, name='trio')


@settings(max_examples=examples(60))
@given(st.integers(0, 10**6))
def test_a_program_on_pairs(seed):
    "Its rule is proper and attains the value; weights that are beliefs' give the value on beliefs."
    z, rng = TRIO.setting, generator(80, seed)
    p = rng.normal(size=z.M*z.W)
    found = PairProgram(z).minimum(p, rule=True)
    assert is_proper(found.rule) and found.bound <= found.value + 1e-9
    assert p @ found.rule.values.ravel() == pytest.approx(found.value, abs=1e-7)
    m = rng.normal(size=z.M)
    pairs = (m[:, None]*z.support).ravel()
    assert PairProgram(z).minimum(pairs).value == pytest.approx(RegionProgram(z).minimum(m).value,
                                                                abs=1e-7)


SEQUENCES, SIZES, DELTA = 150, 2**np.arange(7), .3


def misses(threshold, seed):
    "How many sequences of pairs have a mean below the lower bound, at any of some sizes."
    rng, missed = generator(81, seed), 0
    for _ in range(SEQUENCES):
        p, x = rng.dirichlet(np.full(6, .5)), rng.normal(size=6)
        draws = np.eye(6)[rng.choice(6, SIZES[-1], p=p)].cumsum(0)
        missed += any(mean_lower(draws[N - 1], x, threshold(N)) > p @ x + 1e-9 for N in SIZES)
    return missed


# without the logarithm at least half of all sequences miss, as the first sample alone shows
@statistical(false_alarm=1e-6, planted='a threshold of a tenth of the one that is proved',
             power=lambda: detection(SEQUENCES, DELTA, .75))
def test_a_fixed_payoff_at_all_times():
    limit = most_failures(SEQUENCES, DELTA)
    proved = lambda N: betting_threshold(N, DELTA)
    assert misses(proved, 0) <= limit < misses(lambda N: proved(N)/10, 1)


@pytest.mark.parametrize('world, prior', [(DUO, False), (TRIO, False), (DUO, True)],
                         ids=['duo', 'trio', 'a prior that beliefs do not average to'])
def test_boundaries_hold_whatever_beliefs_are_worth(world, prior):
    "Every boundary that a run found agrees with the world's leads, within its error."
    runs = []
    setting = replace(world.setting, prior=world.structure.priors[0] if prior else None)
    init = beliefs.Run.__init__
    def kept(self, *args, **options):
        runs.append(self)
        init(self, *args, **options)
    oracle = action_informed_oracle(world)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(beliefs.Run, '__init__', kept)
        simulate(own_beliefs(setting, oracle, eps=.3, delta=.1, max_rounds=1500),
                 replace(world, agent=Subjective(2.)), 0)
    q, c = world.belief_distributions, world.costs
    walls = [w for run in runs for w in run.walls.values()]
    assert walls and all(isinstance(w, Hyperplane) for w in walls)
    for w in walls:
        lead = lambda s: (q[w.k] - q[w.j]) @ s - (c[w.k] - c[w.j])
        for rule in (*oracle.rules, *spread_rules(world.setting)):
            low, high = w.limits(rule.expected)
            assert low - 1e-9 <= lead(rule.expected)/lead(w.anchor) <= high + 1e-9


JUDGED, SURE = 2, .0005
OTHER = replace(random_world(2, 2, 2, 5, prior='arm', margin=.05, name='other'),
                agent=Subjective((.6, 3.)))


def wrong_runs():
    return sum(
        is_wrong(OTHER, identify(OTHER, eps=.04, delta=SURE, seed=seed, method='own_beliefs',
                                 told='beliefs=own')) for seed in range(JUDGED))


def at_its_word(run, arm, belief, state):
    "Wrong: counts what a report says of the state, in place of the state."
    z = run.setting
    run.pairs[arm, belief*z.W:(belief + 1)*z.W] += z.support[belief]


# the one that takes reports at their word is right, but for delta, about an expert that isn't this
# one, and so sure of an arm that loses .0436
@statistical(false_alarm=1e-6, planted='takes a report at its word',
             power=lambda: detection(JUDGED, SURE, 1 - SURE))
def test_right_where_reports_are_misjudged(monkeypatch):
    limit = most_failures(JUDGED, SURE)
    assert wrong_runs() <= limit
    monkeypatch.setattr(beliefs.Run, 'see', at_its_word)
    assert wrong_runs() > limit


def test_a_calibrated_expert_is_a_special_case():
    found = identify(DUO, eps=.2, delta=.1, seed=0, method='own_beliefs', oracle=ORACLE)
    assert found.status == 'certified' and simple_regret(DUO, found.rule) <= .2
    assert found.profit <= DUO.agent.profit(DUO, found.rule)
    assert {c.name for c in found.checks} == {'answers', 'boundaries'}
    assert 'beliefs of its own' in identify(
        VAIN, eps=.3, delta=.1, seed=0, method='own_beliefs', oracle=ORACLE,
        told='beliefs=own').statement


def test_more_than_two_states():
    world = replace(TRIO, agent=Subjective((1.4, .8, 1.)))
    found = identify(world, eps=.5, delta=.1, seed=0, method='own_beliefs', told='beliefs=own',
                     oracle=action_informed_oracle(TRIO), max_rounds=4000)
    assert found.status in ('certified', 'round_cap')
    loss = best_known(world) - world.agent.profit(world, found.rule)
    assert found.certificate is None or loss <= found.certificate.bound


def test_costs_that_change_are_noticed():
    "After the boundary is learned, before the examination."
    rise = Drifting((.05, 0.), start=60, stop=61)
    found = identify(replace(DUO, agent=rise), eps=.05, delta=.1, seed=0, method='own_beliefs',
                     oracle=ORACLE)
    assert found.status == 'assumption_violated' and found.certificate is None
    assert found.violated in ('drift', 'boundaries', 'oracle')


def test_caps_and_stops():
    found = identify(VAIN, eps=.01, delta=.1, seed=0, method='own_beliefs', told='beliefs=own',
                     oracle=ORACLE, max_rounds=120)
    assert (found.status, found.rounds) == ('round_cap', 120)
    learner = own_beliefs(DUO.setting, ORACLE, eps=.01, delta=.1)
    rng, rule = generator(5), next(learner)
    for _ in range(60):
        rule = learner.send(DUO.respond(rule, rng))
    assert learner.stop().status == 'stopped'


def test_a_state_is_needed():
    learner = own_beliefs(DUO.setting, ORACLE, eps=.1, delta=.1)
    response = DUO.respond(next(learner), generator(0))
    with pytest.raises(InvalidInput, match='response.state'):
        learner.send(replace(response, state=None))
    learner.send(response)


@pytest.mark.parametrize('bad, name', [(dict(told='lapses=0.1'), 'told.lapses'),
                                       (dict(told='band=0.1'), 'told.band'),
                                       (dict(max_rounds=1), 'max_rounds'),
                                       (dict(examined=1), 'examined'), (dict(eps=0), 'eps')])
def test_bad_input(bad, name):
    with pytest.raises(InvalidInput, match=name):
        own_beliefs(DUO.setting, ORACLE, **dict(eps=.1, delta=.1) | bad)


@pytest.mark.release
@pytest.mark.parametrize('gamma', [(1.5, .6), (.6, 1.5), (2., 2.), (1., 1.)], ids=str)
def test_twenty_seeds(gamma):
    world = replace(DUO, agent=Subjective(gamma))
    runs = [identify(world, eps=.1, delta=.05, seed=s, method='own_beliefs', told='beliefs=own',
                     oracle=ORACLE) for s in range(20)]
    assert all(f.status == 'certified' for f in runs)
    # six or more of 20 in fewer than one case of 3,000 at δ = .05
    assert sum(is_wrong(world, f) for f in runs) <= 5
