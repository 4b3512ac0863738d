"""What the sharp learner believes is true at every step, in worlds that are hostile to it; and
faults that whole runs don't show are seen there.

The worlds, what is asked and told in them, and the judge are those of `benchmarks/attack.py`, by
which anybody may play some thousands more.
"""
import importlib.util
import numpy as np
import pytest
from conftest import ROOT, amount
from inside import PLANTS, Looking, planted
from oia_nb.all import (NotInducible, action_informed_oracle, generator, load_world, make_world,
                        random_world, simulate)
from oia_nb.sharp import learner
from oia_nb.sharp.learner import sharp

spec = importlib.util.spec_from_file_location('attack', ROOT/'benchmarks'/'attack.py')
attack = importlib.util.module_from_spec(spec)
spec.loader.exec_module(attack)

pytestmark = pytest.mark.filterwarnings('ignore:.* lead to a belief')
FINE = {'certified', 'round_cap', 'lead_too_dear', 'no world', 'refused', 'slow'}
RUNS = dict(sure=amount(16, 300), ties=amount(5, 300), shipped=amount(3, 20))

@pytest.mark.parametrize('kind', RUNS)
def test_nothing_false_is_believed_or_said(kind):
    "At δ = 1e-9, so that a failure is a bug; and no honest expert is accused."
    said = []
    ends = attack.campaign(kind, range(RUNS[kind]), 0, say=lambda *a, **_: said.append(a))
    assert set(ends) <= FINE, said

def equal_costs(seed):
    "A world in which some arms cost as much as others, and the accuracy to be asked for."
    rng = np.random.default_rng([7, seed])
    for attempt in range(60):
        K, signals = int(rng.integers(2, 6)), int(rng.integers(2, 5))
        try:
            w = random_world(K, 2, signals, int(rng.integers(1e9)), tries=1)
            costs = np.array(w.costs)
            if attempt % 3 == 0:
                costs[:] = costs.max()
            elif attempt % 3 == 1:
                costs[costs.argsort()[:2]] = costs.min()
            else:
                costs = costs.round(1)
            w = make_world(w.structure.joint, costs, w.setting.utility, w.setting.bound)
            action_informed_oracle(w)
        except NotInducible:
            continue
        return w, float(np.exp(rng.uniform(np.log(.05), np.log(.6)))*w.setting.bound)

@pytest.mark.parametrize('seed', amount([313, 782], [313, 782, 925]))
def test_equal_costs_explain_a_boundary_that_was_not_thought_of(seed, monkeypatch):
    "Planted: an honest expert is accused where one with such costs would answer the same."
    world, eps = equal_costs(seed)
    play = lambda: simulate(sharp(world.setting, action_informed_oracle(world), eps=eps,
                                  delta=1e-9, max_rounds=200), world, seed)
    assert play().status == 'certified'
    monkeypatch.setattr(learner, 'some_agent', lambda run: False)
    assert play().violated == 'boundaries'

def test_bounds_of_a_tied_arm_are_not_worked_out_for_ever():
    "In this world an arm is proved to cost what the zero rule's costs."
    world, eps = equal_costs(581)
    learner = sharp(world.setting, action_informed_oracle(world), eps=eps, delta=1e-9,
                    max_rounds=200)
    assert simulate(learner, world, 581).status == 'certified' and learner.known.tied

def looked(W, seed, **how):
    "What was compared in a run with a cap."
    world = random_world(2, W, 3, generator(17, seed), prior='arm', max_cost=.1)
    run = sharp(world.setting, action_informed_oracle(world), eps=.03, delta=1e-8,
                max_rounds=amount(40, 150), examined=False)
    looking = Looking(run, world, **how)
    simulate(looking, world, seed)
    return looking.looked

@pytest.mark.parametrize('W', [2, 3])
@pytest.mark.parametrize('fault', PLANTS)
def test_faults_are_seen_within_a_dozen_runs(fault, W):
    "What the learner itself takes for enough, whatever the checker says of it."
    with planted(fault), pytest.raises(AssertionError, match=PLANTS[fault][0]):
        for seed in range(12):
            looked(W, seed)

@pytest.mark.parametrize('W', [2, 3])
def test_without_a_fault_nothing_is_seen(W):
    "The same runs; a claim fails in fewer than one of a million."
    for seed in range(amount(2, 40)):
        found = looked(W, seed, asks=False)
        assert found['bounds'] and found['claims'] > 10 and not found['passed']

def test_a_hasty_prover_is_refused():
    """Whatever the finder can find, an adversary who knows the truth: of each candidate less is
    claimed than it loses."""
    world = load_world('clinic')
    run = sharp(world.setting, action_informed_oracle(world), eps=.1, delta=1e-6)
    looking = Looking(run, world, often=1, shares=(.98, .9, .5))
    simulate(looking, world, 7)
    assert looking.looked['claims'] > 60
