# Made by nbs/build_stubs.py from all.py and nbs/hints.txt.  Do not edit.
from .core import *
from .information import *
from .scoring import *
from .programs import *
from .stackelberg import *
from .oracle import *
from .estimation import *
from .ucb_lp import *
from .learner import *
from .binary_search import *
from .exploration import *
from .oiafc import *
from .oiafb import *
from .complexity import *
from .sharp.learner import SharpIdentification as SharpIdentification, SharpPlan as SharpPlan, sharp as sharp
from .limits import lower_bound as lower_bound, rules_needed as rules_needed
from .identification import *
from .worlds import *
from .baselines import chen as chen, etc as etc, explore_then_commit as explore_then_commit, oiafc_simple as oiafc_simple
from .experiments import compare as compare, experiment as experiment, forecast as forecast, read_experiment as read_experiment, summarise as summarise
from .tickets import Menu as Menu, Rounded as Rounded, rounding_costs as rounding_costs
from .no_oracle import search_oracle as search_oracle
from .experts import Drifting as Drifting, Expert as Expert, HiddenArm as HiddenArm, Lapsing as Lapsing, Logit as Logit, Noisy as Noisy, RiskAverse as RiskAverse, Satisficing as Satisficing, Subjective as Subjective, best_known as best_known, lottery as lottery, parse_expert as parse_expert
from .told import Check as Check, Told as Told
from .lapses import patient as patient
from .beliefs import own_beliefs as own_beliefs
from .open_setting import OpenRule as OpenRule, OpenSetting as OpenSetting, open_support as open_support
from .trial import shortlist as shortlist, trial as trial
from .session import Offer as Offer, Refused as Refused, Session as Session
from .live import LiveFigure as LiveFigure, SessionForm as SessionForm, boundary_figure as boundary_figure, feasible_figure as feasible_figure, game_figure as game_figure, live_figure as live_figure, mixing_figure as mixing_figure, motion_figure as motion_figure, planner_figure as planner_figure, proof_figure as proof_figure, session_form as session_form, triangle_figure as triangle_figure
from .views import Card as Card
from .documents import identification_from_dict as identification_from_dict, identification_to_dict as identification_to_dict, json_schema as json_schema, load_identification as load_identification, load_rule as load_rule, rule_from_dict as rule_from_dict, rule_to_dict as rule_to_dict


