"""Implement the kernels of OPT, with and without bypass, and of the check of claimed hits; the definitions are in opt.py.

Whether the optimum keeps a block between two uses can be decided at the second use, without looking ahead (as OPTgen of
A. Jain, C. Lin, ISCA 2016, does for sets of a processor cache). At each reuse, in order of time, the block's stay since
its previous use gets the slot that became free last before the stay began, and the reuse is a hit. If no slot was free
by then, the reuse is a miss. This fits as many stays as possible into the slots; the stays that are left out are those
that MIN cuts short.

With bypass, a stay takes a slot from one use of its block up to the next use. Without bypass, one slot always belongs
to the block that is being accessed. So a stay takes one of the other slots, from the access after the first use on, and
the second of two uses in a row is a hit.

A mark on the axis of accesses says where the stay in a slot ends; there is at most one mark per access. The last mark
at or below a position is found by union-find: a position without a mark points to a lower one. When the axis is full,
only the marks are kept and renumbered.
"""

from libc.stdint cimport uint8_t, uint32_t

from misspenalty._kernel cimport check_ids
from misspenalty.policies._policy cimport AHEAD, NEAR, Policy, block_t, prefetch

cdef enum:
    NEVER = 0                   # value of `since` for a block that has not been used yet
    BASE = 1                    # position before all accesses, at which unused slots are free


cdef inline bint give(uint32_t* lower, uint32_t at, uint32_t end, uint32_t* spare) noexcept nogil:
    """Give the slot that became free last at or before `at` to a stay up to `end`; return False if there is none."""
    cdef uint32_t next
    while True:
        next = lower[at]
        if next == at:
            break
        lower[at] = lower[next]
        at = next
    if at != BASE:
        lower[at] = lower[at - 1]
    elif spare[0]:
        spare[0] -= 1
    else:
        return False
    lower[end] = end
    return True


cdef class OPT(Policy):
    cdef uint32_t* since        # by block: position from which a stay up to its next access would take a slot
    cdef uint32_t* lower        # by position: itself if it is marked, else a lower position, with no mark in between
    cdef uint32_t end           # position of the coming access; `lower` is set at all positions below this one
    cdef uint32_t limit         # length of the axis
    cdef uint32_t spare         # number of slots that were never used
    cdef bint bypass
    cdef block_t newest         # most recently used block
    cdef bint begun             # whether any block has been used

    def __cinit__(self, capacity, blocks):
        self.offline = True
        self.since = <uint32_t*>self.allocate(blocks, sizeof(uint32_t))
        self.limit = <uint32_t>min(self.max_resident() + 2 * blocks + 4096, 0xFFFFFFF0)
        self.lower = <uint32_t*>self.allocate(self.limit, sizeof(uint32_t))
        self.lower[BASE] = BASE
        self.end = BASE + 1
        self.spare = <uint32_t>max(self.max_resident() - 1, 0)

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        cdef uint32_t* since = self.since
        cdef uint32_t* lower = self.lower
        cdef uint32_t end = self.end, spare = self.spare, at
        cdef bint forced = not self.bypass
        cdef Py_ssize_t i, misses = 0
        cdef block_t block, newest = self.newest if self.begun else ~ids[0]
        for i in range(n):
            if i + AHEAD < n:
                prefetch(&since[ids[i + AHEAD]])
                prefetch(&lower[since[ids[i + NEAR]]])
            block = ids[i]
            if block == newest and forced:
                hit[i] = True
                continue
            newest = block
            if end == self.limit:
                end = self.renumber(end)
            at = since[block]
            since[block] = end + forced
            lower[end] = lower[end - 1]
            hit[i] = at != NEVER and give(lower, at, end, &spare)
            misses += not hit[i]
            end += 1
        self.newest, self.begun, self.end, self.spare = newest, True, end, spare
        self.evictions += misses - min(misses, self.capacity - self.resident)
        self.resident += min(misses, self.capacity - self.resident)

    cdef uint32_t renumber(self, uint32_t end) noexcept nogil:
        """Keep only the marks; a block's position becomes the last mark at or below it. Return the new end.

        The position of the coming access, `end`, becomes the one above the last mark.
        """
        cdef uint32_t* lower = self.lower
        cdef uint32_t x, mark = BASE
        cdef Py_ssize_t block
        for x in range(BASE + 1, end):
            mark += lower[x] == x
            lower[x] = mark
        lower[end] = mark + 1
        for block in range(self.blocks):
            if block + AHEAD < self.blocks:
                prefetch(&lower[self.since[block + AHEAD]])
            if self.since[block] != NEVER:
                self.since[block] = lower[self.since[block]]
        for x in range(BASE, mark + 1):
            lower[x] = x
        return mark + 1


cdef class OPTBypass(OPT):
    def __cinit__(self, capacity, blocks):
        self.bypass = True
        self.spare = <uint32_t>self.max_resident()


cdef class Claims(OPTBypass):
    """Check whether a cache of `capacity` blocks that loads only referenced blocks can have the claimed hits."""

    def add(self, const block_t[::1] ids, const uint8_t[::1] hit):
        """Check the next references; return the index of the first impossible claim and whether its block is known.

        A block is known if it was referenced before. Return (n, False) if all n claims are possible. After an
        impossible claim, no more references can be added.

        Raises
        ------
        IndexError
            An id is not below `blocks`, or `hit` is shorter than `ids`.
        """
        cdef Py_ssize_t i, n = ids.shape[0]
        cdef uint32_t at
        if hit.shape[0] < n:
            raise IndexError(f"hit has length {hit.shape[0]}; expected at least {n}")
        check_ids(ids, self.blocks)
        for i in range(n):
            if self.end == self.limit:
                self.end = self.renumber(self.end)
            at = self.since[ids[i]]
            self.since[ids[i]] = self.end
            self.lower[self.end] = self.lower[self.end - 1]
            if hit[i] and not (at != NEVER and give(self.lower, at, self.end, &self.spare)):
                return i, at != NEVER
            self.end += 1
        return n, False
