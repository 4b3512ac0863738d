"""The laws hold, and each of them is able to fail: every broken variant of the algorithms is caught
by the law named beside it.

Mutants are of three kinds: one change to one line of the package, made in a copy that is imported
in its place; a constant of the bounds changed in a copy of that module alone; a learner that does
another thing, made from the package's own parts or by changing what a learner returns.
"""
import importlib
import importlib.util
import shutil
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
import numpy as np
import pytest
from conftest import amount
import oia_nb
from oia_nb.paper import complexity
import laws
from laws import chen, etc, oiafb, oiafc

# name, module, text that occurs once, what stands there instead, the law that must fail
MUTANTS = [
    ("signal for state in Bayes' rule", 'information', 'p_signal = joint.sum(1, keepdims=True)',
     'p_signal = joint.sum(0, keepdims=True)', 'law_beliefs'),
    ('an agent that ignores its costs', 'information', 'profits = payments - world.costs',
     'profits = payments', 'law_agent'),
    ('mixing weights swapped', 'scoring', '(1 - lam)*S0.values + lam*S1.values',
     'lam*S0.values + (1 - lam)*S1.values', 'law_mixture'),
    ('costs of the wrong sign in LP_k', 'stackelberg', 'C = world.costs[k] - world.costs',
     'C = world.costs - world.costs[k]', 'law_optimum'),
    ('radius × ½', 'estimation', 'return np.sqrt(2*log_term/np.asarray(N, float))',
     'return np.sqrt(2*log_term/np.asarray(N, float))/2', 'law_event'),
    ('radius × 0.8', 'estimation', 'return np.sqrt(2*log_term/np.asarray(N, float))',
     'return np.sqrt(2*log_term/np.asarray(N, float))*.8', 'law_event'),
    ('radius × 0.8, as a run sees it', 'estimation',
     'return np.sqrt(2*log_term/np.asarray(N, float))',
     'return np.sqrt(2*log_term/np.asarray(N, float))*.8', 'law_oiafc'),
    ('radius of a fixed budget × 0.7', 'estimation', 'np.sqrt(a/np.asarray(N, float))',
     'np.sqrt(a/np.asarray(N, float))*.7', 'law_event'),
    ('radius of a fixed budget × ½, as a run sees it', 'estimation',
     'np.sqrt(a/np.asarray(N, float))', 'np.sqrt(a/np.asarray(N, float))/2', 'law_oiafb'),
    ('radius of a fixed budget × ½, in Chen et al.', 'estimation',
     'np.sqrt(a/np.asarray(N, float))', 'np.sqrt(a/np.asarray(N, float))/2', 'law_chen'),
    ('δ ignored', 'estimation', 'np.log(4*K) - np.log(delta)', 'np.log(4*K)', 'law_radius'),
    ('C₋ taken for C₊', 'estimation', '- pay).min(0)', '- pay).max(0)', 'law_costs'),
    ('the mirror of C₊ without its sign', 'estimation', 'C_minus = -C_plus.T',
     'C_minus = C_plus.T', 'law_costs'),
    ('paths that add lengths only', 'estimation', 'C = np.where(better, C[:, k, None] + C[k], C)',
     'pass', 'law_paths'),
    ('innermost points kept', 'estimation', 'elif place < ends[0][0]:',
     'elif ends[0][0] < place < ends[1][0]:', 'law_pruning'),
    ('no radius on costs', 'ucb_lp', 'C_hat[arm] - (I_c[arm] + setting.bound*I)', 'C_hat[arm]',
     'law_optimism'),
    ('costs of the wrong sign in UCB-LP', 'ucb_lp', 'C_hat[arm] - (I_c[arm] + setting.bound*I)',
     '-C_hat[arm] - (I_c[arm] + setting.bound*I)', 'law_optimism'),
    ('no optimism about utility and payment', 'ucb_lp', 'z.B_u*self.I - v', '-z.B_u*self.I - v',
     'law_optimism'),
    ('the zero rule always', 'ucb_lp', 'if v <= slack else', 'if True else', 'law_optimism'),
    ('halving towards the wrong side', 'binary_search', 'if arm == k1: lam_max = lam',
     'if arm != k1: lam_max = lam', 'law_search'),
    ('a search that stops one halving late', 'binary_search',
     'while lam_max - lam_min >= threshold:', 'while 2*(lam_max - lam_min) >= threshold:',
     'law_search'),
    ('α = 0', 'oiafc', 'lambda L: min(np.sqrt(setting.support_sizes.max()/L), 1.)', 'lambda L: 0.',
     'law_run'),
    ('search skipped', 'oiafc', 'if arm != plan.target: yield from force(',
     'if False: yield from force(', 'law_run'),
    ('search on success, as Algorithm 3 is printed', 'oiafc',
     'if arm != plan.target: yield from force(', 'if arm == plan.target: yield from force(',
     'law_run'),
    ('the widest radius ends the search', 'oiafc', 'min(plan.I[arm], plan.I[k])',
     'max(plan.I[arm], plan.I[k])', 'law_run'),
    ('the worst arm as target', 'oiafc', 'profits >= profits.max() - TIE_TOL',
     'profits <= profits.min() + TIE_TOL', 'law_run'),
    ('the worst arm as target, within a budget', 'oiafc', 'profits >= profits.max() - TIE_TOL',
     'profits <= profits.min() + TIE_TOL', 'law_oiafb'),
    ('searches counted as normal rounds', 'oiafc',
     'place = lambda lam: (line_of(plan), plan.alpha + lam*(1 - plan.alpha))',
     'place = lambda lam: (line_of(plan), plan.alpha + lam*(1 - plan.alpha)); run.L[k] += 1',
     'law_run'),
    ("stopping as if the oracle's share were free", 'oiafc', '<= eps - 2*alpha*B)', '<= eps)',
     'law_stopping'),
    ('stopping at α = 1', 'oiafc', 'bool(alpha < 1 and eps > 2*alpha*B and', 'bool(',
     'law_stopping'),
    ('stopping a factor of 2 early', 'oiafc', '2*B*I*(1 - alpha) <= eps - 2*alpha*B',
     '2*B*I*(1 - alpha) <= 2*eps - 2*alpha*B', 'law_oiafc'),
    ('certificates × ½', 'oiafc', 'Certificate(float(mixing + confidence)',
     'Certificate(float(mixing + confidence)/2', 'law_oiafb'),
    ('the best bound is the largest', 'oiafc', 'if found.bound < run.bound',
     'if not run.best or found.bound > run.bound', 'law_oiafb'),
    ('improper rules in the programs', 'programs',
     'i, j = np.asarray(pairs, int).reshape(-1, 2).T', 'i, j = np.asarray(pairs, int)[:1].T',
     'law_optimism'),
]

# what a certificate says beyond the paper, in the same form
CLAIMS = [
    ('profit not lowered by the price of the lead', 'leads', 'else found.profit - x',
     'else found.profit', 'law_price_of_a_lead'),
    ('a price by its mean', 'leads',
     'bound = -mean_lower(counts, -x, betting_threshold(N, delta))', 'bound = float(counts @ x/N)',
     'law_price_of_a_lead'),
    ('a bound without the price of the lead', 'leads',
     'return certificate and Certificate(b + x, x, b)',
     'return certificate and Certificate(b, x, b)', 'law_price_of_a_lead'),
    ('all of δ for the price of every attempt', 'leads', 'PRICES*share*run.delta)):',
     'run.delta)):', 'law_price_of_a_lead'),
    ('no union over the rules tried', 'trial', 'self.share = delta/(2*n)', 'self.share = delta/2',
     'law_trial'),
    ('one δ for both ends of an interval', 'trial', 'self.share = delta/(2*n)',
     'self.share = delta/n', 'law_trial'),
    ('what a rule earns by its mean', 'trial',
     'self.low[i] = mean_lower(self.counts[i], self.payoffs[i], L)',
     'self.low[i] = self.counts[i] @ self.payoffs[i]/N[i]', 'law_trial'),
    ('half of the charge for what is unseen', 'open_setting',
     'charge = float(seen.mass[found.arm] + seen.mass.max())',
     'charge = float(seen.mass[found.arm])',
     'law_unseen_is_charged'),
    ('the charge left out of the bound', 'open_setting', 'found.finding.bound + charge',
     'found.finding.bound', 'law_unseen_is_charged'),
    ('no union over news', 'open_setting', 'np.log(K*r*(r + 1)/delta)/m', 'np.log(K/delta)/m',
     'law_unseen_is_charged'),
    ('the largest wealth against a prior, not the mean', 'examination',
     'now = float(np.exp(np.minimum(self.logs, LOG_MOST)).mean())',
     'now = float(np.exp(np.minimum(self.logs, LOG_MOST)).max())', 'law_watches'),
    ('all of the alarm for every watch', 'examination',
     'self.level = alarm/(len(self.by) + others)', 'self.level = alarm', 'law_watches'),
    ('no union over arms and ratios', 'examination', '1/(K*len(RATIOS)), K*len(RATIOS)', '1., 1',
     'law_watches'),
    ('a bet against reports that knows its own block', 'examination', 'g = self.favour(cells)',
     'np.add.at(self.counts, ([0]*self.m + [1], cells), 1); g = self.favour(cells)',
     'law_watches'),
    ('all of the alarm for the learner within', 'lapses', 'alarm=run.watches.level))',
     'alarm=told.alarm))', 'law_watches'),
    ('what lapses cost left out', 'lapses', 'return (1 - eta)*found.profit + eta*least',
     'return found.profit', 'law_lapses_are_charged'),
    ('all of δ for the learner within', 'lapses', 'delta=(1 - share)*delta', 'delta=delta',
     'law_lapses_are_charged'),
    ('half of the lead that a question needs', 'lapses', 'np.log(1/chance)/np.log((1 - eta)/eta)',
     'np.log(1/chance)/np.log((1 - eta)/eta)/2', 'law_lapses_are_charged'),
    ('the same chance for every question', 'lapses',
     'return delta/2**(block + 1)/(2**block*PLANNED)', 'return delta/PLANNED',
     'law_lapses_are_charged'),
    ('the largest wealth against a rate, not the mean', 'lapses',
     'return float(np.exp(np.minimum(log, 700.)).mean())',
     'return float(np.exp(np.minimum(log, 700.)).max())', 'law_lapses_are_charged'),
    ('a quarter of the lapses that were seen', 'lapses', 'return int(tally.sum() - tally.max())',
     'return int(tally.sum() - tally.max())//4', 'law_lapses_are_charged'),
    ('all of δ for every run on a support', 'open_setting',
     'delta=(1 - NEWS_SHARE)*delta/(n*(n + 1))', 'delta=(1 - NEWS_SHARE)*delta',
     'law_begin_again'),
    ('the mass that news leaves, from the first sample on', 'open_setting',
     'self.since[arm] = 0 if news else self.since[arm] + 1', 'self.since[arm] += 1',
     'law_unseen_is_charged'),
    ('an answer that has changed passes', 'examination',
     "if (yield from ask(rule, arm)) != arm: return Check('answers', np.inf, 0., n, False)",
     'yield from ask(rule, arm)', 'law_examination'),
    ('the wrong arm beyond a boundary passes', 'examination',
     "if (yield from ask(rule, arm)) == never: "
     "return Check('boundaries', np.inf, 0., rounds, False)",
     'yield from ask(rule, arm)', 'law_examination'),
    ('doubt is taken for certainty', 'examination',
     'return low > OFF if arm == self.k else high < -OFF',
     'return high > OFF if arm == self.k else low < -OFF', 'law_examination'),
    ('a lapse that never happens', 'experts', 'return (1 - self.rate)*self.inner.chooses(',
     'return self.inner.chooses(', 'law_experts'),
    ('no certificate is ever wrong', 'experts', 'most = min(found.finding.bound,',
     'most = min(2*found.finding.bound,', 'law_experts'),
    ('a run that is halted says that it was stopped', 'run/learner',
     "if found.status == 'stopped' != halt.status:", 'if False:', 'law_within'),
    ('a claim that outlives what it rested on', 'run/learner', 'if violated: more |= UNCLAIMED',
     'if False: more |= UNCLAIMED', 'law_within'),
    ('a report twice as far off as it may be', 'session', 'if gap[n] > snap + PROB_TOL:',
     'if gap[n] > 2*snap + PROB_TOL:', 'law_snap'),
    ('a check of no round listed as one', 'run/learner',
     "', '.join(str(c) for c in self.checks if c.rounds)",
     "', '.join(str(c) for c in self.checks)", 'law_sentence'),
    ('certainty in print', 'facts',
     "return f'{(100 - 100*Decimal(three_digits(delta, True))).normalize():f} %'",
     "return f'{100*(1 - delta):g} %'", 'law_sentence'),
]
MUTANTS += CLAIMS

def not_python(folder, names):
    "What a copy of the package leaves out of a folder: the pages, and compiled kernels."
    below = [n for n in names if (Path(folder)/n).is_dir()]
    if Path(folder).name == '__pycache__':
        return below
    return [n for n in below if n in ('js', 'chapters')]

class Package:
    """While entered, `oia_nb` and `laws` are fresh imports, of a copy of the package in which
    one text is replaced."""
    def __init__(self, folder, module=None, old=None, new=None):
        shutil.copytree(Path(oia_nb.__file__).parent, folder/'oia_nb', ignore=not_python)
        self.folder = folder
        if module is None:
            return
        [path] = (folder/'oia_nb').rglob(f'{module}.py')
        text = path.read_text(encoding='utf-8')
        path.write_text(laws.replaced(text, old, new), encoding='utf-8')
        for compiled in path.parent.glob(f'__pycache__/{path.stem}.*.pyc'):
            compiled.unlink()
    def __enter__(self):
        mine = [name for name in sys.modules if name.split('.')[0] == 'oia_nb']
        self.before = {name: sys.modules.pop(name) for name in mine}
        sys.path.insert(0, str(self.folder))
        importlib.invalidate_caches()
        spec = importlib.util.spec_from_file_location('laws_of_copy', laws.__file__)
        copy = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(copy)
        return copy
    def __exit__(self, *exc):
        sys.path.remove(str(self.folder))
        for name in [n for n in sys.modules if n.split('.')[0] == 'oia_nb']:
            del sys.modules[name]
        sys.modules.update(self.before)

# name, text of `complexity` that occurs once (or the name of a constant), what stands there
# instead, the law that must fail
CONSTANTS = [
    ('E1: 2^M left out', 'self.M*np.log(2)', '0.', 'law_least'),
    ('E17: no round for the halving that is under way', 'return 2 + np.log2(',
     'return 1 + np.log2(', 'law_depth'),
    ('E17: a quarter of the logarithm', 't/(2*Lambda)))/2', 't/(2*Lambda)))/4', 'law_depth'),
    ('E22: half of κ', '(12, 32) if p.signed else (8, 8)', '(12, 32) if p.signed else (4, 8)',
     'law_searches'),
    ('E22: half of κ, signed rules', '(12, 32) if p.signed else (8, 8)',
     '(6, 32) if p.signed else (8, 8)', 'law_searches'),
    ('E14: half of the blind searches', '(12, 32) if p.signed else (8, 8)',
     '(12, 32) if p.signed else (8, 4)', 'law_searches'),
    ('E27: c₂ as printed', 'C_EPS', (2*2**.5 + 2)**2, 'law_least'),
    ('E27: a tenth of c₂', 'C_EPS', 2.736, 'law_normal_rounds'),
    ('E28: a tenth of c₁', 'C_GAP', 4.37, 'law_normal_rounds'),
    ('E35: as printed, one arm', '32*(1 - p.alpha)', '16*(1 - p.alpha)',
     'law_corollary1_is_tight'),
    ('E35: as printed, all arms', 'return 8*(1 - p.alpha)', 'return 4*(1 - p.alpha)',
     'law_corollary1_is_tight'),
    ('Corollary 1: (1 - α)² for nothing', '32*(1 - p.alpha)**2', '32', 'law_corollary1_is_tight'),
    ("E38: half of a pair's observations", '(12, 4, 16) if p.signed else (8, 2, 4)',
     '(12, 4, 16) if p.signed else (8, 4, 4)', 'law_searches'),
    ('E38: the same, signed rules', '(12, 4, 16) if p.signed else (8, 2, 4)',
     '(8, 4, 16) if p.signed else (8, 2, 4)', 'law_searches'),
    ('E38: blind searches of a budget', '(12, 4, 16) if p.signed else (8, 2, 4)',
     '(12, 4, 16) if p.signed else (8, 2, 2)', 'law_searches'),
    ('E39: T₁ alone', 'search_depth_bound(a/2, T)*searches)', 'search_depth_bound(a/2, T)*0.)',
     'law_searches'),
    ('first stop: the radius without its 2', 'r = np.sqrt(2*p.Lambda(', 'r = np.sqrt(p.Lambda(',
     'law_least'),
]

def few(mutants):
    "One mutant of each law, its first; with --release all."
    return amount(list({m[-1]: m for m in reversed(mutants)}.values()), mutants)

def test_a_place_is_found_however_its_lines_are_broken():
    for source in ('if a: b = f(x, y)', 'if a:\n    b = f(x,\n          y)', 'if a: b=f(x,y)'):
        assert laws.replaced(source, 'a: b = f(x, y)', 'a: b = 0') == 'if a: b = 0'
    for source in ('b = 12', 'b = 1; b = 1', 'ab = 1'):
        with pytest.raises(AssertionError):
            laws.replaced(source, 'b = 1', 'b = 2')

# --- Learners -------------------------------------------------------------------------

def returning(change):
    "A learner as `learner`, whose result is replaced by `change(setting, oracle, result)`."
    def broken(learner, setting, oracle, **options):
        steps = learner(setting, oracle, **options)
        rule = next(steps)
        while True:
            try:
                rule = steps.send((yield rule))
            except StopIteration as stop:
                return replace(stop.value, **change(setting, oracle, stop.value))
    return broken

def another(setting, oracle, r):
    return (r.arm + 1) % setting.K

def smaller(share):
    return lambda setting, oracle, r: dict(certificate=r.certificate and replace(
        r.certificate, bound=share*r.certificate.bound))

def pay_all(setting, oracle, r):
    "The rule of another arm, made as generous as the bound allows."
    oracle.rules[another(setting, oracle, r)]
    all_of_it = np.full((1, setting.W), setting.bound)
    return dict(rule=laws.menu_rule(setting.support, all_of_it, setting.bound))

LEARNERS = dict(law_oiafc=oiafc, law_oiafb=oiafb, law_chen=chen, law_etc=etc)
RETURNS = {
    'returns any rule': pay_all,
    'returns the oracle\'s rule 0': lambda z, oracle, r: dict(rule=oracle.rules[0], arm=0),
    'returns the oracle\'s rule of another arm': lambda z, oracle, r: dict(
        rule=oracle.rules[another(z, oracle, r)], arm=another(z, oracle, r)),
    'certifies half its bound': smaller(.5),
}

@pytest.mark.parametrize('change', list(RETURNS)[-amount(2, len(RETURNS)):])
@pytest.mark.parametrize('law', LEARNERS)
def test_wrong_result_is_caught(law, change):
    with pytest.raises(AssertionError):
        laws.LAWS[law](partial(returning(RETURNS[change]), LEARNERS[law]))

def test_oracle_rule_is_caught():
    "The rule of the oracle for the arm that was found: right about the arm, and too dear."
    wrong = returning(lambda z, oracle, r: dict(rule=oracle.rules[r.arm]))
    with pytest.raises(AssertionError):
        laws.not_too_dear(partial(wrong, oiafc))

@pytest.mark.parametrize('name, old, new, law', few(CONSTANTS), ids=[m[0] for m in few(CONSTANTS)])
def test_wrong_constant_is_caught(name, old, new, law):
    broken = laws.bounds(old, new)
    with pytest.raises(AssertionError):
        laws.LAWS[law](broken)

def test_an_unchanged_copy_of_the_bounds_obeys():
    "One of its laws, without --release; the bounds themselves obey all."
    for law in amount({'law_depth'}, {m[3] for m in CONSTANTS}):
        laws.LAWS[law](laws.bounds('C_GAP', complexity.C_GAP))

@pytest.mark.parametrize('law', laws.LAWS.values(), ids=list(laws.LAWS))
def test_law(law):
    law()

@pytest.mark.parametrize('name, module, old, new, law', few(MUTANTS),
                         ids=[m[0] for m in few(MUTANTS)])
def test_mutant_is_caught(name, module, old, new, law, tmp_path):
    with Package(tmp_path, module, old, new) as copy:
        assert copy.optimal_rule.__code__.co_filename.startswith(str(tmp_path))
        with pytest.raises(copy.BROKEN):
            copy.LAWS[law]()

def test_an_unchanged_copy_obeys(tmp_path):
    "What catches the mutants is the change, not the copying."
    with Package(tmp_path) as copy:
        copy.law_search()

def source_of(module):
    [path] = Path(oia_nb.__file__).parent.rglob(f'{module}.py')
    return path.read_text(encoding='utf-8')

def test_every_mutant_has_its_place():
    "Its text occurs once where it is said to."
    for _, module, old, new, _ in MUTANTS:
        laws.replaced(source_of(module), old, new)
    for _, old, new, _ in CONSTANTS:
        if old not in ('C_GAP', 'C_EPS'):
            laws.replaced(source_of('complexity'), old, new)

def test_enough_mutants():
    "Each law has one, and so has each module that proves something."
    laws_of = {m[4] for m in MUTANTS} | {m[3] for m in CONSTANTS} | set(LEARNERS)
    assert len(MUTANTS + CONSTANTS) >= 80 and laws_of == set(laws.LAWS)
    assert {m[1] for m in MUTANTS} >= {'lapses', 'leads', 'trial', 'open_setting', 'session',
                                       'examination', 'experts'}
