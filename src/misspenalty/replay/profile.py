"""Profile a trace: volume, rate, request sizes, reads, sequentiality, reuse."""

from typing import Any

import numpy as np

from misspenalty.replay.sampling import SLICE
from misspenalty.traces._stack import StackDistances
from misspenalty.traces.reading import counted
from misspenalty.traces.selection import check
from misspenalty.traces.trace import Trace, format_bytes


def profile(trace: Trace) -> dict[str, Any]:
    """Measure the values that summarise a trace.

    Returns
    -------
    dict
        ``name, format``; ``references, reads, writes, blocks, block_bytes, footprint_bytes, seconds``; ``read_share``;
        ``requests`` with their ``request_blocks_mean, _median, _p95, _max`` (before they were split into blocks) and
        ``requests_per_s``, ``references_per_s``, ``mb_per_s`` (2**20 bytes); for objects ``object_bytes_mean, _median,
        _max``, counting each object once; ``sequential_share``, the share of references to the block after that of the
        previous reference; ``used_once_share``, the share of blocks used only once; ``reused_share``, the share of
        references to a block used before; the quantiles ``reuse_distance_p50, _p90, _p99`` of these references, each
        the size in blocks of the LRU cache that serves that share of them. A value that the trace does not determine
        is None.

    Raises
    ------
    ParameterError
        The trace has no references.

    Examples
    --------
    >>> found = profile(Trace.from_blocks([1, 2, 3, 1, 2, 3]))
    >>> found["sequential_share"], found["reused_share"], found["reuse_distance_p50"]
    (0.6666666666666666, 0.5, 3)
    """
    check(trace, "count", 0)
    n, sizes = len(trace), trace.sizes
    seconds = None if trace.time is None else int(trace.time.max() - trace.time.min()) / 1e9
    per_s = 1 / seconds if seconds else None
    requests = None if sizes is None else sizes.requests
    distances, uses, sequential = _walk(trace)
    used_once = int(np.count_nonzero(uses == 1))
    size = trace.object_bytes
    moved = n * trace.block_bytes if size is None else int(uses @ size)
    if trace.request_bytes is not None:
        moved = int(trace.request_bytes.sum())
    reused = int(distances.sum())
    reach = [int(np.searchsorted(np.cumsum(distances), share * reused)) if reused else None for share in QUANTILES]
    return {
        "name": trace.name,
        "format": trace.format,
        "references": n,
        "reads": trace.reads,
        "writes": n - trace.reads,
        "blocks": trace.blocks,
        "block_bytes": trace.block_bytes,
        "footprint_bytes": trace.footprint_bytes,
        "seconds": seconds,
        "read_share": trace.reads / n,
        "requests": requests,
        "request_blocks_mean": None if requests is None else n / requests,
        "request_blocks_median": None if sizes is None else sizes.median,
        "request_blocks_p95": None if sizes is None else sizes.p95,
        "request_blocks_max": None if sizes is None else sizes.largest,
        "requests_per_s": None if per_s is None or requests is None else requests * per_s,
        "references_per_s": None if per_s is None else n * per_s,
        "mb_per_s": None if per_s is None else moved / (1 << 20) * per_s,
        "object_bytes_mean": None if size is None else float(size.mean()),
        "object_bytes_median": None if size is None else int(np.sort(size)[(len(size) - 1) // 2]),
        "object_bytes_max": None if size is None else int(size.max()),
        "sequential_share": sequential / n,
        "used_once_share": used_once / trace.blocks,
        "reused_share": reused / n,
        "reuse_distance_p50": reach[0],
        "reuse_distance_p90": reach[1],
        "reuse_distance_p99": reach[2],
    }


QUANTILES = (0.5, 0.9, 0.99)


def _walk(trace: Trace) -> tuple[np.ndarray, np.ndarray, int]:
    """Count references by stack distance (without first references), references by block, and sequential references."""
    stack = StackDistances(trace.blocks)
    histogram, uses = np.zeros(trace.blocks + 1, np.int64), np.zeros(trace.blocks, np.int64)
    distances, before, sequential = np.empty(min(SLICE, len(trace)), np.uint32), None, 0
    for begin in range(0, len(trace), SLICE):
        ids = trace.ids[begin : begin + SLICE]
        stack.feed(ids, distances)
        histogram += np.bincount(distances[: len(ids)], minlength=len(histogram))
        uses += np.bincount(ids, minlength=len(uses))
        address = trace.address[ids]
        sequential += int(np.count_nonzero(address[1:] == address[:-1] + np.uint64(1)))
        sequential += before is not None and int(address[0]) == before + 1
        before = int(address[-1])
    histogram[0] = 0
    return histogram, uses, sequential


def describe(found: dict[str, Any]) -> str:
    """Render a profile as text, without values that are None.

    Examples
    --------
    >>> print(describe(profile(Trace.from_blocks([1, 2, 3, 1, 2, 3]))))
    trace           array (array)
    references      6, 100.00% reads
    footprint       3 blocks of 4096 bytes, 12 KB
    sequential      66.67% of the references, to the block after the previous one
    reuse           50.00% of the references; 0.00% of the blocks are used once
    reuse distance  half within 3 blocks (12 KB), 90 % within 3 blocks (12 KB), 99 % within 3 blocks (12 KB)
    """
    block = found["block_bytes"]
    what = "block" if found["object_bytes_max"] is None else "object"
    lines = {
        "trace": f"{found['name']} ({found['format']})",
        "references": f"{found['references']:,}, {found['read_share']:.2%} reads",
        "footprint": f"{counted(found['blocks'], 'blocks')} of {block} bytes, {format_bytes(found['footprint_bytes'])}",
    }
    if found["object_bytes_max"] is not None:
        lines["footprint"] = f"{counted(found['blocks'], 'objects')}, {format_bytes(found['footprint_bytes'])}"
        lines["objects"] = (
            f"of {format_bytes(found['object_bytes_mean'])} on average, half up to"
            f" {format_bytes(found['object_bytes_median'])}, the largest {format_bytes(found['object_bytes_max'])}"
        )
    elif found["requests"] is not None:
        lines["requests"] = (
            f"{found['requests']:,}; of {format_bytes(found['request_blocks_mean'] * block)} on average, half up to"
            f" {format_bytes(found['request_blocks_median'] * block)},"
            f" 95 % up to {format_bytes(found['request_blocks_p95'] * block)},"
            f" the longest {format_bytes(found['request_blocks_max'] * block)}"
        )
    if found["references_per_s"] is not None:
        rates = [f"{found['references_per_s']:,.1f} references per s", f"{found['mb_per_s']:,.2f} MB per s"]
        if found["requests_per_s"] is not None:
            rates.insert(0, f"{found['requests_per_s']:,.1f} requests per s")
        seconds = found["seconds"]
        lines["rate"] = f"{', '.join(rates)}, over {seconds:{',.1f' if seconds >= 1 else '.3g'}} s"
    lines["sequential"] = f"{found['sequential_share']:.2%} of the references, to the {what} after the previous one"
    lines["reuse"] = (
        f"{found['reused_share']:.2%} of the references; {found['used_once_share']:.2%} of the {what}s are used once"
    )
    if found["reuse_distance_p50"] is not None:
        reach = {
            "half": found["reuse_distance_p50"],
            "90 %": found["reuse_distance_p90"],
            "99 %": found["reuse_distance_p99"],
        }
        lines["reuse distance"] = ", ".join(
            f"{share} within {counted(d, what + 's')}" + (f" ({format_bytes(d * block)})" if what == "block" else "")
            for share, d in reach.items()
        )
    return "\n".join(f"{name:14}  {line}" for name, line in lines.items())
