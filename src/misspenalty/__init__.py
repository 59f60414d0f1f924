"""Miss Penalty: classic storage-caching results, reproduced from raw traces.

Open a trace, replay it, draw a curve. A trace is a file in any known format, or an array of block addresses:

>>> import misspenalty
>>> trace = misspenalty.Trace.from_blocks([1, 2, 3, 1, 2, 4, 1, 2, 5, 1, 2, 3])
>>> trace
<Trace 'array' (array): 12 references (12 reads) to 5 blocks of 4096 bytes, footprint 20 KB>
>>> misspenalty.simulate(trace, "mq", 3).hits
6
>>> misspenalty.hit_ratio_curve(trace, ["lru", "opt"], [2, 4])[["policy", "cache_blocks", "hits"]]
  policy  cache_blocks  hits
0    lru             2     0
1    lru             4     6
2    opt             2     3
3    opt             4     7

A policy of your own is a class with ``access``; `simulate` and `hit_ratio_curve` accept it in place of a name:

>>> class Keep:
...     "The first blocks stay."
...     def __init__(self, capacity):
...         self.capacity, self.cached = capacity, set()
...     def access(self, block):
...         hit = block in self.cached
...         if len(self.cached) < self.capacity:
...             self.cached.add(block)
...         return hit
>>> misspenalty.simulate(trace, Keep, 4).hits
7
"""

from misspenalty import signals  # noqa: F401, I001, first, so that it handles signals before anything else is imported
from typing import TYPE_CHECKING

from misspenalty.errors import InputError, MissPenaltyError, ParameterError
from misspenalty.latency.penalty import penalty
from misspenalty.latency.steps import DelayedHits, delayed_hits
from misspenalty.replay.by_bytes import byte_hit_ratio_curve
from misspenalty.replay.curves import stack_distances
from misspenalty.replay.prefix import prefix_hit_ratio_curve
from misspenalty.replay.result import ByteResult, Result
from misspenalty.replay.simulation import hit_ratio_curve, simulate
from misspenalty.traces import Trace, formats, open_trace

if TYPE_CHECKING:  # type checkers do not see that this package is callable
    from misspenalty.policies import known_policies as policies
else:
    from misspenalty import policies

__version__ = "1.0.0"

__all__ = [
    "ByteResult",
    "DelayedHits",
    "InputError",
    "MissPenaltyError",
    "ParameterError",
    "Result",
    "Trace",
    "byte_hit_ratio_curve",
    "delayed_hits",
    "hit_ratio_curve",
    "open_trace",
    "penalty",
    "policies",
    "prefix_hit_ratio_curve",
    "simulate",
    "stack_distances",
]

# Import the policies and formats, including plug-ins, now, so that the first replay takes no longer than later ones.
# This comes last because a plug-in in turn imports this package.
policies()
formats()
