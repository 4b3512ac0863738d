"""Random files through the command, in this process: one JSON value and nothing else, which fits
its schema and tells what Python tells; or one line that says why not. Never an internal error.

Nothing here is left to chance: files are drawn from seeds.
"""
import json

import numpy as np
import pytest
from test_cli import assert_as_handed_over, one_line, strict_json
from oia_nb.all import load_world, optimal_rule, random_world
from oia_nb.cli import main
from oia_nb.show.documents import DOCUMENTS, json_schema

# the file in which the solver of whole numbers used to print six lines before the JSON
LOUD = 172

def a_world(seed):
    "Sizes, scales, costs and priors of all kinds."
    if seed == LOUD:
        return random_world(4, 4, [3, 4, 2, 3], LOUD, prior='arm', bound=1e4)
    r = np.random.default_rng(seed)
    K, W = r.integers(2, 5, 2)
    return random_world(int(K), int(W), [int(n) for n in r.integers(1, 5, K)], seed,
                        prior=['common', 'arm'][r.integers(2)], decisions=int(r.integers(1, 5)),
                        bound=10**r.uniform(-3, 4), max_cost=[0., .05, .2][r.integers(3)])

def answers(line, capfd):
    "The document that a command prints, None if it refuses; and its status."
    status = main(line.split())
    out, err = capfd.readouterr()
    assert 'internal error' not in err and 'Traceback' not in err, err
    if status:
        assert status == 2 and out == '' and one_line(err.splitlines(True)[-1]), (out, err)
        return None, status
    told = strict_json(out)
    assert out.count('\n') == 1 and json.loads(out)
    kind = told['schema'].split('/')[1]
    assert kind in DOCUMENTS
    validators[kind].validate(told)
    return told, status

validators = {}

@pytest.fixture(autouse=True)
def schemas():
    "As another program checks them."
    jsonschema = pytest.importorskip('jsonschema')
    for kind in 'optimal', 'identification':
        validators[kind] = jsonschema.Draft202012Validator(json_schema(kind))

def through_the_command(seeds, tmp_path, capfd):
    "How many commands answered and how many refused."
    fates = {0: 0, 2: 0}
    for seed in seeds:
        path = tmp_path/f'{seed}.json'
        a_world(seed).save(path)
        world = load_world(path)
        told, status = answers(f'optimal {path} --json', capfd)
        fates[status] += 1
        best = optimal_rule(world)
        assert status == 0 and told['profit'] == best.profit
        assert told['rule']['payments'] == best.rule.values.tolist()
        if told['rounded'] is not None:
            assert_as_handed_over(world, told, told['rounded']['digits'])
        eps = .3*(world.setting.bound + world.setting.B_u)
        learnt, status = answers(f'identify {path} --eps {eps!r} --delta 0.1 --seed {seed} '
                                 '--budget 300 --json --quiet', capfd)
        fates[status] += 1
        if learnt and learnt['status'] == 'certified':
            assert learnt['certificate']['bound'] <= eps and learnt['regret'] <= eps
    return fates

def test_some_random_files(tmp_path, capfd):
    fates = through_the_command([0, 3, 5, 8, LOUD], tmp_path, capfd)
    assert fates[0] >= 5
