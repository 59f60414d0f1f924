"""Simulate dies on channels, a page map and greedy collection; `misspenalty.disks.flash.model` describes the model."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memset

from misspenalty._kernel cimport SLICE, Kernel, check_signals
from misspenalty.disks.drive._state cimport BUFFERED, NEVER, WHOLE_HIT, record_t
from misspenalty.disks.drive.records import RECORD
from misspenalty.errors import ParameterError

cdef enum:
    NONE = -1
    FREE = 0                        # an erased block
    OPEN = 1                        # a block that is being filled
    FULL = 2
    OWN_WRITE = 2                   # an internal write, which needs no command and does not cross the interface
    FEW = 4                         # number of free blocks below which a die collects

cdef int64_t LATEST = 1 << 60       # latest time, ns: about 36 years
FEW_BLOCKS = FEW


cdef class Flash(Kernel):
    """Flash behind a controller; `misspenalty.disks.load(...).drive()` makes one from a description.

    Attributes
    ----------
    now : int
        End of the last request, ns; after `one_by_one`, end of the delay that follows it.
    host_units, moved_units : int
        Number of units written for requests, and number moved by collection.
    programs, erases : int
        Number of pages programmed, including pages of collection and padded pages, and number of blocks erased.
    """

    def __cinit__(self, settings, int64_t units):
        self.s = settings
        self.blocks = units * self.s.unit_blocks
        dies, slots = self.s.dies, max(self.s.slots, 1)
        every_block = dies * self.s.die_blocks
        self.die_free, self.read_free, self.older, self.stamp, self.paid = (np.zeros(dies, np.int64) for _ in range(5))
        self.channel_free, self.channel_stamp = (np.zeros(self.s.channels, np.int64) for _ in range(2))
        # Pages of these arrays that are never touched take no memory.
        self.place, self.slot_of = np.zeros(units, np.int32), np.zeros(units, np.int32)
        self.owner = np.zeros(every_block * self.s.block_pages * self.s.page_units, np.int32)
        self.valid, self.state = np.zeros(every_block, np.int32), np.zeros(every_block, np.uint8)
        self.free_blocks = np.full(dies, self.s.die_blocks, np.int32)
        self.looked, self.host_page, self.moved_unit, self.victim_page, self.gain = (
            np.zeros(dies, np.int32) for _ in range(5)
        )
        self.host_block, self.moved_block, self.victim = (np.full(dies, NONE, np.int32) for _ in range(3))
        self.slot_free, self.slot_unit = np.zeros(slots, np.int64), np.zeros(slots, np.int32)
        self.gathered, self.gathered_slot = (np.zeros(self.s.page_units, np.int32) for _ in range(2))

    def service(self, int64_t now, int64_t lbn, int64_t count, int write=0):
        """Serve one request and return its record (see `RECORD`).

        Parameters
        ----------
        now : int
            Time of arrival, ns; not before the last request completed.
        lbn, count : int
            First sector and number of sectors.
        write : {0, 1, 2}
            1 = write; 2 = an internal write, which needs no command and does not cross the interface.
        """
        made = np.zeros(1, RECORD)
        cdef uint8_t[::1] view = made.view(np.uint8)
        self.check(lbn, count, write)
        if not 0 <= now < LATEST or now < self.now:
            raise ParameterError(f"a request at {now} ns; the drive is at {self.now}; expected {self.now} to {LATEST - 1}")
        with self, nogil:
            self.serve(now, lbn, count, write, <record_t*>&view[0])
        return made[0]

    def one_by_one(self, const int64_t[::1] lbn, const int32_t[::1] count, const uint8_t[::1] write, const int64_t[::1] delay):
        """Serve requests one after another, waiting `delay` ns after each; return their records."""
        cdef Py_ssize_t i, n = lbn.shape[0]
        cdef int64_t most = max(LATEST - self.now, 0)   # largest sum of the remaining delays, ns
        if not n == count.shape[0] == write.shape[0] == delay.shape[0]:
            raise ParameterError("lbn, count, write and delay differ in length")
        for i in range(n):
            self.check(lbn[i], count[i], write[i])
            if not 0 <= delay[i] <= most:
                raise ParameterError(f"request {i + 1}: delay {delay[i]} ns; expected 0 to {most}")
            most -= delay[i]
        made = np.zeros(max(n, 1), RECORD)
        cdef uint8_t[::1] view = made.view(np.uint8)
        cdef record_t* out = <record_t*>&view[0]
        cdef int64_t now = self.now
        with self, nogil:
            for i in range(n):
                if i % SLICE == SLICE - 1:
                    check_signals()
                self.serve(now, lbn[i], count[i], write[i], out + i)
                now = out[i].done + delay[i]
            self.now = max(self.now, now)
        return made[:n]

    def mapping(self):
        """Return the place of each unit as int64; -1 = never written."""
        return np.asarray(self.place).astype(np.int64) - 1

    def blocks_in_use(self):
        """Count the valid units of each erase block that is not free, according to the map: ``{block: units}``."""
        owner = np.asarray(self.owner).reshape(len(self.valid), -1)
        return {int(b): int((owner[b] > 0).sum()) for b in np.flatnonzero(np.asarray(self.state) != FREE)}

    def counted(self):
        """Count the units as `blocks_in_use` does, but according to the drive's counters."""
        return {int(b): int(self.valid[b]) for b in np.flatnonzero(np.asarray(self.state) != FREE)}

    cdef int check(self, int64_t lbn, int64_t count, int write) except -1:
        if count < 1 or lbn < 0 or lbn > self.blocks - count:
            raise ParameterError(
                f"a request is for {count} blocks from block {lbn}; expected one or more, and "
                f"the drive has blocks 0 to {self.blocks - 1}"
            )
        if not 0 <= write <= OWN_WRITE:
            raise ParameterError(f"write is {write}; expected 0, 1, or 2 for an internal write")
        return 0

    cdef void serve(self, int64_t now, int64_t lbn, int64_t count, int write, record_t* record) noexcept nogil:
        cdef int64_t t = now
        memset(record, 0, sizeof(record_t))
        self.request += 1
        self.wait = self.die_wait = 0
        record.arrival = record.start = now
        record.lbn, record.count, record.write = lbn, <int32_t>count, write != 0
        if write != OWN_WRITE:
            record.overhead = self.s.write_command if write else self.s.read_command
            record.bus = count * self.s.link if write else 0
            t += record.overhead + record.bus
        self.end = t
        if write:
            self.put(t, lbn, count, record)
            record.done = self.end
        else:
            record.done = self.get(t, lbn, count, record)
            record.bus = record.done - self.end
        record.cache = self.wait
        record.transfer = self.end - t - self.wait
        self.now = record.done

    cdef int64_t get(self, int64_t t, int64_t lbn, int64_t count, record_t* record) noexcept nogil:
        """Read sectors and send those of each page, in order, once they arrive; return the end of the last transfer."""
        cdef int64_t unit = lbn // self.s.unit_blocks, last = (lbn + count - 1) // self.s.unit_blocks, out = t, ready
        cdef int64_t units, page, first, sectors
        cdef bint misses = False
        while unit <= last:
            units, first = 1, unit
            page = self.page_of(unit)
            if self.buffered(unit, t):
                ready = t
            else:
                while unit + units <= last and self.page_of(unit + units) == page and not self.buffered(unit + units, t):
                    units += 1
                ready = self.read_page(self.die_of(unit), t, units, True)
                misses = True
            unit += units
            sectors = min(unit * self.s.unit_blocks, lbn + count) - max(first * self.s.unit_blocks, lbn)
            out = max(out, ready) + sectors * self.s.link
        record.hit = 0 if misses else WHOLE_HIT
        return out

    cdef void put(self, int64_t t, int64_t lbn, int64_t count, record_t* record) noexcept nogil:
        """Write units into the buffer, waiting for room, or, if there is no buffer, page by page to the flash."""
        cdef int64_t unit = lbn // self.s.unit_blocks, last = (lbn + count - 1) // self.s.unit_blocks
        cdef bint part
        while unit <= last:
            self.host_units += 1
            part = unit * self.s.unit_blocks < lbn or (unit + 1) * self.s.unit_blocks > lbn + count
            if part and not self.buffered(unit, t):
                self.page_ready = max(self.page_ready, self.read_page(self.die_of(unit), t, 1, False))
            if self.s.slots:
                self.gather_in_buffer(t, unit)
            else:
                self.gathered[self.in_page] = <int32_t>unit
                self.in_page += 1
                if self.in_page == self.s.page_units or unit == last:
                    self.flush(t)
            unit += 1
        if self.s.slots:
            record.hit = BUFFERED

    cdef void gather_in_buffer(self, int64_t t, int64_t unit) noexcept nogil:
        cdef int64_t slot = self.slot_of[unit] - 1, ended, i
        if slot >= 0 and self.slot_unit[slot] == unit and self.slot_free[slot] == NEVER:
            return  # the unit reuses the slot of its older copy
        slot = self.next_slot
        self.next_slot = (slot + 1) % self.s.slots
        if self.slot_free[slot] > self.end:
            self.wait += self.slot_free[slot] - self.end
            self.end = self.slot_free[slot]
        self.slot_free[slot] = NEVER
        self.slot_unit[slot] = <int32_t>unit
        self.slot_of[unit] = <int32_t>(slot + 1)
        self.gathered[self.in_page], self.gathered_slot[self.in_page] = <int32_t>unit, <int32_t>slot
        self.in_page += 1
        if self.in_page == self.s.page_units:
            ended = self.flush(self.end)
            for i in range(self.s.page_units):
                self.slot_free[self.gathered_slot[i]] = ended

    cdef int64_t flush(self, int64_t t) noexcept nogil:
        """Program the gathered page, padded if it is not full, on the die that is free first.

        Return the time at which programming ends.
        """
        cdef int64_t die = self.choose_die(t), i, base, ended
        if self.host_block[die] == NONE:
            self.host_block[die] = self.take_block(die)
            self.host_page[die] = 0
        base = (self.host_block[die] * self.s.block_pages + self.host_page[die]) * self.s.page_units
        for i in range(self.in_page):
            self.map(self.gathered[i], base + i)
        ended = self.program_page(die, max(t, self.page_ready), self.in_page)
        self.host_page[die] += 1
        if self.host_page[die] == self.s.block_pages:
            self.state[self.host_block[die]] = FULL
            self.host_block[die] = NONE
        self.in_page = self.page_ready = 0
        self.pay(die)
        return ended

    cdef int64_t choose_die(self, int64_t t) noexcept nogil:
        """Choose the die with room that is free first; if none has room, collect from `t` on until a die has room."""
        cdef int64_t die, best
        while True:
            best = NONE
            for die in range(self.s.dies):
                if (self.host_block[die] != NONE or self.free_blocks[die] > 1) and (
                    best == NONE or self.die_free[die] < self.die_free[best]
                ):
                    best = die
            if best != NONE:
                return best
            for die in range(self.s.dies):
                if self.victim[die] != NONE or self.choose_victim(die):
                    self.die_free[die] = max(self.die_free[die], t)
                    while self.victim[die] != NONE:
                        self.collect_page(die)

    cdef void pay(self, int64_t die) noexcept nogil:
        """Collect pages so that a victim is finished when requests have used as many pages as its collection frees."""
        if self.victim[die] == NONE and not (self.free_blocks[die] < FEW and self.choose_victim(die)):
            return
        self.paid[die] += 1
        while self.victim[die] != NONE and self.victim_page[die] * self.gain[die] < self.paid[die] * self.s.block_pages:
            self.collect_page(die)

    cdef bint choose_victim(self, int64_t die) noexcept nogil:
        """Choose the full block with the fewest valid units as victim; return whether its collection frees a page."""
        cdef int64_t block, best = NONE, most = self.s.block_pages * self.s.page_units
        for block in range(die * self.s.die_blocks, (die + 1) * self.s.die_blocks):
            if self.state[block] == FULL and (best == NONE or self.valid[block] < self.valid[best]):
                best = block
        if best == NONE or most - self.valid[best] < self.s.page_units:
            return False
        self.victim[die], self.victim_page[die], self.paid[die] = <int32_t>best, 0, 0
        self.gain[die] = <int32_t>((most - self.valid[best]) // self.s.page_units)
        return True

    cdef void collect_page(self, int64_t die) noexcept nogil:
        """Move the valid units of the victim's next page by copies inside the die; erase after the last page."""
        cdef int64_t block = self.victim[die], i, here
        cdef bint any_valid = False
        here = (block * self.s.block_pages + self.victim_page[die]) * self.s.page_units
        for i in range(here, here + self.s.page_units):
            if self.owner[i]:
                if not any_valid:
                    self.die_free[die] += self.s.read
                    any_valid = True
                self.move_unit(die, self.owner[i] - 1)
        self.victim_page[die] += 1
        if self.victim_page[die] == self.s.block_pages:
            self.state[block] = FREE
            self.free_blocks[die] += 1
            self.die_free[die] += self.s.erase
            self.erases += 1
            self.victim[die] = NONE

    cdef void move_unit(self, int64_t die, int64_t unit) noexcept nogil:
        cdef int64_t per_block = self.s.block_pages * self.s.page_units
        if self.moved_block[die] == NONE:
            self.moved_block[die] = self.take_block(die)
            self.moved_unit[die] = 0
        self.map(unit, self.moved_block[die] * per_block + self.moved_unit[die])
        self.moved_units += 1
        self.moved_unit[die] += 1
        if self.moved_unit[die] % self.s.page_units == 0:
            self.die_free[die] += self.s.program
            self.programs += 1
        if self.moved_unit[die] == per_block:
            self.state[self.moved_block[die]] = FULL
            self.moved_block[die] = NONE

    cdef int32_t take_block(self, int64_t die) noexcept nogil:
        """Open the next free block of a die, in cyclic order, and return it; the die must have one."""
        cdef int64_t first = die * self.s.die_blocks, at = self.looked[die]
        while self.state[first + at] != FREE:
            at = (at + 1) % self.s.die_blocks
        self.looked[die] = <int32_t>((at + 1) % self.s.die_blocks)
        self.state[first + at] = OPEN
        self.free_blocks[die] -= 1
        return <int32_t>(first + at)

    cdef void map(self, int64_t unit, int64_t where) noexcept nogil:
        cdef int64_t old = self.place[unit] - 1, per_block = self.s.block_pages * self.s.page_units
        if old >= 0:
            self.owner[old] = 0
            self.valid[old // per_block] -= 1
        self.place[unit] = <int32_t>(where + 1)
        self.owner[where] = <int32_t>(unit + 1)
        self.valid[where // per_block] += 1

    cdef bint buffered(self, int64_t unit, int64_t t) noexcept nogil:
        """Return whether a unit is still in the buffer at time t."""
        cdef int64_t slot = self.slot_of[unit] - 1
        return slot >= 0 and self.slot_unit[slot] == unit and self.slot_free[slot] > t

    cdef int64_t page_of(self, int64_t unit) noexcept nogil:
        """Return the page of a unit; units never written get fictitious page numbers, in order, above the real ones."""
        if self.place[unit]:
            return (self.place[unit] - 1) // self.s.page_units
        return self.owner.shape[0] + unit // self.s.page_units

    cdef int64_t die_of(self, int64_t unit) noexcept nogil:
        if self.place[unit]:
            return (self.place[unit] - 1) // (self.s.page_units * self.s.block_pages * self.s.die_blocks)
        return unit // self.s.page_units % self.s.dies

    cdef int64_t read_page(self, int64_t die, int64_t t, int64_t units, bint waited_for) noexcept nogil:
        """Read a page, interrupting a program or erasure, and send `units` of it to the controller; return the end."""
        cdef int64_t begin = max(t, self.read_free[die]), ended = begin + self.s.read
        if waited_for:
            ended = self.take_channel(die, ended, units)
            if ended >= self.end:
                self.die_wait = begin - t
            self.end = max(self.end, ended)
        else:
            ended += units * self.s.move
        self.read_free[die] = ended
        self.die_free[die] = max(self.die_free[die] + ended - begin, ended)  # the interrupted work continues
        return ended

    cdef int64_t program_page(self, int64_t die, int64_t t, int64_t units) noexcept nogil:
        """Move units to a die and program the page; return the end time."""
        if self.stamp[die] != self.request:
            self.stamp[die], self.older[die] = self.request, self.die_free[die]
        self.die_free[die] = self.take_channel(die, max(t, self.die_free[die]), units) + self.s.program
        self.programs += 1
        if not self.s.slots and self.die_free[die] > self.end:
            self.end, self.wait = self.die_free[die], max(0, self.older[die] - t)
        return self.die_free[die]

    cdef int64_t take_channel(self, int64_t die, int64_t t, int64_t units) noexcept nogil:
        """Move units over a die's channel, after the request's own earlier pages; return the end time.

        The units do not wait for pages of older requests.
        """
        cdef int64_t channel = die % self.s.channels
        if self.channel_stamp[channel] != self.request:
            self.channel_stamp[channel], self.channel_free[channel] = self.request, 0
        self.channel_free[channel] = max(t, self.channel_free[channel]) + units * self.s.move
        return self.channel_free[channel]
