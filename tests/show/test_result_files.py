"""Files of results: each comes back as it was, whatever learner made it, and what was changed by
another hand is refused by name or read; nothing in between.

The mutations are drawn from seeds; nothing here is left to chance.
"""
import copy
import json
import random
import re

import numpy as np
import pytest
from conftest import amount
from spoilt import spoil
from oia_nb.all import (InvalidInput, brier, identify, make_world, v_shaped)
from oia_nb.core import OIAError
from oia_nb.show.documents import identification_from_dict

coin = make_world([[[.40, .10], [.10, .40]], [[.45, .05], [.05, .45]]], costs=[0., .02],
                  utility=[[1., 0.], [0., 1.]], bound=1., name='coin')
Z = coin.setting
RUNS = dict(sharp=dict(), oiafc=dict(budget=40), own_beliefs=dict(),
            patient=dict(told='lapses=0.02'), margin=dict(method='sharp', margin=.01),
            etc=dict(budget=60), chen=dict(budget=60), oiafb=dict(budget=60), open_support=dict(),
            short=dict(method='open_support', budget=3),
            trial=dict(rules=[brier(Z.support), v_shaped(Z.support, [.5, .5])]))

def play(name):
    options = dict(method=name, seed=1) | RUNS[name]
    eps = {'own_beliefs': 1.5, 'patient': 1.5, 'margin': 1., 'trial': .5}.get(name, 3.)
    return identify(coin, eps=eps, delta=.1, **options)

@pytest.fixture(scope='module')
def found():
    "A result of each class of results, and more than one of the classes that can end otherwise."
    return {name: play(name) for name in RUNS}

def shown(result):
    "All that can be asked of a result."
    frame = None if result.trace is None else result.to_frame().to_csv()
    # the statement tells how long it took to check the proof again, or what was odd about it
    statement = re.sub(r'in \S+ s:|Not verified: .*', '', result.statement)
    return (repr(result), statement, result._repr_html_(), frame, result.to_dict(trace=True))

# --- Changed by another hand --------------------------------------------------------------

def fate(data):
    "What became of a document: read, and all that can be asked of it answered, or refused."
    try:
        result = identification_from_dict(data)
    except OIAError as e:
        assert str(e) and '\n' not in str(e)
        return 'refused'
    shown(result)
    again = identification_from_dict(json.loads(json.dumps(result.to_dict(trace=True))))
    assert shown(again) == shown(result)
    return 'read'

def bases(found):
    return [json.loads(json.dumps(result.to_dict(trace=True))) for result in found.values()]

def test_mutated_results(found):
    "Up to three changes in each of many files; no file is taken half, and no error comes through."
    fates, docs = [], bases(found)
    for seed in range(amount(200, 12_000)):
        rng = random.Random(seed)
        d = copy.deepcopy(docs[seed % len(docs)])
        for _ in range(rng.randint(1, 3)):
            spoil(d, rng)
        fates.append(fate(d))
    assert .02 < np.mean([f == 'read' for f in fates]) < .6

def places_of(d, at=()):
    if isinstance(d, dict):
        yield at
        for k, v in d.items():
            yield from places_of(v, (*at, k))

# objects whose keys are names of arms, options or states, or of what a proof rests on
OPEN = 'counts', 'options', 'pays', 'proof', 'facts'

def test_notes_are_taken_everywhere(found):
    "A key x-… in any object is nobody's fault: it is read as if it weren't there."
    for name, d in zip(found, bases(found)):
        for at in places_of(d):
            if any(step in OPEN for step in at):
                continue
            noted = copy.deepcopy(d)
            here = noted
            for step in at:
                here = here[step]
            here['x-note'] = {'any': ['thing']}
            assert shown(identification_from_dict(noted)) == shown(found[name]), at

def test_every_detail_is_checked(found):
    "What a result needs for its own promise is refused by name if it is spoilt."
    for name, d in zip(found, bases(found)):
        for key, value in d['details'].items():
            for bad in ' ', [['a']], {'a': 1}, -1.5 if isinstance(value, list) else [None]:
                spoilt = copy.deepcopy(d)
                spoilt['details'][key] = bad
                with pytest.raises(InvalidInput, match=f'details.{key}'):
                    identification_from_dict(spoilt)
        for key, part in d['trace'].items():
            if part:
                spoilt = copy.deepcopy(d)
                spoilt['trace'][key] = part[:-1]
                with pytest.raises(InvalidInput, match='trace'):
                    identification_from_dict(spoilt)
