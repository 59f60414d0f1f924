"""Select the references to replay and those to count, by read or write and by warm-up; count the compulsory misses."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from misspenalty.errors import ParameterError, check_choice, check_whole
from misspenalty.traces._stack import first_uses
from misspenalty.traces.trace import Trace

WRITES = ("count", "ignore", "refresh", "only")
MOST_REFERENCES = 0xFFFFFFFE  # maximum that a kernel's 32-bit clock can count, and maximum number of blocks in a cache
NONE = np.empty(0, np.uint8)  # for kernels: no mask, all references count


def check(trace: Trace, writes: str, warm_up: int) -> int:
    """Return `warm_up` as an int, after checking `warm_up`, `writes` and the trace, which must not be empty.

    NumPy's integers are accepted but converted, because they would wrap around in a subtraction.
    """
    trace.check()
    check_choice("writes", writes, WRITES)
    if not len(trace):
        raise ParameterError(f"trace {trace.name} has no references")
    return check_whole("warm_up", warm_up, 0, len(trace) - 1)


def check_stack(trace: Trace, writes: str, warm_up: int) -> int:
    """Check as `check` does, and refuse "refresh", for a pass over all cache sizes at once."""
    warm_up = check(trace, writes, warm_up)
    if writes == "refresh":
        raise ParameterError(
            "writes is 'refresh': which writes reach the cache depends on its size, and one pass cannot give all sizes;"
            " choose another rule for writes, or name the sizes and leave out sample"
        )
    return warm_up


def check_size(cache_blocks: Any) -> int:
    """Return `cache_blocks` as an int.

    Raises
    ------
    ParameterError
        `cache_blocks` is not a whole number, or is out of range.
    """
    return check_whole("cache size", cache_blocks, 1, MOST_REFERENCES, " blocks")


def slices(trace: Trace, writes: str, warm_up: int, size: int) -> Iterator[tuple[slice, np.ndarray, np.ndarray | None]]:
    """Yield the trace in slices of `size` references.

    Yields
    ------
    part : slice
        Slice of the trace.
    ids : uint32
        Ids of the references in `part` that reach the cache, or may reach it.
    counted : bool, as `ids`, or None
        Which of them count towards the hit ratio; None if all do.
    """
    for begin in range(0, len(trace), size):
        part = slice(begin, min(begin + size, len(trace)))
        yield part, selected(trace, writes, part, trace.ids[part]), _counted(trace, writes, part, warm_up - begin)


def selected(trace: Trace, writes: str, part: slice, values: np.ndarray) -> np.ndarray:
    """Return those of `values`, one per reference in `part`, that belong to the references that `slices` yields."""
    if trace.write is None or writes != "ignore":
        return values
    kept: np.ndarray = np.compress(~trace.write[part], values)  # ten times as fast as an index of booleans
    return kept


def _counted(trace: Trace, writes: str, part: slice, skip: int) -> np.ndarray | None:
    """Return which of the references that `slices` yields count, None if all do; the first `skip` of `part` do not."""
    write = np.zeros(part.stop - part.start, bool) if trace.write is None else trace.write[part]
    counted = write.copy() if writes == "only" else ~write
    counted[: max(skip, 0)] = False
    counted = selected(trace, writes, part, counted)
    return None if counted.all() else counted


def as_mask(counted: np.ndarray | None) -> np.ndarray:
    """Return `counted` in the form that kernels expect."""
    return NONE if counted is None else counted.view(np.uint8)


def cold_misses(trace: Trace, writes: str, warm_up: int) -> int:
    """Return the number of requests that miss in every cache, whatever its size and policy.

    These are the requests that count and whose block no earlier reference loaded. A read of a block that a write or the
    warm-up loaded is therefore not one of them. A write that only refreshes loads nothing. The number is computed once
    and cached.
    """
    writes = "ignore" if writes == "refresh" else writes
    key = ("cold_misses", writes, warm_up)
    if key not in trace._known:
        seen = np.zeros(trace.blocks, np.uint8)
        parts = slices(trace, writes, warm_up, 1 << 20)
        trace._known[key] = sum(first_uses(ids, as_mask(counted), seen) for _, ids, counted in parts)
    return int(trace._known[key])


def counted_requests(trace: Trace, writes: str, warm_up: int) -> int:
    """Return the number of requests that count towards the hit ratio."""
    parts = slices(trace, writes, warm_up, 1 << 20)
    return sum(ids.shape[0] if counted is None else int(np.count_nonzero(counted)) for _, ids, counted in parts)


def record(trace: Trace, writes: str, part: slice, hit: np.ndarray, hits: np.ndarray | None) -> None:
    """Store the outcomes of the references that `slices` yields for `part` in `hits`, which has one entry per reference
    of the trace; do nothing if `hits` is None.
    """
    if hits is None:
        return
    if trace.write is None or writes != "ignore":
        hits[part] = hit
    else:
        hits[part][np.flatnonzero(~trace.write[part])] = hit
