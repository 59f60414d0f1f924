# Base of the replacement kernels, as seen by other kernels.

from libc.stdint cimport int64_t, uint8_t, uint32_t

from misspenalty._kernel cimport Kernel

ctypedef uint32_t block_t                   # dense block id

cdef extern from *:
    void prefetch "__builtin_prefetch" (const void*) noexcept nogil

cdef enum:
    AHEAD = 24                              # how many requests ahead nodes are prefetched
    NEAR = 10                               # how many requests ahead nodes, now cached, show what else to prefetch
    ARRAYS = 8                              # maximum number of arrays of one kernel


cdef class Policy(Kernel):
    cdef readonly Py_ssize_t capacity       # cache size, blocks
    cdef readonly Py_ssize_t blocks         # distinct blocks; every id is below it
    cdef readonly Py_ssize_t resident       # blocks in the cache now
    cdef readonly int64_t requests          # references so far
    cdef readonly int64_t evictions         # blocks evicted so far
    cdef readonly int64_t ghost_hits        # misses whose block the history still knew
    cdef readonly int64_t memory            # bytes of all arrays
    cdef bint varies                        # whether a miss of a full cache may evict no block, or several
    cdef readonly bint offline              # whether outcomes depend on the future, so that no live cache can be asked
    cdef Py_ssize_t beyond                  # ids after those of a `run` that may be read, to prefetch their nodes
    cdef void* arrays[ARRAYS]               # freed with the policy
    cdef int used                           # arrays in use

    # Core method, each policy's own: replay n references, hit[i] = 1 if block ids[i] was in the cache. The caller
    # ensures that every id is below `blocks` and counts `requests`.
    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil
    # Each online policy's own: return whether the block is in the cache now, without a change. An offline policy cannot
    # tell.
    cdef bint holds(self, block_t block) noexcept nogil

    # Return the block that a reference to a missed block would evict from the full cache; asking changes no later
    # outcome. The policies that `misspenalty.policies.tinylfu` names can tell.
    cdef block_t would_evict(self, block_t block) noexcept nogil

    # Make one reference, for a live cache inside a larger model, and return whether the block was in the cache.
    # `evictions` and `holds` tell what was evicted, if anything.
    cdef inline bint access(self, block_t block) noexcept nogil:
        cdef uint8_t hit
        self.run(&block, 1, &hit)
        self.requests += 1
        return hit

    # Return a zeroed array of n items, owned by the policy; the MemoryError names the size.
    cdef void* allocate(self, size_t n, size_t size) except NULL
    # Allocate entries for `logs` logs that share them, with `live` live blocks in total; raise ParameterError if
    # positions would not fit 32 bits.
    cdef block_t* allocate_logs(self, size_t live, size_t logs) except NULL
    # Also TypeError for a class that is only a base of policies: it has no array.
    cdef int check_unused(self) except -1
    # Return the blocks that can be in the cache at once: the capacity, or all blocks.
    cdef Py_ssize_t max_resident(self)
    # Return the entries of a history of `multiple` times the cache: no more than blocks can fill.
    cdef Py_ssize_t ghosts(self, double multiple)
