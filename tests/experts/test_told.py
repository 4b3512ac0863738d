"""What is assumed of an expert: its forms, what it takes to be one, and who refuses it."""
import json
from dataclasses import dataclass, fields, replace
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from conftest import amount, examples, seeded
from oia_nb.all import (Drifting, Expert, InvalidInput, LEARNERS, Lapsing, Logit, Oracle,
                        Satisficing, Told, action_informed_oracle, generator, identify, menu_rule,
                        random_world)
from oia_nb.core import plain
from oia_nb.experts.told import TOLD_WORDS, as_told, digits_needed, heard_as, is_clear, nearest

DUO = random_world(2, 2, 2, 5, prior='arm', margin=.05)
TOLD = st.builds(Told, lapses=st.floats(0, .49), band=st.floats(0, 10),
                 alarm=st.floats(1e-6, 1), rounding=st.none() | st.integers(0, 15),
                 **{name: st.sampled_from(choices) for name, choices in TOLD_WORDS.items()})

@settings(max_examples=examples(200))
@given(TOLD)
def test_text_and_json_give_it_back(told):
    assert told == as_told(str(told))
    assert as_told(json.loads(json.dumps(plain(told)))) == told
    assert hash(told) == hash(as_told(str(told)))

@settings(max_examples=examples(200))
@given(TOLD, st.sets(st.sampled_from([f.name for f in fields(Told)])))
def test_what_a_learner_cannot_honour_is_refused(told, can):
    unusual = set(told.unusual) - {'alarm'}
    if unusual <= can:
        assert told.require('it', can) is told
    else:
        with pytest.raises(InvalidInput, match='told') as e:
            told.require('it', can)
        assert e.value.argument.split('.')[1] in unusual - can

@pytest.mark.parametrize('method', LEARNERS)
def test_refusal_comes_before_the_first_round(method):
    "Of each field that the row of a learner doesn't name."
    row = LEARNERS[method]
    unusual = dict(lapses=.1, band=.1, beliefs='own', costs='until the end', arm='guessed',
                   rounding=2)
    for name, value in unusual.items():
        if name in row.honours:
            continue
        with pytest.raises(InvalidInput, match=f'told.{name}'):
            identify(DUO, eps=.5, delta=.1, method=method, budget=10, told={name: value}, seed=0)

def rules(n, seed=0):
    rng = generator(seed)
    return [menu_rule(DUO.setting.support, rng.uniform(0, 1, (2, 2)), 1.) for _ in range(n)]

@pytest.mark.parametrize('expert, eta, rho', [
    (Expert(), 0., 0.), (Lapsing(.2), .1, 0.), (Satisficing(.01), 0., .01),
    (Logit(.01), .05, .01*np.log(1/.05)), (Logit(.003), .2, .003*np.log(1/.2))
], ids=repr)
def test_experts_are_as_the_proposition_says(expert, eta, rho):
    "The chance of an arm that is more than ρ below the best is at most η, and it is attained."
    chances = []
    for rule in rules(300):
        policy = expert.policy(DUO, rule)
        below = policy.profits < policy.profits.max() - rho - 1e-9
        chances.append(policy.arms[below].sum())
    assert max(chances) <= eta + 1e-12
    if isinstance(expert, Lapsing):
        assert max(chances) == pytest.approx(eta)

@seeded(100, st.floats(0, .05), st.floats(0, .05))
def test_drift_is_a_band(seed, a, b):
    rule, = rules(1, seed)
    d = max(a, b)
    drifted = Drifting((a, -b)).policy(DUO, rule)
    fixed = Expert().policy(DUO, rule).profits
    assert fixed[drifted.arms.argmax()] >= fixed.max() - 2*d - 1e-7

def half_up(support, digits):
    "As people round, each probability alone."
    return np.floor(support*10.**digits + .5 + 1e-9)/10.**digits

def half_up_then_rest(support, digits):
    "The last probability is what is missing to one."
    said = half_up(support, digits)
    return np.c_[said[:, :-1], 1 - said[:, :-1].sum(1)]

@settings(max_examples=examples(200))
@given(st.integers(2, 3), st.integers(2, 8), st.integers(0, 10**6), st.integers(0, 3),
       st.booleans())
def test_what_is_clear_is_heard_so_by_whoever_rounds(W, M, seed, digits, fine):
    """Beliefs on a grid of .005, so that halves abound, or anywhere. A person who says the rest
    of two probabilities may be off by a unit with three."""
    rng = generator(41, seed)
    x = rng.dirichlet(np.ones(W), M)
    if not fine:
        x = np.round(x*200)
        x[:, -1] = 200 - x[:, :-1].sum(1)
        x = x/200
    x = np.unique(x[(x >= 0).all(1)], axis=0)
    clear, heard = is_clear(x, digits), heard_as(x, digits)
    for way in (half_up, half_up_then_rest)[:1 + (W == 2)]:
        assert (nearest(x, way(x, digits)) == heard)[clear].all()
    assert is_clear(x, digits_needed(x)).all() and is_clear(x, None).all()
    assert Told(rounding=digits).is_exact(x) <= (nearest(x, half_up(x, digits))
                                                 == np.arange(len(x))).all()

# --- A broken oracle is a status --------------------------------------------------------

@dataclass(frozen=True, eq=False)
class Forgetful(Expert):
    "Who plays the last arm from a round on, whatever it is paid: it can't be foreseen."
    start: int = 0

    def at(self, t):
        return self if t >= self.start else Expert()
    def chooses(self, world, profits, worth):
        return np.eye(len(profits))[-1]

@pytest.mark.parametrize('start', amount([0, 3, 12], [0, 3, 7, 12]))
@pytest.mark.parametrize('name', LEARNERS)
def test_no_learner_breaks_with_its_oracle(name, start):
    """Rules of the oracle in the wrong order, or an expert who answers all of them by the same arm
    from some round on: a status, and no exception after the first round."""
    right = action_informed_oracle(DUO)
    turned = Oracle(right.rules[::-1], right.margins[::-1])
    agent, oracle = (Expert(), turned) if start == 0 else (Forgetful(start), right)
    found = identify(replace(DUO, agent=agent), eps=.03, delta=.1, method=name, seed=0,
                     oracle=oracle, budget=300)
    assert found.status in (*LEARNERS[name].statuses, 'round_cap')
    if start == 0 and name != 'trial':
        assert (found.status, found.violated) == ('assumption_violated', 'oracle')
        assert found.certificate is None and found.rounds <= 30
    assert found.statement
