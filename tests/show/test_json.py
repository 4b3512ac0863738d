"""JSON that stands alone: it fits the schemas that are shipped, is read back as it was, and what
doesn't fit is refused by name. Nothing here is left to chance."""
import copy
import io
import json
import random
import re
import sys
from contextlib import nullcontext, redirect_stdout
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from conftest import amount, examples
from laws import COIN
from spoilt import spoil
from oia_nb.all import (InvalidInput, OIAError, Session, brier, generator,
                        identify, json_schema, load_identification, load_rule, v_shaped)
from oia_nb.cli import main
from oia_nb.show.documents import (VERSIONS, check_document, document,
                                   identification_from_dict, rule_from_dict, rule_to_dict)
from oia_nb.worlds.files import check_form, setting_to_dict, world_to_dict

coin = replace(COIN, setting=replace(COIN.setting, arms=['x-ray', 'better']))
Z = coin.setting
RUNS = dict(sharp={}, oiafc=dict(budget=40), own_beliefs=dict(eps=1.5),
            patient=dict(told='lapses=0.02', eps=1.5), margin=dict(method='sharp', margin=.01),
            **dict.fromkeys(('etc', 'chen', 'oiafb'), dict(budget=60)), open_support={},
            short=dict(method='open_support', budget=3),
            trial=dict(rules=[brier(Z.support), v_shaped(Z.support, [.5, .5])], eps=.5))

@pytest.fixture(scope='module')
def found():
    "A result of each class of results, and more than one of the classes that can end otherwise."
    return {name: identify(coin, **dict(method=name, eps=3., delta=.1, seed=1) | options)
            for name, options in RUNS.items()}

@pytest.fixture(scope='module')
def made(found, tmp_path_factory):
    "A document of each kind, but for those of a session, which the command writes."
    run, path = found['sharp'], tmp_path_factory.mktemp('made')/'coin.json'
    coin.save(path)
    def printed(line):
        with redirect_stdout(io.StringIO()) as out:
            assert main([*line.split(), '--json']) == 0
        return json.loads(out.getvalue())
    return dict(
        rule=rule_to_dict(run.rule, Z), identification=run.to_dict(trace=True),
        optimal=printed(f'optimal {path}'), world=world_to_dict(coin),
        plan=printed(f'plan {path} --eps .5 --delta .1 --runs 0'), worlds=printed('worlds'),
        compare=printed(f'compare {path} --eps 3 --budget 30 --cap 30 --repetitions 1 --jobs 0'),
        verification=document('verification', file='found.json', verified=False, refused='no',
                              rests=None, seconds=.01, claim=None), setting=setting_to_dict(Z))

def through(data):
    "What another program would send back."
    return json.loads(json.dumps(data, allow_nan=False))

def test_documents_fit_their_schemas(made, oia):
    "In the eyes of another program as in ours; and the file is of its kind and version."
    jsonschema = pytest.importorskip('jsonschema')
    Session.create('day.jsonl', coin, eps=.1, delta=.1).close()
    every = made | dict(session=oia.json('session status day.jsonl')[0],
                        offer=oia.json('session next day.jsonl')[0])
    assert set(every) == set(VERSIONS)
    for kind, data in every.items():
        schema = json_schema(kind)
        assert schema['title'] == f'oia/{kind}/{VERSIONS[kind]}'
        assert schema['properties']['schema'] == {'const': schema['title']}
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.Draft202012Validator(schema).validate(through(data))
        check_form('document', through(data), schema)

VALUES = [True, 'text', 1.5, -3, [], {}, [[1.]], {'x-mine': 1}, {'mine': 1}]

@settings(max_examples=amount(100, examples(1500)))
@given(st.integers(0, 2**32 - 1))
def test_the_reader_agrees_with_the_schema(made, seed):
    "What our reader refuses, another validator refuses, and nothing else."
    jsonschema = pytest.importorskip('jsonschema')
    rng = random.Random(seed)
    kind = rng.choice(['rule', 'identification', 'optimal', 'plan', 'compare'])
    data, schema = spoil(through(made[kind]), rng, VALUES), json_schema(kind)
    fits = jsonschema.Draft202012Validator(schema).is_valid(data)
    with nullcontext() if fits else pytest.raises(InvalidInput):
        check_form('document', data, schema)

# --- Back again -----------------------------------------------------------------------

def test_a_rule_comes_back(made, found, tmp_path):
    mine = found['sharp'].rule
    for rule in mine, brier(np.array([[.2, .3, .5], [1/3, 1/3, 1/3]]), 7.):
        rule.save(tmp_path/'r.json')
        assert load_rule(tmp_path/'r.json') == rule == rule_from_dict(through(rule_to_dict(rule)))
    for ticket in made['rule']['rule']['menu']:
        pays = np.array([ticket['pays'][w] for w in Z.states])
        for i in ticket['beliefs']:
            assert np.allclose(pays @ Z.support[i], mine.expected[i], atol=1e-5)

def test_a_result_tells_where_it_is_from():
    "With what it tells the run can be repeated; an unseeded one tells the seed that it drew."
    found = identify(coin, eps=3., delta=.1, method='oiafc', mixing='corollary1', budget=50)
    o = found.origin
    options = {k: v for k, v in o.options.items() if k != 'engine'}
    again = identify(coin, eps=3., delta=.1, method=o.method, seed=o.seed, **options)
    assert o.world == 'coin' and 0 <= o.seed < 2**32
    assert again.to_dict(trace=True) == found.to_dict(trace=True) and again.origin == o
    assert (again.rule, again.setting, again.lost) == (found.rule, found.setting, found.lost)
    assert identify(coin, eps=3., delta=.1, seed=generator(3)).origin.seed is None

@pytest.mark.parametrize('kind, read, load', [
    ('rule', rule_from_dict, load_rule),
    ('identification', identification_from_dict, load_identification)])
def test_versions_and_other_keys(kind, read, load, made, tmp_path):
    "Beside what the chapter shows: which part of a document is wrong, and files that are none."
    good = through(made[kind])
    for bad, said in ((good | {'schema': 'oia/world/1'}, f'"oia/{kind}/[123]"'),
                      ({k: v for k, v in good.items() if k != 'schema'}, 'schema: got None'),
                      ([good], 'schema'), (good | {'support': 'none'}, 'document.support')):
        with pytest.raises(InvalidInput, match=said):
            read(bad)
    (tmp_path/'half.json').write_text(json.dumps(good)[:-1])
    for path in tmp_path/'half.json', tmp_path/'none.json', tmp_path, None:
        with pytest.raises(InvalidInput):
            load(path)

# --- Changed by another hand --------------------------------------------------------------

def shown(result):
    "All that can be asked of a result."
    frame = None if result.trace is None else result.to_frame().to_csv()
    # the statement tells how long it took to check the proof again, or what was odd about it
    statement = re.sub(r'in \S+ s:|Not verified: .*', '', result.statement)
    return (repr(result), statement, result._repr_html_(), frame, result.to_dict(trace=True))

def is_read(data):
    "Whether a document was read, and all that can be asked of it answered, or refused."
    try:
        result = identification_from_dict(data)
    except OIAError as e:
        assert str(e) and '\n' not in str(e)
        return False
    again = identification_from_dict(through(result.to_dict(trace=True)))
    return shown(again) == shown(result) or pytest.fail(str(data))

def test_mutated_results(found):
    "Up to three changes in each of many files; no file is taken half, and no error comes through."
    fates, docs = [], [through(result.to_dict(trace=True)) for result in found.values()]
    for seed in range(amount(150, 12_000)):
        rng = random.Random(seed)
        d = copy.deepcopy(docs[seed % len(docs)])
        for _ in range(rng.randint(1, 3)):
            spoil(d, rng)
        fates.append(is_read(d))
    assert .02 < np.mean(fates) < .6

def objects(d):
    "Every object in a value, but those whose keys are names of arms, options or states, or proofs."
    if isinstance(d, dict):
        yield d
        for key in d.keys() - {'counts', 'options', 'pays', 'proof', 'facts', 'x-note'}:
            yield from objects(d[key])

def test_every_detail_is_checked(found):
    "A key x-… is nobody's fault anywhere; a detail that is spoilt is refused by name."
    for result in found.values():
        d, wanted = through(result.to_dict(trace=True)), shown(result)
        for here in objects(d):
            here['x-note'] = {'any': ['thing']}
        assert shown(identification_from_dict(copy.deepcopy(d))) == wanted
        changes = [('details', key, bad) for key, value in d['details'].items()
                   for bad in (' ', [['a']], {'a': 1}, -1.5 if isinstance(value, list) else [None])
                   if key != 'x-note']
        changes += [('trace', key, part[:-1]) for key, part in d['trace'].items()
                    if isinstance(part, list) and part]
        for part, key, bad in changes:
            said = f'details.{key}' if part == 'details' else 'trace'
            with pytest.raises(InvalidInput, match=said):
                identification_from_dict(d | {part: d[part] | {key: bad}})

def test_commands_print_documents(oia):
    "These; what others print is looked at where they are tested."
    coin.save('coin.json')
    for line in 'plan coin.json --runs 1', 'demo --world coin.json':
        told, err = oia.json(f'{line} --eps 3 --delta .1 --quiet')
        assert err == '' and check_document(told, told['schema'].split('/')[1]) is told

def test_a_world_from_standard_input(monkeypatch, oia):
    "And a run without a seed tells the one that it drew."
    text = json.dumps(world_to_dict(coin))
    for stream in io.TextIOWrapper(io.BytesIO(text.encode())), io.StringIO(text):
        monkeypatch.setattr(sys, 'stdin', stream)
        assert oia.json('optimal -')[0]['world'] == 'coin'
    monkeypatch.setattr(sys, 'stdin', io.StringIO('{'))
    assert 'standard input' in oia('optimal -')[2]
    coin.save('coin.json')
    printed = lambda *words: re.sub(r'in\s+\S+\s+s:', 'in some time:', oia(
        'identify coin.json --eps 3 --delta 0.1', *words)[1])
    out = printed()
    assert printed('--seed', re.search(r'\nseed +(\d+)\n', out)[1]) == out
