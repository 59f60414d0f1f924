"""Miss Penalty: five classic storage-caching results, reproduced from raw traces.

Open a trace, replay it, draw a curve:

>>> import misspenalty
>>> trace = misspenalty.open_trace("mine.spc")                                   # doctest: +SKIP
>>> misspenalty.simulate(trace, "mq", 65536).hit_ratio                           # doctest: +SKIP
>>> misspenalty.hit_ratio_curve(trace, "lru", cache_blocks=[1024, 4096, 16384])  # doctest: +SKIP
"""

from misspenalty import policies
from misspenalty.errors import InputError, MissPenaltyError, ParameterError
from misspenalty.latency.penalty import penalty
from misspenalty.latency.steps import DelayedHits, delayed_hits
from misspenalty.replay.curves import stack_distances
from misspenalty.replay.simulation import Result, hit_ratio_curve, simulate
from misspenalty.traces import Trace, open_trace

policies.known_policies()  # imported now, so that the first replay takes no longer than the next

__version__ = "0.1.0"

__all__ = [
    "DelayedHits",
    "InputError",
    "MissPenaltyError",
    "ParameterError",
    "Result",
    "Trace",
    "delayed_hits",
    "hit_ratio_curve",
    "open_trace",
    "penalty",
    "policies",
    "simulate",
    "stack_distances",
]
