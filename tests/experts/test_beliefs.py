"""An expert whose beliefs are its own, and the learner that counts what follows a report."""
from dataclasses import replace
from functools import partial
import numpy as np
import pytest
from hypothesis import strategies as st
from scipy.optimize import nnls
from conftest import amount, seeded
from inside import Looking
from oia_nb.all import (InvalidInput, ScoringRule, Told, action_informed_oracle, generator,
                        is_proper, load_world, random_world, sharp, simulate)
from oia_nb.experts.told import Outcomes, check_heard
from oia_nb.paper.estimation import INIT, Transcript
from oia_nb.experts.examination import fresh_rule
from oia_nb.experts.experts import Rounded, Subjective, best_known
from oia_nb.game.oracle import check_oracle
from oia_nb.game.scoring import VRules
from oia_nb.sharp.hyperplanes import RegionProgram
from oia_nb.sharp.learner import own_beliefs
from oia_nb.experts.told import as_told, heard_as
from oia_nb.verify import v_tables

DUO = random_world(2, 2, 2, 28, prior='arm', margin=.05, name='duo')
TRIO = random_world(3, 3, 2, 4, prior='arm', margin=.05, name='trio')

def pairs_of(world, told='beliefs=own'):
    return Outcomes(Transcript(world.setting), as_told(told))

@seeded(60)
def test_a_program_on_pairs(seed):
    "Its rule is proper and attains the value; weights that are beliefs' give the value on beliefs."
    z, rng, seen = TRIO.setting, generator(80, seed), pairs_of(TRIO)
    p = rng.normal(size=z.M*z.W)
    found = RegionProgram(z, outcomes=seen).minimum(np.tensordot(p, seen.out, 1))
    assert is_proper(found.rule) and found.bound <= found.value + 1e-9
    assert p @ seen.paid(found.rule) == pytest.approx(found.value, abs=1e-7)
    m = rng.normal(size=z.M)
    pairs = (m[:, None]*z.support).ravel()
    on_tables = np.tensordot(pairs, seen.out, 1)
    assert RegionProgram(z, outcomes=seen).minimum(on_tables).value == pytest.approx(
        RegionProgram(z).minimum(m).value, abs=1e-7)

@seeded(60)
def test_tables_are_sums_of_v_tables(seed):
    "`lem-v-tables`: of proper rules drawn at random, and of what they pay at outcomes."
    rng = generator(83, seed)
    world = random_world(2, 2, 3, rng, prior='arm')
    z, seen = world.setting, pairs_of(world)
    rule, T = fresh_rule(z, rng), v_tables(z.support[:, 0])
    weights, rest = nnls(T.reshape(len(T), -1).T, rule.values.ravel())
    assert rest < 1e-9*z.bound and (weights >= 0).all()
    D = np.array([r.expected for r in VRules(z.support).rules(z.support, 1.)])
    paid, of = seen.tables(D)
    assert np.allclose([seen.behind(x) for x in paid], D[of]) and set(of) == set(range(z.M))

def test_outcomes_are_counted():
    z, rng = TRIO.setting, generator(84)
    data = Transcript(z)
    seen = Outcomes(data, Told(beliefs='own'))
    zero = ScoringRule(np.zeros((z.M, z.W)), z.support, z.bound)
    for n in range(30):
        r = TRIO.respond(zero, rng)
        data.record(r.arm, z.index(r.report), zero.expected, state=r.state, kind=INIT)
        if n == 12:
            assert seen.counts.sum() == 13
    came = np.zeros(seen.counts.shape)
    for k, i, w in zip(data.arms, data.beliefs, data.states):
        came[k, seen.place[i, w]] += 1
    assert (came == seen.counts).all() and seen.counts.sum() == 30
    assert np.allclose(seen.shares.sum(1)[seen.counts.any(1)], 1)

def bounds_of(world, learner):
    "How many bounds a run ends with, all of which agree with the world's leads; and its result."
    found, looking = simulate(learner, world, 0), Looking(learner, world)
    known = learner.known
    for pair, wall in known.walls.items():
        looking.wall(known, wall, *pair)
    return looking.looked['bounds'], found

@pytest.mark.parametrize('world, prior', [(DUO, False), (TRIO, False), (DUO, True)],
                         ids=['duo', 'trio', 'a prior that beliefs do not average to'])
def test_boundaries_hold_whatever_beliefs_are_worth(world, prior):
    setting = replace(world.setting, prior=world.structure.priors[0] if prior else None)
    bounds, found = bounds_of(replace(world, agent=Subjective(2.)), own_beliefs(
        setting, action_informed_oracle(world), eps=.02, delta=.1, told='beliefs=own',
        max_rounds=amount(60, 200)))
    assert bounds and found.violated is None

# --- Rounded reports -----------------------------------------------------------------------

@seeded(60, st.integers(0, 2))
def test_rounding_bends_no_boundary(seed, digits):
    "`prop-heard`: what each arm is worth to who rounds, and what the principal earns."
    rng = generator(82, seed)
    world = random_world(2, 2, 3, rng, prior='arm')
    z, q = world.setting, world.belief_distributions
    if max(np.bincount(heard_as(z.support, digits))) > z.W:
        with pytest.raises(InvalidInput):
            check_heard(z, Told(beliefs='own', rounding=digits))
        return
    seen, agent = pairs_of(world, f'beliefs=own,rounding={digits}'), Rounded(digits)
    rule = fresh_rule(z, rng)
    policy = agent.policy(world, rule)
    assert policy.profits == pytest.approx(q @ seen.expected(rule) - world.costs)
    p, heard = np.zeros((z.K, len(seen.u))), policy.reports[0].argmax(1)
    for i, w in np.ndindex(z.M, z.W):
        p[:, seen.place[heard[i], w]] += q[:, i]*z.support[i, w]
    assert agent.leaves(world, rule, policy.reports) == pytest.approx(
        p @ (seen.u - seen.paid(rule)))
    assert np.linalg.matrix_rank(seen.pays.reshape(z.M, -1)) == z.M

def best_for(world, digits):
    "What the best rule earns from an expert who rounds, by a program in which all is known."
    z, q, c = world.setting, world.belief_distributions, world.costs
    seen, found = pairs_of(world, f'beliefs=own,rounding={digits}'), []
    heard = heard_as(z.support, digits)
    for k in range(z.K):
        cuts = [(q[k] - q[j], c[k] - c[j]) for j in range(z.K) if j != k]
        p = np.zeros(len(seen.u))
        np.add.at(p, seen.place[heard, :z.W].ravel(), (q[k][:, None]*z.support).ravel())
        least = RegionProgram(z, cuts, None, seen).minimum(np.tensordot(p, seen.out, 1))
        found += [] if least is None else [p @ seen.u - least.value]
    return max(found)

COARSE = random_world(2, 2, 2, 1, prior='arm', margin=.05, name='coarse')
BLUNT = replace(COARSE, agent=Rounded(0))
# the surest beliefs are paid in the other state, so that it matters how they are heard
ROUGH = check_oracle(COARSE, [
    ScoringRule(values, COARSE.setting.support, 1.)
    for values in ([[0., .0641], *3*[[1., 0.]]], [*3*[[0., 1.]], [.0682, 0.]])])

def test_the_best_rule_for_who_rounds():
    "The program is at least as good as any rule that is tried, and as what is known without."
    best, rng = best_for(COARSE, 0), generator(85)
    rules = [*ROUGH.rules, *(fresh_rule(COARSE.setting, rng) for _ in range(60))]
    assert best >= max(BLUNT.agent.profit(BLUNT, r) for r in rules) - 1e-9
    assert best >= best_known(BLUNT) - 1e-6
    assert best_for(DUO, 15) == pytest.approx(best_known(DUO), abs=1e-6)

@pytest.mark.parametrize('eps', amount([.05], [.05, .02]))
def test_right_about_who_rounds(eps):
    "At a δ at which a wrong claim is a fault, and not bad luck."
    best = best_for(COARSE, 0)
    for seed in range(3):
        found = simulate(own_beliefs(COARSE.setting, ROUGH, eps=eps, delta=1e-6, told='rounding=0',
                                     examined=False), BLUNT, seed)
        loss = best - BLUNT.agent.profit(BLUNT, found.rule)
        assert found.status == 'certified' and loss <= found.certificate.bound <= eps
        assert found.profit <= BLUNT.agent.profit(BLUNT, found.rule)

def test_boundaries_hold_where_reports_are_rounded():
    bounds, found = bounds_of(BLUNT, own_beliefs(BLUNT.setting, ROUGH, eps=.05, delta=.1,
                                                 told='rounding=0', max_rounds=300))
    assert bounds and found.status == 'certified' and is_proper(found.rule)
    assert 'every probability to 0 decimals' in found.statement

@pytest.mark.parametrize('make, told, more, says', [
    (sharp, 'rounding=2', {}, '4 or more for these beliefs.*own_beliefs'),
    (own_beliefs, 'rounding=1', {}, '3 beliefs are heard as'),
    (own_beliefs, 'rounding=2', dict(margin=.005), 'margin')])
def test_what_of_rounding_is_refused(make, told, more, says):
    clinic = load_world('clinic')
    make = partial(make, clinic.setting, action_informed_oracle(clinic), eps=.1, delta=.1, **more)
    with pytest.raises(InvalidInput, match=says):
        make(told=told)
    make(told='rounding=4')

def test_a_belief_that_may_be_heard_as_this_or_that_is_refused():
    setting = replace(DUO.setting, support=[[.125, .875], [.13, .87], [.9, .1]])
    with pytest.raises(InvalidInput, match=r'halves are rounded: here \[0.125, 0.875\] \(3'):
        check_heard(setting, Told(beliefs='own', rounding=2))

@pytest.mark.parametrize('digits', [1, 15])
def test_a_report_that_nobody_makes_who_rounds_as_told_ends_the_run(digits):
    world = replace(COARSE, agent=Rounded(digits))
    found = simulate(own_beliefs(COARSE.setting, ROUGH, eps=.05, delta=.5, told='rounding=0',
                                 examined=False), world, 0)
    assert found.status == 'assumption_violated' and found.violated == 'rounding'
    assert found.certificate is None and found.contradiction == (found.rounds, )
