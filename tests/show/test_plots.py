"What figures draw is what they say: regions of arms, beyond what the chapter shows."
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.path import Path
from oia_nb.all import (ScoringRule, action_informed_oracle, agent_profit, generator, identify,
                        load_world, make_world, menu_rule, plot_profits, plot_rule, spherical)
from oia_nb.show.plots import CORNERS, largest_region, plot_beliefs

WORLD = make_world([[[.42, .13], [.28, .17]], [[.65, .05], [.05, .25]]], [0., .05],
                   [[1., .3], [0., 1.]], 1., arms=['glance', 'study'], states=['sound', 'faulty'])

def test_regions_are_where_the_agent_answers():
    """One polygon a mixture of three rules, that of the arm that answers it: with two to five arms,
    two to four states, and three proper rules, not all of the oracle's kind."""
    for seed in range(12):
        rng = generator(2201, seed)
        K, W = int(rng.integers(2, 6)), int(rng.integers(2, 5))
        joint = [rng.dirichlet(np.ones(3*W)).reshape(3, W) for _ in range(K)]
        w = make_world(joint, rng.uniform(0, .08, K), rng.uniform(0, 1, (W, 3)), 1.)
        rules = [menu_rule(w.setting.support, rng.uniform(0, 1, (4, W)), 1.) for _ in range(3)]
        g = np.stack([agent_profit(w, r) for r in rules], 1)
        parts = [Path(p @ CORNERS) if len(p) else None
                 for p in (largest_region(g, k) for k in range(len(g)))]
        for weights in rng.dirichlet(np.ones(3), 60):
            values = sum(x*r.values for x, r in zip(weights, rules))
            arm = w.best_response(ScoringRule(np.minimum(values, 1.), rules[0].support, 1.))
            assert [k for k, p in enumerate(parts)
                    if p and p.contains_point(weights @ CORNERS)] == [arm]

def test_draws_where_it_is_told():
    clinic = load_world('clinic')
    run = identify(WORLD, method='oiafc', eps=1., delta=.1, budget=400, seed=0)
    before = plt.get_fignums()
    for draw in (lambda ax: plot_rule(action_informed_oracle(clinic).rules[2], clinic.setting, ax),
                 lambda ax: plot_rule(spherical(np.eye(3)), ax=ax),
                 lambda ax: plot_beliefs(clinic, ax),
                 lambda ax: plot_profits(run, WORLD.setting, ax, [.7, .77])):
        mine = Figure().subplots()
        assert draw(mine) is mine and plt.get_fignums() == before
