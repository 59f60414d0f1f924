"""Compute the exact LRU stack distances of all references in one pass.

A reference's stack distance is the number of distinct blocks used since its block was last used, including that block:
its depth in the LRU stack, so it hits in every cache of at least that many blocks (Mattson et al. 1970). Uses are
numbered by position. Each block has the position of its latest use, which is marked in an array of bits. The distance
of a reference is the number of marks from its block's mark on; then that mark moves to the end.

Above the bits is a tree with 64 children per node. A child stores how many marks its older siblings hold, so counting
the marks before a position reads one number per level, and removing a mark subtracts 1 from the numbers of the younger
siblings, up to 63 neighbours in memory, at each level. When the positions run out, the marks are compacted. The arrays
take 4 bytes per block and, with SPARE = 4 positions per block, about 0.8 more.
"""

import numpy as np

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from misspenalty._kernel cimport SLICE, Kernel, check_ids, check_signals, prefetch

cdef enum:
    AHEAD = 16                  # distance at which positions are prefetched, references
    SPARE = 4                   # number of positions per block
    SMALLEST = 4096             # minimum number of positions
    LEVELS = 6                  # maximum number of levels of the tree: 64 ** 6 words
    UNUSED = 0                  # position of a block not yet used


cdef inline int _ones(uint64_t x) noexcept nogil:
    """Return the number of set bits, without the popcount instruction, which not every processor has."""
    x -= (x >> 1) & 0x5555555555555555ULL
    x = (x & 0x3333333333333333ULL) + ((x >> 2) & 0x3333333333333333ULL)
    return <int>((((x + (x >> 4)) & 0x0F0F0F0F0F0F0F0FULL) * 0x0101010101010101ULL) >> 56)


cdef class StackDistances(Kernel):
    """The LRU stack of ids below `blocks`."""

    cdef readonly Py_ssize_t blocks         # maximum number of distinct blocks
    cdef readonly Py_ssize_t live           # number of distinct blocks so far
    cdef readonly int64_t memory            # bytes of all arrays
    cdef uint32_t* last                     # position of each block's latest use, or UNUSED
    cdef uint64_t* marks                    # one bit per position
    cdef uint32_t* older[LEVELS]            # per node, the number of marks in its older siblings
    cdef int levels
    cdef uint64_t room                      # number of positions
    cdef uint64_t end                       # position of the next use

    def __cinit__(self, Py_ssize_t blocks):
        cdef uint64_t nodes
        self.blocks = blocks
        self.room = min((max(SPARE * <uint64_t>blocks, SMALLEST) + 64) & ~63ULL, 0xFFFFFFC0ULL)
        if blocks > <Py_ssize_t>(self.room // 4 * 3):
            raise OverflowError(f"{blocks} distinct blocks; at most {self.room // 4 * 3} can be counted")
        self.last = <uint32_t*>self.allocate(blocks + 1, sizeof(uint32_t))
        nodes = self.room // 64
        self.marks = <uint64_t*>self.allocate(nodes, sizeof(uint64_t))
        while True:
            self.older[self.levels] = <uint32_t*>self.allocate((nodes | 63) + 1, sizeof(uint32_t))
            self.levels += 1
            if nodes <= 64:
                break
            nodes = (nodes + 63) // 64
        self.end = 1

    cdef void* allocate(self, size_t n, size_t size) except NULL:
        self.memory += n * size
        return Kernel.allocate(self, n, size)

    cdef inline uint32_t _before(self, uint64_t position) noexcept nogil:
        """Count the marks before `position`, which lies before the end."""
        cdef uint32_t marks = _ones(self.marks[position >> 6] & ((<uint64_t>1 << (position & 63)) - 1))
        cdef int level
        for level in range(self.levels):
            position >>= 6
            marks += self.older[level][position]
        return marks

    cdef inline void _take_away(self, uint64_t position) noexcept nogil:
        cdef uint64_t node = position >> 6, sibling
        cdef uint32_t* older
        cdef int level
        self.marks[node] &= ~(<uint64_t>1 << (position & 63))
        for level in range(self.levels):
            older = self.older[level]
            for sibling in range(node + 1, (node | 63) + 1):
                older[sibling] -= 1
            node >>= 6

    cdef inline void _add(self, uint32_t block) noexcept nogil:
        """Mark the end as the latest use of `block`."""
        if self.end == self.room:
            self._close_up()
        if not self.end & 63:
            self._open(self.end >> 6)
        self.marks[self.end >> 6] |= <uint64_t>1 << (self.end & 63)
        self.last[block] = <uint32_t>self.end
        self.end += 1

    cdef void _open(self, uint64_t word) noexcept nogil:
        """Set `older` of the nodes that begin with this word to the number of marks from their first sibling on."""
        cdef uint64_t node
        cdef uint32_t before = 0            # marks before the node's first sibling
        cdef int level = self.levels - 1
        while level >= 0:
            node = word >> (6 * level)
            if node << (6 * level) == word:
                self.older[level][node] = <uint32_t>self.live - before if node & 63 else 0
            before += self.older[level][node]
            level -= 1

    cdef void _close_up(self) noexcept nogil:
        """Move all marks to the lowest positions."""
        cdef uint64_t word
        cdef Py_ssize_t block
        for block in range(self.blocks):
            if self.last[block] != UNUSED:
                self.last[block] = self._before(self.last[block]) + 1
        memset(self.marks, 0, self.room // 8)
        self.end = self.live + 1
        word = self.end >> 6
        memset(self.marks, 0xFF, word * 8)
        self.marks[word] |= (<uint64_t>1 << (self.end & 63)) - 1
        self.marks[0] &= ~<uint64_t>1       # position 0 means UNUSED
        self._count()

    cdef void _count(self) noexcept nogil:
        """Rebuild the counts of the tree once all positions before the end, except 0, are marked."""
        cdef uint64_t node, nodes, first, covered
        cdef int level
        for level in range(self.levels):
            nodes = (self.end >> (6 * (level + 1))) + 1
            for node in range(nodes):
                covered = min(node << (6 * (level + 1)), self.end)
                first = (node & ~63ULL) << (6 * (level + 1))
                # positions 1 to end - 1 are all marked
                self.older[level][node] = <uint32_t>(covered - first - (1 if covered and not first else 0))

    def feed(self, const uint32_t[::1] ids, uint32_t[::1] distances):
        """Reference `ids`, and fill in their stack distances; 0 for a block's first reference."""
        cdef Py_ssize_t i, n = ids.shape[0]
        cdef uint32_t block
        cdef uint64_t position
        if distances.shape[0] < n:
            raise IndexError("distances is shorter than ids")
        check_ids(ids, self.blocks)
        with self, nogil:
            for i in range(n):
                if i % SLICE == SLICE - 1:
                    check_signals()
                if i + AHEAD < n:
                    prefetch(&self.last[ids[i + AHEAD]])
                block = ids[i]
                position = self.last[block]
                if position == UNUSED:
                    distances[i] = 0
                    self._add(block)
                    self.live += 1
                    continue
                distances[i] = <uint32_t>self.live - self._before(position)
                if position != self.end - 1:
                    self._take_away(position)
                    self.live -= 1
                    self._add(block)
                    self.live += 1


def tally(const uint32_t[::1] distances, const uint8_t[::1] counted, int64_t[::1] histogram, int64_t[::1] of_all):
    """Count all distances in `of_all`, and those with a nonzero `counted` (all if it is empty) in `histogram`."""
    cdef Py_ssize_t i, n = distances.shape[0]
    cdef bint everywhere = counted.shape[0] == 0
    with nogil:
        if everywhere:
            for i in range(n):
                of_all[distances[i]] += 1
                histogram[distances[i]] += 1
        else:
            for i in range(n):
                of_all[distances[i]] += 1
                histogram[distances[i]] += counted[i] != 0


def first_uses(const uint32_t[::1] ids, const uint8_t[::1] counted, uint8_t[::1] seen):
    """Count the references to unseen blocks where `counted` is not 0, or all of these references if `counted` is empty.

    `seen`, which has one entry per block, is updated.
    """
    cdef Py_ssize_t i, n = ids.shape[0]
    cdef int64_t found = 0
    cdef bint everywhere = counted.shape[0] == 0
    if not everywhere and counted.shape[0] < n:
        raise IndexError("counted is shorter than ids")
    check_ids(ids, seen.shape[0])
    with nogil:
        for i in range(n):
            if not seen[ids[i]]:
                seen[ids[i]] = 1
                found += everywhere or counted[i] != 0
    return found


def sampled(const uint32_t[::1] ids, const uint32_t[::1] numbers, const uint8_t[::1] counted, uint32_t[::1] chosen,
            uint8_t[::1] chosen_counted):
    """Select the references to sampled blocks.

    Parameters
    ----------
    ids : uint32, shape (n,)
    numbers : uint32, shape (blocks,)
        Each block's number in the sample plus 1; 0 for a block outside it.
    counted : uint8, shape (n,) or (0,)
        Which references count; all do if it is empty.
    chosen, chosen_counted : uint32 and uint8, shape (n,)
        Filled, for each reference to a sampled block, with the block's number in the sample and whether it counts.

    Returns
    -------
    int
        Number of references to sampled blocks.
    """
    cdef Py_ssize_t i, n = ids.shape[0], k = 0
    cdef bint everywhere = counted.shape[0] == 0
    if chosen.shape[0] < n or chosen_counted.shape[0] < n or (not everywhere and counted.shape[0] < n):
        raise IndexError("chosen, chosen_counted or counted is shorter than ids")
    check_ids(ids, numbers.shape[0])
    with nogil:
        for i in range(n):
            if numbers[ids[i]]:
                chosen[k] = numbers[ids[i]] - 1
                chosen_counted[k] = everywhere or counted[i] != 0
                k += 1
    return k
