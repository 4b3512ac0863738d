"""Who answers the rules is a field of the world: a new kind of agent is one class, all that the two
below take, and nobody plays another one in its place."""
import copy
import pickle
from dataclasses import dataclass, replace
from functools import partial
import numpy as np
import pytest
from oia_nb.all import InvalidInput, identify, load_world, make_world, optimal_rule
from oia_nb.core import plain
from oia_nb.run.experiments import world_key
from oia_nb.game.information import Agent, Rational, Response, World, best_reply
from oia_nb.worlds.files import WORLD_FORM, world_from_dict, world_to_dict

@dataclass(frozen=True, eq=False)
class Stubborn(Agent):
    "Plays one arm whatever is paid, and reports what is best there."
    arm: int = 0
    def best_reply(self, world, rule):
        return replace(Rational().best_reply(world, rule), arm=self.arm)

@dataclass(frozen=True, eq=False)
class Absentminded(Rational):
    "Reports, with probability `rate`, any belief of the support."
    rate: float = .5
    def reply(self, world, rule, rng):
        told, support = super().reply(world, rule, rng), world.setting.support
        said = told.report if rng.random() >= self.rate else support[rng.integers(len(support))]
        return replace(told, report=tuple(said))

coin = make_world([[[.35, .15], [.15, .35]], [[.45, .05], [.05, .45]]], [0., .05],
                  np.eye(2), 1., name='coin')
OTHERS = [Stubborn(0), Stubborn(1), Absentminded(.5), Absentminded(.25)]
ids = dict(ids=repr)

# --- One class is enough --------------------------------------------------------------

@pytest.mark.parametrize('agent', OTHERS, **ids)
def test_files_copies_and_processes_carry_it(agent, tmp_path):
    world = replace(coin, agent=agent, source='here')
    world.save(tmp_path/'w.json')
    for again in load_world(tmp_path/'w.json'), copy.deepcopy(world), pickle.loads(
            pickle.dumps(world)), replace(world, name='coin'):
        assert again == world and again.agent == agent and type(again.agent) is type(agent)
    assert world.without().agent == agent and world != coin
    assert world_to_dict(world)['agent'] == plain(agent)
    assert plain(agent)['kind'] == type(agent).__name__
    assert 'agent' not in world_to_dict(coin)

@pytest.mark.parametrize('agent', OTHERS, **ids)
def test_it_is_who_answers(agent):
    world, rule = replace(coin, agent=agent), optimal_rule(coin).rule
    rng = np.random.default_rng(0)
    answers = [world.respond(rule, rng) for _ in range(50)]
    assert {a.arm for a in answers} == {world.best_response(rule)} == {best_reply(world, rule).arm}
    if isinstance(agent, Stubborn):
        assert world.best_response(rule) == agent.arm
    else:
        own = set(map(tuple, coin.setting.support[coin.belief_distributions[1] > 0].tolist()))
        assert not {a.report for a in answers} <= own

def test_traits_must_be_fields():
    """A class whose traits no file, no comparison and no fingerprint would see is refused, and
    so is one whose traits may change."""
    class Hidden(Agent):
        def __init__(self, arm):
            self.arm = arm
    @dataclass(eq=False)
    class Fickle(Agent):
        arm: int = 0
    for agent in Hidden(1), Fickle(1):
        with pytest.raises(InvalidInput, match='frozen dataclass'):
            replace(coin, agent=agent)
    del Agent.kinds['Hidden'], Agent.kinds['Fickle']

def test_one_name_one_kind():
    """Two kinds of one name would be mistaken for one another in files; a class that is defined
    again, as in a notebook, is the same."""
    with pytest.raises(InvalidInput, match='two kinds called Stubborn'):
        type('Stubborn', (Agent,), dict(__module__='elsewhere', __qualname__='Stubborn'))
    assert Agent.kinds['Stubborn'] is Stubborn
    type('Stubborn', (Agent,), dict(__module__=__name__, __qualname__='Stubborn'))
    Agent.kinds['Stubborn'] = Stubborn

# --- Nobody plays another one in its place --------------------------------------------

def test_a_class_of_ones_own_is_refused_too():
    """As is a world that answers by a method of its own, which the compiled code and a stored
    run know nothing of."""
    class Own(World):
        def respond(self, rule, rng):
            return Response(0, tuple(self.setting.support[0]), 0)
    own = Own(coin.structure, coin.setting, 'coin')
    pytest.importorskip('numba')
    by_engine = partial(identify, eps=2., delta=.1, method='oiafc', seed=1, engine='fast')
    for use in by_engine, world_key, world_to_dict:
        with pytest.raises(InvalidInput, match='agent|World itself'):
            use(own)

# --- A new field of a world -----------------------------------------------------------

def test_a_field_is_carried_by_itself():
    """A field of a world with a default takes its line in `World` (and a check there) and a line
    in the form of a world file: copies, equality, `make_world`, `without`, fingerprints and
    files derive from them."""
    notes = [k for k in WORLD_FORM['properties'] if k not in WORLD_FORM['required']]
    values = dict(agent=Stubborn(1), source='a table', licence='CC0',
                  cost_ranges=((0., .1), (0., .1), (0., .1)))
    for name in ('support', 'supports', 'prior', 'rates'):      # of the setting
        notes.remove(name)
    notes.remove('schema')          # of the file
    assert values.keys() == set(notes) == set(list(World.__dataclass_fields__)[4:])
    three = make_world([*coin.structure.joint, [[.5, .5]]], [0., .05, 0.], np.eye(2), 1., **values)
    for key in notes:
        for again in three.without(2), replace(three, name='x'), world_from_dict(
                world_to_dict(three)):
            expected = values[key][:again.setting.K] if key == 'cost_ranges' else values[key]
            assert getattr(again, key) == expected
        plain_one = replace(three, **{key: getattr(coin, key)})
        assert plain_one != three and world_key(plain_one) != world_key(
            three) and world_to_dict(plain_one) != world_to_dict(three)
