"""Worlds in files and at random: what goes out comes back, and whatever is wrong ends in one clear
error: a valid world, or an `OIAError`, and nothing else."""
import copy
import json
import math
import pickle
import random
import unicodedata
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import binom
from conftest import ROOT
from laws import DEGENERATE, degenerate_world, statistical
from spoilt import spoil
from oia_nb.all import (InvalidInput, OIAError, ScoringRule, Setting, action_informed_oracle, brier,
                        load_world, make_world, optimal_rule, random_world, world_names)
from oia_nb.worlds.files import WORLD_FORM, json_text, parse_json, world_from_dict, world_to_dict

def many(times):
    "So many examples, in units of what the profile asks for."
    return settings(max_examples=max(int(times*settings.default.max_examples), 10))

def same(a, b):
    "Equal in each number, bit for bit, and in each name."
    numbers = lambda w: [x.tobytes() for x in (w.setting.support, w.setting.utility, w.costs,
                                               w.belief_distributions, *w.structure.joint)]
    return world_to_dict(a) == world_to_dict(b) and numbers(a) == numbers(b)

SAMPLES = {**{name: load_world(name) for name in world_names()},
           **{kind: degenerate_world(kind) for kind in DEGENERATE},
           'ragged': random_world(4, 3, [1, 2, 5, 3], 0, prior='arm', decisions=5, bound=7.),
           'tiny': random_world(2, 2, 2, 1, bound=1e-6),
           'ladder': random_world(3, 4, 5, 2, prior='blackwell')}

# --- There and back -------------------------------------------------------------------

@pytest.mark.parametrize('name', SAMPLES)
def test_round_trip(name, tmp_path):
    first, second = tmp_path/'a.json', tmp_path/'b.json'
    SAMPLES[name].save(first)
    back = load_world(str(first))
    back.save(second)
    assert same(SAMPLES[name], back) and first.read_bytes() == second.read_bytes()
    assert sorted(tmp_path.iterdir()) == [first, second]

@given(st.text(st.one_of(st.characters(), st.sampled_from(
    '\xa0\u200c\u200d\u202f\n\r\x00\x85\u2028\ud800 a')), min_size=1, max_size=8))
@many(2)
def test_any_name(name):
    "It comes back from a file, or no world has it: blank, or with what no line of text holds."
    w = SAMPLES['advert']
    bad = not name.strip() or any(unicodedata.category(c) in ('Cc', 'Cs', 'Zl', 'Zp') for c in name)
    with pytest.raises(InvalidInput, match='^arms[^\n]*$') if bad else nullcontext():
        world = make_world(w.structure.joint, w.costs, w.setting.utility, 1.,
                           arms=[name, name + '2', 'x' + name])
        assert world_from_dict(parse_json(json_text(world_to_dict(world)).encode())) == world

def test_arms_that_look_like_something_else(oia):
    "An arm that begins with dashes can be left out."
    w = SAMPLES['clinic']
    replace(w, setting=replace(w.setting, arms=['_id', '--dose', '$5 test'])).save('w.json')
    for words in ['--without', '--dose'], ['--without=--dose']:
        assert list(oia.json('optimal w.json', *words)[0]['profits']) == ['_id', '$5 test']

def test_shipped_worlds(tmp_path, monkeypatch):
    "A name wins over a file, and a byte order mark is no fault."
    monkeypatch.chdir(tmp_path)
    for name in world_names():
        world = load_world(name)
        assert world.name == name and action_informed_oracle(world).margin > .009
        text = (ROOT/'oia_nb'/'data'/f'{name}.json').read_text(encoding='utf-8')
        assert text == json_text(world_to_dict(world)) + '\n'
        Path('w.json').write_bytes(b'\xef\xbb\xbf' + text.encode())
        assert same(load_world('w.json'), world)
    load_world('advert').save('clinic')
    assert load_world('clinic').name == 'clinic'
    assert load_world('./clinic').name == load_world(Path('clinic')).name == 'advert'

def test_save_leaves_the_old_file_alone_when_refused(tmp_path):
    w, path = SAMPLES['advert'], tmp_path/'w.json'
    w.save(path)
    before = path.read_bytes()
    class Own(type(w)):
        "A world of somebody's own, which no file can hold."
    with pytest.raises(InvalidInput, match='world'):
        Own(w.structure, w.setting).save(path)
    for where in tmp_path/'no'/'w.json', tmp_path, '', None, 3, 'a\0b':
        with pytest.raises(InvalidInput, match='path'):
            w.save(where)
    assert path.read_bytes() == before and [*tmp_path.iterdir()] == [path]
    assert not list(tmp_path.parent.glob('*.part'))

# --- Values ---------------------------------------------------------------------------

def arrays(x):
    "Every array in a value, in what it has worked out, and in their fields."
    if isinstance(x, np.ndarray):
        yield x
    for v in x if isinstance(x, (list, tuple)) else getattr(x, '__dict__', {}).values():
        yield from arrays(v)

COPIES = {'replace': replace, 'copy': copy.copy, 'deepcopy': copy.deepcopy,
          'pickle': lambda x: pickle.loads(pickle.dumps(x)),
          'pickle 5': lambda x: pickle.loads(pickle.dumps(x, 5)),
          'file': lambda w: world_from_dict(parse_json(json_text(world_to_dict(w)).encode()))}

@pytest.mark.parametrize('how', COPIES)
@pytest.mark.parametrize('name', SAMPLES)
def test_copies_are_equal_and_as_safe(name, how):
    "Each copy keeps every field, is equal, hashes alike, and its numbers are locked."
    world = replace(SAMPLES[name], source='where', licence='CC0',
                    signals=[[f'σ{i}' for i in range(len(o))] for o in SAMPLES[name].signals])
    again = COPIES[how](world)
    assert again == world and hash(again) == hash(world) and same(again, world)
    assert (again.source, again.licence, again.signals) == ('where', 'CC0', world.signals)
    parts = [world.setting, world.structure, brier(world.setting.support),
             optimal_rule(world).rule][:4*(how != 'file')]
    copies = [COPIES[how](x) for x in parts]
    assert copies == parts
    for x in arrays([again, *copies]):
        with pytest.raises(ValueError):
            x.setflags(write=True)

@pytest.mark.parametrize('k', range(3))
def test_equal_means_equal_in_every_field(k):
    world, other = (random_world(3, 2, 2, k) for _ in range(2))
    assert world == other and world is not other and hash(world) == hash(other)
    z, s, nudge = world.setting, world.structure, lambda x: np.nextafter(x, 9.)
    costs = s.costs + (np.arange(3) == k)*1e-3
    others = [dict(bound=nudge(z.bound)), dict(utility=nudge(z.utility)), dict(states=['a', 'b'])]
    for change in (dict(name='x'), dict(source='x'), dict(licence='x'),
                   dict(signals=[['a', 'b'], None, None]), dict(structure=replace(s, costs=costs)),
                   *(dict(setting=replace(z, **part)) for part in others)):
        assert replace(world, **change) != world

def test_nobody_can_change_a_value():
    "Neither who owns an array, nor who looks at it through a locked view, nor a data frame."
    base = np.array([[.2, .8], [.7, .3]])
    locked, frame = base.view(), pd.DataFrame(base)
    locked.setflags(write=False)
    for mine in base, locked, frame.to_numpy(), frame:
        made = [Setting(mine, np.eye(2), 1., 2), brier(mine),
                ScoringRule(np.zeros((2, 2)), mine, 1.)]
        before = [(x.support.tolist(), hash(x)) for x in made]
        base[0] = frame.iloc[0] = [.5, .5]
        assert [(x.support.tolist(), hash(x)) for x in made] == before
        base[0] = frame.iloc[0] = [.2, .8]

# --- Bad files ------------------------------------------------------------------------

def advert(*way, to=None, drop=False):
    "The advert's dictionary with the value at the end of `way` replaced, or dropped."
    d = at = json.loads(json.dumps(world_to_dict(SAMPLES['advert'])))
    for step in way[:-1]:
        at = at[step]
    at[way[-1]] = to
    if drop:
        del at[way[-1]]
    return d

NUMBERS = [('bound',), ('utility', 1, 0), ('arms', 2, 'cost'), ('arms', 1, 'joint', 0, 1)]
TEXTS = [('name',), ('states', 1), ('decisions', 0), ('arms', 0, 'name'), ('arms', 2, 'signals', 1)]
LISTS = [('states', ), ('decisions', ), ('utility', ), ('utility', 0), ('arms', ),
         ('arms', 1, 'signals'), ('arms', 1, 'joint'), ('arms', 1, 'joint', 1)]
FORM = {        # what is no number, no text, no list and no object, at each place of its kind
    **dict.fromkeys(NUMBERS, [None, True, '1', [1], [], {}, np.nan, np.inf, -np.inf, 10**400]),
    **dict.fromkeys(TEXTS, [None, True, 1, '', ' ', 'a\nb', '\ud800', ['a'], {}]),
    **dict.fromkeys(LISTS, [None, True, 1, 'ab', [], {}, [[]], [None], {'0': 1}]),
    ('arms', 0): [None, True, 1, 'ab', [], {}, [1]]}
WRONG = {       # of the right form
    ('bound', ): [0, -1], ('arms', 2, 'cost'): [-1e-300],
    ('arms', 1, 'joint', 0, 1): [-.08, .08 + 1e-8], ('arms', 1, 'joint', 0): [[.54, .08, 0]],
    ('arms', 1, 'joint'): [[[.54, .08]]], ('decisions', ): [['run', 'run'], ['run']],
    ('states', ): [['poor', 'poor'], ['poor'], ['poor', 'good', 'fair']],
    ('arms', 1, 'name'): ['desk'], ('arms', 1, 'signals'): [['for', 'for']],
    ('utility', ): [[[0, .5]], [[0, .5], [1]]], ('source', ): [3], ('licence', ): [''],
    ('support', ): [[[.5, .5]], [[.5, .6]], [], 'all', [[.5]]]}

def place(way):
    "How errors write a place: arms[1].cost"
    return ''.join(f'[{s}]' if isinstance(s, int) else f'.{s}' for s in way).lstrip('.')

@pytest.mark.parametrize('way', [*{**FORM, **WRONG}], ids=place)
def test_bad_value(way, tmp_path):
    "The error names the file and the place: the value's own, or of what it doesn't agree with."
    some = ('states', 'decisions', 'utility', 'arms', 'bound', 'source', 'licence', 'support',
            'prior')
    for to, named in [*((to, place(way)) for to in FORM.get(way, ())),
                      *((to, some) for to in WRONG.get(way, ()))]:
        data = advert(*way, to=to)
        (tmp_path/'w.json').write_text(json.dumps(data), encoding='utf-8')
        with pytest.raises(InvalidInput) as file:
            load_world(tmp_path/'w.json')
        with pytest.raises(InvalidInput) as value:
            world_from_dict(data)
        assert str(file.value).startswith(f'{tmp_path/"w.json"}: {value.value.argument}')
        assert '\n' not in str(file.value) and value.value.argument.startswith(named)

@pytest.mark.parametrize('way', [(k, ) for k in WORLD_FORM['required']] + [
    ('arms', 1, k) for k in WORLD_FORM['properties']['arms']['items']['required']], ids=place)
def test_missing_and_unknown_keys(way):
    for data, key in (advert(*way, drop=True), way[-1]), (advert(*way[:-1], 'Name', to=1), 'Name'):
        with pytest.raises(InvalidInput, match=f"key '{key}'"):
            world_from_dict(data)

GOOD = (ROOT/'oia_nb'/'data'/'advert.json').read_bytes()

def test_a_file_is_a_world_as_a_whole_or_is_refused(tmp_path):
    "Beside what the chapter throws at it: each beginning of a file, and more than a file."
    path = tmp_path/'w.json'
    for raw in (b'1', bytes(range(256)), '{"name": "é"}'.encode('latin-1'), b'{"a":'*10**5,
                GOOD.replace(b'1.0', b'1'*5000, 1), GOOD + b'{}', GOOD.replace(b'4]', b'4,]')):
        path.write_bytes(raw)
        with pytest.raises(InvalidInput, match=f'^{path}: .*, expected [^\n]*$'):
            load_world(path)
    for n in range(len(GOOD.rstrip())):
        with pytest.raises(InvalidInput):
            world_from_dict(parse_json(GOOD[:n]))

def test_spoilt_dictionaries():
    "Each is a whole world or refused, and they are neither all harmless nor all fatal."
    fates, bases = [], [world_to_dict(SAMPLES[name]) for name in ('advert', 'tie', 'single signal')]
    @given(st.integers(0, 2**32 - 1))
    @many(3)
    def check(seed):
        rng = random.Random(seed)
        data = copy.deepcopy(rng.choice(bases))
        for _ in range(rng.choice([1, 1, 2])):
            spoil(data, rng)
        fates.append(True)
        try:
            world = world_from_dict(data)
        except OIAError as e:
            assert str(e) and '\n' not in str(e)
            return
        fates[-1] = False
        z, joint = world.setting, world.structure.joint
        assert same(world, world_from_dict(world_to_dict(world)))
        assert all(abs(p.sum() - 1) < 1e-8 for p in (*joint, *world.belief_distributions))
        assert all(np.isfinite(x).all() for x in (z.support, z.utility))
        assert (world.costs >= 0).all() and z.bound > 0
    check()
    assert .5 < np.mean(fates) < .98

@pytest.mark.parametrize('make', [partial(random_world, 4, 3, [2, 3, 4, 5], prior='arm'),
                                  partial(random_world, 2, 2, 3, prior='blackwell')])
def test_margin_is_kept(make):
    for seed in range(3):
        world = make(seed=seed, margin=.01)
        assert action_informed_oracle(world).margin >= .01 - 1e-12
        assert same(world, make(seed=seed, margin=.01))
        assert not same(world, make(seed=seed + 10, margin=.01))

@statistical(false_alarm=3e-6, planted='the larger of two draws',
             power=lambda: float(binom.sf(binom.isf(.5e-6, 2000, .25), 2000, 1 - .75**2)))
def test_law_of_the_draws():
    """n = 2000 worlds: costs, utilities and each state's prior have the uniform law's upper
    quarter, p = 1/4 (a two-sided binomial test of size 1e-6 each)."""
    n, rng = 2000, np.random.default_rng(7)
    worlds = [random_world(2, 2, 2, rng, max_cost=.1) for _ in range(n)]
    low, high = binom.ppf(.5e-6, n, .25), binom.isf(.5e-6, n, .25)
    for draw in (lambda w: w.costs[1] > .075), (
            lambda w: w.setting.utility[1, 0] > .75), (
                lambda w: w.structure.joint[1].sum(0)[0] > .75):
        assert low <= sum(map(draw, worlds)) <= high < (rng.random((n, 2)).max(1) > .75).sum()

@pytest.mark.parametrize('W, step', [(2, .01), (2, .5), (3, .05), (4, .25)])
def test_a_grid_holds_all_multiples(W, step):
    z = Setting.grid(W, step=step, utility=np.eye(W), bound=2, arms=3)
    n = round(1/step)
    whole = np.round(z.support*n)
    assert np.abs(z.support*n - whole).max() < 1e-9 and (whole.sum(1) == n).all()
    assert len({tuple(row) for row in whole}) == z.M == math.comb(n + W - 1, W - 1)
