"""The checker of certificates: it accepts what the sharp learner proves, and no forgery. Nothing is
left to chance but which runs are played."""
from copy import deepcopy
from dataclasses import replace
from functools import cache
from itertools import product
from types import ModuleType, SimpleNamespace
import inspect
import os
import pickle
import random
import subprocess
import sys
import tomllib
import numpy as np
import pytest
from conftest import ROOT, amount
from oia_nb import verify as checker
from oia_nb.all import (LEARNERS, action_informed_oracle, load_world, random_world, sharp, simulate)
from oia_nb.run.learner import claim_of, facts_of
from oia_nb.sharp import hints
from laws import replaced
from spoilt import spoil

def play(world, eps, delta, seed, **options):
    return simulate(sharp(world.setting, action_informed_oracle(world), eps=eps, delta=delta,
                          examined=False, **options), world, seed)

# shipped worlds, and others with three and four states; the third of these is certified at once
SHIPPED = [('clinic', .04), ('clinic', .15), ('advert', .2), ('small_clinic', .1), ('wine', .1)]
ODD = [(3, 4, 3, 11), (3, 3, 4, 12), (2, 8, 2, 13), (4, 6, 2, 14)]

@cache
def certificate(name, eps, seed, delta=.05):
    "The claim, the proof and the facts of a run."
    world = load_world(name) if isinstance(name, str) else random_world(*name)
    found = play(world, eps, delta, seed)
    assert found.status == 'certified' and found.certificate.proof
    return claim_of(found), found.certificate.proof, facts_of(found)

def needed(claim, proof, facts):
    "The same, without the cuts that the proof can do without: a forgery of them forges nothing."
    for j in range(facts.K):
        less = deepcopy(proof)
        if less['arms'][j].pop('cuts', None) and verdict(claim, less, facts) is None:
            proof = less
    return claim, proof, facts

def verdict(claim, proof, facts, exact=False):
    return checker.verify(SimpleNamespace(claim=claim, proof=proof), facts, exact)

# --- True ones ------------------------------------------------------------------------

QUICK = [('clinic', .04, 0, .05), ('advert', .2, 0, .3), (ODD[0], .1, 0, .05), (ODD[1], .1, 0, .3)]
FULL = [(*world, seed, delta) for world in [*SHIPPED, *product(ODD, (.05, .1, .2))]
        for seed in range(4) for delta in (.05, .3)]

@pytest.mark.parametrize('name, eps, seed, delta', amount(QUICK, FULL))
def test_true_ones_pass(name, eps, seed, delta):
    assert verdict(*certificate(name, eps, seed, delta)) is None

@pytest.mark.parametrize('name, eps', [('small_clinic', .1), (ODD[1], .1),
                                       *amount([], [*SHIPPED[1:3], (ODD[0], .1), (ODD[0], .05)])])
def test_in_fractions(name, eps):
    "Two states, three with cuts and boxes; and four, with --release."
    claim, proof, facts = certificate(name, eps, 2)
    assert verdict(claim, proof, facts, exact=True) is None
    assert verdict(replace(claim, delta=1e-9*claim.delta), proof, facts, exact=True) is not None

JUDGED = """
import pickle, sys
from oia_nb.verify import verify
assert all(verify(c, f) is None for c, f in pickle.load(sys.stdin.buffer))
"""

@pytest.mark.parametrize('kernel', amount(['Prescott'], ['Haswell', 'Prescott']))
def test_under_other_kernels(kernel):
    "What was proved under one kernel of OpenBLAS is proved under another."
    true = [(SimpleNamespace(claim=c, proof=p), f) for c, p, f in
            (certificate('clinic', .04, 0), certificate(ODD[0], .05, 0))]
    run = subprocess.run([sys.executable, '-c', JUDGED], input=pickle.dumps(true),
                         capture_output=True, env=os.environ | dict(
                             OPENBLAS_CORETYPE=kernel, PYTHONPATH=str(ROOT)))
    assert not run.returncode, run.stderr

# --- Forgeries: each changes a copy of a claim, a proof and facts, or says that it can't ---

def forged(change, *true):
    "What comes of a change in place; a claim or facts that it returns are in the old one's place."
    claim, proof, facts = deepcopy(true)
    new = change(claim, proof, facts)
    return (new if isinstance(new, checker.Claim) else claim, proof,
            new if isinstance(new, checker.Facts) else facts)

def middle(found):
    "The middle one of the places of some kind; forgeries without a place are left out."
    return found[len(found)//2]

def used(p):
    "The terms of cuts that rest on answers which carry some of it: (cut, term)."
    weight = lambda term: np.abs(term[1]).sum()
    return [(c, t) for arm in p['arms'] for c in arm.get('cuts', ()) for t in c['terms']
            if isinstance(t[0], int) and weight(t) > .001*max(map(weight, c['terms']))]

def step(p, has):
    "(steps, n): the middle one of the steps that have something."
    return middle([(arm['steps'], n) for arm in p['arms'] for n, s in enumerate(arm['steps'])
                   if has in s])

def longest(p):
    "The most steps of an arm; of two, either may be for nothing."
    return max((a['steps'] for a in p['arms'] if len(a['steps']) > 2), key=len)

def order_of(p):
    return middle([c['order'] for a in p['arms'] for c in a.get('cuts', ()) if c.get('order')])

def candidate_of(f, p):
    "Its registration."
    return [None, *f.registered][p['candidate'] or 99]

def no_bound(c, p, f):
    p['arms'] = [dict(steps=[]) for _ in p['arms']]
    return replace(c, bound=np.nan)

def halved(c, p, f):
    "Every second sample is lost: rounds of a rule that was announced before."
    first = {int(r): t for t, r in reversed(list(enumerate(f.rounds[:, 0])))}
    again = [t for t, r in enumerate(f.rounds[:, 0]) if first[int(r)] != t]
    p['rounds'] = len(f.rounds) - len(again[::2])
    return replace(f, rounds=np.delete(f.rounds, again[::2], 0))

def answered_otherwise(f, rounds):
    f.rounds[rounds, 1] = (f.rounds[rounds, 1] + 1) % f.K

def flipped(c, p, f):
    rule = max((t for _, t in used(p)), key=lambda t: np.abs(t[1]).sum())[0]
    answered_otherwise(f, f.rounds[:, 0] == rule)

def another_at_zero(c, p, f):
    "The zero rule had another answer, in a proof that rests on it."
    overs = [c['over'] for a in p['arms'] for c in a.get('cuts', ())]
    if p['candidate'] and f.rounds[0, 1] not in overs:
        raise LookupError
    answered_otherwise(f, f.rounds[:, 0] == f.rounds[0, 0])

def another_at_last(c, p, f):
    "The last rule, which was asked before, has another answer now."
    if (f.rounds[:, 0] == f.rounds[-1, 0]).sum() == 1:
        raise LookupError
    answered_otherwise(f, -1)

def beliefs_turned(c, p, f):
    "Every arm but that of the zero rule reports what is worth most."
    u = (f.support @ f.utility).max(1)
    f.rounds[:, 2] = np.where(f.rounds[:, 1] == f.rounds[0, 1], u.argmin(), u.argmax())

def another_ray(c, p, f):
    r = candidate_of(f, p)
    r[1] = next(i for i in range(1, len(f.rules)) if not np.array_equal(f.rules[i], f.rules[r[1]]))

def scaled(by):
    "A functional is another multiple."
    def change(c, p, f):
        term = middle(used(p))[1]
        term[1] = [by*x for x in term[1]]
    return change

def one_entry(c, p, f):
    term = middle(used(p))[1]
    term[1][int(np.argmax(np.abs(term[1])))] *= 1.1

def over_itself(c, p, f):
    j = middle([j for j, a in enumerate(p['arms']) if a.get('cuts')])
    p['arms'][j]['cuts'][0]['over'] = j

def order_scaled(c, p, f):
    order_of(p)['answers'][0][1] *= .7

def dropped(c, p, f):
    cut, term = middle(used(p))
    cut['terms'].remove(term)

def rows_halved(c, p, f):
    for s in [s for arm in p['arms'] for s in arm['steps'] if 'rows' in s] or [step(p, 'rows')]:
        s['rows'] = [[i, .5*y] for i, y in s['rows']]

def weight(key, first):
    "Another first weight in a step."
    def change(c, p, f):
        found, n = step(p, key)
        found[n][key] = [first, *found[n][key][1:]]
    return change

# what a learner may not have honoured
WEAKER = dict(lapses=.05, margin=.01, band=.2, arm='guessed', beliefs='own', rounding=0,
              costs='until the end')
TOLD = {f'told {what}': lambda c, p, f, what=what: replace(
            c, told=dict(c.told or {}, **{what: WEAKER[what]}))
        for what in set(WEAKER) - set(LEARNERS['sharp'].honours)}

FORGED = TOLD | dict(
    bound=lambda c, p, f: replace(c, bound=.5*c.bound),
    delta=lambda c, p, f: replace(c, delta=.01*c.delta),
    no_bound=no_bound,
    arm=lambda c, p, f: replace(c, arm=1 - min(c.arm, 1)),
    rule=lambda c, p, f: replace(c, rule=.9*c.rule + .01),
    cheaper=lambda c, p, f: replace(c, rule=.5*c.rule + 1e-3),
    another=lambda c, p, f: replace(c, rule=c.rule[::-1] + .01),
    samples=halved, flipped=flipped, zero=another_at_zero, drift=another_at_last,
    beliefs=beliefs_turned,
    later=lambda c, p, f: p.update(rounds=10**6), no_rounds=lambda c, p, f: p.update(rounds=0),
    first_round=lambda c, p, f: p.update(rounds=1),
    begins=lambda c, p, f: replace(f, rounds=f.rounds[1:]),
    unkept=lambda c, p, f: f.rounds.__setitem__((3, 0), -1),
    utility=lambda c, p, f: replace(f, utility=2*f.utility),
    registered_late=lambda c, p, f: candidate_of(f, p).__setitem__(0, p['rounds']),
    registered_early=lambda c, p, f: candidate_of(f, p).__setitem__(0, 1),
    registered_arm=lambda c, p, f: candidate_of(f, p).__setitem__(2, (c.arm + 1) % f.K),
    registered_ray=another_ray,
    unregistered=lambda c, p, f: candidate_of(f, p) and replace(f, registered=[]),
    candidate=lambda c, p, f: p.update(candidate=p['candidate'] + 7),
    earlier=lambda c, p, f: p.update(candidate=p['candidate'] - 9),
    half=scaled(.5), double=scaled(2.), sign=scaled(-1.), missing=scaled(np.nan), dropped=dropped,
    functional=one_entry, over=over_itself, order=order_scaled,
    no_order=lambda c, p, f: order_of(p).clear(),
    lies=lambda c, p, f: middle(middle(used(p))[1][2]) and middle(used(p))[1][2].clear(),
    negative_lies=lambda c, p, f: middle(used(p))[1][2].append([0, 1, -1.]),
    no_steps=lambda c, p, f: longest(p).clear(), last_step=lambda c, p, f: longest(p).pop(),
    first_step=lambda c, p, f: longest(p).pop(0), turned=lambda c, p, f: longest(p).reverse(),
    coarse=lambda c, p, f: longest(p).__delitem__(slice(0, -1)),
    coarsest=lambda c, p, f: longest(p).__delitem__(slice(1, None)),
    weight=weight('own', -1.), lost_weight=weight('own', np.nan), negative=weight('weights', -1.),
    step=lambda c, p, f: (lambda found, n: found.pop(n))(*step(p, 'weights')),
    box=lambda c, p, f: (lambda found, n: found.pop(n))(*step(p, 'at')),
    outside=lambda c, p, f: (lambda found, n: found[n].update(at=2.))(*step(p, 'at')),
    rows=rows_halved, kind=lambda c, p, f: p.update(kind='trust'),
    arms=lambda c, p, f: p['arms'].pop())

TIGHT = [('clinic', .04, 0), ('small_clinic', .1, 0), (ODD[0], .05, 0)]
# what may leave enough where a proof has evidence to spare, in fractions as well
SPARE = {'samples', 'beliefs', 'order'}

@pytest.mark.parametrize('name, eps, seed', amount(TIGHT, [
    *TIGHT, *((*world, seed) for world in SHIPPED for seed in range(1, 4)),
    *((name, .1, 0) for name in ODD if name != ODD[2])]))
def test_forgeries_are_refused(name, eps, seed):
    true = needed(*certificate(name, eps, seed))
    assert verdict(*true) is None
    accepted, tried = [], 0
    for kind, change in FORGED.items():
        try:
            false = forged(change, *true)
        except (LookupError, StopIteration, ValueError):
            continue                # nothing of this kind is in this proof
        tried += 1
        spare = kind in SPARE and (name, eps, seed) not in TIGHT
        if verdict(*false) is None and not (spare and verdict(*false, exact=True) is None):
            accepted.append(kind)
    assert not accepted and tried >= 20 and len(FORGED) >= 40

# --- What is for nothing: shapes, places and sizes that no honest proof has -------------

def half(M, free):
    """A cut that says that arm j answers nothing: ⟨0, s⟩ ≥ 1. Of each payment m, both what is paid
    and what is not are taken for functionals that are never negative; `free` are the lies that are
    to prove it of the second."""
    e = np.eye(M)
    return dict(terms=[[(side*P).tolist(), (.5*side*P).tolist(), [] if side > 0 else free(m)]
                       for m, P in enumerate(e) for side in (1, -1)])

def flat(M, P, *paid):
    "The same: something that pays the same for each belief, which costs nothing, is left over."
    return dict(terms=[[d, P, []] for d in paid])

def other(m):
    return 0 if m else 1

NOTHING = dict(
    of_itself=lambda M: half(M, lambda m: [[m, m, 1e3]]),
    places=lambda M: half(M, lambda m: [[[other(m)]*2, [m, other(m)], 1e6]]),
    truth=lambda M: half(M, lambda m: [[other(m), True, 1e6]]),
    void=lambda M: half(M, lambda m: [[other(m), None, 1e6]]),
    column=lambda M: flat(M, [0.]*M, [[1.]]*M),
    row=lambda M: flat(M, [0.]*M, [[1.]*M]),
    one=lambda M: flat(M, [0.], 1.),
    rounding=lambda M: flat(M, [1e17]*M, [1.]*M, [-1.]*M),
    larger=lambda M: flat(M, [1e200]*M, [1.]*M, [-1.]*M),
    over=lambda M: flat(M, [1e308]*M, [1e3]*M, [-1e3]*M))

@pytest.mark.parametrize('kind', NOTHING)
@pytest.mark.parametrize('name, eps', [('clinic', .04), (ODD[0], .1)])
def test_nothing_is_for_nothing(name, eps, kind):
    "An empty region would prove whatever is claimed, of the zero rule as well."
    claim, proof, facts = certificate(name, eps, 0)
    forged, first = deepcopy(proof) | dict(candidate=0), int(facts.rounds[0, 1])
    claim = replace(claim, rule=0*claim.rule, arm=first, bound=.01*claim.bound)
    bet, timid = [1.] + [0.]*(len(checker.BETS) - 1), [0.]*(len(checker.BETS) - 1) + [1.]
    M, W = facts.support.shape
    steps = [dict(weights=bet, own=timid) | (dict(rows=[[0, 1e9]], lies=[]) if W > 2 else {})]
    for j, arm in enumerate(forged['arms']):
        if j != first:
            arm.clear()
            arm.update(cuts=[dict(over=first) | NOTHING[kind](M)], shares=[1.], steps=steps)
    assert verdict(claim, forged, facts) is not None

@pytest.mark.parametrize('name, eps', [('small_clinic', .1), (ODD[0], .1)])
def test_no_spoilt_proof_proves_more(name, eps):
    "Whatever somebody puts in some place of a proof, two thirds of the bound aren't proved."
    claim, proof, facts = certificate(name, eps, 0)
    rng, less = random.Random(0), replace(claim, bound=2*claim.bound/3)
    for _ in range(amount(150, 20_000)):
        assert verdict(less, spoil(deepcopy(proof), rng), facts) is not None

def seen(rules, rounds, K=3):
    "What is `Seen` of payments (R, M) that were answered: rounds (rule, arm)."
    support = np.array([[.9, .1], [.5, .5], [.2, .8]])
    facts = checker.Facts(support, np.eye(2), 1., K, np.array(rules),
                          np.array([[r, a, 0, -1] for r, a in rounds]))
    return checker.Seen(facts, len(rounds), checker.Arithmetic(False))

def test_an_order_is_not_proved_by_what_a_tie_decides():
    """Arm 1 and then arm 2 on a ray: proved if the two are far apart; a tie may decide if they are
    next to each other, and arm 1 costs a millionth more."""
    unit = np.array([[.5, .1], [.3, .3], [.1, .4]])
    for step, proved in (.5, True), (1e-3, True), (1e-4, False), (1e-9, False):
        f = seen([0*unit, unit, unit*(1 + step)], [(0, 0), (1, 1), (2, 2)])
        y = 1/step
        hint = dict(answers=[[1, y + 1.0001], [2, y + 1e-4*y/(1 + y)]])
        hint['answers'][1][1] = hint['answers'][0][1]/(1 + step)
        assert bool(checker.costs(f, 1, 2, hint)[0]) == proved

def test_weights_that_overflow_are_refused():
    f, L = seen([np.zeros((3, 2))], [(0, 0)]), len(checker.BETS)
    for w in ([1e308]*L, [0.]*L, [-1., 2.] + [0.]*(L - 2), [1.]*(L - 1), [[1.]]*L, 1.,
              [True, None]*(L//2)):
        with pytest.raises((checker.Fails, TypeError)):
            checker.weights(f, w, L)

def test_registrations_have_an_order():
    "The share of an earlier candidate isn't taken by a later one."
    claim, proof, facts = certificate('clinic', .04, 0)
    n = proof['candidate']
    assert n > 0
    late = [proof['rounds'], *facts.registered[n - 1][1:]]
    for registered in ([late, *facts.registered], [*facts.registered[:n - 1], [-3, *late[1:]]]):
        f = replace(facts, registered=registered)
        p = proof | dict(candidate=n + len(registered) - len(facts.registered))
        assert 'order' in verdict(claim, p, f)
    for n in -1, -2, True, [1], 1.:
        assert n is True and n == proof['candidate'] or verdict(
            replace(claim, bound=.9*claim.bound), proof | dict(candidate=n), facts)

def test_arms_and_beliefs_are_those_of_the_setting():
    claim, proof, facts = certificate('clinic', .04, 0)
    for column in 0, 1, 2:
        for value in -1, 99:
            rounds = facts.rounds.copy()
            rounds[rounds[:, 0] == rounds[-1, 0], column] = value
            assert verdict(claim, proof, replace(facts, rounds=rounds)) is not None

# --- Each inequality, and which side is the safe one ------------------------------------

UNIT = np.array([[.5, .1], [.3, .3], [.1, .4]])

def refused(act, *given):
    with pytest.raises(checker.Fails):
        act(*given)

def test_what_arms_tell_apart_is_paid_for():
    f, v = seen([0*UNIT], [(0, 0)]), np.array([1., -1.])
    d = f.support @ v
    assert np.isclose(checker.apart(f, 0, 1, d), np.ptp(d))
    refused(checker.apart, f, 0, 1, d, v)
    f = checker.Seen(replace(f.facts, prior=np.array([.5, .5])), 1, f.at)
    assert 0 < checker.apart(f, 0, 1, d, v) < 1e-8

@pytest.mark.parametrize('size, off, proved', [
    (1., 0., True), (.4, 0., False), (1., 1e-6, False), (1., 1e-7, False), (1., 5e-9, True),
    (20., 1e-7, False)])
def test_an_order_is_one_of_costs(size, off, proved):
    "Answers of arm 1 and arm 2 on a ray, or next to one."
    more = UNIT*1.5 + off/.7*np.array([1., 0.])
    f = seen([0*UNIT, UNIT, more], [(0, 0), (1, 1), (2, 2)])
    hint = dict(answers=[[1, 3.01*size], [2, 3.01*size/1.5]])
    assert bool(checker.costs(f, 1, 2, hint)[0]) == proved

@pytest.mark.parametrize('pays, tied', [(2e-7, True), (.99e-6, True), (.99995e-6, False),
                                        (2e-6, False), (.5, False)])
def test_arms_are_tied_if_next_to_nothing_makes_them_change(pays, tied):
    rule = pays/.7*np.array([[1., 0.]]*3)
    f = seen([0*UNIT, rule], [(0, 0), (1, 1)])
    assert bool(checker.costs(f, 0, 1, dict(answers=[[1, 1.]]))[1]) == tied
    assert not checker.costs(f, 0, 0, dict(answers=[[0, 1.]]))[1]

def test_a_cut_pays_for_ties_and_for_what_may_be_negative():
    f, e = seen([0*UNIT, UNIT, .9*UNIT], [(0, 0), (1, 1), (2, 0)]), np.eye(3)
    free = [[m.tolist(), m.tolist(), []] for m in e]
    def of(*terms):
        g, h = checker.cut(f, 1, dict(over=0, terms=[*free, *terms]))
        return g.sum(1), h              # what is asked of tables weighs beliefs, which sum to one
    g, h = of()
    assert np.allclose(g, 1e6) and h <= 1 - 1e-4
    for rule, side in (1, -1), (2, 1):
        C = 1e6*np.ptp(f.s[rule])
        g, _ = checker.cut(f, 1, dict(over=0, terms=[[rule, e[0].tolist(), []]]))
        left = 1e6*np.ptp(e - np.outer(side*f.s[rule], e[0]), axis=0)
        assert np.allclose(g.sum(1), (side + 1e-4)*e[0] + left)
        sure, unsure = (of([rule, P, []], [(side*f.s[rule]).tolist(), P, []])[1]
                        for P in ([0.]*3, [-1., 0., 0.]))
        assert unsure <= sure - (1 - 1e-4 + C) - 2*C
    refused(of, [[1., 0.], [1., 0., 0.], []])
    refused(of, [1, [1., 0.], []])
    refused(checker.answered, f, 2, 1, 2)

def test_a_functional_that_may_be_negative_is_charged_for_both_ends():
    """Of an answer that pays the same for all beliefs, C is nothing: η counts once. Of another η
    counts for what α may be there as well."""
    alike = np.full((3, 2), .4)
    f = seen([0*UNIT, alike, UNIT], [(0, 0), (1, 1), (2, 1)])
    def lost(rule):
        "What a functional of -1e-3 loses, which is taken back in the next term."
        def h(P, eta):
            lies = [[0, 1, eta], [1, 0, eta]] if eta else []
            terms = [[rule, P, lies], [(-checker.answered(f, 0, 1, rule)[1]).tolist(), P, []]]
            return checker.cut(f, 1, dict(over=0, terms=terms))[1]
        return h([0.]*3, 0), h([-1e-3, 0., 0.], 0)
    for rule, C in (1, 0.), (2, 1e6*np.ptp(f.s[2])):
        sure, unsure = lost(rule)
        assert sure - unsure == pytest.approx(1e-3*((1 - 1e-4 + C) + 2*C), rel=1e-3)

def test_facts_that_no_agent_gives_are_refused():
    for rules, rounds in (
            ([0*UNIT, 3*UNIT], [(0, 0), (1, 1)]), ([0*UNIT, -UNIT], [(0, 0), (1, 1)]),
            ([0*UNIT, UNIT[::-1]], [(0, 0), (1, 1)]), ([0*UNIT, UNIT], [(0, 0), (1, 1), (1, 2)]),
            ([UNIT], [(0, 0)]), ([0*UNIT], [])):
        refused(seen, rules, rounds)

def test_a_candidate_is_what_was_registered():
    f = seen([0*UNIT, UNIT, .5*UNIT, .7*UNIT], [(0, 0), (1, 1), (2, 0), (3, 1), (1, 1)])
    claim = checker.Claim(f.facts.rules[3], 1, .5, .5, .1)
    def of(registered, n=1, **changes):
        g = checker.Seen(replace(f.facts, registered=registered), 5, f.at)
        return checker.candidate(g, replace(claim, **changes), n)
    start, s = of([[4, 3, 1]])
    assert start == 4 and np.allclose(s, f.s[3])
    assert of([[2, 1, 1], [4, 3, 1]], 2)[0] == 4
    assert of([], 0, rule=0*UNIT, arm=0)[0] == 0
    assert checker.counts(f, 1, 2).tolist() == [2, 0, 0]
    for registered, n, changes in (
            ([[4, 3, 0]], 1, {}), ([[4, -1, 1]], 1, {}), ([[3, 3, 1]], 1, {}), ([[0, 3, 1]], 1, {}),
            ([[6, 3, 1]], 1, {}), ([[4, 3, 1]], 1, dict(rule=f.facts.rules[1])),
            ([[4, 3, 1]], 1, dict(rule=.7*UNIT + 1e-12)), ([[4, 2, 1]], 1, {}),
            ([[4, 3, 1]], 0, {}),
            ([[4, 3, 1]], 2, {}), ([[4, 3, 1]], -1, {}), ([[5, 1, 1], [4, 3, 1]], 2, {}),
            ([], 0, dict(rule=0*UNIT)), ([], 0, dict(arm=0)), ([[4, 3, 1]], 1, dict(arm=0))):
        with pytest.raises(checker.Fails):
            of(registered, n, **changes)

def test_boxes_are_within_what_they_divide():
    f, L = seen([0*UNIT], [(0, 0)]), len(checker.BETS)
    one, whole, out = np.ones(3), (np.zeros((1, 3)), []), (None, [])
    def everywhere(*steps, region=whole, e=.5):
        return checker.everywhere(f, region, -1e9, (one, one, .9, e), (one, f.u), steps)
    close = dict(own=[1.]*L, weights=[1.]*L)
    cut = dict(of=3, at=.6)
    assert everywhere(close) and everywhere(cut, close, close)
    assert not everywhere() and not everywhere(cut, close)
    for of in range(4):
        for at in -1., .5, .9, 1., 2.:
            if of == 3 or not 0 < at < 1:
                refused(everywhere, dict(of=of, at=at))
    for bad in dict(of=4, at=.5), dict(of=1.5, at=.5), close:
        with pytest.raises((LookupError, TypeError)):
            everywhere(close, bad)
        with pytest.raises((LookupError, TypeError)):
            everywhere(*[cut, close, close, close] if bad is close else [bad])
    flat = close | dict(rows=[], lies=[])
    assert everywhere(flat, region=out) and everywhere(region=out, e=.9)
    with pytest.raises(LookupError):
        everywhere(close, e=1.)

def test_each_factor_is_taken_where_it_is_least():
    "Of μ from .5 to .9: arm j's wealth at the left end of a box, the candidate's at the right."
    f, L = seen([0*UNIT], [(0, 0)]), len(checker.BETS)
    w, counts, z = np.eye(L)[3], np.array([3, 1, 2]), np.array([.3, .8, .1])
    region = np.zeros((1, 3)), []
    def want(a, b):
        of_j, k = (sum(checker.wealths(f, counts, z, m, w)[0]) for m in (.9 - a, b - .5))
        return of_j + k - 2*np.log(1/f.stakes[3])
    for steps, cells in (([], [(.5, .9)]), ([.6], [(.5, .6), (.6, .9)])):
        given = [dict(of=3, at=t) for t in steps] + [dict(own=w, weights=w)]*len(cells)
        least = min(want(a, b) for a, b in cells)
        for off, good in (-1e-9, True), (1e-9, False):
            assert checker.everywhere(f, region, least + off, (counts, z, .9, .5), (counts, z),
                                      given) == good

def test_rounding_is_charged():
    "Of two beliefs that are one: large lies from each to the other lose what is negative."
    at = checker.Arithmetic(False)
    f = SimpleNamespace(support=np.full((2, 2), .5), at=at, lost=checker.LOST)
    less, more = np.array([[-.5, -.5], [0., 0.]]), np.array([[.5, .5], [0., 0.]])
    for y in 0., 1., 1e17, 1e200:
        assert checker.short(f, less, [[0, 1, y], [1, 0, y]]) >= 1
    assert checker.short(f, less + more[::-1], []) >= 1
    assert checker.least(f, 0*more, [(more, 1.)], dict(rows=[[0, 1.]], lies=[])) <= 1e-9
    rows = [(more, 0.), (less, -1e-20)]
    for y in 1e17, 1e19:
        hint = dict(rows=[[1, y], [0, y]], lies=[])
        assert checker.least(f, less, rows, hint) <= -1e-20

@pytest.mark.parametrize('W', [2, 3])
def test_what_is_asked_is_of_the_part_that_was_staked(W, monkeypatch):
    "A proof that nothing proves: of what was asked of each arm only the first refused is seen."
    name, eps = ('clinic', .04) if W == 2 else (ODD[0], .1)
    claim, proof, facts = certificate(name, eps, 0)
    asked, first = {}, int(facts.rounds[0, 1])
    def note(f, region, want, bet, other, steps):
        asked[len(asked)] = want
        return True
    monkeypatch.setattr(checker, 'everywhere', note)
    bare = proof | dict(arms=[dict(steps=[]) for _ in range(facts.K)])
    assert verdict(claim, bare, facts) is None
    n, k = proof['candidate'], claim.arm
    for j in range(facts.K):
        part = 1. if n == 0 else .05 if j == k else .95
        assert asked[j] == pytest.approx(-np.log(part*checker.share(n)*claim.delta))
    zero = replace(claim, rule=0*claim.rule, arm=first)
    asked.clear()
    assert verdict(zero, bare | dict(candidate=0), facts) is None
    assert np.allclose(list(asked.values()), -np.log(.35*claim.delta))

def test_shares_add_up():
    assert np.isclose(sum(map(checker.share, range(60))), 1)
    assert all(checker.share(n) > checker.share(n + 1) for n in range(1, 60))

def test_a_tie_of_costs_must_be_proved():
    claim, proof, facts = certificate('clinic', .04, 0)
    for answers in [], [[0, 1.]], [[t, 1.] for t in range(len(facts.rules))]:
        forged = deepcopy(proof)
        for arm in forged['arms']:
            arm.update(tied=dict(answers=answers), steps=[])
        assert verdict(claim, forged, facts) is not None

def test_no_hint_makes_anybody_richer():
    "Wealth over a region is at most what it is at a rule of it, whatever the weights and steps."
    f, rng, L, tried = seen([0*UNIT], [(0, 0)]), np.random.default_rng(1), len(checker.BETS), 0
    for _ in range(amount(300, 5000)):
        counts, z, mean = rng.integers(0, 30, 3), rng.random(3), rng.uniform(.1, .9)
        s = rng.choice([0., 1.])*rng.random()*f.s[0]
        each = np.log(1 + np.multiply.outer((z + s)/mean - 1, checker.BETS))
        true = np.log(f.stakes @ np.exp(counts @ each))
        w = rng.random(L)**rng.integers(1, 9)
        won, cost = checker.wealths(f, counts, z + s, mean, w/w.sum())
        assert won.sum() + cost <= true + 1e-9
        steps = []
        for kind in rng.integers(2, size=6):
            rows = [[int(rng.integers(6)), rng.exponential(3)] for _ in range(3)]
            lies = [[*rng.integers(0, 3, 2).tolist(), rng.exponential()]]
            steps.append(dict(of=int(rng.integers(4)), at=float(rng.random())) if kind else
                         dict(weights=w.tolist(), rows=rows, lies=lies))
        for cut in range(1, len(steps) + 1):
            try:
                assert not checker.everywhere(f, (None, []), true + 1e-6,
                                              (counts, z, 1., 1 - mean), None, steps[:cut])
                tried += 1
            except (checker.Fails, LookupError):
                pass
    assert tried > 100

# --- Faults that are planted in the checker ---------------------------------------------

TABLE = tomllib.loads((ROOT/'tests'/'mutants.toml').read_text(encoding='utf-8'))

@pytest.mark.parametrize('m', TABLE['checker'], ids=lambda m: m['old'])
def test_a_broken_checker_turns_red(m, monkeypatch):
    broken = ModuleType('broken')
    monkeypatch.setitem(sys.modules, 'broken', broken)
    exec(replaced(inspect.getsource(checker), m['old'], m.get('new', '')), broken.__dict__)
    monkeypatch.setitem(globals(), 'checker', broken)
    more = dict(monkeypatch=monkeypatch) if 'staked' in m['by'] else {}
    with pytest.raises((AssertionError, pytest.fail.Exception, ArithmeticError)):
        globals()[m['by']](*m.get('args', ()), **more)

# --- How proofs are found -----------------------------------------------------------------

def test_narrowing_takes_fewer_boxes(monkeypatch):
    "In the proofs of runs with six states, with narrowing and without."
    def steps_of(made):
        proofs = [made(ODD[3], .05, seed)[1] for seed in range(3)]
        return sum(len(arm['steps']) for proof in proofs for arm in proof['arms'])
    def unproved(*given):
        raise hints.Unproved
    narrowed = steps_of(certificate)
    monkeypatch.setattr(hints.Boxes, 'beyond', unproved)
    assert steps_of(certificate.__wrapped__) > 1.2*narrowed

def test_weights_of_next_to_nothing_are_left_out():
    """A gambler who has lost all but e^-720 once got such a weight, by which no stake can be
    divided: the checker refused what was proved."""
    f, e = seen([0*UNIT], [(0, 0)]), .1
    for n in range(170, 200):
        bet = np.array([n, 0, 0]), np.zeros(3), .9, e
        asked = f, (None, []), -1e9, bet, None
        steps = hints.Boxes(*asked).steps()
        with np.errstate(over='raise', invalid='raise', divide='raise'):
            assert checker.everywhere(*asked, steps)

def test_a_rule_at_which_a_proof_failed_stays_known():
    "Although the checker's cuts are a little lower than the learner's; not if it is far below."
    world = random_world(*ODD[0])
    learner = sharp(world.setting, action_informed_oracle(world), eps=.05, delta=.05,
                    examined=False)
    assert simulate(learner, world, 2).status == 'certified'
    known = learner.known
    j, R = next((j, R) for j, R in known.regions.items() if R.cuts)
    for share, stays in ((.97, True), (.8, False)):
        s = share*R.rules[0]
        R.learn(s)
        R.refresh(known.outcomes.counts[j])
        assert any(np.allclose(s, rule) for rule in R.rules) == stays
