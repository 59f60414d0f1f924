"""Define the kernels of the devices behind a cache; _devices.pxd explains how to use them."""

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free
from libc.string cimport memset

from misspenalty._kernel cimport Kernel, grown_ring
from misspenalty.disks.drive._drive cimport arrive, complete as complete_next
from misspenalty.disks.drive._state cimport IDLE


cdef class Device(Kernel):
    """The base class of the devices."""

    def __cinit__(self, *args):
        self.event = IDLE

    cdef int submit(self, int64_t now, int64_t lbn, int32_t count, bint write, int64_t tag) except -1 nogil:
        pass

    cdef int complete(self, record_t* record) except -1 nogil:
        pass


cdef class FixedTime(Device):
    """A device of unlimited parallelism: each request takes `latency` ns, recorded as overhead."""

    def __cinit__(self, int64_t latency):
        self.latency = latency

    def __dealloc__(self):
        free(self.ring)

    cdef int submit(self, int64_t now, int64_t lbn, int32_t count, bint write, int64_t tag) except -1 nogil:
        cdef record_t* record
        cdef Py_ssize_t i
        if self.size == self.room:
            self.ring = <record_t*>grown_ring(self.ring, &self.room, self.head, sizeof(record_t), b"requests in service")
        i = self.head + self.size
        record = &self.ring[i if i < self.room else i - self.room]
        memset(record, 0, sizeof(record_t))
        record.arrival = record.start = now
        record.overhead = self.latency
        record.done = now + self.latency
        record.tag = tag
        self.size += 1
        if self.size == 1:
            self.event = record.done

    cdef int complete(self, record_t* record) except -1 nogil:
        record[0] = self.ring[self.head]
        self.head = self.head + 1 if self.head + 1 < self.room else 0
        self.size -= 1
        self.event = self.ring[self.head].done if self.size else IDLE


cdef class Disk(Device):
    """A disk drive with its command queue."""

    def __cinit__(self, Drive drive not None):
        self.drive = drive
        self.uses(drive)

    cdef int submit(self, int64_t now, int64_t lbn, int32_t count, bint write, int64_t tag) except -1 nogil:
        cdef int64_t event = arrive(&self.drive.d, now, lbn, count, write, tag)
        if event != IDLE:
            self.event = event

    cdef int complete(self, record_t* record) except -1 nogil:
        self.event = complete_next(&self.drive.d, record)
