"""Writes the stubs of the package: python nbs/build_stubs.py [FOLDER]

Methods are attached to classes in the chapters that explain them (`patch_to`), where no type
checker and no editor looks for them.  A stub `oia_nb/name.pyi`, or `oia_nb/sharp/name.pyi`, shows
each class with all of its methods, and every public function with the types that `hints.txt`
gives to it.  Modules are named as after `oia_nb.`, for instance `sharp.learner`.
"""
import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEAD = '# Made by nbs/build_stubs.py from {name}.py and nbs/hints.txt.  Do not edit.'
# what a stub may need, and gets if it does
TYPES = dict(re.findall(r'(\w+) = (.*)', '''
_Path = str | PathLike[str]
_T = TypeVar('_T')
_F = TypeVar('_F')
_R = TypeVar('_R', bound=Any)
'''))
NEEDED = {'collections.abc': 'Callable Generator Iterable Iterator Mapping Sequence',
          'os': 'PathLike', 'typing': 'Any TypeVar', 'numpy.typing': 'ArrayLike'}
SHORT = dict(np='numpy', pd='pandas')

def read_hints(text):
    "({parameter: type}, {function: ({parameter: type}, type of what it returns)})."
    usual, functions = {}, {}
    for line in text.splitlines():
        if line.startswith('='):
            name, kind = line[1:].split(maxsplit=1)
            usual[name] = kind
        elif line.strip() and not line.startswith('#'):
            head, result = line.split(' -> ') if ' -> ' in line else line.split('-> ')
            name, *given = head.split()
            functions[name] = dict(g.split(':', 1) for g in given), result.strip()
    return usual, functions

def is_private(name):
    "One underscore, and none at the end: nobody else's business."
    return re.fullmatch(r'_[^_].*[^_]|_[^_]?', name) is not None

def decorators(node):
    return [ast.unparse(d) for d in node.decorator_list]

def patched(node):
    "The class that a function is attached to, or None."
    for d in decorators(node):
        found = re.fullmatch(r'patch_to\((\w+)\)', d)
        if found:
            return found[1]
    return None

def public_names(tree):
    "What the `__all__` of a module lists, and what a star import would take without it."
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == '__all__':
            return set(re.findall(r"'(\w+)'", ast.unparse(node.value)))
    return set()

def attached(tree):
    "(class, method, function) of each assignment `Class.method = function`."
    functions = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}
    for node in tree.body:
        if not isinstance(node, ast.Assign):
            continue
        parts = lambda x: x.elts if isinstance(x, ast.Tuple) else [x]
        for target, value in zip(parts(node.targets[0]), parts(node.value)):
            if isinstance(target, ast.Attribute) and ast.unparse(value) in functions:
                yield ast.unparse(target.value), target.attr, functions[ast.unparse(value)]

def in_order(body):
    "The statements of a module, with those that are tried in their places."
    for node in body:
        yield from node.body if isinstance(node, ast.Try) else [node]

class Stubs:
    "The modules of the package as trees, and what of them is where."
    def __init__(self, package, hints):
        paths = {'.'.join(path.relative_to(package).with_suffix('').parts): path
                 for path in package.rglob('*.py') if not path.stem.startswith('_')}
        self.trees = {name: ast.parse(paths[name].read_text(encoding='utf-8'))
                      for name in sorted(paths, key=lambda name: (name.count('.'), name))}
        self.usual, self.functions = read_hints(hints)
        self.missing, self.used = [], set()
        self.home, self.methods = {}, {}
        for module, tree in self.trees.items():
            for node in tree.body:
                if isinstance(node, ast.ClassDef) and node.name not in self.home:
                    self.home[node.name] = module
        for module, tree in self.trees.items():
            for node in tree.body:
                if isinstance(node, ast.FunctionDef) and patched(node):
                    self.attach(module, patched(node), node)
        for module, tree in self.trees.items():
            for name, method, function in attached(tree):
                made = ast.parse(ast.unparse(function)).body[0]
                made.name = method
                self.attach(module, name, made)
        self.exported = {}
        for node in self.trees['all'].body:
            if isinstance(node, ast.ImportFrom) and node.level:
                names = {a.name for a in node.names}
                self.exported[node.module] = public_names(
                    self.trees[node.module]) if names == {'*'} else names

    def owner(self, module, name):
        "The module of the class that is called `name` in a module: classes may share names."
        if any(isinstance(n, ast.ClassDef) and n.name == name for n in self.trees[module].body):
            return module
        for node in self.trees[module].body:
            if isinstance(node, ast.ImportFrom) and node.level:
                parts = module.split('.')[:-node.level] + [node.module or '']
                there = '.'.join(filter(None, parts))
                if there in self.trees and name in {a.name for a in node.names}:
                    return self.owner(there, name)
        return self.home.get(name)

    def attach(self, module, name, method):
        self.methods.setdefault((self.owner(module, name), name), []).append(method)

    def is_public(self, module, name):
        first = name.split('.')[0]
        own = not re.search(r'(^|\.)_(?!_)', name)
        special = re.search(r'\.__(?!(init|call|len|next)__)', name)
        return own and not special and first in self.exported.get(module, ())

    def hinted(self, module, name, node, inside):
        "The signature of a function with its types."
        place = f'{module}.{name}'
        given, result = self.functions.get(place, ({}, None))
        self.used.add(place)
        public = self.is_public(module, name)
        if result is None and name.endswith('.__init__'):
            result = 'None'
        elif result is None and public:
            self.missing.append(f'{place}: no line')
        args = node.args
        every = [*args.posonlyargs, *args.args, *args.kwonlyargs]
        star = [a for a in (args.vararg, args.kwarg) if a]
        known = {a.arg for a in every} | {'*' + args.vararg.arg if args.vararg else '',
                                         '**' + args.kwarg.arg if args.kwarg else ''}
        self.missing += [f'{place}: has no parameter {g}' for g in given if g not in known]
        defaults = dict(zip([a.arg for a in every[:len(args.posonlyargs) + len(args.args)]][::-1],
                            args.defaults[::-1]))
        defaults |= {a.arg: d for a, d in zip(args.kwonlyargs, args.kw_defaults) if d}
        for i, a in enumerate(every):
            if i == 0 and inside:
                continue
            kind = given.get(a.arg, self.usual.get(a.arg) if public or given else None)
            if kind is None and public:
                self.missing.append(f'{place}: no type for {a.arg}')
            none = a.arg in defaults and ast.unparse(defaults[a.arg]) == 'None'
            if kind and none and 'None' not in kind and kind != 'Any':
                kind += ' | None'
            a.annotation = kind and ast.parse(kind, mode='eval').body
        for a in star:
            mark = '*' if a is args.vararg else '**'
            a.annotation = ast.parse(given.get(mark + a.arg, 'Any'), mode='eval').body
        args.defaults = [ast.Constant(...) for _ in args.defaults]
        args.kw_defaults = [d and ast.Constant(...) for d in args.kw_defaults]
        arrow = f' -> {result}' if result else ''
        return f'def {name.split(".")[-1]}({ast.unparse(args)}){arrow}: ...'

    def method(self, home, node, cls):
        kept = [d.replace('cached_property', 'property') for d in decorators(node)
                if d in ('property', 'cached_property', 'classmethod', 'staticmethod')]
        lines = [f'    @{d}' for d in kept]
        return [*lines, '    ' + self.hinted(home, f'{cls}.{node.name}', node, True)]

    def fields(self, node):
        "The fields of a dataclass, and its constructor, which takes more than it keeps."
        lines, args, named = [], [], []
        for item in node.body:
            if not isinstance(item, ast.AnnAssign):
                continue
            kind, default = ast.unparse(item.annotation), item.value
            kind = 'Callable[..., Any]' if kind == 'type' else kind
            text = ast.unparse(default) if default else ''
            none = text == 'None' or 'default=None' in text
            always = (node.name, item.target.id) in ALWAYS
            lines.append(f'    {item.target.id}: {kind}'
                         + (' | None' if none and not always else ''))
            taken = {'np.ndarray': 'ArrayLike', 'tuple': 'Any'}.get(kind, kind)
            arg = f'{item.target.id}: {taken}' + (' | None' if none else '')
            optional = default is not None and ('field' not in text or 'default' in text)
            (named if 'kw_only=True' in text else args).append(arg + (' = ...' if optional else ''))
        return lines, args, named

    def cls(self, module, node):
        bases = f'({", ".join(map(ast.unparse, node.bases))})' if node.bases else ''
        made = [d for d in decorators(node) if d.startswith('dataclass')]
        lines = [*(f'@{d}' for d in made), f'class {node.name}{bases}:']
        body, args, named = self.fields(node)
        if made and args and not any(self.home.get(ast.unparse(b)) for b in node.bases
                                     if ast.unparse(b) not in ('Value', 'Agent')):
            tail = ['*', *named] if named else []
            body.append(f'    def __init__(self, {", ".join([*args, *tail])}) -> None: ...')
        for item in [*node.body, *self.methods.get((module, node.name), [])]:
            if (isinstance(item, ast.FunctionDef) and item.name != '__post_init__'
                    and not is_private(item.name)):
                body += self.method(module, item, node.name)
            if isinstance(item, ast.Assign):
                body += [f'    {n.id}: Any' for t in item.targets for n in ast.walk(t)
                         if isinstance(n, ast.Name)]
        if node.name in LEARNT:
            body += LEARNT[node.name]
        return '\n'.join(lines + (body or ['    ...']))

    def module(self, name):
        "The stub of a module."
        parts, imports = [], []
        for node in in_order(self.trees[name].body):
            if isinstance(node, ast.ImportFrom) and node.level:
                names = [a.name for a in node.names]
                said = ', '.join(names) if name != 'all' or names == ['*'] else ', '.join(
                    f'{n} as {n}' for n in names)
                imports.append(f'from {"."*node.level}{node.module or ""} import {said}')
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                imports.append(ast.unparse(node))
            elif isinstance(node, ast.ClassDef):
                parts.append(self.cls(name, node))
            elif isinstance(node, ast.FunctionDef) and not is_private(node.name):
                if not patched(node) or 'self' in self.functions.get(
                        f'{name}.{node.name}', ({}, ))[0]:
                    made = ast.parse(ast.unparse(node)).body[0]
                    parts.append(self.hinted(name, node.name, made, False))
            elif isinstance(node, ast.Assign):
                parts += filter(None, (self.value(name, t, node.value) for t in node.targets))
        text = '\n'.join(parts)
        words = set(re.findall(r'\b[A-Z]\w+\b', text))
        own = {n.name for n in self.trees[name].body if isinstance(n, ast.ClassDef)}
        taken = {w for line in imports for w in re.findall(r'\w+', line)}
        for word in sorted(words - own - taken):
            if word in self.home and self.home[word] != name:
                up = '.'*(1 + name.count('.'))
                imports.append(f'from {up}{self.home[word]} import {word}')
        types = [f'{n} = {kind}' for n, kind in TYPES.items() if re.search(rf'\b{n}\b', text)]
        return '\n'.join([HEAD.format(name=name), *needed('\n'.join([*types, text])), *imports, '',
                          *types, text]) + '\n'

    def value(self, module, target, value):
        "A constant: its type, or the same alias."
        name = ast.unparse(target)
        if name in ('__all__', '_all_') or not isinstance(target, (ast.Name, ast.Tuple)):
            return None
        if isinstance(target, ast.Tuple):
            return '\n'.join(f'{ast.unparse(t)}: Any' for t in target.elts
                             if isinstance(t, ast.Name))
        text = ast.unparse(value)
        if text in self.home:
            return f'{name} = {text}'
        if f'{module}.{name}' in self.functions:
            owner, _, method = text.rpartition('.')
            methods = self.methods.get((self.owner(module, owner), owner), [])
            body = [n for c in self.trees[module].body
                    for n in [c, *getattr(c, 'body', ())]]
            found = [n for n in [*methods, *body]
                     if getattr(n, 'name', None) == method]
            made = ast.parse(ast.unparse(found[0])).body[0]
            return self.hinted(module, name, made, False)
        kind = type(ast.literal_eval(value)).__name__ if is_literal(value) else 'Any'
        return f'{name}: {"Any" if kind == "NoneType" else kind}'

def needed(text):
    "The imports of types that a stub uses."
    words = set(re.findall(r'\w+', text))
    for module, names in NEEDED.items():
        used = [n for n in names.split() if n in words]
        if used:
            yield f'from {module} import {", ".join(used)}'
    yield from (f'import {module} as {n}' for n, module in SHORT.items() if n in words)

def is_literal(node):
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return False
    return True

# Fields that may be left out, but are there afterwards.
ALWAYS = {('Setting', 'states'), ('Setting', 'decisions'), ('World', 'signals')}
LEARNT = {}

def stubs(root=ROOT):
    "{name of a file: its text}; raises `SystemExit` if a public function has no types."
    made = Stubs(root/'oia_nb', (root/'nbs'/'hints.txt').read_text(encoding='utf-8'))
    found = {f'{name.replace(".", "/")}.pyi': made.module(name) for name in made.trees}
    lost = [f'{name}: there is no such function' for name in made.functions
            if name not in made.used]
    if made.missing or lost:
        raise SystemExit('nbs/hints.txt\n' + '\n'.join([*dict.fromkeys(made.missing), *lost]))
    return found

if __name__ == '__main__':
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT/'oia_nb'
    for name, text in stubs().items():
        (folder/name).write_text(text, encoding='utf-8')
