"""Hostile worlds, a judge who knows them, and a look into runs of the sharp learner.

A whole run shows next to nothing of a fault: the rule that it finds is nearly always better than
what is proved of it. So at every step what the learner believes is compared with the truth
(`Looking`); `benchmarks/attack.py` does so in some thousands of runs."""
from collections import Counter
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import permutations
from unittest.mock import patch
import numpy as np
from scipy.optimize import linprog
from scipy.stats import binom
from oia_nb.all import (NotInducible, action_informed_oracle, generator, make_world, optimal_rule,
                        random_world, simulate)
from oia_nb.core import SolverFailure
from oia_nb.game.information import Rational
from oia_nb import verify as checker
from oia_nb.sharp import bets, evidence, hints, walls
from oia_nb.sharp.learner import SharpLearner
from oia_nb.verify import BETS, OWN, STAKES

# --- Hostile worlds -----------------------------------------------------------------------

def drawn(rng, n, size):
    x = np.maximum(rng.dirichlet(np.full(n, size)), 1e-9)
    return x/x.sum()

def structure(rng, W=2, K=None, signals=None, prior=None):
    "[joint of each arm], costs, utility: of every shape."
    K = K or int(rng.choice([2, 2, 3, 3, 4, 5, 6] if W == 2 else [2, 3]))
    most = 6 if W == 2 else 4
    def arm():
        p = drawn(rng, W, rng.choice([.5, 1., 3.])) if prior is None else prior
        size, n = rng.choice([.1, .3, 1., 3.]), signals or int(rng.integers(1, most))
        return (p[:, None]*np.array([drawn(rng, n, size) for _ in range(W)])).T
    D = int(rng.integers(1, 4))
    utility = rng.uniform(0, 1, (W, D)) if rng.random() < .6 else np.eye(W)[:, :max(D - 1, 1)]
    return [arm() for _ in range(K)], rng.uniform(0, .1, K)*(rng.random(K) < .8), utility

def many_beliefs(rng, W):
    return structure(rng, W, K=2, signals=int(rng.integers(6, 20)) if W == 2 else 5)

def near_arms(rng, W):
    "Two arms that hardly differ, in what they see or in what they cost."
    joint, costs, u = structure(rng, W, K=int(rng.integers(2, 4)))
    h, noise = 10.**rng.uniform(-4, -1), rng.uniform(size=joint[0].shape)
    twin = (1 - h)*joint[0] + h*noise/noise.sum()
    more = rng.choice([0., 1., -1.])*rng.choice([2e-6, 1e-5, 1e-4, 1e-3])
    return [*joint, twin], np.maximum([*costs, costs[0] + more], 0), u

def near_costs(rng, W):
    joint, costs, u = structure(rng, W)
    return joint, rng.permutation(len(costs))*10.**rng.uniform(-5.5, -3) + .05*rng.integers(2), u

def near_beliefs(rng, W):
    "Beliefs of which some are up to a millionth alike."
    pool = [drawn(rng, W, 1.) for _ in range(int(rng.integers(2, 5)))]
    def arm():
        h = 10.**rng.uniform(-5.5, -3)
        near = np.abs([x + h*rng.normal(size=W) for x in pool])
        return near/near.sum(1, keepdims=True)*drawn(rng, len(pool), 1.)[:, None]
    joint, costs, u = structure(rng, W)
    return [arm() for _ in joint], costs, u

def extreme_beliefs(rng, W):
    def belief():
        x = np.full(W, rng.choice([0., 10.**rng.uniform(-7, -3)])/(W - 1))
        i = rng.integers(W)
        x[i] = 0
        x[i] = 1 - x.sum()
        return x if rng.random() < .6 else drawn(rng, W, 1.)
    joint, costs, u = structure(rng, W)
    n = int(rng.integers(2, 4))
    return [np.array([p*belief() for p in drawn(rng, n, 1.)]) for _ in joint], costs, u

def costs_alike(rng, W):
    joint, costs, u = structure(rng, W, K=int(rng.integers(2, 5)))
    kind = rng.integers(4)
    costs = [0*costs, 0*costs + costs.max(), costs.round(1), costs][kind]
    if kind == 3:
        costs[costs.argsort()[:2]] = costs.min()
    return joint, costs, u

def random_alike(rng, W):
    "As random worlds are drawn, of which some arms cost the same."
    world = None
    while world is None:
        K, signals = int(rng.integers(2, 6)), int(rng.integers(2, 5))
        with suppress(NotInducible):
            world = random_world(K, W, signals, int(rng.integers(1e9)), tries=1)
    costs = np.array(world.costs)
    if rng.random() < .5:
        costs[costs.argsort()[:2]] = costs.min()
    costs = costs if rng.random() < .7 else 0*costs + costs.max()
    return world.structure.joint, costs, world.setting.utility

def beliefs_alike(rng, W):
    "Arms with the same beliefs; some of them the same arm."
    joint, costs, u = structure(rng, W, signals=2)
    pool = [drawn(rng, W, 1.), drawn(rng, W, 1.), np.full(W, 1/W)][:int(rng.integers(2, 4))]
    joint = [np.array(pool)*drawn(rng, len(pool), 1.)[:, None] for _ in joint]
    joint[-1] = joint[0] if rng.random() < .3 else joint[-1]
    return joint, costs if rng.random() < .5 else 0*costs + .05*rng.integers(2), u

def utilities_alike(rng, W):
    "Nothing is worth more than anything else, or beliefs that are mirrored earn the same."
    joint, costs, u = structure(rng, W, signals=2)
    joint[1] = joint[0][:, ::-1]
    costs[1] = costs[0] if rng.random() < .7 else costs[1]
    return joint, costs, rng.choice([0., .7])*np.ones((W, 1)) if rng.random() < .3 else np.eye(W)

FAMILIES = dict(plain=structure, many=many_beliefs, arms=near_arms, costs=near_costs,
                beliefs=near_beliefs, extreme=extreme_beliefs)
TIES = dict(costs=costs_alike, random=random_alike, beliefs=beliefs_alike,
            utilities=utilities_alike)

def hostile(make, rng, W=2):
    """A world of the family `make` with an oracle, or None if no arm but one can be induced;
    often in another unit, with a bound of another size."""
    unit = 10.**rng.uniform(-6, 6) if rng.random() < .2 else 1.
    bound = float(rng.choice([.3, 1., 1., 1., 3., 30.]))
    joint, costs, utility = make(rng, W)
    return built(joint, costs*min(bound, 1.)*unit, utility*unit, bound*unit)

def built(joint, costs, utility, bound):
    "The world without the arms that no rule induces, or None."
    while len(joint) > 1:
        world = make_world([j/j.sum() for j in joint], costs, utility, bound)
        try:
            action_informed_oracle(world)
            return world
        except NotInducible:
            try:
                rules = optimal_rule(world).rules
            except SolverFailure:               # one of 3,000 such worlds
                return None
            kept = [k for k, rule in enumerate(rules) if rule is not None]
            kept = kept if len(kept) < len(joint) else kept[:-1]
            joint, costs = [joint[k] for k in kept], np.array(costs)[kept]

def knowing(world, rng):
    "The same world, whose principal is told supports, or a common prior, or both."
    z, priors = world.setting, np.array(world.structure.priors)
    if rng.random() < .5:
        z = replace(z, supports=[sorted({int(i) for i in np.flatnonzero(q)})
                                 for q in world.belief_distributions])
    if np.ptp(priors, axis=0).max() < 1e-12 and rng.random() < .7:
        z = replace(z, prior=priors[0])
    return replace(world, setting=z)

def small_world(i, K=2, W=2, signals=2, begins=500):
    for n in range(200):
        with suppress(NotInducible):
            return random_world(K, W, signals, generator(begins + i, n), prior='arm', margin=.01,
                                tries=1)

def gap_of(world):
    "What the second best arm loses, at least."
    return float(np.sort(optimal_rule(world).gaps)[1])

# --- The judge -----------------------------------------------------------------------------

def over_proper_rules(support, cost, rows, ends):
    """The least ⟨cost, (S, m)⟩, by another solver, over proper rules S (M, W) from 0 to 1, and
    numbers m if rows have so many entries, for which the rows are at most what `ends` says."""
    (M, W), unit = support.shape, np.eye(len(support))
    lies = [np.kron(unit[j] - unit[i], support[i]) for i, j in permutations(range(M), 2)]
    free = len(cost) - M*W
    A = np.vstack([np.pad(np.reshape(lies, (-1, M*W)), ((0, 0), (0, free))), rows])
    return linprog(cost, A, np.append(np.zeros(len(lies)), ends),
                   bounds=[(0, 1)]*(M*W) + [(None, None)]*free)

class Judge:
    "What is true of a world with an exact expert, by programs of its own."
    def __init__(self, world):
        z, self.world = world.setting, world
        self.support, self.bound = np.array(z.support), z.bound
        self.q, self.c = np.array(world.belief_distributions), np.array(world.costs)
        self.utility = self.support @ z.utility
        self.u = self.utility.max(1)
        found = [self.cheapest(k) for k in range(len(self.q))]
        self.answered = {k: x for k, x in enumerate(found) if x is not None}
        self.profits = {k: self.q[k] @ (self.u - (self.support*x).sum(1))
                        for k, x in self.answered.items()}
        self.most = max(self.profits.values())

    def cheapest(self, k):
        "(M, W): the proper rule for which arm k takes least; None if there is none."
        x, q, c = self.support, self.q, self.c/self.bound
        found = over_proper_rules(x, (q[k][:, None]*x).ravel(),
                                  [((p - q[k])[:, None]*x).ravel() for p in q], c - c[k])
        return found.x.reshape(x.shape)*self.bound if found.status == 0 else None

    def earns(self, values):
        """What the principal earns by a rule (M, W) at least and at most, as the expert's ties
        may be broken."""
        pay = self.support @ values.T
        told = np.where(pay.diagonal() >= pay.max(1) - 1e-8*values.max(), np.arange(len(pay)),
                        pay.argmax(1))
        s = pay[np.arange(len(pay)), told]
        g, stake = self.q @ s - self.c, max(values.max(), self.c.max())
        found = []
        for k in np.flatnonzero(g >= g.max() - 1e-9*stake):
            pooled = np.zeros((len(pay), self.utility.shape[1]))
            np.add.at(pooled, told, self.q[k][:, None]*self.utility)
            found.append(pooled.max(1).sum() - self.q[k] @ s)
        return min(found), max(found)

    def regret(self, values):
        "How much a rule loses, at least."
        return self.most - self.earns(values)[1]

    def share(self, k, n=400):
        "Of the random rules of a search, how many an arm answers, at least."
        z, hits = self.world.setting, 0
        for i in range(n):
            hits += self.world.best_response(bets.search_rule(z, 10**6, i)) == k
        return binom.ppf(1e-7, n, hits/n)/n

    def false_clauses(self, found, eps):
        "What a result says that isn't so: of the arms that were seen, if others may be missed."
        if found.certificate is None:
            return []
        tol, bound = 1e-7*self.world.setting.B, found.certificate.bound
        bound = min(bound, eps) if found.status == 'certified' else bound
        unseen = [k for k in self.profits if found.missed is not None and not found.counts[k]]
        most = max(v for k, v in self.profits.items() if k not in unseen)
        lost = most - self.earns(found.rule.values)[1]
        false = dict(regret=lost > bound + tol,
                     missed=any(self.share(k) > found.missed for k in unseen),
                     earns=found.profit is not None
                     and self.earns(found.rule.values)[1] < found.profit - tol,
                     arm=self.world.best_response(found.rule) != found.arm)
        return [name for name, is_false in false.items() if is_false]

# --- Faults that are planted --------------------------------------------------------------

def early(candidate, known, *what):
    c = candidate(known, *what)
    return replace(c, counts=0*c.counts)

def full_share(candidate, known, *what):
    return replace(candidate(known, *what), delta=known.delta)

def scaled(*by):
    "A change: each of the values that are returned is multiplied."
    return lambda old, *given: tuple(x*y for x, y in zip(by, old(*given)))

def missing(part):
    "A change of what is missing against arm j of candidate c; None is left out."
    return lambda old, known, c, eps: (
        (j, x) for j, m in old(known, c, eps) if (x := part(c, j, m)) is not None)

PLANTS = dict(      # by what it is seen, changes of the learner, and the same of the checker
    # a quarter of the evidence is asked for
    quarter=('shares', [(bets, 'asked_of', lambda old, c, j: .25*old(c, j))], []),
    # each candidate has all of δ, and as much again
    share=('shares', [(bets, 'share', lambda old, n: 2.)],
           [(place, 'share', lambda old, n: 2.) for place in (checker, hints)]),
    # samples from before a registration count for its candidate
    registration=('samples', [(bets, 'as_candidate', early)],
                  [(checker, 'candidate', lambda old, *given: (0, old(*given)[1]))]),
    # every sample counts four times
    reuse=('evidence', [(bets, name, lambda old, *given: 4*old(*given)) for name in (
        'own_wealth', 'pair_wealth')],
           [(checker, 'counts', lambda old, *given: 4*old(*given))]),
    # half-spaces say a fifth more than they prove
    bound=('bound|cut|region', [(walls, 'proved_least', lambda old, *given: (
        (low := old(*given)) + .2*abs(low)))], [(checker, 'cut', scaled(1, 1.25))]),
    # functionals are two fifths too small: multipliers that aren't dual
    dual=('cut|region', [(walls, 'weigh', scaled(1, .6)), (walls.Cut, 'row', scaled(.6, 1))],
          [(checker, 'cut', scaled(.6, 1))]),
    half=('evidence', [(bets, 'missing', missing(lambda c, j, m: m + .5*np.log(c.delta)))], []),
    own_left_out=('evidence', [(bets, 'missing', missing(
        lambda c, j, m: None if j == c.arm else m))], []),
    own_at_one=('evidence', [(bets, 'missing', missing(
        lambda c, j, m: m + np.log(c.delta)*(j == c.arm)))], []),
    unseen_beliefs=('evidence', [(bets, 'pair_wealth', lambda old, n, rules, u, *more: old(
        n, rules, np.where(n > 0, u, u.min()), *more))], []),
    best_gambler=('evidence', [(evidence, 'mixed_wealth', lambda old, logs: logs.max(-1))], []),
    one_share_for_both=('shares', [(bets, 'asked_of', lambda old, c, j: -np.log(c.delta))], []),
    all_of_delta=('shares', [(bets, 'as_candidate', full_share)], []))

@contextmanager
def planted(name, checked=True):
    "With a fault of `PLANTS` in the learner; in the checker as well, unless that is `checked`."
    _, learner, checker = PLANTS.get(name, (None, [], []))
    with ExitStack() as stack:
        for place, attribute, change in learner + ([] if checked else checker):
            old = vars(place)[attribute]
            new = (property(partial(change, old.fget)) if isinstance(old, property)
                   else partial(change, old))
            stack.enter_context(patch.object(place, attribute, new))
        yield

# --- The look inside ------------------------------------------------------------------------

# rules, at most, of which somebody else would have claimed something; nats by which what seems to
# be proved may be more than is
SHADOWS, SEEMS = 6, .5

def log_wealth(counts, z, mean):
    "Of all gamblers together, for outcomes z whose mean is not above `mean`; at most."
    if mean < 1e-6*max(z.max(), 0) or z.max() <= 0:
        return np.inf
    won = counts @ np.log1p(np.multiply.outer(z/mean - 1, BETS))
    return np.logaddexp.reduce(won + np.log(np.array(STAKES)/np.sum(STAKES)))

class Kept:
    """A learner under way, whose rules, responses and end are kept, and which is looked at after
    every answer; what isn't its own is that of the learner within."""
    def __init__(self, learner):
        self.learner, self.rules, self.responses, self.found = learner, [], [], None
    def __getattr__(self, name):
        return getattr(self.learner, name)
    def __iter__(self):
        return self
    def __next__(self):
        return self.send(None)
    def send(self, response):
        self.responses += [] if response is None else [response]
        try:
            self.rules.append(self.learner.send(response))
        except StopIteration as end:
            self.found = end.value
            raise
        finally:
            self.look()
        return self.rules[-1]
    def stop(self):
        self.found = self.learner.stop()
        return self.found
    def look(self):
        pass

class Looking(Kept):
    """A sharp learner whose beliefs are compared with the truth after every answer: bounds and
    order of each pair of arms, what each arm must be paid, each cut; and every so many rounds
    (`often`, and more of them later) and in the end, whether a rule passes for one that loses less
    than it does.

    `looked` counts what was compared. With `asks`, a candidate that seems to pass is proved: what
    the checker refuses isn't believed.
    """
    def __init__(self, learner, world, often=5, shares=(.98, .7), asks=True):
        super().__init__(learner)
        self.judge, self.often, self.shares = Judge(world), often, shares
        self.asks, self.looked, self.earned, self.shadows = asks, Counter(), {}, []
        self.next = 1                       # round in which claims are looked at again

    def look(self):
        known = self.learner.known
        if known is None or known.first is None:
            return
        self.ties(known)
        for pair, wall in known.walls.items():
            self.wall(known, wall, *pair)
        for j, region in known.regions.items():
            self.region(known, j, region)
        self.shadow(known)
        if known.rounds >= self.next or self.found:
            self.next = known.rounds + max(self.often, known.rounds//4)
            self.claims(known)

    def ties(self, known):
        c, bound = self.judge.c, self.judge.bound
        for j in known.tied:
            assert c[j] - c[known.first] <= 1.1e-6*bound, 'costs that are not the same'
        self.looked['ties'] += len(known.tied)

    def wall(self, known, wall, l, j):
        "Of two arms whose costs differ and are known to be in this order."
        q, c, bound = self.judge.q, self.judge.c, self.judge.bound
        if l != known.first and not wall.order or wall.tied:
            return
        assert c[l] - c[j] <= 1e-7*bound, 'the order of two arms'
        if c[j] - c[l] <= 1e-6*bound:
            return
        self.looked['bounds'] += int(np.isfinite([wall.up, wall.low]).sum())
        a = known.cone.D @ (q[j] - q[l])/(c[j] - c[l])*bound
        room = 2e-4*(1 + np.abs(a))
        assert (a <= wall.up + room).all() and (a >= wall.low - room).all(), 'a bound'

    def region(self, known, j, region):
        "What the arm answers at the edge of its rules is paid as the region says."
        values, c = self.judge.answered.get(j), self.judge.c
        if values is None or j in known.tied or c[j] - c[known.first] <= 1e-6*self.judge.bound:
            return
        o = known.outcomes
        paid = np.tensordot(o.out, values, 2) if o.own else (values*self.judge.support).sum(1)
        self.looked['regions'] += 1
        if o.by_bets:
            for p in o.shares[j], np.full(len(paid), 1/len(paid)):
                assert (region.rules @ p).min() <= p @ paid + 1e-3*self.judge.bound, 'a region'
        else:
            for cut in region.cuts:
                g, h = cut.row
                self.looked['cuts'] += 1
                assert g @ o.behind(paid) >= h - 1e-3, 'a cut'

    def claims(self, known):
        """What is believed of candidates, and would be if somebody else had registered each rule
        as soon as it was answered, which is a choice like any other."""
        first = [c for c in known.candidates if c.is_zero]
        for candidates in known.candidates, first + self.shadows:
            kept, known.candidates = known.candidates, candidates
            self.shares_of(known)
            for c in candidates:
                self.evidence(known, c)
                self.claim(known, c)
            known.candidates = kept

    def shares_of(self, known):
        "All candidates together may fail with probability δ."
        spent = 0.
        for c in known.candidates:
            arms = {(c.arm + 1) % known.setting.K} | (set() if c.is_zero else {c.arm})
            spent += sum(np.exp(-bets.asked_of(c, j)) for j in arms)
        assert spent <= known.delta*(1 + 1e-9), 'shares of δ'

    def evidence(self, known, c):
        "The wealth against each arm is no more than what its true rule and mean leave."
        o, q, K = known.outcomes, self.judge.q, known.setting.K
        P = np.zeros((K, len(known.u)))
        for i, w in np.ndindex(o.place[:, :-1].shape):
            P[:, o.place[i, w]] += q[:, i]*self.judge.support[i, w]
        counts = np.zeros_like(P)
        for r in known.record.rounds[c.rounds:known.rounds]:
            counts[r.arm, o.place[r.belief, r.state]] += 1
        paid, u, mine = o.paid(c.rule), known.u, counts[c.arm]
        every = o.counts
        assert (every[c.arm] - c.counts == mine).all(), 'samples from before a registration'
        # an arm that costs what the first one does can do no better than the zero rule
        least = self.judge.world.costs[known.first] + 1e-6*self.judge.bound
        rivals = {j for j in self.judge.answered if self.judge.world.costs[j] > least}
        rivals |= {known.first} & set(self.judge.answered) - {c.arm}
        rivals -= known.tied | known.unseen
        for j in rivals:
            best = self.judge.answered[j]
            least = np.tensordot(o.out, best, 2)
            x, x_j = u - paid, u - least
            lost = P[j] @ x_j - P[c.arm] @ x
            if lost <= .002*self.judge.world.setting.B:
                continue
            self.looked['evidence'] += 1
            # of a region of cuts only some rules are known
            rules, mu = [least] if known.by_bets else known.regions[j].rules, P[c.arm] @ x
            won = min(log_wealth(mine, paid.max() - paid + v, paid.max() - lost) if j == c.arm else
                      log_wealth(mine, x - x.min(), mu - x.min())
                      + log_wealth(every[j], u.max() - u + v, u.max() - mu - lost) for v in rules)
            if np.isfinite(won):
                missing = dict(bets.missing(known, c, lost))
                part = 1. if c.is_zero else OWN if j == c.arm else 1 - OWN
                seems = -np.log(max(part*c.delta, 5e-324)) - missing.get(j, -np.inf)
                # what is negative is of no use
                room = SEEMS*(1 if known.by_bets else 4)*(4 if seems < 0 else 1)
                assert seems - won <= room, 'evidence'

    def shadow(self, known):
        "Register what was answered last, as somebody else."
        if not known.data.rounds or len(self.shadows) >= SHADOWS:
            return
        a = known.answer_to(known.rule(known.data.asked[-1]))
        is_new = a is not None and a.round == known.rounds and a.arm != known.first
        if not is_new or not self.lost(known, a.rule):
            return
        kept, known.candidates = known.candidates, [known.candidates[0], *self.shadows]
        self.shadows.append(bets.as_candidate(known, a.rule, a.arm))
        known.candidates = kept

    def lost(self, known, rule):
        "What a rule loses against arms that were seen, or 0 if that is next to nothing."
        key, judge = rule.values.tobytes(), self.judge
        if key not in self.earned:
            self.earned[key] = judge.earns(rule.values)[1]
        lost = max(v for k, v in judge.profits.items() if k not in known.unseen) - self.earned[key]
        return lost if lost > .002*judge.world.setting.B else 0.

    def claim(self, known, c):
        lost = self.lost(known, c.rule)
        for share in self.shares if lost else ():
            self.looked['claims'] += 1
            if bets.passes(known, c, share*lost):
                self.looked['passed'] += 1
                assert not (self.asks and bets.prove(known, c, share*lost)), 'a claim'

def looked_into(learner, world, seed, **how):
    "`simulate`, and a sharp learner is looked into if the expert is an exact one."
    if not isinstance(learner, SharpLearner) or type(getattr(world, 'agent', 0)) is not Rational:
        return simulate(learner, world, seed)
    looking = Looking(learner, world, **how)
    found = simulate(looking, world, seed)
    false = looking.judge.false_clauses(found, found.eps)
    assert not false, false
    return found
