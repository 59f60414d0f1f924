# Declare the base of the kernels of caches of objects of different sizes.
#
# Every object has one node and is in at most one list. Lists 1 to GHOSTS - 1 hold the objects in the cache, and lists
# from GHOSTS on hold the names of evicted objects. This base keeps `used_bytes`, `resident` and the bytes of each list,
# so a policy only decides where an object goes.

from libc.stdint cimport int64_t, uint8_t

from misspenalty.policies._list cimport Link, append, remove
from misspenalty.policies._policy cimport Policy, block_t

cdef enum:
    ABSENT = 0                      # list of an object about which nothing is known
    GHOSTS = 18                     # first list of names
    LISTS = 20
    KEEP, REPLACE, NEW              # what happens if a cached object is requested with a different size


cdef struct node_t:
    Link link
    int64_t held                    # bytes that the object takes up in the cache, or took up when it was evicted
    int64_t asked                   # bytes with which the object was last requested
    uint8_t list                    # number of the list that the object is in; ABSENT = none
    uint8_t uses                    # number of uses, which only some policies count


cdef class SizedCache(Policy):
    cdef readonly int64_t room          # bytes of the cache
    cdef readonly int64_t largest       # bytes of the largest object that can be cached
    cdef readonly int64_t used_bytes
    cdef readonly int64_t refused       # number of references to objects that are larger than `largest`
    cdef node_t* nodes                  # one per object, then the heads of the lists
    cdef int64_t[LISTS] bytes           # bytes of the objects in each list
    cdef int changes                    # KEEP, REPLACE or NEW
    cdef const int64_t* sizes           # bytes requested by each reference of this call; NULL = as in `asked`
    cdef const block_t* first           # where the references of this call begin

    # Policies override these. `load` makes room and puts an object of at most `largest` bytes into a list. `evict`
    # removes at least one object, or moves some closer to eviction. `settle` evicts until no limit is exceeded.
    cdef void see(self, block_t block) noexcept nogil           # called first for every reference
    cdef void touch(self, block_t block) noexcept nogil         # called for a hit
    cdef void load(self, block_t block) noexcept nogil
    cdef void evict(self) noexcept nogil
    cdef void settle(self) noexcept nogil
    cdef void leave(self, block_t block, int ghosts) noexcept nogil   # moves it to `ghosts`, or nowhere if ABSENT

    cdef inline block_t oldest(self, int where) noexcept nogil:
        """Return the least recently added object of a list, or a number of at least `blocks` if the list is empty."""
        return self.nodes[self.blocks + where].link.newer

    cdef inline bint in_cache(self, block_t block) noexcept nogil:
        return ABSENT < self.nodes[block].list < GHOSTS

    cdef inline void put(self, int where, block_t block) noexcept nogil:
        """Add an object that is in no list to list `where`, as its newest."""
        cdef node_t* node = &self.nodes[block]
        append(self.nodes, sizeof(node_t), <block_t>(self.blocks + where), block)
        node.list = <uint8_t>where
        self.bytes[where] += node.held
        if where < GHOSTS:
            self.used_bytes += node.held
            self.resident += 1

    cdef inline void take(self, block_t block) noexcept nogil:
        """Remove an object from its list."""
        cdef node_t* node = &self.nodes[block]
        remove(self.nodes, sizeof(node_t), block)
        self.bytes[node.list] -= node.held
        if node.list < GHOSTS:
            self.used_bytes -= node.held
            self.resident -= 1
        node.list = ABSENT

    cdef inline void move(self, int where, block_t block) noexcept nogil:
        self.take(block)
        self.put(where, block)

    cdef inline void make_room(self, block_t block) noexcept nogil:
        """Evict until an object fits, and give it the size that was requested."""
        while self.used_bytes + self.nodes[block].asked > self.room:
            self.evict()
        self.nodes[block].held = self.nodes[block].asked
