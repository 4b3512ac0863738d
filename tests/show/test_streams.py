"""The command and what surrounds it: streams that are closed, files that are none, an interrupt at
any moment, and libraries that print of their own accord.

Nothing here is left to chance.
"""
import dataclasses
import json
import os
import stat
import sys
import threading

import pytest
from conftest import amount
from test_cli import OIA, one_line, process
from oia_nb.all import InvalidInput, RiskAverse, load_setting, load_world
from oia_nb.worlds.files import write_file

pytestmark = pytest.mark.skipif(os.name != 'posix', reason='descriptors of POSIX')

def in_shell(text, cwd):
    "A finished process of the shell, in which $OIA is the command."
    line = ' '.join(["'" + part.replace("'", "'\\''") + "'" for part in OIA])
    return process(cwd, text.replace('$OIA', line), begin=['sh', '-c'])

# --- Streams ------------------------------------------------------------------------------

@pytest.mark.parametrize('text', ['$OIA optimal - <&-', '$OIA worlds >&-', '$OIA worlds --json >&-',
                                  '$OIA optimal - </dev/zero', '$OIA optimal /dev/zero'])
def test_streams_that_are_none(text, tmp_path):
    run = in_shell(f'ulimit -v 6000000; {text}', tmp_path)
    assert run.returncode == 2 and one_line(run.stderr) and run.stdout == ''

def test_what_libraries_print_is_not_output(tmp_path):
    "By C's own buffer, and past all buffers; also where it is flushed at the very end."
    code = ('import ctypes, os, sys\nimport oia_nb.game.stackelberg as s\n'
            'from oia_nb.cli import main\n' 'solve = s.optimal_rule\n' 'def loud(*a):\n'
            '    ctypes.CDLL(None).puts(b"buffered")\n' '    os.write(1, b"at once\\n")\n'
            '    return solve(*a)\n' 's.optimal_rule = loud\nsys.exit(main())')
    for end in amount([['--json']], [['--json'], []]):
        run = process(tmp_path, '-c', code, 'optimal', 'small_clinic', *end, begin=[sys.executable])
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
    path, texts, seen = tmp_path/'f.txt', [c*100_000 for c in 'abcd'], []
    def write(text):
        for _ in range(15):
            write_file(path, text)
            seen.append(path.read_text() in texts)
    threads = [threading.Thread(target=write, args=(t, )) for t in texts]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(seen) == 60 and all(seen) and os.listdir(tmp_path) == ['f.txt']

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
