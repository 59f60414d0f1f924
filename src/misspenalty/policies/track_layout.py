"""Number a trace's blocks by relative position: sequential prefetching depends only on which block follows which."""

import numpy as np

from misspenalty.errors import ParameterError
from misspenalty.policies._track_cache import MOST_TRACKS


def places(address: np.ndarray, reach: int) -> tuple[np.ndarray, int]:
    """Return a compact numbering in which blocks are neighbours if and only if their addresses are.

    Gaps between addresses are shortened to just beyond the reach of a prefetch, so that the numbering contains every
    block that can enter the cache, referenced or not, and no prefetch runs across a shortened gap.

    Parameters
    ----------
    address : uint64, shape (blocks,)
        Address of each dense id.
    reach : int
        Number of blocks after a referenced one that a prefetch may touch.

    Returns
    -------
    place : uint32, shape (blocks,)
        Place of each dense id in the numbering; the first is 1.
    length : int
        Number of places, including those that a prefetch may touch after the last block.

    Raises
    ------
    ParameterError
        There would be more than `MOST_TRACKS` places.
    """
    address = np.asarray(address, np.uint64)
    order = np.argsort(address, kind="stable")
    gaps = np.minimum(np.diff(address[order]), np.uint64(reach + 2)).astype(np.int64)
    line = np.cumsum(np.concatenate([[1], gaps]))
    length = int(line[-1]) + reach + 2
    if length > MOST_TRACKS:
        raise ParameterError(
            f"{address.size} blocks, and those that a prefetch may read after them, take {length} tracks; expected at"
            f" most {MOST_TRACKS}: lower the degree of the prefetcher (amp: most), or replay a shorter trace"
        )
    place = np.empty(address.size, np.uint32)
    place[order] = line
    return place, length
