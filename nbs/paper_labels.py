r"""The numbers that the paper prints, from its source, by LaTeX's own rules.

    python nbs/paper_labels.py PATH/paper.tex       writes nbs/paper/labels.json

LaTeX counts sections (letters after `\appendix`), each kind of statement by itself, floats by
their captions, the lines of a listing, and the rows of an `align` that don't say `\nonumber`.
A reference in the book is checked against this table, so it can't name what the paper doesn't
print.
"""
import json
import re
import sys
from pathlib import Path

TABLE = Path(__file__).resolve().parent/'paper'/'labels.json'
STATEMENTS = ('assumption', 'example', 'definition', 'remark', 'theorem', 'corollary', 'lemma')
FLOATS = {'algorithm': 'Algorithm', 'algorithm*': 'Algorithm', 'table': 'Table'}
LISTED = r'\\(?:STATE|FOR|ENDFOR|WHILE|ENDWHILE|IF|ELSE|ENDIF)\b'
LABEL = re.compile(r'\\label\{([^}]*)\}')
TOKEN = re.compile(
    r'\\(?P<appendix>appendix)\b|\\(?P<level>(?:sub)?section)\{|'
    r'\\begin\{(?P<begin>[a-z]+\*?)\}|\\end\{(?P<end>[a-z]+\*?)\}|'
    r'\\caption\{|\\label\{(?P<label>[^}]*)\}')
PROVED = re.compile(r'Proof of (?:\w+) *\\ref\{([^}]*)\}')
# Words of a proof that name a statement without using it.
NAMED_ONLY = re.compile(r'(?:finish|completes|concludes|following) (?:the )?proof of '
                        r'\w+ ?\\ref\{[^}]*\}')
# What a proof uses by other words than a reference ("the previous result").
UNSAID = {'Corollary 1': ['Lemma 13'], 'Corollary 2': ['Theorem 2'], 'Lemma 9': ['Lemma 2'],
          'Theorem 2': ['Lemma 14']}
REFERENCE = re.compile(r'\\(?:eq)?ref\{([^}]*)\}')

def plain(tex):
    "The source as LaTeX reads it: one text, its parts in the order of \\\\input, no comments."
    parts = dict(re.findall(r'(?ms)^%% file: (\w+)\.tex$(.*?)(?=^%% file: |\Z)', tex))
    whole = parts.pop('Main', tex)
    for part, text in parts.items():
        whole = whole.replace(rf'\input{{{part}}}', text)
    return re.sub(r'(?<!\\)%.*', '', whole)

def braced(text, start):
    "What stands in the braces that open just before `start`."
    depth, i = 1, start
    while depth:
        depth += {'{': 1, '}': -1}.get(text[i], 0)
        i += 1
    return text[start:i - 1]

def rows(body):
    "The rows of an align: a `\\\\` inside an inner environment ends none."
    depth, found, last = 0, [], 0
    for m in re.finditer(r'\\begin\{|\\end\{|\\\\', body):
        if m[0] == r'\\' and depth == 0:
            found.append(body[last:m.start()])
            last = m.end()
        depth += {r'\begin{': 1, r'\end{': -1}.get(m[0], 0)
    return [*found, body[last:]]

def count(tex):
    "The numbered things of the source, in their order: dicts of kind, number, label and more."
    tex = plain(tex)
    numbers = dict.fromkeys(['section', 'subsection', 'equation', *STATEMENTS,
                             *FLOATS.values()], 0)
    found, open_items, appendix = [], [], False

    def add(kind, number, **more):
        found.append(dict(kind=kind, number=number, label=None) | more)
        return found[-1]

    for m in TOKEN.finditer(tex):
        if m['appendix']:
            appendix = True
            numbers['section'] = 0
        elif level := m['level']:
            numbers[level] += 1
            if level == 'section':
                numbers['subsection'] = 0
            top = chr(64 + numbers['section']) if appendix else str(numbers['section'])
            number = top if level == 'section' else f"{top}.{numbers['subsection']}"
            add('appendix' if appendix else 'section', number, title=braced(tex, m.end()))
            open_items.clear()
        elif (name := m['begin']) in STATEMENTS:
            numbers[name] += 1
            open_items.append(add(name.capitalize(), str(numbers[name])))
        elif name in FLOATS:
            open_items.append(dict(kind=FLOATS[name]))
        elif name == 'align':
            body = tex[m.end():tex.index(r'\end{align}', m.end())]
            for row in rows(body):
                label = LABEL.search(row)
                if r'\nonumber' in row:
                    add('eq.', None, label=label[1] if label else None)
                    continue
                numbers['equation'] += 1
                add('eq.', str(numbers['equation']), label=label[1] if label else None)
        elif m[0] == r'\caption{':
            kind = open_items[-1]['kind']
            numbers[kind] += 1
            item = add(kind, str(numbers[kind]))
            if kind == 'Algorithm':
                listing = tex[m.end():tex.index(r'\end{algorithmic}', m.end())]
                item['lines'] = len(re.findall(LISTED, listing))
            open_items[-1] = item
        elif m['end'] in (*STATEMENTS, *FLOATS):
            open_items.pop()
        elif m['label'] and not in_align(tex, m.start()):
            (open_items or found)[-1]['label'] = m['label']
    return [f for f in found if f['number'] or f['label']]

def in_align(tex, place):
    return tex.count(r'\begin{align}', 0, place) > tex.count(r'\end{align}', 0, place)

def name(item):
    "What a reader calls it: Lemma 4, section 3.1, eq. (27)."
    number = f"({item['number']})" if item['kind'] == 'eq.' else item['number']
    return f"{item['kind']} {number}"

def proofs(tex):
    "{label of a statement: the source of its proof}, by `proof` or by a section about it alone."
    tex, found = plain(tex), {}
    for m in re.finditer(r'\\begin\{proof\} ?\[([^]]*)\](.*?)\\end\{proof\}', tex, re.S):
        found[PROVED.search(m[1])[1]] = m[2]
    for m in re.finditer(r'\\section\{Proof of Corol?la?r?y? *\\ref\{([^}]*)\}\}(.*?)'
                         r'(?=\\section\{|\Z)', tex, re.S):
        found[m[1]] = m[2]
    return found

def uses(tex, items):
    """{statement: the statements that its proof refers to}, an equation standing for the
    statement that it belongs to."""
    named = {f['label']: name(f) for f in items if f['label'] and f['kind'] in (
        'Lemma', 'Theorem', 'Corollary')}
    owner = dict(named)
    text = proofs(tex)
    for label, body in text.items():
        owner |= dict.fromkeys(LABEL.findall(body), named[label])
    found = {}
    for label, body in text.items():
        wanted = [owner[r] for r in REFERENCE.findall(NAMED_ONLY.sub('', body)) if r in owner]
        wanted += UNSAID.get(named[label], [])
        found[named[label]] = [w for w in dict.fromkeys(wanted) if w != named[label]]
    return found

def table(tex):
    items = count(tex)
    return dict(items=items, uses=uses(tex, items))

def as_text(table):
    lines = [json.dumps(item, ensure_ascii=False) for item in table['items']]
    used = [f'{json.dumps(k)}: {json.dumps(v)}' for k, v in sorted(table['uses'].items())]
    return ('{"items": [\n' + ',\n'.join(lines) + '\n],\n"uses": {\n' + ',\n'.join(used)
            + '\n}}\n')

if __name__ == '__main__':
    source = Path(sys.argv[1]).read_text(encoding='utf-8')
    TABLE.write_text(as_text(table(source)), encoding='utf-8')
