"""Call the event engine from Python, for tests and slow models; kernels cimport it instead and inline every call."""

from libc.stdint cimport int64_t
from libc.stdlib cimport free

from misspenalty._kernel cimport Kernel
from misspenalty.engine._engine cimport (
    SEQUENCE_BITS, event_t, make_event, pop, priority_of, push, queue_t, reserve, schedule, sequence_of, serve, server_t,
)

LIMIT = 2 ** int(SEQUENCE_BITS)     # upper bound of sequence numbers, exclusive


cdef class EventQueue(Kernel):
    """Pending events in the order (time, priority, sequence number).

    Parameters
    ----------
    room : int
        Number of events that fit before the queue has to grow.
    """

    cdef queue_t queue

    def __cinit__(self, Py_ssize_t room=64):
        reserve(&self.queue, max(room, 1))

    def __dealloc__(self):
        free(self.queue.events)

    def __len__(self):
        return self.queue.size

    def push(self, int64_t time, int priority, int64_t what, sequence=None):
        """Add an event at `time` ns.

        Events of the same time and priority leave in the order in which they were added, unless given `sequence`
        numbers.
        """
        self.check_unused()
        if not 0 <= priority < 2 ** (64 - int(SEQUENCE_BITS)):
            raise ValueError(f"priority is {priority}; expected 0 to {2 ** (64 - int(SEQUENCE_BITS)) - 1}")
        if sequence is None:
            schedule(&self.queue, time, priority, what)
        elif 0 <= sequence < LIMIT:
            push(&self.queue, make_event(time, priority, sequence, what))
        else:
            raise ValueError(f"sequence is {sequence}; expected 0 to 2**{SEQUENCE_BITS} - 1")

    def pop(self):
        """Remove the next event and return (time, priority, sequence, what)."""
        self.check_unused()
        if self.queue.size == 0:
            raise IndexError("no event is pending")
        cdef event_t event = pop(&self.queue)
        return event.time, priority_of(event), sequence_of(event), event.what


def fcfs(arrivals, services):
    """Return the time at which one FCFS server completes each request, ns; `arrivals` must be in order."""
    cdef server_t server
    server.free = server.busy = 0
    return [serve(&server, arrival, service) for arrival, service in zip(arrivals, services, strict=True)]
