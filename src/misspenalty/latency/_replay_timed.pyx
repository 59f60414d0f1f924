"""Replay timed references; this is the kernel of `misspenalty.penalty`.

`reference.penalty` is easier to read; penalty.py has the definition.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free
from libc.string cimport memset

from misspenalty._kernel cimport Kernel, check_ids, check_signals, zeros
from misspenalty.disks.drive._state cimport IDLE, record_t
from misspenalty.latency._devices cimport Device
from misspenalty.latency._farthest cimport ABSENT, NOT_AGAIN, enter, farthest_t, postpone, take_farthest
from misspenalty.policies._policy cimport AHEAD, Policy, block_t, prefetch
from misspenalty.policies.sized._sized cimport SizedCache
from misspenalty.engine._engine cimport queue_t, pop, schedule
from misspenalty.traces.quantities import LATEST as _LATEST

COUNTS = ("hits", "delayed_hits", "misses", "delayed", "queue", "overhead", "seek", "rotation", "switch", "transfer", "bus", "cache")

cdef enum:
    HITS = 0                        # indices into `counts`: numbers of requests, then times, ns
    DELAYED_HITS = 1
    MISSES = 2
    DELAYED = 3
    PARTS = 4                       # index of the first of the device's eight components
    TURNS = 1 << 12                 # number of events between checks for signals; each event may search a disk's queue
    HALF = 32                       # a sum of times is kept in two parts: multiples of 1 << HALF, and the rest

cdef int64_t UNCOUNTED = -1         # latency recorded for writes and for the warm-up
cdef int64_t LATEST = _LATEST       # latest simulated time, ns; the sum of four such times fits in 64 bits


cdef class Foresight(Policy):
    """Belady's policy for a cache that is told the next request for each block; with `bypass` it may refuse a block."""

    cdef int64_t* upcoming          # next request for each block after its most recent one
    cdef farthest_t f
    cdef bint bypass

    def __cinit__(self, Py_ssize_t capacity, Py_ssize_t blocks, bint bypass):
        self.bypass = bypass
        self.f.heap = <int64_t*>self.allocate(blocks, sizeof(int64_t))
        self.f.place = <int64_t*>self.allocate(blocks, sizeof(int64_t))
        self.f.coming = <int64_t*>self.allocate(blocks, sizeof(int64_t))
        self.upcoming = <int64_t*>self.allocate(blocks, sizeof(int64_t))
        memset(self.f.place, 0xFF, blocks * sizeof(int64_t))      # ABSENT

    cdef bint holds(self, block_t block) noexcept nogil:
        return self.f.place[block] != ABSENT

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        cdef Py_ssize_t i
        cdef int64_t coming
        for i in range(n):
            coming = self.upcoming[ids[i]]
            hit[i] = self.f.place[ids[i]] != ABSENT
            if hit[i]:
                postpone(&self.f, ids[i], coming)
                continue
            if self.f.size == self.capacity:
                if self.bypass and coming >= self.f.coming[self.f.heap[0]]:
                    continue
                take_farthest(&self.f)
                self.evictions += 1
            enter(&self.f, ids[i], coming)


cdef class PythonCache(Policy):
    """A cache under a policy written in Python; it calls the policy's ``holds`` and ``access`` with the GIL."""

    cdef readonly object policy             # an instance of Adapter
    cdef int64_t[::1] asked                 # bytes with which each object was last requested; None in a cache of blocks
    cdef object failure                     # first exception that the policy raised, even KeyboardInterrupt, or None
    cdef bint failed

    def __cinit__(self, Py_ssize_t capacity, Py_ssize_t blocks, policy):
        self.policy, self.asked = policy, getattr(policy, "asked", None)
        if self.asked is not None and self.asked.shape[0] != blocks:
            raise IndexError(f"asked has length {self.asked.shape[0]}; expected {blocks}")
        self.allocate(1, 1)

    cdef bint holds(self, block_t block) noexcept nogil:
        with gil:
            return self.ask(self.policy.holds, block)

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        cdef Py_ssize_t i
        with gil:
            for i in range(n):
                hit[i] = self.ask(self.policy.access, ids[i])

    cdef bint ask(self, what, block_t block) noexcept:
        """Return the policy's answer; set `failed` if it raises an exception."""
        if self.failed:
            return False
        try:
            return what(block)
        except BaseException as error:
            self.failure, self.failed = error, True
            return False


def following(const block_t[::1] ids, Py_ssize_t blocks):
    """Return, for each reference, the number of the next reference to the same block, as a buffer of int64.

    If there is no next reference, the number is NOT_AGAIN. Raise IndexError if an id is not below `blocks`.
    """
    cdef Py_ssize_t i, n = ids.shape[0]
    check_ids(ids, blocks)
    made = zeros("q", n)
    cdef int64_t[::1] view = made
    cdef int64_t[::1] latest = zeros("q", blocks)
    with nogil:
        for i in range(blocks):
            latest[i] = NOT_AGAIN
        for i in range(n - 1, -1, -1):
            view[i] = latest[ids[i]]
            latest[ids[i]] = i
    return made


cdef inline int check_time(Py_ssize_t i, int64_t time) except -1 nogil:
    """Raise OverflowError if `time`, reached after `i` references, is later than `LATEST`."""
    if time > LATEST:
        with gil:
            raise OverflowError(f"simulated time passes {LATEST} ns after {i} references")


cdef class Replay(Kernel):
    """One cache in front of one device; `run` replays references through both."""

    cdef Policy cache
    cdef Foresight foresight        # `cache` if it is of this class, else None
    cdef PythonCache python         # `cache` if it is of this class, else None
    cdef SizedCache sized           # `cache` if it is of this class, else None
    cdef Device device
    cdef const int64_t[::1] lbn     # first sector of each block
    cdef int32_t sectors            # number of sectors of a block
    cdef const int64_t[::1] sizes   # bytes that each reference requests, for a cache of bytes; None = the cache's sizes
    cdef const int32_t[::1] counts_of   # number of sectors of each reference; None = `sectors`
    cdef int64_t hit_ns, pause      # time of each request in the cache, and a client's pause between requests, ns
    cdef bint through, closed
    cdef int64_t[::1] latency       # latency of each reference, ns; its time of arrival while it waits
    cdef int64_t[::1] tail          # by block in flight: 1 + the last reference that waits for it; 0 = not in flight
    cdef int32_t[::1] after         # by waiting reference: next one for the same block; after the last one, the first
    cdef Py_ssize_t warm_up
    cdef int64_t[12] counts, high   # high: multiples of 1 << HALF, so that no sum overflows
    cdef queue_t ready              # clients, ordered by the time of their next request
    cdef object advance             # function that takes the number of references replayed since its last call, or None

    def __cinit__(
        self, Policy cache not None, Device device not None, const int64_t[::1] lbn, int32_t sectors, int64_t hit_ns, bint through
    ):
        if lbn.shape[0] != cache.blocks:
            raise IndexError(f"lbn has length {lbn.shape[0]}; expected {cache.blocks}")
        self.cache, self.device, self.lbn, self.sectors, self.hit_ns, self.through = cache, device, lbn, sectors, hit_ns, through
        self.foresight = cache if isinstance(cache, Foresight) else None
        self.python = cache if isinstance(cache, PythonCache) else None
        self.sized = cache if isinstance(cache, SizedCache) else None
        self.uses(cache)
        self.uses(device)

    def __dealloc__(self):
        free(self.ready.events)

    def run(
        self, const block_t[::1] ids, const uint8_t[::1] write, const int64_t[::1] arrival, const int64_t[::1] following,
        Py_ssize_t warm_up, int64_t clients=0, int64_t pause=0, advance=None, const int64_t[::1] sizes=None,
        const int32_t[::1] sectors=None,
    ):
        """Replay references at their times, or in a closed loop if there are clients.

        Return the counts and a buffer of latencies in ns. Latencies of uncounted references (writes and the warm-up)
        are -1. `advance` is called with the number of references replayed since the last call. If it raises an
        exception, or at Ctrl-C, the replay stops with requests in progress; the device then cannot be used in another
        replay. `sizes` are the bytes that each reference requests from a cache of bytes, `sectors` the sectors that it
        transfers; by default, these are the sizes with which the cache was made and the sectors of a block.

        Raises
        ------
        IndexError
            An id is not below the cache's blocks, or an array that is used is shorter than `ids`; nothing was replayed.
        OverflowError
            Simulated time passes `LATEST`.
        RuntimeError
            The device has requests in progress, or another thread is using this replay, its cache or its device.
        BaseException
            The exception that `advance` or a policy written in Python raised.
        """
        cdef Py_ssize_t n = ids.shape[0], i
        check_ids(ids, self.cache.blocks)
        if (
            0 < write.shape[0] < n
            or (not clients and arrival.shape[0] < n)
            or (self.foresight is not None and following.shape[0] < n)
        ):
            raise IndexError(f"write, arrival or following is shorter than ids; expected at least {n} values")
        if (sizes is not None and sizes.shape[0] < n) or (sectors is not None and sectors.shape[0] < n):
            raise IndexError(f"sizes or sectors is shorter than ids; expected at least {n} values")
        if self.device.event != IDLE:
            raise RuntimeError("the device has requests in progress; give each replay its own")
        self.check_unused()
        self.ready.size = 0
        latency = zeros("q", n)
        self.latency, self.warm_up, self.pause, self.closed = latency, warm_up, pause, clients > 0
        self.advance, self.sizes, self.counts_of = advance, sizes, sectors
        self.tail, self.after = zeros("q", len(self.lbn)), zeros("i", n)
        for i in range(clients):
            schedule(&self.ready, 0, 0, 0)
        with self, nogil:
            self.play(ids, write, arrival, following)
        counts = {name: (high << HALF) + low for name, low, high in zip(COUNTS, self.counts, self.high)}
        return counts, latency

    cdef int play(
        self, const block_t[::1] ids, const uint8_t[::1] write, const int64_t[::1] arrival, const int64_t[::1] following
    ) except -1 nogil:
        cdef Py_ssize_t i = 0, told = 0, n = ids.shape[0]
        cdef int64_t coming
        cdef int turn
        cdef record_t record
        cdef bint written = False, waiting, writes = write.shape[0] > 0
        while True:
            for turn in range(TURNS):
                waiting = i < n                     # whether a request can arrive before the next completion
                coming = 0
                if waiting and not self.closed:
                    coming = arrival[i]
                elif waiting and self.ready.size:
                    coming = self.ready.events[0].time
                elif waiting:
                    waiting = False
                if self.device.event != IDLE and (not waiting or self.device.event <= coming):
                    self.device.complete(&record)   # at equal times, a completion comes before an arrival
                    check_time(i, record.done)
                    if record.tag >= 0:
                        self.finish(&record)
                elif not waiting:
                    return 0
                else:
                    check_time(i, coming)
                    if i + AHEAD < n:
                        prefetch(&self.tail[ids[i + AHEAD]])
                    if writes:
                        written = write[i]
                    if self.foresight is not None:
                        self.foresight.upcoming[ids[i]] = following[i]
                    if self.closed:
                        pop(&self.ready)
                    self.request(i, ids[i], written, coming)
                    i += 1
                if self.python is not None and self.python.failed:
                    with gil:
                        raise self.python.failure
            check_signals()
            if self.advance is not None:
                with gil:
                    self.advance(i - told)
                told = i

    cdef inline void add(self, int what, int64_t ns) noexcept nogil:
        self.counts[what] += ns & ((<int64_t>1 << HALF) - 1)
        self.high[what] += ns >> HALF

    cdef inline int request(self, Py_ssize_t i, block_t block, bint write, int64_t now) except -1 nogil:
        """Let reference `i` arrive: a read hits, waits for a fetch in progress, or begins one; a write never waits."""
        cdef int64_t tail = self.tail[block]
        cdef int32_t sectors = self.sectors if self.counts_of is None else self.counts_of[i]
        if self.sized is not None and self.sizes is not None:
            self.sized.nodes[block].asked = self.sizes[i]
        if self.python is not None and self.python.asked is not None and self.sizes is not None:
            self.python.asked[block] = self.sizes[i]
        if write:
            if not tail:
                self.cache.access(block)
            self.latency[i] = UNCOUNTED
            if self.through:
                self.device.submit(now, self.lbn[block], sectors, True, -1)
            return self.again(now + self.hit_ns)
        if tail:
            self.latency[i] = now
            self.after[i] = self.after[tail - 1]
            self.after[tail - 1] = <int32_t>i
            self.tail[block] = i + 1
            return 0
        if self.cache.holds(block):
            self.cache.access(block)
            self.latency[i] = self.hit_ns if i >= self.warm_up else UNCOUNTED
            self.counts[HITS] += i >= self.warm_up
            return self.again(now + self.hit_ns)
        self.latency[i] = now
        self.after[i] = <int32_t>i
        self.tail[block] = i + 1
        return self.device.submit(now, self.lbn[block], sectors, False, block)

    cdef inline int finish(self, record_t* record) except -1 nogil:
        """Cache a block that has arrived, and let the references that wait for it continue in order of arrival."""
        cdef block_t block = <block_t>record.tag
        cdef int64_t last = self.tail[block] - 1, i = self.after[last], waited
        cdef int64_t* part = &record.queue
        cdef int k
        cdef bint first = True
        self.tail[block] = 0
        self.cache.access(block)
        while True:
            waited = record.done - self.latency[i]
            if i < self.warm_up:
                self.latency[i] = UNCOUNTED
            else:
                self.latency[i] = waited + self.hit_ns
                if first:
                    self.counts[MISSES] += 1
                    for k in range(8):
                        self.add(PARTS + k, part[k])
                else:
                    self.counts[DELAYED_HITS] += 1
                    self.add(DELAYED, waited)
            self.again(record.done + self.hit_ns)
            if i == last:
                return 0
            first = False
            i = self.after[i]

    cdef inline int again(self, int64_t done) except -1 nogil:
        """Schedule, in a closed loop, the next request of a client that was served at `done`, after its pause."""
        if self.closed:
            schedule(&self.ready, done + self.pause, 0, 0)
