# Declare the base of the replacement kernels for other kernels.

from libc.stdint cimport int64_t, uint8_t, uint32_t

from misspenalty._kernel cimport Kernel, prefetch

ctypedef uint32_t block_t                   # dense block id

cdef enum:
    AHEAD = 24                              # number of requests by which nodes are prefetched in advance
    NEAR = 10                               # … by which the data to which a node refers are prefetched


cdef class Policy(Kernel):
    cdef readonly Py_ssize_t capacity       # cache size, blocks
    cdef readonly Py_ssize_t blocks         # number of distinct blocks; every id is below this number
    cdef readonly Py_ssize_t resident       # number of blocks in the cache
    cdef readonly int64_t requests          # number of references so far
    cdef readonly int64_t evictions         # number of blocks evicted so far
    cdef readonly int64_t counted_evictions # number of blocks evicted by counted references; see `replay`
    cdef readonly int64_t ghost_hits        # number of misses on blocks in the history
    cdef readonly int64_t memory            # bytes of all arrays
    cdef bint varies                        # whether a miss in a full cache may evict no block, or several
    cdef readonly bint offline              # whether outcomes depend on later references, so that contents are unknown
    cdef Py_ssize_t beyond                  # number of ids that `run` may read after its n, to prefetch their nodes

    # Replay n references; set hit[i] to whether block ids[i] was in the cache. Each policy implements this method. The
    # caller ensures that every id is below `blocks`, and counts `requests`.
    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil
    # Return whether the block is in the cache now, and change nothing. Each online policy implements this; the contents
    # of an offline policy are unknown.
    cdef bint holds(self, block_t block) noexcept nogil

    # Return the block that a reference to a missed block would evict from the full cache; the call changes no later
    # outcome. The kernels that TinyLFU filters (see `FAST` in `misspenalty.policies.tinylfu`) implement this.
    cdef block_t would_evict(self, block_t block) noexcept nogil

    # Replay one reference, for a cache that is part of a larger model, and return whether the block was in the cache.
    # Afterwards, the change of `evictions` is the number of evicted blocks, and `holds` identifies them.
    cdef inline bint access(self, block_t block) noexcept nogil:
        cdef uint8_t hit
        self.run(&block, 1, &hit)
        self.requests += 1
        return hit

    # Allocate the entries that `logs` logs share, with at most `live` live blocks in total; raise ParameterError if
    # positions would not fit into 32 bits.
    cdef block_t* allocate_logs(self, size_t live, size_t logs) except NULL
    # Check as `Kernel` does, and raise TypeError if the class is only a base of policies, which has no array.
    cdef int check_unused(self) except -1
    # Return how many blocks can be in the cache at once: the capacity, or all blocks if there are fewer.
    cdef Py_ssize_t max_resident(self)
    # Return how many entries a history of `multiple` times the cache has, at most one per block.
    cdef Py_ssize_t ghosts(self, double multiple)
