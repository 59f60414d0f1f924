# Drive operations of a controller, from when they are issued to the drive until they complete.

from libc.stdint cimport int32_t, int64_t

from misspenalty.engine._pool cimport grow
from misspenalty_studies.sarc.array._raid cimport piece_t

cdef enum:
    NONE = -1                       # no operation, no owner, no page


cdef struct operation_t:
    piece_t piece                   # drive and sectors
    int64_t page                    # first page of a read for the cache; otherwise NONE
    int32_t owner                   # destage that it belongs to; NONE = a read for the cache
    int32_t waiters                 # first in the chain of requests that wait for it; NONE = none
    int32_t next                    # next free operation


cdef struct operations_t:
    operation_t* all                # NULL = nothing allocated
    int32_t room                    # number of operations allocated
    int32_t free                    # first free operation; NONE = none


cdef inline int32_t new_operation(operations_t* operations) except -2 nogil:
    cdef int32_t which
    if operations.free == NONE:
        operations.all = <operation_t*>grow(
            operations.all, &operations.room, &operations.free, sizeof(operation_t), <size_t>&(<operation_t*>NULL).next
        )
    which = operations.free
    operations.free = operations.all[which].next
    return which


cdef inline void free_operation(operations_t* operations, int32_t which) noexcept nogil:
    operations.all[which].next = operations.free
    operations.free = which
