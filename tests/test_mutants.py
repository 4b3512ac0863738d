"""The laws hold, and each of them is able to fail: every broken variant of the algorithms is caught by the law named beside it.

A mutant is one change to one line of the package.  It is made in a copy, imported in place of the package, and the law is run on it.
"""
import importlib, importlib.util, shutil, sys
import pytest
import oia_nb
from pathlib import Path
from oia_nb.core import OIAError
import laws

# name, module, text that occurs once, what stands there instead, the law that must fail
MUTANTS = [
    ('signal for state in Bayes\' rule', 'information', 'p_signal = joint.sum(1, keepdims=True)', 'p_signal = joint.sum(0, keepdims=True)', 'law_beliefs'),
    ('an agent that ignores its costs', 'information', 'profits = payments - world.costs', 'profits = payments', 'law_agent'),
    ('mixing weights swapped', 'scoring', '(1 - lam)*S0.values + lam*S1.values', 'lam*S0.values + (1 - lam)*S1.values', 'law_mixture'),
    ('costs of the wrong sign in LP_k', 'stackelberg', 'C = world.costs[k] - world.costs', 'C = world.costs - world.costs[k]', 'law_optimum'),
    ('radius × ½', 'estimation', 'return np.sqrt(2*log_term/np.asarray(N, float))', 'return np.sqrt(2*log_term/np.asarray(N, float))/2', 'law_event'),
    ('δ ignored', 'estimation', 'np.log(4*K) - np.log(delta)', 'np.log(4*K)', 'law_radius'),
    ('C₋ taken for C₊', 'estimation', '- pay).min(0)', '- pay).max(0)', 'law_costs'),
    ('the mirror of C₊ without its sign', 'estimation', 'C_minus = -C_plus.T', 'C_minus = C_plus.T', 'law_costs'),
    ('paths that add lengths only', 'estimation', 'C = np.where(better, C[:, k, None] + C[k], C)', 'pass', 'law_paths'),
    ('innermost points kept', 'estimation', 'elif place < ends[0][0]:', 'elif ends[0][0] < place < ends[1][0]:', 'law_pruning'),
    ('no radius on costs', 'ucb_lp', 'C_hat[arm] - (I_c[arm] + setting.bound*I)', 'C_hat[arm]', 'law_optimism'),
    ('costs of the wrong sign in UCB-LP', 'ucb_lp', 'C_hat[arm] - (I_c[arm] + setting.bound*I)', '-C_hat[arm] - (I_c[arm] + setting.bound*I)', 'law_optimism'),
    ('no optimism about utility and payment', 'ucb_lp', 'z.B_u*I - v', '-z.B_u*I - v', 'law_optimism'),
    ('the zero rule always', 'ucb_lp', 'if v <= slack else', 'if True else', 'law_optimism'),
    ('halving towards the wrong side', 'binary_search', 'if arm == k1: lam_max = lam', 'if arm != k1: lam_max = lam', 'law_search'),
    ('a search that stops one halving late', 'binary_search', 'while lam_max - lam_min >= threshold:', 'while 2*(lam_max - lam_min) >= threshold:', 'law_search'),
    ('α = 0', 'oiafc', 'lambda L: min(np.sqrt(setting.M/L), 1.)', 'lambda L: 0.', 'law_run'),
    ('search skipped', 'exploration', 'if arm != plan.target: yield from force(', 'if False: yield from force(', 'law_run'),
    ('search on success, as Algorithm 3 is printed', 'exploration', 'if arm != plan.target: yield from force(', 'if arm == plan.target: yield from force(', 'law_run'),
    ('the widest radius ends the search', 'exploration', 'min(plan.I[arm], plan.I[k])', 'max(plan.I[arm], plan.I[k])', 'law_run'),
    ('the worst arm as target', 'exploration', 'profits >= profits.max() - TIE_TOL', 'profits <= profits.min() + TIE_TOL', 'law_run'),
    ('searches counted as normal rounds', 'exploration', 'run.searches.append(search)', 'run.searches.append(search); run.L[k] += 1', 'law_run'),
    ('stopping as if the oracle\'s share were free', 'oiafc', '<= eps - 2*alpha*B)', '<= eps)', 'law_stopping'),
    ('stopping at α = 1', 'oiafc', 'bool(alpha < 1 and eps > 2*alpha*B and', 'bool(', 'law_stopping'),
    ('improper rules in the programs', 'programs', 'i, j = np.asarray(pairs).reshape(-1, 2).T', 'i, j = np.asarray(pairs)[:1].T', 'law_optimism'),
]

class Package:
    "While entered, `oia_nb` and `laws` are fresh imports, of a copy of the package in which one text is replaced."
    def __init__(self, folder, module=None, old=None, new=None):
        shutil.copytree(Path(oia_nb.__file__).parent, folder/'oia_nb', ignore=shutil.ignore_patterns('__pycache__'))
        self.folder = folder
        if module is None: return
        path = folder/'oia_nb'/f'{module}.py'
        text = path.read_text(encoding='utf-8')
        assert text.count(old) == 1, f'{old!r} occurs {text.count(old)} times in {module}: the mutant has no place'
        path.write_text(text.replace(old, new), encoding='utf-8')
    def __enter__(self):
        self.before = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split('.')[0] == 'oia_nb'}
        sys.path.insert(0, str(self.folder))
        importlib.invalidate_caches()
        spec = importlib.util.spec_from_file_location('laws_of_copy', laws.__file__)
        copy = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(copy)
        return copy
    def __exit__(self, *exc):
        sys.path.remove(str(self.folder))
        for name in [n for n in sys.modules if n.split('.')[0] == 'oia_nb']: del sys.modules[name]
        sys.modules.update(self.before)

@pytest.mark.parametrize('law', laws.LAWS.values(), ids=list(laws.LAWS))
def test_law(law): law()

@pytest.mark.parametrize('name, module, old, new, law', MUTANTS, ids=[m[0] for m in MUTANTS])
def test_mutant_is_caught(name, module, old, new, law, tmp_path):
    with Package(tmp_path, module, old, new) as copy:
        assert copy.optimal_rule.__code__.co_filename.startswith(str(tmp_path))
        with pytest.raises((AssertionError, copy.OIAError)): copy.LAWS[law]()

def test_an_unchanged_copy_obeys(tmp_path):
    "What catches the mutants is the change, not the copying."
    with Package(tmp_path) as copy: copy.law_search()

def test_enough_mutants(): assert len(MUTANTS) >= 15 and {m[4] for m in MUTANTS} == set(laws.LAWS)
