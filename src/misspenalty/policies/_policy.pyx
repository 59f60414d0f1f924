"""Base of the replacement kernels."""

from libc.stdlib cimport calloc, free

from misspenalty.policies._log cimport FIRST, SPARE

from misspenalty.errors import ParameterError


cdef class Policy:
    """A cache of `capacity` blocks over ids below `blocks`, replayed in slices."""

    def __cinit__(self, Py_ssize_t capacity, Py_ssize_t blocks, *args, **parameters):
        self.capacity = capacity
        self.blocks = blocks

    def __dealloc__(self):
        cdef int i
        for i in range(self.used):
            free(self.arrays[i])

    cdef void* allocate(self, size_t n, size_t size) except NULL:
        cdef void* array = calloc(n + 1, size)
        if array == NULL:
            raise MemoryError(f"no memory for {n} nodes of {size} bytes")
        self.arrays[self.used] = array
        self.used += 1
        self.memory += n * size
        return array

    cdef block_t* allocate_logs(self, size_t live, size_t logs) except NULL:
        cdef size_t n = FIRST + SPARE * live + logs
        if n > 0xFFFFFFFF:
            most = 0xFFFFFFF0 // SPARE
            raise ParameterError(f"{type(self).__name__}: cache and history hold up to {live} blocks; expected at most {most}")
        return <block_t*>self.allocate(n, sizeof(block_t))

    cdef Py_ssize_t seats(self):
        return min(self.capacity, self.blocks)

    cdef Py_ssize_t ghosts(self, double multiple):
        return <Py_ssize_t>min(multiple * <double>self.capacity, <double>self.blocks)

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        pass

    def replay(self, const block_t[::1] ids, uint8_t[::1] hit):
        """Replay a slice of references with the GIL released; ``hit[i]`` tells whether ``ids[i]`` was in the cache."""
        cdef Py_ssize_t n = ids.shape[0]
        if hit.shape[0] < n:
            raise IndexError("hit is shorter than ids")
        if n:
            with nogil:
                self.run(&ids[0], n, &hit[0])
                self.requests += n
