"""Best scoring rule identification: what to pay an expert whose effort and costs nobody sees.

`oia_nb.identify` and the other names of `oia_nb.all` are here as well; what they need is
loaded once one of them is asked for.
"""
__version__ = "0.3.0"

TYPE_CHECKING = False      # to a type checker it is True; typing takes its time to load

if TYPE_CHECKING:
    from .all import *

def __getattr__(name):
    "A name of `oia_nb.all`; that of a module is the module."
    from importlib import import_module
    from importlib.util import find_spec
    if not name.startswith('_') and not find_spec(f'{__name__}.{name}'):
        everything = import_module(f'{__name__}.all')
        if name in everything.__all__:
            return getattr(everything, name)
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}', name=name, obj=None)

def __dir__():
    "What is loaded, and the names of `oia_nb.all`."
    from importlib import import_module
    return sorted({*globals(), *import_module(f'{__name__}.all').__all__})
