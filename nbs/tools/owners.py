"""A small Sphinx extension: every numbered statement says in its title whose it is, and the build
fails where one doesn't."""
from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.util import logging
from sphinx_proof.nodes import NODE_TYPES, unenumerable_node

logger = logging.getLogger(__name__)

# The class of a directive `{prf:…}`, and the words in its title
OWNERS = {'paper': 'Paper', 'corrected': 'Paper, corrected', 'known': 'Known', 'ours': 'Ours'}
BOXES = (*NODE_TYPES.values(), unenumerable_node)

def complaint(box):
    "What is wrong with the owner of a statement, or None."
    owners = [c for c in box['classes'] if c in OWNERS]
    if len(owners) != 1:
        return (f"{' and '.join(owners) or 'no owner'}: a statement has exactly one of "
                f":class: {'|'.join(OWNERS)}")
    cited = any(x['refdomain'] == 'cite' for x in box.findall(pending_xref))
    if owners == ['known'] and not cited:
        return 'a known statement names its source by {cite:t} or {cite:p}'

def mark(app, doctree):
    "Puts the owner's name at the end of each title."
    for box in doctree.findall(lambda node: isinstance(node, BOXES)):
        if wrong := complaint(box):
            logger.warning('%s: %s', box['label'], wrong, location=box, type='owners')
            continue
        owner = next(c for c in box['classes'] if c in OWNERS)
        title = box.next_node(nodes.title)
        title += nodes.Text(' ')
        title += nodes.inline('', OWNERS[owner], classes=['owner'])

def setup(app):
    app.connect('doctree-read', mark)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
