"""Run the step model of delayed hits.

`reference.delayed_hits` is easier to read; steps.py has the definition.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from misspenalty._kernel cimport SLICE, Kernel, check_signals
from misspenalty.latency._farthest cimport ABSENT, NOT_AGAIN, enter, farthest_t, postpone, take_farthest
from misspenalty.policies._list cimport append, link_of, make_list, oldest, remove, Link

cdef enum:
    NONE = 0                        # not in any list
    T1 = 1                          # cached; with ARC, requested once
    T2 = 2                          # cached, requested again
    B1 = 3                          # not cached; left T1
    B2 = 4                          # not cached; left T2
    LISTS                           # number of the constants above

cdef enum:
    MANY_STEPS = 100                # if a fetch takes more steps, ARC's variant gives objects with few requests rank 0
    FEW_REQUESTS = 2                # maximum number of requests of such objects


cdef struct history_t:
    int64_t opened                  # step in which the running window opened
    int64_t last                    # step of the last request
    int64_t past                    # aggregate delay of the earlier windows
    int64_t running                 # … of the running window
    int64_t windows                 # number of windows, including the running one
    int64_t requests


HISTORY = np.dtype([(name, np.int64) for name in ("opened", "last", "past", "running", "windows", "requests")])


cdef inline void note(history_t* h, int64_t step, int64_t z, int64_t alone) noexcept nogil:
    """Add a request to an object's history; each of the first `alone` requests opens a window."""
    if h.requests < alone or step - h.opened >= z:
        h.past += h.running
        h.running = 0
        h.windows += 1
        h.opened = step
    h.running += z - (step - h.opened)
    h.last = step
    h.requests += 1


cdef class StepCache(Kernel):
    """Base of the caches: they keep objects, numbered below `objects`, in lists with the oldest object first."""

    cdef Py_ssize_t capacity
    cdef int64_t z                          # number of steps that a fetch takes
    cdef uint32_t objects
    cdef uint32_t[:, ::1] links             # neighbours of each object, then the lists' heads
    cdef uint8_t[::1] where                 # by object: number of its list
    cdef Py_ssize_t[LISTS] count            # number of objects in each list
    cdef history_t[::1] histories           # by object; only for the variants by aggregate delay
    cdef int64_t alone                      # number of first requests that open a window each; 0 = no histories

    def __cinit__(self, Py_ssize_t capacity, int64_t z, Py_ssize_t objects, following):
        self.capacity, self.z, self.objects = capacity, z, objects
        self.links = np.zeros((objects + LISTS, 2), np.uint32)
        self.where = np.zeros(objects, np.uint8)
        for name in range(LISTS):
            make_list(&self.links[0, 0], sizeof(Link), self.objects + name)

    cdef inline void put(self, uint8_t name, uint32_t what) noexcept nogil:
        """Move an object to the newest end of a list."""
        self.drop(what)
        append(&self.links[0, 0], sizeof(Link), self.objects + name, what)
        self.where[what] = name
        self.count[name] += 1

    cdef inline void drop(self, uint32_t what) noexcept nogil:
        if self.where[what] != NONE:
            remove(&self.links[0, 0], sizeof(Link), what)
            self.count[self.where[what]] -= 1
            self.where[what] = NONE

    cdef inline uint32_t first(self, uint8_t name) noexcept nogil:
        return oldest(&self.links[0, 0], sizeof(Link), self.objects + name)

    cdef bint holds(self, uint32_t what) noexcept nogil:
        return self.where[what] == T1 or self.where[what] == T2

    cdef void arrive(self, uint32_t what, int64_t step) noexcept nogil:
        """Record a request for the object, before its outcome is known."""
        if self.alone:
            note(&self.histories[what], step, self.z, self.alone)

    cdef void hit(self, uint32_t what) noexcept nogil:
        """Update the cache after a hit on the object."""

    cdef void fetched(self, uint32_t what, int64_t queue, int64_t step) noexcept nogil:
        """Insert or refuse the object, whose fetch has completed; `queue` requests waited for it."""

    cdef void passed(self, uint32_t what, int64_t step) noexcept nogil:
        """Update the object's state when the step of its request is over."""

    cdef uint32_t victim(self, uint8_t name, int64_t step) noexcept nogil:
        return self.first(name)

    cdef double rank(self, uint32_t what, int64_t step, int64_t z) noexcept nogil:
        return 0

    cdef uint32_t lowest(self, uint8_t name, int64_t step, int64_t z) noexcept nogil:
        """Return the object with the lowest rank in a list; on a tie, the one whose first request was earliest."""
        cdef uint32_t head = self.objects + name, what = self.first(name), best = what
        cdef double least = self.rank(what, step, z), rank
        while True:
            what = link_of(&self.links[0, 0], sizeof(Link), what).newer
            if what == head:
                return best
            rank = self.rank(what, step, z)
            if rank < least or (rank == least and what < best):
                best = what
                least = rank


cdef class LRU(StepCache):

    cdef void hit(self, uint32_t what) noexcept nogil:
        self.put(T1, what)

    cdef void fetched(self, uint32_t what, int64_t queue, int64_t step) noexcept nogil:
        if self.count[T1] == self.capacity:
            self.drop(self.victim(T1, step))
        self.put(T1, what)


cdef class LRUMAD(LRU):
    def __cinit__(self, *args):
        self.alone, self.histories = 1, np.zeros(self.objects, HISTORY)

    cdef void hit(self, uint32_t what) noexcept nogil:
        pass

    cdef double rank(self, uint32_t what, int64_t step, int64_t z) noexcept nogil:
        cdef history_t* h = &self.histories[what]
        return <double>(h.past + h.running) / <double>h.windows / <double>(step - h.last + 1)

    cdef uint32_t victim(self, uint8_t name, int64_t step) noexcept nogil:
        return self.lowest(name, step, self.z)


cdef class ARC(StepCache):
    cdef Py_ssize_t p                       # target size of T1

    cdef void hit(self, uint32_t what) noexcept nogil:
        self.put(T2, what)

    cdef void fetched(self, uint32_t what, int64_t queue, int64_t step) noexcept nogil:
        cdef Py_ssize_t c = self.capacity, in_b1 = self.count[B1], in_b2 = self.count[B2]
        cdef Py_ssize_t total = self.count[T1] + self.count[T2] + in_b1 + in_b2
        cdef uint8_t was = self.where[what], to = T2
        if was == B1:
            self.p = min(self.p + max(1, half_up(in_b2, in_b1)), c)
            self.replace(was, step)
        elif was == B2:
            self.p = max(self.p - max(1, half_up(in_b1, in_b2)), 0)
            self.replace(was, step)
        else:
            if self.count[T1] == c:
                self.drop(self.only_once(step))
            elif self.count[T1] + in_b1 == c:
                self.drop(self.first(B1))
                self.replace(was, step)
            elif total >= c:
                if total == 2 * c:
                    self.drop(self.first(B2))
                self.replace(was, step)
            to = T2 if queue > 1 else T1
        self.put(to, what)

    cdef inline void replace(self, uint8_t was, int64_t step) noexcept nogil:
        cdef Py_ssize_t in_t1 = self.count[T1]
        if in_t1 and (in_t1 > self.p or (was == B2 and in_t1 == self.p)):
            self.put(B1, self.victim(T1, step))
        else:
            self.put(B2, self.victim(T2, step))

    cdef uint32_t only_once(self, int64_t step) noexcept nogil:
        """Return the victim when T1 fills the whole cache."""
        return self.first(T1)


cdef inline Py_ssize_t half_up(Py_ssize_t over, Py_ssize_t under) noexcept nogil:
    """Return `over` / `under` rounded to the nearest whole number, with halves rounded up."""
    return (2 * over + under) // (2 * under)


cdef class ARCMAD(ARC):
    def __cinit__(self, *args):
        self.alone, self.histories = 2, np.zeros(self.objects, HISTORY)

    cdef double rank(self, uint32_t what, int64_t step, int64_t z) noexcept nogil:
        cdef history_t* h = &self.histories[what]
        cdef uint64_t age = <uint64_t>(step - h.last + 1)
        cdef double mean = <double>h.past / <double>(h.windows - 1) if h.windows > 1 else <double>h.running
        if z > MANY_STEPS and h.requests <= FEW_REQUESTS:
            mean = 0
        return mean / <double>age if age else INFINITY

    cdef uint32_t victim(self, uint8_t name, int64_t step) noexcept nogil:
        return self.lowest(name, step, self.z)

    cdef uint32_t only_once(self, int64_t step) noexcept nogil:
        return self.lowest(T1, self.z, step)    # z and step are exchanged, as in the published program


cdef class Foresight(StepCache):
    """Base of the caches that are told each object's next request."""

    cdef const int64_t[::1] following       # by step: the object's next request
    cdef int64_t[::1] latest                # by object: step of its last request
    cdef int64_t[::1] coming                # by object: its next request

    def __cinit__(self, Py_ssize_t capacity, int64_t z, Py_ssize_t objects, following):
        self.following = following
        self.latest, self.coming = (np.zeros(objects + 1, np.int64) for _ in range(2))

    cdef void arrive(self, uint32_t what, int64_t step) noexcept nogil:
        self.latest[what] = step


cdef class OPT(Foresight):
    cdef int64_t[::1] heap, place
    cdef farthest_t f

    def __cinit__(self, Py_ssize_t capacity, int64_t z, Py_ssize_t objects, following):
        self.heap, self.place = np.zeros(objects + 1, np.int64), np.full(objects + 1, ABSENT, np.int64)
        self.f.heap, self.f.place, self.f.coming = &self.heap[0], &self.place[0], &self.coming[0]

    cdef void passed(self, uint32_t what, int64_t step) noexcept nogil:
        """Set the object's next request at the end of a step: a fetch that ends in this step still uses the old one."""
        if self.where[what] == T1:
            postpone(&self.f, what, self.following[step])

    cdef void fetched(self, uint32_t what, int64_t queue, int64_t step) noexcept nogil:
        cdef int64_t coming = self.following[self.latest[what]]
        if self.count[T1] == self.capacity:
            if coming >= self.coming[self.f.heap[0]]:
                return
            self.drop(<uint32_t>take_farthest(&self.f))
        enter(&self.f, what, coming)
        self.put(T1, what)


cdef class OPTMAD(Foresight):
    cdef int64_t[::1] delay                 # by step: aggregate delay of a window that opens in this step

    def __cinit__(self, Py_ssize_t capacity, int64_t z, Py_ssize_t objects, following):
        self.delay = np.zeros(len(following), np.int64)

    cdef void passed(self, uint32_t what, int64_t step) noexcept nogil:
        self.coming[what] = self.following[step]

    cdef double worth(self, int64_t coming, int64_t step) noexcept nogil:
        cdef int64_t at = coming
        if coming == NOT_AGAIN:
            return 0
        if self.delay[coming] == 0:
            while at != NOT_AGAIN and at - coming < self.z:
                self.delay[coming] += self.z - (at - coming)
                at = self.following[at]
        return <double>self.delay[coming] / <double>(coming - step + 1)

    cdef double rank(self, uint32_t what, int64_t step, int64_t z) noexcept nogil:
        return self.worth(self.coming[what], step)

    cdef void fetched(self, uint32_t what, int64_t queue, int64_t step) noexcept nogil:
        cdef int64_t coming = self.following[self.latest[what]]
        cdef uint32_t victim
        if self.count[T1] == self.capacity:
            victim = self.lowest(T1, step, self.z)
            if self.worth(coming, step) < self.rank(victim, step, self.z):
                return
            self.drop(victim)
        self.coming[what] = coming
        self.put(T1, what)


KERNELS = {"lru": LRU, "lru_mad": LRUMAD, "arc": ARC, "arc_mad": ARCMAD, "opt": OPT, "opt_mad": OPTMAD}


def run(str policy, const int32_t[::1] steps, Py_ssize_t objects, Py_ssize_t capacity, int64_t z):
    """Replay `steps`; each is the number of the requested object, below `objects`, or -1 for no request.

    Return the hits, delayed hits, misses and total latency in steps.
    """
    cdef Py_ssize_t n = steps.shape[0], step
    cdef int64_t hits = 0, delayed = 0, misses = 0, latency = 0
    cdef int32_t what
    if n and np.max(steps) >= objects:
        raise IndexError(f"the steps request object {np.max(steps)}; expected objects below {objects}")
    following = np.empty(n, np.int64)
    cdef int64_t[::1] following_view = following
    cdef int64_t[::1] latest = np.full(objects, NOT_AGAIN, np.int64)
    for step in range(n - 1, -1, -1):
        if steps[step] >= 0:
            following_view[step] = latest[steps[step]]
            latest[steps[step]] = step
    cdef StepCache cache = KERNELS[policy](capacity, z, objects, following)
    cdef uint8_t[::1] began = np.zeros(n, np.uint8)         # whether a fetch began in the step
    cdef int64_t[::1] end = np.full(objects, -1, np.int64)  # by object: step in which its last fetch ends
    cdef int64_t[::1] queue = np.zeros(objects, np.int64)   # … number of requests that wait for it
    with cache, nogil:
        for step in range(n):
            if step % SLICE == SLICE - 1:
                check_signals()
            what = steps[step]
            if what >= 0:
                cache.arrive(what, step)
                if cache.holds(what):
                    hits += 1
                    cache.hit(what)
                elif end[what] >= step:
                    delayed += 1
                    queue[what] += 1
                    latency += end[what] - step + 1
                else:
                    misses += 1
                    began[step] = True
                    queue[what] = 1
                    end[what] = step + z - 1
                    latency += z
            if step - z + 1 >= 0 and began[step - z + 1]:
                cache.fetched(steps[step - z + 1], queue[steps[step - z + 1]], step)
            if what >= 0:
                cache.passed(what, step)
    return hits, delayed, misses, latency
