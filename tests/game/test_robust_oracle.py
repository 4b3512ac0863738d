"""Oracles for costs that are only known to lie between two numbers, and the bound that an arm
needs."""
from dataclasses import replace

import numpy as np
import pytest

from conftest import seeded
from oia_nb.all import (NotInducible, action_informed_oracle, generator, make_world, random_world)
from oia_nb.game.information import InformationStructure
from oia_nb.game.oracle import bound_needed, widest_margin
from oia_nb.game.stackelberg import region_margin

def drawn(seed):
    "A random world with an oracle, and a box of costs around its own."
    rng = generator(11, seed)
    world = random_world(int(rng.integers(2, 4)), int(rng.integers(2, 4)), 3, seed,
                         prior='arm', margin=.02)
    low = world.costs*rng.uniform(.6, 1., world.setting.K)
    return world, dict(zip(world.setting.arms, zip(low, world.costs +
                                                   rng.exponential(.01, world.setting.K)))), rng

def with_costs(world, costs):
    return replace(world, structure=InformationStructure(world.structure.joint, costs))

def with_bound(world, bound):
    return replace(world, setting=replace(world.setting, bound=bound))

@seeded(20)
def test_margins_hold_in_the_whole_box(seed):
    """At random costs of the box and at its corners no margin is smaller than promised; at the
    worst corner it is attained."""
    world, box, rng = drawn(seed)
    try:
        oracle = action_informed_oracle(world, costs=box)
    except NotInducible:
        return
    held = replace(world, cost_ranges=list(box.values()))
    assert (action_informed_oracle(held).margins == oracle.margins).all()
    low, high = np.array(list(box.values())).T
    for k, rule in enumerate(oracle.rules):
        worst = np.where(np.arange(len(low)) == k, high, low)
        assert region_margin(with_costs(world, worst), rule,
                             k) == pytest.approx(oracle.margins[k], abs=1e-8)
        assert oracle.margins[k] <= widest_margin(world, k)[0] + 1e-8
        for costs in [rng.uniform(low, high), np.where(rng.random(len(low)) < .5, low, high)]:
            assert region_margin(with_costs(world, costs), rule, k) >= oracle.margins[k] - 1e-8

@seeded(20)
def test_the_bound_needed_is_where_margins_begin(seed):
    world, box, rng = drawn(seed)
    needed = bound_needed(world)
    for k, bound in enumerate(needed.values()):
        assert bound <= world.setting.bound                 # these worlds have an oracle
        if bound > 1e-4:
            assert widest_margin(with_bound(world, 1.001*bound), k)[0] > 0
            assert widest_margin(with_bound(world, .999*bound), k)[0] < 0
    doubtful = bound_needed(world, costs=box)
    assert all(doubtful[a] >= needed[a] - 1e-6 for a in needed)

def test_counted_beliefs():
    """From counts of n cases an arm, margins hold for the true distributions but for a share δ =
    .05 of oracles.

    Of 40 oracles, more than 9 may fail in fewer than one case in 10^4; an oracle of the counts
    alone fails to keep its margins in nearly every one, which this check sees.
    """
    truth = make_world([[[.5, .5]], [[.45, .05], [.05, .45]]], [0., .05], np.eye(2), 1.,
                       arms=['toss', 'look'])
    rng, n = generator(5), 4000
    failed = {'counts': 0, 'alone': 0}
    for _ in range(40):
        q = rng.binomial(n, .5)/n
        joint = [[[.5, .5]], [[.9*q, .1*q], [.1*(1 - q), .9*(1 - q)]]]
        counted = make_world(joint, [0., .05], np.eye(2), 1., arms=['toss', 'look'])
        for name, options in ('counts', dict(cases={'look': n})), ('alone', {}):
            oracle = action_informed_oracle(counted, **options)
            real = [region_margin(truth, type(r)(r.values, truth.setting.support, 1.), k) for k,
                    r in enumerate(oracle.rules)]
            failed[name] += bool((np.array(real) < oracle.margins - 1e-9).any())
    assert failed['counts'] <= 9 and failed['alone'] >= 15
