"""The `oia` command as others call it: exit status, one line of error, nothing but JSON on standard
output; and what surrounds it: streams that are closed, files that are none, an interrupt at any
moment, and libraries that print of their own accord.

What only a process can show runs as one; the rest calls `main`, which gives the same answers
faster."""
import dataclasses
import json
import os
import re
import shlex
import signal
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

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
    """A folder with a world, one in which an arm is out of reach (`dear` costs more than `look` and
    shows the same), and half a file."""
    coin([0., .1]).save(tmp_path/'coin.json')
    coin([0., .1, .2], ['toss', 'look', 'dear']).save(tmp_path/'dear.json')
    text = (tmp_path/'coin.json').read_text()
    (tmp_path/'half.json').write_text(text[:len(text)//2])
    return tmp_path

LEARN = 'identify coin.json --eps 3 --delta 0.1'
FAITHFUL = f'{LEARN} --method oiafc'
BAD = {
    '': 'COMMAND', 'wish': 'wish', 'optimal': 'W', 'optimal coin.json --wish': '--wish',
    'identify coin.json --delta 0.1': '--eps', 'identify coin.json --eps 4.1 --delta 0.1': 'eps',
    'identify coin.json --eps 1e999 --delta 0.1': 'eps',
    'identify coin.json --eps one --delta 0.1': '--eps',
    f'{LEARN} --method guess': 'guess', f'{LEARN} --mixing theorem1': 'mixing',
    f'{LEARN} --engine fast': 'sharp', f'{LEARN} --budget 2.5': '--budget',
    f'{LEARN} --seed -1': 'seed', f'{LEARN} --method chen': 'budget',
    f'{LEARN} --method etc --samples 9 --budget 99': 'samples',
    'compare nowhere.json': 'nowhere.json', 'compare coin.json coin.json': 'worlds',
    'compare coin.json --path half.json': 'half.json',
    f'{LEARN} --without guess': 'guess', f'{LEARN} --without toss': 'arms',
    'optimal coin.json --digits 16': 'digits', 'optimal coin.json --margin nan': 'margin',
    'optimal .': 'world', 'optimal half.json': 'half.json', 'demo --method oiafb': '--method',
    'plan coin.json --eps 1 --delta .1 --runs -1': 'of at least 0',
    'plan coin.json --eps 1 --delta .1 --runs 1 --rounds x': '--rounds',
    'plan coin.json --eps 1 --delta .1 --runs 1 --rounds 0': 'rounds',
    'plan coin.json --eps 1 --delta .1 --runs 1 --sums x': '--sums',
    'demo --figure nowhere/f.png': 'nowhere/f.png', 'demo --figure f.txt': 'f.txt'}

@pytest.mark.parametrize('line', BAD)
def test_bad_input(line, files, oia):
    before = sorted(os.listdir())
    status, out, err = oia(line)
    assert (status, out) == (2, '') and one_line(err) and BAD[line] in err, err
    assert sorted(os.listdir()) == before

# --- What is promised of the output ---------------------------------------------------

def test_worlds(oia):
    for w in check_document(oia.json('worlds')[0], 'worlds')['worlds']:
        z = load_world(w.pop('name')).setting
        assert w == dict(arms=list(z.arms), states=list(z.states), decisions=list(z.decisions),
                         beliefs=z.M, bound=z.bound)

def assert_as_handed_over(world, found, digits=3):
    """The tickets have the digits that are told; paid as they stand they earn what is told, and the
    arm that is told leads by the margin."""
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

def a_world(seed):
    "A shipped world, or one of any size, scale, costs and priors."
    if isinstance(seed, str):
        return load_world(seed)
    if seed == 172:     # where the solver of whole numbers used to print before the JSON
        return random_world(4, 4, [3, 4, 2, 3], seed, prior='arm', bound=1e4)
    r = np.random.default_rng(seed)
    K, W = r.integers(2, 5, 2)
    return random_world(int(K), int(W), [int(n) for n in r.integers(1, 5, K)], seed,
                        prior=['common', 'arm'][r.integers(2)], decisions=int(r.integers(1, 5)),
                        bound=10**r.uniform(-3, 4), max_cost=[0., .05, .2][r.integers(3)])

@pytest.mark.parametrize('seed', [*world_names(), 0, 3, 5, 8, 172])
def test_optimal(seed, oia):
    """One JSON value that fits its form and tells what Python tells; or, where nothing can be
    learned, one line that says why not."""
    a_world(seed).save('w.json')
    world = load_world('./w.json')
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
    assert not isinstance(seed, str) or found['rounded']['lost'] > 0

def test_digits_and_margin(files, oia):
    """The digits that are asked for, the first that will do if these won't, and none if no digits
    will."""
    clinic = load_world('clinic')
    assert_as_handed_over(clinic, oia.json('optimal clinic --digits 4')[0], 4)
    found, err = oia.json('optimal clinic --digits 1')
    assert_as_handed_over(clinic, found, 2)
    assert one_line(err, 'note: ') and 'with 1 digits' in err and '2 digits will do' in err
    found, _ = oia.json('optimal clinic --margin 0.01')
    assert_as_handed_over(clinic, found)
    assert found['rounded']['margin'] == .01
    found, err = oia.json('optimal clinic --margin 0.2')
    assert found['rounded'] is None and one_line(err, 'note: ') and 'imaging' in err
    status, out, _ = oia('optimal clinic --margin 0.2')
    assert status == 0 and 'No rule to hand over' in out

@pytest.mark.parametrize('command', ['optimal', 'plan --eps 1 --delta 0.1 --quiet',
                                     'identify --eps 1 --delta 0.1 --quiet'])
def test_no_circles(command, oia):
    "Where no choice of arms is a way out, none is named (the chapter has one that is)."
    look = np.array([[.4, .1], [.1, .4]])
    make_world([[[.5, .5]], look, look], [0., .6, .7], np.eye(2), 1., name='w',
               arms=['desk', 'call', 'lab']).save('none.json')
    err = oia(command, 'none.json')[2]
    assert '--without' not in err and 'no choice of arms' in err

@pytest.mark.parametrize('line, status', [
    (LEARN, 'certified'), (FAITHFUL, 'certified'), (f'{FAITHFUL} --mixing corollary1', 'certified'),
    (f'{FAITHFUL} --engine fast', 'certified'), (f'{FAITHFUL} --budget 9', 'round_cap'),
    ('identify coin.json --eps 0.01 --delta 0.1 --budget 2', 'round_cap')])
def test_identify(line, status, files, oia):
    "A run of `identify` as a document; there is no bar where nobody looks."
    found, err = oia.json(f'{line} --seed 3')
    world, options = load_world('coin.json'), line.split()[2:]
    told = {name[2:]: word for name, word in zip(options[::2], options[1::2])}
    told |= {name: float(told[name]) for name in ('eps', 'delta')}
    budget = dict(budget=int(told.pop('budget'))) if 'budget' in told else {}
    result = identify(world, seed=3, **told, **budget)
    assert re.sub('oia_nb: compiling, once: .*\n', '', err) == ''
    assert check_document(found, 'identification') is found
    assert set(found) - set(result.to_dict()) == {'regret', 'break_even', 'rounded'}
    assert found['rule']['payments'] == result.rule.values.tolist()
    assert found['arm'] == world.setting.arms[result.arm] and found['status'] == status
    assert found['counts'] == dict(zip(world.setting.arms, result.counts.tolist()))
    assert found['rounds'] == result.rounds == sum(found['counts'].values())
    assert found['rounds'] == budget.get('budget', found['rounds'])
    assert abs(found['regret'] - simple_regret(world, result.rule)) < 1e-12
    if status == 'certified':
        assert set(found['certificate']) == {'bound', 'mixing', 'confidence'}
        assert -1e-9 <= found['regret'] <= found['certificate']['bound'] <= found['target']['eps']
        assert_as_handed_over(world, found)
    if line == LEARN:
        assert re.search(f'true regret +{found["regret"]:.3f}\n', oia(f'{line} --seed 3')[1])

@pytest.mark.parametrize('method', [name for name in LEARNERS if name != 'trial'])
def test_a_session_takes_a_budget(method, files, oia):
    "Every learner that takes a limit on its rounds gets it by the name that it gives to it."
    told = ' --told beliefs=own' if method == 'own_beliefs' else ''
    oia.json(f'session new s.jsonl coin.json --eps 3 --delta .1 --budget 9 --method {method}{told}')
    with Session.open('s.jsonl', write=False) as s:
        kept = s.head['options']
    assert {kept.get('budget'), kept.get('max_rounds')} == {9, None}
    status, out, err = oia(f'session new t.jsonl coin.json --eps 3 --delta .1 --budget 0 '
                           f'--method {method}{told}')
    assert (status, out) == (2, '') and 'budget' in err and not os.path.exists('t.jsonl')

def test_same_seed_same_output(files, oia):
    """In this process, and in another one that has other threads and another hash seed; on a
    terminal without Greek too, but for the time that a proof took to check."""
    line = *LEARN.split(), '--seed', '7', '--quiet'
    status, out, err = oia(' '.join([*line, '--json']))
    again = process(files, *line, '--json', PYTHONHASHSEED='1', OMP_NUM_THREADS='2')
    assert (status, out, err) == (again.returncode, again.stdout, again.stderr) == (0, out, '')
    text = oia(' '.join(line))[1]
    plain = process(files, *line, PYTHONIOENCODING='ascii')
    untimed = lambda text: re.sub(r'in\s+\S+\s+s:', '', text).split()
    assert plain.returncode == 0 and untimed(plain.stdout) == untimed(
        text.encode('ascii', 'replace').decode()) and 'Traceback' not in plain.stderr

def test_compare(files, oia):
    """A row for each method, and a run for each repetition; what was kept is not played again, and
    gives the same table."""
    line = ('compare coin.json --eps 3 --budget 100 --cap 500 --repetitions 2 --jobs 0 --path kept '
            '--quiet')
    found, err = oia.json(line)
    assert err == '' and {r['world'] for r in check_document(found, 'compare')['table']} == {'coin'}
    methods = [r['method'] for r in found['table']]
    assert methods == list(dict.fromkeys(r['method'] for r in found['runs'])) == [*suite()]
    assert all(r['error'] is None and 0 <= r['regret'] and r['rounds'] <= 500
               for r in found['runs']) and len(found['runs']) == 14
    assert oia.json(line)[0] == found
    lines = oia(line)[1].splitlines()
    assert len(lines) == 10 and all(r['method'] in row for r, row in zip(found['table'], lines[3:]))
    assert all(0 <= r['lost'] <= 500 and 0 <= r['paid'] and r['runs'] == 2 for r in found['table'])

def test_compare_where_some_runs_fail(files, oia):
    """An error that many runs met is told once; it is one of the command if there is nothing else
    to tell."""
    options = '--eps 3 --budget 20 --cap 20 --repetitions 2 --jobs 0 --quiet'
    status, out, err = oia(f'compare advert dear.json {options}')
    assert (status, err) == (0, '') and out.count("arm 'dear'") == 1 and 'nan' not in out
    status, out, err = oia(f'compare dear.json {options}')
    assert (status, out) == (2, '') and one_line(err) and "'dear'" in err

def test_digits_follow_the_bound(files, oia):
    "What is proved in a world of pennies isn't rounded to nothing."
    make_world([np.full((1, 2), .5), np.eye(2)/2], [0., .0002],
               np.eye(2)*.001, .001, name='pennies').save('pennies.json')
    for method in ('sharp', 'chen --budget 50'):
        line = f'identify pennies.json --eps 0.003 --delta 0.1 --seed 1 --quiet --method {method}'
        proved = float(oia(line)[1].split('regret at most ')[1].split()[0].rstrip('.'))
        bound = oia.json(line)[0]['certificate']['bound']
        # three digits, rounded up, but for what a decimal number can't tell in binary
        assert -1e-12 <= proved - bound < .01*bound

def test_demo(tmp_path):
    """From beginning to end, where it looks for its settings and its figure folder is new: what it
    used, and what the paper's algorithm would have needed."""
    run = process(tmp_path, 'demo')
    world, said = load_world('clinic'), ' '.join(run.stdout.split())
    assert run.returncode == 0 and run.stderr == ''
    assert (tmp_path/'oia_demo.png').read_bytes().startswith(b'\x89PNG')
    needed = n_min(problem_of(world, .04, .05))
    rounds = int(re.search(r'rounds ([\d,]+) \(', said)[1].replace(',', ''))
    bound = float(re.search(r'at most (\S+)', said)[1])
    regret = float(re.search(r'true regret (\S+)', said)[1])
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
    heeded = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
    run = subprocess.Popen([*OIA, 'identify', 'clinic', '--method', 'oiafc', '--eps', '0.05',
                            '--delta', '0.1', '--json'], cwd=files, env=ENV, stdout=subprocess.PIPE,
                           stderr=theirs, preexec_fn=heeded)
    os.close(theirs)
    err = b''
    while b'aims at' not in err:
        err += os.read(ours, 4096)
    run.send_signal(signal.SIGINT)
    try:
        while more := os.read(ours, 4096):
            err += more
    except OSError:                     # how a terminal ends
        pass
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

@pytest.mark.skipif(not os.path.exists('/dev/full'), reason='needs a device that is full')
def test_disk_full(files):
    with open('/dev/full', 'w') as full:
        run = subprocess.run([*OIA, 'worlds'], cwd=files, env=ENV, stdout=full,
                             stderr=subprocess.PIPE, text=True)
    assert run.returncode == 2 and one_line(run.stderr)

@posix
@pytest.mark.parametrize('text', ['$OIA optimal - <&-', '$OIA worlds >&-', '$OIA worlds --json >&-',
                                  '$OIA optimal - </dev/zero', '$OIA optimal /dev/zero'])
def test_streams_that_are_none(text, tmp_path):
    text = f'ulimit -v 6000000; {text}'.replace('$OIA', shlex.join(OIA))
    run = process(tmp_path, text, begin=['sh', '-c'])
    assert run.returncode == 2 and one_line(run.stderr) and run.stdout == ''

def test_what_libraries_print_is_not_output(tmp_path):
    """By C's own buffer, and past all buffers; also where it is flushed at the very end. Nor is
    Python's word of a stream that nobody closed."""
    code = ('import ctypes, os, sys\nimport oia_nb.game.stackelberg as s\n'
            'from oia_nb.cli import main\n' 'solve = s.optimal_rule\n' 'def loud(*a):\n'
            '    ctypes.CDLL(None).puts(b"buffered")\n' '    os.write(1, b"at once\\n")\n'
            '    return solve(*a)\n' 's.optimal_rule = loud\nsys.exit(main())')
    for end in amount([['--json']], [['--json'], []]):
        run = process(tmp_path, '-W', 'always::ResourceWarning', '-c', code, 'optimal',
                      'small_clinic', *end, begin=[sys.executable])
        assert run.returncode == 0 and sorted(run.stderr.split('\n')) == ['', 'at once', 'buffered']
        if end:
            assert json.loads(run.stdout)['schema'] == 'oia/optimal/1'
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
    """Ctrl-C at any import, the first ones of the command among them: 130, and one line. (The first
    four imports are those of the line that starts it.)"""
    run = process(tmp_path, '-c', LATE, n, 'optimal', 'small_clinic', '--json',
                  begin=[sys.executable])
    assert (run.returncode, run.stdout, run.stderr) == (130, '', 'oia: interrupted\n')

# --- Files --------------------------------------------------------------------------------

@posix
@pytest.mark.parametrize('read', [load_world, load_setting])
def test_a_pipe_is_no_file(read, tmp_path):
    "It would be waited for without end, and so would the end of a device."
    os.mkfifo(tmp_path/'pipe')
    for path in tmp_path/'pipe', '/dev/zero':
        with pytest.raises(InvalidInput, match='a device or a pipe'):
            read(path)
    with pytest.raises(InvalidInput, match='a device or a pipe'):
        write_file(tmp_path/'pipe', 'text')
    assert stat.S_ISFIFO(os.stat(tmp_path/'pipe').st_mode)

def test_many_write_one_file(tmp_path):
    "The file is one of the texts, whole, at every moment, and nothing else is left."
    path, texts = tmp_path/'f.txt', [c*100_000 for c in 'abcd']
    def whole(text):
        write_file(path, text)
        return path.read_text() in texts
    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(whole, 15*texts)) and os.listdir(tmp_path) == ['f.txt']

def test_links_are_not_written_through(tmp_path):
    "What a link leads to stays as it is, whether the link has the file's name or a likely other."
    precious = tmp_path/'precious'
    precious.write_text('mine')
    for name in 'f.txt.part', 'f.txt':
        (tmp_path/name).symlink_to(precious)
    write_file(tmp_path/'f.txt', 'text')
    assert precious.read_text() == 'mine' and (tmp_path/'f.txt').read_text() == 'text'
    assert not (tmp_path/'f.txt').is_symlink() and (tmp_path/'f.txt.part').is_symlink()

def test_a_file_is_on_the_disk_before_it_takes_a_place(tmp_path, monkeypatch):
    done, sync, put = [], os.fsync, os.replace
    monkeypatch.setattr(os, 'fsync', lambda f: done.append('sync') or sync(f))
    monkeypatch.setattr(os, 'replace', lambda a, b: done.append('replace') or put(a, b))
    write_file(tmp_path/'f.txt', 'text')
    assert done == ['sync', 'replace']
    def full(*args):
        raise OSError(28, 'No space left on device')
    monkeypatch.setattr(os, 'fsync', full)
    with pytest.raises(InvalidInput, match='No space left'):
        write_file(tmp_path/'f.txt', 'other')
    assert (tmp_path/'f.txt').read_text() == 'text' and os.listdir(tmp_path) == ['f.txt']

# --- What is loaded -----------------------------------------------------------------------

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
