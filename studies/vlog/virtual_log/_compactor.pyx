"""Implement the compactor of a virtual log, which empties tracks while the disk is idle; log.py defines the model."""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memset

from misspenalty_studies.vlog.virtual_log._eager cimport NOWHERE, is_empty
from misspenalty_studies.vlog.virtual_log._map_log cimport ENTRIES, NONE
from misspenalty.disks.drive._mechanics cimport Mechanics, reposition
from misspenalty_studies.vlog.virtual_log._store cimport READ, latency_t
from misspenalty_studies.vlog.virtual_log._virtual_log cimport VirtualLog
from misspenalty.traces._splitmix cimport GOLDEN, mix


cdef class CompactingLog(VirtualLog):
    """A virtual log that moves the blocks of random tracks into holes elsewhere; `seed` chooses the tracks."""

    cdef uint64_t state             # state of the random-number generator
    cdef readonly int64_t emptied   # tracks emptied
    cdef readonly int64_t moved     # blocks moved

    def __cinit__(self, *arguments, seed=0, **keywords):
        self.state = seed

    def compact(self, tracks):
        """Empty up to `tracks` tracks, however long it takes; return the number of tracks emptied."""
        cdef int64_t before = self.emptied
        cdef int32_t i, track, wanted = tracks
        with self, nogil:
            for i in range(wanted):
                track = self.victim()
                if track == NOWHERE or not self.empty(track, -1):
                    break
        return self.emptied - before

    cdef void idle(self, int64_t until) noexcept nogil:
        cdef int32_t track
        while self.now < until:
            track = self.victim()
            if track == NOWHERE or not self.empty(track, until):
                break

    cdef int32_t victim(self) noexcept nogil:
        """Choose a random track, not the first and not empty, whose contents fit into holes elsewhere; -1 = none."""
        cdef int32_t tracks = self.surface.tracks, track, i
        cdef int32_t each = 2 * self.surface.blocks.unit // self.surface.blocks.step - 1    # places a block overlaps
        cdef int64_t holes = 0
        for track in range(tracks):
            if not is_empty(&self.surface, track):
                holes += self.surface.blocks.count[track]
        self.state += <uint64_t>GOLDEN
        track = mix(self.state) % tracks
        for i in range(tracks):
            # The holes need room for the track's live blocks, for the map's records and for a transaction's old copies.
            if track > 0 and not is_empty(&self.surface, track) and holes - self.surface.blocks.count[track] >= each * (
                2 * self.things(track) + 2
            ):
                return track
            track = track + 1 if track + 1 < tracks else 0
        return NOWHERE

    cdef int32_t things(self, int32_t track) noexcept nogil:
        """Count the blocks of a track that are not free.

        If blocks may overlap, this is instead the number of the track's sectors in use, divided by the length of a
        block and rounded up.
        """
        cdef int32_t unit = self.surface.blocks.unit
        if self.surface.blocks.step == unit:
            return self.surface.blocks.units - self.surface.blocks.count[track]
        return (self.surface.sectors.units - self.surface.sectors.count[track] + unit - 1) // unit

    cdef bint empty(self, int32_t track, int64_t until) noexcept nogil:
        """Read a track and move its contents elsewhere, one piece of the map after another; return whether the track is
        then empty.

        When the time `until` is reached (-1 = never), the work stops after the block in progress and its record. A
        track that cannot be read before that time is left alone.
        """
        cdef int32_t per_track = self.surface.blocks.units, sectors = self.surface.sectors.units
        cdef int32_t block, piece
        cdef bint changed
        cdef latency_t spent
        cdef int64_t now = self.now + reposition(self.surface.m, self.track, track, False) + self.surface.m.revolution
        if 0 <= until <= now:
            return False
        memset(&spent, 0, sizeof(spent))
        self.track = track
        self.held = NONE
        self.avoid = track
        self.no_empty = True
        for piece in range(self.pieces_n):
            if 0 <= until <= now:
                break
            self.begin()
            changed = self.pieces[piece].address != NONE and self.pieces[piece].address // sectors == track
            for block in range(track * per_track, (track + 1) * per_track):
                if self.owner[block] == NONE or self.owner[block] // ENTRIES != piece:
                    continue
                if 0 <= until <= now:
                    break
                now = self.put(self.owner[block], now, &spent)
                self.moved += 1
                changed = True
            if changed:
                now = self.log(piece, now, True, &spent)
            self.commit()
        self.avoid = NONE
        self.no_empty = False
        self.now = now
        self.emptied += is_empty(&self.surface, track)
        return is_empty(&self.surface, track)
