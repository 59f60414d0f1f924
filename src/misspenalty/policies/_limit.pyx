"""Do the minimum work of a replay; the benchmark compares the speed of policies with it."""

from libc.stdint cimport uint8_t, uint32_t

from misspenalty._kernel cimport check_ids
from misspenalty.policies._policy cimport AHEAD, block_t, prefetch


def touch(const block_t[::1] ids, uint32_t[::1] nodes, uint8_t[::1] hit):
    """Do the minimum work of a replay: one pass over `ids` that reads and writes each id's node.

    Parameters
    ----------
    ids : uint32, shape (n,)
    nodes : uint32, longer than the highest id
        Number of times that each node has been touched; updated in place.
    hit : uint8, at least n long
        Set to whether the node had been touched before.

    Raises
    ------
    IndexError
        `nodes` or `hit` is too short.
    """
    cdef Py_ssize_t i, n = ids.shape[0]
    cdef uint32_t node
    check_ids(ids, nodes.shape[0])
    if hit.shape[0] < n:
        raise IndexError(f"hit has length {hit.shape[0]}; expected at least {n}")
    with nogil:
        for i in range(n):
            if i + AHEAD < n:
                prefetch(&nodes[ids[i + AHEAD]])
            node = nodes[ids[i]]
            hit[i] = node != 0
            nodes[ids[i]] = node + 1
