"""What objects show: small HTML without a script, in both themes; a text of a few lines; names of
arms, money in its currency, and the certificate beside its target."""
import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser

import numpy as np
import pytest
from oia_nb.all import (InvalidInput, ScoringRule, Session, action_informed_oracle, brier,
                        compare, forecast_rounds, identify, load_world, make_world,
                        optimal_rule, random_world)
from oia_nb.paper.estimation import PAST
from oia_nb.show.facts import ROWS_SHOWN, arm_facts, sensible, three_digits
from oia_nb.run.learner import result_facts
from oia_nb.show.views import Card, session_facts

clinic, wine = load_world('clinic'), load_world('wine')
BEST = {w.name: optimal_rule(w) for w in (clinic, wine)}
ORACLE = action_informed_oracle(clinic)

def last_plan():
    plans = []
    identify(clinic, eps=3.5, delta=.1, seed=0, method='oiafc', watch=plans.append, max_rounds=5)
    return plans[-1]

found = cache(lambda: identify(clinic, eps=.25, delta=.05, seed=0))
NASTY = '<b>&"\''
nasty = make_world([[[.40, .10], [.10, .40]], [[.45, .05], [.05, .45]]], costs=[0., .02],
                   utility=[[1., 0.], [0., 1.]], bound=1., name=NASTY, arms=[NASTY, 'better'],
                   states=[NASTY, 'up'], decisions=[NASTY, 'buy'])
MANY = random_world(30, 3, 4, seed=1)

@pytest.fixture(scope='module')
def session(tmp_path_factory):
    path = tmp_path_factory.mktemp('s')/'s.jsonl'
    with Session.create(path, clinic, ORACLE, eps=1., delta=.1, currency='€') as s:
        s.announce()
        s.answer('palpation', belief=int(clinic.belief_index[0][0]), state='benign')
        s.announce()
        yield s

# beside what the chapter shows; made when asked for, and not by every process that collects these
SHOWN = dict(
    plan=last_plan, forecast=lambda: forecast_rounds(clinic, .5, .1),
    wine=lambda: wine, wine_rule=lambda: BEST['wine'].rule, wine_best=lambda: BEST['wine'],
    nasty=lambda: nasty, many=lambda: MANY, many_rule=lambda: brier(MANY.setting.support),
    many_best=lambda: optimal_rule(nasty), trace=lambda: found().trace,
    rounded=lambda: BEST['clinic'].rule.rounded(3, clinic),
    compared=lambda: compare([nasty], eps=3., delta=.1, methods=['sharp'], repetitions=1,
                             n_jobs=0))

class Strict(HTMLParser):
    "Tags that are closed in the order in which they were opened, and no script."
    EMPTY = {'line', 'circle', 'path', 'polyline', 'meta', 'input'}
    def __init__(self, text):
        super().__init__()
        self.open, self.text, self.seen = [], [], set()
        self.feed(text)
        assert not self.open, self.open
    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        assert tag not in ('script', 'iframe') and not any(k.startswith('on') for k, _ in attrs)
        if tag not in self.EMPTY:
            self.open.append(tag)
    def handle_endtag(self, tag):
        if tag not in self.EMPTY:
            assert self.open.pop() == tag
    def handle_data(self, data):
        self.text.append(data)

def check(x):
    "A view is small, has no address, and in both themes no colour but the page's own."
    html = x._repr_html_()
    assert len(html.encode()) < 15_000 and 'http' not in html
    assert repr(x).count('\n') < 9 and len(repr(x)) < 1500
    assert 'background' not in html and 'fill="black"' not in html and 'currentColor' in html
    return Strict(html)

@pytest.mark.parametrize('name', SHOWN)
def test_views(name):
    check(SHOWN[name]())

def test_names_and_numbers():
    r = found()
    said = ' '.join(check(r).text)
    for text in (*clinic.setting.arms, f'{r.rounds:,} (', 'target 0.25',
                 three_digits(r.certificate.bound, True), 'probability 95 %', sensible(r.paid)):
        assert text in said and text in repr(r), text
    assert NASTY in ' '.join(check(nasty).text)
    assert f'… and {30 - ROWS_SHOWN} more' in ' '.join(check(MANY).text)
    assert 'svg' in check(BEST['clinic']).seen and 'svg' not in check(BEST['wine']).seen
    assert all(a in repr(BEST['wine']) for a in wine.setting.arms)
    assert all(f'{m:.4g}' in ORACLE._repr_html_() for m in ORACLE.margins)

def test_what_text_calls_nothing_is_no_sum_in_html():
    "A payment that is nothing but rounding is nothing in both."
    menu = ScoringRule([[2e-15, .1], [.06, 0.]], [[.2, .8], [.8, .2]], 1.).menu()
    z = make_world([np.eye(2)/2]*2, [0., 0.], np.eye(2), 1.).setting
    assert 'e-' not in menu._repr_html_() and 'e-' not in menu.text(z)

def test_facts_are_the_same_everywhere(session, oia):
    "In text, in HTML, and for programs; and the keys are those of the documents."
    run, stands = result_facts(found()), session_facts(session)
    for facts, shown in ((arm_facts(wine, BEST['wine']), BEST['wine']), (run, found()),
                         (stands, session)):
        labels, rows = facts.texts()
        html = ' '.join(Strict(shown._repr_html_()).text)
        text = ' '.join((facts.table() if len(rows) > 1 else facts.lines()).split())
        for cell in (c for row in rows for c in row if c):
            assert cell in html and ' '.join(cell.split()) in text, cell
    assert run.plain()[0]['bound'] == found().to_dict()['certificate']['bound']
    printed = oia.json('session status', session.journal.path)[0]
    assert all(printed[k] == v for k, v in stands.plain()[0].items() if k != 'bound')
    said, offer = ' '.join(check(session).text), session.announce()
    assert '€' in said and 'palpation' in said and 'benign' in said
    assert '€' in ' '.join(check(offer).text) and repr(offer).startswith('Offer(round 2')

def test_a_card(tmp_path):
    card = BEST['wine'].rule.card(wine.setting, currency='€', title=NASTY, digits=2)
    assert isinstance(card, Card)
    # the page of a sheet has a script of its own, which its view doesn't
    Strict(card.shown)
    page = re.sub('(?s)<script>.*?</script>', '', card.html)
    said = ' '.join(Strict(re.sub(' on[a-z]+="[^"]*"', '', page)).text)
    assert NASTY in said and '€' in said and all(w in said for w in wine.setting.states)
    card.save(tmp_path/'card.html')
    assert (tmp_path/'card.html').read_text(encoding='utf-8') == card.html
    with pytest.raises(InvalidInput, match='setting'):
        BEST['wine'].rule.card(clinic.setting)

def test_frames():
    f, trace = found().to_frame(), found().trace
    assert set(f.arm) <= set(clinic.setting.arms) and (trace.to_frame().arm == trace.arms).all()
    past = replace(trace, kinds=np.full(found().rounds, PAST))
    assert set(f.kind) <= {'initial', 'normal', 'forced'} and {*past.to_frame().kind} == {'past'}
    with pytest.raises(InvalidInput, match='the setting of the run'):
        trace.to_frame(nasty.setting)
