"A right script, as a user would write it: mypy finds nothing in it. It isn't run."
from typing import assert_type
import numpy as np
import oia_nb
from oia_nb.all import *

clinic = load_world('clinic')
best = optimal_rule(clinic)
assert_type(best.profit, float)
pay: float = best.rule.pay([.5, .5], 0)
q: np.ndarray = clinic.belief_distributions
less = clinic.without('biopsy')
less.save('less.json')
clinic.setting.index([.5, .5])
u: np.ndarray = clinic.setting.belief_utility
menu = best.rule.menu()
print(menu.text(clinic.setting))
rule = ScoringRule([[1., 0.], [0., 1.]], [[1., 0.], [0., 1.]], 1.)
z = Setting([[.5, .5], [.1, .9]], [[1, 0], [0, 1]], 1., ['a', 'b'])
names: str = z.states[0]
found = identify(clinic, eps=.1, delta=.05, seed=0)
found.save('f.json')
assert_type(oia_nb.identify(clinic, eps=.1, delta=.05).rule, ScoringRule)
found.to_frame()
if found.certificate:
    print(found.certificate.bound)
with Session.create('s.jsonl', clinic, eps=1., delta=.1) as s:
    offer = s.announce()
    s.answer('imaging', [.5, .5])
    print(s.status, s.paid, s.best, offer.sheet())
card = best.rule.card(clinic.setting, currency='€')
card.save('x')
coin = make_world([[[.4, .1], [.1, .4]], [[.45, .05], [.05, .45]]], [0, .02], [[1, 0], [0, 1]], 1.)
frame = forecast(clinic, eps=.1, delta=.1)
steps = sharp(z, action_informed_oracle(clinic), eps=.1, delta=.1)
first: ScoringRule = next(steps)
steps.send(Response(0, (.5, .5), 0))
