"""Laws of the algorithms, each a function that raises AssertionError when it is broken.

`test_mutants.py` runs them on the package, where they must hold, and on broken variants, where they must not.
A statistical law compares a number of failures with the 1 - 10⁻⁶ quantile of the binomial distribution that bounds it,
so that it fails on a right program with probability at most 10⁻⁶; there is one of them.

    python laws.py NAME
"""
import sys
from itertools import product
import numpy as np
from scipy.stats import binom
from oia_nb.all import *

FALSE_ALARM = 1e-6

def worlds(n, **options):
    "Small worlds of every shape, with a common prior and with priors that depend on the arm."
    for i, (K, W) in zip(range(n), 10*[(2, 2), (3, 2), (2, 3), (4, 2)]):
        yield random_world(K, W, 3, generator(55, i), prior=('common', 'arm')[i % 2], margin=.01, **options)

def informed_transcript(world, oracle, n, rng):
    "A transcript of about `n` answers an arm: beliefs drawn from q, answers to mixtures of oracle rules given by the agent."
    data, z = Transcript(world.setting), world.setting
    for k, rule in enumerate(oracle.rules): data.record(k, rng.choice(z.M, p=world.belief_distributions[k]), rule.expected)
    for line in range(60):
        a, b = rng.integers(z.K, size=2)
        for place in rng.random(4):
            rule = mix(oracle.rules[a], oracle.rules[b], place)
            arm = world.best_response(rule)
            data.record(arm, rng.choice(z.M, p=world.belief_distributions[arm]), rule.expected, line, place)
    extra = np.array([rng.multinomial(n, q) for q in world.belief_distributions])
    for arm, belief in product(range(z.K), range(z.M)):
        for _ in range(extra[arm, belief]): data.record(arm, belief, oracle.rules[arm].expected, ('oracle', arm), 1.)
    return data

# --- The game ------------------------------------------------------------------------------------------------------

def law_beliefs():
    "q_k is a distribution whose mean is the prior of arm k, and every belief a distribution over states."
    for world in worlds(8):
        q, support = world.belief_distributions, world.setting.support
        np.testing.assert_allclose(support.sum(1), 1, atol=1e-9)
        np.testing.assert_allclose(q.sum(1), 1, atol=1e-9)
        for k, joint in enumerate(world.structure.joint): np.testing.assert_allclose(q[k] @ support, joint.sum(0), atol=1e-9)

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
    "LP_k: its rule is proper, induces its arm, attains its value, and no rule of V_k found at random does better."
    for i, world in enumerate(worlds(8)):
        z, rng, best = world.setting, generator(57, i), optimal_rule(world)
        for k, rule in enumerate(best.rules):
            if rule is None: continue
            assert is_proper(rule) and region_margin(world, rule, k) > -1e-7
            np.testing.assert_allclose(arm_profit(world, rule)[k], best.profits[k], atol=1e-7)
        for _ in range(200):
            rule = menu_rule(z.support, rng.uniform(0, z.bound*rng.random(), (5, z.W)), z.bound)
            k = world.best_response(rule)
            assert arm_profit(world, rule)[k] <= best.profits[k] + 1e-7

# --- Learning ------------------------------------------------------------------------------------------------------

def stack_failures(delta, runs, n=150, seed=58):
    "In how many of `runs` stacks of `n` beliefs an arm, K = 2 arms with two beliefs, some empirical distribution is outside its radius."
    rng, sizes = generator(seed), np.arange(1, n + 1)
    heads = (rng.random((runs, 2, n)) < .5).cumsum(-1)
    deviation = 2*np.abs(heads/sizes - .5)
    radius = radius_fc(sizes, sizes + 1, K=2, M=2, delta=delta)
    return int((deviation > radius).any((1, 2)).sum())

def law_radius():
    "The radius is the printed one, wherever 2^M can be formed."
    for N, t, K, M, delta in product((1., 50., 3e4), (1, 10, 10**6), (2, 5), (2, 30), (1e-6, .1, 1.)):
        np.testing.assert_allclose(radius_fc(np.array([N]), t, K=K, M=M, delta=delta), np.sqrt(2*np.log(4*K*2.**M*t**2/delta)/N), rtol=1e-12)
        np.testing.assert_allclose(radius_fb(np.array([N]), t, a=7.), np.sqrt(7/N), rtol=1e-12)

def law_event():
    "P(event fails) ≤ (π²/24) δ on the stack, at δ = 0.5 (400 stacks)."
    assert stack_failures(.5, 400) <= binom.ppf(1 - FALSE_ALARM, 400, .5*np.pi**2/24)

def law_costs():
    "With q itself for q̂, the interval of every pair contains the cost difference, estimates are antisymmetric, radii symmetric and no longer than the edge."
    for i, world in enumerate(worlds(8)):
        data = informed_transcript(world, action_informed_oracle(world), 5, generator(59, i))
        data.counts = world.belief_distributions*data.N[:, None]
        C, zero = world.costs[:, None] - world.costs, np.zeros(world.setting.K)
        U = cost_upper(data, zero)
        assert (U >= C - 1e-8).all() and (-U.T <= C + 1e-8).all()
        C_hat, I_c, violated = cost_estimates(U, world.setting.bound)
        assert not violated and (np.abs(C_hat - C) <= I_c + 1e-8).all() and (I_c <= np.abs(U + U.T)/2 + 1e-12).all()
        np.testing.assert_allclose(C_hat, -C_hat.T, atol=1e-12)
        np.testing.assert_allclose(I_c, I_c.T, atol=1e-12)
        assert I_c.max() < .2*world.setting.bound

def law_paths():
    "On graphs whose costs are known: the estimate is the sum of the edges' own along a path, so that exact edges give exact differences."
    rng = generator(64)
    for K in (3, 4, 6):
        costs, phi = rng.random(K), rng.random((K, K))**3
        phi = phi + phi.T
        np.fill_diagonal(phi, 0.)
        C_hat, I_c = shortest_paths(costs[:, None] - costs, phi)
        np.testing.assert_allclose(C_hat, costs[:, None] - costs, atol=1e-12)
        exact = rng.permutation(K)                                # a chain of exact edges; what the others say is wrong
        theta, phi = costs[:, None] - costs + np.triu(np.ones((K, K)), 1) - np.tril(np.ones((K, K)), -1), np.ones((K, K))
        for a, b in zip(exact, exact[1:]): theta[a, b], theta[b, a], phi[a, b], phi[b, a] = costs[a] - costs[b], costs[b] - costs[a], 0., 0.
        np.fill_diagonal(phi, 0.)
        C_hat, I_c = shortest_paths(theta, phi)
        np.testing.assert_allclose(C_hat, costs[:, None] - costs, atol=1e-12)
        assert I_c.max() == 0

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
        np.testing.assert_allclose(cost_upper(kept, np.zeros(z.K)), cost_upper(full, np.zeros(z.K)), atol=1e-12)

def unlucky(world, width):
    "(K, M): beliefs distributed so that each arm looks as poor as it may on the event: `width`/2 of the mass is on the worst belief in place of the best."
    z, q = world.setting, world.belief_distributions.copy()
    for row in q:
        good, bad = np.where(row > 0, z.belief_utility, -np.inf).argmax(), z.belief_utility.argmin()
        moved = min(width/2, row[good])
        row[good] -= moved
        row[bad] += moved
    return q

def law_optimism():
    "On the event h(S_k*) ≤ ĥ_k ≤ u_k - v_Ŝ(k) + 2B I_k, with proper rules, at radii from wide to narrow; tight once nothing is uncertain."
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
        exact = programs.solve(world.belief_distributions*N, np.zeros(z.K), world.costs[:, None] - world.costs, np.zeros((z.K, z.K))).profits
        reachable = np.isfinite(best.profits)
        np.testing.assert_allclose(exact[reachable], best.profits[reachable], atol=1e-6)

# --- Searching and the loop ----------------------------------------------------------------------------------------

def law_search():
    "A search ends with k1 at λ_max, another arm at λ_min, and a bracket just below the threshold, after the rounds that its depth says."
    tried = 0
    for i, world in enumerate(worlds(16)):
        oracle, rng = action_informed_oracle(world), generator(62, i)
        for k1 in range(world.setting.K):
            S0, S1 = mix(oracle.rules[(k1 + 1) % world.setting.K], oracle.rules[k1], .1), oracle.rules[k1]
            k = world.best_response(S0)
            if k == k1: continue
            tried += 1
            threshold, data = float(rng.uniform(.003, .6)), Transcript(world.setting)
            search = simulate(binary_search(data, S0, S1, k_S0=k, k1=k1, threshold=threshold), world, rng)
            answer = lambda lam: world.best_response(mix(S0, S1, lam))
            assert answer(search.lam_max) == k1 and answer(search.lam_min) == search.k0 != k1
            assert search.lam_max - search.lam_min < threshold <= 2*(search.lam_max - search.lam_min)
            assert search.rounds == search_depth(threshold) == data.rounds
    assert tried > 15

def law_mixture():
    "mix(S0, S1, 0) is S0 and mix(S0, S1, 1) is S1, linear in between."
    world = next(worlds(1))
    a, b = brier(world.setting.support), spherical(world.setting.support)
    for lam in (0., .25, 1.): np.testing.assert_allclose(mix(a, b, lam).values, (1 - lam)*a.values + lam*b.values, atol=1e-12)

def law_stopping():
    "The test is the printed one wherever that is defined, and never holds for α = 1 or ε ≤ 2αB."
    setting = next(worlds(1)).setting
    for eps, alpha, I in product((.1, .5, 1., 2*setting.B), (0., .01, .1, .3, .6, 1.), (.001, .05, .2, 1.)):
        printed = alpha < 1 and 2*setting.B*I <= (eps - 2*alpha*setting.B)/(1 - alpha)
        assert should_stop(setting, eps, alpha, I) == printed
        assert not printed or certify(setting, alpha, I).bound <= eps + 1e-12

def law_run():
    """A run, checked against its own trace: shares, targets, counts, what a deviation leads to, and when it stops.

    Each plan has the arm with the highest optimistic profit and the share that its own normal rounds call for; a deviation is followed by a
    search, a success is not; it stops at the first plan that passes the test, and returns that plan's rule.
    """
    for i, world in enumerate(worlds(8, max_cost=.03)):
        z, plans = world.setting, []
        eps = 1.2*z.B
        r = simulate(oiafc(z, action_informed_oracle(world), eps=eps, delta=.1, max_rounds=6000, watch=plans.append), world, generator(63, i))
        kinds, arms, targets = r.trace.kinds, r.trace.arms, r.trace.targets
        assert len(kinds) == r.rounds == r.counts.sum() == z.K + r.normal_rounds + r.forced_rounds
        assert (arms[:z.K] == np.arange(z.K)).all() and (arms[kinds == NORMAL] == targets[kinds == NORMAL]).all()
        starts = np.array([p.t - 1 for p in plans])
        L = np.ones(z.K)
        for n, plan in enumerate(plans):
            np.testing.assert_array_equal(plan.N, np.bincount(arms[:plan.t - 1], minlength=z.K))
            assert plan.target == targets[plan.t - 1] and plan.profits[plan.target] >= plan.profits.max() - TIE_TOL*z.bound
            np.testing.assert_allclose(plan.alpha, min(1, np.sqrt(z.M/L[plan.target])))
            answered, following = arms[plan.t - 1], (starts[n + 1] if n + 1 < len(plans) else r.rounds) - plan.t
            threshold = min(plan.I[answered], plan.I[plan.target])
            deviated = answered != plan.target
            if plan.t + search_depth(threshold) < 6000: assert following == (search_depth(threshold) if deviated else 0)
            L[plan.target] += not deviated
            stops = not deviated and should_stop(z, eps, plan.alpha, plan.I[plan.target])
            assert stops == (n + 1 == len(plans) and r.status == 'certified')
        if r.status == 'certified':
            assert r.certificate.bound <= eps and (r.rule.values == plans[-1].rule.values).all() and world.best_response(r.rule) == r.arm

LAWS = {name: law for name, law in list(globals().items()) if name.startswith('law_')}
if __name__ == '__main__': LAWS[sys.argv[1]]()
