"""Implement the base of the replacement kernels."""

from misspenalty._kernel cimport SLICE, Kernel, check_ids, check_signals
from misspenalty.policies._log cimport FIRST, SPARE

from misspenalty.errors import ParameterError

cdef int64_t MOST_REFERENCES = 0xFFFFFFFE  # maximum number of blocks of a cache or trace, and of references (32 bits)


cdef class Policy(Kernel):
    """Base of the policies: a cache of `capacity` blocks that replays references to blocks with ids below `blocks`."""

    def __cinit__(self, Py_ssize_t capacity, Py_ssize_t blocks, *args, **parameters):
        if not 1 <= capacity <= MOST_REFERENCES or not 0 <= blocks <= MOST_REFERENCES:
            raise ParameterError(f"capacity is {capacity} and blocks is {blocks}; expected 1 to {MOST_REFERENCES} and 0 to {MOST_REFERENCES}")
        self.capacity = capacity
        self.blocks = blocks

    cdef void* allocate(self, size_t n, size_t size) except NULL:
        self.memory += n * size
        return Kernel.allocate(self, n, size)

    cdef block_t* allocate_logs(self, size_t live, size_t logs) except NULL:
        cdef size_t n = FIRST + SPARE * live + logs
        if n > 0xFFFFFFFF:
            most = 0xFFFFFFF0 // SPARE
            raise ParameterError(f"{type(self).__name__}: cache and history hold up to {live} blocks; expected at most {most}")
        return <block_t*>self.allocate(n, sizeof(block_t))

    cdef Py_ssize_t max_resident(self):
        return min(self.capacity, self.blocks)

    cdef Py_ssize_t ghosts(self, double multiple):
        return <Py_ssize_t>min(multiple * <double>self.capacity, <double>self.blocks)

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        pass

    cdef bint holds(self, block_t block) noexcept nogil:
        return False

    cdef block_t would_evict(self, block_t block) noexcept nogil:
        return block

    cdef int check_unused(self) except -1:
        if not self.owns:
            raise TypeError(f"{type(self).__name__} is a base of policies, not a policy")
        return Kernel.check_unused(self)

    def __contains__(self, block):
        """Return whether the block is in the cache; raise TypeError for an offline policy (contents unknown)."""
        if self.offline:
            raise TypeError(f"{type(self).__name__} looks into the future; its current contents are not known")
        self.check_unused()
        return 0 <= block < self.blocks and self.holds(block)

    def replay(
        self, const block_t[::1] ids, uint8_t[::1] hit, const uint8_t[::1] refresh=None, const uint8_t[::1] counted=None
    ):
        """Replay references with the GIL released; set ``hit[i]`` to whether ``ids[i]`` was in the cache.

        A reference with ``refresh[i]`` set is ignored unless its block is in the cache. Hits and evictions are counted
        for the references with ``counted[i]`` set, by default for all; the evictions are added to
        `counted_evictions`. Ctrl-C stops the replay between two slices of references.

        Returns
        -------
        int
            Number of hits among the counted references.

        Raises
        ------
        IndexError
            `hit`, `refresh` or `counted` is shorter than `ids`, or an id is not below `blocks`; nothing was replayed.
        OverflowError
            There are more references in total than the kernel's clock can count; nothing was replayed.
        """
        cdef Py_ssize_t begin = 0, part, n = ids.shape[0]
        cdef const uint8_t* refreshes = NULL
        cdef const uint8_t* counts = NULL
        cdef int64_t hits = 0
        if hit.shape[0] < n:
            raise IndexError(f"hit has length {hit.shape[0]}; expected at least {n}")
        if refresh is not None and refresh.shape[0] < n:
            raise IndexError(f"refresh has length {refresh.shape[0]}; expected at least {n}")
        if counted is not None and counted.shape[0] < n:
            raise IndexError(f"counted has length {counted.shape[0]}; expected at least {n}")
        if n > MOST_REFERENCES - self.requests:
            raise OverflowError(f"{n} references after {self.requests}; at most {MOST_REFERENCES} can be replayed")
        check_ids(ids, self.blocks)
        with self, nogil:
            while begin < n:
                part = min(n - begin, <Py_ssize_t>SLICE)
                if refresh is not None:
                    refreshes = &refresh[begin]
                if counted is not None:
                    counts = &counted[begin]
                run_counting(self, &ids[begin], refreshes, counts, part, &hit[begin])
                self.requests += part
                hits += hits_in(&hit[begin], counts, part)
                begin += part
                check_signals()
        return hits


cdef void run_refreshing(Policy policy, const block_t* ids, const uint8_t* refresh, Py_ssize_t n, uint8_t* hit) noexcept nogil:
    """Replay references, skipping marked ones whose block is not in the cache; `refresh` is NULL if none is marked."""
    cdef Py_ssize_t begin = 0, i
    if refresh == NULL:
        policy.run(ids, n, hit)
        return
    for i in range(n):
        if refresh[i]:
            if begin < i:
                policy.beyond = n - i
                policy.run(&ids[begin], i - begin, &hit[begin])
            begin = i
            if not policy.holds(ids[i]):
                hit[i] = 0
                begin += 1
    policy.beyond = 0
    if begin < n:
        policy.run(&ids[begin], n - begin, &hit[begin])


cdef void run_counting(
    Policy policy, const block_t* ids, const uint8_t* refresh, const uint8_t* counted, Py_ssize_t n, uint8_t* hit
) noexcept nogil:
    """Replay references; add evictions by `counted` ones to `counted_evictions` (all of them if `counted` is NULL).

    Unless the policy `varies`, a miss in a full cache evicts exactly one block. If the policy varies, each stretch of
    references that are all counted, or all uncounted, is replayed on its own.
    """
    cdef Py_ssize_t begin = 0, i, room = policy.capacity - policy.resident
    cdef int64_t before = policy.evictions
    if counted == NULL:
        run_refreshing(policy, ids, refresh, n, hit)
        policy.counted_evictions += policy.evictions - before
    elif policy.varies:
        for i in range(1, n + 1):
            if i == n or counted[i] != counted[begin]:
                before = policy.evictions
                run_refreshing(policy, &ids[begin], NULL if refresh == NULL else &refresh[begin], i - begin, &hit[begin])
                if counted[begin]:
                    policy.counted_evictions += policy.evictions - before
                begin = i
    else:
        run_refreshing(policy, ids, refresh, n, hit)
        for i in range(n):
            if not hit[i] and (refresh == NULL or not refresh[i]):
                policy.counted_evictions += counted[i] & (room <= 0)
                room -= 1


cdef inline int64_t hits_in(const uint8_t* hit, const uint8_t* counted, Py_ssize_t n) noexcept nogil:
    cdef int64_t hits = 0
    cdef Py_ssize_t i
    if counted == NULL:
        for i in range(n):
            hits += hit[i]
    else:
        for i in range(n):
            hits += hit[i] & counted[i]
    return hits
