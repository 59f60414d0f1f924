"""Implement the kernel of a storage controller's back end; the model is defined in controller.py."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memset

from misspenalty._divide cimport divisor, quotient
from misspenalty._kernel cimport Kernel
from misspenalty.disks.drive._drive cimport IDLE, Drive, arrive, complete, record_t
from misspenalty.engine._engine cimport make_event, push, reserve
from misspenalty_studies.sarc.array._flights cimport make_flights, remove_flight
from misspenalty_studies.sarc.array._operations cimport NONE, free_operation, new_operation, operation_t
from misspenalty_studies.sarc.array._raid cimport (
    MOST_MEMBERS, PAGE_SECTORS, array_of, make_divisors, piece_t, plan_destage, plan_t,
)
from misspenalty_studies.sarc.array._write_cache cimport (
    destages_wanted, entry_t, make_write_cache, order_t, release, take_oldest,
)

from misspenalty.errors import ParameterError


cdef class BackEnd(Kernel):
    """Drives and write cache.

    Arguments of `connect`: `layout` has the fields of `raid_t`; `marks` are room, low and high in pages, the maximum
    number of destages per array, and `grouped` and `renewed` of `write_cache_t`. Without drives, missing pages arrive
    at once, and the write cache stays empty.
    """

    def __cinit__(self):
        self.operations.free = NONE

    cdef int connect(self, list drives, layout, marks, int64_t pages, int64_t track) except -1:
        cdef int64_t i, stripes, sectors, round_of
        cdef Drive drive
        self.drives, self.n_drives, self.track, self.by_track = drives, len(drives), track, divisor(track)
        self.raid.arrays, self.raid.members, self.raid.unit = layout["arrays"], layout["members"], layout["unit"]
        self.raid.strip, self.raid.stripe = layout["strip"], layout["stripe"]
        make_divisors(&self.raid)
        stripes = (pages + self.raid.stripe - 1) // self.raid.stripe
        round_of = self.raid.unit * self.raid.arrays
        sectors = (stripes + round_of - 1) // round_of * self.raid.unit * self.raid.strip * PAGE_SECTORS
        room, self.writes.low, self.writes.high, self.writes.most, self.writes.grouped, self.writes.renewed = marks
        make_write_cache(&self.writes, self, &self.raid, stripes, room)
        make_flights(&self.flights, 1 << 10)
        self.members = <drive_t**>self.allocate(self.n_drives, sizeof(drive_t*))
        self.turned = <int64_t*>self.allocate(self.n_drives, sizeof(int64_t))
        for i in range(self.n_drives):
            drive = drives[i]
            self.uses(drive)
            if sectors > drive.d.m.blocks:
                raise ParameterError(
                    f"{pages} pages take {sectors} sectors of each drive; expected at most {drive.d.m.blocks}"
                )
            self.members[i] = &drive.d
            self.turned[i] = i * drive.d.m.revolution // self.n_drives
        reserve(&self.queue, 1 << 10)
        return 0

    def __dealloc__(self):
        free(self.flights.slots)
        free(self.operations.all)
        free(self.queue.events)

    @property
    def busy(self):
        """Return the time that each drive has worked, including operations in progress, ns."""
        return [self.members[i].busy for i in range(self.n_drives)]

    @property
    def dirty_pages(self):
        """Pages in the write cache, including those being destaged."""
        return self.writes.used

    cdef int32_t issue(self, int64_t now, piece_t piece, int64_t page, int32_t owner, bint write) except -2 nogil:
        cdef int32_t which = new_operation(&self.operations), number = piece.drive
        cdef operation_t* operation = &self.operations.all[which]
        cdef int64_t event
        operation.piece, operation.page, operation.owner, operation.waiters = piece, page, owner, NONE
        self.counts[STAGE_READS if owner == NONE else DESTAGE_WRITES if write else DESTAGE_READS] += 1
        event = arrive(
            self.members[number], now + self.turned[number], piece.lbn, PAGE_SECTORS * piece.pages, write, which
        )
        self.await_drive(event, number)
        return which

    cdef int await_drive(self, int64_t event, int32_t number) except -1 nogil:
        if event != IDLE:
            push(&self.queue, make_event(event - self.turned[number], AT_DRIVE, number, number))
        return 0

    cdef int leave_drive(self, int64_t now, int32_t number) except -1 nogil:
        cdef record_t record
        cdef operation_t operation
        cdef int64_t track, last
        cdef int32_t which
        self.await_drive(complete(self.members[number], &record), number)
        which = <int32_t>record.tag
        operation = self.operations.all[which]
        free_operation(&self.operations, which)
        if operation.owner != NONE:
            self.go_on_destaging(now, <uint32_t>operation.owner)
            return 0
        last = quotient(operation.page + operation.piece.pages - 1, &self.by_track)
        for track in range(quotient(operation.page, &self.by_track), last + 1):
            remove_flight(&self.flights, track, which)
        self.landed(now, &operation, &record)
        return 0

    # --- destages ---------------------------------------------------------------------------------------------------

    cdef int destage(self, int64_t now, int64_t array) except -1 nogil:
        cdef int64_t wanted = destages_wanted(&self.writes)
        cdef order_t* order = &self.writes.orders[array]
        while order.destages < wanted and order.oldest:
            self.begin_destage(now, array)
        return 0

    cdef int destage_everywhere(self, int64_t now) except -1 nogil:
        cdef int64_t array
        for array in range(self.raid.arrays):
            self.destage(now, array)
        return 0

    cdef int begin_destage(self, int64_t now, int64_t array) except -1 nogil:
        cdef plan_t plan
        cdef uint32_t which = take_oldest(&self.writes, array)
        cdef entry_t* entry = &self.writes.entries[which]
        cdef int i
        self.plan(which, &plan)
        self.counts[DESTAGES] += 1
        self.counts[FULL_DESTAGES] += plan.n_reads == 0
        entry.writing = plan.n_reads == 0
        entry.left = plan.n_writes if entry.writing else plan.n_reads
        for i in range(entry.left):
            self.issue(now, plan.writes[i] if entry.writing else plan.reads[i], NONE, <int32_t>which, entry.writing)
        return 0

    cdef void plan(self, uint32_t which, plan_t* plan) noexcept nogil:
        """Plan the reads and writes of a destage."""
        cdef uint64_t[MOST_MEMBERS] held
        cdef int64_t i, t, first, tracks = self.raid.strip // self.track, place = which * self.writes.strips
        memset(held, 0, sizeof(held))
        if self.from_cache:
            first = self.writes.entries[which].stripe * self.raid.stripe // self.track
            for i in range(self.writes.strips):
                for t in range(tracks):
                    held[i] |= <uint64_t>self.held(first + i * tracks + t) << (t * self.track)
        plan_destage(
            &self.raid, self.writes.entries[which].stripe, &self.writes.dirty[place], &self.writes.old[place], held, plan
        )

    cdef int go_on_destaging(self, int64_t now, uint32_t which) except -1 nogil:
        """Handle the end of a destage's operation: the last read starts the writes, the last write ends the destage."""
        cdef plan_t plan
        cdef entry_t* entry = &self.writes.entries[which]
        cdef int64_t array
        cdef int i
        entry.left -= 1
        if entry.left:
            return 0
        if not entry.writing:
            self.plan(which, &plan)
            entry.writing = True
            entry.left = plan.n_writes
            for i in range(plan.n_writes):
                self.issue(now, plan.writes[i], NONE, <int32_t>which, True)
            return 0
        array = array_of(&self.raid, entry.stripe)
        release(&self.writes, array, which)
        self.drained(now)
        self.destage_everywhere(now)
        return 0

    cdef int landed(self, int64_t now, const operation_t* operation, const record_t* record) except -1 nogil:
        return 0

    cdef int drained(self, int64_t now) except -1 nogil:
        return 0

    cdef uint8_t held(self, int64_t track) noexcept nogil:
        return 0
