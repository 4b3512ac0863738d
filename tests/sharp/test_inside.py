"""What the sharp learner believes is true at every step, in worlds that are hostile to it (those of
`benchmarks/attack.py`); and faults that whole runs don't show are seen there."""
from collections import Counter
from contextlib import suppress
import attack
import numpy as np
import pytest
from conftest import amount
from inside import PLANTS, TIES, Looking, hostile, planted
from oia_nb.all import (NotInducible, action_informed_oracle, generator, load_world, random_world,
                        simulate)
from oia_nb.sharp import learner
from oia_nb.sharp.learner import sharp

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
    "A run in a world in which some arms cost as much as others: its result, and which arms do."
    rng = np.random.default_rng([7, seed])
    world = hostile(TIES['random'], rng)
    eps = world.setting.bound*float(np.exp(rng.uniform(np.log(.05), np.log(.6))))
    run = sharp(world.setting, action_informed_oracle(world), eps=eps, delta=1e-9, max_rounds=200)
    return simulate(run, world, seed), run.known.tied

@pytest.mark.parametrize('seed', [138, 175])
def test_equal_costs_explain_a_boundary_that_was_not_thought_of(seed, monkeypatch):
    """Planted: an honest expert is accused where one with such costs would answer the same. Bounds
    of an arm that is proved to cost what the zero rule's costs aren't worked out for ever."""
    found, tied = equal_costs(seed)
    assert found.status == 'certified' and tied
    monkeypatch.setattr(learner, 'some_agent', lambda run: False)
    assert equal_costs(seed)[0].violated == 'boundaries'

@pytest.mark.parametrize('i', [600044, 600054, 600081])
def test_equal_costs_are_found(i):
    "Within 100 rounds; a learner that asked nothing on rays of rules took 950, 665 and 365."
    end, _, rounds, _ = attack.play('ties', i, 0)
    assert end == 'certified' and rounds <= 100

@pytest.mark.parametrize('i', [800051, 800389])
def test_an_examination_in_coins_asks_again_what_was_asked(i):
    "The rules of an oracle may not be in coins. Rounded to them, they had another answer."
    assert attack.play('ties', i, 0)[0] == 'certified'

def test_a_price_of_which_next_to_nothing_is_known_is_the_most():
    "A sample or two lowered the price of a lead by some last bits, which nothing could prove."
    assert attack.play('ties', 801546, 0)[0] == 'round_cap'

def looked(W, seed, **how):
    "What was compared in a run with a cap."
    world = random_world(2, W, 3, generator(17, seed), prior='arm', max_cost=.1)
    run = sharp(world.setting, action_informed_oracle(world), eps=.03, delta=1e-8,
                max_rounds=amount(60, 150), examined=False)
    looking = Looking(run, world, **how)
    simulate(looking, world, seed)
    return looking.looked

@pytest.mark.parametrize('W', [2, 3])
@pytest.mark.parametrize('fault', PLANTS)
def test_faults_are_seen_within_a_dozen_runs(fault, W):
    "What the learner itself takes for enough, whatever the checker says of it."
    with planted(fault), pytest.raises(AssertionError, match=PLANTS[fault][0]):
        for seed in range(12):
            with suppress(NotInducible):
                looked(W, seed)

@pytest.mark.parametrize('W', [2, 3])
def test_without_a_fault_nothing_is_seen(W):
    "The same runs; a claim fails in fewer than one of a million."
    found = Counter()
    for seed in range(amount(2, 40)):
        with suppress(NotInducible):
            found += looked(W, seed, asks=False)
    assert found['bounds'] and found['claims'] > 6 and not found['passed']

def test_a_hasty_prover_is_refused():
    """Whatever the finder can find, an adversary who knows the truth: of each candidate less is
    claimed than it loses."""
    world = load_world('clinic')
    run = sharp(world.setting, action_informed_oracle(world), eps=.1, delta=1e-6)
    looking = Looking(run, world, often=1, shares=(.98, .5))
    simulate(looking, world, 7)
    assert looking.looked['claims'] > 40
