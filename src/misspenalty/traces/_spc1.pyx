"""Generate the requests of the SPC-1-like workload that `spc1.py` defines."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from misspenalty._kernel cimport Kernel
from misspenalty.errors import ParameterError

SLOWEST, FASTEST = 1e-3, 1e9        # requests per second
LATEST = 10 ** 18                   # ns: latest start of a load, so that times stay far below 2**63

cdef uint64_t ONE = <uint64_t>1 << 32


cdef class Spc1(Kernel):
    """A seeded stream of requests from `bsus` BSUs to three units; `blocks` has their lengths in blocks of 4 KB."""

    def __cinit__(self, blocks, uint32_t bsus, double iops, uint64_t seed, double climb, bint round_writes, streams, sizes):
        cdef int i
        cdef uint32_t bsu
        cdef stream_t* stream
        for i in range(ASUS):
            self.blocks[i] = blocks[i]
        self.bsus = bsus
        self.state.state = seed
        self.state.climb = <uint64_t>(climb * ONE)
        self.state.written = ~<uint64_t>7 if round_writes else ~<uint64_t>0
        for i in range(SIZES):
            self.state.size_of[i] = sizes[i]
        self.add_streams(streams)
        self.state.streams = <stream_t*>self.allocate(<size_t>bsus * STREAMS, sizeof(stream_t))
        for bsu in range(bsus):
            for i in range(STREAMS):
                stream = &self.state.streams[<int64_t>bsu * STREAMS + i]
                if self.state.kinds[i].pattern == WALK:
                    self.place(stream, &self.state.trees[self.state.kinds[i].tree])
        set_load(&self.state, 0, bsus, iops)

    cdef int add_streams(self, streams) except -1:
        """Set the parameters of the streams; `streams` holds the values of `misspenalty.traces.spc1.STREAMS`."""
        cdef int number, trees = 0, part = 0, upto
        cdef kind_t* kind
        for number, (asu, parts, reads, pattern, first, extent, run) in enumerate(streams):
            kind = &self.state.kinds[number]
            kind.asu = asu
            kind.pattern = pattern
            kind.reads = <uint64_t>(reads * ONE) // 100
            kind.first = self.blocks[asu] * first // 100
            kind.extent = self.blocks[asu] * extent // 100
            kind.run = self.blocks[asu] * run // 100
            if pattern == WALK:
                kind.tree = trees
                self.add_tree(&self.state.trees[trees], kind)
                trees += 1
            upto = part + parts
            while part < upto:
                self.state.stream_of[part] = number
                part += 1
        return 0

    cdef int add_tree(self, tree_t* tree, kind_t* kind) except -1:
        """Make the largest complete binary tree whose leaves fit in the region."""
        cdef int64_t leaves = kind.extent // LEAF
        tree.first = kind.first
        tree.levels = 63 - leading_zeros(leaves)
        tree.blocks = <int64_t>LEAF << tree.levels
        tree.slack = leaves * LEAF - tree.blocks
        tree.pointers = <uint8_t*>self.allocate(<size_t>1 << tree.levels, 1)
        return 0

    cdef void place(self, stream_t* stream, tree_t* tree) noexcept:
        """Place a BSU's tree in the region, and its walk in the tree."""
        stream.base = (tree.first + <int64_t>draw_below(&self.state, tree.slack + 1)) & ~<int64_t>(LEAF - 1)
        stream.block = stream.base + <int64_t>draw_below(&self.state, tree.blocks)
        stream.limit = -1

    @property
    def due(self):
        """Time at which the next request arrives, ns."""
        return self.state.due

    def load(self, now, bsus, iops):
        """Set the load from `now` (ns) on: the first `bsus` BSUs send `iops` requests per second in total.

        Raises
        ------
        ParameterError
            A value is invalid.
        """
        self.check_unused()
        if not (0 <= now <= LATEST and 1 <= bsus <= self.bsus and SLOWEST <= iops <= FASTEST):
            raise ParameterError(
                f"spc1: {bsus} BSUs send {iops} requests per second from {now} ns on; expected 1 to {self.bsus} BSUs,"
                f" {SLOWEST:g} to {FASTEST:g} requests per second and 0 to {LATEST} ns"
            )
        set_load(&self.state, now, bsus, iops)

    def fill(self, int64_t[::1] time, int64_t[::1] block, int32_t[::1] blocks, uint32_t[::1] bsu, uint8_t[::1] asu,
             uint8_t[::1] stream, uint8_t[::1] write, int64_t until):
        """Fill the rows with the next requests that arrive before `until`; return the number of rows filled."""
        cdef Py_ssize_t i = 0, n = time.shape[0]
        cdef spc1_request_t request
        with self, nogil:
            while i < n and self.state.due < until:
                next_request(&self.state, &request)
                time[i] = request.time
                block[i] = request.block
                blocks[i] = request.blocks
                bsu[i] = request.bsu
                asu[i] = request.asu
                stream[i] = request.stream
                write[i] = request.write
                i += 1
        return i
