"""Each row of the ledger of claims that names tests is held against something wrong.

Where one of its tests is a law, the law's mutants are in `test_mutants.py`. For each of the other
rows this file has a mutant of what the row claims, and a test of the row that turns red on it.
"""
import importlib.util
import re
import sys

import pytest
from hypothesis import Phase, settings

import test_mutants
from conftest import amount, file_of
from laws import replaced
from test_claims import records, test_exists
from test_mutants import Package, source_of

# claim, module, text that occurs once, what stands there instead, a test of the row, its arguments
HELD = [
    ('Section 3, Notations; appendix A', 'scoring',
     "'values', self.values, self.support.shape, 0.,",
     "'values', self.values, self.support.shape, -9.,",
     'test_bad_input.py::test_table', ('ScoringRule', 'values')),
    ('Definition 1', 'scoring', 'menu[(support @ menu.T).argmax(1)]',
     'menu[(support @ menu.T).argmin(1)]', 'test_scoring.py::test_menus_are_proper', ()),
    ('Lemma 1', 'scoring', '(self.values@r).argmax()', '(self.values@r).argmin()',
     'test_scoring.py::test_extension_pays_the_best_line', ()),
    ('Assumption 1', 'oracle', 'margin = region_margin(world, rule, k)',
     'margin = .9*region_margin(world, rule, k)', 'test_oracle.py::test_widest_margin', (1., )),
    ('Section 4.1, on the oracle', 'oracle', '[0., .6*h*bound/n]', '[0., .4*h*bound/n]',
     'test_oracle.py::test_no_rule_finds_two', (5, )),
    ('Eq. (8), and $N_k^t$ above it', 'estimation', 'self.counts[arm, belief] += 1',
     'self.counts[arm, belief] = 1', 'test_estimation.py::test_counts_are_those_of_the_rounds', ()),
    ('Appendix C, $C_+$, $C_-$', 'estimation', 'U += B_S*(I[:, None] + I)',
     'U += .9*B_S*(I[:, None] + I)',
     'test_estimation.py::test_half_of_the_printed_room_is_needed', ()),
    ('Appendix C, eq. (11)', 'estimation', '(C_plus + C_minus)/2, 0.)', 'C_plus, 0.)',
     'test_estimation.py::test_two_arms_have_the_bracket_for_an_estimate', ()),
    ('Appendix C, eq. (11)', 'estimation', 'bool((C_plus < C_minus - EVENT_TOL*bound).any())',
     'False', 'test_estimation.py::test_an_empty_bracket_is_flagged_and_no_other', ()),
    ('Appendix C, last line', 'estimation', 'return C, length', 'return np.abs(C), length',
     'test_estimation.py::test_shortest_paths_agree_with_networkx', ()),
    ('Appendix D.2, depth', 'binary_search', 'max(0, 1 - exponent + (mantissa == .5))',
     'max(0, 1 - exponent)', 'test_search.py::test_depth_at_powers_of_two', (3, )),
    ('Appendix D.2, new notations', 'binary_search', 'lam_min, k0 = lam, arm', 'lam_min = lam',
     'test_search.py::test_some_searches_end_beside_another_arm_than_they_began_with', ()),
    ('Lemma 11', 'estimation', 'theta = np.where(known, (C_plus + C_minus)/2, 0.)\n'
     '    phi = np.abs(C_plus - C_minus)/2', 'theta = np.where(known, (C_plus + C_minus)/2, 0.)\n'
     '    phi = np.abs(C_plus - C_minus)',
     'test_search.py::test_after_a_search_the_pair_is_known_as_radii_and_bracket', ()),
    ('Eq. (56)', 'oiafb', '- np.log(delta) + M*np.log(2)', '+ M*np.log(2)',
     'test_oiafb.py::test_a_and_delta', ()),
]

# The same of what is proved beyond the paper, for modules whose laws are in their own files
# (those of `verify` are in `test_verify.py`).
BEYOND = [
    ('states of outcomes mixed up', 'beliefs', 'self._seen[k, self.place[i, w]] +=',
     'self._seen[k, self.place[i, 0]] +=', 'test_beliefs.py::test_outcomes_are_counted', ()),
    ('a belief expects what it would if it were heard', 'beliefs',
     'return rule.expected if self.exact else np.tensordot(self.pays, rule.values, 2)',
     'return rule.expected',
     'test_beliefs.py::test_boundaries_hold_where_reports_are_rounded', ()),
    ('halves are rounded as they come', 'beliefs', 'not len(doubtful)', 'True',
     'test_beliefs.py::test_a_belief_that_may_be_heard_as_this_or_that_is_refused', ()),
    ('tickets that cost little are left out', 'tickets', 'SAME = 1e-12', 'SAME = 1e-6',
     'test_tickets.py::test_who_takes_the_best_ticket_plays_the_same_arm', ()),
    ('digits are left out in silence', 'tickets', 'if off <= SAME*tickets.max():', 'if True:',
     'test_tickets.py::test_print_is_the_rule_or_says_so', (2, )),
    ('whole numbers at the usual gap', 'tickets', "('mip_rel_gap', 0.)", "('mip_rel_gap', 1e-4)",
     'test_tickets.py::test_the_best_round_menu_is_the_best', ()),
    ('a registration stays where it was', 'record', '(t - (t >= n), r, arm)', '(t, r, arm)',
     'test_record.py::test_changes_are_counted', ()),
    ('a change is not counted', 'record', 'changed=self.changed + (not is_late)',
     'changed=self.changed', 'test_record.py::test_changes_are_counted', ()),
    ('rounds of rules that are not there', 'record',
     'any(not 0 <= r < len(found.rules) for r in ends)', 'False',
     'test_record.py::test_a_record_is_plain_data', ()),
]
TRIED = [*HELD, *BEYOND]

# Rows whose test shows in itself that it can fail, and on what.
BY_THEMSELVES = {
    'Eq. (49)': 'test_complexity.py::test_searches_come_near_their_bound',
    'Table 1, in appendix B': 'test_guarantees.py::test_the_search_for_secrets_finds_one',
    'Lemma 6, eq. (12)': 'test_estimation.py::test_concentration_holds_exactly_for_every_distance',
}

def laws_of(row):
    return set(re.findall(r'test_law\[(\w+)\]', ' '.join(row['tests'])))

def test_every_row_is_held():
    "A row that names tests has a law with a mutant, a mutant here, or a test that plants one."
    caught = {m[4] for m in test_mutants.MUTANTS} | {m[3] for m in test_mutants.CONSTANTS}
    caught |= set(test_mutants.LEARNERS)
    held = {entry[0] for entry in HELD} | set(BY_THEMSELVES)
    rows = [r for r in records() if r['tests']]
    assert [r['claim'] for r in rows if not laws_of(r) & caught and r['claim'] not in held] == []
    assert held <= {r['claim'] for r in rows}

def test_every_mutant_has_its_place():
    for _, module, old, new, test, _ in TRIED:
        replaced(source_of(module), old, new)
        assert test_exists(test), test

def test_mutants_are_held_by_a_test_of_their_row():
    tests = {r['claim']: r['tests'] for r in records()}
    assert [e[0] for e in HELD if e[4] not in tests[e[0]]] == []

@pytest.fixture
def first_failure():
    "Hypothesis is content with the first example that fails, and seeks no simpler one."
    before = settings.get_current_profile_name()
    settings.register_profile('first failure', settings.get_profile(before),
                              phases=[Phase.explicit, Phase.generate])
    settings.load_profile('first failure')
    yield
    settings.load_profile(before)

def loaded(name):
    "A fresh import of a file of tests."
    spec = importlib.util.spec_from_file_location(f'copy_of_{name[:-3]}', file_of(name))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

def reasons(e):
    return [r for x in e.exceptions for r in reasons(x)] if isinstance(e, ExceptionGroup) else [e]

@pytest.mark.parametrize('claim, module, old, new, test, args', TRIED[::amount(3, 1)],
                         ids=[e[4].split('::')[1] for e in TRIED[::amount(3, 1)]])
def test_row_is_held(claim, module, old, new, test, args, tmp_path, monkeypatch, first_failure):
    "The test of the row is red where what it claims is wrong."
    name, function = test.split('::')
    with Package(tmp_path, module, old, new) as copy:
        monkeypatch.setitem(sys.modules, 'laws', copy)
        check = getattr(loaded(name), function)
        try:
            check(*args)
        except Exception as e:
            assert all(isinstance(r, copy.BROKEN) or 'DID NOT RAISE' in str(r) for r in reasons(e))
        except BaseException as e:
            # what pytest.raises raises
            assert 'DID NOT RAISE' in str(e)
        else:
            pytest.fail(f'{test} is green though {module} is wrong')
