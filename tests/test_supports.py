"""What is known of the beliefs of each arm: checked where it is said, kept in files, and used."""
from dataclasses import replace

import numpy as np
import pytest

from oia_nb.core import InvalidInput
from oia_nb.identification import identify
from oia_nb.information import Response, World
from oia_nb.learner import check_response
from oia_nb.oiafc import mixing_theorem1
from oia_nb.stackelberg import simple_regret
from oia_nb.worlds import (load_world, on_support, random_world, setting_from_dict,
                           setting_to_dict, world_from_dict, world_to_dict)


def told(world, **known):
    "The world whose principal knows what each arm can lead to."
    supports = [np.flatnonzero(q) for q in world.belief_distributions]
    return replace(world, setting=replace(world.setting, supports=supports, **known))


ADVERT = load_world('advert')
TOLD = told(ADVERT, prior=ADVERT.structure.priors[0])


@pytest.mark.parametrize('bad', [
    5, 'ab', [], [[0]], [[0], [1], []], [[0], [1], [7]], [[0], [1], [-1]], [[0], [1], [1, 1]],
    [[0], [1], [.5]], [[0], [1], [[.5, .6]]], [[0], [1], [[.51, .49]]], [[0], [1], 'all'],
    [[0], [1], [True]], {'desk': [0]}, {'desk': [0], 'survey': [1], 'phone': [2]},
    [[0], [1], [[.5, .5], [.5]]]], ids=repr)
def test_supports_that_are_none(bad):
    with pytest.raises(InvalidInput) as e:
        replace(ADVERT.setting, supports=bad)
    assert e.value.argument.startswith('supports')


@pytest.mark.parametrize('bad', [5, [.5], [.5, .6], [-.5, 1.5], 'half', [[.5, .5]], [.99, .01]],
                         ids=repr)
def test_priors_that_are_none(bad):
    "Also one that no distribution over the beliefs of an arm averages to."
    with pytest.raises(InvalidInput) as e:
        replace(TOLD.setting, prior=bad)
    assert e.value.argument.startswith('prior')


def test_what_is_said_must_be_so():
    z = TOLD.setting
    with pytest.raises(InvalidInput, match='supports gives to desk'):
        World(ADVERT.structure, replace(z, supports=[z.supports[1], *z.supports[1:]], prior=None))
    other = random_world(2, 2, 2, 5, prior='arm')
    with pytest.raises(InvalidInput, match='the common prior'):
        replace(other, setting=replace(other.setting, prior=other.structure.priors[0]))


def test_by_name_by_place_and_by_value_are_one():
    z = TOLD.setting
    values = {a: z.support[z.places(a)] for a in z.arms}
    assert replace(z, supports=values) == z == replace(z, supports=[list(s) for s in z.supports])
    assert replace(ADVERT.setting, supports=[None]*3).support_sizes.tolist() == [z.M]*3
    assert ADVERT.setting != z and hash(z) == hash(replace(z))


def test_kept_in_files_and_without_arms():
    assert world_from_dict(world_to_dict(TOLD)) == TOLD
    assert setting_from_dict(setting_to_dict(TOLD.setting)) == TOLD.setting
    assert 'supports' not in world_to_dict(ADVERT)
    rest = TOLD.without('survey').setting
    assert all((rest.support[rest.places(a)] == TOLD.setting.support[TOLD.setting.places(a)]
                ).all() for a in rest.arms)
    wide = on_support(TOLD, np.vstack([[[0., 1.]], TOLD.setting.support, [[1., 0.]]]))
    assert (np.array(wide.setting.supports[1]) == np.array(TOLD.setting.supports[1]) + 1).all()


def test_a_response_must_fit_its_arm():
    z = TOLD.setting
    foreign = next(i for i in range(z.M) if i not in z.supports[1])
    answer = Response(1, tuple(z.support[foreign].tolist()), 0)
    assert check_response(ADVERT.setting, answer) == (1, foreign)
    with pytest.raises(InvalidInput, match='beliefs of survey'):
        check_response(z, answer)


def test_oiafc_uses_the_numbers():
    "Radius and share are those of `prop-simple`: fewer rounds, the share of the largest arm."
    assert mixing_theorem1(TOLD.setting, 1.)(12) == .5
    options = dict(eps=1., delta=.1, method='oiafc', seed=0, budget=800)
    plain, known = (identify(w, **options) for w in (ADVERT, TOLD))
    first = [r.trace.radii[0] for r in (plain, known)]
    assert (first[1] < first[0]).all() and known.rounds <= plain.rounds


def test_sharp_learns_only_the_terms_that_can_matter():
    "Fewer rounds on walls, and still right."
    base = random_world(3, 3, 3, 1, prior='arm', margin=.05)
    options = dict(eps=.1*base.setting.B, delta=.1)
    plain, known = ([identify(w, seed=s, **options) for s in range(4)] for w in (base, told(base)))
    rounds = [sum(r.rounds for r in runs) for runs in (plain, known)]
    assert rounds[1] < .85*rounds[0]
    assert all(r.status == 'certified' and simple_regret(base, r.rule) <= options['eps']
               for r in known)


def test_the_compiled_engine_says_that_it_does_not():
    with pytest.raises(InvalidInput, match='supports'):
        identify(TOLD, eps=1., delta=.1, method='oiafc', seed=0, engine='fast')
