"""Seconds to import the package and for `oia --help`, each the median of 9 processes, less
nothing; and relative to `import numpy`."""
import subprocess
import sys
from statistics import median
from time import perf_counter

COMMANDS = dict(numpy=['-c', 'import numpy'], oia_nb=['-c', 'import oia_nb'],
                everything=['-c', 'import oia_nb.all'],
                engine=['-c', 'import oia_nb.fast.drive'],
                help=['-m', 'oia_nb.cli', '--help'])

def seconds(args):
    t = perf_counter()
    subprocess.run([sys.executable, *args], check=True, capture_output=True)
    return perf_counter() - t

if __name__ == '__main__':
    code = 'from oia_nb.cli import main; import sys; sys.exit(main(["--help"]))'
    COMMANDS['help'] = ['-c', code]
    times = {name: [] for name in COMMANDS}
    for _ in range(9):
        for name, args in COMMANDS.items():
            times[name].append(seconds(args))
    for name, t in times.items():
        print(f'{name}: {median(t):.3f} s, {median(t)/median(times["numpy"]):.2f} times numpy')
    print('targets: oia_nb 0.3 s, help 0.5 s')
