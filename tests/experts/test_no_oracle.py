"""The search for rules of an expert of whom nothing is known."""
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from conftest import amount, examples
from oia_nb.all import (OIAError, agent_profit, generator, identify, is_proper,
                        load_world, random_world, search_oracle, simple_regret, simulate)
from oia_nb.game.oracle import hidden_arm
from oia_nb.game.stackelberg import region_margin
from oia_nb.experts.no_oracle import draw_rule, mean_rule
from laws import statistical

WORLDS = {name: load_world(name) for name in ('clinic', 'advert')}
WORLDS |= {f'random {s}': random_world(3, 3, 3, s, prior='arm', margin=.03) for s in range(3)}

@settings(max_examples=examples(50))
@given(st.integers(0, 10**6), st.sampled_from(list(WORLDS)))
def test_rules_drawn_and_their_means_are_rules(seed, name):
    "Proper, within the bound; a mean of rules that one arm answers is answered by this arm."
    world, rng = WORLDS[name], generator(seed)
    rules = [draw_rule(world.setting, rng) for _ in range(12)]
    assert all(is_proper(r) and 0 <= r.values.min() <= r.values.max() <= world.setting.bound
               for r in rules)
    arms = np.array([world.best_response(r) for r in rules])
    for k in np.unique(arms):
        mean = mean_rule([r for r, a in zip(rules, arms) if a == k])
        assert is_proper(mean) and region_margin(world, mean, k) >= -1e-9*world.setting.bound

@pytest.mark.parametrize('name', WORLDS)
def test_what_is_found_works(name):
    "Each rule found makes its arm answer; the search keeps accounts of its rounds."
    world = WORLDS[name]
    found = simulate(search_oracle(world.setting, tries=300, seed=3), world, 3)
    for k, (arm, rule) in enumerate(zip(world.setting.arms, found.rules)):
        assert (rule is None) == (arm in found.missing) == (found.hits[k] == 0)
        if rule is not None:
            assert world.best_response(rule) == k
    assert found.hits.sum() == found.tries <= min(300, found.rounds)
    again = simulate(search_oracle(world.setting, tries=300, seed=3), world, 3)
    assert again.rounds == found.rounds and (again.hits == found.hits).all()

TENTH = (.2/3)**.1      # how often the clinic's rarest arm is missed by a tenth of the draws

@statistical(false_alarm=1e-6, planted='draws a tenth of the rules',
             power=lambda: binom.sf(binom.ppf(1 - 1e-6, 100, .2), 100, TENTH))
def test_arms_of_enough_volume_are_found():
    """Missed with a probability of at most δ.

    100 searches of T draws each, where T is what the volume of the clinic's rarest arm asks for
    at δ = .2; more than the 1 - 10^-6 quantile of misses would be a lie. A search that drew a
    tenth of the rules would miss it in three of four cases, and turn this red.
    """
    world, rng, delta = WORLDS['clinic'], generator(1), .2
    z = world.setting
    arms = np.array([world.best_response(draw_rule(z, rng)) for _ in range(4000)])
    volume = np.bincount(arms, minlength=z.K)/4000
    tries = int(np.ceil(np.log(z.K/delta)/volume.min()))
    missed = short = 0
    for seed in range(100):
        found = simulate(search_oracle(z, want=1, tries=tries + 1, delta=delta, seed=seed), world,
                         seed)
        missed += bool(found.missing)
        short += bool(simulate(search_oracle(z, want=1, tries=tries // 10, seed=seed), world,
                               seed).missing)
    limit = binom.ppf(1 - 1e-6, 100, delta)
    assert missed <= limit < short

@settings(max_examples=examples(20))
@given(st.integers(0, 10**6), st.sampled_from(list(WORLDS)))
def test_a_mean_leads_by_the_mean_of_the_leads(seed, name):
    "To rounding, for any proper rules and each arm."
    world, rng = WORLDS[name], generator(1, seed)
    rules = [draw_rule(world.setting, rng) for _ in range(int(rng.integers(1, 6)))]
    profits = np.mean([agent_profit(world, r) for r in rules], axis=0)
    assert agent_profit(world,
                        mean_rule(rules)) == pytest.approx(profits,
                                                           abs=1e-9*world.setting.bound)

def test_the_arm_that_hides_is_named():
    world = hidden_arm(60)[7]
    found = simulate(search_oracle(world.setting, tries=30), world, 0)
    assert found.missing == ('hidden',) and found.tries == 30
    assert found.volume == pytest.approx(np.log(2/.05)/29)
    assert found.statement.startswith('Of the 1 arms found. With probability 95 %')
    with pytest.raises(OIAError, match='hidden never answered in 30 random rules'):
        print(found.oracle)

@pytest.mark.parametrize('seed', range(amount(1, 3)))
def test_a_learner_goes_on_with_what_was_found(seed):
    world = WORLDS['clinic']
    oracle = simulate(search_oracle(world.setting, seed=seed), world, seed).oracle
    found = identify(world, eps=.15, delta=.05, seed=seed, oracle=oracle)
    assert found.status == 'certified' and simple_regret(world, found.rule) <= .15
