"""Implement the base of the kernels of caches of objects of different sizes; sized/reference.py has the definitions."""

from libc.stdint cimport int64_t, uint8_t

from misspenalty.policies._list cimport make_list
from misspenalty.policies._policy cimport AHEAD, Policy, block_t, prefetch

CHANGES = ("keep", "replace", "new")    # in the order of KEEP, REPLACE, NEW


cdef class SizedCache(Policy):
    """A cache of `room` bytes. An object of more than `largest` bytes is not loaded.

    Parameters
    ----------
    capacity, blocks : int
        As in `Policy`.
    room : int, optional
        Bytes of the cache; by default `capacity`.
    sizes : int64, shape (blocks,), optional
        Bytes of each object; by default one byte.
    changes : {"keep", "replace", "new"}
        What happens if a cached object is requested with a different size: it keeps the old size, takes the new one, or
        is evicted and missed.
    """

    def __cinit__(self, Py_ssize_t capacity, Py_ssize_t blocks, room=None, const int64_t[::1] sizes=None, changes="replace", **parameters):
        cdef Py_ssize_t i
        if sizes is not None and sizes.shape[0] != blocks:
            raise IndexError(f"sizes has length {sizes.shape[0]}; expected {blocks}")
        self.changes = KEEP + CHANGES.index(changes)
        self.room = self.largest = capacity if room is None else room
        self.nodes = <node_t*>self.allocate(blocks + LISTS, sizeof(node_t))
        for i in range(LISTS):
            make_list(self.nodes, sizeof(node_t), <block_t>(blocks + i))
        for i in range(blocks):
            self.nodes[i].asked = 1 if sizes is None else sizes[i]

    cdef bint holds(self, block_t block) noexcept nogil:
        """Return whether a reference to the object, with the size that was last requested, would be a hit."""
        cdef node_t* node = &self.nodes[block]
        cdef bint outdated = node.held != node.asked and (self.changes == NEW or (self.changes == REPLACE and node.asked > self.largest))
        return self.in_cache(block) and not outdated

    cdef void see(self, block_t block) noexcept nogil:
        pass

    cdef void touch(self, block_t block) noexcept nogil:
        pass

    cdef void load(self, block_t block) noexcept nogil:
        self.make_room(block)
        self.put(1, block)

    cdef void evict(self) noexcept nogil:
        self.leave(self.oldest(1), ABSENT)

    cdef void settle(self) noexcept nogil:
        while self.used_bytes > self.room:
            self.evict()

    cdef void leave(self, block_t block, int ghosts) noexcept nogil:
        self.take(block)
        self.evictions += 1
        if ghosts:
            self.put(ghosts, block)

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        cdef Py_ssize_t i
        cdef node_t* node
        for i in range(n):
            if i + AHEAD < n:
                prefetch(&self.nodes[ids[i + AHEAD]])
            node = &self.nodes[ids[i]]
            if self.sizes != NULL:
                node.asked = self.sizes[&ids[i] - self.first]
            self.see(ids[i])
            hit[i] = self.in_cache(ids[i])
            if hit[i] and node.held != node.asked and self.changes != KEEP:
                if self.changes == NEW or node.asked > self.largest:
                    self.leave(ids[i], ABSENT)
                    hit[i] = 0
                else:
                    self.bytes[node.list] += node.asked - node.held
                    self.used_bytes += node.asked - node.held
                    node.held = node.asked
                    self.touch(ids[i])
                    self.settle()
                    continue
            if hit[i]:
                self.touch(ids[i])
            elif node.asked > self.largest:
                self.refused += 1
            else:
                self.load(ids[i])

    def replay_sizes(self, const block_t[::1] ids, const int64_t[::1] sizes, uint8_t[::1] hit, const uint8_t[::1] refresh=None):
        """Replay references, each requesting ``sizes[i]`` bytes; raise IndexError if `sizes` is shorter than `ids`."""
        if sizes.shape[0] < ids.shape[0]:
            raise IndexError(f"sizes has length {sizes.shape[0]}; expected at least {ids.shape[0]}")
        self.check_unused()
        if not ids.shape[0]:
            return 0
        self.sizes, self.first = &sizes[0], &ids[0]
        try:
            return self.replay(ids, hit, refresh)
        finally:
            self.sizes = NULL
