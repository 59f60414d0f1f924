"""Base of the replacement kernels."""

from libc.stdlib cimport calloc, free


cdef class Policy:
    """A cache of `capacity` blocks over ids below `blocks`, replayed in slices."""

    def __cinit__(self, Py_ssize_t capacity, Py_ssize_t blocks, **parameters):
        self.capacity = capacity
        self.blocks = blocks

    def __dealloc__(self):
        free(self.memory)

    cdef void* allocate(self, size_t n, size_t size) except NULL:
        self.memory = calloc(n, size)
        if self.memory == NULL:
            raise MemoryError(f"no memory for {n} nodes of {size} bytes")
        return self.memory

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
