"""Replay references through an LRU cache that writes back, and record its requests; write_back.py defines the cache."""

from libc.stdint cimport int32_t, uint8_t, uint32_t

from misspenalty._kernel cimport SLICE, check_signals


def pass_down(const uint32_t[::1] ids, const uint8_t[::1] write, Py_ssize_t capacity, Py_ssize_t blocks,
              int32_t[::1] older, int32_t[::1] newer, uint8_t[::1] state, uint32_t[::1] below, uint8_t[::1] kind,
              uint32_t[::1] cause):
    """Replay references through the cache.

    Parameters
    ----------
    ids : uint32, shape (n,)
        Block of each reference, below `blocks`.
    write : uint8, shape (n,)
        Whether the reference is a write.
    capacity, blocks : int
        Blocks that the cache holds, at least 1, and number of distinct blocks.
    older, newer : int32, shape (blocks,)
        Scratch space for each block's neighbours in order of use.
    state : uint8, shape (blocks,)
        Scratch space, which must hold zeros: 1 = held, 2 = held and dirty.
    below, kind, cause : uint32, uint8, uint32, shape (2 * n,)
        Filled in for each request to the level below: its block, whether it is a write, the reference that caused it.

    Returns
    -------
    int
        Number of requests to the level below.

    Raises
    ------
    IndexError
        An array is too short, a block is not below `blocks`, `blocks` is above 2^31 - 1, or the capacity is below 1.
    """
    cdef Py_ssize_t i, n = ids.shape[0], held = 0, out = 0
    cdef int32_t block, first = -1, last = -1, victim
    if (write.shape[0] < n or min(below.shape[0], kind.shape[0], cause.shape[0]) < 2 * n or capacity < 1
            or min(older.shape[0], newer.shape[0], state.shape[0]) < blocks or blocks >= 2**31):
        raise IndexError(f"{n} references to {blocks} blocks need longer arrays and a capacity of at least 1")
    for i in range(n):
        if ids[i] >= blocks:
            raise IndexError(f"reference {i + 1} is to block {ids[i]}; there are {blocks}")
    with nogil:
        for i in range(n):
            if i % SLICE == SLICE - 1:
                check_signals()
            block = <int32_t>ids[i]
            if state[block]:
                if block != last:                               # take it out of the order of use
                    unlink(older, newer, block, &first)
            else:
                if held == capacity:
                    victim = first
                    first = newer[victim]
                    if first >= 0:
                        older[first] = -1
                    else:
                        last = first                            # the cache is empty
                    if state[victim] == 2:
                        below[out], kind[out], cause[out] = <uint32_t>victim, 1, <uint32_t>i
                        out += 1
                    state[victim] = 0
                else:
                    held += 1
                if not write[i]:
                    below[out], kind[out], cause[out] = <uint32_t>block, 0, <uint32_t>i
                    out += 1
                state[block] = 1
            if block != last:
                older[block], newer[block] = last, -1
                if last >= 0:
                    newer[last] = block
                else:
                    first = block
                last = block
            if write[i]:
                state[block] = 2
    return out


cdef inline void unlink(int32_t[::1] older, int32_t[::1] newer, int32_t block, int32_t* first) noexcept nogil:
    """Link the neighbours of a block, which must not be the last one, to each other."""
    if older[block] >= 0:
        newer[older[block]] = newer[block]
    else:
        first[0] = newer[block]
    older[newer[block]] = older[block]
