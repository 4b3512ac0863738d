"What figures draw is what they say: regions of arms, beyond what the chapter shows."
import numpy as np
from matplotlib.path import Path
from oia_nb.all import ScoringRule, agent_profit, generator, make_world, menu_rule
from oia_nb.show.plots import CORNERS, largest_region

def test_regions_are_where_the_agent_answers():
    "A mixture of three proper rules lies in the polygon of the arm that answers it, and no other."
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
