"""Two processes against one on the same eight runs of the engine, one thread each; interleaved.
Nothing is shared, so the target is 1.8 on two idle cores."""
from concurrent.futures import ProcessPoolExecutor
from os import cpu_count, getloadavg
from time import perf_counter
import numpy as np
from oia_nb.all import action_informed_oracle, random_world
from oia_nb.fast.drive import simulate_fast

WORLD = random_world(5, 3, 4, 1, prior='arm', margin=.02)
ORACLE = action_informed_oracle(WORLD)

def run(seed):
    return simulate_fast(WORLD, eps=1e-3, delta=.1, oracle=ORACLE, seed=seed,
                         max_rounds=3_000_000).rounds

def seconds(pool):
    t = perf_counter()
    list(pool.map(run, range(8)))
    return perf_counter() - t

if (__name__ == '__main__'):
    with ProcessPoolExecutor(1) as one, ProcessPoolExecutor(2) as two:
        for pool in one, two:
            seconds(pool)
        print(f'{cpu_count()} cores, load {getloadavg()[0]:.1f} before')
        ratios = [seconds(one)/seconds(two) for _ in range(7)]
    print(
        f'1 process / 2 processes: median {np.median(ratios):.2f} ({min(ratios):.2f} to '
        f'{max(ratios):.2f}); target at least 1.8; load {getloadavg()[0]:.1f} after (2 would be '
        'these runs alone)')
