"""The bounds on rounds against what they are proved of: agents that fit all answers, and runs."""
from dataclasses import replace

import numpy as np
import pytest
from chapter import rules_needed
from inside import Kept
from scipy.linalg import null_space

from oia_nb.all import (action_informed_oracle, generator, load_world, make_world, optimal_rule,
                        sharp, simulate)
from oia_nb.game.scoring import brier

LOOK, TEST = [[.5, .5]], [[.4, .1], [.1, .4]]
TWO = make_world([LOOK, TEST], [0., .1], np.eye(2), bound=1.)

def fitting(payments):
    "Functions (v, w), ⟨v, 1⟩ = 0, that vanish at all payments (n, M): a basis (d, M + 1)."
    M = payments.shape[1]
    rows = np.vstack([np.c_[payments, np.ones(len(payments))], np.append(np.ones(M), 0.)])
    return null_space(rows, rcond=1e-9).T

@pytest.mark.parametrize('name', ['clinic', 'wine', 'two'])
def test_too_few_rules_leave_an_agent_that_fits(name):
    """After M - 1 rules some agent answers each of them as the true one did, and answers a rule
    that is too good as well; after M rules in general position there is none of the kind."""
    world = TWO if name == 'two' else load_world(name)
    z, best, eps = world.setting, optimal_rule(world), .04
    assert rules_needed(world, eps, .05) == pytest.approx(.95*max(z.M - z.K, 0))
    earned = world.belief_distributions @ z.belief_utility
    j = int(earned.argmax())
    full = .5*brier(z.support, z.bound).values + .25*z.bound
    rng = generator(4)
    noise = [full + 1e-5*z.bound*rng.uniform(-1, 1, (z.M, 1)) for _ in range(z.M)]
    asked = np.array([(z.support*values).sum(1) for values in noise])
    assert len(fitting(asked)) == 0
    for kept in (np.delete(asked, i, 0) for i in range(z.M)):
        (line,) = fitting(kept)
        ell = lambda s: s @ line[:-1] + line[-1]
        size = .5*(earned[j] - best.profit - eps)/(world.belief_distributions[j] @ asked[0])
        tempting = size*asked
        at = np.abs(ell(tempting)).argmax()
        assert earned[j] - world.belief_distributions[j] @ tempting[at] > best.profit + eps
        theta = 10*z.bound/ell(tempting[at])
        g = world.belief_distributions @ tempting[at] - world.costs
        g[j] += theta*ell(tempting[at])
        assert g.argmax() == j
        assert np.abs(theta*ell(kept)).max() <= 1e-3*z.bound
        assert abs(line[:-1].sum()) <= 1e-9

def test_a_sharp_run_asks_them():
    """A certified run asks as many rules as learners must that prove their boundaries by answers.
    They and its oracle leave no agent of the kind; the oracle's rules alone, as of a learner that
    certifies at once, do."""
    world = load_world('clinic')
    world = replace(world, setting=replace(world.setting, prior=None))
    oracle = action_informed_oracle(world)
    run = Kept(sharp(world.setting, oracle, eps=.04, delta=.1, examined=False))
    assert simulate(run, world, 0).status == 'certified'
    asked = {rule.values.tobytes(): rule.expected for rule in run.rules}
    assert len(asked) >= rules_needed(world, .04, .1) > 0
    promised = [rule.expected for rule in oracle.rules]
    assert len(fitting(np.array([*asked.values(), *promised]))) == 0
    assert len(fitting(np.array(promised))) == world.setting.M - world.setting.K
