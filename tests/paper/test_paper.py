"""The paper's statements and the ledger name each other; what a number without its role is. (That
there is none, and that roles name what is printed, the site's build sees to.)"""
import re
from pathlib import Path
import paper_refs
import pytest
from conftest import ROOT
from copies import in_words

NBS = ROOT/'nbs'
PAGES = sorted((NBS/'paper').glob('00*.md'))
TEXT = '\n'.join(p.read_text(encoding='utf-8') for p in PAGES)

# --- The statements and the ledger ----------------------------------------------------

def problems(text, rows):
    "What is wrong between the pages and the ledger, one line each."
    places = set(re.findall(r'(?m)^\((paper-[\w-]+)\)=$|\{#(paper-[\w-]+)\}', text))
    places = {a or b for a, b in places}
    shown = [paper_refs.canonical(s) for s in re.findall(r'```\{ledger\} (.+)', text)]
    found = [f'{name} has no place' for name in dict.fromkeys(paper_refs.names().values())
             if not name.startswith('eq.') and paper_refs.anchor(name) not in places]
    found += [f'{place} is nothing that the paper prints' for place in sorted(places - {
        paper_refs.anchor(name) for name in paper_refs.names().values()})]
    about = {paper_refs.subject(r) for r in rows} - {None}
    found += [f'{name} is in the ledger and on no page' for name in sorted(about - set(shown))]
    found += [f'{name} is on a page and not in the ledger' for name in shown if name not in about]
    found += [f'{name} stands twice' for name in dict.fromkeys(shown) if shown.count(name) > 1]
    found += [f'{r["claim"]} is about nothing' for r in rows if paper_refs.subject(r) is None
              and not paper_refs.equations(r['claim']) and not r['claim'].startswith('Sections')]
    return found

def test_statements_and_ledger_agree():
    assert problems(TEXT, paper_refs.ledger()) == []

@pytest.mark.parametrize('old, new, expected', [
    ('```{ledger} Lemma 9\n', '```{ledger} Lemma 8\n', 'Lemma 9 is in the ledger and on no page'),
    ('(paper-lemma-9)=', '', 'Lemma 9 has no place'),
    ('(paper-lemma-9)=', '(paper-lemma-19)=', 'paper-lemma-19 is nothing that the paper prints'),
    ('{#paper-algorithm-1-line-15}', '', 'Algorithm 1, line 15 has no place'),
    ('```{ledger} Lemma 9\n', '```{ledger} section 2\n',
     'section 2 is on a page and not in the ledger')])
def test_planted_gap_is_found(old, new, expected):
    assert old in TEXT
    assert expected in problems(TEXT.replace(old, new), paper_refs.ledger())
    rows = [r for r in paper_refs.ledger() if not r['claim'].startswith('Lemma 9')]
    assert problems(TEXT, rows) == ['Lemma 9 is on a page and not in the ledger']

def test_every_statement_has_a_verdict():
    names = [paper_refs.name(i) for i in paper_refs.table()['items']
             if i['kind'] in paper_refs.STATEMENTS]
    assert len(names) == 33 and all(paper_refs.verdict(n) for n in names)
    assert paper_refs.verdict('Theorem 1') == 'holds corrected'
    assert paper_refs.verdict('Lemma 13') == 'false as printed'

def test_functions_on_the_pages_exist():
    named = set(re.findall(r'\{py:obj\}`~([\w.]+)`', TEXT))
    assert len(named) > 20
    for name in named:
        module, _, attribute = name.rpartition('.')
        assert hasattr(__import__(module, fromlist=[attribute]), attribute), name

# --- No number without a role ---------------------------------------------------------

@pytest.mark.parametrize('text', [
    'as E12 says', 'in section 2.1', 'Section 3', 'by Lemma 4,', "Theorem 1's bound",
    'Corollary 1', 'Lemmas 3 and 4', 'the loop of Algorithm 1', 'Appendix F', 'appendices G',
    'Definition 2', 'Remark 3', 'under Assumption 1', 'see eq. (27)', '§4.1',
    'Theorem\n1', ':::{prf:lemma} The paper\'s Lemma 3, corrected',
    ':::{admonition} Erratum E1', 'Definition 1 of the paper {cite:p}`wang2025`',
    '{cite:t}`chen2023` in section 4.1'])
def test_bare_number_is_caught(text):
    assert len(paper_refs.bare(f'Some words {text} and more.')) == 1

@pytest.mark.parametrize('text', [
    '{paper}`Lemma 4`', '{erratum}`E12`', '`Lemma 4`', '$E1$', '$$\nE1\n$$ (eq-E1)',
    '```python\n# Lemma 4\n```', '\n## Theorem 1\n', '[Lemma 4](x.html)', 'Lemma 9.4',
    'Lemma 3.2 of {cite:t}`chen2023`', '{cite:t}`garivier2016` (their Theorem 10)',
    '(Gabillon et al. 2012, Theorem 1)', '\n:label: sec-E1\n', 'E is 5', 'HE1', 'E120'])
def test_what_may_stand(text):
    assert paper_refs.bare(f'Some words {text} and more.') == []

def test_copies_and_readme_say_it_in_words():
    text = ('{paper}`Lemma 4`, {paper}`lines 2 to 4 <Algorithm 1, line 2>`, {erratum}`E21`, '
            '{doc}`/paper/00_paper`, {doc}`this <00_paper>`')
    where = {'sec-e21': (Path('paper/errata.ipynb'), 'Errata')}
    copied = in_words(text, Path('sharp/25_sharp.ipynb'), where=where, sources={}, own=set())
    assert copied == ('Lemma 4, lines 2 to 4, [E21](../paper/errata.ipynb), *paper/00_paper*, '
                      '*this*')
