"""What is too large is refused before the memory fills, with the number; what is too near is told.

Nothing here is left to chance.
"""
import tracemalloc
import warnings

import numpy as np
import pytest
from oia_nb.game import programs
from oia_nb.all import InvalidInput, load_world, make_world, world_names
from oia_nb.game.programs import MenuProgram, RuleProgram, VProgram, check_size, worst_lies

def peak(f):
    "The most bytes that Python held for `f()`."
    tracemalloc.start()
    f()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most

def told(M, W, lies, monkeypatch):
    "The bytes that the refusal names."
    monkeypatch.setattr(programs, 'MEMORY_MOST', 1.)
    with pytest.raises(InvalidInput, match='GiB') as e:
        check_size(M, W, lies)
    monkeypatch.undo()
    return 2**30*float(str(e.value).split('about ')[1].split(' GiB')[0])

def test_memory_is_foreseen(monkeypatch):
    """What a program is said to take is about what it does take: two states, more, and where only
    the beliefs of one arm are paid."""
    r, make = np.random.default_rng(0), dict(V=VProgram, rule=RuleProgram)
    for W, M, kind in (2, 1500, 'V'), (2, 1500, 'rule'), (3, 250, 'rule'), (3, 400, 'menu'):
        support, q = r.dirichlet(np.ones(W), M), np.zeros((2, M))
        q[0, :M//2] = q[1, M//2:] = 2/M
        rule = r.random((M, W))
        def build():
            MenuProgram(support, q, 0) if kind == 'menu' else make[kind](support, 2, 0)
            worst_lies(support, rule, 9.)
        lies = {'V': 0, 'menu': M*(M//2), 'rule': 2*M if W == 2 else M*M}[kind]
        foreseen = told(M, W, lies, monkeypatch)
        used = peak(build)
        assert .3*foreseen < used < 1.05*foreseen, (W, M, kind, used, foreseen)

def merged(joint):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter('always')
        make_world(joint, [0., .01], np.eye(2), 1.)
    return [str(w.message) for w in seen]

def test_beliefs_that_become_one_are_told():
    "Whether the two signals are of one table or of two; not where they differ by rounding only."
    rare = lambda p: [[[1 - p, p]], [[1 - p, 0], [0, p]]]
    near = lambda d: [[[.3, .2], [.15 + d, .1 - d], [.05 - d, .2 + d]], [[.5, .5]]]
    for joint in rare(1e-9), rare(1e-7), near(1e-9), near(1e-7):
        said, = merged(joint)
        assert 'within 1e-06 of another one' in said
    for joint in rare(1e-4), rare(1e-13), near(0.), near(1e-4), near(1e-14):
        assert merged(joint) == []
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        for name in world_names():
            world = load_world(name)
            world.without(world.setting.arms[-1]) if world.setting.K > 2 else None
