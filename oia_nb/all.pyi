# Made by nbs/build_stubs.py from all.py and nbs/hints.txt.  Do not edit.
from .information import Agent as Agent, Rational as Rational, Response as Response, Setting as Setting, World as World, make_world as make_world
from .worlds import load_setting as load_setting, load_world as load_world, random_world as random_world, world_from_table as world_from_table, world_names as world_names
from .scoring import ScoringRule as ScoringRule, brier as brier, is_proper as is_proper, logarithmic as logarithmic, menu_rule as menu_rule, mix as mix, spherical as spherical, v_shaped as v_shaped
from .tickets import Menu as Menu, Rounded as Rounded
from .stackelberg import agent_profit as agent_profit, optimal_rule as optimal_rule, principal_profit as principal_profit, simple_regret as simple_regret
from .oracle import Oracle as Oracle, action_informed_oracle as action_informed_oracle
from .no_oracle import search_oracle as search_oracle
from .identification import LEARNERS as LEARNERS, Row as Row, identify as identify, register as register
from .learner import Identification as Identification, simulate as simulate
from .sharp.learner import sharp as sharp
from .oiafc import oiafc as oiafc
from .oiafb import oiafb as oiafb
from .baselines import chen as chen, explore_then_commit as explore_then_commit
from .exploration import compose as compose
from .lapses import patient as patient
from .sharp.learner import own_beliefs as own_beliefs
from .open_setting import open_support as open_support
from .trial import shortlist as shortlist, trial as trial
from .told import Told as Told
from .experts import Drifting as Drifting, Expert as Expert, HiddenArm as HiddenArm, Lapsing as Lapsing, Logit as Logit, Noisy as Noisy, RiskAverse as RiskAverse, Satisficing as Satisficing, Subjective as Subjective, best_known as best_known, parse_expert as parse_expert
from .session import Offer as Offer, Refused as Refused, Session as Session
from .experiments import compare as compare, experiment as experiment, forecast as forecast, read_experiment as read_experiment, summarise as summarise
from .complexity import forecast_rounds as forecast_rounds
from .live import game_figure as game_figure, planner_figure as planner_figure, proof_figure as proof_figure, session_form as session_form, triangle_figure as triangle_figure
from .plots import plot_profits as plot_profits, plot_rule as plot_rule
from .documents import json_schema as json_schema, load_identification as load_identification, load_rule as load_rule
from .core import InvalidInput as InvalidInput, NotInducible as NotInducible, OIAError as OIAError, generator as generator


