"""A session's offers as an oTree app: the expert answers in a browser, the session records.

    python examples/otree_app.py day.jsonl PROJECT [ROUNDS]
    cd PROJECT; otree devserver

PROJECT is a new folder, a whole oTree project with the app `offers`: its page shows the tickets
of the open round and asks for the arm and for a percentage a state. It sends the number of the
round that it shows, so that nothing answers an offer that nobody saw. What the session refuses is
said beside the form, in words for people, and the round stays open; the payoff of a round is what
falls due in it, fees included. The session is made first (`oia session new`); it
may be revealed, undone and stopped by `oia session` while oTree doesn't run. One participant at a
time: a session is one expert. `pip install otree oia_nb` in one environment.
"""
import sys
from pathlib import Path

from oia_nb.all import InvalidInput, OIAError, Session

SETTINGS = '''\
SESSION_CONFIGS = [dict(name='offers', app_sequence=['offers'], num_demo_participants=1)]
SESSION_CONFIG_DEFAULTS = dict(real_world_currency_per_point=1., participation_fee=0.)
LANGUAGE_CODE = 'en'
REAL_WORLD_CURRENCY_CODE = 'EUR'
USE_POINTS = False
SECRET_KEY = 'put one of your own here'
'''

APP = '''\
from otree.api import *
from oia_nb.all import Refused, Session

PATH = {path!r}
OPEN = []       # the session, once it is asked for: this process is its one writer


def session():
    if not OPEN:
        OPEN.append(Session.open(PATH))
    return OPEN[0]


class C(BaseConstants):
    NAME_IN_URL = 'offers'
    PLAYERS_PER_GROUP = None
    NUM_ROUNDS = {rounds}
    ARMS = {arms!r}
    STATES = {states!r}


class Subsession(BaseSubsession):
    pass


class Group(BaseGroup):
    pass


class Player(BasePlayer):
    offer = models.IntegerField()       # the round of the session that the page shows
    arm = models.StringField(label='How I looked', choices=C.ARMS, widget=widgets.RadioSelect)
{fields}


FIELDS = [f'percent_{{i}}' for i in range(len(C.STATES))]


# what a participant reads where an answer is refused
MESSAGES = {{
    'report': 'Please say how likely each case is, in percent; together they make 100. '
              'One of the numbers is not among those that can be said.',
    'arm': 'Please choose one of the ways to look.',
    'answer': 'This does not fit what you answered before. If you mean it, send it once '
              'more; otherwise please correct it.',
    'round': 'This page is of an earlier round. Please load it anew.'}}


class Offer(Page):
    form_model = 'player'
    form_fields = ['offer', 'arm', *FIELDS]

    @staticmethod
    def is_displayed(player):
        return session().status == 'open'

    @staticmethod
    def vars_for_template(player):
        offer = session().announce()
        return dict(round=offer.round, table=offer.tickets(), say=offer.say,
                    shown=Offer.form_fields[1:])

    @staticmethod
    def error_message(player, values):
        """Record the answer: after this nothing else can be wrong with it."""
        try:
            session().answer(values['arm'], [values[name] for name in FIELDS],
                             round=values['offer'])
        except Refused as e:
            player.participant.vars['refused'] = str(e)     # for the experimenter
            return MESSAGES.get(e.argument, 'This can not be taken. Please look at your '
                                'answer again.')

    @staticmethod
    def before_next_page(player, timeout_happened):
        """The payoff is what has fallen due for this round, the fee included."""
        s, paid = session(), player.participant.vars.get('paid', 0.)
        player.payoff, player.participant.vars['paid'] = s.paid - paid, s.paid


page_sequence = [Offer]
'''

FIELD = ('    percent_{i} = models.FloatField(label=C.STATES[{i}] + ", in percent", '
         'min=0, max=100)')

PAGE = '''\
{{ block title }}Round {{ round }}{{ endblock }}
{{ block content }}
<p>{{ say }}</p>
{{ table|safe }}
<input type="hidden" name="offer" value="{{ round }}">
{{ for name in shown }}{{ formfield name }}{{ endfor }}
{{ next_button }}
{{ endblock }}
'''


def export(path, project, rounds=100):
    "Write the oTree project for the session in the file `path`; returns its folder."
    with Session.open(path, write=False) as s:
        arms, states = list(s.setting.arms), list(s.setting.states)
    app = Path(project)/'offers'
    if app.parent.exists():
        raise InvalidInput('PROJECT', str(project), 'a folder that does not exist yet')
    app.mkdir(parents=True)
    for folder in '_static', '_templates':
        (app.parent/folder).mkdir()
    fields = '\n'.join(FIELD.format(i=i) for i in range(len(states)))
    code = APP.format(path=str(Path(path).resolve()), rounds=rounds, arms=arms, states=states,
                      fields=fields)
    for file, text in ((app.parent/'settings.py', SETTINGS), (app/'__init__.py', code),
                       (app/'Offer.html', PAGE)):
        file.write_text(text, encoding='utf-8')
    return app.parent


if __name__ == '__main__':
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    try:
        print(export(*sys.argv[1:3], *map(int, sys.argv[3:])))
    except (OIAError, ValueError) as e:
        sys.exit(f'otree_app: {e}')
