"""The bandit algorithms: their guarantees by Monte Carlo, their contract as coroutines, what
they compute against other ways to compute it.

Each Monte-Carlo test states the number n of runs and compares failures with the 1 - 1e-6
quantile of the binomial distribution with the probability of failure
that is allowed: its false-alarm rate is at most 1e-6 each. It is red where every run names the
worst arm; that n runs suffice for this is part of the test.
"""
from itertools import product

import numpy as np
import pytest
from conftest import amount
from laws import FALSE_ALARM, detection, most_failures, statistical
from scipy.optimize import minimize
from oia_nb.all import (Oracle, action_informed_oracle, make_world, mix, optimal_rule, random_world,
                        simple_regret, simulate)
from oia_nb.oracle import check_oracle
from oia_nb.core import InvalidInput, OIAError, generator
from oia_nb.best_arm import (BUDGET_ALGORITHMS, CONFIDENCE_ALGORITHMS, BoundedRewards,
                             GaussianRewards, Pulls, bandit_algorithm,
                             bernoulli_bandit, best_arm_learner, finite_bandit,
                             fixed_budget_error, gap_index, gaussian_bandit,
                             joint_threshold, kl_lucb, lil_ucb, lucb,
                             median_elimination, median_phases, optimal_proportions,
                             oracle_loss, pair_evidence, pick_pair,
                             pick_surest, pick_survivors, play_bandit, reward_family,
                             sequential_halving, successive_elimination,
                             successive_rejects, track_and_stop, ugape_hardness,
                             ugapeb, ugapec)

def names_the_worst(n, delta, comparisons=1):
    "Registers a test of n runs at δ, which is red if all of them name the worst arm."
    return statistical(false_alarm=comparisons*FALSE_ALARM, planted='names the worst arm',
                       power=lambda: detection(n, delta, 1.))

def skewed(means, low=-1., high=3.):
    "Three values an arm, in [low, high], neither Bernoulli nor symmetric."
    p = (np.array(means) - low)/(high - low)
    probabilities = np.c_[1 - p - .5*np.minimum(p, 1 - p),
                          np.minimum(p, 1 - p), p - .5*np.minimum(p, 1 - p)]
    return finite_bandit(np.tile([low, (low + high)/2, high], (len(p), 1)), probabilities)

def gaussian(means):
    return gaussian_bandit(means, .5)

BY_CONFIDENCE = dict(
    elimination=lambda K, f, eps, d: successive_elimination(K, eps=eps, delta=d, family=
                                                            f),
    lucb=lambda K, f, eps, d: lucb(K, eps=eps, delta=d, family=f),
    kl_lucb=lambda K, f, eps, d: kl_lucb(K, eps=eps, delta=d, family=f),
    ugapec=lambda K, f, eps, d: ugapec(K, eps=eps, delta=d, family=f),
    track=lambda K, f, eps, d: track_and_stop(K, eps=eps, delta=d, family=f),
    lucb_mixture=lambda K, f, eps, d: lucb(K, eps=eps, delta=d, family=f, rate='mixture'
                                           ), kl_lucb_mixture=lambda K, f, eps, d:
    kl_lucb(K, eps=eps, delta=d, family=f, rate='mixture'),
    elimination_mixture=lambda K, f, eps, d: successive_elimination(
        K, eps=eps, delta=d, family=f, rate='mixture'))
BANDITS = dict(bernoulli=bernoulli_bandit([.2, .85, .4]),
               gaussian=gaussian([.2, .85, .4]), skewed=skewed([0., 2.4, .6]))

# --- Guarantees -----------------------------------------------------------------------

# every algorithm with every bandit; without --release each has one or two
PAIRS = list(product(BY_CONFIDENCE, BANDITS))[::amount(2, 1)]

@pytest.mark.parametrize('algorithm, bandit', PAIRS)
@names_the_worst(8, .1, comparisons=2*len(BANDITS)*len(BY_CONFIDENCE))
def test_the_best_arm_with_confidence(algorithm, bandit):
    """n = 8 runs at δ = 0.1: the arm is the best, ε being less than any gap; what is proved of
    it is true."""
    make, bandit = BY_CONFIDENCE[algorithm], BANDITS[bandit]
    n, delta = 8, .1
    runs = [
        play_bandit(make(3, bandit.family, .1, delta), bandit, generator(100, i))
        for i in range(n)
    ]
    assert all(r.status == 'certified' for r in runs)
    assert sum(r.arm != 1 for r in runs) <= most_failures(n, delta) < n
    loss = np.ptp(bandit.means)         # of the worst arm, which no bound below ε allows for
    assert sum(bandit.means.max() - bandit.means[r.arm] > r.bound + 1e-12
               for r in runs) <= most_failures(n, delta) < sum(loss > r.bound for r in runs)
    for r in runs:
        assert r.pulls == r.counts.sum() and r.bound <= .1

FEW = amount(12, 25)

@pytest.mark.parametrize('name, bandit, n',
                         [('lucb_mixture', gaussian_bandit([.1, 0.], .3), amount(FEW, 40)),
                          ('elimination_mixture', gaussian_bandit([.1, 0.], .3), amount(FEW, 40)),
                          ('kl_lucb_mixture', bernoulli_bandit([.6, .4]), FEW),
                          ('track', gaussian_bandit([.15, 0.], .3), FEW)])
@names_the_worst(FEW, .05, comparisons=4)
def test_close_calls(name, bandit, n):
    """Two arms that are close, so that there are hundreds of chances to stop too early: the
    exact best arm in n = 12 runs (25 or 40 with --release) at δ = 0.05."""
    runs = [
        play_bandit(BY_CONFIDENCE[name](2, bandit.family, 0., .05), bandit,
                    generator(101, i)) for i in range(n)
    ]
    assert sum(r.arm != 0 for r in runs) <= most_failures(n, .05) < n

@pytest.mark.parametrize('make', BY_CONFIDENCE.values(), ids=BY_CONFIDENCE)
@names_the_worst(8, .1, comparisons=len(BY_CONFIDENCE))
def test_ties_stop_with_an_accuracy(make):
    """Three arms, two of them equal and best: with ε = 0.4 all stop, and n = 8 runs at δ = 0.1
    are within ε of the best."""
    bandit = bernoulli_bandit([.7, .1, .7])
    runs = [
        play_bandit(make(3, bandit.family, .4, .1), bandit, generator(102, i))
        for i in range(8)
    ]
    assert all(r.status == 'certified' for r in runs)
    assert sum(r.arm == 1 for r in runs) <= most_failures(8, .1) < 8

@names_the_worst(12, .3)
def test_median_elimination():
    """n = 12 runs at ε = 0.75, δ = 0.3 on five arms: within ε, after a number of pulls that is
    known beforehand; scales with the range."""
    bandit = bernoulli_bandit([.1, .15, .95, .1, .3])
    runs = [
        play_bandit(median_elimination(5, eps=.75, delta=.3), bandit, generator(103, i))
        for i in range(12)
    ]
    assert {r.pulls
            for r in runs
            } == {sum(k*n for k, n in median_phases(5, .75, .3, BoundedRewards()))}
    assert np.ptp(bandit.means) > .75
    assert sum(.95 - bandit.means[r.arm] > .75 for r in runs) <= most_failures(12, .3) < 12
    assert median_phases(6, .1, .1, BoundedRewards()) == median_phases(
        6, 1., .1, BoundedRewards(-2., 8.)) == median_phases(6, .2, .1,
                                                             GaussianRewards(1.))

@pytest.mark.parametrize(
    'bandit', [bernoulli_bandit([.1, .9]),
               gaussian([.1, .9]),
               skewed([-.5, 2.6])], ids=['bernoulli', 'gaussian', 'skewed'])
@names_the_worst(20, .3, comparisons=3)
def test_lil_ucb(bandit):
    "n = 20 runs at δ = 0.3; the winner has 9 times the pulls of all others."
    runs = [
        play_bandit(lil_ucb(2, delta=.3, family=bandit.family), bandit,
                    generator(104, i)) for i in range(20)
    ]
    assert sum(r.arm != 1 for r in runs) <= most_failures(20, .3) < 20
    assert all(r.counts[r.arm] >= 1 + 9*(r.pulls - r.counts[r.arm]) for r in runs)

@pytest.mark.parametrize('algorithm, K, budget', [(successive_rejects, 4, 120),
                                                  (successive_rejects, 5, 200),
                                                  (sequential_halving, 4, 700),
                                                  (sequential_halving, 8, 2600)])
@names_the_worst(25, .5, comparisons=4)
def test_error_at_a_fixed_budget(algorithm, K, budget):
    """n = 100 or 25 runs against the proved bound, which says something; the budget is kept and,
    but for rounding, used."""
    bandit = bernoulli_bandit(np.insert(np.full(K - 1, .3), K//2, .8))
    bound = fixed_budget_error(bandit.means, budget, algorithm.__name__)
    assert bound < .5
    n = 100 if algorithm is successive_rejects else 25
    runs = [play_bandit(algorithm(K, budget=budget), bandit, generator(105, i)) for i in range(n)]
    assert all(budget - K*np.log2(2*K) <= r.pulls <= budget and r.status == 'budget' for r in runs)
    assert sum(r.arm != K//2 for r in runs) <= most_failures(n, bound) < n

@names_the_worst(25, .25)
def test_ugapeb_with_a_range():
    """n = 25 runs on rewards in [-1, 3]: the theorem's bound, with H in units of the range; what
    is proved of the arm is true as often as it is said."""
    bandit = skewed([-.2, 2.4])
    T = 260
    a = .999*(T - 2)/(4*ugape_hardness(bandit.means, .3, width=4.))
    runs = [
        play_bandit(ugapeb(2, budget=T, a=a, family=bandit.family), bandit,
                    generator(106, i)) for i in range(25)
    ]
    delta = 2*2*T*np.exp(-2*a)
    assert delta < .25 and all(r.pulls == T for r in runs) and np.ptp(bandit.means) > .3
    assert sum(bandit.means.max() - bandit.means[r.arm] >= .3
               for r in runs) <= most_failures(25, delta) < 25
    assert runs[0].delta == pytest.approx(delta)

@statistical(false_alarm=FALSE_ALARM, planted='a quarter of the threshold',
             power=lambda: detection(400, .3, .8))
def test_thresholds_hold_at_all_times():
    """n = 400 pairs of sequences of 400 skewed rewards each at δ = 0.3: the joint threshold of
    the two is exceeded, ever, in no more than δ of them; a quarter of it in more than .8."""
    n, bandit, N, rng = 400, skewed([-.6, 1.8]), np.arange(1., 401), generator(107)
    total, d = np.zeros((n, 400)), bandit.family.d
    for k in range(2):
        values, p = [-1., 1., 3.], (bandit.means[k] + 1)/4
        probabilities = [1 - p - .5*min(p, 1 - p), min(p, 1 - p), p - .5*min(p, 1 - p)]
        total += N*d(rng.choice(values, (n, 400), p=probabilities).cumsum(1)/N, bandit.means[k])
    threshold = np.array([joint_threshold(bandit.family, [m, m], .3) for m in N])
    exceeded = lambda share: (total > share*threshold).any(1).sum()
    assert exceeded(1.) <= most_failures(n, .3) < .8*n < exceeded(.25)

# --- What is computed -----------------------------------------------------------------

def test_intervals_are_inverses_of_the_distance():
    rng = generator(110)
    for family in BoundedRewards(-2., 5.), GaussianRewards(.8):
        mean = np.r_[rng.uniform(-2, 5, 300), -2., 5.] if family.low > -9 else rng.normal(size=302)
        level = np.r_[rng.exponential(size=300)*10.**rng.uniform(-4, 1.5, 300), .2, .2]
        for end, side in zip(family.interval(mean, level), (-1, 1)):
            assert ((end-mean)*side >= 0).all() and (end >= family.low).all() and (
                end <= family.high).all()
            inner = (end - family.low > 1e-9) & (
                family.high - end > 1e-9) if family.low > -9 else np.ones(302, bool)
            assert np.allclose(family.d(mean, end)[inner], level[inner], rtol=1e-4, atol=1e-9)
    low, high = BoundedRewards().interval(np.array([0., .5]), np.array([0., 0.]))
    assert np.allclose(low, [0, .5]) and np.allclose(high, [0, .5])

def test_gap_index_and_picks():
    "Against what they say, on random intervals."
    for i in range(200):
        rng = generator(115, i)
        K = int(rng.integers(2, 6))
        s, mean, radius = Pulls(K, GaussianRewards()), rng.normal(size=K), rng.exponential(size=K)
        s.counts, s.sums = np.ones(K), mean.copy()
        L, U = mean - radius, mean + radius
        B = [max(U[i] for i in range(K) if i != k) - L[k] for k in range(K)]
        assert np.allclose(gap_index(L, U), B)
        J, pair = pick_pair(s, L, U)
        assert mean[J] == mean.max() and pair[0] == J and U[pair[1]] == max(
            U[k] for k in range(K) if k != J)
        s.counts = rng.integers(1, 4, K).astype(float)
        J, (one,) = pick_surest(s, L, U)
        c = max((k for k in range(K) if k != J), key=lambda k: U[k])
        assert B[J] == pytest.approx(
            min(B)) and one in (J, c) and s.counts[one] == s.counts[[J, c]].min()
        s.counts = np.ones(K)
        J, left = pick_survivors(s, L, U.copy())
        assert left.tolist() == [k for k in range(K) if U[k] >= L.max()
                                 ] and mean[J] == mean[left].max()
        # what is dropped stays dropped
        assert pick_survivors(s, L - 9, U + 9)[1].tolist() == left.tolist()

def test_shares_of_a_budget():
    """Successive rejects gives the arm dropped k-th n_k pulls; sequential halving shares each
    round equally."""
    for i, (K, T) in enumerate([(2, 30), (4, 100), (5, 61), (7, 500)]):
        bandit = bernoulli_bandit(generator(116, i).uniform(size=K))
        log_bar = .5 + sum(1/j for j in range(2, K + 1))
        n = [int(np.ceil((T - K)/(log_bar*(K + 1 - k)))) for k in range(1, K)]
        assert sorted(play_bandit(successive_rejects(K, budget=T), bandit, i).counts) == [*n, n[-1]]
        left, expected, rounds = K, np.zeros(K, int), int(np.ceil(np.log2(K)))
        for _ in range(rounds):
            expected[:left] += T//(left*rounds)
            left = (left + 1)//2
        assert sorted(play_bandit(sequential_halving(K, budget=T), bandit,
                                  i).counts) == sorted(expected)

def test_proportions_by_another_solver():
    """Three arms: the maximum over the simplex by Nelder and Mead; the closed form for two;
    symmetry; units."""
    for i in range(6):
        rng = generator(111, i)
        family = [BoundedRewards(-1., 1.), GaussianRewards(1.5)][i % 2]
        means = rng.uniform(-.9, .9, 3)
        w, T = optimal_proportions(means, family)
        best = means.argmax()
        def proved(x):
            v = np.exp(np.r_[0., x])
            v /= v.sum()
            return min(
                pair_evidence(family, means[best], v[best], means[a], v[a])
                for a in range(3) if a != best)

        found = minimize(lambda x: -proved(x),
                         np.log(w[1:]/w[0]) + .1, method='Nelder-Mead',
                         options=dict(xatol=1e-8, fatol=1e-12))
        assert -found.fun*T == pytest.approx(1, abs=1e-5)
        order = rng.permutation(3)
        assert np.allclose(optimal_proportions(means[order], family)[0], w[order], atol=1e-6)
    for delta, sigma in (.1, 1.), (3., .4):
        assert optimal_proportions([0., delta],
                                   GaussianRewards(sigma))[1] == pytest.approx(
                                       8*sigma**2/delta**2)
    w, T = optimal_proportions([.5, .2, .5], BoundedRewards())
    assert T == np.inf and w.tolist() == [.5, 0., .5]
    assert optimal_proportions([-2.3, 1.6],
                               BoundedRewards(-3., 2.))[1] == pytest.approx(
                                   optimal_proportions([.14, .92], BoundedRewards())[1])

def test_tracking():
    """After 2500 pulls that nothing stops, the shares of Bernoulli arms are the optimal ones
    within 0.07."""
    bandit = bernoulli_bandit([.3, .8, .6])
    found = play_bandit(track_and_stop(3, delta=1e-300, max_pulls=2500), bandit, 112)
    assert found.status == 'round_cap' and np.abs(
        found.counts/2500
        - optimal_proportions(bandit.means, bandit.family)[0]).max() < .07

def test_evidence_of_pairs():
    """The minimum over a grid of pairs; more evidence for a larger ε; none if the rival looks
    better."""
    family, x = BoundedRewards(), np.linspace(1e-5, 1 - 1e-5, 4001)
    for i in range(40):
        rng = generator(113, i)
        a, b, N, M = *rng.choice(np.r_[0., 1., rng.uniform(size=3)], 2), *rng.integers(1, 40, 2)
        for eps in 0., .15:
            inside = x[x + eps < 1]
            least = (N*family.d(a, inside) + M*family.d(b, inside + eps)).min()
            z = pair_evidence(family, a, N, b, M, eps)
            if a + eps <= b:
                assert z == 0
            else:
                assert z == pytest.approx(least, abs=.02) and z <= least + 1e-6
        assert pair_evidence(family, a, N, b, M, .15) >= pair_evidence(family, a, N, b, M) - 1e-9

def test_bandits():
    "Draws have the means that are stated, within five standard errors."
    for bandit in BANDITS.values():
        rng = generator(114)
        for k in range(3):
            draws = np.array([bandit.draw(k, rng) for _ in range(4000)])
            assert abs(draws.mean() - bandit.means[k]) < 5*draws.std()/4000**.5
            assert draws.min() >= bandit.family.low and draws.max() <= bandit.family.high

# --- Coroutines -----------------------------------------------------------------------

ALL = dict(
    BY_CONFIDENCE,
    median=lambda K, f, eps, d: median_elimination(K, eps=eps, delta=d, family=f),
    lil=lambda K, f, eps, d: lil_ucb(K, delta=d, family=f),
    rejects=lambda K, f, eps, d: successive_rejects(K, budget=90, family=f),
    halving=lambda K, f, eps, d: sequential_halving(K, budget=90, family=f),
    ugapeb=lambda K, f, eps, d: ugapeb(K, budget=90, a=3., family=f))

@pytest.mark.parametrize('make', ALL.values(), ids=ALL)
def test_contract(make):
    """A learner yields arms, is fed rewards, and files what it was fed; the same rewards give
    the same run; a reward that can't be is refused."""
    bandit, rng = bernoulli_bandit([.95, .05, .1]), generator(120)
    learner, fed = make(3, bandit.family, .5, .3), []
    arm = next(learner)
    try:
        while True:
            assert type(arm) is int and 0 <= arm < 3
            fed.append((arm, bandit.draw(arm, rng)))
            arm = learner.send(fed[-1][1])
    except StopIteration as stop:
        found = stop.value
    arms, rewards = np.array(fed).T
    assert found.pulls == len(fed)
    for k in range(3):
        assert found.counts[k] == (arms == k).sum() and found.means[k] == pytest.approx(
            rewards[arms == k].mean())
    again = make(3, bandit.family, .5, .3)
    assert [next(again), *(again.send(r) for _, r in fed[:-1])] == [a for a, _ in fed]
    with pytest.raises(ValueError):
        found.counts[0] = 1
    for wrong in np.nan, 'x', None, 1.5:
        spoiled = make(3, bandit.family, .5, .3)
        next(spoiled)
        with pytest.raises(InvalidInput, match='^reward: '):
            spoiled.send(wrong)

@pytest.mark.parametrize('name', CONFIDENCE_ALGORITHMS)
def test_cut_short(name):
    "A cap ends a run when it is reached, not later, without a promise beyond what was proved."
    bandit = bernoulli_bandit([.5, .5])
    for cap in 2, 3, 77:
        found = play_bandit(
            bandit_algorithm(name, 2, bandit.family, eps=.01, delta=.1, max_pulls=cap),
            bandit, 121)
        assert (found.status, found.pulls) == ('round_cap', cap) and found.bound > .01

def test_refusals():
    fine = dict(eps=.1, delta=.1)
    for wrong, name in (dict(eps=-.1), 'eps'), (dict(eps=np.nan), 'eps'), (dict(
            delta=0.), 'delta'), (dict(delta=1.1),
                                  'delta'), (dict(family=None),
                                             'family'), (dict(rate='fast'),
                                                         'rate'), (dict(max_pulls=2),
                                                                   'max_pulls'):
        for f in lucb, kl_lucb, ugapec, successive_elimination:
            with pytest.raises(InvalidInput, match=f'^{name}: '):
                f(3, **fine | wrong)
        if 'rate' not in wrong:
            for f in track_and_stop, median_elimination:
                with pytest.raises(InvalidInput, match=f'^{name}: '):
                    f(3, **fine | wrong)
    for f in lucb, track_and_stop, median_elimination:
        for K in 1, 2.5, None, True:
            with pytest.raises(InvalidInput, match='^K: '):
                f(K, **fine)
    with pytest.raises(InvalidInput, match='^eps: '):
        median_elimination(3, eps=0., delta=.1)
    for wrong, name in (dict(beta=0.), 'beta'), (dict(growth=2.),
                                                 'growth'), (dict(delta='x'), 'delta'):
        with pytest.raises(InvalidInput, match=f'^{name}: '):
            lil_ucb(3, **dict(delta=.1) | wrong)
    for f, least in (successive_rejects, 5), (sequential_halving, 15):
        f(5, budget=least)
        for budget in least - 1, 100., None:
            with pytest.raises(InvalidInput, match='^budget: '):
                f(5, budget=budget)
    for a in 0., -1., None:
        with pytest.raises(InvalidInput, match='^a: '):
            ugapeb(3, budget=10, a=a)
    for f in (lambda: BoundedRewards(1., 0.), lambda: GaussianRewards(0.),
              lambda: optimal_proportions([.5], BoundedRewards()),
              lambda: optimal_proportions([0., 1.], BoundedRewards()),
              lambda: bernoulli_bandit([.5, 1.2]),
              lambda: finite_bandit([[0., 1.]], [[.5, .6]]),
              lambda: fixed_budget_error([.1, .2], 10, 'lucb')):
        with pytest.raises(OIAError):
            f()

# --- On the oracle's rules ------------------------------------------------------------

def with_oracle(i, K=3):
    world = random_world(K, 2 + i % 2, 3, generator(130, i), margin=.002, prior='arm')
    return world, action_informed_oracle(world)

def test_the_learner_is_its_algorithm():
    """Fed with the profits of the reports that the learner saw, the plain algorithm plays the
    same arms; the records agree; JSON takes them."""
    for i, name in enumerate([*CONFIDENCE_ALGORITHMS, *BUDGET_ALGORITHMS]):
        world, oracle = with_oracle(i % 3)
        budget = 80 if name in BUDGET_ALGORITHMS else None
        found = simulate(
            best_arm_learner(world.setting, oracle, eps=.6, delta=.2, algorithm=name,
                             budget=budget, max_rounds=400), world, generator(131, i))
        rewards = world.setting.belief_utility - np.array([S.expected for S in oracle.rules])
        family = BoundedRewards(rewards.min(), rewards.max())
        plain = bandit_algorithm(name, 3, family, eps=.6, delta=.2, budget=budget, max_pulls=400)
        arm = next(plain)
        try:
            for k, b in zip(found.trace.arms, found.trace.beliefs):
                assert arm == k
                arm = plain.send(rewards[k, b])
        except StopIteration as stop:
            best = stop.value
        assert (best.arm, best.pulls) == (found.arm, found.rounds) and np.array_equal(
            best.counts, found.counts)
        assert found.rule is oracle.rules[found.arm] and found.certificate is None
        assert found.status == {'certified': 'arm_certified'}.get(best.status, best.status)
        assert found.rounds == world.setting.K + found.normal_rounds + found.forced_rounds

# the last one takes ten times as long
NEAR = 'lucb', 'ugapec', 'track_and_stop'

@names_the_worst(amount(10, 12), .25)
def test_near_the_best_of_the_oracles_rules():
    """n = 12 runs (10 without --release) at δ = 0.25, ε less than the worst of the oracle's rules
    loses: within ε of the best one, and never below the least regret."""
    wrong, n, eps = 0, amount(10, 12), .3
    world, oracle = with_oracle(0)
    loss = oracle_loss(world, oracle)
    assert loss.regret.max() > loss.least + eps
    for i in range(n):
        found = simulate(
            best_arm_learner(world.setting, oracle, eps=eps, delta=.25,
                             algorithm=NEAR[i % 3 if i < amount(3, n) else i % 2]),
            world, generator(132, i))
        regret = simple_regret(world, found.rule)
        assert regret >= loss.least - 1e-7 and found.status == 'arm_certified'
        wrong += regret > loss.least + eps
    assert wrong <= most_failures(n, .25) < n

def test_what_a_margin_costs():
    """The two bounds on what is overpaid, on random worlds and oracles from the widest margins
    down to none."""
    for i in range(amount(2, 5)):
        world, oracle = with_oracle(i)
        rules, full = optimal_rule(world).rules, oracle_loss(world, oracle)
        for lam in .05, .5, 1.:
            loss = oracle_loss(
                world,
                check_oracle(world,
                             [mix(S, T, lam) for S, T in zip(rules, oracle.rules)]))
            assert np.allclose(loss.overpaid, lam*full.overpaid, atol=1e-6)
            assert (loss.overpaid >= loss.at_least
                    - 1e-7).all() and (loss.at_least >= loss.by_margin - 1e-9).all()
            assert loss.least == pytest.approx(
                min(
                    simple_regret(world, mix(S, T, lam))
                    for S, T in zip(rules, oracle.rules)), abs=1e-6)

def test_an_oracle_that_is_wrong():
    world, oracle = with_oracle(0)
    learner = best_arm_learner(world.setting,
                               Oracle(oracle.rules[1:] + oracle.rules[:1]), eps=.5,
                               delta=.1)
    found = simulate(learner, world, 133)
    assert (found.status, found.violated) == ('assumption_violated', 'oracle')
    assert found.certificate is None and found.arm == 1

def test_refusals_of_the_learner():
    world, oracle = with_oracle(1)
    fine = dict(setting=world.setting, oracle=oracle, eps=.5, delta=.1)
    for wrong, name in ((dict(setting=world), 'setting'),
                        (dict(oracle=oracle.rules), 'oracle'), (dict(eps=0.), 'eps'),
                        (dict(eps=1e9), 'eps'), (dict(delta=-1.), 'delta'),
                        (dict(algorithm='exp3'), 'algorithm'), (dict(algorithm=None),
                                                                'algorithm'),
                        (dict(algorithm=['lucb']),
                         'algorithm'), (dict(budget=10), 'budget'), (dict(max_rounds=2),
                                                                     'max_rounds'),
                        (dict(algorithm='successive_rejects'),
                         'budget'), (dict(algorithm='sequential_halving', budget=5),
                                     'budget'), (dict(algorithm='ugapeb',
                                                      budget=2), 'budget')):
        with pytest.raises(InvalidInput, match=f'^{name}: '):
            best_arm_learner(**fine | wrong)

def test_all_rewards_alike():
    "Nothing to tell the arms apart, and no range to scale by: the run still ends."
    world = make_world([[[.6, .4]], [[.2, .1], [.3, .4]]], [0., .01], [[1.], [1.]], 1.)
    oracle = action_informed_oracle(world)
    found = simulate(best_arm_learner(world.setting, oracle, eps=1., delta=.2), world, 134)
    assert found.status == 'arm_certified'
    assert reward_family(np.zeros((2, 3)), .5) == BoundedRewards(0., .5)
