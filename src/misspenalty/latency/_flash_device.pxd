# Define a device for a flash drive behind a cache.

from libc.stdint cimport int32_t

from misspenalty.disks.drive._state cimport record_t
from misspenalty.disks.flash._flash cimport Flash
from misspenalty.latency._devices cimport Device
from misspenalty.engine._engine cimport queue_t


cdef struct flight_t:
    int32_t next                    # next free flight; `grow` expects this field at offset 0
    record_t record


cdef class FlashDrive(Device):      # requests overlap on different dies
    cdef readonly Flash flash
    cdef queue_t queue              # completions to come
    cdef flight_t* flights
    cdef int32_t room, free
