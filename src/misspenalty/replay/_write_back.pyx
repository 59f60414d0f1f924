"""Replay references through an LRU cache that writes back, and record its requests; write_back.py defines the cache."""

from libc.stdint cimport uint8_t, uint32_t

from misspenalty._kernel cimport SLICE, check_ids, check_signals, zeros
from misspenalty.policies._list cimport Link, append, make_list, oldest, remove
from misspenalty.policies._policy cimport block_t


def pass_down(const block_t[::1] ids, const uint8_t[::1] write, Py_ssize_t capacity, Py_ssize_t blocks,
              uint32_t[::1] below, uint8_t[::1] kind, uint32_t[::1] cause):
    """Replay references through the cache.

    Parameters
    ----------
    ids : uint32, shape (n,)
        Block of each reference, below `blocks`.
    write : uint8, shape (n,)
        Whether the reference is a write.
    capacity, blocks : int
        Capacity of the cache in blocks, at least 1, and number of distinct blocks.
    below, kind, cause : uint32, uint8, uint32, shape (2 * n,)
        Filled in for each request to the level below: its block, whether it is a write, and the reference that caused
        it.

    Returns
    -------
    int
        Number of requests to the level below.

    Raises
    ------
    IndexError
        An array is too short, a block is not below `blocks`, `blocks` is negative or above 2^32 - 2, or the capacity
        is below 1.
    """
    cdef Py_ssize_t i, n = ids.shape[0], held = 0, out = 0
    cdef block_t block, victim, head = <block_t>blocks
    if (write.shape[0] < n or min(below.shape[0], kind.shape[0], cause.shape[0]) < 2 * n or capacity < 1
            or not 0 <= blocks < 0xFFFFFFFF):
        raise IndexError(f"{n} references to {blocks} blocks need longer arrays and a capacity of at least 1")
    check_ids(ids, blocks)
    cdef uint32_t[::1] links = zeros("I", 2 * (blocks + 1))     # by block, and for the head: neighbours in order of use
    cdef uint8_t[::1] state = zeros("B", blocks)                # by block: 1 = held, 2 = held and dirty
    cdef void* nodes = &links[0]
    with nogil:
        make_list(nodes, sizeof(Link), head)
        for i in range(n):
            if i % SLICE == SLICE - 1:
                check_signals()
            block = ids[i]
            if state[block]:
                remove(nodes, sizeof(Link), block)
            else:
                if held == capacity:
                    victim = oldest(nodes, sizeof(Link), head)
                    remove(nodes, sizeof(Link), victim)
                    if state[victim] == 2:
                        below[out], kind[out], cause[out] = victim, 1, <uint32_t>i
                        out += 1
                    state[victim] = 0
                else:
                    held += 1
                if not write[i]:
                    below[out], kind[out], cause[out] = block, 0, <uint32_t>i
                    out += 1
                state[block] = 1
            append(nodes, sizeof(Link), head, block)
            if write[i]:
                state[block] = 2
    return out
