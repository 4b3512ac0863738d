"""The search for rules of an expert of whom nothing is known."""
from dataclasses import replace
import numpy as np
import pytest
from hypothesis import strategies as st
from conftest import amount, seeded
from inside import Judge
from people import play
from test_verify import verdict
from oia_nb.all import (InvalidInput, OIAError, Session, generator, identify, is_proper,
                        load_world, make_world, random_world, search_oracle, simulate)
from oia_nb.run.learner import claim_of, facts_of
from oia_nb.game.stackelberg import region_margin
from oia_nb.experts.around import draw_rule, mean_rule
from oia_nb.sharp import bets
from oia_nb.sharp.questions import search_rule
from oia_nb.sharp.record import SEARCH, Record
from oia_nb.verify import BLOCK, LOOK

WORLDS = {name: load_world(name) for name in ('clinic', 'advert')}
WORLDS |= {f'random {s}': random_world(3, 3, 3, s, prior='arm', margin=.03) for s in range(3)}

# hardly any random rule pays for the second arm
HIDING = make_world([[[.5, .5]], [[.45, .05], [.05, .45]]], [0., .39], 3*np.eye(2), 1.,
                    arms=['plain', 'hidden'])

@seeded(50, st.sampled_from(list(WORLDS)))
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

def test_the_arm_that_hides_is_named():
    found = simulate(search_oracle(HIDING.setting, tries=30), HIDING, 0)
    assert found.missing == ('hidden',) and found.tries == 30
    assert found.volume == pytest.approx(np.log(2/.05)/29)
    assert found.statement.startswith('Of the 1 arms found. With probability 95 %')
    with pytest.raises(OIAError, match='hidden never answered in 30 random rules'):
        print(found.oracle)

# --- The sharp learner without an oracle -----------------------------------------------

@pytest.mark.parametrize('K, W', [(2, 2), (3, 2), (3, 3)])
def test_runs_without_an_oracle_end_with_a_true_certificate(K, W):
    "At δ = 1e-9 a wrong one is a fault. It is proved by a checker that knows what was drawn."
    for seed in range(amount(1, 60)):
        world = random_world(K, W, 3, generator(seed, K*W), prior='arm', margin=.02)
        found = identify(world, eps=.2, delta=1e-9, oracle=None, seed=seed, examined=False,
                         missed=.1)
        assert found.status == 'certified' and not Judge(world).false_clauses(found, .2)
        assert found.verify()

def test_a_hidden_arm_is_named_and_left_out():
    "The statement says so."
    found = identify(HIDING, eps=.1, delta=.05, oracle=None, seed=0)
    assert found.status == 'certified' and not Judge(HIDING).false_clauses(found, .1)
    assert 1/31 < found.missed < 1/30 and found.counts.tolist() == [found.rounds, 0]
    assert 'an arm that answers fewer than 1 in 30 random rules may have been missed' in (
        found.statement)

def test_no_more_is_claimed_than_was_drawn():
    "Fewer draws, one twice, one that never was, a smaller share, all arms: all are refused."
    found = identify(HIDING, eps=.1, delta=.05, oracle=None, seed=0, missed=.1)
    claim, proof, facts = claim_of(found), found.certificate.proof, facts_of(found)
    drawn = list(facts.drawn)
    assert len(drawn) % BLOCK == 0 and verdict(claim, proof, facts) is None
    for wrong in drawn[1:], drawn[1:] + drawn[1:2], drawn[1:] + [found.rounds]:
        assert 'too few' in verdict(claim, proof, replace(facts, drawn=wrong))
    for share in .999*found.missed, None, 'all':
        assert verdict(replace(claim, told=claim.told | dict(arms=share)), proof, facts)

def test_rules_come_in_blocks_with_the_cheapest_first():
    z = WORLDS['clinic'].setting
    for n in range(3*BLOCK):
        rule, part = search_rule(z, 5, n), n % BLOCK
        most = z.bound*.01**(1 - (part + 1)/BLOCK)
        assert is_proper(rule) and rule.values.max() <= most + 1e-12
        assert rule == search_rule(z, 5, n) != search_rule(z, 6, n)

def draws_needed(p):
    "Draws after which it is said that an arm which answers p of them was seen, at δ = 1."
    z, record, n = replace(WORLDS['clinic'].setting, prior=None), Record(), 0
    record.append(np.zeros((z.M, z.W)), 0, 0)
    while True:
        known = bets.digest(bets.Knowledge(z, None, 1., record))
        if known.missed and known.missed <= p:
            return n
        record.append(search_rule(z, 0, n), 0, 0, kind=SEARCH)
        n += 1

@pytest.mark.parametrize('rare', [.06, .2])
def test_an_arm_is_missed_as_rarely_as_is_said(rare):
    "Exactly: an arm that answers so few rules isn't among the draws with a share LOOK/K of δ = 1."
    n, z = draws_needed(rare), WORLDS['clinic'].setting
    assert (1 - rare)**n <= LOOK/z.K < (1 - rare)**(n - BLOCK - 1)/(1 - rare)**3

def test_a_session_of_a_setting_searches_on_its_own(tmp_path):
    "Its draws are marked, and go on after it is opened again, from the seed in its header."
    world, path = WORLDS['clinic'], tmp_path/'a.jsonl'
    s = Session.create(path, world.setting, eps=.3, delta=.05)
    while s.status == 'open':
        play(s, s.rounds + 9, world, rng=generator(s.rounds))
        s.close()
        s = Session.open(path)
    rounds = [r for r in s.record.rounds if r.kind == SEARCH]
    rules = [s.record.rules[r.rule] for r in rounds]
    seed = s.head['options']['seed']
    fits = [search_rule(world.setting, seed, n).values.max() >= r.max()
            for n, r in enumerate(rules)]
    assert s.result.status == 'certified' and s.verify() and rules and all(fits)
    s.close()

@pytest.mark.parametrize('bad', [dict(method='oiafc'), dict(missed=0), dict(missed=2.),
                                 dict(margin=.01), dict(method='trial')])
def test_what_needs_an_oracle_says_so(bad):
    with pytest.raises(InvalidInput):
        identify(WORLDS['clinic'], eps=.2, delta=.05, oracle=None, seed=0, **bad)
