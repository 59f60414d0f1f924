# Host requests in progress, the queues in which they wait, and the chains of requests that wait for the same drive
# operation.
#
# Requests and waiters are taken from pools (`_pool.pxd`).

from libc.stdint cimport int32_t, int64_t, uint64_t

from misspenalty.engine._pool cimport grow

cdef enum:
    NOBODY = -1                     # no request, no waiter

cdef enum:                          # kinds of request source
    RANDOM_ACCESS, SEQUENTIAL_ACCESS, UNKNOWN_ACCESS, ACCESSES

cdef enum:                          # components of a latency
    HOST_QUEUE = 0
    CONTROLLER = 1
    ADAPTER_QUEUE = 2
    ADAPTER = 3
    WRITE_CACHE = 4
    IN_FLIGHT = 5
    DISK_QUEUE = 6
    DISK_OVERHEAD = 7
    SEEK = 8
    ROTATION = 9
    DISK_TRANSFER = 10
    DISK_BUS = 11
    DISK_CACHE = 12
    COMPONENTS = 13


cdef struct arrival_t:
    int64_t time                    # ns
    int64_t page                    # first page, in the host's numbering
    int64_t base                    # first page of its unit
    int64_t part                    # pages of the unit on each array over which the host stripes it
    int64_t placed                  # first page, in the controller's numbering
    int32_t array                   # array of its first page, whose slot and adapter the request takes
    int32_t pages                   # length
    bint write                      # 1 = write
    int kind                        # kind of its source: random, sequential or unknown access


cdef struct request_t:
    arrival_t asked                 # the request as it arrived
    int64_t since                   # when its tracks are looked up, ns
    int64_t serial                  # number among all requests
    int64_t[COMPONENTS] parts       # components of its latency, ns
    uint64_t known                  # a write's pages that the cache already held, one bit each
    int32_t left                    # number of operations for which it still waits
    int32_t next                    # next request in its queue, or next free request; NOBODY = none


cdef struct waiter_t:
    int32_t request                 # request that waits for an operation
    int32_t next                    # next waiter of the operation, or next free waiter; NOBODY = none
    bint own                        # whether the operation was issued for this request


cdef struct requests_t:
    request_t* all                  # NULL = nothing allocated
    int32_t room                    # number of requests allocated
    int32_t free                    # first free request; NOBODY = none


cdef struct waiters_t:
    waiter_t* all                   # NULL = nothing allocated
    int32_t room                    # number of waiters allocated
    int32_t free                    # first free waiter; NOBODY = none


cdef struct line_t:                 # queue of requests, first come, first served
    int32_t first                   # NOBODY = empty
    int32_t last


cdef inline void line_up(requests_t* requests, line_t* line, int32_t which) noexcept nogil:
    requests.all[which].next = NOBODY
    if line.first == NOBODY:
        line.first = which
    else:
        requests.all[line.last].next = which
    line.last = which


cdef inline int32_t leave_line(requests_t* requests, line_t* line) noexcept nogil:
    """Remove and return the first request of a queue that is not empty."""
    cdef int32_t which = line.first
    line.first = requests.all[which].next
    return which


cdef inline int32_t new_request(requests_t* requests) except -2 nogil:
    cdef int32_t which
    if requests.free == NOBODY:
        requests.all = <request_t*>grow(
            requests.all, &requests.room, &requests.free, sizeof(request_t), <size_t>&(<request_t*>NULL).next
        )
    which = requests.free
    requests.free = requests.all[which].next
    return which


cdef inline void free_request(requests_t* requests, int32_t which) noexcept nogil:
    requests.all[which].next = requests.free
    requests.free = which


cdef inline int32_t new_waiter(waiters_t* waiters) except -2 nogil:
    cdef int32_t which
    if waiters.free == NOBODY:
        waiters.all = <waiter_t*>grow(
            waiters.all, &waiters.room, &waiters.free, sizeof(waiter_t), <size_t>&(<waiter_t*>NULL).next
        )
    which = waiters.free
    waiters.free = waiters.all[which].next
    return which


cdef inline void free_waiter(waiters_t* waiters, int32_t which) noexcept nogil:
    waiters.all[which].next = waiters.free
    waiters.free = which
