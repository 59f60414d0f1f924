"""Fill in sizes that rows do not state, such as that of an object that a server did not send again (304)."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

UNKNOWN = -1
CHUNK = 1 << 20  # number of references processed at a time
KINDS = ("blank", "zero")  # what a table may write for an unknown size; a zero is unknown only with a read


def notes(count: int) -> tuple[str, ...]:
    """Return a note that this many sizes are unknown, or none if `count` is 0.

    Examples
    --------
    >>> notes(1), notes(0)
    (('1 size unknown, taken from other requests to the same object if any states it',), ())
    """
    said = f"{count:,} size{'s' * (count > 1)} unknown, taken from other requests to the same object if any states it"
    return (said,) if count else ()


def notes_never(objects: int) -> tuple[str, ...]:
    """Return a note that the sizes of this many objects are never known, or none if `objects` is 0."""
    return (f"{objects:,} object{'s' * (objects > 1)} of unknown size, taken for 0 bytes",) if objects else ()


def fill(ids: Path, sizes: Path, objects: int) -> int:
    """Replace each unknown size in a file with the object's last known size before it, else with the first after it,
    else with 0; return the number of objects whose size is never known.

    Parameters
    ----------
    ids, sizes : Path
        Files of uint32 and int64, one entry per reference; `sizes` is changed.
    objects : int
        Number of objects; every id is below this number.
    """
    known = _first_known(_chunks(ids, sizes), objects)  # `_filled` then replaces these with the last known sizes
    never = known == UNKNOWN
    known[never] = 0
    place = 0
    with open(sizes, "r+b") as file:
        for part, asked in _chunks(ids, sizes):
            file.seek(place * asked.itemsize)
            file.write(_filled(part, asked, known).data)
            place += len(part)
    return int(np.count_nonzero(never))


def filled(ids: np.ndarray, asked: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the sizes of references in memory, with unknown ones replaced, and the number that `fill` returns.

    Examples
    --------
    >>> filled(np.array([0, 1, 0, 2]), np.array([-1, 7, 5, -1]))
    (array([5, 7, 5, 0]), 1)
    """
    known = _first_known([(ids, asked)], int(ids.max()) + 1)
    return _filled(ids, asked, np.maximum(known, 0)), int(np.count_nonzero(known == UNKNOWN))


def _first_known(chunks: Iterable[tuple[np.ndarray, np.ndarray]], objects: int) -> np.ndarray:
    """Return the first known size of each object, `UNKNOWN` if there is none."""
    known = np.full(objects, UNKNOWN, np.int64)
    for part, asked in chunks:
        told = asked != UNKNOWN
        new, first = np.unique(part[told], return_index=True)
        fresh = known[new] == UNKNOWN
        known[new[fresh]] = asked[told][first[fresh]]
    return known


def _filled(ids: np.ndarray, asked: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return `asked` with unknown sizes filled in; `known`, the last size of each object, is updated.

    Examples
    --------
    >>> _filled(np.array([0, 1, 0, 1]), np.array([-1, 7, 5, -1]), np.array([3, 4])).tolist()
    [3, 7, 5, 7]
    """
    order = np.argsort(ids, kind="stable")
    own, values = ids[order], asked[order]
    begins = np.flatnonzero(np.diff(own, prepend=-1) != 0)
    begin = np.repeat(begins, np.diff(begins, append=len(own)))
    last = np.maximum.accumulate(np.where(values != UNKNOWN, np.arange(len(own)), -1))
    made = np.where(last >= begin, values[last], known[own])
    known[own] = made  # the last entry of each object stays
    result = np.empty_like(asked)
    result[order] = made
    return result


def _chunks(ids: Path, sizes: Path):
    with open(ids, "rb") as first, open(sizes, "rb") as second:
        while (part := np.fromfile(first, np.uint32, CHUNK)).size:
            yield part.astype(np.int64), np.fromfile(second, np.int64, part.size)
