"""Seconds to import the package, for `oia --help` and for `oia demo`, each the median of 9
processes; relative to `import numpy`, and of the demo what comes after the imports."""
import subprocess
import sys
from statistics import median
from time import perf_counter

def command(*args):
    return ['-c', f'from oia_nb.cli import main; import sys; sys.exit(main({list(args)}))']

COMMANDS = dict(numpy=['-c', 'import numpy'], oia_nb=['-c', 'import oia_nb'],
                everything=['-c', 'import oia_nb.all'],
                engine=['-c', 'import oia_nb.fast.drive'],
                help=command('--help'), demo=command('demo', '--quiet'))

def seconds(args):
    t = perf_counter()
    subprocess.run([sys.executable, *args], check=True, capture_output=True)
    return perf_counter() - t

if __name__ == '__main__':
    times = {name: [] for name in COMMANDS}
    for _ in range(9):
        for name, args in COMMANDS.items():
            times[name].append(seconds(args))
    for name, t in times.items():
        print(f'{name}: {median(t):.3f} s, {median(t)/median(times["numpy"]):.2f} times numpy')
    after = median(d - e for d, e in zip(times['demo'], times['everything']))
    print(f'demo after the imports: {after:.2f} s')
    print('targets: oia_nb 0.3 s, help 0.5 s, demo after the imports 3 s')
