"""Define the base of all kernel objects, and allocate their arrays."""

from array import array

from cython cimport view
from libc.stdlib cimport free

from misspenalty._memory cimport zeroed


cdef object zeros(str form, Py_ssize_t n):
    cdef view.array made
    cdef Py_ssize_t size = array(form).itemsize
    if not n:
        return array(form)
    made = view.array(shape=(n,), itemsize=size, format=form, mode="c", allocate_buffer=False)
    made.data = <char*>zeroed(n, size)
    if made.data == NULL:
        raise MemoryError(f"no memory for {n} numbers of {size} bytes")
    made.callback_free_data = free
    return made


cdef int check_ids(const uint32_t[::1] ids, Py_ssize_t blocks) except -1:
    cdef uint32_t highest = 0
    cdef Py_ssize_t i
    with nogil:
        for i in range(ids.shape[0]):
            highest = max(highest, ids[i])
    if ids.shape[0] and highest >= blocks:
        raise IndexError(f"ids hold block {highest}; expected ids below {blocks}")
    return 0


cdef class Kernel:
    """Base of objects whose methods release the GIL; ``with self, nogil:`` refuses calls from other threads meanwhile.

    Memory is allocated in ``__cinit__``, so no object exists without its memory, and calling ``__init__`` again does
    nothing. Kernels that grow allocate more in some of their methods.
    """

    def __dealloc__(self):
        cdef int i
        for i in range(self.owns):
            free(self.owned[i])

    cdef void* allocate(self, size_t n, size_t size) except NULL:
        cdef void* array = zeroed(n + 1, size)
        if array == NULL:
            raise MemoryError(f"no memory for {n} items of {size} bytes")
        self.owned[self.owns] = array
        self.owns += 1
        return array

    def __enter__(self):
        self.check_unused()
        self.set_in_use(True)
        return self

    def __exit__(self, *error):
        self.set_in_use(False)

    cdef int uses(self, Kernel part) except -1:
        if self.kernels is None:
            self.kernels = []
        self.kernels.append(part)
        return 0

    cdef int check_unused(self) except -1:
        cdef Kernel part
        if self.in_use:
            raise RuntimeError(f"{type(self).__name__} is in use by another thread; give each thread its own")
        if self.kernels is not None:
            for part in self.kernels:
                part.check_unused()
        return 0

    cdef void set_in_use(self, bint in_use) noexcept:
        cdef Kernel part
        self.in_use = in_use
        if self.kernels is not None:
            for part in self.kernels:
                part.set_in_use(in_use)
