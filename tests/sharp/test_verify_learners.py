"""The proofs of all learners but the sharp one: true ones pass; forged ones, those of learners with
planted faults and changed files are refused."""
import copy
import json
import random
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
import numpy as np
import pytest
from conftest import amount
from laws import worst_rule
from spoilt import FINITE, spoil
from test_verify import WEAKER, forged, verdict
from oia_nb.all import InvalidInput, action_informed_oracle, identify, load_world
from oia_nb.show.documents import identification_from_dict
from oia_nb.cli import main
from oia_nb.paper.estimation import Transcript
from oia_nb.run.identification import learner_row
from oia_nb.run.learner import (CLAIMS, Certificate, Finding, ask_oracle, claim_of, facts_of,
                                finish, simulate, verified)
from oia_nb.sharp import learner
from oia_nb.verify import PROOFS, Claim, Facts, need, verify

SMALL, CLINIC = load_world('small_clinic'), load_world('clinic')
OWN = dict(method='own_beliefs', told='beliefs=own')

WITHIN = []

@pytest.fixture(autouse=True)
def within(monkeypatch):
    """In place of the sharp learner's proof, one that says how far facts, δ and bound have come:
    what wraps it is looked at here."""
    runs, old = WITHIN, learner.hold
    def hold(run, *what):
        old(run, *what)
        runs.append((run.known.data, run.held, run.delta))
        proof = dict(kind='within', run=len(runs) - 1)
        run.held = replace(run.held, certificate=replace(run.held.certificate, proof=proof,
                                                         facts={}))
    def check(claim, p, facts, at):
        data, f, delta = runs[p['run']]
        need(len(facts.rounds) == data.rounds, 'there are other rounds')
        need(np.array_equal(facts.rounds[:, 1:3].T, [data.arms, data.beliefs]), 'other answers')
        pays = [[(facts.support*rules[r]).sum(1) for r in asked] for rules, asked in
                ((facts.rules, facts.rounds[:, 0]), (data.rules, data.asked))]
        need(np.allclose(*pays), 'other rules')
        worth = [(facts.support*rule).sum(1) for rule in (claim.rule, f.rule.values)]
        need(np.allclose(*worth), 'another rule')
        need(claim.arm == f.arm and claim.bound >= f.certificate.bound - 1e-9
             and claim.delta >= delta*(1 - 1e-9), 'more is claimed')
    monkeypatch.setattr(learner, 'hold', hold)
    monkeypatch.setitem(PROOFS, 'within', check)

RUNS = dict(
    oiafc=dict(world=SMALL, eps=1., method='oiafc', budget=700),
    simple=dict(world=CLINIC, eps=1., method='oiafc', budget=400, mixing='corollary1'),
    oiafb=dict(world=CLINIC, eps=1., method='oiafb', budget=600),
    chen=dict(world=CLINIC, eps=1., method='chen', budget=300),
    etc=dict(world=SMALL, eps=1., method='explore_then_commit', samples=1000),
    trial=dict(world=SMALL, eps=.2, method='trial', told='beliefs=own'),
    own=dict(world=SMALL, eps=.1, **OWN),
    led=dict(world=SMALL, eps=.4, margin=.001),
    patient=dict(world=SMALL, eps=.3, method='patient', told='lapses=.05'),
    open=dict(world=SMALL, eps=.4, method='open_support'))

@cache
def run(name, seed=1):
    return identify(delta=.1, seed=seed, **RUNS[name])

@pytest.mark.parametrize('name', RUNS)
def test_true_ones_pass(name):
    """Also after a way through JSON, and in fractions; and what they rest on is said. The same
    claim, but for a thousandth, is refused in fractions as well."""
    for seed in range(1, amount(2, 20)):
        found = run(name, seed)
        assert found.refused is None and found.proved is not None and found.verify(), name
        again = identification_from_dict(json.loads(json.dumps(found.to_dict(trace=True))))
        assert again.verify() and again.verify().rests == found.verify().rests
        assert 'Verified by oia_nb.verify in' in found.statement
    assert found.verify(exact=True)
    if name not in ('chen', 'patient', 'open'):
        less = replace(found.proved, bound=.9*found.proved.bound - .001)
        at = 'certificate' if found.certificate is not None else 'listed'
        assert not replace(found, **{at: less}).verify(exact=True)

# --- Forgeries ------------------------------------------------------------------------

def proved_by(name, seed=1):
    "The claim, the proof and the facts of a run."
    found = run(name, seed)
    return claim_of(found), found.proved.proof, facts_of(found)

def put(name, value):
    "Another value in the proof."
    return lambda c, p, f: p.update({name: value(p[name])})

def fact(name, value):
    "Another value of a fact, or of one of those that only some proofs rest on."
    def change(c, p, f):
        if name in f.more:
            return replace(f, more=f.more | {name: value(f.more[name])})
        return replace(f, **{name: value(getattr(f, name))})
    return change

def column(n, value):
    "Another arm (1), belief (2) or state (3) in some rounds, by what they were."
    def change(c, p, f):
        f.rounds[:, n] = value(f.rounds[:, n], c)
    return change

def claimed(name, value):
    return lambda c, p, f: replace(c, **{name: value(getattr(c, name))})

def seen_last(beliefs, c):
    "A belief is seen in the last round only."
    last = np.arange(len(beliefs)) == len(beliefs) - 1
    return np.where(last, 1, np.where(beliefs == 1, 0, beliefs))

other_arm = column(1, lambda arms, c: np.where(arms == c.arm, (arms + 1) % 3, arms))
one_belief, one_state = column(2, lambda x, c: 0*x), column(3, lambda x, c: 0*x)
ALL = dict(
    bound=claimed('bound', lambda x: .9*x - .001), delta=claimed('delta', lambda x: 1e-9),
    arm=claimed('arm', lambda k: (k + 1) % 3),
    rule=claimed('rule', lambda x: .5*x if x.any() else x + .1),
    kind=put('kind', lambda k: 'none'), arms=other_arm)
COUNTS = ALL | dict(
    share=put('share', lambda a: .3 if a is None else a/2),
    until=put('until', lambda u: [u[0] + 10**6, u[1]]),
    answered=put('answered', lambda t: 2 if t != 2 else 3),
    left_out=put('arms', lambda a: a[1:]),
    negative=lambda c, p, f: p['arms'][0].update(answers=[[-1., [1]]]),
    looks=fact('looks', lambda n: 2), sizes=fact('sizes', lambda s: [1]*len(s)),
    paid=fact('paid', lambda paid: {t: 0*s - 1 for t, s in paid.items()}))
DROPPED = dict(dropped=fact('rounds', lambda rounds: rounds[1:]))
FORGED = dict(
    oiafc=COUNTS, oiafb=COUNTS,
    # what is claimed is so little that it would be true
    chen={k: v for k, v in COUNTS.items() if k not in ('share', 'bound', 'delta')},
    etc={k: v for k, v in COUNTS.items() if k not in ('answered', 'arms')},
    trial={k: v for k, v in ALL.items() if k not in ('arm', 'arms')} | DROPPED | dict(
        index=put('index', lambda i: (i + 1) % 7), states=one_state,
        ends=put('ends', lambda e: [[low + .05, high - .05] for low, high in e]),
        used=put('used', lambda u: [n//2 for n in u]),
        bets=put('bets', lambda b: [[1.5, 1.5] for _ in b]),
        rules=fact('rules', lambda r: r[:-1])),
    own=ALL | DROPPED | dict(rules=fact('rules', lambda r: .9*r)),
    led=ALL | DROPPED | dict(
        attempt=put('attempt', lambda n: n + 1), no_attempt=put('attempt', lambda n: -2),
        price=put('price', lambda x: x/2), share=put('share', lambda x: x/2),
        starts=fact('starts', lambda s: [t + 1 for t in s]),
        rounds=put('rounds', lambda r: [r[0] + 1, r[1]]),
        lead=claimed('told', lambda told: told | dict(margin=2*told['margin'])),
        margins=fact('margins', lambda m: .5*m), oracle=fact('oracle', lambda r: 0*r),
        inner=lambda c, p, f: p['inner'].update(run=10**6)),
    patient=ALL | DROPPED | dict(
        lapses=claimed('told', lambda told: told | dict(lapses=.3)), beliefs=one_belief,
        handed=fact('handed', lambda a: a[::-1]), fewer=fact('handed', lambda a: a[:-1]),
        never=fact('handed', lambda a: [*a[:-1], 10**6]),
        order=column(0, lambda asked, c: asked.max() - asked),
        questions=fact('questions', lambda q: q[::-1])),
    open=ALL | DROPPED | dict(
        run=put('run', lambda r: r + 1), none_run=put('run', lambda r: -1),
        starts=fact('starts', lambda s: [0 for _ in s]),
        rounds=put('rounds', lambda r: [r[0], r[1] - 1]),
        beliefs=one_belief, late=column(2, seen_last)))

@pytest.mark.parametrize('name, kind', [(n, k) for n, kinds in FORGED.items() for k in kinds])
def test_forged_ones_are_refused(name, kind):
    for seed in range(amount(1, 5)):
        true = proved_by(name, seed)
        with np.errstate(all='ignore'):
            assert verdict(*true) is None
            assert verdict(*forged(FORGED[name][kind], *true)) is not None

# --- A guess -------------------------------------------------------------------------

def test_a_guess_is_refused():
    "The oracle's rule for the worst arm, as certified: without proof, or with another rule's."
    oracle, honest = action_informed_oracle(SMALL), run('oiafc')
    rule, arm, _ = worst_rule(SMALL)
    for certificate in Certificate(.5, 0., .5), honest.certificate:
        steps = ask_all(SMALL.setting, oracle, Finding(rule, arm, certificate))
        found = simulate(steps, SMALL, 0)
        assert (found.status, found.certificate) == ('uncertified', None)
        assert found.refused and found.refused in found.statement
        assert found.statement.startswith('Nothing is certified.')

def ask_all(setting, oracle, guess):
    "A learner that shows each of the oracle's rules once, and returns a guess as certified."
    data = Transcript(setting)
    for k in range(setting.K):
        yield from ask_oracle(data, oracle, k)
    return finish(data, guess, status='certified', eps=4., delta=.1)

# --- Files ----------------------------------------------------------------------------

@pytest.mark.parametrize('name', RUNS)
def test_a_claim_without_its_proof(name):
    """A file without the proof, with a smaller claim, or in the old form without either, is read;
    what it claims is quoted, and not said to be proved."""
    data = json.loads(json.dumps(run(name).to_dict(trace=True)))
    at = (lambda d: d['details']['listed']) if name == 'trial' else (lambda d: d['certificate'])
    bare, small = copy.deepcopy(data), copy.deepcopy(data)
    del at(bare)['proof'], at(bare)['facts']
    at(small)['bound'] = 1e-6
    old = {key: value for key, value in bare.items() if key != 'trace'}
    old['schema'] = 'oia/identification/1'
    if name == 'trial':
        old = old | dict(details=bare['details'] | dict(listed=None))
    for changed_one in bare, small, old:
        again = identification_from_dict(changed_one)
        claim, _, fault = again.statement.partition('". Not verified: ')
        assert claim.startswith('Claimed, but not proved: "For ') and fault, name
        assert changed_one is small or fault == 'there is no proof.'
        assert 'nothing is proved' in repr(again) and not again.verify()
        again = verified(again)
        assert again.proved is None and again.refused and again.status not in CLAIMS

@pytest.mark.parametrize('name', ['oiafc', 'trial', 'own', 'led', 'patient'])
def test_changed_files(name):
    "No traceback, and no claim that is smaller than what was proved."
    found, rng = run(name), random.Random(7)
    data = json.loads(json.dumps(found.to_dict(trace=True)))
    for n in range(amount(30, 1000)):
        wrong = copy.deepcopy(data)
        spoil(wrong['details']['listed'] if name == 'trial' else wrong['certificate'], rng, FINITE)
        try:
            again = identification_from_dict(wrong)
        except InvalidInput:
            continue
        if again.proved is not None and again.verify():
            assert again.proved.bound >= found.proved.bound - 1e-9, n

def test_the_command(tmp_path, capsys):
    good, bad, none = (tmp_path/name for name in ('good.json', 'bad.json', 'none.json'))
    found = run('oiafc')
    found.save(good)
    less = replace(found.proved, bound=.9*found.proved.bound - .001)
    replace(found, certificate=less).save(bad)
    assert main(['verify', str(good)]) == 0
    assert 'answers' in capsys.readouterr().out
    assert main(['verify', str(bad), '--json']) == 1
    said = json.loads(capsys.readouterr().out)
    assert not said['verified'] and 'the radius or the share is another' in said['refused']
    assert main(['verify', str(none)]) == 2
    none.write_text('{}')
    assert main(['verify', str(none)]) == 2

# --- Sizes and places -----------------------------------------------------------------

def test_paths_that_lead_back_take_nothing_away():
    "A large multiplier of a path from an arm to itself would leave out its radius."
    for y in 1e17, [1.], np.inf, np.nan, -1.:
        def change(c, p, f):
            for hint in p['arms']:
                hint['answers'].append([y, []])
        assert verdict(*forged(change, *proved_by('oiafc'))) is not None

@pytest.mark.parametrize('name', ['own', 'led', 'trial', 'patient', 'open'])
def test_what_was_asked_for_and_what_is_proved_are_one(name):
    "A better accuracy than was proved, and the proof of one of few rules for one of all."
    found = run(name)
    assert found.status in ('certified', 'rule_certified') and found.verify()
    assert not replace(found, eps=.5*found.proved.bound).verify()
    sums = run('trial')
    if name != 'trial':
        other = replace(found.proved, proof=sums.proved.proof, facts=sums.proved.facts, bound=9.)
        swapped = replace(found, rule=sums.rule, trace=sums.trace, arm=sums.arm, eps=9.,
                          certificate=other)
        assert not swapped.verify()

# --- True facts, and a proof that says of them what isn't so ----------------------------

def said(found, facts=None, proof=None, **claimed):
    "What the checker says of a result of which something else is claimed."
    return verdict(replace(claim_of(found), **claimed), proof or found.proved.proof,
                   facts or facts_of(found))

@pytest.mark.parametrize('name', ['oiafc', 'etc', 'trial'])
def test_a_claim_assumes_no_less_than_its_proof(name):
    "What a learner can't honour isn't proved of such an expert, nor a lead without its own proof."
    found = run(name)
    claim, honours = claim_of(found), learner_row(RUNS[name]['method']).honours
    assert said(found) is None
    for what, value in WEAKER.items():
        if what not in honours:
            assert said(found, told=dict(claim.told) | {what: value}), what

@pytest.mark.parametrize('name', ['oiafc', 'etc'])
def test_an_improper_rule_isnt_what_was_answered(name):
    "It pays each report what the proper rule pays on average; all experts report what pays most."
    found = run(name)
    z, paid = found.setting, found.rule.expected
    assert np.ptp(paid) > 0
    assert 'proper' in said(found, rule=np.repeat(paid[:, None], z.W, axis=1))
    for off in -.01, z.bound:
        assert 'bound' in said(found, rule=found.rule.values + off)

@pytest.mark.parametrize('name, column', [('oiafc', 2), ('trial', 2), ('trial', 3), ('led', 2)])
def test_places_are_not_counted_from_the_end(name, column):
    "A belief, or a state, that is named from the end is none; what is last would be counted."
    found = run(name)
    f = facts_of(found)
    rounds, n = np.array(f.rounds), f.support.shape[column == 3] + (column == 3)
    rounds[:, column] -= n
    assert said(found) is None and said(found, facts=replace(f, rounds=rounds))

def accepted(monkeypatch):
    "The facts that a proof within is shown, which proves whatever is claimed."
    shown = []
    monkeypatch.setitem(PROOFS, 'within', lambda claim, p, facts, at: shown.append(facts.rounds))
    return shown

def test_what_was_handed_on_is_no_hint(monkeypatch):
    "In another order samples from before a registration would count as those since."
    found, shown = run('patient'), accepted(monkeypatch)
    p = found.proved.proof
    handed = facts_of(found).more['handed'].tolist()
    for asked in handed, handed[::-1], handed[5:]:
        assert said(found, proof=p | dict(asked=asked)) is None
    assert len(shown) == 3 and all(np.array_equal(shown[0], x) for x in shown)

def test_the_price_of_a_lead_is_what_all_of_its_rounds_say(monkeypatch):
    "Sixty rounds that are dear and then sixty that are cheap: the second alone prove nothing."
    accepted(monkeypatch)
    support = np.array([[.9, .1], [.5, .5], [.2, .8]])
    oracle = np.array([[[.5, .1], [.3, .3], [.1, .4]]])
    rounds = np.array([[0, 0, 0, -1]]*3 + [[1, 0, 0, -1]]*60 + [[1, 0, 1, -1]]*60)
    f = Facts(support, np.eye(2), 1., 1, np.array([0*oracle[0], .5*oracle[0]]), rounds,
              more=dict(starts=(0, ), margins=np.array([.2]), oracle=oracle))
    claim = Claim(.5*oracle[0], 0, .4, .4, .5, dict(margin=.1))
    p = dict(kind='lead', attempt=1, price=.2, share=.5, rule=0*oracle[0], bet=1.,
             inner=dict(kind='within'))
    def verdict(end, samples, f=f):
        what = SimpleNamespace(claim=claim, proof=p | dict(rounds=[0, end], samples=samples))
        return verify(what, f)
    assert verdict(3, 120) and verdict(3, 60) and 'left out' in verdict(63, 60)
    assert verdict(3, 60, replace(f, rounds=np.delete(rounds, slice(3, 63), 0))) is None
    rounds[63:, 0] = -1
    assert verdict(63, 60)

@pytest.mark.parametrize('world, told', [('clinic', None), ('wine', None),
                                         ('small_clinic', 'beliefs=own')])
def test_what_is_earned_is_proved_as_well(world, told, monkeypatch):
    "By the sharp learner's own proof: with a told prior, three states and beliefs of its own."
    monkeypatch.undo()
    found = identify(load_world(world), eps=.3, delta=.1, seed=1, told=told)
    assert found.verify() and found.profit is not None
    assert 'earned' in replace(found, profit=found.profit + .01).verify().refused

def test_what_a_race_says_is_proved_as_well():
    found = run('trial')
    low, high = found.earns
    assert found.verify() and not replace(found, behind=found.behind/2).verify()
    assert not replace(found, profit=low + .1, earns=(low + .1, high)).verify()
