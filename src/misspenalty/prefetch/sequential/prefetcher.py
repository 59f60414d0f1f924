"""Detect sequential reads, and prefetch synchronously and asynchronously, in front of a cache of tracks.

A cached track has a counter, the length of the run that ends there. On the first access to the track, whether it is
fetched by that access or was prefetched, the counter is set to one more than that of the previous track if that is
cached, otherwise to 1; it is at most `threshold`, and stays until the track is evicted. A track whose counter is
`threshold` is sequential. A read that misses a sequential track also reads the next `degree` tracks (synchronous
prefetch). The track that lies `trigger` tracks before the last one of such a group carries a trigger: a read hit there
reads the next group of `degree` tracks ahead of the stream (asynchronous prefetch), and sets a trigger in it. A trigger
also moves the tracks of its own group that are still unread to the MRU end: they are needed before the new ones, and
could otherwise be evicted first (`remedy`).

Paper: B. S. Gill, D. S. Modha, "SARC: sequential prefetching in adaptive replacement cache", USENIX 2005, sections
II-A (detection), II-B (prefetching) and II-C (the anomaly). The form of the remedy is that of the authors' US patents
7,464,246 and 7,509,470, which agrees with II-C. Authors' code: none published.

Deviations and decisions:

- The paper gives no values for threshold, degree and the position of the trigger; the defaults are ours (a public port
  of the algorithm has threshold 3), and groups are not aligned. The last group ends with the volume.
- A prefetched track has no counter before its first access, as II-A sets counters on accesses (an unset one counts as
  0). Marking it as sequential at once, as an unverified source says, lets a group that was fetched on a wrong guess
  cause the next, and such groups multiply among densely cached random data.
- Tracks have up to eight pages, any of which may be cached. Requested pages that a cached track lacks are read alone,
  or with the rest of the track if it is sequential; such an access moves the track like a hit but is counted as a miss.
- Written tracks count towards a run and enter the cache, but writes prefetch nothing; a written track of a run enters
  as sequential data unless `writes_sequential` is 0.
- Any online policy can be used behind the prefetcher. A policy without SEQ and RANDOM lists treats a prefetch as a
  reference; the remedy would be a second reference and is left out.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from misspenalty.errors import ParameterError
from misspenalty.policies._track_cache import TrackCache
from misspenalty.policies.registry import Definition, Parameter, find_policy
from misspenalty.policies.track_cache import THRESHOLD
from misspenalty.policies.track_layout import MOST_TRACKS, places
from misspenalty.prefetch.sequential import amp
from misspenalty.prefetch.sequential._behind import Behind
from misspenalty.traces.selection import check_size

NAME = "sequential"

PARAMETERS = (
    Parameter("degree", 8, "tracks per group", 0, 256),
    Parameter("trigger", None, "tracks from the trigger to its group's end, auto: half the degree; -1: none", -1, 255),
    Parameter("threshold", None, f"{THRESHOLD.doc}, auto: the policy's, else {THRESHOLD.default}", 1, 255),
    Parameter("remedy", 1, "1: a trigger moves the unread rest of its group to the MRU end", 0, 1),
    Parameter("writes_sequential", 1, "1: written tracks of a run count as sequential", 0, 1),
)
TRACKS = Parameter("tracks", None, "number of tracks", 1, MOST_TRACKS)
TRACK_PAGES = Parameter("track_pages", 1, "pages per track", 1, 8)
KINDS = {NAME: PARAMETERS, amp.NAME: amp.PARAMETERS}
OBSERVED = ("delta", "count_writes")  # parameters of SARC's ratio


def check(settings):
    """Check the settings of the prefetcher, and fill in defaults except for the threshold.

    Parameters
    ----------
    settings : mapping or str or None
        A name in `KINDS`, in upper or lower case: "sequential", with a fixed degree, or "amp"; or settings by name,
        where ``kind`` names the prefetcher ("sequential" if left out); None = no prefetching.

    Returns
    -------
    dict or None

    Raises
    ------
    ParameterError
        A name is unknown, a value is invalid, or the trigger would lie outside its group.

    Examples
    --------
    >>> check({"degree": 4})
    {'degree': 4, 'trigger': 2, 'threshold': None, 'remedy': 1, 'writes_sequential': 1}
    >>> check("amp")["most"]
    32
    """
    if settings is None:
        return None
    settings = {"kind": settings} if isinstance(settings, str) else settings
    kind = settings.get("kind", NAME) if isinstance(settings, Mapping) else settings
    kind = kind.strip().lower() if isinstance(kind, str) else kind
    if not isinstance(kind, str) or kind not in KINDS:
        names = " or ".join(map(repr, KINDS))
        raise ParameterError(f"prefetch is {kind!r}; expected {names}, or settings by name")
    own = {name: value for name, value in settings.items() if name != "kind"}
    values = Definition("prefetch", None, object, KINDS[kind]).check(own)
    if kind == amp.NAME:
        return amp.FIXED | values
    if values["trigger"] is None:
        values["trigger"] = values["degree"] // 2 if values["degree"] else -1
    if values["trigger"] >= max(values["degree"], 1):
        raise ParameterError(
            f"prefetch: trigger is {values['trigger']}, degree {values['degree']}; expected a trigger below the degree"
        )
    return values


def track_cache(
    policy: str | type | Definition,
    capacity: int,
    tracks: int | None = None,
    *,
    address: np.ndarray | None = None,
    track_pages: int = 1,
    prefetch: Mapping[str, Any] | str | None = None,
    observe: Mapping[str, Any] | None = None,
    **parameters: Any,
) -> Any:
    """Make a cache of tracks: a kernel that replays a trace, or whose ``request`` a controller calls.

    Parameters
    ----------
    policy : str or Definition
        An online policy that has a kernel, as `misspenalty.policies.find_policy` takes it.
    capacity : int
        Cache size, pages; at least one track.
    tracks : int
        Number of tracks; left out if `address` is given.
    address : uint64, shape (blocks,), optional
        Address of each block of a trace. Then a block is a track of one page, and ``replay`` takes its ids.
    track_pages : int
        Pages per track, 1 to 8.
    prefetch : mapping or str, optional
        Settings of the prefetcher, as in `check`; by default nothing is prefetched.
    observe : mapping, optional
        For LRU Top and LRU Bottom: ``delta`` and ``count_writes`` of SARC's ratio, which both compute but do not use.
    **parameters
        The policy's own parameters.

    Returns
    -------
    TrackCache

    Raises
    ------
    ParameterError
        The policy is unknown, looks into the future, has no kernel or, with "amp", is not a policy on tracks; both or
        neither of `tracks` and `address` are given; or a value is invalid, contradicts another or does not apply to the
        policy.

    Examples
    --------
    >>> cache = track_cache("lru_top", 50, 100, prefetch={"kind": "amp", "threshold": 2})
    >>> [cache.access_pages(track)[0] for track in range(8)]
    [1, 1, 0, 1, 0, 0, 1, 0]
    """
    definition = find_policy(policy)
    name = definition.name
    capacity, track_pages = check_size(capacity), TRACK_PAGES.check(track_pages, name)
    if (tracks is None) == (address is None):
        raise ParameterError("expected either the number of tracks or the addresses of blocks, not both")
    if definition.offline:
        raise ParameterError(f"{name} looks into the future: it cannot be used behind a prefetcher")
    if definition.kernel is None:
        raise ParameterError(
            f"{name} is written in Python and cannot work behind the prefetcher; use a compiled policy"
        )
    settings, parameters = _settings(definition, prefetch, parameters)
    blocks = tracks = TRACKS.check(tracks, name)
    if address is not None:
        reach = settings["degree"] + max(settings["trigger"], 0) + 2 * settings.get("most", 0)
        blocks = len(address)
        settings["places"], tracks = places(address, reach)
    settings |= {"tracks": tracks, "track_pages": track_pages} | _observed(definition, observe or {})
    if isinstance(definition.kernel, type) and issubclass(definition.kernel, TrackCache):
        return definition.kernel(capacity, blocks, **parameters, **settings)
    if settings.get("most"):
        raise ParameterError(f"amp needs a policy on tracks (sarc, lru_top, lru_bottom); {name} is not one")
    if tracks * track_pages >= 1 << 32:
        raise ParameterError(f"{name}: {tracks} tracks of {track_pages} pages; expected fewer than 2**32 pages")
    return Behind(capacity, blocks, definition.kernel(capacity, tracks * track_pages, **parameters), **settings)


def _settings(definition, prefetch, parameters):
    """Return the complete settings of the prefetcher, with the threshold, and of the policy, without it."""
    own = definition.spatial and "threshold" in {p.name for p in definition.parameters}
    settings = check({"degree": 0} if prefetch is None else prefetch)
    if own and "threshold" in parameters and settings["threshold"] not in (None, parameters["threshold"]):
        raise ParameterError(
            f"{definition.name}: threshold is {parameters['threshold']}, but prefetch has {settings['threshold']};"
            " expected only one of them"
        )
    parameters = definition.check(parameters)
    threshold = parameters.pop("threshold", None) if own else None
    if settings["threshold"] is None:
        settings["threshold"] = threshold or THRESHOLD.default
    return settings, parameters


def _observed(definition, observe):
    """Check the parameters of the ratio that LRU Top and LRU Bottom compute but do not use; return them."""
    known = {p.name: p for p in find_policy("sarc").parameters if p.name in OBSERVED}
    if observe and (not definition.spatial or known.keys() <= {p.name for p in definition.parameters}):
        raise ParameterError(f"{definition.name}: observe is only for lru_top and lru_bottom; leave it out")
    if unknown := observe.keys() - known.keys():
        raise ParameterError(f"{definition.name}: cannot observe {min(unknown)!r}; expected {' or '.join(known)}")
    return {name: known[name].check(value, definition.name) for name, value in observe.items()}
