"""Exports the notebooks: python nbs/export.py

A chapter attaches a method where it explains it (`patch_to`).  In the module that nbdev makes of
the chapter, the method stands in its class, so that readers, editors and type checkers see the
class whole.  Methods of a class from another module stay where they are.

nbdev 2 reads settings.ini, and nbdev 3 the table `tool.nbdev` of pyproject.toml, which is written
here from settings.ini.
"""
import ast
import json
import os
import re
from configparser import ConfigParser
from pathlib import Path
from textwrap import fill, indent
from nbdev.doclinks import nbdev_export

def names(nodes, use):
    "The names that the nodes read (`ast.Load`) or set (`ast.Store`)."
    return {n.id for node in nodes if node for n in ast.walk(node)
            if isinstance(n, ast.Name) and isinstance(n.ctx, use)}

def owner(node):
    "The class that a function is attached to, or None."
    found = [re.fullmatch(r'patch_to\((\w+)\)', ast.unparse(d))
             for d in getattr(node, 'decorator_list', ())]
    return next((m[1] for m in found if m), None)

def sets(node):
    "The names that a statement sets; classes, which stay where they are, and methods aside."
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {(a.asname or a.name).split('.')[0] for a in node.names}
    if isinstance(node, ast.FunctionDef) and not owner(node):
        return {node.name}
    return names([node], ast.Store) if isinstance(node, ast.Assign) else set()

def reads(node):
    "The names that must be known where a statement stands."
    if not isinstance(node, ast.FunctionDef):
        return names([node], ast.Load)
    args = node.args
    return names([*node.decorator_list, *args.defaults, *args.kw_defaults], ast.Load) - {'patch_to'}

def place(node, lines):
    "(first, end) of a statement with its decorators, and with the comment right above it."
    first = min([node.lineno, *(d.lineno for d in getattr(node, 'decorator_list', ()))]) - 1
    while re.match(r'#(?! %%)', lines[first - 1]):
        first -= 1
    return first, node.end_lineno

def as_method(node, lines):
    "The text of a function as a method; strings of several lines stay as they are."
    first, end = place(node, lines)
    left_out = {d.lineno - 1 for d in node.decorator_list if 'patch_to' in ast.unparse(d)}
    strings = [n for n in ast.walk(node) if isinstance(n, (ast.JoinedStr, ast.Constant))
               and n is not getattr(node.body[0], 'value', None)
               and lines[n.lineno - 1][n.col_offset:].lstrip('rfb')[:3] in ('"""', "'''")]
    fixed = {i for n in strings for i in range(n.lineno, n.end_lineno)}
    return ''.join(lines[i] if i in fixed else indent(lines[i], '    ')
                   for i in range(first, end) if i not in left_out)

def fold(text):
    "The text of a module, with the methods that it attaches to its own classes inside of them."
    tree, lines = ast.parse(text), text.splitlines(keepends=True)
    classes = {n.name: n for n in tree.body if isinstance(n, ast.ClassDef)}
    where = {name: node for node in reversed(tree.body) for name in sets(node)}
    functions = ast.literal_eval(where['_all_'].value) if '_all_' in where else ()
    added, gone = {}, set()
    def later(node, c):
        "What must move above a class before it can hold a method."
        for other in (where[name] for name in sorted(reads(node) & where.keys())):
            if other.lineno > c.lineno:
                yield from later(other, c)
                yield other
    def move(node, line, text):
        first, end = place(node, lines)
        if first not in gone:
            added[line] = added.get(line, '') + text
            gone.update(range(first, end + (lines[end:end + 1] == ['\n'])))
    for node in tree.body:
        c = classes.get(owner(node))
        if c:
            for other in later(node, c):
                first, end = place(other, lines)
                move(other, place(c, lines)[0], ''.join(lines[first:end]) + '\n')
            move(node, c.end_lineno, '\n' + as_method(node, lines))
            if node.name in functions:
                added[node.end_lineno] = f'{node.name} = {c.name}.{node.name}\n'
    text = ''.join(added.get(i, '') + ('' if i in gone else line)
                   for i, line in enumerate([*lines, '']))
    if not any(map(owner, ast.parse(text).body)):
        text = re.sub(r'from \.+core import patch_to\n|,\s+patch_to\b|\bpatch_to, ', '', text)
    text = re.sub(r'# %% .*\n\s*(?=# %% |\Z)', '', text)
    return text.replace('\n__all__ = []\n', front(ast.parse(text)))

def front(tree):
    "The list of names of a module that does nothing but import them."
    listed = repr([a.name for node in tree.body if isinstance(node, ast.ImportFrom)
                   for a in node.names])
    return f'\n__all__ = {fill(listed, 110, subsequent_indent=" "*11)}\n'

# what nbdev 3 wants to know, with the type that it wants
KEYS = dict(nbs_path=str, lib_path=str, doc_path=str, title=str, tst_flags=str,
            recursive=bool, custom_sidebar=bool, allowed_cell_metadata_keys=list)

def with_settings(text, path='settings.ini'):
    "The text of pyproject.toml, its table `tool.nbdev` as settings.ini says."
    ini = ConfigParser(delimiters=['='])
    ini.read(path, encoding='utf-8')
    say = {str: lambda v: v, bool: lambda v: v == 'True', list: str.split}
    lines = (f"{key} = {json.dumps(say[kind](ini['DEFAULT'][key]))}\n"
             for key, kind in KEYS.items())
    return re.sub(r'(?<=\[tool\.nbdev\]\n)(?:\w+ = .*\n)*', ''.join(lines), text)

if __name__ == '__main__':
    os.chdir(Path(__file__).parent.parent)
    project = Path('pyproject.toml')
    project.write_text(with_settings(project.read_text(encoding='utf-8')), encoding='utf-8')
    nbdev_export()
    for path in sorted(Path('oia_nb').rglob('[!_]*.py')):
        path.write_text(fold(path.read_text(encoding='utf-8')), encoding='utf-8')
