"""Simulate the step model of delayed hits: a request whose object is being fetched waits for the rest of the fetch.

Model, published program and policies: N. Atre, J. Sherry, W. Wang, D. S. Berger, "Caching with Delayed Hits",
SIGCOMM 2020, and the repository cmu-snap/Delayed-Hits, whose counts the tests compare with ours.

At most one request arrives in a step. A request for a cached object is a hit and does not wait. A request for an
object that is neither cached nor being fetched is a miss: it begins a fetch that takes z steps. A request for an object
being fetched is a delayed hit: if the fetch began in step s, a request in step i waits s + z - i steps. The fetch
completes at the end of step s + z - 1, after that step's request, and only then does the object enter the cache. Any
number of fetches can be in progress. The cache is empty at the start.

``lru``, ``opt`` and their variants count the end of a fetch as one use, however many requests wait for it; ``arc`` and
``arc_mad`` put the object into T2 if more than one waits. ``arc`` rounds the ratios of its ghost lists to whole
numbers, unlike the policy of this name in `misspenalty.policies`. ``opt`` and ``opt_mad`` may refuse an object.

The variants rank by aggregate delay. A window of z steps opens at a request; its aggregate delay is z for that
request plus z - t for each further request that comes t < z steps later. The victim is the object with the lowest rank,
which is:

- ``lru_mad``: mean aggregate delay of the object's windows so far, divided by one plus the steps since its last
  request;
- ``arc_mad``: the same within T1 or T2, leaving out the running window (unless it is the only one), with the first
  request alone in its window, and 0 for an object with at most two requests if z > 100;
- ``opt_mad``: aggregate delay of the next window, divided by one plus the steps to its start.

On ties, the object whose first request was earliest is evicted; the published program uses the order of a hash table.

Decision: if T1 fills the whole cache, the published ``arc_mad`` exchanges step and fetch time in the rank and uses
unsigned arithmetic. This affects its results, so the program here does the same.
"""

from dataclasses import dataclass

import numpy as np

from misspenalty.errors import ParameterError, check_whole
from misspenalty.latency._steps import KERNELS
from misspenalty.latency._steps import run as _run
from misspenalty.traces._compile import Interner
from misspenalty.traces.columns import unmasked

POLICIES = tuple(KERNELS)
MAX_STEPS = 2**31 - 1


@dataclass(frozen=True)
class DelayedHits:
    """Outcome of one run of the step model.

    Attributes
    ----------
    policy : str
    cache_blocks, fetch_steps : int
    hits, delayed_hits, misses : int
        Number of requests by outcome.
    total_latency : int
        Total wait of all requests, steps.
    """

    policy: str
    cache_blocks: int
    fetch_steps: int
    hits: int
    delayed_hits: int
    misses: int
    total_latency: int

    @property
    def requests(self) -> int:
        """Number of steps with a request."""
        return self.hits + self.delayed_hits + self.misses

    @property
    def mean_latency(self) -> float:
        """Mean wait of a request, steps; NaN if there was none."""
        return self.total_latency / self.requests if self.requests else float("nan")


def delayed_hits(requests, policy: str, cache_blocks: int, fetch_steps: int) -> DelayedHits:
    """Replay requests in the step model of delayed hits, one step per item.

    Parameters
    ----------
    requests : array_like of int, shape (steps,)
        The object requested in each step, a number of at least 0; -1 marks a step without a request.
    policy : {"lru", "lru_mad", "arc", "arc_mad", "opt", "opt_mad"}
        The policy, in upper or lower case; ``_mad`` marks the variants that rank by aggregate delay.
    cache_blocks : int
        Number of objects that fit into the cache.
    fetch_steps : int
        Number of steps that a fetch takes, z; with 1 there are no delayed hits.

    Returns
    -------
    DelayedHits

    Raises
    ------
    ParameterError
        The policy is unknown, a size or time is out of range, or `requests` is too long or is not a one-dimensional
        array of whole numbers of at least -1.

    Notes
    -----
    The model, from Atre et al., "Caching with Delayed Hits", SIGCOMM 2020, is described in `misspenalty.latency.steps`.

    Examples
    --------
    The second request for object 7 waits for the last step of the fetch; the third is a hit.

    >>> import misspenalty
    >>> outcome = misspenalty.delayed_hits([7, -1, 7, 7], "lru", cache_blocks=1, fetch_steps=3)
    >>> outcome.hits, outcome.delayed_hits, outcome.misses, outcome.total_latency
    (1, 1, 1, 4)
    """
    name = policy.strip().lower() if isinstance(policy, str) else policy
    if not isinstance(name, str) or name not in POLICIES:
        raise ParameterError(f"unknown policy {policy!r} of the step model; known: {', '.join(POLICIES)}")
    capacity, z = (
        check_whole(name, value, 1, MAX_STEPS)
        for name, value in (("cache_blocks", cache_blocks), ("fetch_steps", fetch_steps))
    )
    objects, steps = _dense(requests)
    return DelayedHits(name, capacity, z, *_run(name, steps, objects, capacity, z))


def _dense(requests):
    """Return the number of objects, and the requests with objects numbered in order of their first request."""
    requests = unmasked(requests, "requests")
    if requests.ndim != 1 or (requests.size and requests.dtype.kind not in "iu"):
        raise ParameterError(
            f"requests is an array of shape {requests.shape} and type {requests.dtype}; expected a one-dimensional"
            " array of whole numbers, -1 for steps without a request"
        )
    if requests.size > MAX_STEPS:
        raise ParameterError(f"requests has {requests.size} steps; expected at most {MAX_STEPS}")
    if requests.size and requests.dtype.kind == "i" and requests.min() < -1:
        at = int(requests.argmin())
        raise ParameterError(
            f"requests[{at}] is {requests[at]}; expected an object number of at least 0, or -1 for no request"
        )
    made = np.full(requests.size, -1, np.int32)
    asked = requests != -1 if requests.dtype.kind == "i" else np.ones(requests.size, bool)
    interner = Interner()
    made[asked] = interner.ids(requests[asked].astype(np.uint64))
    return len(interner), made
