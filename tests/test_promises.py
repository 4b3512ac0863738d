"""Every rule that a learner calls certified loses at most ε, whatever its own bound. δ is 10⁻⁶, so
that a single failure is a fault. The judge works everything out anew: its own linear programs, with
all truth constraints, and its own expert."""
from functools import cache
import pytest
from conftest import amount
from inside import Judge, gap_of
from laws import guess
from oia_nb.all import (LEARNERS, action_informed_oracle, generator, identify,
                        is_proper, load_world, optimal_rule, principal_profit, random_world)

DELTA = 1e-6
SHIPPED = ['small_clinic', 'advert', 'clinic', 'wine']
# of the gap between the best arm and the second one
EPS = amount((.8, 2.5), (.5, .8, 1.25, 2.5, 5.))
CERTIFYING = [name for name, row in LEARNERS.items() if 'certified' in row.statuses]

@cache
def judged(name):
    "(world, judge): one of the package, or a random one of some states, which has an oracle."
    W, _, n = name.partition(' states, ')
    world = random_world(2 + int(n) % 2, int(W), 3, generator(900 + int(W), 100*int(n)),
                         prior='arm', margin=.01, name=name) if n else load_world(name)
    return world, Judge(world)

def is_false(judge, found, eps):
    "Whether a rule is called certified, and isn't proper, isn't answered as said or loses more."
    return found.status == 'certified' and not (
        is_proper(found.rule) and found.certificate.bound <= eps*(1 + 1e-9)
        and judge.world.best_response(found.rule) == found.arm
        and judge.regret(found.rule.values) <= eps + 1e-7*judge.world.setting.B)

PLAYED = amount(['2 states, 0', '3 states, 0', '4 states, 0'],
                SHIPPED + [f'{W} states, {n}' for W in (2, 3, 4) for n in range(4)])

@pytest.mark.parametrize('name', PLAYED)
@pytest.mark.parametrize('method', CERTIFYING)
def test_certified_within_eps(method, name):
    "At ϵ from below the gap to above it, and at one that every learner can prove."
    world, judge = judged(name)
    oracle, gap = action_informed_oracle(world), max(gap_of(world), .02*world.setting.B_u)
    options = dict(budget=amount(150 if method == 'own_beliefs' else 300, 3000))
    if LEARNERS[method].compiled:
        options = amount(dict(budget=300), dict(budget=400_000, engine='fast'))
    ends = []
    for eps in [*(min(f*gap, world.setting.B) for f in EPS), 1.5*world.setting.B]:
        found = identify(world, method=method, eps=eps, delta=DELTA, seed=1, oracle=oracle,
                         **options)
        assert not is_false(judge, found, eps), (eps, found)
        ends.append(found.status)
    assert 'certified' in ends or method in ('oiafc', 'explore_then_commit', 'open_support')
    assert is_false(judge, guess(world, .5*gap), .5*gap)

# a run on each ended with the rule of an earlier snapshot, since the proof at a larger ϵ failed
@pytest.mark.parametrize('name,eps', amount([('small', .05)], [
    ('small', .05), ('wine', .04), ('wine', .1), ('wine', .0528)]))
def test_the_rule_that_was_proved_is_returned(name, eps):
    world = random_world(3, 3, 3, 1007, margin=.01, tries=50) if name == 'small' else (
        load_world(name))
    found = identify(world, eps=eps, delta=.05, seed=0, examined=False)
    assert found.status == 'certified' and not is_false(Judge(world), found, eps)

@pytest.mark.parametrize('name', PLAYED)
def test_the_judge_agrees_with_the_package(name):
    world, judge = judged(name)
    assert judge.most == pytest.approx(optimal_rule(world).profit, abs=2e-6*world.setting.B)
    for rule in action_informed_oracle(world).rules:
        assert judge.earns(rule.values)[1] == pytest.approx(principal_profit(world, rule))
    assert max(judge.regret(r.values) for r in action_informed_oracle(world).rules) > 0
