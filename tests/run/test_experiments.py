"""An experiment gives the same frame whoever computes it, in whatever order and however often it is
killed."""
import json
import multiprocessing
import os
import signal
import time
from functools import partial
import numpy as np
import pandas as pd
import pytest
from conftest import amount
from oia_nb.all import (InvalidInput, generator, identify, load_world, make_world, oiafc,
                        optimal_rule, parse_expert, simulate)
from oia_nb.run import experiments
from oia_nb.run.experiments import compare, experiment, forecast, read_experiment, suite, summarise
from oia_nb.game.information import World
from people import COIN

# no rule can induce one of them
twins = make_world([[[.40, .10], [.10, .40]]]*2, costs=[0., 0.], utility=np.eye(2),
                   bound=1., name='twins')

def announce_one(world, *, eps, delta, seed, oracle, fail_below=0., slow=0.):
    "A learner of one round, whose answer depends on the seed; it fails when luck has it so."
    x = seed.random()
    time.sleep(slow*x)
    if x < fail_below:
        raise RuntimeError(f'luck was {x:.3f}\nand that is that')
    learner = oiafc(world.setting, oracle, eps=eps, delta=delta, max_rounds=world.setting.K)
    return simulate(learner, world, seed)

cheap = dict(worlds=[COIN], methods={'one': announce_one},
             grid=dict(eps=[1., 2.], delta=.1, fail_below=[0., .5],
                       slow=.002), repetitions=20, seed=5)

def assert_same(a, b):
    pd.testing.assert_frame_equal(a.drop(columns='seconds'), b.drop(columns='seconds'))

@pytest.fixture(scope='module')
def reference():
    return experiment(**cheap, n_jobs=0)

def times(folder):
    return {p: p.stat().st_mtime_ns for p in (folder/'runs').iterdir()}

def test_a_failing_run_is_a_row(reference, tmp_path):
    "Repetitions share their luck: the same ones fail in each cell. What is there isn't redone."
    failing = reference[reference.error.notna()]
    assert failing.rounds.isna().all() and failing.stopped.isna().all()
    assert failing.error.str.match(r'RuntimeError: luck was 0\.\d{3} and that is that').all()
    assert failing.traceback.str.contains('announce_one').all()
    fine = reference[reference.error.isna()]
    assert (fine.rounds == 2).all() and (fine.status == 'round_cap').all()
    lucky = [generator(5, i).random() < .5 for i in range(20)]
    for eps in 1., 2.:
        assert reference.query('eps == @eps and fail_below == .5').error.notna().tolist() == lucky
    s = summarise(reference, by=['fail_below'])
    assert s.runs.tolist() == [40, 40] and s.failed.tolist() == [0, len(failing)]
    assert s.rounds.tolist() == [2., 2.] and s.within.tolist() == [1., 1.]
    experiment(**cheap, n_jobs=0, path=tmp_path)
    before = times(tmp_path)
    experiment(**cheap, n_jobs=0, path=tmp_path)
    assert times(tmp_path) == before
    experiment(**cheap, n_jobs=0, path=tmp_path, retry=True)
    assert sum(before[p] != t for p, t in times(tmp_path).items()) == len(failing) > 0

def kill(folder, more, seconds):
    "Start it in a process of its own; kill it `seconds` after `more` runs are written, or ended."
    p = multiprocessing.get_context('fork').Process(
        target=partial(experiment, **cheap, n_jobs=0, path=folder))
    files = lambda: len(list(folder.glob('runs/*.jsonl')))
    wanted = files() + more
    p.start()
    while more and p.exitcode is None and files() < wanted:
        time.sleep(1e-4)
    time.sleep(seconds)
    p.kill()
    p.join()

@pytest.mark.parametrize('seed', range(amount(1, 2)))
def test_killed_at_ten_random_moments(reference, tmp_path, seed):
    "Two of them soon after the start, when the folder is made; eight while runs are written."
    rng, folder, there = generator(seed), tmp_path/'killed', []
    for more in [0, 0, *rng.integers(1, 8, 8)]:
        kill(folder, more, rng.uniform(0, .004 if more else .03))
        there.append(len(read_experiment(folder)) if (folder/'manifest.json').exists() else 0)
    assert there == sorted(there) and there[-1] >= 8 and there[2] < len(reference)
    assert_same(experiment(**cheap, n_jobs=0, path=folder), reference)
    assert_same(read_experiment(folder), reference)

def test_torn_files_are_done_again(reference, tmp_path):
    experiment(**cheap, n_jobs=0, path=tmp_path)
    files, rng = sorted((tmp_path/'runs').iterdir()), generator(3)
    for n, f in enumerate(rng.permutation(files)[:30]):
        raw = f.read_bytes()
        f.write_bytes([b'', raw[:int(rng.integers(1, len(raw) - 1))], b'[]\n', files[0].read_bytes()
                       if f != files[0] else b'{}', raw[:9] + b'\xff' + raw[9:]][n % 5])
    assert len(read_experiment(tmp_path)) == len(reference) - 30
    assert_same(experiment(**cheap, n_jobs=0, path=tmp_path), reference)

def test_a_world_without_an_oracle_fails_in_its_own_rows(tmp_path, caplog):
    "Which is announced; and no file has a NaN or Infinity, which other readers refuse."
    frame = experiment([twins, COIN], ['sharp'], dict(eps=3., delta=.1), 2, 0, n_jobs=0,
                       path=tmp_path)
    assert frame[frame.world == 'twins'].error.str.startswith('NotInducible').all()
    assert frame[frame.world == 'coin'].error.isna().all()
    assert '2 of 4 runs failed, the first: NotInducible' in caplog.text
    for p in [tmp_path/'manifest.json', *(tmp_path/'runs').iterdir()]:
        assert p.suffix in ('.json', '.jsonl') and json.loads(
            p.read_text(), parse_constant=lambda constant: pytest.fail(constant))
    caplog.clear()
    experiment(**good)
    assert 'failed' not in caplog.text

@pytest.mark.release
def test_dask(tmp_path):
    "Four runs, two of which fail: what is tested is the way to the workers and back."
    distributed = pytest.importorskip('distributed')
    import joblib
    few = cheap | dict(grid=dict(eps=2., delta=.1, fail_below=[0., .5], slow=.002), repetitions=2)
    with distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True,
            dashboard_address=None) as cluster, distributed.Client(cluster) as client:
        with joblib.parallel_config('dask'):
            frame = experiment(**few, path=tmp_path)
        assert set(client.run(lambda: os.environ['OMP_NUM_THREADS']).values()) == {'1'}
    alone = experiment(**few, n_jobs=0)
    assert_same(frame, alone)
    assert_same(read_experiment(tmp_path), alone)

# --- What is refused, and what isn't --------------------------------------------------

def test_workers_use_one_thread():
    threadpoolctl = pytest.importorskip('threadpoolctl')
    def count(world, *, eps, seed, oracle):
        raise RuntimeError(max(p['num_threads'] for p in threadpoolctl.threadpool_info()))
    frame = experiment([COIN], {'count': count}, dict(eps=[1., 2.]), 2, 0, n_jobs=2)
    assert set(frame.error) == {'RuntimeError: 1'}

good = dict(worlds=[COIN], methods=['sharp'], grid=dict(eps=[3.], delta=.1),
            repetitions=1, seed=0, n_jobs=0)

@pytest.mark.parametrize('change', [dict(grid=dict(eps=[3., 4.], delta=.1)),
                                    dict(methods=['sharp', 'oiafc']), dict(worlds=[COIN, twins]),
                                    dict(methods=['oiafc']), dict(repetitions=2),
                                    dict(grid=dict(eps=[3.], delta=.1, margin=0.))])
def test_a_grid_grows(change, tmp_path):
    "Only what is new is played; the folder holds both, in the order of the two."
    first = experiment(**good, path=tmp_path)
    before = times(tmp_path)
    assert_same(experiment(**good | change, path=tmp_path), experiment(**good | change))
    assert before.items() <= times(tmp_path).items()
    kept = read_experiment(tmp_path)
    assert len(kept) == 2 and kept.iloc[:1].rounds.tolist() == first.rounds.tolist()
    assert_same(experiment(**good, path=tmp_path), first)

def test_folder_of_another_experiment(tmp_path, monkeypatch):
    "A function that was written anew is another method; results may change with a second number."
    def f(world, *, eps, delta, seed, oracle):
        return announce_one(world, eps=eps, delta=delta, seed=seed, oracle=oracle)
    def g(world, *, eps, delta, seed, oracle):
        return announce_one(world, eps=eps/2, delta=delta, seed=seed, oracle=oracle)
    g.__qualname__ = f.__qualname__
    experiment(**good | dict(methods={'sharp': 'sharp', 'f': f}), path=tmp_path)
    for change, name in ((dict(worlds={'coin': twins}), 'world coin'),
                         (dict(methods={'sharp': ('sharp', dict(budget=5000))}), 'method sharp'),
                         (dict(methods={'f': g}), 'method f')):
        with pytest.raises(InvalidInput, match=f'this experiment: that one differs in {name}$'):
            experiment(**good | change, path=tmp_path)
    monkeypatch.setattr(experiments, '__version__', '0.0.1')
    with pytest.raises(InvalidInput, match='differs in version'):
        experiment(**good, path=tmp_path)

def test_folders_of_earlier_versions(tmp_path):
    "Their manifest has another form: they are read, and gone on with."
    two = good | dict(worlds={'b': COIN, 'a': twins}, grid=dict(eps=[3., 4.], delta=.1))
    first, manifest = experiment(**two, path=tmp_path), tmp_path/'manifest.json'
    before, known = times(tmp_path), json.loads(manifest.read_text())
    manifest.write_text(json.dumps(dict(
        version='.'.join([*known['version'], '7']), seed=0, grid=two['grid'],
        worlds={name: known[f'world {name}'] for name in 'ba'},
        methods=dict(sharp=known['method sharp']))))
    assert_same(read_experiment(tmp_path), first)
    assert_same(experiment(**two, path=tmp_path), first)
    assert times(tmp_path) == before

def test_folder_of_something_else(tmp_path):
    thesis = tmp_path/'thesis.tex'
    thesis.write_text('finished')
    refused = partial(pytest.raises, InvalidInput, match='path')
    for path in tmp_path, thesis:
        with refused():
            experiment(**good, path=path)
    assert [*tmp_path.iterdir()] == [thesis]
    for text in '', '[]', '{}', '{"seed": 0}':
        (tmp_path/'manifest.json').write_text(text)
        for act in read_experiment, lambda path: experiment(**good, path=path):
            with refused():
                act(tmp_path)

@pytest.mark.parametrize('play', [
    lambda path: forecast(COIN, eps=.2, delta=.1, runs=3), *(
        partial(lambda n_jobs, path: experiment([COIN], ['sharp'], dict(eps=.2, delta=.1), 3, 0,
                                                path=path, n_jobs=n_jobs), n) for n in (1, 0))],
    ids=['forecast', 'one job', 'in this process'])
def test_an_interrupt_ends_all_runs(play, tmp_path, monkeypatch, usual_interrupt):
    "Ctrl-C in the second of three: the third isn't begun, and what was cut off is no result."
    played, respond = [], World.respond
    def interrupted(self, rule, rng, **more):
        if not any(rng is earlier for earlier in played):       # each run has its own
            played.append(rng)
        if len(played) == 2:
            signal.raise_signal(signal.SIGINT)
        return respond(self, rule, rng, **more)
    monkeypatch.setattr(World, 'respond', interrupted)
    with pytest.raises(KeyboardInterrupt):
        play(tmp_path/'runs')
    assert len(played) == 2 and len([*tmp_path.rglob('*.jsonl')]) == (tmp_path/'runs').exists()

def test_compare_plays_who_honours_what_is_told():
    "And an expert who isn't rational fails no run."
    found = compare(['advert'], eps=1., repetitions=1, n_jobs=0, told='lapses=.02',
                    expert=parse_expert('lapsing:0.02'))
    assert set(found.frame.method) == {'patient', 'trial'} and found.frame.error.isna().all()
    assert set(suite(margin=.01)) == {'sharp', 'patient', 'own_beliefs'}
    assert set(suite(told='rounding=2')) == {'sharp', 'patient', 'own_beliefs', 'trial'}
    with pytest.raises(InvalidInput, match='what one of the learners can honour'):
        suite(told='lapses=.02,costs=until the end')

def test_a_lead_is_compared_with_the_best_that_leads():
    world, told = load_world('advert'), dict(eps=.3, delta=.1, margin=.01)
    found = compare([world], **told, methods=['sharp'], repetitions=1, n_jobs=0).frame.iloc[0]
    plain = identify(world, **told, seed=generator(0, 0))
    best = optimal_rule(world, margin=.01).profit
    assert found.regret == pytest.approx(best - world.agent.profit(world, plain.rule))
    assert found.regret <= found.bound and best < optimal_rule(world).profit
