"JSON values that somebody changed by hand: whoever reads a file takes one whole or refuses it."
import copy

FINITE = [None, True, False, 0, 1, -1, 2.5, .25, -0., 1e-320, 1e300, 10**30, 10**400, '', 'a',
          'desk', 'poor', 'sharp', 'é', '\ud800', 'a\n', 'lapses=0.9', [], [[]], [1], [None],
          [[1, 2], [3, 4]], {}, {'a': 1}, {'name': 'x', 'cost': .1}]
VALUES = [*FINITE, float('nan'), float('inf')]

def spoil(data, rng, values=VALUES):
    "One change in place, anywhere: a value goes, comes twice, moves, or is another one."
    at = data
    while at:
        key = rng.choice(list(at) if isinstance(at, dict) else range(len(at)))
        if not isinstance(at[key], (dict, list)) or not at[key] or rng.random() < .3:
            break
        at = at[key]
    else:
        return data
    kind, value = rng.choice(['drop', 'double', 'move', 'move', 'replace', 'replace']), at[key]
    if kind == 'drop':
        del at[key]
    elif kind == 'double' and isinstance(at, list):
        at.insert(key, copy.deepcopy(value))
    elif kind == 'move' and type(value) in (int, float):
        small = 1 + rng.gauss(0, 1)*10**rng.uniform(-16, 0)
        at[key] = value*small if type(value) is float and rng.random() < .5 else -value
    else:
        at[key] = copy.deepcopy(rng.choice(values))
    return data
