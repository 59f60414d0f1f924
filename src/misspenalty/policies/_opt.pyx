"""Kernel of OPT; the definition is in opt.py.

Whether the optimum keeps a block between two uses can be told at the second use, without looking ahead (as OPTgen of
A. Jain, C. Lin, ISCA 2016, does for sets of a processor cache). Each slot except the one the current block needs is
busy up to some access; at each re-use, in order of time, give the stay since the previous use to the slot that became
free last before it began, if any: a hit; else a miss. This packs the most stays into the slots, and the stays it drops
are those MIN cuts short.

The ends of the slots' stays are marks on the axis of accesses, at most one per access. The last mark at or below a
position is found by union-find: a position without a mark points to a lower one. When the axis is full, only the
marks are kept and renumbered.
"""

from libc.stdint cimport uint8_t, uint32_t

from misspenalty.policies._policy cimport AHEAD, NEAR, Policy, block_t, prefetch

cdef enum:
    NEVER = 0                   # `last` of a block not used yet
    BASE = 1                    # position before all accesses, where slots never used are free


cdef class OPT(Policy):
    cdef uint32_t* last         # position of a block's last access; one per block
    cdef uint32_t* lower        # the position itself if marked, else a lower one, with no mark in between
    cdef uint32_t end           # position of the coming access; `lower` is set up to end - 2
    cdef uint32_t limit         # length of the axis
    cdef uint32_t spare         # slots never used
    cdef block_t newest         # most recently used block
    cdef bint begun             # whether there is one

    def __cinit__(self, capacity, blocks):
        self.offline = True
        self.last = <uint32_t*>self.allocate(blocks, sizeof(uint32_t))
        self.limit = <uint32_t>min(self.max_resident() + 2 * blocks + 4096, 0xFFFFFFF0)
        self.lower = <uint32_t*>self.allocate(self.limit, sizeof(uint32_t))
        self.lower[BASE] = BASE
        self.end = BASE + 2
        self.spare = <uint32_t>max(self.max_resident() - 1, 0)

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        cdef uint32_t* last = self.last
        cdef uint32_t* lower = self.lower
        cdef uint32_t end = self.end, at, next
        cdef Py_ssize_t i, misses = 0
        cdef block_t block, newest = self.newest
        if not self.begun:
            self.begun = True
            newest = ~ids[0]
        for i in range(n):
            if i + AHEAD < n:
                prefetch(&last[ids[i + AHEAD]])
                prefetch(&lower[last[ids[i + NEAR]]])
            block = ids[i]
            if block == newest:
                hit[i] = True
                continue
            newest = block
            if end == self.limit:
                self.end = end
                self.renumber()
                end = self.end
            at = last[block]
            last[block] = end
            lower[end - 1] = lower[end - 2]
            end += 1
            hit[i] = False
            if at != NEVER:
                while True:
                    next = lower[at]
                    if next == at:
                        break
                    lower[at] = lower[next]
                    at = next
                if at != BASE:
                    lower[at] = lower[at - 1]
                    lower[end - 2] = end - 2
                    hit[i] = True
                elif self.spare:
                    self.spare -= 1
                    lower[end - 2] = end - 2
                    hit[i] = True
            misses += not hit[i]
        self.newest = newest
        self.end = end
        self.evictions += misses - min(misses, self.capacity - self.resident)
        self.resident += min(misses, self.capacity - self.resident)

    cdef void renumber(self) noexcept nogil:
        """Keep only the marks: a block's position becomes that of the last mark at or below it.

        But the newest block's stays above them: the next mark may come to where it is.
        """
        cdef uint32_t* lower = self.lower
        cdef uint32_t x, mark = BASE
        cdef Py_ssize_t block
        for x in range(BASE + 1, self.end - 1):
            mark += lower[x] == x
            lower[x] = mark
        lower[self.end - 1] = mark + 1
        for block in range(self.blocks):
            if block + AHEAD < self.blocks:
                prefetch(&lower[self.last[block + AHEAD]])
            if self.last[block] != NEVER:
                self.last[block] = lower[self.last[block]]
        for x in range(BASE, mark + 1):
            lower[x] = x
        self.end = mark + 2
