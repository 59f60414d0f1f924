# A disk that writes eagerly and logs its map; the model is defined in log.py.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from misspenalty_studies.vlog.virtual_log._eager cimport bitmap_t, choice_t, surface_t
from misspenalty_studies.vlog.virtual_log._map_log cimport piece_t
from misspenalty_studies.vlog.virtual_log._store cimport Store, latency_t


cdef class VirtualLog(Store):
    cdef surface_t surface
    cdef object arrays              # NumPy arrays that hold what the pointers refer to
    cdef int32_t* map               # physical block of each logical one; -1 = none
    cdef int32_t* owner             # logical block of each physical one; -1 = none
    cdef piece_t* pieces
    cdef readonly int32_t blocks    # number of logical blocks
    cdef readonly int32_t pieces_n
    cdef readonly int32_t tail      # piece whose record is the log's tail; -1 = nothing logged yet
    cdef int64_t sequence           # sequence number of the next record
    cdef int64_t first              # sequence number of the transaction's first record
    cdef int32_t before             # sector of the tail before the transaction; -1 = none
    cdef int64_t before_sequence
    cdef readonly int32_t longest   # maximum number of blocks per transaction; a longer request is split
    cdef bint log_map               # whether map sectors are written
    cdef int32_t reserve            # free blocks that filling leaves on a track; -1 = always use the nearest block
    cdef int32_t open               # track being filled; -1 = none
    cdef int32_t avoid              # track to which nothing is written; -1 = none
    cdef bint no_empty              # whether empty tracks are used only if nothing else is free
    cdef int32_t* stale             # physical blocks that the end of the transaction frees
    cdef int32_t stale_blocks
    cdef int32_t* stale_records     # sectors of records that the end of the transaction frees
    cdef int32_t stale_records_n
    cdef int32_t held               # track in the read buffer; -1 = none
    cdef int64_t held_from          # time since which its sectors have been read, ns
    cdef int64_t held_until         # when the arm left it, ns; FOREVER = the arm is still there
    cdef int32_t partial            # logical block last written in part, whose rest the drive still holds; -1 = none
    cdef uint8_t* media             # the sectors' bytes; NULL = not kept
    cdef int64_t budget             # sectors that can be written before the power fails; -1 = unlimited
    cdef readonly bint dead         # whether the power has failed
    cdef int32_t tail_address       # sector of the last record on the media; -1 = none
    cdef int64_t tail_sequence
    cdef readonly int64_t version   # version of the next write
    cdef int64_t search             # processor time for each track examined, ns
    cdef int64_t recording          # processor time for each record, ns
    cdef readonly int64_t records   # records logged
    cdef readonly int64_t relogged  # records logged again to make room for pointers

    cdef int bind(self, bitmap_t* map, name, tracks, units, unit, step) except -1
    cdef check_free(self, logical, physical, records)
    cdef int64_t write(self, int64_t now, int64_t sector, int64_t count, latency_t* spent) noexcept nogil
    cdef int64_t read(self, int64_t now, int64_t sector, int64_t count, latency_t* spent) noexcept nogil
    cdef int64_t read_block(
        self, int64_t now, int32_t block, int32_t part, int32_t count, latency_t* spent
    ) noexcept nogil
    cdef choice_t choose(self, const bitmap_t* map, int64_t now) noexcept nogil
    cdef int64_t arrive(self, int64_t now, const bitmap_t* map, const choice_t* choice, latency_t* spent) noexcept nogil
    cdef int64_t put(self, int32_t logical, int64_t now, latency_t* spent) noexcept nogil
    cdef int64_t log(self, int32_t piece, int64_t now, bint last, latency_t* spent) noexcept nogil
    cdef void begin(self) noexcept nogil
    cdef void commit(self) noexcept nogil
    cdef void store_sector(self, int64_t address, const void* content, Py_ssize_t size) noexcept nogil
    cdef void store_data(self, int32_t logical, int32_t old) noexcept nogil
    cdef int64_t address_of(self, int32_t block) noexcept nogil
    cdef void store_record(self, int32_t piece, bint last) noexcept nogil
