# Define the SPC-1-like workload as a stream of requests, one at a time. The functions are inlined where they are
# cimported.
#
# All streams of all business scaling units (BSUs) are Poisson processes, so their superposition is one as well: the
# next request comes after an exponential gap, from a BSU drawn uniformly and a stream drawn in proportion to its
# intensity. That is the same process as a queue of 8 * BSUs clocks, at a cost that does not grow with the load.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from misspenalty._kernel cimport Kernel
from misspenalty.traces._splitmix cimport GOLDEN, mix

cdef extern from *:
    int leading_zeros "__builtin_clzll" (unsigned long long) noexcept nogil

cdef enum:
    STREAMS = 8                     # number of streams of a BSU
    ASUS = 3                        # number of application storage units
    TREES = 3                       # number of streams that walk a tree
    PARTS = 1000                    # number of parts of the total intensity, which streams share in thousandths
    SIZES = 25                      # number of equally likely entries of the size mix
    LEAF = 8                        # number of blocks per leaf
    RUN_ALIGN = 15                  # mask: runs begin and end at multiples of 64 KB

cdef enum:                          # access pattern of a stream
    UNIFORM, WALK, SEQUENTIAL


cdef struct spc1_request_t:
    int64_t time                    # arrival, ns since the start
    int64_t block                   # first block of 4 KB in its unit
    int32_t blocks                  # length, blocks of 4 KB: 1 to 16
    uint32_t bsu                    # BSU that sends the request
    uint8_t asu                     # unit, 0 to 2
    uint8_t stream                  # 0 to 7: ASU1-1 to -4, ASU2-1 to -3, ASU3-1
    uint8_t write                   # 1 = write


cdef struct kind_t:                 # a stream, the same in every BSU
    uint8_t pattern                 # UNIFORM, WALK or SEQUENTIAL
    uint8_t asu                     # unit, 0 to 2
    uint8_t tree                    # WALK: the tree that it walks
    uint64_t reads                  # probability of a read, times 2**32
    int64_t first                   # first block of its region, in which runs begin
    int64_t extent                  # number of blocks of its region
    int64_t run                     # SEQUENTIAL: number of blocks of a run


cdef struct tree_t:
    uint8_t* pointers               # next block to read of each leaf, 0 to 7; shared by all BSUs
    int64_t first                   # first block of the region
    int64_t slack                   # number of blocks of the region that the tree leaves free
    int64_t blocks                  # number of blocks of the tree
    int32_t levels                  # height of the tree, which has 2**levels leaves


cdef struct stream_t:               # a stream of one BSU
    int64_t block                   # SEQUENTIAL: next block; WALK: last visited block
    int64_t limit                   # SEQUENTIAL: end of the run; WALK: block that the next write repeats, or -1
    int64_t base                    # WALK: first block of its tree


cdef struct spc1_t:
    uint64_t state                  # state of SplitMix64
    int64_t due                     # time at which the next request arrives, ns; read-only for other kernels
    double gap                      # mean time between arrivals, ns
    uint32_t bsus                   # number of BSUs that currently send requests; the others have streams, too
    uint64_t climb                  # probability that a walk climbs one more level, times 2**32
    uint64_t written                # mask of the leaves that walks write
    uint8_t stream_of[PARTS]        # stream of each thousandth of all requests
    uint8_t size_of[SIZES]          # length of each entry of the size mix, blocks
    kind_t kinds[STREAMS]
    tree_t trees[TREES]
    stream_t* streams               # streams of all BSUs; those of BSU b are streams[8 b] to streams[8 b + 7]


cdef inline uint64_t draw(spc1_t* w) noexcept nogil:
    w.state += <uint64_t>GOLDEN
    return mix(w.state)


cdef inline uint64_t draw_below(spc1_t* w, uint64_t n) noexcept nogil:
    """Draw a number below `n`, which is at most 2**32."""
    return ((draw(w) >> 32) * n) >> 32


cdef inline double exponential(uint64_t bits) noexcept nogil:
    """Return an exponential deviate of mean 1, equal on all machines: -ln of (bits / 2**11 + 1) / 2**53 by a series."""
    cdef uint64_t m = (bits >> 11) + 1
    cdef int size = 64 - leading_zeros(m)
    cdef double f = <double>m / <double>(<uint64_t>1 << (size - 1)), s, q      # 1 <= f < 2
    if f > 1.4142135623730951:
        f *= 0.5
        size += 1
    s = (f - 1.0) / (f + 1.0)
    q = s * s
    q = 2.0 * s * (1.0 + q * (1 / 3.0 + q * (0.2 + q * (1 / 7.0 + q * (1 / 9.0 + q * (1 / 11.0 + q * (1 / 13.0)))))))
    return (54 - size) * 0.6931471805599453 - q


cdef inline void draw_gap(spc1_t* w, int64_t since) noexcept nogil:
    w.due = since + <int64_t>(w.gap * exponential(draw(w)) + 0.5)


cdef inline void set_load(spc1_t* w, int64_t now, uint32_t bsus, double iops) noexcept nogil:
    """Set the load from `now` on: the first `bsus` BSUs send `iops` requests per second; streams keep their places."""
    w.bsus = bsus
    w.gap = 1e9 / iops
    draw_gap(w, now)


cdef inline void next_request(spc1_t* w, spc1_request_t* r) noexcept nogil:
    """Make the request that arrives at `w.due`; afterwards `w.due` is the arrival of the next one."""
    cdef uint64_t bits = draw(w)
    cdef kind_t* kind
    cdef stream_t* stream
    r.time = w.due
    r.bsu = <uint32_t>(((bits >> 32) * w.bsus) >> 32)
    r.stream = w.stream_of[(<uint64_t><uint32_t>bits * <uint64_t>PARTS) >> 32]
    kind = &w.kinds[r.stream]
    stream = &w.streams[<int64_t>r.bsu * STREAMS + r.stream]
    r.asu = kind.asu
    if kind.pattern == SEQUENTIAL:
        r.write = kind.reads == 0
        r.blocks = w.size_of[draw_below(w, SIZES)]
        run_on(w, kind, stream, r)
    else:
        r.write = (draw(w) >> 32) >= kind.reads
        r.blocks = 1
        if kind.pattern == UNIFORM:
            r.block = kind.first + <int64_t>draw_below(w, kind.extent)
        else:
            walk_on(w, &w.trees[kind.tree], stream, r)
    draw_gap(w, r.time)


cdef inline void run_on(spc1_t* w, kind_t* kind, stream_t* stream, spc1_request_t* r) noexcept nogil:
    """Continue after the last request, or start a new run if this request would reach the end of the current one."""
    cdef int64_t start
    if stream.block + r.blocks >= stream.limit:
        start = kind.first + <int64_t>draw_below(w, kind.extent)
        stream.block = start & ~<int64_t>RUN_ALIGN
        stream.limit = (start + kind.run) & ~<int64_t>RUN_ALIGN
    r.block = stream.block
    stream.block += r.blocks


cdef inline void walk_on(spc1_t* w, tree_t* tree, stream_t* stream, spc1_request_t* r) noexcept nogil:
    """Take one step of the hierarchical reuse random walk."""
    cdef int32_t level = 7
    cdef uint64_t leaf, block, bits
    if r.write and stream.limit >= 0:
        r.block = stream.block = stream.limit
        stream.limit = -1
        return
    while level < tree.levels and (draw(w) >> 32) < w.climb:
        level += 1
    leaf = <uint64_t>(stream.block - stream.base) // LEAF
    leaf = (leaf >> level << level) + draw_below(w, <uint64_t>1 << level)
    if r.write:
        leaf &= w.written
        bits = draw(w)
        block = tree.pointers[leaf]
        if bits & 1:
            block = (bits >> 1) & 7
        r.block = stream.base + <int64_t>(leaf * LEAF + block)
        if ((bits >> 32) * 100) >> 32 < 15:
            stream.limit = r.block
    else:
        block = tree.pointers[leaf]
        tree.pointers[leaf] = (block + 1) & 7
        r.block = stream.base + <int64_t>(leaf * LEAF + block)
    stream.block = r.block


cdef class Spc1(Kernel):
    cdef spc1_t state               # other kernels call next_request(&workload.state, &request)
    cdef readonly uint32_t bsus     # number of BSUs made; set_load may use fewer
    cdef readonly int64_t blocks[ASUS]  # blocks of each unit

    cdef int add_streams(self, streams) except -1
    cdef int add_tree(self, tree_t* tree, kind_t* kind) except -1
    cdef void place(self, stream_t* stream, tree_t* tree) noexcept
