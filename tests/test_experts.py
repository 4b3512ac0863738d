"""Experts who fear risk, and the lottery after which they don't matter."""
import subprocess
import sys
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import ROOT, examples
from oia_nb.all import (InvalidInput, Rational, RiskAverse, best_reply, generator,
                        identify, lottery, menu_rule, random_world)
from oia_nb.experts import felt, win_probability

AVERSION = st.floats(-8, 8)


@cache
def a_world(W, seed):
    return random_world(3, W, 3, seed, prior='arm', margin=.02)


def drawn(seed):
    "A world with an oracle, and a rule from a random menu."
    rng = generator(21, seed)
    W = int(rng.integers(2, 4))
    world = a_world(W, seed % 8)
    z = world.setting
    menu = z.bound*rng.random((int(rng.integers(1, 6)), W))**2
    return world, menu_rule(z.support, menu, z.bound)


@settings(max_examples=examples(30))
@given(st.integers(0, 10**6), AVERSION, st.floats(.01, 100))
def test_what_is_felt(seed, a, bound):
    """From 0 to the bound, increasing, concave for those who fear risk and convex for those who
    love it."""
    x = np.linspace(0, bound, 41)
    u = felt(x, a, bound)
    assert u[0] == 0 and u[-1] == pytest.approx(bound) and (np.diff(u) >= 0).all()
    bend = np.diff(u, 2)*np.sign(a)
    assert (bend <= 1e-9*bound).all()


@settings(max_examples=examples(20))
@given(st.integers(0, 10**6), AVERSION)
def test_a_lottery_brings_the_rational_agent_back(seed, a):
    world, rule = drawn(seed)
    plain = best_reply(world, rule)
    for agent in RiskAverse(a, lottery=True), RiskAverse(0.):
        reply = agent.best_reply(world, rule)
        assert reply.arm == plain.arm and (reply.reports == plain.reports).all()
        assert reply.profits == pytest.approx(plain.profits, abs=1e-9*world.setting.bound)


@settings(max_examples=examples(20))
@given(st.integers(0, 10**6), AVERSION)
def test_the_reply_is_the_best_of_all(seed, a):
    "By enumeration of every report at every belief, and of every arm."
    world, rule = drawn(seed)
    z = world.setting
    reply = RiskAverse(a).best_reply(world, rule)
    pay = z.support @ felt(rule.values, a, z.bound).T
    best = pay.max(1)
    assert pay[np.arange(z.M), reply.reports] == pytest.approx(best, abs=1e-9*z.bound)
    profits = world.belief_distributions @ best - world.costs
    assert profits[reply.arm] == pytest.approx(profits.max(), abs=1e-8*z.bound)


def test_without_the_lottery_replies_differ():
    """What makes the two tests above worth something: in many of the same cases the cautious
    expert lies or shirks."""
    other = 0
    for seed in range(60):
        world, rule = drawn(seed)
        a, b = RiskAverse(3.).best_reply(world, rule), best_reply(world, rule)
        other += a.arm != b.arm or (a.reports != b.reports).any()
    assert other >= 20


def test_runs_under_the_lottery_are_those_of_the_rational_agent():
    world = random_world(2, 2, 2, 5, prior='arm', margin=.05)
    runs = [identify(replace(world, agent=agent), eps=.1, delta=.1, seed=4)
            for agent in (Rational(), RiskAverse(5., lottery=True))]
    assert runs[0].rounds == runs[1].rounds and (runs[0].rule.values == runs[1].rule.values).all()
    # the loss is told for the rational agent only
    assert runs[0].lost is not None and runs[1].lost is None


def test_a_lottery_pays_the_payment_on_average():
    """To five standard deviations (one false alarm in 10^6); a lottery that paid half as often
    would be off by 40."""
    rng, n = generator(0), 10_000
    for payment in 0., .7, 2.:
        drawn = np.array([lottery(payment, 2., rng) for _ in range(n)])
        p = win_probability(payment, 2.)
        assert set(drawn) <= {0., 2.} and abs(drawn.mean() - payment) <= 5*2*np.sqrt(p*(1 - p)/n)


def test_a_file_may_name_it(tmp_path):
    "Also where nothing has imported its chapter."
    world = replace(random_world(2, 2, 2, 5, prior='arm', margin=.05),
                    agent=RiskAverse(2., lottery=True))
    world.save(tmp_path/'w.json')
    code = 'import sys; from oia_nb.worlds import load_world; print(load_world(sys.argv[1]).agent)'
    told = subprocess.run([sys.executable, '-c', code, tmp_path/'w.json'],
                          capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert told.stdout.strip() == repr(world.agent), told.stderr


@pytest.mark.parametrize('bad', [
    dict(aversion=np.nan),
    dict(aversion=51),
    dict(aversion='much'),
    dict(lottery=None)
])
def test_bad_agents(bad):
    with pytest.raises(InvalidInput):
        RiskAverse(**bad)


@pytest.mark.parametrize('payment', [-.1, 2.1, np.nan, None])
def test_bad_payments(payment):
    with pytest.raises(InvalidInput, match='payment'):
        lottery(payment, 2., generator(0))
