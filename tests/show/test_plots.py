"""What the figures draw is what they say: regions, steps, slopes, intervals and numbers, legible
on white and on black."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.path import Path
from scipy.stats import binom
from oia_nb.all import (action_informed_oracle, identify, load_world, make_world, menu_rule,
                        principal_profit, spherical)
from oia_nb.core import generator
from oia_nb.show.plots import (COLORS, CORNERS, blend, contrast, plot_beliefs, plot_error,
                               plot_heatmap, plot_plane, plot_profits, plot_rule, plot_scaling)
from oia_nb.run.runs import fit_exponent, run_values, share_interval
from oia_nb.show.plots import _count

@pytest.fixture(autouse=True)
def no_figures_left():
    yield
    plt.close('all')

GLANCE, STUDY = [[.42, .13], [.28, .17]], [[.65, .05], [.05, .25]]
WORLD = make_world([GLANCE, STUDY], [0., .05], [[1., .3], [0., 1.]], 1.,
                   arms=['glance', 'study'], states=['sound', 'faulty'])
CLINIC = load_world('clinic')
ORACLE = action_informed_oracle(CLINIC)
RUN = identify(WORLD, method='oiafc', eps=1., delta=.1, budget=400, seed=0)

def random_worlds(n=12):
    """Worlds with two to five arms and two to four states, and three proper rules each, not all
    of the oracle's kind."""
    for seed in range(n):
        rng = generator(2201, seed)
        K, W = int(rng.integers(2, 6)), int(rng.integers(2, 5))
        joint = [rng.dirichlet(np.ones(3*W)).reshape(3, W) for _ in range(K)]
        w = make_world(joint, rng.uniform(0, .08, K), rng.uniform(0, 1, (W, 3)), 1.)
        yield w, [menu_rule(w.setting.support, rng.uniform(0, 1, (4, W)), 1.)
                  for _ in range(3)], rng

def runs(name='a', rounds=(10, 20, 30, 40), **columns):
    return pd.DataFrame(dict(world='w', method=name, eps=.1, rounds=rounds, status='certified') |
                        columns)

# --- Regions --------------------------------------------------------------------------

def test_plane_answers_as_the_agent():
    "One polygon a point, in the colour of the arm that answers there."
    for w, rules, rng in random_worlds():
        ax = plot_plane(w, rules, ax=Figure().subplots())
        washes = [(Path(p.get_xy()), to_rgb(p.get_facecolor())) for p in ax.patches if p.get_fill()]
        for weights in rng.dirichlet(np.ones(3), 60):
            arm = w.best_response(blend(rules, weights))
            assert [c for path, c in washes
                    if path.contains_point(weights@CORNERS)] == [to_rgb(COLORS[arm])]

def test_star_is_the_best_mixture():
    for w, rules, rng in random_worlds(8):
        ax = plot_plane(w, rules, ax=Figure().subplots())
        best = float(ax.get_legend_handles_labels()[1][-1].split(': ')[1])
        found = [
            principal_profit(w, blend(rules, p))
            for p in np.vstack([rng.dirichlet(np.ones(3), 300),
                                np.eye(3)])
        ]
        assert best >= max(found) - 1e-3*abs(best) - 1e-9
        (x,), (y,) = next(l for l in ax.get_lines() if l.get_marker() == '*').get_data()
        p = np.linalg.solve(np.vstack([CORNERS.T, np.ones(3)]), [x, y, 1])
        near = [principal_profit(w, blend(rules, q)) for e in np.eye(3)
                for q in [.999*np.clip(p, 0, None)/np.clip(p, 0, None).sum() + .001*e]]
        assert best == pytest.approx(max(near), abs=5e-3)

# --- Distributions --------------------------------------------------------------------

def test_interval_covers():
    """Exactly: at every p, the counts whose interval holds p have together at least 95 %; and
    one shorter would not do."""
    n = 17
    ends = np.array([share_interval(k, n) for k in range(n + 1)])
    for p in np.linspace(0, 1, 201):
        assert binom.pmf(np.flatnonzero((ends[:, 0] <= p) & (p <= ends[:, 1])), n, p).sum() >= .95
    for k in range(1, n):
        assert binom.sf(k - 1, n, ends[k, 0]) == pytest.approx(.025)
        assert binom.cdf(k, n, ends[k, 1]) == pytest.approx(.025)

def test_what_is_missing_counts_against_the_method():
    """Cut short, failed, or without a regret: infinite; a column of the chapter on experiments,
    or a mere status, will do."""
    status = pd.DataFrame(dict(rounds=[5, 9, np.nan], status=['certified', 'round_cap', None],
                               regret=[0., 1., np.nan]))
    nullable = status.assign(rounds=status.rounds.astype('Int64'),
                             stopped=pd.array([True, False, None], dtype='boolean'))
    for frame in (status, nullable):
        assert run_values(frame, 'rounds').tolist() == [5, np.inf, np.inf]
        assert run_values(frame, 'regret').tolist() == [0, 1, np.inf]
    ax = plot_error(nullable.assign(method='a', budget=10, eps=.5), Figure().subplots())
    assert ax.get_lines()[-1].get_ydata() == pytest.approx([2/3])

def test_error_against_budget():
    rng = generator(2204)
    frame = pd.concat([runs(m, [T]*25, budget=T, regret=rng.uniform(0, .3, 25)) for m in 'ab'
                       for T in (10, 100, 1000)])
    ax = plot_error(frame, Figure().subplots(), eps=.2, bound=lambda T: 50/T)
    for (m, g), line, band in zip(frame.groupby('method'), ax.get_lines(), ax.collections):
        wrong = (g.regret > .2).groupby(g.budget).sum()
        assert line.get_xdata().tolist() == [10, 100, 1000]
        assert line.get_ydata() == pytest.approx(wrong.to_numpy()/25)
        for T, k in wrong.items():
            v = band.get_paths()[0].vertices
            assert {round(y, 9) for x, y in v if x == T} == {round(y, 9)
                                                             for y in share_interval(int(k), 25)}
    bound = ax.get_lines()[-1]
    assert bound.get_label() == 'bound'
    assert bound.get_ydata() == pytest.approx(np.minimum(50/bound.get_xdata(), 1))

# --- Rates ----------------------------------------------------------------------------

def test_interval_of_a_slope():
    "Least squares and Student's t, written out."
    rng = generator(2205)
    x, y = np.array([1., 2, 3, 5, 8, 13]), np.exp(rng.normal(size=6))
    X, b = np.c_[np.log(x), np.ones(6)], np.log(y)
    theta, rss = np.linalg.lstsq(X, b)[:2]
    half = 2.7764451051977987*np.sqrt(rss[0]/4*np.linalg.inv(X.T @ X)[0, 0])
    fit = fit_exponent(x, y)
    assert (fit.slope, fit.low, fit.high, fit.intercept) == pytest.approx(
        (theta[0], theta[0] - half, theta[0] + half, theta[1]))

def test_scaling_draws_medians_and_their_law():
    frame = pd.concat([runs(m, [c*e**-2*f for f in (.5, 1, 2)], eps=e) for m,
                       c in (('a', 1), ('b', 9)) for e in (.1, .2, .4)])
    ax = plot_scaling(frame, 'eps', Figure().subplots(), bars='range', bound=lambda e: 100/e**2)
    for c, m, points in zip((1, 9), 'ab', [x for x in ax.containers if not isinstance(x, tuple)
                                           or x[0] is not None]):
        assert points[0].get_ydata() == pytest.approx([100*c, 25*c, 6.25*c])
        assert [tuple(s[:, 1]) for s in points[2][0].get_segments()] == [
            pytest.approx((50*c, 200*c)),
            pytest.approx((12.5*c, 50*c)),
            pytest.approx((3.125*c, 12.5*c))
        ]
        assert points.get_label().startswith(f'{m}: slope -2.00 (95 %: -2.00 to -2.00)')
    assert ax.get_lines()[-1].get_ydata() == pytest.approx(100/ax.get_lines()[-1].get_xdata()**2)

# --- Heat maps ------------------------------------------------------------------------

def table():
    rng = generator(2206)
    return pd.concat([runs(m, np.ceil(10**rng.uniform(.1, 7, 5)), world=w) for m in ('x', 'y', 'z')
                      for w in ('u', 'v', 's', 't')])

def test_heatmap_numbers_and_colours():
    frame = table()
    ax = plot_heatmap(frame, Figure().subplots())
    medians = frame.groupby(['method', 'world'], sort=False).rounds.median().to_numpy()
    sheet = ax.collections[0]
    assert np.asarray(sheet.get_array()).ravel() == pytest.approx(medians)
    for text, v in zip(ax.texts, medians):
        assert text.get_text() == _count(v)
        assert contrast(text.get_color(), sheet.cmap(sheet.norm(v))) >= 4.5
    assert [t.get_text() for t in ax.get_xticklabels()] == ['u', 'v', 's', 't']
    assert sheet.norm(medians.min()) == 0
    assert sheet.norm(medians.max()) == 1

# --- Legible --------------------------------------------------------------------------

def drawings():
    frame = pd.concat([runs(m, np.arange(6)*n + 20, eps=e, budget=10/e, regret=np.arange(6)/20,
                            normal_rounds=5, forced_rounds=9) for m,
                       n in (('first', 3), ('second', 11)) for e in (.1, .2, .4)])
    z, ten = CLINIC.setting, np.array([(i, j, 3 - i - j) for i in range(4) for j in range(4 - i)])/3
    return dict(convex=lambda ax=None: plot_rule(ORACLE.rules[2], z, ax),
                simplex=lambda ax=None: plot_rule(spherical(ten), ax=ax),
                beliefs=lambda ax=None: plot_beliefs(CLINIC, ax),
                plane=lambda ax=None: plot_plane(CLINIC, ORACLE.rules, ax,
                                                 labels=[f'rule for {a}' for a in z.arms]),
                profits=lambda ax=None: plot_profits(RUN, WORLD.setting, ax, [.7, .77]),
                error=lambda ax=None: plot_error(frame, ax),
                scaling=lambda ax=None: plot_scaling(frame, 'eps', ax, bound=lambda e: 900/e),
                heatmap=lambda ax=None: plot_heatmap(table(), ax))

@pytest.mark.parametrize('name', drawings())
def test_draws_where_it_is_told(name):
    before, mine = plt.get_fignums(), Figure().subplots()
    assert drawings()[name](mine) is mine and plt.get_fignums() == before
