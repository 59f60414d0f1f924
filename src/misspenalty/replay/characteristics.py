"""Characterize a trace by tables: its rate and working set over time, request sizes, runs, reuse, frequency.

The tables and the summary of `misspenalty.replay.profile` together describe a workload. If a trace has no times, or all
of them are equal, windows have equal numbers of references and rates are left out.
"""

import numpy as np
import pandas as pd

from misspenalty.errors import check_whole
from misspenalty.replay.sampling import SLICE
from misspenalty.traces._stack import StackDistances
from misspenalty.traces.selection import check
from misspenalty.traces.trace import Trace

WINDOWS = 60  # maximum number of windows over the whole trace
POINTS = 60  # maximum number of ranks in the frequency table


def over_time(trace: Trace, windows: int = WINDOWS) -> pd.DataFrame:
    """Compute rate and working set in windows of equal length.

    Returns
    -------
    DataFrame
        ``window``; ``start_s, references_per_s, mb_per_s`` (MB of 2**20 bytes) if the trace has times that differ;
        ``references, read_share``; ``working_set_blocks``, the number of distinct blocks (or objects) in the window;
        ``new_blocks``, those not used before; ``footprint_blocks``, those used so far; ``working_set_bytes,
        footprint_bytes``. A window without a reference has no read share.

    Raises
    ------
    ParameterError
        The trace has no references, or `windows` is not a whole number from 1 to 1,000,000.

    Examples
    --------
    >>> over_time(Trace.from_blocks([1, 2, 1, 3]), 2)[["references", "working_set_blocks", "footprint_blocks"]]
       references  working_set_blocks  footprint_blocks
    0           2                   2                 2
    1           2                   2                 3
    """
    check(trace, "count", 0)
    window, length_s = _windows(trace, check_whole("windows", windows, 1, 1_000_000))
    count = int(window.max()) + 1
    references = np.bincount(window, minlength=count)
    writes = np.zeros(count) if trace.write is None else np.bincount(window, trace.write, count)
    order = np.lexsort((window, trace.ids))
    ids, own = trace.ids[order], window[order]
    first = np.concatenate([[True], ids[1:] != ids[:-1]])
    distinct = first | np.concatenate([[True], own[1:] != own[:-1]])
    new = np.bincount(own[first], minlength=count)
    working_set = np.bincount(own[distinct], minlength=count)
    moved: np.ndarray = references * trace.block_bytes
    set_bytes: np.ndarray = working_set * trace.block_bytes
    new_bytes: np.ndarray = new * trace.block_bytes
    if trace.object_bytes is not None:
        moved = np.bincount(window, trace.bytes_of(slice(None)), count)
        each = trace.object_bytes[ids]
        set_bytes = np.bincount(own[distinct], each[distinct], count)
        new_bytes = np.bincount(own[first], each[first], count)
    table = pd.DataFrame({"window": np.arange(count)})
    if length_s:
        table["start_s"] = length_s * table["window"]
        table["references_per_s"] = references / length_s
        table["mb_per_s"] = moved / (1 << 20) / length_s
    return table.assign(
        references=references,
        read_share=np.where(references, 1 - writes / np.maximum(references, 1), np.nan),
        working_set_blocks=working_set,
        new_blocks=new,
        footprint_blocks=np.cumsum(new),
        working_set_bytes=set_bytes.astype(np.int64),
        footprint_bytes=np.cumsum(new_bytes).astype(np.int64),
    )


def _windows(trace: Trace, windows: int) -> tuple[np.ndarray, float | None]:
    """Return the window of each reference, and the length of a window in s.

    Without times, or if all are equal, windows have equal numbers of references, and the length is None.
    """
    n = len(trace)
    if trace.time is None:
        begin = span = 0
    else:
        begin = int(trace.time.min())
        span = int(trace.time.max()) - begin
    if trace.time is None or not span:
        return np.arange(n) * min(windows, n) // n, None
    first = [-(-number * span // windows) for number in range(1, windows)]  # ns, rounded up
    since = (trace.time - begin).view(np.uint64)  # a difference of times may need all 64 bits
    return np.searchsorted(np.array(first, np.uint64), since, side="right"), span / windows / 1e9


def request_sizes(trace: Trace) -> pd.DataFrame:
    """Count requests by size: ``blocks_up_to, bytes_up_to, requests, share``; empty if sizes are not known.

    Requests for objects are counted by size in bytes, in powers of two; ``blocks_up_to`` is then NaN.

    Examples
    --------
    >>> request_sizes(Trace.from_blocks([1, 2])).empty
    True
    >>> request_sizes(Trace.from_blocks([1, 2], object_bytes=[2, 65536])).query("requests > 0")["bytes_up_to"].tolist()
    [2, 65536]
    """
    blocks: np.ndarray
    if trace.object_bytes is not None:
        counts = np.bincount(octaves(np.maximum(trace.bytes_of(slice(None)), 1)))
        blocks, size = np.full(len(counts), np.nan), 1 << np.arange(len(counts))
    else:
        counts = np.array(trace.sizes.octaves if trace.sizes else (), np.int64)
        blocks = 1 << np.arange(len(counts))
        size = blocks * trace.block_bytes
    share = counts / max(counts.sum(), 1)
    return pd.DataFrame({"blocks_up_to": blocks, "bytes_up_to": size, "requests": counts, "share": share})


def runs(trace: Trace) -> pd.DataFrame:
    """Count sequential runs by length; a run is a maximal sequence of references to consecutive blocks.

    Returns
    -------
    DataFrame
        ``blocks_up_to, runs, references, share`` (of the references); lengths are in powers of two.

    Raises
    ------
    ParameterError
        The trace has no references.

    Examples
    --------
    >>> runs(Trace.from_blocks([1, 2, 3, 9]))[["blocks_up_to", "runs", "references"]].values.tolist()
    [[1, 1, 1], [2, 0, 0], [4, 1, 3]]
    """
    check(trace, "count", 0)
    ends, before = [np.empty(0, np.int64)], None
    for begin in range(0, len(trace), SLICE):
        address = trace.address[trace.ids[begin : begin + SLICE]]
        following = address[1:] == address[:-1] + np.uint64(1)
        joins = before is not None and int(address[0]) == before + 1
        ends.append(begin + np.flatnonzero(~np.concatenate([[joins], following])))
        before = int(address[-1])
    lengths = np.diff(np.append(np.concatenate(ends), len(trace)))
    octave = octaves(lengths)
    return pd.DataFrame(
        {
            "blocks_up_to": 1 << np.arange(octave.max() + 1),
            "runs": np.bincount(octave),
            "references": np.bincount(octave, lengths).astype(np.int64),
            "share": np.bincount(octave, lengths) / len(trace),
        }
    )


def reuse_distances(trace: Trace) -> pd.DataFrame:
    """Count references by stack distance, which is the size of the smallest LRU cache that holds the block.

    Returns
    -------
    DataFrame
        ``blocks_up_to, references, share, cumulative_share``; distances are in powers of two, without first uses.

    Raises
    ------
    ParameterError
        The trace has no references.

    Examples
    --------
    >>> reuse_distances(Trace.from_blocks([1, 2, 3, 1, 1]))[["blocks_up_to", "references"]].values.tolist()
    [[1, 1], [2, 0], [4, 1]]
    """
    check(trace, "count", 0)
    stack = StackDistances(trace.blocks)
    distances = np.empty(min(SLICE, len(trace)), np.uint32)
    counts = np.zeros(34, np.int64)
    for begin in range(0, len(trace), SLICE):
        ids = trace.ids[begin : begin + SLICE]
        stack.feed(ids, distances)
        again = distances[: len(ids)]
        counts += np.bincount(octaves(again[again > 0]), minlength=len(counts))
    counts = counts[: int(np.flatnonzero(counts).max(initial=0)) + 1]
    share = counts / len(trace)
    return pd.DataFrame(
        {
            "blocks_up_to": 1 << np.arange(len(counts)),
            "references": counts,
            "share": share,
            "cumulative_share": np.cumsum(share),
        }
    )


def frequencies(trace: Trace, points: int = POINTS) -> pd.DataFrame:
    """Count how often blocks are used, by rank.

    Returns
    -------
    DataFrame
        ``rank`` (1 = used most), ``references`` to the block of that rank, ``cumulative_share`` of the references that
        go to blocks up to that rank. Ranks are in geometric steps and include the first and the last.

    Raises
    ------
    ParameterError
        The trace has no references, or `points` is not a whole number from 2 to 1,000,000.

    Examples
    --------
    >>> frequencies(Trace.from_blocks([1, 1, 1, 2]))[["rank", "references", "cumulative_share"]].values.tolist()
    [[1.0, 3.0, 0.75], [2.0, 1.0, 1.0]]
    """
    check_whole("points", points, 2, 1_000_000)
    check(trace, "count", 0)
    uses = np.sort(np.bincount(trace.ids, minlength=trace.blocks))[::-1]
    rank = np.unique(np.rint(np.geomspace(1, len(uses), min(points, len(uses)))).astype(np.int64))
    return pd.DataFrame(
        {"rank": rank, "references": uses[rank - 1], "cumulative_share": np.cumsum(uses)[rank - 1] / len(trace)}
    )


def octaves(values: np.ndarray) -> np.ndarray:
    """Return, for each value, the exponent of the smallest power of two not below it; values must be at least 1.

    Examples
    --------
    >>> octaves(np.array([1, 2, 3, 4, 5])).tolist()
    [0, 1, 2, 2, 3]
    """
    number: np.ndarray = np.frexp(np.asarray(values, np.float64) - 1)[1]
    return number
