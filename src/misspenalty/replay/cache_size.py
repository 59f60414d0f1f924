"""Parse cache sizes as users give them: blocks, bytes with a unit, shares of the footprint.

By default, every size for a trace of blocks is converted to blocks. For a trace of objects of different sizes, bytes
and shares of the footprint are converted to bytes, and a plain number is a number of objects, whatever their sizes.
"""

import numbers
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from misspenalty.errors import ParameterError, check_choice, check_whole, listed
from misspenalty.policies.sized import LARGEST, SIZE_CHANGES
from misspenalty.traces.quantities import parse_size
from misspenalty.traces.selection import check_size
from misspenalty.traces.trace import Trace

UNITS = ("bytes", "objects")
CacheSize: TypeAlias = int | float | str


@dataclass(frozen=True)
class CacheSizes:
    """Sizes of caches for one trace.

    Attributes
    ----------
    asked : list of str
        The sizes as they were given; a share given as a float is shown in per cent.
    sizes : list of int
        The sizes in bytes, blocks or objects.
    in_bytes : bool
        Whether `sizes` are bytes; otherwise they are numbers of blocks or objects.
    block_bytes : int or None
        Bytes of a block; None if `sizes` are bytes, or numbers of objects of different sizes.
    """

    asked: list[str]
    sizes: list[int]
    in_bytes: bool
    block_bytes: int | None

    @property
    def texts(self) -> dict[int, str]:
        """The text with which each size was given; the first one if several texts give the same size."""
        return {size: text.strip() for text, size in reversed(list(zip(self.asked, self.sizes, strict=True)))}


def block_bytes_of(trace: Trace) -> int | None:
    """Return the size in bytes that all blocks or objects share; None if sizes differ, change or are 0, or there are no
    objects.

    Examples
    --------
    >>> block_bytes_of(Trace.from_blocks([1, 2])), block_bytes_of(Trace.from_blocks([1, 2], object_bytes=[7, 8]))
    (4096, None)
    """
    if trace.object_bytes is None:
        return trace.block_bytes
    size = int(trace.object_bytes[0]) if len(trace.object_bytes) else 0
    same = size > 0 and trace.request_bytes is None and bool((trace.object_bytes == size).all())
    return size if same else None


def cache_sizes(
    trace: Trace, sizes: "CacheSize | Iterable[CacheSize]", unit: str | None = None, block_bytes: int | None = None
) -> CacheSizes:
    """Parse the sizes of caches for a trace.

    Parameters
    ----------
    trace : Trace
    sizes : int, float or str, or a sequence of these
        A whole number is a number of blocks or objects; a float above 0 and up to 1 is a share of the footprint; text
        is a number, a share or bytes with a unit: ``65536``, ``5%``, ``64MB``.
    unit : {"bytes", "objects"}, optional
        With ``bytes``, all sizes, even plain numbers, are bytes of a cache of objects. With ``objects``, shares are
        shares of the number of objects. By default, for objects of different sizes, plain numbers are numbers of
        objects, and all other sizes are converted to bytes; for blocks, all sizes are converted to blocks.
    block_bytes : int, optional
        Bytes that a block takes in the cache; by default those of the trace's blocks.

    Raises
    ------
    ParameterError
        A size is malformed or out of range, no size is given, some are in bytes and others in objects, or
        `unit` is unknown.

    Examples
    --------
    >>> web = Trace.from_blocks([1, 2, 1], object_bytes=[3000, 5000, 3000])
    >>> cache_sizes(web, ["4KB", 0.5]).sizes, cache_sizes(web, [1, "2"]).sizes, cache_sizes(web, 0.5, "objects").sizes
    ([4096, 4000], [1, 2], [1])
    >>> cache_sizes(Trace.from_blocks([1, 2, 1]), ["4KB", "100%", 7]).sizes
    [1, 2, 7]
    """
    if unit is not None:
        check_choice("unit", unit, UNITS)
    given = listed(sizes)
    if not given:
        raise ParameterError("no cache size given")
    block = block_bytes_of(trace) if block_bytes is None else block_bytes
    texts = [_text(size) for size in given]
    if block is not None and unit != "bytes":
        return CacheSizes(texts, [_blocks(t, s, block, trace) for t, s in zip(texts, given, strict=True)], False, block)
    plain = [text.strip().isdigit() for text in texts]
    if unit == "objects" or (unit is None and all(plain)):
        return CacheSizes(texts, [_objects(t, s, trace) for t, s in zip(texts, given, strict=True)], False, None)
    if unit is None and any(plain):
        number = texts[plain.index(True)]
        raise ParameterError(
            f"size {number} is a number of objects, and {texts[plain.index(False)]} is not: give all sizes in objects,"
            f" or all in bytes ({number}B)"
        )
    return CacheSizes(texts, [_bytes(t, s, trace) for t, s in zip(texts, given, strict=True)], True, None)


def check_size_changes(size_changes: str, in_bytes: bool) -> None:
    """Check the rule for objects that change their size, which applies only to caches of bytes.

    Raises
    ------
    ParameterError
        The rule is unknown; or it is not the default, and the cache counts blocks or objects.
    """
    check_choice("size_changes", size_changes, SIZE_CHANGES)
    if size_changes != "replace" and not in_bytes:
        raise ParameterError(
            f"size_changes is {size_changes!r}, but blocks or objects are counted, whatever their sizes; name sizes"
            " in bytes (64MB, --by-bytes), or leave out size_changes"
        )


def _text(size: Any) -> str:
    if isinstance(size, numbers.Real) and not isinstance(size, numbers.Integral) and 0 < float(size) <= 1:
        share = float(size)
        percent = f"{100 * share:{'.9g' if share >= 0.001 else '.9f'}}"  # at most nine decimals, no exponent
        return f"{percent.rstrip('0').rstrip('.') if '.' in percent else percent}%"
    return size if isinstance(size, str) else f"{size}"


def _blocks(text: str, given: Any, block: int, trace: Trace, counted: str = "block") -> int:
    written = isinstance(given, str) or "%" in text
    return check_size(parse_size(text, block, trace.blocks, counted) if written else given)


def _objects(text: str, given: Any, trace: Trace) -> int:
    if not text.strip().isdigit() and "%" not in text:
        raise ParameterError(
            f"size {text}: objects of different sizes are counted, so bytes have no meaning; give a number of objects,"
            " or a share (5%)"
        )
    return _blocks(text, given, 1, trace, "object")


def _bytes(text: str, given: Any, trace: Trace) -> int:
    if not isinstance(given, str) and "%" not in text:
        return check_whole("cache size", given, 1, LARGEST - 1, " bytes")
    return check_whole("cache size", parse_size(text, 1, trace.footprint_bytes, "byte"), 1, LARGEST - 1, " bytes")
