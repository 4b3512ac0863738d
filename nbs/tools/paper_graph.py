"""A small Sphinx extension: the picture of which statement of the paper needs which.

What a proof refers to is read from the paper's source (`uses` in paper/labels.json); the verdicts
come from the ledger.  A statement stands one row below the lowest one that it needs, and a line
that passes a row gets a place of its own there, so that it passes no statement.
"""
from html import escape

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from paper_refs import CLASSES, MARKS, anchor, table, verdict

KINDS = 'Lemma', 'Theorem', 'Corollary'
WIDTH, STEP = 420, 74           # of the drawing, and from row to row
BOX, LANE, HIGH = 104, 18, 30   # the width of a statement and of a passing line; a box's height
SWEEPS = 12

def needs():
    "{statement: the statements that its proof needs}, for lemmas, theorems and corollaries."
    every = [f"{i['kind']} {i['number']}" for i in table()['items'] if i['kind'] in KINDS]
    return {name: table()['uses'].get(name, []) for name in every}

def levels(needs):
    "{statement: its row}, counted from those that need nothing."
    found = {}
    def level(name):
        if name not in found:
            found[name] = 1 + max(map(level, needs[name]), default=-1)
        return found[name]
    for name in needs:
        level(name)
    return found

def lines(needs, level):
    "{(lower row's place, upper row's place)}: a line from row to row, by lanes between."
    found = []
    for name, wanted in needs.items():
        for used in wanted:
            lane = [used, *((used, name, i) for i in range(level[used] + 1, level[name])), name]
            found.append(lane)
    return found

def arranged(needs):
    "{place: (x, y)} of statements and lanes, and the lines as lists of places."
    level = levels(needs)
    paths = lines(needs, level)
    rows = [[n for n in needs if level[n] == i] for i in range(max(level.values()) + 1)]
    near = {}
    for path in paths:
        for place, i in zip(path, range(level[path[0]], level[path[-1]] + 1)):
            if place not in rows[i]:
                rows[i].append(place)
        for a, b in zip(path, path[1:]):
            near.setdefault(a, []).append(b)
            near.setdefault(b, []).append(a)
    x = {}
    def spread(row):
        widths = [LANE if isinstance(p, tuple) else BOX for p in row]
        gap = (WIDTH - sum(widths))/(len(row) + 1)
        left = gap
        for place, width in zip(row, widths):
            x[place] = left + width/2
            left += width + gap
    for row in rows:
        spread(row)
    for sweep in range(SWEEPS):
        for row in (rows if sweep % 2 == 0 else rows[::-1]):
            row.sort(key=lambda p: sum(x[q] for q in near.get(p, [p]))/len(near.get(p, [p])))
            spread(row)
    return {p: (x[p], HIGH + STEP*i) for i, row in enumerate(rows) for p in row}, paths

def curve(points):
    "A smooth path from the foot of the first box to the head of the last."
    (x, y), *rest = points
    d = f'M{x:.0f} {y + HIGH/2:.0f}'
    y += HIGH/2
    for i, (x1, y1) in enumerate(rest):
        end = y1 - (HIGH/2 + 5 if i == len(rest) - 1 else 0)
        half = (y + end)/2
        d += f'C{x:.0f} {half:.0f} {x1:.0f} {half:.0f} {x1:.0f} {end:.0f}'
        x, y = x1, end
    return d

def in_words(needs):
    said = '; '.join(f'{name} needs {", ".join(wanted)}' for name, wanted in needs.items()
                     if wanted)
    return f'Which statement needs which. {said}.'

def drawing(href):
    "The picture as SVG; `href(name)` is where a statement's box leads."
    wanted = needs()
    places, paths = arranged(wanted)
    high = max(y for _, y in places.values()) + HIGH
    parts = [f'<svg class="lemma-graph" viewBox="0 0 {WIDTH} {high:.0f}" role="group" '
             f'aria-label="{escape(in_words(wanted))}" xmlns="http://www.w3.org/2000/svg">',
             '<defs><marker id="lemma-graph-tip" viewBox="0 0 8 8" refX="4" refY="4" '
             'markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z"/>'
             '</marker></defs>']
    parts += [f'<path class="line" marker-end="url(#lemma-graph-tip)" '
              f'd="{curve([places[p] for p in path])}"/>' for path in paths]
    for name in wanted:
        x, y = places[name]
        said = verdict(name)
        parts.append(
            f'<a href="{escape(href(name))}" class="verdict-{CLASSES[said]}">'
            f'<title>{name}: {said}</title>'
            f'<rect x="{x - BOX/2:.0f}" y="{y - HIGH/2:.0f}" width="{BOX}" height="{HIGH}" '
            f'rx="5"/><text x="{x:.0f}" y="{y + 5:.0f}">{MARKS[said]} {name}</text></a>')
    return '\n'.join([*parts, '</svg>'])

class lemma_graph(nodes.General, nodes.Element):
    pass

class LemmaGraph(SphinxDirective):
    def run(self):
        figure = nodes.container(classes=['lemma-figure'])
        figure += lemma_graph()
        keys = ', '.join(f'{{verdict}}`{v}`' for v in MARKS)
        figure += self.parse_text_to_nodes(
            'An arrow leads from a statement to one whose proof refers to it; a box is a link. '
            f'The weightiest verdict on a statement gives its mark and its border: {keys}. '
            '{paper}`Lemma 1` stands by itself: it is what lets the whole paper speak of proper '
            'rules only.')
        return [figure]

def draw(app, doctree, docname):
    for node in list(doctree.findall(lemma_graph)):
        known = app.env.get_domain('std').anonlabels
        def href(name):
            page, place = known[anchor(name)]
            return f'{app.builder.get_relative_uri(docname, page)}#{place}'
        node.replace_self(nodes.raw('', drawing(href), format='html'))

def setup(app):
    app.add_node(lemma_graph)
    app.add_directive('lemma-graph', LemmaGraph)
    app.connect('doctree-resolved', draw)
    return {'parallel_read_safe': False, 'parallel_write_safe': False}
