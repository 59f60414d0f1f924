"""Pack intervals into a cache of a given number of bytes, for the bounds in byte_bounds.py."""

from libc.stdint cimport int64_t, uint8_t

from misspenalty._kernel cimport SLICE, Kernel, check_signals, zeros


cdef class Packing(Kernel):
    """A tree over `slots` slots of time; a node holds the maximum number of bytes in use in any slot of its range."""

    cdef int64_t[::1] most          # by node: maximum bytes in any of its slots, without those added to its ancestors
    cdef int64_t[::1] added         # by node: bytes added to all of its slots
    cdef Py_ssize_t leaves          # number of leaves, a power of two
    cdef readonly int64_t room      # bytes of the cache

    def __cinit__(self, Py_ssize_t slots, int64_t room):
        self.leaves, self.room = 1, room
        while self.leaves < slots:
            self.leaves *= 2
        self.most, self.added = zeros("q", 2 * self.leaves), zeros("q", 2 * self.leaves)

    def pack(self, const int64_t[::1] begin, const int64_t[::1] end, const int64_t[::1] size, uint8_t[::1] kept):
        """Go through the intervals in order, and keep each one that fits into all its slots, ``begin`` to ``end - 1``.

        Parameters
        ----------
        begin, end, size : int64, shape (n,)
        kept : uint8, shape (n,)
            Filled with 1 for each interval that is kept, 0 for the others.

        Raises
        ------
        IndexError
            An array is shorter than `begin`, or an interval is empty or not within the leaves; no interval was kept.
        """
        cdef Py_ssize_t i, n = begin.shape[0]
        if min(end.shape[0], size.shape[0], kept.shape[0]) < n:
            raise IndexError(f"end, size or kept is shorter than begin; expected at least {n} values")
        for i in range(n):
            if not 0 <= begin[i] < end[i] <= self.leaves:
                raise IndexError(f"interval {i} is from {begin[i]} to {end[i]}; expected within 0 to {self.leaves}")
        with self, nogil:
            for i in range(n):
                if i % <Py_ssize_t>SLICE == 0:
                    check_signals()
                kept[i] = size[i] <= self.room and self.highest(1, 0, self.leaves, begin[i], end[i]) + size[i] <= self.room
                if kept[i]:
                    self.add(1, 0, self.leaves, begin[i], end[i], size[i])

    cdef int64_t highest(self, Py_ssize_t node, Py_ssize_t low, Py_ssize_t high, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
        """Return the maximum bytes in the slots shared by an interval and `node`, which covers `low` to `high - 1`."""
        cdef Py_ssize_t middle = (low + high) // 2
        cdef int64_t most = 0
        if begin <= low and high <= end:
            return self.most[node]
        if begin < middle:
            most = self.highest(2 * node, low, middle, begin, end)
        if end > middle:
            most = max(most, self.highest(2 * node + 1, middle, high, begin, end))
        return most + self.added[node]

    cdef void add(self, Py_ssize_t node, Py_ssize_t low, Py_ssize_t high, Py_ssize_t begin, Py_ssize_t end, int64_t size) noexcept nogil:
        cdef Py_ssize_t middle = (low + high) // 2
        if begin <= low and high <= end:
            self.most[node] += size
            self.added[node] += size
            return
        if begin < middle:
            self.add(2 * node, low, middle, begin, end, size)
        if end > middle:
            self.add(2 * node + 1, middle, high, begin, end, size)
        self.most[node] = max(self.most[2 * node], self.most[2 * node + 1]) + self.added[node]
