"""Define the kernel of a flash drive behind a cache; _devices.pxd explains how to use devices."""

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free

from misspenalty.disks.drive._state cimport IDLE, record_t
from misspenalty.disks.flash._flash cimport Flash
from misspenalty.engine._engine cimport pop, queue_t, schedule
from misspenalty.engine._pool cimport LAST, grow
from misspenalty.latency._devices cimport Device


cdef struct flight_t:
    int32_t next                    # next free flight; `grow` expects this field at offset 0
    record_t record


cdef class FlashDrive(Device):
    """A flash drive whose reads wait only for dies that earlier requests keep busy.

    The page of a read that arrives last determines `queue`: the time that this page waited for its die.
    """

    cdef readonly Flash flash
    cdef queue_t queue              # pending completions
    cdef flight_t* flights
    cdef int32_t room, free

    def __cinit__(self, Flash flash not None):
        self.flash = flash
        self.uses(flash)
        self.free = LAST

    def __dealloc__(self):
        free(self.queue.events)
        free(self.flights)

    cdef int submit(self, int64_t now, int64_t lbn, int32_t count, bint write, int64_t tag) except -1 nogil:
        cdef int32_t i
        cdef int64_t waited
        cdef record_t* record
        if self.free == LAST:
            self.flights = <flight_t*>grow(self.flights, &self.room, &self.free, sizeof(flight_t), 0)
        i = self.free
        record = &self.flights[i].record
        self.flash.serve(now, lbn, count, write, record)
        record.tag = tag
        waited = min(self.flash.die_wait, record.transfer)
        record.queue = waited
        record.transfer -= waited
        schedule(&self.queue, record.done, 0, i)
        self.free = self.flights[i].next
        self.event = self.queue.events[0].time

    cdef int complete(self, record_t* record) except -1 nogil:
        cdef int32_t i = <int32_t>pop(&self.queue).what
        record[0] = self.flights[i].record
        self.flights[i].next = self.free
        self.free = i
        self.event = self.queue.events[0].time if self.queue.size else IDLE
