"""What the figures draw is what they say: regions, slopes and intervals."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.path import Path
from scipy.stats import binom
from oia_nb.all import (ScoringRule, action_informed_oracle, agent_profit, generator, identify,
                        load_world, make_world, menu_rule, plot_profits, plot_rule, spherical)
from oia_nb.run.runs import fit_exponent, run_values, share_interval
from oia_nb.show.plots import CORNERS, largest_region, plot_beliefs, plot_scaling

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

def test_regions_are_where_the_agent_answers():
    "One polygon a mixture of three rules, that of the arm that answers it."
    for w, rules, rng in random_worlds():
        g = np.stack([agent_profit(w, r) for r in rules], 1)
        parts = [Path(p @ CORNERS) if len(p) else None
                 for p in (largest_region(g, k) for k in range(len(g)))]
        for weights in rng.dirichlet(np.ones(3), 60):
            values = sum(x*r.values for x, r in zip(weights, rules))
            arm = w.best_response(ScoringRule(np.minimum(values, 1.), rules[0].support, 1.))
            assert [k for k, p in enumerate(parts)
                    if p and p.contains_point(weights @ CORNERS)] == [arm]

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
    ax = plot_scaling(frame, 'eps', Figure().subplots(), bars='range')
    for c, m, points in zip((1, 9), 'ab', [x for x in ax.containers if not isinstance(x, tuple)
                                           or x[0] is not None]):
        assert points[0].get_ydata() == pytest.approx([100*c, 25*c, 6.25*c])
        assert [tuple(s[:, 1]) for s in points[2][0].get_segments()] == [
            pytest.approx((50*c, 200*c)),
            pytest.approx((12.5*c, 50*c)),
            pytest.approx((3.125*c, 12.5*c))
        ]
        assert points.get_label().startswith(f'{m}: slope -2.00 (95 %: -2.00 to -2.00)')

# --- Legible --------------------------------------------------------------------------

def drawings():
    frame = pd.concat([runs(m, np.arange(6)*n + 20, eps=e) for m, n in (('one', 3), ('two', 11))
                       for e in (.1, .2, .4)])
    z, ten = CLINIC.setting, np.array([(i, j, 3 - i - j) for i in range(4) for j in range(4 - i)])/3
    return dict(convex=lambda ax=None: plot_rule(ORACLE.rules[2], z, ax),
                simplex=lambda ax=None: plot_rule(spherical(ten), ax=ax),
                beliefs=lambda ax=None: plot_beliefs(CLINIC, ax),
                profits=lambda ax=None: plot_profits(RUN, WORLD.setting, ax, [.7, .77]),
                scaling=lambda ax=None: plot_scaling(frame, 'eps', ax))

@pytest.mark.parametrize('name', drawings())
def test_draws_where_it_is_told(name):
    before, mine = plt.get_fignums(), Figure().subplots()
    assert drawings()[name](mine) is mine and plt.get_fignums() == before
