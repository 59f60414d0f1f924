"""Compute when a block was used last, and when it will be used next."""

import numpy as np

from libc.stdint cimport uint32_t

from misspenalty._kernel cimport check_ids

NEVER = 0xFFFFFFFF


def previous_use(const uint32_t[::1] ids, Py_ssize_t blocks):
    """Return the temporal distance of each access.

    The distance is the access's number minus that of the previous access to the same block (MQ paper, "Temporal
    Distance"): in A B C D B A, the second B has distance 3 and the second A has distance 5.

    Parameters
    ----------
    ids : uint32, shape (n,)
        Dense block ids.
    blocks : int
        Number of distinct blocks; every id is below this number.

    Returns
    -------
    uint32, shape (n,)
        Distance in accesses; 0 for the first access to a block.

    Raises
    ------
    IndexError
        An id is not below `blocks`.
    """
    check_ids(ids, blocks)
    last = np.full(blocks, NEVER, np.uint32)
    result = np.empty(ids.shape[0], np.uint32)
    cdef uint32_t[::1] seen = last, out = result
    cdef Py_ssize_t i
    cdef uint32_t never = 0xFFFFFFFF
    with nogil:
        for i in range(ids.shape[0]):
            out[i] = 0 if seen[ids[i]] == never else <uint32_t>i - seen[ids[i]]
            seen[ids[i]] = <uint32_t>i
    return result


def next_use(const uint32_t[::1] ids, Py_ssize_t blocks):
    """Return for each access the number (from 0) of the next access to the same block, or `NEVER`; uint32, shape (n,).

    Raises
    ------
    IndexError
        An id is not below `blocks`.
    """
    check_ids(ids, blocks)
    coming = np.full(blocks, NEVER, np.uint32)
    result = np.empty(ids.shape[0], np.uint32)
    cdef uint32_t[::1] ahead = coming, out = result
    cdef Py_ssize_t i
    with nogil:
        for i in range(ids.shape[0] - 1, -1, -1):
            out[i] = ahead[ids[i]]
            ahead[ids[i]] = <uint32_t>i
    return result
