"""Implement the virtual log that log.py defines: indirection map, eager writes, log of map sectors, media."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from misspenalty_studies.vlog.virtual_log._eager cimport (
    FOREVER, bitmap_t, choice_t, free_block, free_sector, nearest, take_block, take_sector, try_track,
)
from misspenalty_studies.vlog.virtual_log._map_log cimport (
    CHILDREN, DATA_MAGIC, ENTRIES, NONE, SECTOR, TAIL_MAGIC, adopt, checksum, detach, fill_record, piece_t, record_t,
    slimmest, tag_t, tail_t,
)
from misspenalty.disks.drive._mechanics cimport Mechanics, angle_of, pass_sectors, reposition, rotation
from misspenalty_studies.vlog.virtual_log._store cimport READ, Store, latency_t
from misspenalty_studies.vlog.virtual_log._virtual_log cimport VirtualLog
from misspenalty_studies.vlog.virtual_log.checks import check_places, check_tree
from misspenalty.errors import ParameterError

PIECE = np.dtype([("sequence", np.int64), *((name, np.int32) for name in (
    "address", "parent", "child", "before", "after", "degree"))])  # fmt: skip
ENTRIES_A_SECTOR = int(ENTRIES)


cdef class VirtualLog(Store):
    """A disk that writes eagerly and logs its map.

    See `misspenalty_studies.vlog.virtual_log.log.virtual_log`, which checks the arguments.
    """

    def __cinit__(self, Mechanics mechanics not None, tracks, heads, track_sectors, unit, blocks, longest, read_overhead,
                  write_overhead, log_map=True, aligned=True, reserve=-1, search=0, recording=0, uint8_t[::1] media=None,
                  **own):
        cdef int32_t step = unit if aligned else 1, per_track = (track_sectors - unit) // step + 1
        self.set_up(mechanics, blocks * unit, read_overhead, write_overhead)
        self.blocks = blocks
        self.longest, self.log_map, self.reserve = longest, log_map, reserve
        self.search, self.recording = search, recording
        self.pieces_n = -(-blocks // ENTRIES)
        self.tail = self.open = self.avoid = self.held = self.partial = self.before = self.tail_address = NONE
        self.budget = -1
        self.surface.m = &self.mechanics.m
        self.surface.tracks, self.surface.heads, self.surface.cylinders = tracks, heads, tracks // heads
        sectors, bits, words = [], [], []
        self.arrays = {
            "map": np.full(blocks, NONE, np.int32),
            "owner": np.full(tracks * per_track, NONE, np.int32),
            "pieces": np.full(self.pieces_n, NONE, PIECE),
            "stale": np.empty(longest + per_track + 1, np.int32),
            "stale_records": np.empty(4 * self.pieces_n + 64, np.int32),
            "media": media,
            "least": np.ascontiguousarray(np.minimum.accumulate(mechanics.arrays[3][::-1])[::-1]),
        }
        self.arrays["pieces"]["degree"] = 0
        self.bind(&self.surface.sectors, "sectors", tracks, track_sectors, 1, 1)
        self.bind(&self.surface.blocks, "blocks", tracks, per_track, unit, step)
        cdef int64_t[::1] least = self.arrays["least"]
        self.surface.least = &least[0]
        cdef int32_t[::1] integers = self.arrays["map"]
        self.map = &integers[0]
        integers = self.arrays["owner"]
        self.owner = &integers[0]
        integers = self.arrays["stale"]
        self.stale = &integers[0]
        integers = self.arrays["stale_records"]
        self.stale_records = &integers[0]
        cdef uint8_t[::1] raw = self.arrays["pieces"].view(np.uint8)
        self.pieces = <piece_t*>&raw[0]
        if media is not None:
            self.media = &media[0]
        take_block(&self.surface, 0, 0)             # reserved for the tail's record at power-down

    cdef int bind(self, bitmap_t* map, name, tracks, units, unit, step) except -1:
        """Make a bitmap with everything free."""
        width = -(-units // 64)
        words = np.zeros((tracks, width), np.uint64)
        for i in range(units):
            words[:, i // 64] |= np.uint64(1) << np.uint64(i % 64)
        count = np.full(tracks, units, np.int32)
        self.arrays[name], self.arrays[name + "_count"] = words, count
        cdef uint64_t[::1] flat = words.reshape(-1)
        cdef int32_t[::1] counts = count
        map.words, map.count = &flat[0], &counts[0]
        map.width, map.units, map.unit, map.step = width, units, unit, step
        return 0

    # --- the Python interface

    def lay_out(self, const int32_t[::1] logical, const int32_t[::1] physical):
        """Map logical blocks to physical ones without taking time, and log the whole map.

        Raises
        ------
        ParameterError
            A block is not on the disk, is listed twice, or is in use, or the two lists differ in length.
        """
        cdef Py_ssize_t i
        cdef int32_t per_track = self.surface.blocks.units, piece
        cdef latency_t spent
        self.check_unused()
        self.check_free(logical, physical, [])
        for i in range(logical.shape[0]):
            take_block(&self.surface, physical[i] // per_track, physical[i] % per_track)
            self.map[logical[i]] = physical[i]
            self.owner[physical[i]] = logical[i]
            self.store_data(logical[i], NONE)
        self.version += 1
        memset(&spent, 0, sizeof(spent))
        for piece in range(self.pieces_n):
            self.begin()
            self.log(piece, self.now, True, &spent)
            self.commit()
        self.track = 0
        self.records = 0

    def restore(self, const int32_t[::1] map, pieces, int64_t sequence, int64_t version):
        """Take over the result of a recovery: the map and, for each piece, its sector, sequence number and parent (-1
        for the tail's piece).

        Raises
        ------
        ParameterError
            A place is not on the disk, is listed twice, or is in use; the map's length is not the disk's number of
            logical blocks; a map has already been logged; or the pieces are not a tree with parents first.
        """
        cdef int32_t logical, per_track = self.surface.blocks.units, piece
        self.check_unused()
        if map.shape[0] != self.blocks:
            raise ParameterError(f"a map of {map.shape[0]} blocks; the disk has {self.blocks}")
        if self.tail != NONE:
            raise ParameterError("a map has already been logged on this disk; expected an empty one")
        mapped = np.flatnonzero(np.asarray(map) != NONE)
        self.check_free(mapped, np.asarray(map)[mapped], [address for _, address, _, _ in pieces])
        check_tree([(number, parent) for number, _, _, parent in pieces], self.pieces_n, CHILDREN)
        for logical in range(self.blocks):
            self.map[logical] = map[logical]
            if map[logical] != NONE:
                self.owner[map[logical]] = logical
                take_block(&self.surface, map[logical] // per_track, map[logical] % per_track)
        self.sequence, self.version = sequence, version
        for piece, address, number, parent in pieces:
            self.pieces[piece].address = address
            self.pieces[piece].sequence = number
            take_sector(&self.surface, address // self.surface.sectors.units, address % self.surface.sectors.units)
            if parent == NONE:
                self.tail = piece
                self.tail_address, self.tail_sequence = address, number
            else:
                adopt(self.pieces, parent, piece)

    cdef check_free(self, logical, physical, records):
        free = np.unpackbits(self.arrays["sectors"].view(np.uint8), axis=1, bitorder="little")
        free = free[:, :self.surface.sectors.units].astype(bool)
        check_places(
            free, self.arrays["map"] == NONE, self.surface.blocks.unit, self.surface.blocks.step, logical, physical,
            records)

    @property
    def tried(self):
        """Tracks examined so far in search of the nearest free place."""
        return self.surface.tried

    def mapping(self):
        """Return the physical block of each logical one, -1 = none; int32, a copy."""
        return self.arrays["map"].copy()

    def live(self):
        """Return the number of block-sized places in use on each track, int32."""
        return self.surface.blocks.units - self.arrays["blocks_count"]

    def tree(self):
        """Return a structured array, a copy, with the sector, sequence number, parent and number of children of each
        piece."""
        return self.arrays["pieces"][["address", "sequence", "parent", "degree"]].copy()

    def fail_after(self, sectors):
        """Schedule a power failure for when `sectors` more sectors have been written."""
        self.check_unused()
        self.budget = sectors

    def power_down(self):
        """Use residual power to record the location of the log's tail on the media, if the media are kept."""
        cdef tail_t tail
        self.check_unused()
        if self.media == NULL or self.tail_address == NONE:
            return
        memset(&tail, 0, sizeof(tail))
        tail.magic, tail.address, tail.sequence = TAIL_MAGIC, self.tail_address, self.tail_sequence
        tail.checksum = checksum(&tail, sizeof(tail) - sizeof(uint64_t))
        memset(self.media, 0, SECTOR)
        memcpy(self.media, &tail, sizeof(tail))

    # --- requests

    cdef int64_t serve(self, int64_t now, int kind, int64_t sector, int64_t count, latency_t* spent) noexcept nogil:
        cdef int64_t tried = self.surface.tried, records = self.records, own
        now += self.overhead[kind]
        spent.overhead += self.overhead[kind]
        if kind == READ:
            return self.read(now, sector, count, spent)
        now = self.write(now, sector, count, spent)
        own = (self.surface.tried - tried) * self.search + (self.records - records) * self.recording
        spent.other += own
        return now + own

    cdef int64_t write(self, int64_t now, int64_t sector, int64_t count, latency_t* spent) noexcept nogil:
        cdef int32_t unit = self.surface.blocks.unit
        cdef int32_t block = sector // unit, end = (sector + count - 1) // unit + 1, stop, i
        while block < end:
            stop = min(end, block + self.longest)
            self.begin()
            for i in range(block, stop):
                if sector > <int64_t>i * unit or sector + count < <int64_t>(i + 1) * unit:
                    if self.map[i] != NONE and self.partial != i:   # the rest of the block moves too, so read it
                        now = self.read_block(now, i, 0, unit, spent)
                    self.partial = i
                now = self.put(i, now, spent)
            for i in range(block // ENTRIES, (stop - 1) // ENTRIES + 1):
                now = self.log(i, now, i == (stop - 1) // ENTRIES, spent)
            self.commit()
            block = stop
        self.version += not self.dead
        return now

    cdef int64_t read(self, int64_t now, int64_t sector, int64_t count, latency_t* spent) noexcept nogil:
        cdef int32_t unit = self.surface.blocks.unit, part, n
        while count > 0:
            part = sector % unit
            n = min(count, <int64_t>(unit - part))
            now = self.read_block(now, sector // unit, part, n, spent)
            sector += n
            count -= n
        return now

    cdef int64_t read_block(
        self, int64_t now, int32_t block, int32_t part, int32_t count, latency_t* spent
    ) noexcept nogil:
        """Read from one block, through the track buffer (see `misspenalty_studies.vlog.virtual_log.log`)."""
        cdef int32_t per_track = self.surface.blocks.units, track, sector
        cdef int64_t ready, start, end
        if self.map[block] == NONE:
            return now
        track = self.map[block] // per_track
        sector = self.map[block] % per_track * self.surface.blocks.step + part
        if self.held == track:
            start = self.held_from + rotation(
                self.surface.m, self.held_from, angle_of(&self.surface.m.tracks[track], sector))
            end = pass_sectors(self.surface.m, track, sector, count, start)
            if end <= self.held_until:
                if end > now:
                    spent.transfer += min(end - now, end - start)
                    spent.locate += end - now - min(end - now, end - start)
                return max(now, end)
        ready = now + reposition(self.surface.m, self.track, track, False)
        start = ready + rotation(self.surface.m, ready, angle_of(&self.surface.m.tracks[track], sector))
        end = pass_sectors(self.surface.m, track, sector, count, start)
        spent.locate += start - now
        spent.transfer += end - start
        self.held, self.held_from, self.held_until = track, ready, FOREVER
        self.track = track
        return end

    # --- eager writing

    cdef choice_t choose(self, const bitmap_t* map, int64_t now) noexcept nogil:
        """Choose where to write next: on the track being filled, on the next empty one, or where a free place passes
        first."""
        cdef choice_t choice
        cdef int32_t left = self.reserve if map == &self.surface.blocks else 0
        if self.reserve >= 0 and self.avoid == NONE:
            if self.open != NONE and map.count[self.open] > left:
                choice.start = FOREVER
                try_track(&self.surface, map, self.track, self.open, now, &choice)
                return choice
            choice = nearest(&self.surface, map, self.track, now, NONE, True, False)
            self.open = choice.track
            if choice.start < FOREVER:
                return choice
        choice = nearest(&self.surface, map, self.track, now, self.avoid, False, self.no_empty)
        if choice.start == FOREVER:                 # no track in use has a free place
            choice = nearest(&self.surface, map, self.track, now, self.avoid, False, False)
        return choice

    cdef int64_t arrive(self, int64_t now, const bitmap_t* map, const choice_t* choice, latency_t* spent) noexcept nogil:
        """Move to a chosen unit and write it."""
        cdef int64_t end = pass_sectors(
            self.surface.m, choice.track, choice.unit * map.step, map.unit, choice.start)
        spent.locate += choice.start - now
        spent.transfer += end - choice.start
        if self.held != NONE and self.held_until == FOREVER and choice.track != self.held:
            self.held_until = now
        if choice.track == self.held:
            self.held = NONE
        self.track = choice.track
        return end

    cdef int64_t put(self, int32_t logical, int64_t now, latency_t* spent) noexcept nogil:
        """Write a block where `choose` says; its older copy stays until the transaction ends."""
        cdef choice_t choice = self.choose(&self.surface.blocks, now)
        cdef int32_t per_track = self.surface.blocks.units, old = self.map[logical]
        if choice.start == FOREVER:
            self.full = True
            return now
        now = self.arrive(now, &self.surface.blocks, &choice, spent)
        take_block(&self.surface, choice.track, choice.unit)
        if old != NONE:
            self.stale[self.stale_blocks] = old
            self.stale_blocks += 1
        self.map[logical] = choice.track * per_track + choice.unit
        self.owner[self.map[logical]] = logical
        self.store_data(logical, old if self.no_empty else NONE)
        return now

    # --- the log

    cdef void begin(self) noexcept nogil:
        """Begin a transaction; the copies that it replaces are freed only at its end."""
        self.first = self.sequence
        self.before = self.tail_address
        self.before_sequence = self.tail_sequence
        self.stale_blocks = self.stale_records_n = 0

    cdef void commit(self) noexcept nogil:
        cdef int32_t i, block, per_track = self.surface.blocks.units, sectors = self.surface.sectors.units
        for i in range(self.stale_blocks):
            block = self.stale[i]
            self.owner[block] = NONE
            free_block(&self.surface, block // per_track, block % per_track)
        for i in range(self.stale_records_n):
            free_sector(&self.surface, self.stale_records[i] // sectors, self.stale_records[i] % sectors)

    cdef int64_t log(self, int32_t piece, int64_t now, bint last, latency_t* spent) noexcept nogil:
        """Write a piece's record as the new tail; `last` marks it as the last record of its transaction."""
        cdef piece_t* p = &self.pieces[piece]
        cdef choice_t choice
        cdef int64_t begin
        cdef latency_t own
        if not self.log_map:
            return now
        while self.tail != NONE and self.tail != piece and p.degree >= CHILDREN:
            now = self.log(slimmest(self.pieces, piece), now, False, spent)
            self.relogged += 1
        memset(&own, 0, sizeof(own))
        choice = self.choose(&self.surface.sectors, now)
        if choice.start == FOREVER:
            self.full = True
            return now
        now = self.arrive(now, &self.surface.sectors, &choice, &own)
        spent.locate += own.locate
        spent.transfer += own.transfer
        spent.map_locate += own.locate
        spent.map_transfer += own.transfer
        take_sector(&self.surface, choice.track, choice.unit)
        if p.address != NONE:
            self.stale_records[self.stale_records_n] = p.address
            self.stale_records_n += 1
        detach(self.pieces, piece)
        if self.tail != NONE and self.tail != piece:
            adopt(self.pieces, piece, self.tail)
        p.address = choice.track * self.surface.sectors.units + choice.unit
        p.sequence = self.sequence
        self.sequence += 1
        self.records += 1
        self.tail = piece
        self.store_record(piece, last)
        return now

    # --- the media, if the disk's contents are kept

    cdef void store_sector(self, int64_t address, const void* content, Py_ssize_t size) noexcept nogil:
        if self.budget == 0:
            self.dead = True
        if self.dead:
            return
        self.budget -= self.budget > 0
        memset(self.media + address * SECTOR, 0, SECTOR)
        memcpy(self.media + address * SECTOR, content, size)

    cdef void store_data(self, int32_t logical, int32_t old) noexcept nogil:
        """Store a block at the place that the map gives: the contents of `old` or, if that is -1, a new version."""
        cdef tag_t tag
        cdef int32_t part
        cdef int64_t address = self.address_of(self.map[logical])
        if self.media == NULL:
            return
        memset(&tag, 0, sizeof(tag))
        tag.magic, tag.version, tag.logical = DATA_MAGIC, self.version, logical
        for part in range(self.surface.blocks.unit):
            if old == NONE:
                tag.part = part
                self.store_sector(address + part, &tag, sizeof(tag))
            else:
                self.store_sector(address + part, self.media + (self.address_of(old) + part) * SECTOR, SECTOR)

    cdef int64_t address_of(self, int32_t block) noexcept nogil:
        """Return the first sector of a physical block."""
        cdef int32_t per_track = self.surface.blocks.units
        return <int64_t>(block // per_track) * self.surface.sectors.units + block % per_track * self.surface.blocks.step

    cdef void store_record(self, int32_t piece, bint last) noexcept nogil:
        cdef record_t record
        cdef piece_t* p = &self.pieces[piece]
        if self.media != NULL:
            fill_record(&record, self.pieces, piece, self.map, self.blocks)
            record.first, record.last = self.first, last
            if not last and self.before != NONE:
                record.pointer[record.pointers].address = self.before
                record.pointer[record.pointers].sequence = self.before_sequence
                record.pointers += 1
            record.checksum = checksum(&record, sizeof(record) - sizeof(uint64_t))
            self.store_sector(p.address, &record, sizeof(record))
        if not self.dead:
            self.tail_address, self.tail_sequence = p.address, p.sequence
