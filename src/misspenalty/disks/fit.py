"""Fit a drive's description to requests that were timed on it.

A host can only see when a request was issued and when it completed. The fit assumes a model with few parameters
(Ruemmler and Wilkes, An introduction to disk drive modeling, IEEE Computer 27(3), 1994):

1. *Media reads* begin far from the end of the previous request and are not cache hits. Their service time is overhead,
   seek, rotational wait and transfer; the wait is uniformly distributed over a revolution. If reads that follow a
   write are slower, they are left out: they wait until a buffered write is on the medium.
2. *Rotation* follows from the spread of the media reads' service times about the curve of step 3; if a standard
   spindle speed is near the result, the standard speed is used.
3. *Seek curve, overhead, zones* come from one robust fit (`scipy.optimize.least_squares`) of a sum: overhead, half a
   revolution, a root and a line in the distance, and a time per block that changes linearly across the drive.
4. *Cache*: whether writes complete once they are in the drive's memory, and whether the drive reads ahead; the
   combination with the lowest demerit is taken.
5. Nelder-Mead (`scipy.optimize.minimize`) then varies the parameters to minimise the demerit of the simulated service
   times.

Steps 1 to 5 use only the first half of the requests; the drive's size, if not given, follows from all requests. The
demerit of the other half shows the quality of the fit. The number of heads cannot be inferred from service times, and
the part common to all seeks cannot be separated from the overhead; the number of heads determines only the number of
tracks per cylinder.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares, minimize

from misspenalty.disks.drive.description import Description, check
from misspenalty.disks.requests import LARGEST, Requests, replay
from misspenalty.errors import ParameterError, check_whole

LEAST = 200  # minimum number of media reads for a meaningful fit
MOST_HEADS = 64
SPEEDS = (3600, 4500, 5400, 7200, 10_000, 12_000, 15_000)  # standard spindle speeds, revolutions per minute
NEAR = 0.06  # a speed is replaced by a standard speed from which it differs by less than this share
TAILS = (0.03, 0.97)  # quantiles between which times spread by 0.94 of a revolution
HELD_UP = 1.1  # writes delay reads if slow reads after a write take over this many times as long as other slow reads
ZONES = 8
HEADS = 4
STEPS = 150  # maximum number of simulations in the last step
CACHES = [(behind, ahead) for behind in (False, True) for ahead in ("none", "segment")]
RANGES = {  # ranges of the parameters that the last step varies
    "read_ms": (0.0, 20.0),
    "hit_ms": (0.0, 20.0),
    "write_ms": (0.0, 20.0),
    "buffered_ms": (0.0, 50.0),
    "seek_scale": (0.2, 3.0),
    "bus_ms": (0.0, 1.0),
    "settle_ms": (0.0, 5.0),
}


@dataclass(frozen=True)
class FittedDrive:
    """A drive fitted to requests, and how well it fits them.

    Attributes
    ----------
    kind : Description
    fitted, held_out : dict
        ``drive, requests, mean_measured_ms, mean_simulated_ms, demerit_ms`` of the fitted half and of the other half.
    """

    kind: Description
    fitted: dict
    held_out: dict


def fit(requests: Requests, name: str = "fitted", heads: int = HEADS, blocks: int | None = None) -> FittedDrive:
    """Fit a drive to measured requests.

    Parameters
    ----------
    requests : Requests
        Requests with measured service times; see `misspenalty.disks.requests.read_requests`.
    name : str
        The drive's name: lower-case letters, digits, ``_``.
    heads : int
        Tracks per cylinder.
    blocks : int, optional
        Number of blocks of the drive; by default, the drive ends with the highest block requested.

    Raises
    ------
    ParameterError
        The requests are too few, not measured, mostly took no time or were not served by a rotating drive, `blocks`
        leaves some of them out, or `heads` is not from 1 to 64.
    InputError
        The name is invalid.
    """
    if requests.measured is None:
        raise ParameterError("the requests have no measured service times, which the fit needs")
    if not len(requests.lbn):
        raise ParameterError("there are no requests to fit a drive to")
    highest = int((requests.lbn + requests.count).max())
    blocks = highest if blocks is None else _whole("blocks", blocks, LARGEST)
    if blocks < highest:
        raise ParameterError(f"blocks is {blocks}; the requests reach up to {highest}")
    heads = _whole("heads", heads, MOST_HEADS)
    half = len(requests) // 2
    known, other = _part(requests, slice(None, half)), _part(requests, slice(half, None))
    curve = media_curve(known, blocks)
    start = _start(known, curve)

    def drive(parameters, cache):
        return Description(check(describe(name, heads, blocks, curve, parameters, cache, known)))

    trials = {cache: replay(drive(start, cache), known).row()["demerit_ms"] for cache in CACHES}
    cache = min(trials, key=trials.get)
    kind = drive(_moved(lambda parameters: drive(parameters, cache), start, known), cache)
    return FittedDrive(kind, replay(kind, known).row(), replay(kind, other).row())


def _whole(what, value, most):
    """Return a whole number from 1 to `most` as an int; a float without a fraction is accepted."""
    return check_whole(what, int(value) if isinstance(value, float) and value.is_integer() else value, 1, most)


def _part(requests, part):
    return Requests(*(getattr(requests, name)[part] for name in ("lbn", "count", "write", "delay", "measured")))


@dataclass(frozen=True)
class Curve:
    """The parameters that are fitted to the media reads, in ms and blocks."""

    rpm: int
    overhead: float
    root: float  # ms per square root of the distance in blocks
    line: float  # ms per block of the distance beyond `knee`
    knee: float  # blocks
    block: tuple[float, float]  # ms per block, at the first block and at the last one


def media_curve(requests: Requests, blocks: int) -> Curve:
    """Fit rotation, seek curve, overhead and transfer times to the reads that reach the medium.

    Raises
    ------
    ParameterError
        Fewer than 200 reads begin far from the end of the previous request, most of these took no time, or their times
        do not vary as those of a rotating drive do.
    """
    lbn, count, write = requests.lbn, requests.count, requests.write.astype(bool)
    end = np.concatenate([[0], lbn[:-1] + count[:-1]])
    distance = np.abs(lbn - end).astype(float)
    media = ~write & (distance > 4 * count)
    media[:1] = False  # exclude the first request; the slice works on an empty array, too
    if np.count_nonzero(media) < LEAST:
        raise ParameterError(
            f"of the reads in the first half, {np.count_nonzero(media)} begin far from the end of the previous request;"
            f" a fit needs {LEAST}"
        )
    alone = media & ~np.concatenate([[True], write[:-1]])
    after = media & ~alone
    if np.count_nonzero(alone) >= LEAST and after.any():
        slow, usual = (np.quantile(requests.measured[part], TAILS[1]) for part in (after, alone))
        media = alone if slow > HELD_UP * usual else media
    x, n, s = distance[media] / blocks, count[media].astype(float), requests.measured[media]
    if not np.median(s) > 0:
        raise ParameterError(
            "most of the reads far from the previous request took no time; expected measured service times"
        )
    place = lbn[media] / blocks
    low = s > 0.5 * np.median(s)  # faster reads were hits in the drive's cache
    x, n, s, place = x[low], n[low], s[low], place[low]

    def times(p):
        base, root, line, first, slope = p
        return base + root * np.sqrt(np.minimum(x, KNEE)) + line * np.maximum(x - KNEE, 0) + n * (first + slope * place)

    scale = np.median(s)
    bounds = (0, [10 * scale, 20 * scale, 20 * scale, 1, 1])
    found = least_squares(
        lambda p: times(p) - s,
        [scale / 2, scale, scale / 2, 0.05, 0.01],
        bounds=bounds,
        loss="soft_l1",
        f_scale=scale / 4,
    ).x
    rest = s - times(found)
    spread = np.quantile(rest, TAILS)
    period = (spread[1] - spread[0]) / 0.94
    if not 0.6 <= period <= 1000:
        raise ParameterError(
            f"the reads far from the previous request differ by {period:.4g} ms beyond seek and transfer; expected the"
            " time of a revolution, 0.6 to 1000 ms: a fit needs a drive with rotating platters, and times in us"
        )
    rpm = 60_000 / period
    near = min(SPEEDS, key=lambda speed: abs(speed / rpm - 1))
    rpm = near if abs(near / rpm - 1) < NEAR else round(rpm)
    base, root, line, first, slope = map(float, found)
    block = max(first, 1e-3), max(first + slope, 1e-3)
    return Curve(rpm, max(base - 30_000 / rpm, 0.0), root / blocks**0.5, line / blocks, KNEE * blocks, block)


KNEE = 0.2  # distance, as a share of the drive, beyond which seek times grow linearly


def _start(requests, curve):
    """Return initial parameters, in the order of `RANGES`."""
    write = requests.write.astype(bool)
    fast = np.quantile(requests.measured[write], 0.3) if write.any() else curve.overhead
    quick = np.quantile(requests.measured[~write], 0.02)
    return np.array([curve.overhead / 2, quick / 2, curve.overhead / 2, fast, 1.0, 0.02, 0.5])


def _moved(make, start, requests):
    """Find the parameters near `start` for which the drive from `make` has the lowest demerit."""
    low, high = np.array(list(RANGES.values())).T

    def cost(parameters):
        inside = np.clip(parameters, low, high)
        return replay(make(inside), requests).row()["demerit_ms"] + np.abs(parameters - inside).sum()

    simplex = np.vstack([start, start + np.diag(np.maximum(0.3 * start, 0.05))])
    moved = minimize(cost, start, method="Nelder-Mead", options={"maxfev": STEPS, "initial_simplex": simplex}).x
    return np.clip(moved, low, high)


def describe(name, heads, blocks, curve, parameters, cache, requests):
    """Return the description of a drive with these parameters; see `RANGES` and `CACHES`."""
    read, hit, write, buffered, scale, bus, settle = (round(float(value), 6) for value in parameters)
    behind, ahead = cache
    period = 60_000 / curve.rpm
    zones, cylinders = _zones(blocks, heads, [max(round(period / block), 8) for block in curve.block])
    per_cylinder = blocks / cylinders
    knee = max(int(curve.knee / per_cylinder), 2)
    root = scale * curve.root * per_cylinder**0.5
    line = scale * curve.line * per_cylinder
    segment = max(256, int(requests.count.max()))
    after = ("after_read", "after_write")
    times = {f"read_hit_{x}": hit for x in after} | {f"read_miss_{x}": read for x in after}
    times |= {f"write_hit_{x}": buffered for x in after} | {
        f"write_miss_{x}": buffered if behind else write for x in after
    }
    how = {"status": "derived", "source": "fitted to measured requests"}
    return {
        "name": name,
        "model": f"{name}, fitted to measured requests",
        "kind": "disk",
        "note": "Fitted to service times; heads, skews and the cache's layout are not known.",
        "sources": {part: how for part in ("geometry", "mechanics", "overheads", "bus", "cache")},
        "geometry": {
            "sector_bytes": 512,
            "heads": heads,
            "cylinders": cylinders,
            "mapping": "cylinders",
            "sparing": {"scheme": "none"},
            "zones": zones,
        },
        "mechanics": {
            "rpm": curve.rpm,
            "seek": {
                "short_ms": settle,
                "short_sqrt_ms": round(root, 9),
                "long_from": knee,
                "long_ms": round(max(settle + root * knee**0.5 - line * knee, 0.0), 6),
                "long_cylinder_ms": round(line, 9),
            },
            "head_switch_ms": settle,
            "write_settle_ms": 0.0,
        },
        "overheads": times,
        "bus": {"read_block_ms": bus, "write_block_ms": bus},
        "cache": {
            "segments": 4,
            "segment_blocks": segment,
            "write_segments": 2,
            "read_ahead": ahead,
            "ahead_blocks": segment if ahead == "segment" else 0,
            "write_behind": behind,
        },
    }


def _zones(blocks, heads, sectors):
    """Return zones of equally many cylinders with evenly changing sectors per track, and the number of cylinders."""
    per_track = np.rint(np.linspace(*sectors, ZONES)).astype(int)
    each = max(int(np.ceil(blocks / (heads * per_track.sum()))), 1)
    zones = [
        {
            "first_cylinder": number * each,
            "last_cylinder": (number + 1) * each - 1,
            "sectors": int(count),
            "track_skew": round(count / 8),
            "cylinder_skew": round(count / 4),
        }
        for number, count in enumerate(per_track)
    ]
    return zones, ZONES * each
