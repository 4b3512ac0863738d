"""Whatever makes no sense is refused in one way: an `OIAError`, also a `ValueError`, that names the
argument, the value and what was expected, in one line, before anything has changed."""
import re
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import permutations
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from scipy.sparse import csr_array
from conftest import amount, examples
from laws import COIN
from oia_nb.all import (Agent, InvalidInput, OIAError, Oracle, Rational, Response,
                        RiskAverse, ScoringRule, Session, Setting, World,
                        action_informed_oracle, brier, chen, compare, experiment, forecast,
                        forecast_rounds, generator, identify, load_world, logarithmic, make_world,
                        menu_rule, mix, oiafb, oiafc, open_support, optimal_rule, own_beliefs,
                        parse_expert, patient, plot_profits, plot_rule, principal_profit,
                        random_world, search_oracle, sharp, simple_regret, simulate,
                        spherical, summarise, trial, v_shaped, world_from_table)
from oia_nb.core import as_array, as_beliefs, as_integer, as_names, as_number, as_probabilities
from oia_nb.experts.experts import lottery
from oia_nb.experts.around import OpenRule, OpenSetting
from oia_nb.experts.told import as_told
from oia_nb.experts.payoffs import shortlist as trial_rules
from oia_nb.game.information import merge_beliefs
from oia_nb.game.oracle import bound_needed, check_oracle
from oia_nb.game.scoring import floor_belief
from oia_nb.paper.baselines import explore_then_commit as etc
from oia_nb.paper.oiafc import search_depth
from oia_nb.run.learner import check_response
from oia_nb.run.session import as_report
from oia_nb.sharp.record import Record
from oia_nb.worlds.files import world_from_dict, world_to_dict
from oia_nb.worlds.tables import check_table, scored

# --- What is right --------------------------------------------------------------------

def parts(seed, K=None, W=None):
    "The arguments of a world with ragged signals: joint, costs, utility, bound."
    rng = np.random.default_rng(seed)
    K, W = K or int(rng.integers(2, 4)), W or int(rng.integers(2, 5))
    joint = [rng.dirichlet(np.ones(n*W)).reshape(n, W) for n in rng.integers(1, 5, K)]
    return dict(joint=joint, costs=rng.uniform(0, .1, K), utility=rng.uniform(-1, 1, (W, 3)),
                bound=float(rng.choice([.1, 1., 30.])))

def named_parts(seed):
    "Good parts with names for everything, as keywords of `make_world`."
    p, rng = parts(seed), np.random.default_rng(seed)
    W = p['utility'].shape[0]
    named = lambda kind, n: [f'{kind} {c}' for c in rng.permutation(list('qwertyuiop'))[:n]]
    return p | dict(arms=named('arm', len(p['joint'])), states=named('state', W),
                    decisions=named('decision', 3),
                    signals=[named('signal', len(o)) for o in p['joint']])

def labelled(p):
    "The same parts as pandas objects."
    return p | dict(
        joint=[pd.DataFrame(o, s, p['states']) for o, s in zip(p['joint'], p['signals'])],
        costs=pd.Series(p['costs'], p['arms']),
        utility=pd.DataFrame(p['utility'], p['states'], p['decisions']))

# --- Ways to spoil a value ---------------------------------------------------------------

def entries(x, values):
    "Copies of the array with its first, or its last, entry replaced."
    flat = np.ravel(x).astype(float)
    return [np.reshape(y, np.shape(x)) for value in values
            for y in (np.r_[value, flat[1:]], np.r_[flat[:-1], value])]

def single(x):
    "The same through float32, a good way off a sum of one."
    return (x*(1 + 1e-7)).astype(np.float32)

def shapes(x):
    "An array of another shape or kind, and what is none."
    return [x.ravel(), x[None], x[:0], [x[0].tolist(), x[0, :1].tolist()], None, 'x', 1.5]

def payments(v):
    "Payments (M, W), of at most 1, that are none."
    return [*entries(v, [*NOT_FINITE, -1e-12, 1 + 1e-12, 1e3]), v[:, :-1], *shapes(v)]

NOT_FINITE = [np.nan, np.inf, -np.inf]
NO_NUMBER = [*NOT_FINITE, None, '1', True, 1j, [.1]]
RIGHT = parts(7, K=3, W=3)
JOINT, COSTS, UTILITY = RIGHT['joint'], RIGHT['costs'], RIGHT['utility']
ONE = JOINT[2]
NO_ARM = [*entries(ONE, [*NOT_FINITE, -1e-12, -1.]), ONE*(1 + 1e-8), ONE*(1 - 1e-8), single(ONE),
          ONE + 0j, ONE > .1, ONE.astype(str).tolist(), {'p': 1}, *shapes(ONE)]
NO_NAMES = [['a', 'b'], ['a', 'b', 'a'], ['a', 'b', ''], ['a', 'b', 1], ['a', 'b', 2.5], 'abc',
            b'abc', 2.5, True, 4, -1, '']
NO_REPORT = [None, 'hit', 1., {'hit': 1}, ['a', 'a'], [.5], [.2, .3, .5], [np.nan, 1.],
             [0., np.inf], [-1e-5, 1 + 1e-5], [.5, .51], [.25, .25]]
MASKED = [np.ma.array(JOINT[0], mask=JOINT[0] > .1), csr_array(JOINT[0]),
          type('LazyFrame', (), dict(collect=None, collect_schema=None))(),
          type('Table', (), dict(column_names=['a'], schema=None))()]
NAMED = named_parts(11)
LABELS = labelled(NAMED)
def spoilt_labels(t):
    "A label that is no name, and one that comes twice."
    where = dict(index={t.index[0]: 'nobody'}) if t.ndim == 1 else dict(
        columns={t.columns[-1]: 'nobody'})
    return [t.rename(**where), pd.concat([t, t[:1]])]
S = np.random.default_rng(8).dirichlet(np.ones(3), 4)
NO_SUPPORT = [*entries(S, [np.nan, np.inf, -1e-9, -1.]), S*(1 + 1e-8), S*.9, S[:, :1]*0 + 1, {1},
              np.vstack([S, single(S[0])[None]]), *shapes(S)]
RULE, OTHER = (menu_rule(rng.dirichlet(np.ones(3), M), rng.uniform(0, 1, (4, 3)), 1.)
               for rng, M in ((np.random.default_rng(9), 4), (np.random.default_rng(10), 5)))

# --- The table --------------------------------------------------------------------------

CLINIC, ADVERT = load_world('small_clinic'), load_world('advert')
Z, ORACLE, BEST = CLINIC.setting, action_informed_oracle(CLINIC), optimal_rule(CLINIC)
TARGET = dict(eps=1., delta=.1)
ROWS3 = dict(s=list('uuvuvvvu'), x=[1, 1, 2, 1, 2, 2, 1, 2], y=list('ppqqppqq'), z=[.5]*8,
             gap=[1, None]*4, Freq=[1]*8)
FREQ = [[1, -1]*4, [0]*8, ['a']*8, [1, None]*4, [1, np.nan]*4]
GOODS = dict(frame=ROWS3, state='s', arms={'a': ['x'], 'b': ['x', 'y'], 'c': []}, bound=1,
             costs={'a': 0, 'b': .1, 'c': 0}, utility={'u': [1, 0], 'v': [0, 1]})
CODES = dict(s=['u', 'v']*100, x=list(range(200)), y=['p']*200)
FOUND = identify(COIN, method='oiafc', eps=1., delta=.1, budget=40, seed=0)
SHORT = trial_rules(Z, ORACLE)
WIDE = ScoringRule(np.zeros_like(Z.support), Z.support, 2*Z.bound)
LIAR = ScoringRule(1 - brier(Z.support).values, Z.support, 1.)
ZERO = np.zeros_like(Z.support)
NO_ANSWERS = [5, 'ab', (1, 2), ('imaging', 0, Z.support[0]),
              (ScoringRule(np.eye(Z.M, 2), Z.support, 1.), 0, Z.support[0])]
NO_PATHS = ['.', 'nowhere/x.jsonl', 'a\0b', 'x'*300, 5, None, '/dev/zero']
PAST, ODD_ARM = Record(), Record()
PAST.append(ZERO, 1, 0)
ODD_ARM.append(ZERO, Z.K, 0)
NO_RECORD = [5, dict(), Record([np.eye(Z.M, 2)]), ODD_ARM]
OPEN = OpenSetting(Z.utility, Z.bound, Z.arms)
A, B = (make_world(**parts(5, K=2, W=W)) for W in (2, 3))
MORE_ARMS = make_world(**parts(6, K=3, W=2))
MOVED = merge_beliefs(A.setting.support[:, ::-1]*.9 + .05)[0]

@dataclass(frozen=True, eq=False)
class Number(Agent):
    "An agent whose best reply is no `Reply`."
    def best_reply(self, world, rule):
        return 1

def good(f, *args, **usual):
    "`f` with good arguments, of which a keyword takes the place."
    return lambda **bad: f(*args, **usual | bad)

def with_learner(make):
    return good(make, setting=Z, oracle=ORACLE, **TARGET)

def told_by(**told):
    return {f'told.{name}': [{name: value}] for name, value in told.items()}

# exactly up to the largest that makes sense
oiafc(Z, ORACLE, eps=2*Z.B, delta=1.).close()
LEARNED = dict(setting=[CLINIC, None], oracle=[list(ORACLE.rules), action_informed_oracle(COIN)],
               eps=[0, -1., np.nextafter(2*Z.B, np.inf), np.nan, None, 'x', True],
               delta=[0, np.nextafter(1., 2.), np.inf, None, '1'])
CAP = dict(max_rounds=[0, 1.5, True, '3'])
KEYS = [None, 'k', {'kind': 'Drunk'}, {'kind': ['Rational']}, {}, {'kind': 'Rational', 'rate': .1}]
SUPPORTED = dict(Setting=lambda support: Setting(support, np.ones((3, 2)), 1., 2),
                 ScoringRule=lambda support: ScoringRule(np.zeros((4, 3)), support, 1.),
                 brier=brier, spherical=spherical, logarithmic=logarithmic,
                 v_shaped=lambda support: v_shaped(support, np.full(3, 1/3)),
                 menu_rule=lambda support: menu_rule(support, np.ones((2, 3)), 1.))
FIXED = {       # a call, and for each of its keywords (what is named, after a dot) bad values
    'make_world': (good(make_world, **RIGHT), dict(
        joint=[*([*JOINT[:2], bad] for bad in NO_ARM), [*JOINT, np.full((1, 6), 1/6)], JOINT[:1],
               [np.array([[1.]])]*2, None, 5, 'joint'],
        costs=[*entries(COSTS, [*NOT_FINITE, -1e-12]), [Decimal('NaN'), 0, 0], np.zeros(2),
               np.zeros(8), COSTS[None], ['0']*3, None, 'free', .1],
        utility=[*entries(UTILITY, NOT_FINITE), np.vstack([UTILITY, UTILITY[:1]]), UTILITY[:, 0],
                 UTILITY[:, :0], None, 'u', 3], bound=[*NO_NUMBER, 0, -0., -1e-12, Fraction(-1, 3)],
        arms=NO_NAMES, states=NO_NAMES, decisions=NO_NAMES,
        signals=[[None, None, names] for names in NO_NAMES])),
    'labels': (good(make_world, **NAMED), dict(
        joint=[[bad, *LABELS['joint'][1:]] for bad in spoilt_labels(LABELS['joint'][0])],
        costs=spoilt_labels(LABELS['costs']), utility=spoilt_labels(LABELS['utility']))),
    'labels without names': (good(make_world, **parts(11)), {
        name: [LABELS[name]] for name in ('joint', 'costs', 'utility')}),
    'containers of arms': (good(make_world, **RIGHT), dict(
        joint=[[bad, *JOINT[1:]] for bad in MASKED],
        costs=[np.ma.array(COSTS, mask=True), *MASKED[2:]],
        utility=[[np.ma.array(row, mask=True) for row in UTILITY], csr_array(UTILITY),
                 *MASKED[2:]])),
    'reports': (Z.index, dict(report=[*NO_REPORT, Z.support[0] + [3e-6, -3e-6]])),
    'reports to a rule': (BEST.rule.column, dict(report=NO_REPORT)),
    'reports that are paid': (good(BEST.rule.pay, report=Z.support[0], state=0), dict(
        report=NO_REPORT, state=[-1, 2, 1., None, 'hit', True])),
    'card': (good(BEST.rule.card, Z), dict(currency=[3], title=[3], digits=['two', -1])),
    'text of a menu': (good(BEST.rule.menu().text, Z), dict(digits=[-1])),
    'simple_regret': (good(simple_regret, CLINIC), dict(rule=[BEST])),
    'arm_index': (Z.arm_index, dict(arm=['nobody', -1, 3, 1., None, True])),
    'without': (lambda arms: COIN.without(*arms), dict(arms=[[0], [0, 1]])),
    'Oracle': (Oracle, dict(rules=[ORACLE.rules[:1], *(
        [r, *ORACLE.rules[1:]] for r in (None, 1., ORACLE.rules[0].values.tolist()))])),
    'World': (good(World, structure=A.structure, setting=A.setting), {
        'structure': [A.setting], 'setting': [B.setting, MORE_ARMS.setting, A.structure],
        'name': ['', None, 3], 'setting|joint': [Setting(
            MOVED, A.setting.utility, A.setting.bound, 2)]}),
    **{f'an odd agent {n}': (call, {'world|best_reply': [replace(CLINIC, agent=Number())]})
       for n, call in enumerate((good(identify, **TARGET), good(principal_profit, rule=BEST.rule),
                                 lambda world: world.respond(BEST.rule, generator(0))))},
    'respond': (good(CLINIC.respond, BEST.rule), dict(rng=[0, None])),
    **{f'support of {name}': (make, dict(support=NO_SUPPORT)) for name, make in SUPPORTED.items()},
    'beliefs twice': (SUPPORTED['Setting'], dict(support=[
        np.vstack([S, S[:1] + off]) for off in (0, 1e-13)])),
    'ScoringRule': (good(ScoringRule, support=RULE.support, bound=1.), dict(
        values=payments(RULE.values))),
    'menu_rule': (good(menu_rule, support=RULE.support, bound=1.), dict(
        menu=payments(RULE.values))),
    'mix': (good(mix, S0=RULE, S1=RULE, lam=.5), dict(
        lam=[*NO_NUMBER, -1e-12, 1 + 1e-12], S1=[None, 1, RULE.values.tolist(), OTHER])),
    **{f.__name__: (good(f, support=S, bound=1.), dict(bound=[*NO_NUMBER, 0, -1e-12]))
       for f in (brier, spherical, logarithmic)},
    'floor of logarithmic': (good(logarithmic, support=S, bound=1.), dict(
        floor=[0, -.1, 1/3, .34, 1, np.nan, '0.1'])),
    'floor_belief': (good(floor_belief, floor=.1), dict(
        belief=entries([.2, .3, .5], [-.1, np.nan, 2.]))),
    'v_shaped': (good(v_shaped, support=S), dict(kink=[
        [0., .5, .5], [.2, .2, .2], [-.1, .6, .5], [np.nan, .5, .5]])),
    'oiafc': (with_learner(oiafc), LEARNED | CAP | dict(mixing=[None, 'theorem2', .5, 3])),
    'oiafb': (good(oiafb, setting=Z, oracle=ORACLE, eps=1., budget=5, a=1.), dict(
        budget=[0, True], a=[-1., np.nan, None], delta=[.1, 2.], solver=['simplex'])),
    'sharp': (with_learner(sharp), LEARNED | CAP | dict(
        margin=[-1.], max_rounds=[1, 2.5], record=NO_RECORD,
        history=[[row] for row in NO_ANSWERS])),
    'no history and no record with a lead': (good(sharp, Z, ORACLE, margin=.01, **TARGET), {
        'history|margin': [[(BEST.rule, 0, Z.support[0])]], 'record|margin': [PAST]}),
    'Record.from_dict': (Record.from_dict, {'stored|record': [
        {}, PAST.as_dict() | dict(rules=[]), PAST.as_dict() | dict(rounds=5)]}),
    'Record.without': (PAST.without, {'round': [0, 2, 'x']}),
    'identify': (good(identify, world=COIN, eps=1e-3, delta=.1, budget=9), dict(
        world=[Z, None, 'clinic'], method=['guess', 3, pd.DataFrame()],
        budget=[-1, 0, 1, 1.5, 'all'], seed=[-1, 1.5, 'x', True], max_paid=[-1.])),
    'the compiled loop': (good(identify, COIN, method='oiafc', engine='fast', eps=1., delta=.1),
                          {'max_paid|engine': [1.], 'stop|engine': [max]}),
    'random_world': (good(random_world, K=2, W=2, signals=2, seed=0, margin=.01), dict(
        K=[1], W=[1], signals=[0, [1], [2, 2.], 'ab', None], seed=[-1, 'x'], prior=['both', []],
        bound=[0], max_cost=[-1], decisions=[0], margin=['x'], tries=[0], name=[''])),
    'ordered by Blackwell': (good(random_world, K=2, W=2, seed=0, prior='blackwell'), dict(
        signals=[[2, 3]])),
    'Setting.grid': (good(Setting.grid, states=2, utility=np.eye(2), bound=1, arms=2), dict(
        step=[.3, 0, 2, None], states=[1, 9, 'ab', []], bound=[0])),
    'supports': (lambda supports: replace(ADVERT.setting, supports=supports), dict(supports=[
        5, 'ab', [], [[0]], [[0], [1], []], [[0], [1], [7]], [[0], [1], [-1]], [[0], [1], [1, 1]],
        [[0], [1], [.5]], [[0], [1], [[.5, .6]]], [[0], [1], [[.51, .49]]], [[0], [1], 'all'],
        [[0], [1], [True]], {'desk': [0]}, {'desk': [0], 'survey': [1], 'phone': [2]}])),
    'prior': (lambda prior: replace(ADVERT.setting, prior=prior), dict(prior=[
        5, [.5], [.5, .6], [-.5, 1.5], 'half', [[.5, .5]]])),
    'cost_ranges': (lambda cost_ranges: replace(ADVERT, cost_ranges=cost_ranges), dict(cost_ranges=[
        [(0, 1)], [(1, 2)]*3, [(0, 1), (1, 0), (0, 1)], 'wide', [(-1, 1)]*3, [(0, np.nan)]*3])),
    'an oracle in doubt': (good(action_informed_oracle, ADVERT), dict(
        costs=[[(0, 1)], {'desk': 1}], cases=[0, {'desk': 2.5}])
        | {'costs|arm': [{'x': (0, 1)}]}),
    'agent': (lambda agent: replace(COIN, agent=agent),
              dict(agent=[None, 'Rational', Rational, 3])),
    'agent in a file': (lambda agent: world_from_dict(world_to_dict(COIN) | dict(agent=agent)),
                        dict(agent=KEYS)),
    'RiskAverse': (RiskAverse, dict(aversion=[np.nan, 51, 'much'], lottery=[None])),
    'lottery': (good(lottery, bound=2., rng=generator(0)), dict(payment=[-.1, 2.1, np.nan, None])),
    'parse_expert': (parse_expert, {'text|expert': [
        'lapsing:often', 'tired', 'lapsing:1:2', 'expert:1', '', 'channel', 'logit:.1/lapsing:.1',
        'drifting:1:2:x']}),
    'as_told': (as_told, dict(told=[
        'lapses=.6', 'lapses=-1', 'band=-1', 'alarm=0', 'alarm=2', 'lapses', 'lapses=x', 'slips=.1',
        'beliefs=mine', 'costs=never', 'arm=heard', 'lapses=nan', 3, [('lapses', .1)],
        'rounding=2.5', 'rounding=-1', 'rounding=16', 'rounding=', {'rounding': True}])),
    'world_from_table': (good(world_from_table, **GOODS), dict(
        frame=[None, 3, 'table', [], [1, 2],
               np.eye(2), CODES,
               *(ROWS3 | dict(x=[1, gap]*4) for gap in (pd.NA, pd.NaT, np.nan))],
        arms=[{'a': ['x']}, [['x'], ['y']], {'a': ['X'], 'b': []}, {'a': [['x']], 'b': []},
              {'a': 3, 'b': []}, {'': ['x'], 'b': []}, {1: ['x'], 'b': []}],
        state=['S', None], smoothing=[np.nan], bound=[0], states=[['u', 'u', 'v'], 'uv', 2],
        costs=[{'a': 0, 'b': 0, 'd': 0}, .1, [0, 1], [0, 1, -1],
               pd.Series({'a': 0, 'b': 0, 'd': 0}), {'a': (.01, .02, .05), 'b': 0, 'c': 0}],
        decisions=[['a']], name=[''],
        rare=[-1, 'five', None, np.nan], weights=['s', 'none'],
        utility=[{'u': [1, 0], 'w': [0, 1]}, {'u': [1, 0], 'v': [0]}, {'u': [1, 0]},
                 {'u': [1, 0], 'v': [0, 1], 7: [0, 0]}, pd.DataFrame(np.eye(2), ['u', 'w']),
                 pd.DataFrame(np.eye(2)[:1], ['u']),
                 pd.DataFrame(np.ones((3, 2)), ['u', 'v', 'u'])],
        prior=[[.5, .6], {'u': 1.}, [1.], [.5, -.5], 'uv'])),
    'weights of a table': (good(world_from_table, **GOODS, weights='Freq'), {
        'frame|Freq': [ROWS3 | dict(Freq=w) for w in FREQ]}),
    'scored': (scored, dict(columns=[[], 'c1'])),
    'check_table': (good(check_table(dict(s=['u', 'v', 'u'], x=['a', None, 'b'])).fix), dict(
        missing=['mean'], rare=[-1], bins=[1, {'y': 2}, {'x': 2}, 2.5])),
    'experiment': (good(experiment, worlds=[COIN], methods=['sharp'], repetitions=1, seed=0,
                         grid=dict(eps=[3.], delta=.1), n_jobs=0), dict(
        worlds=[[], COIN, ['nowhere'], [COIN, COIN], {1: COIN}, [None]],
        methods=[[], 'sharp', ['guess'], ['sharp', 'sharp'], [print], {'x': 5},
                 {'x': ('sharp', 'budget')}, {'x': ('sharp', dict(watch=1))},
                 {'x': ('sharp', dict(margin=np.inf))}, {'x': ('oiafc', dict(mixing=min))}],
        grid=[[], dict(epsilon=[1.]), dict(seed=[1]), dict(rounds=[1]), dict(eps=[]),
              dict(eps=[1., 1.]), dict(eps=[np.nan]), dict(eps=[[1.]]), {'eps': 1., 3: 1.}],
        repetitions=[0, -1, [1, 1], [], 1.5, True, [-1]], seed=[None, -1, 1.],
        n_jobs=[1.5, 'two'])),
    'forecast': (good(forecast, COIN, eps=.5, delta=.1, runs=1), dict(
        runs=[0], cap=[0], seed=[-1], eps=[0.]) | {'methods|method': [['guess'], 'sharp']}),
    'summarise': (summarise, dict(frame=[None, [], pd.DataFrame(), pd.DataFrame(dict(eps=[1.]))])),
    'compare': (good(compare, [COIN]), dict(budget=[0], cap=[0], margin=[-1.])),
    'forecast_rounds': (good(forecast_rounds, subject=Z, eps=1., delta=.1, margin=.05), dict(
        eps=[0., 9.], delta=[0.], margin=[0., 5., None], subject=[3],
        gaps=[[0., -1.], [1., 1.], [0.]])),
    'search_oracle': (good(search_oracle, Z), dict(
        tries=[1, 1.5], delta=[0, 2], want=[0, None])),
    'search_depth': (search_depth, dict(threshold=[0., -1., np.nan])),
    'patient': (with_learner(patient), LEARNED | CAP | told_by(
        band=.1, beliefs='own', lapses=.6)),
    'own_beliefs': (with_learner(own_beliefs), LEARNED | CAP | dict(examined=[1]) | told_by(
        lapses=.1, band=.1)),
    'open_support': (with_learner(open_support), dict(mass=[2., 0], max_rounds=[1], eps=[0])),
    'trial': (with_learner(trial), dict(
        rules=[SHORT[:1], SHORT[0], [SHORT[0], 3], [SHORT[0], WIDE]], max_rounds=[0], eps=[0])
        | told_by(costs='until the end')),
    'chen': (good(chen, setting=Z, oracle=ORACLE, budget=10, **TARGET), LEARNED | dict(
        budget=[0, 2.5, True, '3'], solver=['simplex', None], decision=[None, ['last']])
        | {'decision|rng': ['uniform']}),
    'etc': (good(etc, setting=Z, oracle=ORACLE, samples=5, **TARGET), LEARNED | dict(
        samples=[0, 1.], budget=[9], solver=['simplex', None])),
    'a lead': (good(identify, ADVERT, eps=1., delta=.05), dict(margin=[-.1, np.nan, 'wide', 3.])),
    'OpenSetting': (lambda **bad: replace(OPEN, **bad), dict(bound=[-1], arms=[1])),
    'OpenRule': (good(OpenRule, tickets=[[0., 1.]], bound=1.), dict(tickets=[[[1., 2.]]],
                                                                     bound=[0.])),
    'a response': (lambda **bad: check_response(Z, Response(
        **dict(arm=0, report=Z.support[0], state=0) | bad)), dict(
            arm=[-1, Z.K, True, 1.], state=[99], report=[(2., -1.), (np.nan, 1.), 'up', ()])),
    'as_report': (good(as_report, Z), dict(report=[
        {1, 2}, b'36', '36,64', [[.3, .7]], np.array(.3), [1e300]*2, [-5, 105], True, 10**30,
        {0: 36, 1: 64}, .36, [], [120, 0], [np.nan, 1], 7, np.int64(7), 7., np.float64(.07)])),
    **{name: (f, dict(path=NO_PATHS)) for name, f in dict(
        open=Session.open, read=lambda path: Session.open(path, write=False),
        create=lambda path: Session.create(path, CLINIC, **TARGET)).items()},
    'Session.create': (good(Session.create, 'nowhere/s', CLINIC, **TARGET), dict(
        unit=[2.], history=[
            [('nobody', 0, 0)], [(brier([[0., 1.], [1., 0.]]), 0, Z.support[0].tolist())], 5, None,
            [1], 'yes'])),
    'a unit': (good(Session.create, 'nowhere/s', CLINIC, unit=.01, **TARGET), {
        'method|unit': ['oiafc']}),
    'load_world': (lambda world: load_world(world), dict(world=[
        'absent.json', 'clinick', '', '.', None, 3, b'clinic',
        ['clinic'], 'a\0b', '../data/clinic', 'x'*5000])),
    'check_oracle': (good(check_oracle, CLINIC), dict(rules=[
        ORACLE.rules[:1], [*ORACLE.rules, WIDE], [r.values for r in ORACLE.rules],
        [LIAR, *ORACLE.rules[1:]], [WIDE, *ORACLE.rules[1:]],
        [brier(Z.support[:2]), *ORACLE.rules[1:]]])),
    'plot_rule': (good(plot_rule, rule=BEST), dict(rule=[CLINIC], setting=['clinic'])),
    'plot_profits': (good(plot_profits, FOUND, setting=COIN.setting), dict(setting=[Z])),
}
CALLS = [(name, key) for name, (_, kinds) in FIXED.items() for key in kinds]

@pytest.mark.parametrize('name, key', CALLS, ids=lambda x: x)
def test_table(name, key):
    "Each value is refused in one line that names the argument, and no figure is left open."
    call, kinds = FIXED[name]
    before = plt.get_fignums()
    for bad in kinds[key]:
        was = repr(bad)
        with pytest.raises(InvalidInput) as e:
            call(**{re.split(r'[.|]', key)[0]: bad})
        assert repr(bad) == was and isinstance(e.value, (OIAError, ValueError))
        said = str(e.value)
        assert re.search(rf'\b({key})\b', e.value.argument), (bad, said)
        assert '\n' not in said and len(said) < 900 and ', expected ' in said
    assert plt.get_fignums() == before

COLUMNS = dict(arms={'l': ['x'], 'g': []}, costs=[0, 1], utility=np.eye(2), bound=1.)
FRAME = pd.DataFrame([[1, 2, 'a'], [0, 1, 'b']]*10, columns=['x', 'x', 'y'])
# the argument that is named, a part of what is said, the call
SLIPS = [
    *[('joint[0]', said, lambda bad=bad: make_world(**RIGHT | dict(joint=[bad, *JOINT[1:]])))
      for bad, said in zip(MASKED, ('masked', 'toarray', '.collect()', '.to_pandas()'))],
    *[('world', 'load_world', lambda f=f: f('clinic')) for f in (optimal_rule, bound_needed)],
    ('world', 'load_world', lambda: simulate(sharp(Z, ORACLE, **TARGET), Z, 0)),
    ('world', 'advert, clinic, small_clinic, wine', lambda: load_world('clinick')),
    ('learner', 'simulate(learner, world',
     lambda: simulate(CLINIC, sharp(Z, ORACLE, **TARGET), 0)),
    ('oracle', 'known margins', lambda: etc(Z, Oracle(ORACLE.rules), **TARGET)),
    ('frame', "column 'z': 8 rows with a fraction, such as 0.5: cut it", lambda: world_from_table(
        **GOODS | dict(arms={'a': ['z'], 'b': []}))),
    ('frame', "column 'gap': no value in 4 rows, the first is row 1", lambda: world_from_table(
        **GOODS | dict(state='gap'))),
    ('states', "also 'v'", lambda: world_from_table(**GOODS | dict(states=['u', 'w']))),
    ('methods', 'list', lambda: forecast(CLINIC, **TARGET, methods='sharp')),
    ('method', 'sharp', lambda: Session.create('nowhere/s', CLINIC, **TARGET,
                                               method=pd.DataFrame())),
    ('watch', 'a function', lambda: identify(CLINIC, **TARGET, watch=3)),
    ('state', 'two states', lambda: world_from_table(
        dict(y=['a']*30, x=['u', 'v', 'w']*10), state='y', **COLUMNS)),
    ('joint[0]', 'two states', lambda: make_world([[[.5], [.5]], [[1.]]], [0, 1], [[1.]], 1.)),
    ('support', 'two states', lambda: Setting([[1.]], [[1.]], 1., 2)),
    *[('', 'one column of the table', act)
      for act in (lambda: check_table(FRAME),
                  lambda: world_from_table(FRAME, state='y', **COLUMNS))]]

@pytest.mark.parametrize('argument, wanted, call', SLIPS,
                         ids=[f'{n} {a} {w}' for n, (a, w, _) in enumerate(SLIPS)])
def test_slips(argument, wanted, call):
    with pytest.raises(InvalidInput) as e:
        call()
    assert argument in e.value.argument and wanted in str(e.value)
    assert len(str(e.value)) < 400 and '\n' not in str(e.value)

@pytest.mark.parametrize('order', [p for p in permutations(range(3)) if p != (0, 1, 2)])
def test_oracle_that_triggers_another_arm(order):
    "Found at the start: the run ends with that rule, and the arm that answered it."
    shuffled = Oracle([ORACLE.rules[k] for k in order])
    k = next(k for k in range(3) if order[k] != k)
    found = simulate(oiafc(Z, shuffled, eps=Z.B, delta=.1), CLINIC, 0)
    assert (found.status, found.violated) == ('assumption_violated', 'oracle')
    assert found.certificate is None and found.rounds == k + 1
    assert (found.rule, found.arm) == (shuffled.rules[k], order[k])

@settings(max_examples=amount(25, examples(200)))
@given(st.integers(0, 2**32 - 1))
def test_labels_decide_and_not_places(seed):
    "Whatever the order, and for dicts; 0, 1, … are places. Fractions and decimals are numbers."
    p, rng = named_parts(seed), np.random.default_rng(seed)
    world, tables = make_world(**p), labelled(p)
    def shuffled(t):
        t = t.sample(frac=1, random_state=rng)
        return t.T.sample(frac=1, random_state=rng).T if t.ndim == 2 else t
    mixed = tables | dict(joint=[shuffled(t) for t in tables['joint']],
                          costs=shuffled(tables['costs']), utility=shuffled(tables['utility']))
    assert make_world(**tables) == make_world(**mixed) == world
    utility = {w: dict(zip(p['decisions'], u)) for w, u in zip(p['states'], p['utility'].tolist())}
    costs = dict(zip(p['arms'], p['costs'].tolist()))
    backwards = {k: dict(reversed(v.items())) for k, v in reversed(utility.items())}
    assert make_world(**p | dict(utility=backwards, costs=dict(reversed(costs.items())))) == world
    assert make_world(**p | dict(costs=tables['costs'].reset_index(drop=True))) == world
    assert make_world(**tables | dict(signals=None)) == world          # an index names the signals
    exact = [[*map(Fraction, row)] for row in p['utility'].tolist()]
    assert make_world(**p | dict(utility=exact, bound=Decimal(p['bound']))) == world
    z = world.setting
    support = shuffled(pd.DataFrame(z.support, columns=p['states'])).sort_index()
    assert Setting(support, mixed['utility'], z.bound, z.arms, z.states, z.decisions) == z
    assert [z.index(shuffled(pd.Series(b, p['states']))) for b in z.support] == list(range(z.M))

some = st.one_of(st.floats(), st.integers(), st.text(max_size=2), st.lists(st.floats(), max_size=2))
anything = st.one_of(
    some, st.none(), st.booleans(), st.complex_numbers(), st.binary(max_size=4),
    st.lists(some, max_size=4), st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
    st.sampled_from([object, np.float32(.3), np.array(3), np.arange(3), np.nan, 10**400]))
GATES = dict(
    number=lambda x: as_number('x', x, 0., 1.), integer=lambda x: as_integer('x', x, 0, 9),
    array=lambda x: as_array('x', x, (None, )), matrix=lambda x: as_array('x', x, (None, None)),
    probabilities=lambda x: as_probabilities('x', x, (None, )),
    beliefs=lambda x: as_beliefs('x', x), names=lambda x: as_names('x', x, 2, 'n'),
    generator=generator)

@settings(max_examples=examples(400))
@given(anything)
def test_gates_take_anything(x):
    "Each gate returns what it promises or raises `InvalidInput`, for whatever it is given."
    for name, gate in GATES.items():
        try:
            y = gate(x)
            assert not isinstance(y, np.ndarray) or np.isfinite(y).all()
        except InvalidInput as e:
            assert e.argument.startswith('seed' if name == 'generator' else 'x')
