"""Whatever makes no sense is refused in one way: an `OIAError`, also a `ValueError`, that names
the argument, the value and
what was expected, before anything has changed.

Hypothesis throws some two thousand of each kind of bad input (some hundred in a quick run) at
worlds, settings, rules,
reports, oracles and learners.
Arrays are made from drawn seeds, and several throws share an example, since drawing takes longer
than refusing.
"""
import re
from decimal import Decimal
from fractions import Fraction
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from conftest import amount, examples
from oia_nb.all import (InvalidInput, NotInducible, OIAError, Oracle, Response, ScoringRule,
                        Setting, action_informed_oracle, brier, identify, logarithmic, make_world,
                        menu_rule, mix, oiafc, simulate, spherical, v_shaped)
from oia_nb.information import Environment, merge_beliefs
from oia_nb.core import (as_array, as_beliefs, as_integer, as_names, as_number,
                         as_probabilities, generator)
from oia_nb.scoring import floor_belief

many = settings(max_examples=amount(25, examples(200)))
# where each example solves linear programs, plays rounds or makes several worlds
fewer = settings(many, max_examples=examples(30))
rngs = st.integers(0, 2**32 - 1).map(np.random.default_rng)
by_fives = settings(many, max_examples=examples(40))     # where an example throws five times
five = range(5)

# --- How a refusal is checked ---------------------------------------------------------

def frozen(x):
    "The contents of an argument, to compare before and after."
    if isinstance(x, np.ndarray):
        return x.dtype.str, x.shape, x.tobytes(), x.flags.writeable
    if isinstance(x, (list, tuple)):
        return type(x).__name__, [frozen(o) for o in x]
    if isinstance(x, dict):
        return [(k, frozen(v)) for k, v in x.items()]
    if isinstance(x, np.random.Generator):
        return repr(x.bit_generator.state)
    return repr(x)

def refused(argument, f, *args, **kwargs):
    """`f` refuses its arguments, names `argument` (or a place within it), and leaves all of them
    as they were."""
    before = frozen([args, kwargs])
    with pytest.raises(Exception) as caught:
        f(*args, **kwargs)
    error = caught.value
    assert isinstance(error, InvalidInput) and isinstance(
        error, OIAError) and isinstance(error, ValueError), repr(error)
    assert re.fullmatch(rf'{re.escape(argument)}(\[.*\])?', error.argument), error.argument
    assert re.fullmatch(r'[^\n]+: got [^\n]+, expected [^\n]+',
                        str(error)) and str(error).startswith(
                            error.argument), str(error)
    assert frozen([args, kwargs]) == before
    return error

# --- Worlds that are fine, and ways to spoil one argument -----------------------------

def parts(rng, K=None, W=None):
    "The arguments of a world with ragged signals: joint, costs, utility, bound."
    K, W = K or int(rng.integers(2, 4)), W or int(rng.integers(2, 5))
    joint = [rng.dirichlet(np.ones(n*W)).reshape(n, W) for n in rng.integers(1, 5, K)]
    return dict(joint=joint, costs=rng.uniform(0, .1,
                                               K), utility=rng.uniform(-1, 1, (W, 3)),
                bound=float(rng.choice([.1, 1., 30.])))

def put(x, rng, value):
    "A copy of the array with one entry, anywhere, replaced."
    x = np.array(x, float)
    x.flat[rng.integers(x.size)] = value(rng) if callable(value) else value
    return x

def one_arm(spoil):
    "Spoils the joint distribution of one arm."
    def f(p, rng):
        k = rng.integers(len(p['joint']))
        p['joint'][k] = spoil(p['joint'][k], rng)
    return f

def single(x):
    "The same through float32, a good way off a sum of one."
    y = x.astype(np.float32)
    while abs(y.sum(dtype=float) - 1) <= 2e-9:
        y.flat[y.argmax()] = np.nextafter(y.max(), np.float32(2))
    return y

tiny = lambda rng: -10.**rng.uniform(-12, 3)
wrong_joint = dict(
    negative=one_arm(lambda p, rng: put(p, rng, tiny)),
    nan=one_arm(lambda p, rng: put(p, rng, np.nan)),
    infinite=one_arm(lambda p, rng: put(p, rng, rng.choice([np.inf, -np.inf]))),
    sum_too_large=one_arm(lambda p, rng: p*(1 + 10.**rng.uniform(-8.5, 3))),
    sum_too_small=one_arm(lambda p, rng: p*rng.uniform(0, 1 - 3e-9)),
    float32=one_arm(lambda p, rng: single(p)), flat=one_arm(lambda p, rng: p.ravel()),
    deep=one_arm(lambda p, rng: p[None]), empty=one_arm(lambda p, rng: p[:0]),
    ragged=one_arm(lambda p, rng: [p[0].tolist(), p[0, :1].tolist()]),
    complex=one_arm(lambda p, rng: p + 0j), boolean=one_arm(lambda p, rng: p > .1),
    text=one_arm(lambda p, rng: p.astype(str).tolist()), object=one_arm(
        lambda p, rng: rng.choice(np.array([None, 'p', 5, {'p': 1}], object))),
    other_states=lambda p, rng: p['joint'].append(np.full((1, 6), 1/6)),
    too_few_arms=lambda p, rng: p.update(joint=p['joint'][:rng.integers(2)]),
    one_state=lambda p, rng: p.update(joint=[np.array([[1.]])]*2),
    no_list=lambda p, rng: p.update(joint=rng.choice(
        np.array([None, 5, 'joint', 1.5], object))))
spoil_entry = dict(nan=np.nan, infinite=np.inf, minus_infinite=-np.inf)
wrong_costs = {
    **{
        n: (lambda v: lambda p, rng: p.update(costs=put(p['costs'], rng, v)))(v)
        for n, v in spoil_entry.items()
    }, 'negative': lambda p, rng: p.update(costs=put(p['costs'], rng, tiny)),
    'shape': lambda p, rng: p.update(costs=np.zeros(
        len(p['joint']) + rng.choice([-1, 1, 5]))),
    'matrix': lambda p, rng: p.update(costs=p['costs'][None]),
    'object': lambda p, rng: p.update(costs=rng.choice(
        np.array([None, 'free', .1], object))),
    'text': lambda p, rng: p.update(costs=p['costs'].astype(str).tolist())
}
wrong_utility = {
    **{
        n: (lambda v: lambda p, rng: p.update(utility=put(p['utility'], rng, v)))(v)
        for n, v in spoil_entry.items()
    }, 'shape': lambda p, rng: p.update(utility=np.vstack(
        [p['utility'], p['utility'][:rng.integers(1, 3)]])),
    'flat': lambda p, rng: p.update(utility=p['utility'][:, 0]),
    'no_decision': lambda p, rng: p.update(utility=p['utility'][:, :0]),
    'object': lambda p, rng: p.update(utility=rng.choice(
        np.array([None, 'u', 3], object)))
}
wrong_bound = dict(
    negative=lambda p, rng: p.update(bound=tiny(rng)),
    object=lambda p, rng: p.update(bound=rng.choice(
        np.array([0, 0., -0., np.nan, np.inf, -np.inf, None, '1', True, 1j], object))),
    array=lambda p, rng: p.update(bound=[1.]))
spoilers = [
    (argument, kind, spoil)
    for argument, kinds in dict(joint=wrong_joint, costs=wrong_costs,
                                utility=wrong_utility, bound=wrong_bound).items()
    for kind, spoil in kinds.items()
]

@pytest.mark.parametrize('argument', ['joint', 'costs', 'utility', 'bound'])
def test_world(argument):
    "The kinds take turns, several to an example."
    kinds = [(kind, spoil) for a, kind, spoil in spoilers if a == argument]
    @by_fives
    @given(rngs)
    def check(rng):
        for _ in five:
            kinds[rng.integers(len(kinds))][1](p := parts(rng), rng)
            refused(argument, make_world, **p)
    check()

@pytest.mark.parametrize('argument, kind, spoil', spoilers,
                         ids=[f'{a}-{k}' for a, k, _ in spoilers])
def test_world_every_kind(argument, kind, spoil):
    "Each kind for itself, in case the turns above miss one."
    for seed in range(40):
        rng = np.random.default_rng(seed)
        spoil(p := parts(rng), rng)
        refused(argument, make_world, **p)

# --- Names ----------------------------------------------------------------------------

bad_names = st.one_of(
    st.text(max_size=5), st.integers(), st.floats(), st.booleans(),
    st.binary(max_size=3),
    st.lists(st.sampled_from(['a', 'b', '', 1, None, 2.5, 'a']),
             max_size=5).filter(lambda x: len(x) != 3 or len(set(map(str, x))) < 3 or
                                not all(isinstance(o, str) and o for o in x)))

@many
@given(bad_names, st.sampled_from(['arms', 'states', 'decisions', 'signals']))
def test_names(names, argument):
    p = dict(joint=[np.full((3, 3), 1/9)]*3, costs=[0.]*3, utility=np.eye(3), bound=1.)
    if argument == 'signals':
        refused('signals', make_world, **p, signals=[None, None, names])
    elif not (argument == 'arms' and names == 3):
        refused_arms(argument, names, p)

def refused_arms(argument, names, p):
    "A wrong number of good arm names is noticed where the two sides meet."
    with pytest.raises(OIAError) as caught:
        make_world(**p, **{argument: names})
    # 'arms', 'setting.arms' or 'arms[1]'
    assert re.fullmatch(rf'(setting\.)?{argument}(\[\d\])?', caught.value.argument)

# --- Settings and environments --------------------------------------------------------

def belief_rows(rng, M=None, W=None):
    return rng.dirichlet(np.ones(W or rng.integers(2, 5)), M or rng.integers(1, 6))

wrong_support = dict(
    negative=lambda s, rng: put(s, rng, tiny), nan=lambda s, rng: put(s, rng, np.nan),
    infinite=lambda s, rng: put(s, rng, np.inf), sum=lambda s, rng: s*
    (1 + rng.choice([-1, 1])*10.**rng.uniform(-8.5, -.1)),
    float32=lambda s, rng: np.vstack([s, single(s[0])[None]]),
    twice=lambda s, rng: np.vstack([s, s[:1] + rng.choice([0, 1e-13])]),
    flat=lambda s, rng: s[0], empty=lambda s, rng: s[:0],
    one_state=lambda s, rng: s[:, :1]*0 + 1,
    ragged=lambda s, rng: [s[0].tolist(), s[0, 1:].tolist()],
    object=lambda s, rng: rng.choice(np.array([None, 'Σ', 3, {1}], object)),
    locked=lambda s, rng: read_only_copy(put(s, rng, rng.choice([-.1, np.nan, 2.]))))

def read_only_copy(x):
    x.setflags(write=False)
    return x

@by_fives
@given(
    rngs,
    st.sampled_from([
        'Setting', 'ScoringRule', 'brier', 'spherical', 'logarithmic', 'v_shaped',
        'menu_rule'
    ]))
def test_support(rng, where):
    good = belief_rows(rng)
    M, W = good.shape
    make = dict(Setting=lambda s: Setting(s, np.ones(
        (W, 2)), 1., 2), ScoringRule=lambda s: ScoringRule(np.zeros(
            (M, W)), s, 1.), brier=brier, spherical=spherical, logarithmic=logarithmic,
                v_shaped=lambda s: v_shaped(s, np.full(W, 1/W)),
                menu_rule=lambda s: menu_rule(s, np.ones((2, W)), 1.))[where]
    make(good)
    # a rule may list a belief twice
    for kind in rng.choice(
            sorted(wrong_support.keys() - ({'twice'} if where != 'Setting' else set())),
            5):
        refused('support', make, wrong_support[kind](good, rng))

@given(rngs)
@settings(fewer, max_examples=examples(20))
def test_the_good_parts_make_a_world(rng):
    "What the other tests spoil is fine before."
    w = make_world(**parts(rng))
    assert w.belief_distributions.shape == (w.setting.K, w.setting.M)

@fewer
@given(rngs)
def test_environment_parts_that_disagree(rng):
    "Numbers of arms, numbers of states, and beliefs that aren't on the public support."
    a, b = (make_world(**parts(rng, K=2, W=W)) for W in (2, 3))
    other_arms = make_world(**parts(rng, K=3, W=2))
    z = a.setting
    refused('setting.support', Environment, a.structure, b.setting)
    refused('setting.arms', Environment, a.structure, other_arms.setting)
    moved = z.support[:, ::-1]*.9 + .05
    refused('joint', Environment, a.structure,
            Setting(merge_beliefs(moved)[0], z.utility, z.bound, 2))
    refused('structure', Environment, z, z)
    refused('setting', Environment, a.structure, a.structure)
    refused('name', Environment, a.structure, z, rng.choice(np.array(['', None, 3], object)))
    refused('arm', z.arm_index, rng.choice(np.array(['nobody', -1, 2, 1.0, None, True], object)))
    refused('arms', a.without, 0)

# --- Rules and reports ----------------------------------------------------------------

def random_rule(rng, M=None, W=None, bound=1.):
    support = belief_rows(rng, M, W)
    return menu_rule(support, bound*rng.uniform(0, 1, (4, support.shape[1])), bound)

wrong_values = dict(
    negative=lambda v, rng: put(v, rng, tiny), nan=lambda v, rng: put(v, rng, np.nan),
    above=lambda v, rng: put(v, rng, 1 + 10.**rng.uniform(-14, 3)),
    infinite=lambda v, rng: put(v, rng, np.inf), shape=lambda v, rng: v[:, :-1],
    rows=lambda v, rng: np.vstack([v, v[:1]]), flat=lambda v, rng: v.ravel(),
    ragged=lambda v, rng: [v[0].tolist(), v[0, 1:].tolist()],
    object=lambda v, rng: rng.choice(np.array([None, 'pay', 1.], object)))

@by_fives
@given(rngs)
def test_payments(rng):
    rule = random_rule(rng)
    for kind in rng.choice(sorted(wrong_values), 5):
        bad = wrong_values[kind](rule.values, rng)
        refused('values', ScoringRule, bad, rule.support, 1.)
        if kind not in ('shape', 'flat', 'rows'):
            refused('menu', menu_rule, rule.support, bad, 1.)

def bad_report(rng, support):
    "(report, on the simplex?): off the support by more than the tolerance, or no belief at all."
    M, W = support.shape
    b = support[rng.integers(M)]
    kind = rng.integers(8)
    if kind == 0:
        return rng.dirichlet(np.ones(W)), True
    if kind == 1:
        return b + (b[0] - b[1] + 3e-6)*(np.arange(W) == 1) - (b[0] - b[1] + 3e-6)*(
            np.arange(W) == 0), None
    if kind == 2:
        return b*(1 + rng.choice([-1, 1])*rng.uniform(.01, 2)), False
    if kind == 3:
        return put(b, rng, -rng.uniform(1e-5, 1)), False
    if kind == 4:
        return put(b, rng, rng.choice([np.nan, np.inf, -np.inf])), False
    if kind == 5:
        return b[1:], False
    if kind == 6:
        return np.append(b, 0.), False
    return rng.choice(np.array([None, 'hit', 1., {'hit': 1}, ['a']*W], object)), False

def is_far(support, report):
    """True if the report is no belief of the support by more than twice the tolerance, or no
    array of numbers at all."""
    try:
        return bool(np.abs(support - np.asarray(report, float)).max(1).min() >
                    2e-6) or not np.isfinite(np.asarray(report, float)).all()
    except (TypeError, ValueError):
        return True

@by_fives
@given(rngs)
def test_reports(rng):
    z = make_world(**parts(rng)).setting
    rule = brier(z.support)
    for report, belief in (bad_report(rng, z.support) for _ in five):
        if is_far(z.support, report):
            refused('report', z.index, report)
        if belief is False:
            refused('report', rule.column, report)
            refused('report', rule.pay, report, 0)
        if belief:
            assert rule.column(report).shape == (z.W,)
        refused('state', rule.pay, z.support[0],
                rng.choice(np.array([-1, z.W, 1.0, None, 'hit', True], object)))

@many
@given(rngs)
def test_mixing_floors_kinks(rng):
    rule = random_rule(rng, 3, 3)
    refused(
        'lam', mix, rule, rule,
        rng.choice(
            np.array([-1e-12, 1 + 1e-12, np.nan, np.inf, None, '0.5', True], object)))
    refused(
        'S1', mix, rule,
        rng.choice(np.array([None, 1, rule.values.tolist()], object))
        if rng.uniform() < .3 else random_rule(rng, rng.integers(1, 5), 3), .5)
    refused('floor', logarithmic, rule.support, 1.,
            rng.choice(np.array([0, -.1, 1/3, .34, 1, np.nan, None, '0.1'], object)))
    refused('belief', floor_belief, put([.2, .3, .5], rng, rng.choice([-.1, np.nan, 2.])), .1)
    refused(
        'kink', v_shaped, rule.support,
        rng.permutation([[0., .5, .5], [.2, .2, .2], [-.1, .6, .5], [np.nan, .5, .5]],
                        axis=1)[rng.integers(4)])
    refused('bound', rng.choice([brier, spherical, logarithmic]), rule.support,
            rng.choice(np.array([0, -1, np.nan, np.inf, None, '1'], object)))

# --- Oracles and learners -------------------------------------------------------------

def world_with_oracle(seed):
    "The first world from this seed whose every arm can be induced, and its oracle."
    rng = np.random.default_rng(seed)
    while True:
        p = parts(rng, W=2)
        try:
            return (w := make_world(
                **{
                    **p, 'costs': p['costs']*.1*p['bound'],
                    'arms': [f'arm {"abc"[k]}' for k in range(len(p['joint']))]
                })), action_informed_oracle(w)
        except NotInducible:
            pass

CASES = [world_with_oracle(seed) for seed in range(10)]
cases = st.sampled_from(CASES)
beyond = lambda high: st.one_of(
    st.floats(max_value=0.), st.floats(min_value=np.nextafter(high, np.inf)),
    st.sampled_from([np.nan, np.inf, -np.inf, None, 'x', True, [.1], 1j]))

@many
@given(cases, st.data())
def test_targets(case, data):
    w, oracle = case
    good = dict(eps=w.setting.B, delta=.1)
    oiafc(w.setting, oracle, **good).close()
    for argument, high in ('eps', 2*w.setting.B), ('delta', 1.):
        bad = {**good, argument: data.draw(beyond(high))}
        refused(argument, oiafc, w.setting, oracle, **bad)

@many
@given(cases, cases, rngs)
def test_learner_arguments(case, other, rng):
    (w, oracle), good = case, dict(eps=1e-3, delta=.1)
    # a learner never sees a world
    refused('setting', oiafc, w, oracle, **good)
    refused('oracle', oiafc, w.setting, list(oracle.rules), **good)
    refused('max_rounds', oiafc, w.setting, oracle, **good,
            max_rounds=rng.choice(np.array([0, 1, -1, 5.5, None, 'all', True], object)))
    refused('mixing', oiafc, w.setting, oracle, **good,
            mixing=rng.choice(np.array([None, 'theorem2', .5, 3], object)))
    if other[0] is not w:
        refused('oracle.rules', oiafc, w.setting, other[1], **good)
    refused('world', identify, w.setting, **good)
    refused('method', identify, w, **good, method='guess')
    refused('budget', identify, w, **good, budget=int(rng.integers(-5, 2)), oracle=oracle)
    refused('seed', identify, w, **good, seed=rng.choice(np.array([-1, 1.5, 'x', True], object)))

@many
@given(cases, rngs)
def test_oracle_rules(case, rng):
    "Rules that aren't rules, aren't enough, or aren't proper."
    w, oracle = case
    k = rng.integers(w.setting.K)
    spoiled = list(oracle.rules)
    spoiled[k] = rng.choice(np.array([None, 1., oracle.rules[k].values.tolist()], object))
    refused('rules', Oracle, spoiled)
    refused('rules', Oracle, oracle.rules[:1])
    if w.setting.M < 2:
        return
    i, j = rng.choice(w.setting.M, 2, replace=False)
    values = np.zeros((w.setting.M, 2))
    values[j] = w.setting.bound*rng.uniform(.1, 1, 2)
    spoiled[k] = ScoringRule(values, w.setting.support, w.setting.bound)
    assert 'gains' in str(refused('rules', Oracle, spoiled))

def play(learner, respond):
    "Drives a learner; `respond` maps (round, rule) to a response."
    rule, t = next(learner), 0
    while True:
        rule, t = learner.send(respond(t, rule)), t + 1

@fewer
@given(cases, rngs)
def test_oracle_that_triggers_another_arm(case, rng):
    """Found in the initial rounds: the run ends with the rule that was answered by another arm, and
    that arm."""
    w, oracle = case
    order = rng.permutation(w.setting.K)
    if (order == np.arange(w.setting.K)).all():
        order = order[::-1]
    shuffled = Oracle([oracle.rules[k] for k in order])
    k = int(np.flatnonzero(order != np.arange(w.setting.K))[0])
    found = simulate(oiafc(w.setting, shuffled, eps=w.setting.B, delta=.1), w, rng)
    assert (found.status, found.violated) == ('assumption_violated', 'oracle')
    assert found.certificate is None and found.rounds == k + 1
    assert (found.rule, found.arm) == (shuffled.rules[k], order[k])

@many
@given(cases, rngs)
def test_responses(case, rng):
    """A learner refuses a response that names no arm, no belief of the support, or no state, in
    whatever round."""
    w, oracle = case
    z, bad_round = w.setting, rng.integers(w.setting.K)
    good = lambda rule: w.respond(rule, rng)
    report, _ = bad_report(rng, z.support)
    kind = rng.integers(4)
    if kind == 1 and not is_far(z.support, report):
        return
    def respond(t, rule):
        r = good(rule)
        if t < bad_round:
            return r
        if kind == 0:
            return Response(
                rng.choice(np.array([-1, z.K, 0.0, None, 'arm a', True], object)),
                r.report, r.state)
        if kind == 1:
            return Response(r.arm, report, r.state)
        if kind == 2:
            return Response(
                r.arm, r.report,
                rng.choice(np.array([-1, z.W, 0.0, None, 'hit', True], object)))
        return rng.choice(np.array([None, 5, 'yes', (0, 0)], object))
    argument = {0: 'response.arm', 1: 'report', 2: 'response.state', 3: 'response.arm'}[int(kind)]
    refused(argument, play, oiafc(z, oracle, eps=z.B, delta=.1), respond)

@fewer
@given(rngs)
def test_world_without_inducible_arms(rng):
    """Arms that tell the same at the same cost: none can be the strict favourite. All are named,
    with the best margin."""
    p = parts(rng, W=2)
    K = len(p['joint'])
    p['joint'], p['costs'] = [p['joint'][0]]*K, np.full(K, rng.choice([0., .05]))
    before, w = frozen([p]), make_world(**p)
    with pytest.raises(NotInducible) as caught:
        action_informed_oracle(w)
    error = caught.value
    assert isinstance(error, OIAError) and isinstance(error, ValueError) and frozen([p]) == before
    assert error.arms == w.setting.arms and abs(error.margin) <= 1e-6*w.setting.bound
    assert all(repr(name) in str(error) for name in error.arms)

@fewer
@given(rngs)
def test_arm_that_costs_more_than_any_payment(rng):
    "One arm that no payment can reach: it is named, and leaving it out is the way out."
    p = parts(rng, K=3, W=2)
    k = int(rng.integers(3))
    p['costs'] = np.where(np.arange(3) == k, 2*p['bound'], 0.)
    w = make_world(**p)
    with pytest.raises(NotInducible) as caught:
        action_informed_oracle(w)
    assert w.setting.arms[k] in caught.value.arms and caught.value.margin < 0
    assert w.without(k).setting.K == 2

# --- Labels, masks and other containers -----------------------------------------------

def named_parts(rng):
    "Good parts with names for everything, as keywords of `make_world`."
    p = parts(rng)
    W = p['utility'].shape[0]
    named = lambda kind, n: [f'{kind} {c}' for c in rng.permutation(list('qwertyuiop'))[:n]]
    return p | dict(arms=named(
        'arm', len(p['joint'])), states=named('state', W), decisions=named(
            'decision', 3), signals=[named('signal', len(o)) for o in p['joint']])

def labelled(p, pd):
    "The same parts as pandas objects."
    return p | dict(
        joint=[
            pd.DataFrame(o, s, p['states']) for o, s in zip(p['joint'], p['signals'])
        ], costs=pd.Series(p['costs'], p['arms']), utility=pd.DataFrame(
            p['utility'], p['states'], p['decisions']))

@many
@given(rngs)
def test_labels_decide_and_not_places(rng):
    """Whatever the order of rows and columns, the world is that of the labels; and so it is for
    dicts."""
    pd = pytest.importorskip('pandas')
    p = named_parts(rng)
    world, tables = make_world(**p), labelled(p, pd)
    shuffled = lambda t: t.sample(frac=1, random_state=rng).T.sample(
        frac=1, random_state=rng).T if t.ndim == 2 else t.sample(
            frac=1, random_state=rng)
    mixed = tables | dict(joint=[shuffled(t) for t in tables['joint']], costs=shuffled(
        tables['costs']), utility=shuffled(tables['utility']))
    assert make_world(**tables) == make_world(**mixed) == world
    utility = {w: dict(zip(p['decisions'], u)) for w, u in zip(p['states'], p['utility'].tolist())}
    costs = dict(zip(p['arms'], p['costs'].tolist()))
    backwards = {k: dict(reversed(v.items())) for k, v in reversed(utility.items())}
    assert make_world(**p | dict(utility=backwards, costs=dict(reversed(costs.items())))) == world
    assert make_world(**tables | dict(signals=None)) == world          # an index names the signals
    z = world.setting
    support = shuffled(pd.DataFrame(z.support, columns=p['states'])).sort_index()
    assert Setting(support, mixed['utility'], z.bound, z.arms, z.states, z.decisions) == z
    assert [z.index(shuffled(pd.Series(b, p['states']))) for b in z.support] == list(range(z.M))

@many
@given(rngs, st.sampled_from(['joint', 'costs', 'utility']))
def test_labels_that_do_not_match(rng, argument):
    """A label that is no name, and labels where no names are given, are refused: nothing is read
    by its place in silence."""
    pd = pytest.importorskip('pandas')
    p = named_parts(rng)
    tables = labelled(p, pd)
    spoilt = (
        lambda t: t.rename({t.index[0]: 'nobody'})) if argument == 'costs' else (
                                lambda t: t.rename(columns={t.columns[-1]: 'nobody'}))
    one = lambda x, f: [f(x[0]), *x[1:]] if argument == 'joint' else f(x)
    error = refused(argument, make_world, **p | {argument: one(tables[argument], spoilt)})
    assert 'nobody' in str(error) or 'labels' in str(error)
    names = dict(joint='states', costs='arms', utility='decisions')[argument]
    refused(argument, make_world, **p | {argument: tables[argument], names: None})
    refused(argument, make_world,
            **p | {argument: one(tables[argument], lambda t: pd.concat([t, t[:1]]))})
    places = tables[argument].reset_index(drop=True) if argument == 'costs' else None
    if places is not None:
        assert make_world(**p | dict(costs=places)) == make_world(**p)      # 0, 1, … are places

@many
@given(rngs, st.sampled_from(['joint', 'costs', 'utility']))
def test_masks_and_foreign_containers(rng, argument):
    from scipy.sparse import csr_array
    p = parts(rng)
    value = p[argument][0] if argument == 'joint' else p[argument]
    put_in = lambda x: p | {argument: [x, *p['joint'][1:]] if argument == 'joint' else x}
    error = refused(argument, make_world,
                    **put_in(np.ma.array(value, mask=rng.random(value.shape) < .5)))
    assert 'masked' in str(error)
    if value.ndim == 2:
        refused(argument, make_world, **put_in([np.ma.array(row, mask=True) for row in value]))
        assert 'toarray' in str(refused(argument, make_world, **put_in(csr_array(value))))
    lazy = type('LazyFrame', (), dict(collect=None, collect_schema=None))()
    arrow = type('Table', (), dict(column_names=['a'], schema=None))()
    assert '.collect()' in str(refused(argument, make_world, **put_in(lazy)))
    assert '.to_pandas()' in str(refused(argument, make_world, **put_in(arrow)))

@many
@given(rngs)
def test_fractions_and_decimals_are_numbers(rng):
    "Everywhere: in arrays, as numbers, and mixed with floats."
    n = rng.integers(1, 20, (2, 2, 2))
    n[:, 1, 1] = 80 - n.sum((1, 2)) + n[:, 1, 1]
    exact = [[[Fraction(int(x), 80) for x in row] for row in o] for o in n]
    tenth = Decimal(1)/Decimal(10)
    rational = make_world(exact, [Fraction(0), tenth],
                          [[Decimal(1), 0.], [Fraction(0), 1]], Fraction(3, 2))
    assert rational == make_world(n/80, [0., .1], np.eye(2), 1.5)
    z = rational.setting
    assert z.index([Fraction(x) for x in z.support[0].tolist()]) == 0
    assert ScoringRule([[tenth, Fraction(1, 10)]]*z.M, z.support,
                       Decimal(1)) == ScoringRule(np.full((z.M, 2), .1), z.support, 1.)
    refused('costs', make_world, exact, [Decimal('NaN'), 0], np.eye(2), 1.)
    refused('bound', make_world, exact, [0, 0], np.eye(2), Fraction(-1, 3))

# --- The gates themselves -------------------------------------------------------------

anything = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.complex_numbers(),
    st.text(max_size=4), st.binary(max_size=4),
    st.lists(
        st.one_of(st.floats(), st.integers(), st.text(max_size=2),
                  st.lists(st.floats(), max_size=2)), max_size=4),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
    st.sampled_from(
        [object, np.float32(.3),
         np.array(3),
         np.arange(3), np.nan, 10**400]))

@settings(many, max_examples=examples(400))
@given(anything)
def test_gates_take_anything(x):
    "Each gate returns what it promises or raises `InvalidInput`, for whatever it is given."
    gates = dict(number=lambda: as_number('x', x, 0., 1.),
                 integer=lambda: as_integer('x', x, 0, 9),
                 array=lambda: as_array('x', x, (None, )),
                 matrix=lambda: as_array('x', x, (None, None)),
                 probabilities=lambda: as_probabilities('x', x, (None, )),
                 beliefs=lambda: as_beliefs('x', x),
                 names=lambda: as_names('x', x, 2, 'n'), generator=lambda: generator(x))
    for name, gate in gates.items():
        try:
            y = gate()
        except InvalidInput as e:
            assert e.argument.startswith('seed' if name == 'generator' else 'x')
        else:
            assert not isinstance(y, np.ndarray) or np.isfinite(y).all()
