"""The `oia` command as others call it, and what surrounds it: streams, interrupts, libraries.
What only a process can show runs as one; the rest calls `main`, which is faster."""
import dataclasses
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial

import numpy as np
import pytest
from conftest import amount, ROOT
from oia_nb.all import (InvalidInput, LEARNERS, RiskAverse, ScoringRule, Session,
                        action_informed_oracle, identify, is_proper, load_setting, load_world,
                        make_world, menu_rule, optimal_rule, principal_profit, random_world,
                        simple_regret, world_names)
from oia_nb.cli import COMMANDS
from oia_nb.game.stackelberg import region_margin
from oia_nb.paper.complexity import n_min, problem_of
from oia_nb.run.experiments import suite
from oia_nb.show.documents import check_document
from oia_nb.worlds.files import write_file

posix = pytest.mark.skipif(os.name != 'posix', reason='signals and descriptors of POSIX')
ENV = {**os.environ, 'PYTHONPATH': str(ROOT)}
OIA = [sys.executable, '-c', 'import sys; from oia_nb.cli import main; sys.exit(main())']

def process(cwd, *words, begin=OIA, **more):
    "The command in a process of its own, with `more` in its environment, once it has ended."
    return subprocess.run([*begin, *map(str, words)], cwd=cwd, env=ENV | more, text=True,
                          capture_output=True, timeout=120)

def one_line(err, begin='oia: '):
    return err.startswith(begin) and err.endswith('\n') and err.count(
        '\n') == 1 and 'Traceback' not in err

def coin(costs, arms=('toss', 'look')):
    "A fair coin that one arm sees and the other doesn't; further arms see it too."
    return make_world([np.full((1, 2), .5)] + [np.eye(2)/2]*(len(costs) - 1), costs,
                      np.eye(2), 1., name='coin', arms=arms)

@pytest.fixture
def files(tmp_path):
    "A folder with a world, one with an arm that is out of reach (`dear`), and half a file."
    coin([0., .1]).save(tmp_path/'coin.json')
    coin([0., .1, .2], ['toss', 'look', 'dear']).save(tmp_path/'dear.json')
    text = (tmp_path/'coin.json').read_text()
    (tmp_path/'half.json').write_text(text[:len(text)//2])
    return tmp_path

LEARN, FAITHFUL = 'identify coin.json --eps 3 --delta 0.1', dict(method='oiafc')
BAD = {         # beside those of the chapter; what the error names
    'optimal': 'W', 'optimal coin.json --wish': '--wish', f'{LEARN} --budget 2.5': '--budget',
    'identify coin.json --eps 1e999 --delta 0.1': 'eps', f'{LEARN} --engine fast': 'sharp',
    f'{LEARN} --mixing theorem1': 'mixing', f'{LEARN} --method chen': 'budget',
    f'{LEARN} --method etc --samples 9 --budget 99': 'samples', f'{LEARN} --without toss': 'arms',
    'compare coin.json coin.json': 'worlds', 'compare coin.json --path half.json': 'half.json',
    'optimal coin.json --digits 16': 'digits', 'optimal coin.json --margin nan': 'margin',
    'optimal .': 'world', 'optimal half.json': 'half.json', 'demo --method oiafb': '--method',
    **{f'plan coin.json --eps 1 --delta .1 --runs {words}': named for words, named in {
        '-1': 'of at least 0', '1 --rounds x': '--rounds', '1 --rounds 0': 'rounds',
        '1 --sums x': '--sums'}.items()}}

@pytest.mark.parametrize('line', BAD)
def test_bad_input(line, files, oia):
    before = sorted(os.listdir())
    status, out, err = oia(line)
    assert (status, out) == (2, '') and one_line(err) and BAD[line] in err, err
    assert sorted(os.listdir()) == before

# --- What is promised of the output ---------------------------------------------------

def assert_as_handed_over(world, found, digits=3):
    "The tickets have the digits that are told, and earn what is told; the arm leads by the margin."
    z, handed = world.setting, found['rounded']
    tickets = [[t['pays'][w] for w in z.states] for t in handed['tickets']]
    rule = menu_rule(z.support, tickets, z.bound)
    assert handed['digits'] == digits
    assert all(x == round(x, max(digits, 0)) for t in tickets for x in t)
    assert is_proper(rule) and z.arms[world.best_response(rule)] == handed['arm'] == found['arm']
    assert region_margin(world, rule, z.arm_index(handed['arm'])) >= handed['margin'] - 1e-9
    assert abs(principal_profit(world, rule) - handed['profit']) < 1e-12
    exact = ScoringRule(found['rule']['payments'], z.support, z.bound)
    assert abs(principal_profit(world, exact) - handed['profit'] - handed['lost']) < 1e-9

RANDOM = {'no costs': dict(K=3, W=3, signals=[1, 4, 2], seed=5, max_cost=0.),
          'pennies': dict(K=2, W=4, signals=3, seed=8, bound=1e-3, decisions=1),
          # where the solver of whole numbers used to print before the JSON
          'large': dict(K=4, W=4, signals=[3, 4, 2, 3], seed=172, prior='arm', bound=1e4)}

@pytest.mark.parametrize('name', [*world_names(), *RANDOM])
def test_optimal(name, oia):
    "One JSON value that fits its form and tells what Python tells."
    world = random_world(**RANDOM[name]) if name in RANDOM else load_world(name)
    world.save('w.json')
    found, _ = oia.json('optimal w.json')
    rule = ScoringRule(found['rule']['payments'], found['support'], found['bound'])
    assert check_document(found, 'optimal') is found
    assert set(found['profits']) == set(world.setting.arms)
    assert found['profit'] == found['profits'][found['arm']] == optimal_rule(world).profit
    assert is_proper(rule) and world.setting.arms[world.best_response(rule)] == found['arm']
    assert abs(principal_profit(world, rule) - found['profit']) < 1e-7*world.setting.bound
    if found['margin'] is not None:
        assert abs(action_informed_oracle(world).margin - found['margin']) < 1e-12
    if found['rounded'] is not None:
        assert_as_handed_over(world, found, found['rounded']['digits'])

def test_digits_and_margin(oia):
    "What is asked for, or a note that says what will do, or that nothing will."
    clinic = load_world('clinic')
    assert_as_handed_over(clinic, oia.json('optimal clinic --digits 4')[0], 4)
    found, err = oia.json('optimal clinic --digits 1')
    assert_as_handed_over(clinic, found, 2)
    assert one_line(err, 'note: ') and 'with 1 digits' in err and '2 digits will do' in err
    assert oia.json('optimal clinic --margin 0.01')[0]['rounded']['margin'] == .01
    found, err = oia.json('optimal clinic --margin 0.2')
    assert found['rounded'] is None and one_line(err, 'note: ') and 'imaging' in err
    assert 'No rule to hand over' in oia('optimal clinic --margin 0.2')[1]

def test_no_circles(oia):
    "Where no choice of arms is a way out, none is named (the chapter has one that is)."
    look = np.array([[.4, .1], [.1, .4]])
    make_world([[[.5, .5]], look, look], [0., .6, .7], np.eye(2), 1., name='w',
               arms=['desk', 'call', 'lab']).save('none.json')
    for command in ('optimal', 'plan --eps 1 --delta .1', 'identify --eps 1 --delta .1'):
        err = oia(command, 'none.json', *['--quiet']*(command != 'optimal'))[2]
        assert '--without' not in err and 'no choice of arms' in err

@pytest.mark.parametrize('how, status', [
    ({}, 'certified'), (dict(eps=.01, budget=2), 'round_cap'), (FAITHFUL, 'certified'),
    (FAITHFUL | dict(mixing='corollary1', engine='fast'), 'certified')])
def test_identify(how, status, files, oia):
    "A run of `identify` as a document; there is no bar where nobody looks."
    told = dict(eps=3., delta=.1, seed=3) | how
    line = ' '.join(f'--{name} {value}' for name, value in told.items())
    found, err = oia.json(f'identify coin.json {line}')
    world, result = load_world('coin.json'), identify(load_world('coin.json'), **told)
    assert re.sub('oia_nb: compiling, once: .*\n', '', err) == ''
    assert check_document(found, 'identification') is found
    assert set(found) - set(result.to_dict()) == {'regret', 'break_even', 'rounded'}
    assert found['rule']['payments'] == result.rule.values.tolist()
    assert found['arm'] == world.setting.arms[result.arm] and found['status'] == status
    assert found['counts'] == dict(zip(world.setting.arms, result.counts.tolist()))
    assert abs(found['regret'] - simple_regret(world, result.rule)) < 1e-12
    if status == 'certified':
        assert set(found['certificate']) == {'bound', 'mixing', 'confidence'}
        assert -1e-9 <= found['regret'] <= found['certificate']['bound'] <= found['target']['eps']
        assert_as_handed_over(world, found)

@pytest.mark.parametrize('method', [name for name in LEARNERS if name != 'trial'])
def test_a_session_takes_a_budget(method, files, oia):
    "Every learner that takes a limit on its rounds gets it by the name that it gives to it."
    told = f'--method {method}' + ' --told beliefs=own'*(method == 'own_beliefs')
    oia.json(f'session new s.jsonl coin.json --eps 3 --delta .1 --budget 9 {told}')
    with Session.open('s.jsonl', write=False) as s:
        kept = s.head['options']
    assert {kept.get('budget'), kept.get('max_rounds')} == {9, None}
    err = oia(f'session new t.jsonl coin.json --eps 3 --delta .1 --budget 0 {told}')[2]
    assert 'budget' in err and not os.path.exists('t.jsonl')

def test_same_seed_same_output(files, oia):
    """In this process, and in another one that has other threads and another hash seed; on a
    terminal without Greek too, but for the time that a proof took to check."""
    line = f'{LEARN} --seed 7 --quiet'
    here = oia(f'{line} --json')
    again = process(files, *line.split(), '--json', PYTHONHASHSEED='1', OMP_NUM_THREADS='2')
    assert here == (again.returncode, again.stdout, again.stderr) and (here[0], here[2]) == (0, '')
    text = oia(line)[1].encode('ascii', 'replace').decode()
    plain = process(files, *line.split(), PYTHONIOENCODING='ascii')
    untimed = lambda text: re.sub(r'in\s+\S+\s+s:', '', text).split()
    assert untimed(plain.stdout) == untimed(text) and 'Traceback' not in plain.stderr

def test_compare(files, oia):
    "A row for each method; what was kept is not played again, and gives the same table."
    line = ('compare coin.json --eps 3 --budget 100 --cap 500 --repetitions 2 --jobs 0 --path kept '
            '--quiet')
    found, err = oia.json(line)
    assert err == '' and check_document(found, 'compare') == oia.json(line)[0]
    assert [r['method'] for r in found['table']] == [*suite()] and len(found['runs']) == 14
    assert all(r['error'] is None and 0 <= r['regret'] and r['rounds'] <= 500
               for r in found['runs'])
    assert all(0 <= r['lost'] <= 500 and 0 <= r['paid'] and r['runs'] == 2 for r in found['table'])
    lines = oia(line)[1].splitlines()
    assert len(lines) == 10 and all(r['method'] in row for r, row in zip(found['table'], lines[3:]))

def test_compare_where_some_runs_fail(files, oia):
    "An error that many runs met is told once; it is one of the command if nothing else is."
    options = '--eps 3 --budget 20 --cap 20 --repetitions 2 --jobs 0 --quiet'
    status, out, err = oia(f'compare advert dear.json {options}')
    assert (status, err) == (0, '') and out.count("arm 'dear'") == 1 and 'nan' not in out
    status, out, err = oia(f'compare dear.json {options}')
    assert (status, out) == (2, '') and one_line(err) and "'dear'" in err

def test_demo(tmp_path):
    "From beginning to end: what it used, and what the paper's algorithm would have needed."
    run = process(tmp_path, 'demo')
    world, said = load_world('clinic'), ' '.join(run.stdout.split())
    assert run.returncode == 0 and run.stderr == ''
    assert (tmp_path/'oia_demo.png').read_bytes().startswith(b'\x89PNG')
    needed = n_min(problem_of(world, .04, .05))
    rounds, bound, regret = (float(re.search(of, said)[1].replace(',', '')) for of in (
        r'rounds ([\d,]+) \(', r'at most (\S+)', r'true regret (\S+)'))
    assert needed > 100*rounds and regret <= bound <= .04
    for part in (*world.setting.arms, *world.setting.states, f'before {needed:,} observations',
                 f'{needed/rounds:,.0f} times fewer', 'oia_demo.png'):
        assert part in said, part

# --- What only a process shows --------------------------------------------------------

def test_help_is_light(tmp_path):
    "Help needs none of the libraries that take long to load; where it lists the learners, NumPy."
    code = ('import sys\nfrom oia_nb.cli import main\nfor line in sys.argv[1:]:\n'
            '    try: main([*line.split(), "--help"])\n    except SystemExit as e: print(e.code)\n'
            'print(*{m.split(".")[0] for m in sys.modules} & {"numpy", "scipy", "matplotlib", '
            '"cvxpy", "highspy", "pandas", "tqdm", "tabulate"})')
    learners = 'identify', 'session new'
    light = ['', *(c for c in COMMANDS if c not in learners)]
    for commands, loaded in (light, ''), (learners, 'numpy'):
        run = process(tmp_path, '-c', code, *commands, begin=[sys.executable])
        assert run.stdout.count('usage: oia') == run.stdout.count('\n0\n') == len(commands)
        assert run.stdout.endswith(f'\n0\n{loaded}\n') and run.stderr == ''

@posix
def test_interrupt(files):
    "Ctrl-C in the middle of a long run: status 130, and one line after the progress bar."
    import termios
    ours, theirs = os.openpty()         # a bar is shown on a terminal only, as wide as that is
    termios.tcsetwinsize(theirs, (24, 200))
    # where the tests run in the background of a script, Ctrl-C is ignored, by whatever they start
    heeded, err = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL), b''
    line = 'identify clinic --method oiafc --eps 0.05 --delta 0.1 --json'
    run = subprocess.Popen([*OIA, *line.split()], cwd=files, env=ENV, stdout=subprocess.PIPE,
                           stderr=theirs, preexec_fn=heeded)
    os.close(theirs)
    while b'aims at' not in err:
        err += os.read(ours, 4096)
    run.send_signal(signal.SIGINT)
    with suppress(OSError):             # how a terminal ends
        while more := os.read(ours, 4096):
            err += more
    assert run.communicate(timeout=60)[0] == b'' and run.returncode == 130
    assert b'Traceback' not in err and err.endswith(b'\noia: interrupted\r\n')

@posix
@pytest.mark.parametrize('line', amount(['optimal clinic', '--help'], [
    'optimal clinic --json', 'optimal clinic', 'worlds', '--help']))
def test_reader_goes_away(line, files):
    run = subprocess.Popen([*OIA, *line.split()], cwd=files, env=ENV,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    run.stdout.close()
    # argparse swallows what it can't write
    assert run.stderr.read() == b'' and run.wait(60) in ([0, 141] if line == '--help' else [141])

@posix
@pytest.mark.parametrize('text', ['$OIA optimal - <&-', '$OIA worlds >&-', '$OIA worlds --json >&-',
                                  '$OIA optimal - </dev/zero', '$OIA optimal /dev/zero',
                                  pytest.param('$OIA worlds >/dev/full', marks=pytest.mark.skipif(
                                      not os.path.exists('/dev/full'), reason='no such device'))])
def test_streams_that_are_none(text, tmp_path):
    text = f'ulimit -v 6000000; {text}'.replace('$OIA', shlex.join(OIA))
    run = process(tmp_path, text, begin=['sh', '-c'])
    assert run.returncode == 2 and one_line(run.stderr) and run.stdout == ''

LOUD = '''
import ctypes, os, sys
import oia_nb.game.stackelberg as s
from oia_nb.cli import main
solve = s.optimal_rule
def loud(*args):
    ctypes.CDLL(None).puts(b"buffered")
    os.write(1, b"at once\\n")
    return solve(*args)
s.optimal_rule = loud
sys.exit(main())
'''

def test_what_libraries_print_is_not_output(tmp_path):
    "By C's own buffer, past all buffers, and at the very end; nor what Python says of streams."
    for end in amount([['--json']], [['--json'], []]):
        run = process(tmp_path, '-W', 'always::ResourceWarning', '-c', LOUD, 'optimal',
                      'small_clinic', *end, begin=[sys.executable])
        assert run.returncode == 0 and sorted(run.stderr.split('\n')) == ['', 'at once', 'buffered']
        assert not end or json.loads(run.stdout)['schema'] == 'oia/optimal/1'
        assert 'native' not in run.stdout and 'buffered' not in run.stdout

LATE = '''
import builtins, sys
n, load = int(sys.argv.pop(1)), builtins.__import__
def interrupted(*args, **kw):
    global n
    n -= 1
    if n == 0:
        raise KeyboardInterrupt
    return load(*args, **kw)
builtins.__import__ = interrupted
from oia_nb.cli import main
sys.exit(main())
'''

@pytest.mark.parametrize('n', amount([5, 9, 40, 600], [*range(5, 40), *range(40, 900, 20)]))
def test_interrupted_while_it_loads(n, tmp_path):
    "Ctrl-C at any import but the first four, of the line that starts it: 130, and one line."
    run = process(tmp_path, '-c', LATE, n, 'optimal', 'small_clinic', '--json',
                  begin=[sys.executable])
    assert (run.returncode, run.stdout, run.stderr) == (130, '', 'oia: interrupted\n')

# --- Files --------------------------------------------------------------------------------

@posix
def test_a_pipe_is_no_file(tmp_path):
    "It would be waited for without end, and so would the end of a device."
    os.mkfifo(tmp_path/'pipe')
    acts = [partial(read, path) for read in (load_world, load_setting)
            for path in (tmp_path/'pipe', '/dev/zero')]
    for act in *acts, partial(write_file, tmp_path/'pipe', 'text'):
        with pytest.raises(InvalidInput, match='a device or a pipe'):
            act()
    assert (tmp_path/'pipe').is_fifo()

def test_many_write_one_file(tmp_path):
    "The file is one of the texts, whole, at every moment, and nothing else is left."
    path, texts = tmp_path/'f.txt', [c*100_000 for c in 'abcd']
    with ThreadPoolExecutor(4) as pool:
        seen = pool.map(lambda text: write_file(path, text) or path.read_text(), 15*texts)
        assert set(seen) <= set(texts) and [*tmp_path.iterdir()] == [path]

def test_links_are_not_written_through(tmp_path):
    "What a link leads to stays as it is, whether the link has the file's name or a likely other."
    path, other, mine = tmp_path/'f.txt', tmp_path/'f.txt.part', tmp_path/'mine'
    mine.write_text('mine')
    for link in path, other:
        link.symlink_to(mine)
    write_file(path, 'text')
    assert mine.read_text() == 'mine' and path.read_text() == 'text'
    assert not path.is_symlink() and other.is_symlink()

def test_a_file_is_on_the_disk_before_it_takes_a_place(tmp_path, monkeypatch):
    done, path = [], tmp_path/'f.txt'
    def full(*args):
        raise OSError(28, 'No space left on device')
    with monkeypatch.context() as m:
        for name in 'fsync', 'replace':
            act = getattr(os, name)
            m.setattr(os, name, lambda *args, act=act, name=name: done.append(name) or act(*args))
        write_file(path, 'text')
    monkeypatch.setattr(os, 'fsync', full)
    with pytest.raises(InvalidInput, match='No space left'):
        write_file(path, 'other')
    assert done == ['fsync', 'replace'] and path.read_text() == 'text'
    assert [*tmp_path.iterdir()] == [path]

LOADED = '''
import sys
HEAVY = 'pandas sklearn matplotlib scipy cvxpy highspy numba ipywidgets'.split()
def heavy():
    return [name for name in HEAVY if name in sys.modules]
from oia_nb.worlds.files import load_world
print(load_world(sys.argv[1]).agent, heavy())
import oia_nb.all, oia_nb.show.plots, oia_nb.fast.drive
print(heavy())
'''

def test_imports_are_light(tmp_path):
    "No module loads what is slow to load; a world's file may name an expert that nothing imported."
    world = dataclasses.replace(load_world('advert'), agent=RiskAverse(2., lottery=True))
    world.save(tmp_path/'w.json')
    run = process(tmp_path, '-c', LOADED, tmp_path/'w.json', begin=[sys.executable])
    assert run.stdout == f'{world.agent!r} []\n[]\n', run.stderr
