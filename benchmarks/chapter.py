"The bounds of chapter 38, which are cells of it and no module."
import ast
import json
from pathlib import Path

BOOK = Path(__file__).resolve().parent.parent/'nbs'

def chapter(name):
    "The imports, functions, classes and numbers of a chapter's cells, by name."
    names, kept = {}, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
    for cell in json.loads(next(BOOK.rglob(f'{name}.ipynb')).read_text())['cells']:
        text = ''.join(line for line in cell['source'] if line[0] not in '%#')
        if cell['cell_type'] == 'code' and text:
            body = [node for node in ast.parse(text).body if isinstance(node, kept)
                    or isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)]
            exec(compile(ast.Module(body, []), name, 'exec'), names)
    return names

LIMITS = chapter('38_limits')
lower_bound, rules_needed = LIMITS['lower_bound'], LIMITS['rules_needed']
answers_needed = LIMITS['answers_needed']
