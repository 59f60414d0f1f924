# A trie of sequences of files is cut into partitions: each is a first-order node with its descendants, in one block of
# memory.

from libc.stdint cimport int32_t, uint32_t

from misspenalty.prefetch.predictors._predictor cimport file_t

cdef enum:
    NOTHING = -1                    # no node


cdef struct node_t:                 # takes 16 bytes, as in the paper; nodes are numbered within their partition
    file_t file                     # last file of the node's sequence
    uint32_t count                  # times the sequence has been seen, halved occasionally
    int32_t child                   # its most frequent child; NOTHING = none; NOTHING - n = its run of n nodes follows
    int32_t next                    # its next sibling, no more frequent; NOTHING = none


cdef struct partition_t:
    node_t* nodes                   # the first-order node, then its descendants
    uint32_t used                   # nodes; 0 = the file has not been seen
    uint32_t room                   # nodes allocated


cdef inline int32_t child_of(const node_t* nodes, int32_t node) noexcept nogil:
    """Return the most frequent child of `node`, or NOTHING."""
    return node + 1 if nodes[node].child < NOTHING else nodes[node].child


cdef inline int32_t run_of(const node_t* nodes, int32_t node) noexcept nogil:
    """Count the nodes right after `node` that are each the only likely child of the one before."""
    return NOTHING - nodes[node].child if nodes[node].child < NOTHING else 0


cdef inline int32_t alike(const node_t* nodes, const node_t* others, int32_t same, int32_t end) noexcept nogil:
    """Count how many of the `end` nodes after the first have the same files as those after `others`, up to a mismatch.

    The first `same` of them are known to match.
    """
    same = max(min(same, end), 0)
    while same < end and nodes[same + 1].file == others[same + 1].file:
        same += 1
    return same
