"""Select parts of a trace, join two traces, and find the references that warm up a cache."""

import dataclasses
import numbers
import os
import re
from collections.abc import Callable

import numpy as np

from misspenalty.errors import InputError, ParameterError, is_number
from misspenalty.traces._compile import Interner
from misspenalty.traces.columns import LARGEST_VALUE, object_sizes
from misspenalty.traces.compiled import as_trace
from misspenalty.traces.quantities import is_time, parse_time, share_of
from misspenalty.traces.reading import counted
from misspenalty.traces.trace import Trace

SHARE = re.compile(r"\s*([0-9]{1,3}(?:\.[0-9]{1,9})?)\s*%\s*")
QUANTITY = re.compile(r"\s*[+-]?[0-9]+(\.[0-9]+)?\s*[a-zµ%]*\s*", re.I)
WARM_UP = "a number of references (100000), a share (20%), a time with its unit (10m), or an existing trace"
ITEMS = "all, reads, writes, skip=N, first=N, from=TIME, to=TIME"


def select(trace: Trace, selection: str) -> Trace:
    """Return the part of a trace that a selection describes.

    Parameters
    ----------
    trace : Trace
    selection : str
        Items separated by commas: ``all``; ``reads`` or ``writes``; ``from=10m`` and ``to=2h``, times since the
        trace began; ``skip=N`` and ``first=N``, numbers of references, applied after the other items.

    Raises
    ------
    ParameterError
        An item is unknown or invalid for this trace, or nothing is left.

    Examples
    --------
    >>> trace = Trace.from_blocks([5, 6, 5, 7], write=[False, True, False, False])
    >>> part = select(trace, "reads,first=2")
    >>> part.address[part.ids].tolist()
    [5, 5]
    """
    items = parse_selection(selection)
    if not items:
        return trace
    kept = np.ones(len(trace), bool)
    if {"from", "to"} & items.keys():
        if trace.time is None:
            raise ParameterError(f"selection {selection!r}: {trace.name} has no times; select with skip and first")
        since = trace.time - trace.time[0]
        if "from" in items:
            kept &= since >= items["from"]
        if "to" in items:
            kept &= since < items["to"]
    if {"reads", "writes"} & items.keys():
        write = np.zeros(len(trace), bool) if trace.write is None else np.asarray(trace.write)
        kept &= write == ("writes" in items)
    chosen = np.flatnonzero(kept)[items.get("skip", 0) :][: items.get("first", len(trace))]
    if not chosen.size:
        has = counted(len(trace), "references")
        raise ParameterError(f"selection {selection!r} leaves no reference of {trace.name}, which has {has}")
    columns = [None if values is None else values[chosen] for values in (trace.write, trace.time)]
    sizes = None if trace.object_bytes is None else trace.bytes_of(chosen)
    return _rebuilt(trace, trace.address[trace.ids[chosen]], *columns, sizes)


def parse_selection(selection: str) -> dict[str, int]:
    """Return the items of a selection for `select`, with times in ns.

    Raises
    ------
    ParameterError
        An item is unknown, is given twice, or has an invalid value; or both reads and writes are given.

    Examples
    --------
    >>> parse_selection("reads, first=1000"), parse_selection("all")
    ({'reads': 1, 'first': 1000}, {})
    """
    items: dict[str, int] = {}
    for text in selection.split(","):
        name, equals, value = (part.strip() for part in text.partition("="))
        if name in ("from", "to") and equals:
            number = parse_time(value, f"selection: {name}")
        elif name in ("skip", "first") and re.fullmatch(r"[0-9]{1,12}", value):
            number = int(value)
        elif name in ("reads", "writes", "all", "") and not equals:
            number = 1
        else:
            raise ParameterError(f"selection {selection!r}: {text.strip()!r}; expected one of {ITEMS}")
        if name in items or (name in ("reads", "writes") and {"reads", "writes"} & items.keys()):
            clash = f"{name} is given twice" if name in items else "reads and writes exclude each other"
            raise ParameterError(f"selection {selection!r}: {clash}; leave one out")
        if name not in ("all", ""):
            items[name] = number
    return items


def join(first: Trace, second: Trace) -> Trace:
    """Return a trace of the references of `first`, then those of `second`; blocks of equal address are the same.

    The times of `second` are shifted to start at the latest time of `first`; the result has no times unless both
    traces have times.

    Raises
    ------
    ParameterError
        The traces have blocks of different sizes, only one of them has objects with sizes, or the times of both do not
        fit into 64 bits.

    Examples
    --------
    >>> both = join(Trace.from_blocks([1, 2]), Trace.from_blocks([2, 3]))
    >>> both.ids.tolist()
    [0, 1, 1, 2]
    """
    if first.block_bytes != second.block_bytes:
        raise ParameterError(
            f"{first.name} has blocks of {first.block_bytes} bytes, {second.name} of {second.block_bytes}: open both"
            " with the same block size"
        )
    if (first.object_bytes is None) != (second.object_bytes is None):
        sized, other = (first, second) if second.object_bytes is None else (second, first)
        raise ParameterError(f"{sized.name} has objects with sizes, {other.name} has none: they cannot be joined")
    blocks = np.concatenate([trace.address[trace.ids] for trace in (first, second)])
    write = None
    if first.write is not None or second.write is not None:
        write = np.concatenate([np.zeros(len(t), bool) if t.write is None else t.write for t in (first, second)])
    time = None
    if first.time is not None and second.time is not None:
        shift = int(first.time.max()) - int(second.time[0])
        if not -LARGEST_VALUE <= int(second.time.min()) + shift <= int(second.time.max()) + shift <= LARGEST_VALUE:
            raise ParameterError(f"{first.name} and {second.name} last more than 2**63 ns (292 years) together")
        time = np.concatenate([first.time, second.time - second.time[0] + first.time.max()])
    sizes = None
    if second.object_bytes is not None:
        sizes = np.concatenate([trace.bytes_of(slice(None)) for trace in (first, second)])
    return _rebuilt(second, blocks, write, time, sizes)


def warm_up(
    trace: Trace, text: "str | int | os.PathLike[str]", opened: Callable[[str], Trace] = as_trace
) -> tuple[Trace, int]:
    """Return the trace to replay, and the number of references at its start that are not counted.

    Parameters
    ----------
    trace : Trace
    text : str, int or path-like
        References (``100000``), a share of them (``20%``), a time since the trace began (``10m``), or another trace,
        which is replayed first.
    opened : callable
        Opens another trace, given its path.

    Returns
    -------
    trace : Trace
    references : int

    Raises
    ------
    InputError
        There is no such trace, or it cannot be read.
    ParameterError
        The warm-up is malformed or has an unknown unit, is a time although the trace has no times, is a trace that
        cannot be joined, or leaves no references to be counted.

    Examples
    --------
    >>> trace = Trace.from_blocks([1, 2, 1, 2, 1])
    >>> warm_up(trace, "40%")[1], warm_up(trace, 3)[1]
    (2, 3)
    """
    text = os.fspath(text) if isinstance(text, os.PathLike) else text
    text = text.strip() if isinstance(text, str) and not os.path.exists(text) else text
    if isinstance(text, str) and not re.fullmatch(r"[0-9]{1,18}", text):
        if share := SHARE.fullmatch(text):
            references = share_of(share[1], len(trace))
        elif os.path.exists(text):
            other = opened(text)
            trace, references = join(other, trace), len(other)
        elif is_time(text):
            if trace.time is None:
                raise ParameterError(f"warm-up {text}: {trace.name} has no times; give references or a share (20%)")
            since = np.maximum.accumulate(trace.time - trace.time[0])
            references = int(np.searchsorted(since, parse_time(text, "warm-up")))
        elif QUANTITY.fullmatch(text):
            raise ParameterError(f"warm-up is {text!r}; expected {WARM_UP}")
        else:
            raise InputError("no such file", path=text, remedy=f"a warm-up is {WARM_UP}")
    elif isinstance(text, str) or (is_number(text) and isinstance(text, numbers.Integral)):
        references = int(text)
    else:
        raise ParameterError(f"warm-up is {text!r}; expected {WARM_UP}")
    if references < 0:
        raise ParameterError(f"warm-up is {text}; expected {WARM_UP}")
    if references >= len(trace):
        given = "" if str(text) == str(references) else f" ({text})"
        raise ParameterError(
            f"a warm-up of {counted(references, 'references')}{given} leaves none of the {len(trace)} references of"
            f" {trace.name} to be counted; choose a shorter one"
        )
    return trace, references


def _rebuilt(
    like: Trace, blocks: np.ndarray, write: np.ndarray | None, time: np.ndarray | None, sizes: np.ndarray | None
) -> Trace:
    """Return a trace of these blocks with the other attributes of `like`; the sizes of its requests are unknown."""
    interner = Interner()
    ids = interner.ids(np.ascontiguousarray(blocks))
    address = interner.addresses_by_id()
    own, changing = object_sizes(ids, sizes)
    return dataclasses.replace(
        like,
        ids=ids,
        write=write,
        time=time,
        address=address,
        object_bytes=own,
        request_bytes=changing,
        sizes=None,
    )
