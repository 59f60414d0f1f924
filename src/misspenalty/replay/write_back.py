"""Replay references through an LRU cache that writes back, and list its requests to the level below.

The cache passes on a read of a block that it does not hold. It does not pass on a write, but marks the block as dirty
and writes it when it is evicted. A write of a block that is not held needs no read, because whole blocks are written.
Blocks that are dirty at the end of the trace are not written.
"""

import numpy as np

from misspenalty.errors import ParameterError
from misspenalty.replay._write_back import pass_down


def requests_below(
    ids: np.ndarray, write: np.ndarray | None, capacity: int, blocks: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the requests that an LRU cache that writes back makes to the level below.

    Parameters
    ----------
    ids : uint32 array, shape (n,)
        Block of each reference.
    write : bool array, shape (n,), or None
        Whether each reference is a write; None if all are reads.
    capacity : int
        Capacity of the cache in blocks.
    blocks : int
        Number of distinct blocks.

    Returns
    -------
    ids : uint32 array, shape (m,)
        Block of each request; a dirty block is written before the block that replaces it is read.
    write : bool array, shape (m,)
    cause : uint32 array, shape (m,)
        The reference that caused each request.

    Raises
    ------
    ParameterError
        The cache holds no block.
    IndexError
        A block is not below `blocks`, or `write` is shorter than `ids`.

    Examples
    --------
    >>> ids, write, cause = requests_below(np.array([0, 1, 2], np.uint32), np.array([True, False, False]), 2, 3)
    >>> ids.tolist(), write.tolist(), cause.tolist()
    ([1, 0, 2], [False, True, False], [1, 2, 2])
    """
    if capacity < 1:
        raise ParameterError(f"a cache of {capacity} blocks; expected at least 1")
    n = len(ids)
    write = np.zeros(n, np.uint8) if write is None else np.ascontiguousarray(write, bool).view(np.uint8)
    below, kind, cause = np.empty(2 * n, np.uint32), np.empty(2 * n, np.uint8), np.empty(2 * n, np.uint32)
    number = pass_down(np.ascontiguousarray(ids, np.uint32), write, capacity, blocks, below, kind, cause)
    return below[:number].copy(), kind[:number].astype(bool), cause[:number].copy()
