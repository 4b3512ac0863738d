"""A small Sphinx extension: the first use of each term of the glossary in a chapter's prose is a
link to its entry.  The notebooks stay plain text."""
import re

from docutils import nodes
from sphinx.addnodes import pending_xref

# What a chapter's text says for a term, where that isn't the term or its plural: other forms, and
# for words that have an everyday meaning too, the company in which they don't.
FORMS = {
    'answer': None,                                                 # mostly a verb
    'agent': r'agents?|experts?',
    'band': r'(?:a|the) band(?= )',
    'calibration': r'calibrat(?:ion|ed)',
    'cut': None,
    'examination': r'(?:the|closing|an) examination',
    'guess': None,                                                  # mostly an arm of the clinic
    'statement': None,                                              # mostly of a theorem
    'deviation': r'(?<!standard )deviat(?:es?|ed|ions?)',
    'event': r'(?:good|the) event',
    'forced exploration': r'forced (?:exploration|rounds?)',
    'incentive compatibility': r'incentive[ -]compatib(?:ility|le)',
    'implementable': r'implement(?:able|s|ed|ing)',
    'indifference hyperplane': r'(?:indifference )?hyperplanes?',
    'lexicographic tie-breaking': r'lexicographic(?:ally)?(?: tie-breaking)?',
    'lower confidence bound (LCB)': r'lower confidence bounds?|LCBs?',
    'margin': r"oracle's margins?|margins? of the oracle|widest margin",
    'normal round': r'normal rounds?|exploitation rounds?',
    'optimism': r'optimis(?:m|tic)',
    'oracle': r'(?:action-informed )?oracles?',
    'prior': r'priors?(?! to)',
    'proper scoring rule': r'proper (?:scoring )?rules?|properness',
    'confidence radius': r'(?:confidence )?(?:radius|radii)',
    'region': r'regions?(?= (?:of|in|where|\$)| V)|(?:outer|inner) regions?',
    'report': r'the reports?',
    'setting': r'public setting',
    'state': r'(?:true|two|three|four|number of) states?',
    'support': r'(?:the|its|a|whose|open|finite) support(?! of th)|supports of',
    'truthful tie-breaking': r'truthful tie-breaking|truth on ties',
    'target': r'target accuracy|(?:loose|same|looser) targets?',
    'upper confidence bound (UCB)': r'upper confidence bounds?|UCBs?(?!-LP)',
}

def form(term):
    "The pattern by which a term is found in text, or None if it isn't looked for."
    if term in FORMS:
        return FORMS[term]
    plural = f'{re.escape(term[:-1])}(?:y|ies)' if term.endswith('y') else f'{re.escape(term)}s?'
    return plural.replace(r'\ ', r'\s+')

class Finder:
    "Finds terms in text, each once; the longer of two that begin at the same place."
    def __init__(self, terms):
        self.left = {term: form(term) for term in sorted(terms, key=lambda t: (-len(t), t))}
        self.left = {term: f for term, f in self.left.items() if f}
        self.update()

    def update(self):
        self.names = list(self.left)
        either = '|'.join(f'({f})' for f in self.left.values())
        self.pattern = re.compile(rf'(?<![\w-])(?:{either})(?![\w-])', re.I) if either else None

    def next(self, text):
        "(term, start, end) of the first term in the text that wasn't found before, or None."
        m = self.pattern and self.pattern.search(text)
        if not m:
            return None
        term = self.names[m.lastindex - 1]
        del self.left[term]
        self.update()
        return term, m.start(), m.end()

# Where a link would be out of place
NOT_PROSE = (nodes.FixedTextElement, nodes.literal, nodes.math, nodes.math_block, nodes.title,
             nodes.subtitle, nodes.reference, nodes.caption, nodes.table, nodes.raw, nodes.term,
             nodes.citation, nodes.footnote, nodes.rubric, nodes.label, pending_xref)

def is_prose(text):
    "Whether a text node is part of a paragraph and of nothing that isn't to be linked."
    node, paragraph = text.parent, False
    while node is not None:
        if isinstance(node, NOT_PROSE) or 'cell' in node.get('classes', []):
            return False
        paragraph = paragraph or isinstance(node, nodes.paragraph)
        node = node.parent
    return paragraph

def link(text, finder, place):
    "Replaces a text node by text and links; `place(term)` is the address of an entry."
    parts, rest = [], text.astext()
    while found := finder.next(rest):
        term, start, end = found
        parts += [nodes.Text(rest[:start]),
                  nodes.reference('', rest[start:end], internal=True, refuri=place(term),
                                  classes=['term'])]
        rest = rest[end:]
    if parts:
        text.parent.replace(text, [p for p in (*parts, nodes.Text(rest)) if p.astext()])

def link_terms(app, doctree, docname):
    "Links the terms of a chapter, that is of a page whose name begins with a number."
    if not re.match(r'\d\d_', docname.rsplit('/', 1)[-1]):
        return
    entries = {name: place for (kind, name), place in
               app.env.get_domain('std').objects.items() if kind == 'term'}
    def place(term):
        page, anchor = entries[term]
        return f'{app.builder.get_relative_uri(docname, page)}#{anchor}'
    finder = Finder(entries)
    for text in list(doctree.findall(nodes.Text)):
        if is_prose(text):
            link(text, finder, place)

def setup(app):
    app.connect('doctree-resolved', link_terms)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
