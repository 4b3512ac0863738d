"""Laws of the algorithms, each a function that raises AssertionError when it is broken:
`python laws.py NAME`.

`test_mutants.py` runs them on the package, where they must hold, and on broken variants, where they
must not. No law is statistical: where chance matters, probabilities are worked out by dynamic
programming, or chance is replaced by the worst that it may do. What statistical tests share is here
too."""
import inspect
import re
import sys
import types
from collections import Counter
from dataclasses import replace
from functools import cache, partial
from itertools import product
from types import SimpleNamespace
import numpy as np
from scipy.stats import binom
from conftest import amount
from inside import Kept
from oia_nb.all import (InvalidInput, Lapsing, OIAError, Response, Told,
                        action_informed_oracle, agent_profit, chen, generator, identify, is_proper,
                        load_world, make_world, menu_rule, mix, oiafb, oiafc, open_support,
                        optimal_rule, patient, random_world, sharp, shortlist, simple_regret,
                        simulate, trial)
from oia_nb.core import TIE_TOL
from oia_nb.experts.examination import LEAN, RATIOS, WAGERS, Boundary, examine
from oia_nb.experts.experts import is_wrong
from oia_nb.experts.around import chance_of_question
from oia_nb.experts.payoffs import leading, share_needed
from oia_nb.experts.told import Check
from oia_nb.game.information import best_reply
from oia_nb.game.stackelberg import arm_profit, region_margin
from oia_nb.paper import complexity
from oia_nb.paper.baselines import DECISIONS, etc_rounds, etc_samples, explore_then_commit as etc
from oia_nb.paper.estimation import (NORMAL, OptimisticPrograms, Transcript, cost_estimates,
                                     cost_upper, event_holds, radius_fb, radius_fc, shortest_paths)
from oia_nb.paper.oiafc import MIXINGS, binary_search, certify, search_depth, should_stop
from oia_nb.run.learner import Certificate, Halt, announce, within
from oia_nb.run.session import as_report
from oia_nb.sharp.evidence import BETS, betting_threshold, mean_lower

BROKEN = AssertionError, OIAError        # what a law raises on a broken variant

# --- Statistical tests ----------------------------------------------------------------

FALSE_ALARM = 1e-6      # at most this probability that a right program fails one comparison
STATISTICAL = {}        # 'file::test' -> what `statistical` says of it

def statistical(*, false_alarm, planted, power):
    """Register a statistical test for `test_power.py`.

    `false_alarm`: at most this probability that a right program fails it; `planted`: the wrong
    thing on which the test itself sees that it turns red; `power()`: the probability that it
    does."""
    def register(test):
        STATISTICAL[f'{test.__module__}::{test.__name__}'] = SimpleNamespace(
            false_alarm=false_alarm, planted=planted, power=power)
        return test
    return register

def most_failures(n, p):
    "A number that Binomial(n, p) exceeds with probability at most `FALSE_ALARM`."
    return int(binom.ppf(1 - FALSE_ALARM, n, p))

def detection(n, p, wrong):
    """The probability that something that fails with probability `wrong` exceeds
    `most_failures(n, p)` in n runs."""
    return float(binom.sf(most_failures(n, p), n, wrong))

# --- Worlds in which a learner can be wrong -------------------------------------------

def outcomes(p, costs, bound, utility=(1., -1.), accuracy=1.):
    """Two states; arm k leads to the first with probability p[k]. What the agent sees before it
    reports is right with probability `accuracy`."""
    joint = [[[x*a, (1 - x)*(1 - a)] for a in (accuracy, 1 - accuracy)] for x in p]
    return make_world(joint, costs, [[u] for u in utility], bound)

def worst_rule(world):
    """(rule, arm, regret) of the oracle's rule that loses most: what a wrong learner can lose is at
    least that much."""
    rules = action_informed_oracle(world).rules
    regrets = [simple_regret(world, rule) for rule in rules]
    k = int(np.argmax(regrets))
    return rules[k], k, regrets[k]

def guess(world, eps):
    """What a wrong learner returns, which asks nothing: the oracle's rule for the worst arm, as
    certified for its target."""
    rule, arm, _ = worst_rule(world)
    return SimpleNamespace(rule=rule, arm=arm, status='certified', eps=eps,
                           certificate=Certificate(eps, 0., eps))

def worlds(n, **options):
    "Small worlds of every shape, with a common prior and with priors that depend on the arm."
    for i, (K, W) in zip(range(n), 10*[(2, 2), (3, 2), (2, 3), (4, 2)]):
        yield random_world(K, W, 3, generator(55, i), prior=('common', 'arm')[i % 2],
                           margin=.01, **options)

def shaped_world(begins, i, shapes, **options):
    "World i of some, by turns of each shape (arms, states, signals), that have an oracle."
    return random_world(*shapes[i % len(shapes)], generator(begins, i), tries=5000, **options)

def informed_transcript(world, oracle, n, rng):
    """A transcript of about `n` answers an arm: beliefs drawn from q, answers to mixtures of oracle
    rules given by the agent."""
    data, z = Transcript(world.setting), world.setting
    for k, rule in enumerate(oracle.rules):
        data.record(k, rng.choice(z.M, p=world.belief_distributions[k]), rule.expected)
    for line in range(60):
        a, b = rng.integers(z.K, size=2)
        for place in rng.random(4):
            rule = mix(oracle.rules[a], oracle.rules[b], place)
            arm = world.best_response(rule)
            data.record(arm, rng.choice(z.M, p=world.belief_distributions[arm]),
                        rule.expected, line, place)
    extra = np.array([rng.multinomial(n, q) for q in world.belief_distributions])
    for arm, belief in product(range(z.K), range(z.M)):
        for _ in range(extra[arm, belief]):
            data.record(arm, belief, oracle.rules[arm].expected, ('oracle', arm), 1.)
    return data

# --- The game -------------------------------------------------------------------------

def law_agent():
    "The agent's arm and profits are those of a plain loop over arms, signals and reports."
    for i, world in enumerate(worlds(8)):
        z, rng = world.setting, generator(56, i)
        rule = menu_rule(z.support, rng.uniform(0, z.bound, (4, z.W)), z.bound)
        worth = []
        for joint, cost in zip(world.structure.joint, world.costs):
            worth.append(sum(max(p @ column for column in rule.values) for p in joint) - cost)
        reply = best_reply(world, rule)
        assert reply.arm == world.best_response(rule) == int(np.argmax(worth))
        np.testing.assert_allclose(reply.profits, worth, atol=1e-9)
        np.testing.assert_allclose(agent_profit(world, rule), worth, atol=1e-9)

def law_optimum():
    """LP_k: its rule is proper, induces its arm, attains its value, and no rule of V_k found at
    random does better."""
    for i, world in enumerate(worlds(8)):
        z, rng, best = world.setting, generator(57, i), optimal_rule(world)
        for k, rule in enumerate(best.rules):
            if rule is None:
                continue
            assert is_proper(rule) and region_margin(world, rule, k) > -1e-7
            np.testing.assert_allclose(arm_profit(world, rule)[k], best.profits[k], atol=1e-7)
        for _ in range(200):
            rule = menu_rule(z.support, rng.uniform(0, z.bound*rng.random(), (5, z.W)), z.bound)
            k = world.best_response(rule)
            assert arm_profit(world, rule)[k] <= best.profits[k] + 1e-7

# --- Learning -------------------------------------------------------------------------

def ever_outside(p, radius):
    """P(2|X_n/n - p| > radius[n - 1] for some n), X_n the number of heads in n flips with
    probability p: exact, by dynamic programming.

    The L1 distance of two-point distributions is twice the difference of the heads' shares."""
    inside, heads, outside = np.ones(1), np.arange(len(radius) + 1), 0.
    for n, r in enumerate(radius, 1):
        inside = np.append(inside*(1 - p), 0.) + np.append(0., inside*p)
        leaves = 2*np.abs(heads[:n + 1]/n - p) > r
        outside += inside[leaves].sum()
        inside[leaves] = 0.
    return outside

def law_radius():
    "The radius is the printed one, wherever 2^M can be formed."
    for N, t, K, M, delta in product((1., 50., 3e4), (1, 10, 10**6), (2, 5), (2, 30),
                                     (1e-6, .1, 1.)):
        np.testing.assert_allclose(radius_fc(np.array([N]), t, K=K, M=M, delta=delta),
                                   np.sqrt(2*np.log(4*K*2.**M*t**2/delta)/N), rtol=1e-12)
        np.testing.assert_allclose(radius_fb(np.array([N]), t, a=7.), np.sqrt(7/N), rtol=1e-12)

def law_event():
    """The event fails with probability at most (π²/24) δ, and within a budget T at most KT 2^M
    exp(-a/2): exactly, for two outcomes.

    The smaller δ, the more a radius shows that is too small: one of 0.8 times the right one fails
    16 times too often at δ = 10⁻¹²."""
    n, K = np.arange(1, 401), 2
    for p, delta in product((.5, .2), (1., .1, 1e-6, 1e-12)):
        one = ever_outside(p, radius_fc(n, n + 1, K=K, M=2, delta=delta))
        assert K*one <= delta*np.pi**2/24
        a = 2*np.log(len(n)*K*4/delta)
        assert K*ever_outside(p, radius_fb(n, n, a=a)) <= delta

def law_costs():
    """At the smallest radii that make the event true, and with q itself for q̂, the interval of
    every pair contains the cost difference, also with half the room; estimates are antisymmetric,
    radii symmetric and no longer than the edge, which two arms have to the end. An empty interval
    is seen, and no other."""
    for i, (world, exact) in enumerate(product(worlds(amount(4, 40)), (False, True))):
        z, q, C = world.setting, world.belief_distributions, world.costs[:, None] - world.costs
        data = informed_transcript(world, action_informed_oracle(world), 5, generator(59, i))
        data.counts = q*data.N[:, None] if exact else data.counts
        I = np.abs(data.q_hat - q).sum(1)
        U, room = cost_upper(data, I), z.bound*(I[:, None] + I)
        np.fill_diagonal(room, 0.)
        assert event_holds(world, data.q_hat, I) and (U - room/2 >= C - 1e-8).all()
        np.testing.assert_allclose(U - room, cost_upper(data, 0*I), atol=1e-12)
        C_hat, I_c, violated = cost_estimates(U, z.bound)
        assert not violated and (np.abs(C_hat - C) <= I_c + 1e-8).all()
        assert (I_c <= np.abs(U + U.T)/2 + 1e-12).all()
        np.testing.assert_allclose(C_hat, -C_hat.T, atol=1e-12)
        np.testing.assert_allclose(I_c, I_c.T, atol=1e-12)
        assert z.K > 2 or np.allclose(C_hat + I_c, U)
        assert not exact or I_c.max() < .2*z.bound
        U[0, 1] = -U[1, 0] - .01*z.bound
        assert cost_estimates(U, z.bound)[2]

def law_paths():
    """On random graphs, also in parts: shortest paths are those of another library, and estimates
    the sums along them."""
    import networkx as nx
    for i in range(amount(40, 400)):
        rng = generator(64, i)
        K = int(rng.integers(2, 10))
        theta, phi = np.triu(rng.normal(size=(2, K, K)), 1)
        phi[rng.random((K, K)) < rng.uniform(0, .7)] = np.inf
        theta, phi = theta - theta.T, np.triu(np.abs(phi), 1) + np.triu(np.abs(phi), 1).T
        C, length = shortest_paths(np.where(np.isfinite(phi), theta, 0.), phi)
        assert np.array_equal(C, -C.T) and np.array_equal(length, length.T)     # to the last bit
        found = dict(nx.all_pairs_dijkstra(nx.from_numpy_array(np.where(np.isfinite(phi), phi, 0))))
        for a, b in product(range(K), repeat=2):
            lengths, paths = found[a]
            assert np.isclose(length[a, b], lengths.get(b, np.inf), rtol=1e-12, atol=0)
            along = sum(theta[edge] for edge in zip(paths.get(b, ()), paths.get(b, ())[1:]))
            assert b not in paths or np.isclose(C[a, b], along, atol=1e-12)

def law_pruning():
    "The points that a transcript keeps give the same bounds as all points."
    for i, world in enumerate(worlds(4)):
        oracle, rng = action_informed_oracle(world), generator(60, i)
        kept, full, z = Transcript(world.setting), Transcript(world.setting), world.setting
        for line in range(40):
            a, b = rng.permutation(z.K)[:2]
            for place in rng.random(6):
                rule = mix(oracle.rules[a], oracle.rules[b], place)
                arm = world.best_response(rule)
                belief = rng.choice(z.M, p=world.belief_distributions[arm])
                kept.record(arm, belief, rule.expected, line, place)
                full.record(arm, belief, rule.expected)
        np.testing.assert_allclose(cost_upper(kept, np.zeros(z.K)),
                                   cost_upper(full, np.zeros(z.K)), atol=1e-12)

def unlucky(world, width):
    """(K, M): beliefs distributed so that each arm looks as poor as it may on the event: `width`/2
    of the mass is on the worst belief in place of the best."""
    z, q = world.setting, world.belief_distributions.copy()
    for row in q:
        good, bad = np.where(row > 0, z.belief_utility, -np.inf).argmax(), z.belief_utility.argmin()
        moved = min(width/2, row[good])
        row[good] -= moved
        row[bad] += moved
    return q

def law_optimism():
    """On the event h(S_k*) ≤ ĥ_k ≤ u_k - v_Ŝ(k) + 2B I_k, with proper rules, at radii from wide to
    narrow; tight once nothing is uncertain."""
    for i, world in enumerate(worlds(12)):
        z, best, oracle = world.setting, optimal_rule(world), action_informed_oracle(world)
        data = informed_transcript(world, oracle, 20, generator(61, i))
        N, programs = data.N[:, None], OptimisticPrograms(z, oracle)
        for width in (1., .3, .1, .02, .004):
            data.counts, I = unlucky(world, width)*N, np.full(z.K, width)
            C_hat, I_c, _ = cost_estimates(cost_upper(data, I), z.bound)
            assert (np.abs(C_hat - (world.costs[:, None] - world.costs)) <= I_c + 1e-8).all()
            found = programs.solve(data.counts, I, C_hat, I_c)
            profits = found.profits
            assert not found.infeasible and (profits >= best.profits - 1e-7).all()
            for k in range(z.K):
                rule = found.rule(k)
                assert is_proper(rule)
                assert profits[k] <= arm_profit(world, rule)[k] + 2*z.B*width + 1e-7
        exact = programs.solve(world.belief_distributions*N, np.zeros(z.K), world.costs[:, None]
                               - world.costs, np.zeros((z.K, z.K))).profits
        reachable = np.isfinite(best.profits)
        np.testing.assert_allclose(exact[reachable], best.profits[reachable], atol=1e-6)

# --- Searching and the loop -----------------------------------------------------------

def law_search():
    """A search ends with k1 at λ_max, another arm at λ_min, and a bracket just below the threshold,
    after the rounds that its depth says, of powers of two as well. Then its pair is known as well
    as radii and bracket say: I_c(k0, k1) ≤ B_S (λ_max - λ_min + I_0 + I_1)."""
    tried = moved = 0
    for i, world in enumerate(worlds(amount(8, 40))):
        oracle, rng = action_informed_oracle(world), generator(62, i)
        z, place = world.setting, lambda lam: ('line', lam)
        for k1 in range(z.K):
            S1 = oracle.rules[k1]
            S0 = mix(oracle.rules[(k1+1) % z.K], S1, .1)
            k = world.best_response(S0)
            if k == k1:
                continue
            tried += 1
            threshold = .5**tried if tried % 3 == 0 else float(rng.uniform(.003, .6))
            data = Transcript(z)
            for end, rule in enumerate((S0, S1)):
                simulate(announce(data, rule, *place(end)), world, rng)
            search = simulate(binary_search(data, S0, S1, k_S0=k, k1=k1, threshold=threshold,
                                            place=place), world, rng)
            answer = lambda lam: world.best_response(mix(S0, S1, lam))
            assert answer(search.lam_max) == k1 and answer(search.lam_min) == search.k0 != k1
            moved += search.k0 != k
            width = search.lam_max - search.lam_min
            assert width < threshold <= 2*width
            assert search.rounds == search_depth(threshold) == data.rounds - 2
            for a in 1., 10.:
                I = radius_fb(data.N, data.rounds, a=a)
                U, pair = cost_upper(data, I), [search.k0, k1]
                known = cost_estimates(U, z.bound)[1][*pair]
                assert (U + U.T)[*pair] < 0 or known <= z.bound*(width + I[pair].sum()) + 1e-9
    assert tried > amount(7, 40) and moved

def law_stopping():
    "The test is the printed one wherever that is defined, and never holds for α = 1 or ε ≤ 2αB."
    setting = next(worlds(1)).setting
    for eps, alpha, I in product((.1, .5, 1., 2*setting.B), (0., .01, .1, .3, .6, 1.),
                                 (.001, .05, .2, 1.)):
        printed = alpha < 1 and 2*setting.B*I <= (eps - 2*alpha*setting.B)/(1 - alpha)
        assert should_stop(setting, eps, alpha, I) == printed
        assert not printed or certify(setting, alpha, I).bound <= eps + 1e-12

def law_run():
    """A run, checked against its own trace: shares, targets, counts, what a deviation leads to, and
    when it stops.

    Each plan has the arm with the highest optimistic profit and the share that its own normal
    rounds call for; a deviation is followed by a search, a success is not; it stops at the first
    plan that passes the test, and returns that plan's rule."""
    for i, world in enumerate(worlds(amount(2, 4), max_cost=.03)):
        z, plans = world.setting, []
        eps = 1.2*z.B
        r = simulate(oiafc(z, action_informed_oracle(world), eps=eps, delta=.1, max_rounds=6000,
                           watch=plans.append), world, generator(63, i))
        kinds, arms, targets = r.trace.kinds, r.trace.arms, r.trace.targets
        assert len(kinds) == r.rounds == r.counts.sum() == z.K + r.normal_rounds + r.forced_rounds
        assert (arms[:z.K] == np.arange(z.K)).all()
        assert (arms[kinds == NORMAL] == targets[kinds == NORMAL]).all()
        ends = [p.t - 1 for p in plans[1:]] + [r.rounds]
        L = np.ones(z.K)
        for n, plan in enumerate(plans):
            counts = np.zeros_like(plan.q_hat)
            np.add.at(counts, (arms[:plan.t - 1], r.trace.beliefs[:plan.t - 1]), 1)
            np.testing.assert_array_equal(plan.N, counts.sum(1))
            np.testing.assert_allclose(plan.q_hat*plan.N[:, None], counts, atol=1e-9)
            assert plan.target == targets[plan.t - 1]
            assert plan.profits[plan.target] >= plan.profits.max() - TIE_TOL*z.bound
            np.testing.assert_allclose(plan.alpha, min(1, np.sqrt(z.M/L[plan.target])))
            answered, following = arms[plan.t - 1], ends[n] - plan.t
            threshold = min(plan.I[answered], plan.I[plan.target])
            deviated = answered != plan.target
            if plan.t + search_depth(threshold) < 6000:
                assert following == (search_depth(threshold) if deviated else 0)
            L[plan.target] += not deviated
            stops = not deviated and should_stop(z, eps, plan.alpha, plan.I[plan.target])
            assert stops == (n + 1 == len(plans) and r.status == 'certified')
        if r.status == 'certified':
            assert r.certificate.bound <= eps and world.best_response(r.rule) == r.arm
            assert (r.rule.values == plans[-1].rule.values).all()

# --- Against the worst that chance may do ---------------------------------------------

class Misleading:
    """A world in which reports deceive as much as the event allows, to be played in place of the
    world itself.

    The best arm reports the belief worth least to the principal, all others that worth most, as
    long as every arm's counts stay within `most(N, t)` of N q_k in L1 for its N observations before
    round t. What is proved on the event holds here with certainty, and hardly more does."""
    def __init__(self, world, most):
        self.world, self.most, self.rounds = world, most, 0
        self.counts = np.zeros_like(world.belief_distributions)
        low = np.argsort(world.setting.belief_utility, kind='stable')
        best = np.argmin(optimal_rule(world).gaps)
        self.wishes = [low if k == best else low[::-1] for k in range(len(self.counts))]

    def respond(self, rule, rng):
        arm = self.world.best_response(rule)
        self.rounds += 1
        q, N = self.world.belief_distributions[arm], self.counts[arm].sum() + 1
        # by the belief that is reported next
        off = np.abs(self.counts[arm] + np.eye(len(q)) - N*q).sum(1)
        allowed = [b for b in self.wishes[arm]
                   if q[b] > 0 and off[b] <= self.most(N, self.rounds + 1)]
        assert allowed, 'an event that leaves no answer'
        self.counts[arm, allowed[0]] += 1
        return Response(arm, tuple(self.world.setting.support[allowed[0]]), 0)

def printed_radius(world, delta, width=None):
    "N times the radius of eq. (9), worked out here; `width` in place of M."
    z = world.setting
    return lambda N, t: np.sqrt(2*N*(np.log(4*z.K*t**2/delta) + (width or z.M)*np.log(2)))

def deceived(learner, world, most, **options):
    "A run of a learner in a `Misleading` world."
    steps = learner(world.setting, action_informed_oracle(world), **options)
    return simulate(steps, Misleading(world, most), 0)

def deceptive():
    """Worlds in which the second best arm loses much more than payments can cost; every second one,
    without --release."""
    every = [outcomes([.8, .2], [0., 0.], .02), outcomes([.2, .8], [0., 0.], .02),
             outcomes([.95, .05], [0., 0.], .01), outcomes([.2, .9, .4], [0., .001, 0.], .02)]
    return amount(every[1::2], every)

def shares_of_certificate(world, results):
    "True regret over certificate of each result: at most 1 if certificates are right."
    shares = []
    for r in results:
        assert world.best_response(r.rule) == r.arm and is_proper(r.rule)
        assert r.certificate is not None, 'what was claimed was not verified'
        shares.append(simple_regret(world, r.rule)/r.certificate.bound)
    assert max(shares) <= 1 + 1e-9
    return shares

def law_oiafc(learner=oiafc):
    """Theorem 1 and Corollary 1 where chance does its worst: the target is reached, certificates
    hold, and half of a certificate wouldn't.

    The targets are just below what the wrong arm loses; caps on the rounds end runs while it still
    looks best."""
    for i, world in enumerate(deceptive()):
        eps = .95*np.sort(optimal_rule(world).gaps)[1]
        play = partial(deceived, learner, world, printed_radius(world, .01), eps=eps, delta=.01,
                       mixing=list(MIXINGS)[i % 2])
        r = play(max_rounds=5000)
        assert r.status == 'certified' and r.certificate.bound <= r.eps == eps
        assert eps < worst_rule(world)[2]
        shares_of_certificate(world, [r])
        capped = [play(max_rounds=n) for n in (20, 50, 100, 150) if n < r.rounds]
        assert {c.status for c in capped} == {'round_cap'}
        assert max(shares_of_certificate(world, [c for c in capped if c.certificate])) > .5
    not_too_dear(learner)

def not_too_dear(learner):
    "A certificate of OIAFC holds where every rule of the oracle loses more than the target."
    world, eps = make_world([[[.9, .1]], [[.3, .7]]], [0., 0.], [[.2], [0.]], 1.), .74
    rules = action_informed_oracle(world).rules
    assert min(simple_regret(world, rule) for rule in rules) > 1.1*eps
    shares_of_certificate(world, [deceived(learner, world, printed_radius(world, .01), eps=eps,
                                           delta=.01, max_rounds=5000)])

def law_oiafb(learner=oiafb):
    """OIAFB where chance does its worst: certificates hold, half of one wouldn't; and with enough
    normal rounds (`prop-afterwards`) the target is reached."""
    for world in deceptive():
        def play(eps, T):
            plans = []
            r = deceived(learner, world, lambda N, t: np.sqrt(20*N), eps=eps, budget=T, a=20.,
                         watch=plans.append)
            normal = [p for p in plans if world.best_response(p.rule) == p.target]
            assert r.certificate is not None, 'what was claimed was not verified'
            bounds = [certify(world.setting, p.alpha, p.I[p.target]).bound for p in normal]
            assert np.isclose(r.certificate.bound, min(bounds))
            return r
        shares = shares_of_certificate(world, [play(.05, T) for T in (30, 60, 120)])
        assert max(shares) > .5
        eps = .95*np.sort(optimal_rule(world).gaps)[1]
        p = complexity.problem_of(world, eps, .1)
        needed = int(4*(1 - p.alpha)**2*p.H_eps*20.) + 1
        r = play(eps, p.K + needed)
        assert (r.rounds, r.status, r.normal_rounds) == (p.K + needed, 'budget', needed)
        assert simple_regret(world, r.rule) <= eps
        assert simple_regret(world, play(eps, p.K + needed//10).rule) > eps

def law_chen(learner=chen):
    """Chen's learner, both decisions, where chance does its worst: certificates hold, and half of
    one wouldn't."""
    for world in deceptive():
        shares = []
        for T, decision in product((30, 100), DECISIONS):
            a = 2*(np.log(T*world.setting.K/.01) + world.setting.M*np.log(2))
            r = deceived(learner, world, lambda N, t: np.sqrt(a*N), eps=1., delta=.01, budget=T,
                         decision=decision, rng=0)
            shares += shares_of_certificate(world, [r])
        assert max(shares) > .5

def law_etc(learner=etc):
    """Explore-then-commit where chance does its worst: certificates hold, and half of one wouldn't;
    with a number of samples that is fitted to it, the target is reached."""
    for world in deceptive():
        z, shares = world.setting, []
        def play(n, **options):
            off = np.sqrt(2*n*(np.log(z.K/.01) + z.M*np.log(2)))
            r = deceived(learner, world, lambda N, t: off, delta=.01, **options)
            shares.extend(shares_of_certificate(world, [r]))
            return r
        for n in (10, 20, 40, 80):
            play(n, eps=1., samples=n)
        assert max(shares) > .5
        eps, margin = .95*worst_rule(world)[2], action_informed_oracle(world).margin
        fitted = etc_samples(z, margin, eps, .01)
        r = play(fitted, eps=eps)
        assert (r.status, r.rounds) == ('certified', etc_rounds(z, fitted, .01))

# --- Bounds ---------------------------------------------------------------------------

def replaced(source, old, new):
    """`source` with `new` in the one place where `old` stands, however its lines are broken and
    spaced.

    `old` must not begin or end inside of a word."""
    edges = [r'(?<!\w)' if old[0].isalnum() else '', r'(?!\w)' if old[-1].isalnum() else '']
    text = re.compile(edges[0] + r'\s*'.join(map(re.escape, ''.join(old.split()))) + edges[1])
    places = len(text.findall(source))
    assert places == 1, f'{old!r} occurs {places} times: the mutant has no place'
    return text.sub(lambda found: new, source)

def bounds(old, new):
    "A copy of the module of bounds with another constant, or with one text replaced."
    source, constant = inspect.getsource(complexity), old in vars(complexity)
    copy = sys.modules['bounds'] = types.ModuleType('bounds')
    copy.__package__ = complexity.__package__
    exec(source if constant else replaced(source, old, new), vars(copy))
    vars(copy).update({old: new} if constant else {})
    return copy

# A bound is tested where what happens comes within a factor of ten of it. `c` is the module of
# bounds, or a broken variant of it.

def within_ten(happened, bound):
    return bound/10 <= happened <= bound

def normal_counts(r, K):
    return np.bincount(r.trace.arms[r.trace.kinds == NORMAL], minlength=K)

@cache
def deceived_runs():
    """(world, problem, mixing, result): runs of OIAFC where chance does its worst, with the other
    arm's gap well above the target."""
    found = []
    for world, mixing in product((w for w in deceptive() if w.setting.K == 2), MIXINGS):
        eps = .7*optimal_rule(world).gaps.max()
        r = deceived(oiafc, world, printed_radius(world, .01), eps=eps, delta=.01, mixing=mixing)
        found.append((world, complexity.problem_of(world, eps, .01), mixing, r))
    return found

def law_normal_rounds(c=complexity):
    """Lemma 3 and Corollary 1 on the event, with chance at its worst: normal rounds, of each arm
    and in all, are below the bounds, and above a tenth."""
    for world, p, mixing, r in deceived_runs():
        L, t, arm, other = normal_counts(r, p.K), r.rounds, r.arm, 1 - r.arm
        assert r.status == 'certified' and p.gaps[arm] == 0
        if mixing == 'theorem1':
            scale = p.B**2*p.Lambda(t)
            assert within_ten(L[other], c.C_GAP*scale/p.gaps[other]**2)
            assert within_ten(L[arm], 1 + c.C_EPS*scale/p.eps**2)
            assert within_ten(r.normal_rounds, c.tau1_bound(p, t))
        else:
            assert within_ten(L[arm], c.corollary1_tau1(p, t, 1))
            assert within_ten(r.normal_rounds, c.corollary1_tau1(p, t))
        assert p.K + c.n_min(p, mixing) <= t and within_ten(c.n_min(p, mixing), r.counts[arm])

def law_corollary1_is_tight(c=complexity):
    """An arm that is played until the rule holds: the bounds on its normal rounds in Corollary 1
    are met to the last round but two."""
    world = outcomes([.95, .05], [0., 0.], .1, (1., 1.))
    p = complexity.problem_of(world, world.setting.B, .1)
    r = simulate(oiafc(world.setting, action_informed_oracle(world), eps=p.eps, delta=.1,
                       mixing='corollary1'), world, 0)
    most = c.corollary1_tau1(p, r.rounds, 1)
    assert most - 2 <= normal_counts(r, p.K).max() <= most
    assert .9*c.corollary1_tau1(p, r.rounds) <= r.normal_rounds <= c.corollary1_tau1(p, r.rounds)

@cache
def searched_run():
    """(problem, result) of a compiled run in a world made so that walls are far from the oracle's
    rules and have to be found again and again."""
    world = outcomes([.999, .0397], [.0041, 0.], .0416)
    oracle, eps = action_informed_oracle(world), .4245
    r = identify(world, method='oiafc', eps=eps, delta=.5, seed=0, oracle=oracle,
                 mixing='corollary1', engine='fast')
    return complexity.problem_of(world, eps, .5, oracle.margin), r

def check_searches(c=complexity):
    """Lemma 4 with a constant share: searches and forced rounds within a factor of ten, or a little
    more, of their bounds. No law, since it needs the engine."""
    p, r = searched_run()
    Lambda = p.Lambda(r.rounds)
    searches = sum(c.searches_of(p, Lambda, p.alpha**-2).values())
    depth = c.search_depth_bound(Lambda, r.rounds)
    assert r.status == 'certified' and not r.event_violated
    assert within_ten(r.searches, searches)
    assert .75*depth*r.searches <= r.forced_rounds <= depth*r.searches

def law_depth(c=complexity):
    """A search takes at most `search_depth_bound` with the round that calls for it, and nearly as
    many where the target was always played."""
    p, shares = complexity.Problem(2, 2, 1., 1., 1., .1, .1), []
    for t in np.unique(np.geomspace(2, 1e9, 3000).astype(int)):
        Lambda = p.Lambda(t)
        shares.append((1 + search_depth(np.sqrt(2*Lambda/t)))/c.search_depth_bound(Lambda, t))
    assert .95 < max(shares) <= 1

def law_least(c=complexity):
    """n_min: `should_stop` accepts it, and nothing below; and Lemma 3's constant for the target is
    above it, for many beliefs by less than a sixth."""
    for M, eps, mixing in product((2, 20), (.8, 1.5, 3.), MIXINGS):
        p = c.Problem(2, M, 1., 1., eps, .1, .1)
        z = SimpleNamespace(B=p.B, support_sizes=np.array([M]))
        n = c.n_min(p, mixing)
        for t in (10, 10**6):
            assert np.isclose(p.Lambda(t), radius_fc(np.ones(1), t, K=2, M=M, delta=.1)**2/2)
        share = MIXINGS[mixing](z, eps)
        holds = lambda n: should_stop(z, eps, share(n), np.sqrt(2*p.Lambda(p.K + n)/n))
        assert holds(n) and not any(map(holds, range(max(1, n - 300), n)))
    p = complexity.Problem(2, 160, 1., 1., .01, 1., .1)
    n = c.n_min(p)
    assert n <= 1 + c.C_EPS*p.B**2*p.Lambda(p.K + n)/p.eps**2 < 1.2*n

def most_pairs(K, c):
    """The longest sequence of pairs of arms, one of whose two counts is below c each time, from
    counts of 1: all orders are tried."""
    pairs = [(i, j) for i in range(K) for j in range(i)]
    @cache
    def longest(counts):
        raised = lambda i, j: tuple(sorted(min(n + (k in (i, j)), c) for k, n in enumerate(counts)))
        return max((1 + longest(raised(i, j))
                    for i, j in pairs if min(counts[i], counts[j]) < c), default=0)
    return longest((1,)*K)

def law_searches(c=complexity):
    r"""Lemma 4 and Theorem 2: their counts of searches are made of the parts that the proof has.

    $\bar N$: where both arms have that many observations, {eq}`eq-advantage` leaves less than
    the oracle's margin; pairs: the potential's count, which is met; a twentieth of the constant
    in $\bar N$ or of the depth would show.
    """
    for K, n in ((2, 5), (3, 4), (4, 3), (5, 3)):
        assert most_pairs(K, n) == (K - 1)*(n - 1)
    rng = generator(71)
    for _ in range(50):
        alpha = rng.uniform(.01, .5)
        model = complexity.Problem(2, int(rng.integers(2, 20)), 1., 1., 4*alpha*2, .1,
                                   rng.uniform(.05, 1))
        for signed, A, blind in ((False, lambda d, I: 2*d + 3*2*I, 2.),
                                 (True, lambda d, I: 4*d + 4*2*I, 4.)):
            p = replace(model, signed=signed)
            few = 2*np.ceil(2*blind**2*p.R*p.Lambda(1e4))
            N = sum(c.searches_of(p, p.Lambda(1e4), alpha**-2).values()) - 1 - few
            I = np.sqrt(2*p.Lambda(1e4)/N)
            assert np.isclose(p.B_S*A(I, I), alpha*p.margin, rtol=2/N) and np.isclose(
                2*p.Lambda(1e4)/(p.margin/(blind*p.B_S))**2*2, few, atol=2)
            a = 40.
            normal, depth = 4*(1 - alpha)**2*p.H_eps*a, 2 + np.log2(1e9/a)/2
            few = 2*np.ceil((blind*(1 - alpha)/p.margin)**2*a*p.B_S**2)
            # pairs: N̄ - 1, then one more; one is cut off
            N = (c.theorem2_need(p, 1e9, a) - p.K - normal)/depth - 1 - few
            assert N > 0
            A = (4*(1 - alpha) + 8 if signed else 2*(1 - alpha) + 6)*p.B_S*np.sqrt(a/N)
            assert np.isclose((1 - alpha)*A, alpha*p.margin, rtol=2/N + 1e-9)

# --- What a certificate says, beyond the paper: each number again, from the finished run ----

def keeping(make, kept):
    "`make`, which also files each learner that it makes under `kept`."
    def made(*args, **options):
        kept.append(Kept(make(*args, **options)))
        return kept[-1]
    return made

COIN = make_world([[[.40, .10], [.10, .40]], [[.45, .05], [.05, .45]]], [0., .02], np.eye(2), 1.,
                  name='coin', arms=['cheap', 'better'])

@cache
def a_duo():
    "A world of two arms, its setting, and its oracle."
    world = random_world(2, 2, 2, 5, prior='arm', margin=.05, name='duo')
    return world, world.setting, action_informed_oracle(world)

def close(x, y):
    return np.isclose(x, y, rtol=1e-9, atol=1e-9)

def law_price_of_a_lead():
    """The certificate is the learner's and the price of the lead, which the counts of the rounds
    after the learner's end show; what is earned is less by that price."""
    (world, z, oracle), inner, delta = a_duo(), [], .1
    def maker(eps, delta, rounds, share=1.):
        told = Told(alarm=share*Told().alarm)
        return sharp(z, oracle, eps=eps, delta=delta, max_rounds=rounds, told=told)
    make = keeping(maker, inner)
    run = Kept(leading(make, z, oracle, eps=.1, delta=delta, margin=.02, max_rounds=10**5))
    found = simulate(run, world, 5)
    within = inner[-1].found
    n = found.attempts
    share = share_needed(z, oracle, found.arm, .02)
    x = ((share*(oracle.rules[found.arm].values - within.rule.values))*z.support).sum(1)
    settled = run.responses[-(len(run.responses) - sum(k.found.rounds for k in inner)):]
    assert found.status == 'certified' and n == len(inner) == 1 and len(settled) > 10
    counts = np.bincount([z.index(r.report) for r in settled], minlength=z.M)
    price = -mean_lower(counts, -x, betting_threshold(counts.sum(), .1*delta/(n*(n + 1))))
    price = min(price, x.max())
    assert price > 0 and close(found.certificate.mixing, price)
    assert close(found.certificate.bound, within.certificate.bound + price)
    assert close(found.profit, within.profit - price)
    assert found.certificate.bound <= .1 and found.lead == .02

def law_trial():
    """The interval of what the rule earns is that of its counts, at δ/2n for each of its ends, and
    no other rule's is higher by more than is said."""
    (world, z, oracle), delta = a_duo(), .1
    run = Kept(trial(z, oracle, eps=.1, delta=delta))
    found = simulate(run, world, 0)
    rules = shortlist(z, oracle)
    gain, n = z.utility[:, z.best_decision].T, len(rules)
    ends = []
    for rule in rules:
        cells = [z.index(r.report)*z.W + r.state for shown, r in zip(run.rules, run.responses)
                 if np.array_equal(shown.values, rule.values)]
        payoff, ways = (gain - rule.values).ravel(), []
        # intervals are worked out when counts have grown by a twentieth
        for N in range(int(len(cells)/1.06), len(cells) + 1):
            counts = np.bincount(cells[:N], minlength=z.M*z.W)
            L = betting_threshold(N, delta/(2*n))
            if N:
                ways.append((mean_lower(counts, payoff, L), -mean_lower(counts, -payoff, L)))
        ends.append(ways)
    assert found.status == 'rule_certified'
    assert any(close(found.earns[0], low) and close(found.earns[1], high)
               for low, high in ends[found.index])
    others = max(min(high for _, high in ways) for i, ways in enumerate(ends) if i != found.index)
    assert found.behind >= others - found.earns[0] - 1e-9 and found.profit == found.earns[0]

def law_unseen_is_charged():
    """The bound is that of the learner within and what is unseen from two arms, times the range of
    a round; how much may be unseen is what the rounds without news say."""
    (world, z, oracle), inner, delta = a_duo(), [], .1
    run = Kept(open_support(z, oracle, eps=.8, delta=delta, within=keeping(sharp, inner)))
    found = simulate(run, world, 0)
    news, since = [0]*z.K, [0]*z.K
    seen = [set() for _ in range(z.K)]
    for r in run.responses:
        since[r.arm] += 1
        if r.report not in seen[r.arm]:
            seen[r.arm].add(r.report)
            news[r.arm], since[r.arm] = news[r.arm] + 1, 0
    mass = [np.log(z.K*r*(r + 1)/(.2*delta))/m for r, m in zip(news, since)]
    charge = (mass[found.arm] + max(mass))*(np.ptp(z.utility) + z.bound)
    assert found.status == 'certified' and max(mass) < 1
    assert close(found.discovery.charge, charge)
    assert close(found.certificate.bound, inner[-1].found.certificate.bound + charge)
    assert found.certificate.bound <= .8

def law_begin_again():
    """A belief that was never seen ends a learner's run; the next one, on all that was seen, has
    less of δ. Here it comes as soon as the learner asks its arm."""
    joint = [[[.02, 0.], [.38, .10], [.10, .40]], [[.46, .05], [.04, .45]]]
    world, inner = make_world(joint, [0., .02], np.eye(2), 1., name='rare'), []
    z, reports = world.setting, set()
    steps = open_support(z, action_informed_oracle(world), eps=.3, delta=.05,
                         within=keeping(sharp, inner))
    late = tuple(z.support[z.support[:, 0].argmax()].tolist())
    def respond(rule, rng):
        now = bool(inner) and world.best_response(rule) == 0
        response = world.respond(rule, rng)
        while late not in reports and (response.report == late) != now:
            response = world.respond(rule, rng)
        reports.add(response.report)
        return response
    found = simulate(steps, SimpleNamespace(respond=respond), 0)
    assert found.status == 'certified' and found.discovery.runs == len(inner) == 2
    assert found.discovery.setting.M == len(reports) == z.M
    assert [close(k.learner.setting.M, z.M - 1 + n) for n, k in enumerate(inner)] == [True]*2
    assert close(inner[-1].found.delta, .8*.05/6)

def law_examination():
    """An answer that differs, and an arm on the wrong side of its boundary, fail; and a rule is
    taken for one of an arm only if limits leave no doubt of it."""
    world, z, oracle = a_duo()
    q, c = np.array(world.belief_distributions), np.array(world.costs)
    lead = lambda s: ((q[0] - q[1]) @ s - (c[0] - c[1]))/z.bound
    limits = lambda s: (lead(s) - .01, lead(s) + .01)
    edge = Boundary(0, 1, oracle.rules[0], oracle.rules[1], limits)
    answers = [(rule, k) for k, rule in enumerate(oracle.rules)]
    rules = []
    def answering(arm_of):
        def ask(rule, arm):
            yield rule
            rules.append(rule)
            return arm_of(rule, arm)
        return ask
    def checks(arm_of):
        found = simulate(examine(answering(arm_of), z, answers, found=answers[0],
                                 boundaries=[edge]), world, 0)
        return {check.name: check.passed for check in found}
    honest = lambda rule, arm: world.best_response(rule)
    assert checks(honest) == dict(answers=True, boundaries=True) and len(rules) > 10
    crossed = [lead(rule.expected) for rule in rules[8:]]
    assert min(crossed) < 0 < max(crossed) and min(map(abs, crossed)) > .0099
    assert checks(lambda rule, arm: 1 - arm) == dict(answers=False)
    known = {id(rule) for rule, _ in answers}
    liar = lambda rule, arm: arm if id(rule) in known else 1 - arm
    assert checks(liar) == dict(answers=True, boundaries=False)

def law_experts():
    "What an expert who lapses does, what it leaves, and when a certificate is wrong."
    world, z, oracle = a_duo()
    rule, agent = oracle.rules[1], Lapsing(.3)
    policy, gain = agent.policy(world, rule), z.utility[:, z.best_decision].T - rule.values
    arms = np.full(z.K, .3/z.K)
    arms[world.best_response(rule)] += .7
    left = [sum(world.belief_distributions[k, i]*z.support[i] @ gain[i] for i in range(z.M))
            for k in range(z.K)]
    assert np.allclose(policy.arms, arms) and close(agent.profit(world, rule), arms @ left)
    found = identify(world, eps=.4, delta=.1, seed=0)
    lost = optimal_rule(world).profit - world.agent.profit(world, found.rule)
    for share, wrong in (.9, True), (1.1, False):
        claim = replace(found.certificate, bound=share*lost)
        assert lost > .01 and is_wrong(world, replace(found, certificate=claim)) == wrong

def evidence_of_a_prior(z, arms, beliefs):
    "The largest mean of the products, over arms, bets and states."
    products, top = np.ones((z.K, len(BETS), z.W)), 1.
    for k, i in zip(arms, beliefs):
        products[k] *= 1 + np.array(BETS)[:, None]*(z.support[i]/z.prior - 1)
        top = max(top, products.mean())
    return top

def evidence_of_reports(z, rounds):
    """The largest mean of the products of a block, over bets, divided by arms and ratios. A rule is
    usual where no other one was answered by its arm more often before."""
    top = 0.
    for arm, m in product(range(z.K), RATIOS):
        stacks, asked = ([], []), Counter()
        for rule, r in rounds:
            if r.arm == arm:
                key = rule.values.tobytes()
                usual = asked[key] >= max(asked.values(), default=0)
                stacks[not usual].append(z.index(r.report)*z.W + r.state)
                asked[key] += 1
        products, counts = np.ones(len(WAGERS)), np.zeros((2, z.M*z.W))
        for n in range(min(len(stacks[0])//m, len(stacks[1]))):
            block = [*stacks[0][n*m:(n + 1)*m], stacks[1][n]]
            common = (counts.sum(0) + 1/(z.M*z.W))/(counts.sum() + 1)
            usual, other = ((c + LEAN*common)/(c.sum() + LEAN) for c in counts)
            g = (other/usual)[block]
            products *= 1 + WAGERS*((m + 1)*g[-1]/g.sum() - 1)
            top = max(top, products.mean())
            for cell in block[:m]:
                counts[0, cell] += 1
            counts[1, block[-1]] += 1
    return top/(z.K*len(RATIOS))

def law_watches():
    "The evidence in a certificate is what its formula makes of the rounds; levels add up to alarm."
    world = load_world('advert')
    world = replace(world, setting=replace(world.setting, prior=world.structure.priors[0]))
    z, oracle = world.setting, action_informed_oracle(world)
    for method, options in (sharp, {}), (patient, dict(told=Told(lapses=.01, alarm=.03))):
        run = Kept(method(z, oracle, eps=.1, delta=.3, **options))
        found = simulate(run, world, 1)
        checks = {c.name: c for c in found.checks}
        alarm = found.told.alarm
        assert found.status == 'certified' and checks['reports'].rounds > 10
        assert .8*alarm <= sum(c.level for c in found.checks) <= alarm*(1 + 1e-12)
        rounds = list(zip(run.rules, run.responses))
        assert close(checks['reports'].evidence, evidence_of_reports(z, rounds))
        if method is sharp:
            assert checks['prior'].rounds == found.rounds
            assert close(checks['prior'].evidence, evidence_of_a_prior(z, found.trace.arms,
                                                                       found.trace.beliefs))

def law_within():
    """A learner that is halted by the rounds around it gives its answer, with the reason for which
    it was halted; where something was seen to fail, nothing is claimed."""
    (world, z, oracle), n, asked = a_duo(), 40, []
    def answer(rule):
        if len(asked) == n:
            raise Halt('round_cap')
        asked.append(rule)
        return (yield rule)
    found = simulate(within(sharp(z, oracle, eps=.02, delta=.1), answer), world, 0)
    assert (found.status, found.rounds, found.violated) == ('round_cap', n, None)
    assert found.certificate is not None and found.profit is not None
    careless = replace(world, agent=Lapsing(.3))
    found = simulate(patient(z, oracle, eps=.05, delta=.1, told='lapses=.02'), careless, 3)
    assert (found.status, found.violated) == ('assumption_violated', 'lapses')
    assert found.certificate is found.profit is found.lead is None

def law_lapses_are_charged():
    """What is earned at least: the learner's bound in a share of 1 - η, else the worst belief's.
    The learner has what the questions leave of δ, and the evidence is that of all tallies."""
    (world, z, oracle), eta = a_duo(), .1
    told = Told(lapses=eta)
    for seed in range(6):
        inner = []
        run = Kept(patient(z, oracle, eps=.15, delta=.2, told=told, within=keeping(sharp, inner)))
        found = simulate(run, replace(world, agent=Lapsing(.15)), seed)
        worst = (z.belief_utility - found.rule.expected).min()
        if inner[0].found.profit > worst + .01:
            break
    assert found.status == 'certified' and inner[0].found.profit > worst + .01
    assert close(found.profit, (1 - eta)*inner[0].found.profit + eta*worst)
    assert found.certificate == inner[0].found.certificate
    assert close(inner[0].found.delta, .75*.2)
    assert sum(chance_of_question(i, .05) for i in range(5000)) <= .05
    tallies = {}
    for rule, response in zip(run.rules, run.responses):
        tallies.setdefault(rule.values.tobytes(), np.zeros(z.K))[response.arm] += 1
    # what isn't the arm of most answers to one rule; of one that was asked twice, to either
    least = sum(t.sum() - t.max() for t in tallies.values())
    assert .5*least <= found.lapses <= least
    check = next(c for c in found.checks if c.name == 'lapses')
    rates = np.clip([eta + .03, 1.5*eta, 2*eta, 3*eta, .3, .6], min(1.05*eta, .95), .95)
    n, lapses = found.rounds, found.lapses
    wealth = (rates/eta)**lapses*((1 - rates)/(1 - eta))**(n - lapses)
    assert close(check.evidence, wealth.mean()) and check.rounds == n

def law_snap():
    "A report stands for the nearest belief, and no farther than `snap` in any state."
    z = a_duo()[1]
    for belief, off, side in product(z.support, (.002, .0099, .0101, .015, .019, .03), (1, -1)):
        said = belief + np.array([side, -side])*off
        gaps = np.abs(z.support - said).max(1)
        if said.min() < 0:
            continue
        try:
            place, _, far = as_report(z, said.tolist())
        except InvalidInput:
            assert gaps.min() > .01
        else:
            assert place == gaps.argmin() and close(far, gaps.min()) and far <= .0100001

def law_sentence():
    "What wasn't looked at isn't listed as checked, and nothing is printed as certain."
    found = identify(a_duo()[0], eps=.4, delta=1e-7, seed=0)
    never = replace(found, checks=(Check('boundaries', 0., 0., 0, True), ))
    done, undone = never.statement.split('Not checked: ')
    assert 'boundaries' in undone and 'boundaries' not in done
    assert 'probability 99.99999 %' in found.statement
    assert 'lets no rule change' in found.statement

LAWS = {name: law for name, law in list(globals().items()) if name.startswith('law_')}
if __name__ == '__main__':
    LAWS[sys.argv[1]]()

# --- Worlds on the edge ---------------------------------------------------------------

def _tie(joint, costs, utility):
    p = (1 + joint[0].sum(0)[0])/2
    proof = np.array([[p, 0], [1 - p, 1]])/2
    return [proof, proof[:, ::-1], [[.5, .5]]], [costs[0]/5, costs[0]/5, 0.], np.eye(2)

DEGENERATE = {      # of joint, costs and utility of another world
    'equal arms': lambda p, c, u: ([p[0], p[0], p[2]], [c[0], c[0], c[2]], u), 'tie': _tie,
    'constant utility': lambda p, c, u: (p, c, np.full_like(u, u[0, 0])),
    'zero costs': lambda p, c, u: (p, 0*c, u),
    'single signal': lambda p, c, u: ([p[0].sum(0, keepdims=True), *p[1:]], [0., *c[1:]], u)}

def degenerate_world(kind, seed=0):
    "A world on the edge (chapter 64), with three arms, two states, two decisions and bound 1."
    base = random_world(3, 2, 3, seed)
    return make_world(*DEGENERATE[kind](base.structure.joint, base.costs, base.setting.utility),
                      base.setting.bound, name=kind)
