# The event engine has integer times, a total order of events, and FCFS servers. Everything here is inlined where it is
# cimported.
#
# An event's key is (time, priority, sequence number). The priority determines which kind of event goes first at equal
# times; the sequence number makes the order total. Either the queue assigns it (`schedule`), or a model with its own
# numbering supplies one that is unique among the pending events of a kind (`make_event`). Repeated runs therefore give
# identical results.

from libc.stdint cimport int64_t, uint64_t

from misspenalty._kernel cimport grown

cdef enum:
    ARITY = 4                       # number of children of a heap node; together they take 96 bytes
    SEQUENCE_BITS = 56              # number of low bits of a rank for the sequence number; the others hold the priority


cdef struct event_t:
    int64_t time                    # time of the event, ns
    uint64_t rank                   # priority << SEQUENCE_BITS | sequence number
    int64_t what                    # subject of the event: the model's number of a terminal, request or disk


cdef struct queue_t:
    event_t* events                 # heap with ARITY children per node, the next event at 0; NULL = nothing allocated
    Py_ssize_t size                 # number of pending events
    Py_ssize_t room                 # number of events that fit before the heap grows
    uint64_t sequence               # sequence number of the next scheduled event


cdef extern from *:
    ctypedef unsigned long long uint128_t "unsigned __int128"
    ctypedef long long int128_t "__int128"


cdef struct server_t:
    int64_t free                    # time at which all work given so far will be complete, ns
    int64_t busy                    # total service time of all work given so far, ns


cdef inline event_t make_event(int64_t time, uint64_t priority, uint64_t sequence, int64_t what) noexcept nogil:
    cdef event_t event
    event.time = time
    event.rank = priority << SEQUENCE_BITS | sequence
    event.what = what
    return event


cdef inline uint64_t priority_of(event_t event) noexcept nogil:
    return event.rank >> SEQUENCE_BITS


cdef inline uint64_t sequence_of(event_t event) noexcept nogil:
    return event.rank & ((<uint64_t>1 << SEQUENCE_BITS) - 1)


cdef inline int128_t key_of(event_t* event) noexcept nogil:
    """Return time and rank as one number, so that a comparison needs no branch that could be mispredicted.

    The number is signed, as times may be negative; the shift is unsigned, as C does not define it for negative numbers.
    """
    return <int128_t>(<uint128_t>event.time << 64 | event.rank)


cdef inline bint before(event_t* a, event_t* b) noexcept nogil:
    return key_of(a) < key_of(b)


cdef inline int reserve(queue_t* queue, Py_ssize_t room) except -1 nogil:
    """Enlarge the queue so that it has room for `room` events in total."""
    queue.events = <event_t*>grown(queue.events, room, sizeof(event_t), b"pending events")
    queue.room = room
    return 0


cdef inline int push(queue_t* queue, event_t event) except -1 nogil:
    cdef Py_ssize_t place = queue.size, parent
    cdef event_t* heap
    if place == queue.room:
        reserve(queue, 2 * place + 64)
    heap = queue.events
    queue.size += 1
    while place > 0:
        parent = (place - 1) // ARITY
        if not before(&event, &heap[parent]):
            break
        heap[place] = heap[parent]
        place = parent
    heap[place] = event
    return 0


cdef inline int schedule(queue_t* queue, int64_t time, uint64_t priority, int64_t what) except -1 nogil:
    """Schedule an event after those of the same time and priority that were scheduled before."""
    push(queue, make_event(time, priority, queue.sequence, what))
    queue.sequence += 1
    return 0


cdef inline void replace_first(queue_t* queue, event_t event) noexcept nogil:
    """Pop the next event and push `event` in one pass, as when a request moves on to its next station."""
    cdef event_t* heap = queue.events
    cdef Py_ssize_t size = queue.size, place = 0, child, last, best
    while True:
        child = ARITY * place + 1
        if child >= size:
            break
        best = child
        last = min(child + ARITY, size)
        for child in range(child + 1, last):
            best = child if before(&heap[child], &heap[best]) else best
        if not before(&heap[best], &event):
            break
        heap[place] = heap[best]
        place = best
    heap[place] = event


cdef inline event_t pop(queue_t* queue) noexcept nogil:
    """Remove and return the next event; the queue must not be empty."""
    cdef event_t event = queue.events[0]
    queue.size -= 1
    if queue.size:
        replace_first(queue, queue.events[queue.size])
    return event


cdef inline int64_t serve(server_t* server, int64_t arrival, int64_t service) noexcept nogil:
    """Return the time at which an FCFS server completes a request that needs `service`; call it in order of arrival."""
    server.free = max(server.free, arrival) + service
    server.busy += service
    return server.free


cdef inline int64_t done_by(server_t* server, int64_t now) noexcept nogil:
    """Return the service time completed by `now`.

    If the server already has work that arrives after `now`, the idle time before that work is treated as work to do.
    """
    return max(server.busy - max(server.free - now, <int64_t>0), <int64_t>0)
