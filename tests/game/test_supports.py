"""What is known of the beliefs of each arm: checked where it is said, kept in files, and used."""
from dataclasses import replace
from types import SimpleNamespace
import numpy as np
import pytest
from oia_nb.all import (InvalidInput, Response, World, action_informed_oracle, generator, identify,
                        load_world, random_world, sharp, simulate)
from oia_nb.core import REPORT_TOL
from oia_nb.run.learner import check_response
from oia_nb.paper.oiafc import budget_parameter, event_failure, mixing_theorem1, sets_of_beliefs
from oia_nb import verify
from oia_nb.experts.told import Outcomes
from oia_nb.paper.estimation import Transcript
from oia_nb.sharp import hyperplanes
from oia_nb.sharp.hyperplanes import THIN, flat, neutral
from oia_nb.worlds.files import setting_from_dict, setting_to_dict, world_from_dict, world_to_dict

def told(world, **known):
    "The world whose principal knows what each arm can lead to."
    supports = [np.flatnonzero(q) for q in world.belief_distributions]
    return replace(world, setting=replace(world.setting, supports=supports, **known))

ADVERT = load_world('advert')
TOLD = told(ADVERT, prior=ADVERT.structure.priors[0])

def test_what_is_said_must_be_so():
    z = TOLD.setting
    with pytest.raises(InvalidInput, match='supports gives to desk'):
        World(ADVERT.structure, replace(z, supports=[z.supports[1], *z.supports[1:]], prior=None))
    other = random_world(2, 2, 2, 5, prior='arm')
    with pytest.raises(InvalidInput, match='the common prior'):
        replace(other, setting=replace(other.setting, prior=other.structure.priors[0]))

def test_kept_in_files_and_without_arms():
    assert world_from_dict(world_to_dict(TOLD)) == TOLD
    assert setting_from_dict(setting_to_dict(TOLD.setting)) == TOLD.setting
    assert 'supports' not in world_to_dict(ADVERT)
    rest = TOLD.without('survey').setting
    assert all((rest.support[rest.places(a)] == TOLD.setting.support[TOLD.setting.places(a)]
                ).all() for a in rest.arms)
    beliefs = np.vstack([[[0., 1.]], TOLD.setting.support, [[1., 0.]]])
    told = [TOLD.setting.support[list(s)] for s in TOLD.setting.supports]
    wide = replace(TOLD, setting=replace(TOLD.setting, support=beliefs, supports=told))
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

def test_oiafb_uses_the_numbers():
    "Radii are smaller as K 2^M becomes the sum of 2^M_k, and the failure stays what it was."
    z, known = ADVERT.setting, TOLD.setting
    a, b = (budget_parameter(s, 1000, .1) for s in (z, known))
    sets = np.log((2.**known.support_sizes).sum()/(z.K*2.**z.M))
    assert b - a == pytest.approx(2*sets) and sets < -1
    assert event_failure(known, 1000, b) == pytest.approx(.1)
    assert a == 2*(np.log(1000*z.K) - np.log(.1) + z.M*np.log(2))
    assert sets_of_beliefs(SimpleNamespace(K=3, M=7)) == (3., 7)

@pytest.mark.parametrize('seed', range(4))
def test_flat_payments_tell_no_arms_apart(seed):
    "`lem-flat`: worth the same under all arms; as many as the beliefs have dimensions."
    world = told(random_world(3, 3, 4, seed), prior=random_world(3, 3, 4, seed).structure.priors[0])
    z, q = world.setting, world.belief_distributions
    for k, j in (0, 1), (1, 2), (0, 2):
        F = flat(z)
        assert len(F) == np.linalg.matrix_rank(z.support, tol=THIN*np.linalg.norm(z.support, 2))
        assert np.abs(F @ (q[k] - q[j])).max() < 1e-9
        assert np.abs(neutral(z, k, j) @ (q[k] - q[j])).max() < 1e-9
    # where arms have priors of their own, the same payments do tell them apart
    other = random_world(3, 3, 4, seed, prior='arm')
    wrong = flat(replace(z, supports=None))
    q = other.belief_distributions
    assert len(wrong) >= 2 and np.abs(other.setting.support.T @ (q[0] - q[1])).max() > .01

@pytest.mark.parametrize('by', [-.15, .15])
def test_a_wrong_prior_is_named(by):
    "The reports average to something else; nothing is certified."
    setting = replace(ADVERT.setting, prior=ADVERT.structure.priors[0] + [by, -by])
    run = sharp(setting, action_informed_oracle(ADVERT), eps=1e-4, delta=.1, max_rounds=1000)
    found = simulate(run, ADVERT, 0)
    assert (found.status, found.violated) == ('assumption_violated', 'prior')
    assert found.certificate is None and 'common prior' in found.statement

@pytest.mark.parametrize('thin, sound', [(None, True), (1e-6, False)])
def test_a_rounded_prior_says_nothing_of_thin_directions(thin, sound, monkeypatch):
    """Beliefs on a line, but for their sixth digits, and means that are off the prior by less than
    a report may be: flat payments are worth the same nearly. Not so if directions as thin as
    that are counted, which is the fault planted."""
    rng = generator(3)
    x = np.linspace(.1, .9, 6)
    support = np.c_[x, (1 - x)/2, (1 - x)/2]
    support[:, 1:] += 4e-6*np.outer(rng.normal(size=6), [1, -1])
    prior = support.mean(0)
    z = replace(ADVERT.setting, support=support, utility=rng.uniform(size=(3, 2)), states=None,
                decisions=None, prior=prior, supports=None)
    # two distributions whose means are both the prior, but for .9 of what a report may be off
    out = np.linalg.svd(np.c_[np.ones(6), x, support[:, 1]].T)[2]
    apart = .9*REPORT_TOL*np.linalg.lstsq(support.T, [0., 1., -1.], rcond=None)[0]
    apart = apart - apart.mean()
    q = np.full(6, 1/6) + apart, np.full(6, 1/6) + .05*out[-1]
    assert all(p.min() >= 0 and np.abs(p @ support - prior).max() <= REPORT_TOL for p in q)
    if thin:
        monkeypatch.setattr(hyperplanes, 'THIN', thin)
        monkeypatch.setattr(verify, 'THIN', thin)
    off = np.abs(flat(z) @ (q[0] - q[1])).max()
    assert (off <= 1e-4) == sound
    v = z.belief_utility - Outcomes(Transcript(z)).u
    assert abs(v @ (q[0] - q[1])) <= 1e-4 or not sound
