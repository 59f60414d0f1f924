# Define the kernel of flash behind a controller, which kernels with overlapping requests also use. Times are in ns.
# serve(now, lbn, count, write, &record) serves one complete request. Requests may overlap as long as `now` never
# decreases: each request waits for the dies that earlier ones keep busy, but on the channels and the interface its
# pages compete only with each other.

from libc.stdint cimport int32_t, int64_t, uint8_t

from misspenalty._kernel cimport Kernel
from misspenalty.disks.drive._state cimport record_t


cdef struct settings_t:             # settings of a kind of flash drive; times in ns
    int64_t channels
    int64_t dies                    # number of dies; die d is on channel d % channels
    int64_t die_blocks              # number of erase blocks per die
    int64_t block_pages
    int64_t page_units              # number of mapped units per page
    int64_t unit_blocks             # number of sectors per unit
    int64_t slots                   # number of units that the power-safe buffer holds; 0 = no buffer
    int64_t read                    # time to read a page
    int64_t program                 # time to program a page
    int64_t erase                   # time to erase a block
    int64_t move                    # time to transfer a unit over its channel
    int64_t link                    # time to transfer a sector over the interface
    int64_t read_command
    int64_t write_command


cdef class Flash(Kernel):
    cdef settings_t s
    cdef int64_t[::1] die_free      # by die: time at which it is free, ns
    cdef int64_t[::1] read_free     # … for a read, which interrupts program and erase operations, ns
    cdef int64_t[::1] older         # by die: end of the work that is older than the last request to program it, ns
    cdef int64_t[::1] stamp         # … number of this request
    cdef int64_t[::1] channel_free  # by channel: time at which it has carried the request's own pages, ns
    cdef int64_t[::1] channel_stamp # … number of this request
    cdef int32_t[::1] place         # by unit: its place + 1; 0 = never written
    cdef int32_t[::1] owner         # by place: its unit + 1; 0 = nothing valid
    cdef int32_t[::1] valid         # by block: number of valid units
    cdef uint8_t[::1] state         # by block: FREE, OPEN or FULL
    cdef int32_t[::1] free_blocks   # by die: number of free blocks
    cdef int32_t[::1] looked        # by die: block at which the search for a free block continues
    cdef int32_t[::1] host_block    # by die: block being filled with units of requests, or NONE
    cdef int32_t[::1] host_page     # … its next page
    cdef int32_t[::1] moved_block   # by die: block being filled with units that collection moves, or NONE
    cdef int32_t[::1] moved_unit    # … its next unit
    cdef int32_t[::1] victim        # by die: block being collected, or NONE
    cdef int32_t[::1] victim_page   # … its next page
    cdef int32_t[::1] gain          # … pages that its collection frees
    cdef int64_t[::1] paid          # … pages programmed for requests since the victim was chosen
    cdef int64_t[::1] slot_free     # by buffer slot: time at which it is free, ns; NEVER = not yet issued to the flash
    cdef int32_t[::1] slot_unit     # … its unit
    cdef int32_t[::1] slot_of       # by unit: its last slot + 1, or 0
    cdef int32_t[::1] gathered      # units of the page being gathered
    cdef int32_t[::1] gathered_slot # … their slots
    cdef int64_t in_page            # number of units gathered
    cdef int64_t page_ready         # time at which the old parts of gathered units have been read, ns
    cdef int64_t next_slot
    cdef int64_t request            # number of the request
    cdef int64_t end                # end of the request's last page, ns
    cdef int64_t wait               # time that the request waits for room in the buffer or for the last page's die, ns
    cdef readonly int64_t now, blocks, host_units, moved_units, programs, erases
    cdef int64_t die_wait           # time that the page of a read that arrives last waited for its die, ns

    cdef int check(self, int64_t lbn, int64_t count, int write) except -1
    cdef void serve(self, int64_t now, int64_t lbn, int64_t count, int write, record_t* record) noexcept nogil
    cdef int64_t get(self, int64_t t, int64_t lbn, int64_t count, record_t* record) noexcept nogil
    cdef void put(self, int64_t t, int64_t lbn, int64_t count, record_t* record) noexcept nogil
    cdef void gather_in_buffer(self, int64_t t, int64_t unit) noexcept nogil
    cdef int64_t flush(self, int64_t t) noexcept nogil
    cdef int64_t choose_die(self, int64_t t) noexcept nogil
    cdef void pay(self, int64_t die) noexcept nogil
    cdef bint choose_victim(self, int64_t die) noexcept nogil
    cdef void collect_page(self, int64_t die) noexcept nogil
    cdef void move_unit(self, int64_t die, int64_t unit) noexcept nogil
    cdef int32_t take_block(self, int64_t die) noexcept nogil
    cdef void map(self, int64_t unit, int64_t where) noexcept nogil
    cdef bint buffered(self, int64_t unit, int64_t t) noexcept nogil
    cdef int64_t page_of(self, int64_t unit) noexcept nogil
    cdef int64_t die_of(self, int64_t unit) noexcept nogil
    cdef int64_t read_page(self, int64_t die, int64_t t, int64_t units, bint waited_for) noexcept nogil
    cdef int64_t program_page(self, int64_t die, int64_t t, int64_t units) noexcept nogil
    cdef int64_t take_channel(self, int64_t die, int64_t t, int64_t units) noexcept nogil
