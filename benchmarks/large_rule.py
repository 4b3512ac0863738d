"""The best rule of a world with K = 20 arms, M = 200 beliefs and W = 5 states; and at M = 60
against the full program of all payments and rows."""
import resource
from time import perf_counter
import numpy as np
from oia_nb.all import is_proper, optimal_rule, principal_profit, random_world
from oia_nb.game.programs import MenuProgram

def menus(world):
    z, q = world.setting, world.belief_distributions
    return [MenuProgram(z.support, q, k).minimum(q, (world.costs[k] - world.costs)/z.bound)
            for k in range(z.K)]

if (__name__ == '__main__'):
    ratios = []
    for seed in range(5):
        world = random_world(6, 5, 10, seed, prior='arm')
        t = perf_counter()
        full = optimal_rule(world)
        u = perf_counter()
        found = menus(world)
        ratios.append((u - t)/(perf_counter() - u))
        z, q = world.setting, world.belief_distributions
        profits = [
            -np.inf if m is None else q[k]@z.belief_utility - z.bound*m.value
            for k, m in enumerate(found)
        ]
        assert np.allclose(profits, full.profits, rtol=0, atol=1e-8)
    print(f'M = 60, same profits; full program / menu: median {np.median(ratios):.1f} '
          f'({min(ratios):.1f} to {max(ratios):.1f})')
    world, times = random_world(20, 5, 10, 0, prior='arm'), []
    for _ in range(5):
        t = perf_counter()
        best = optimal_rule(world)
        times.append(perf_counter() - t)
    assert is_proper(best.rule) and abs(principal_profit(world, best.rule) - best.profit) < 1e-6
    print(
        f'K = 20, M = {world.setting.M}, W = 5: median {np.median(times):.1f} s (target 10 s), '
        f'{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss/2**20:.2f} GB in all (target 1 GB)'
    )
