"""Find free sectors on a disk without a log, to check `eager_models`."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from misspenalty._kernel cimport Kernel
from misspenalty_studies.vlog.virtual_log._eager cimport FOREVER, choice_t, nearest, set_bit, surface_t, take_block, take_sector, try_track
from misspenalty.disks.drive._mechanics cimport Mechanics
from misspenalty.errors import ParameterError


cdef class FreeSpace(Kernel):
    """Free sectors of a slice, and how soon one of them passes the head.

    Parameters
    ----------
    mechanics : Mechanics
        Mechanics of a slice with identical tracks.
    heads, unit : int
        Tracks per cylinder; sectors per block.
    free : bool, shape (tracks, sectors)
        Whether each sector is free; the tracks must make up whole cylinders.
    """

    cdef Mechanics mechanics
    cdef surface_t surface
    cdef object arrays

    def __cinit__(self, Mechanics mechanics not None, heads, unit, free):
        free = np.ascontiguousarray(free, bool)
        tracks, sectors = free.shape
        if tracks % heads or not 0 < tracks <= mechanics.tracks:
            raise ParameterError(f"{tracks} tracks; expected whole cylinders of {heads}, at most {mechanics.tracks}")
        blocks = free[:, : sectors // unit * unit].reshape(tracks, -1, unit).all(axis=2)
        least = np.ascontiguousarray(np.minimum.accumulate(mechanics.arrays[3][::-1])[::-1])
        self.mechanics = mechanics
        self.surface.m = &mechanics.m
        self.surface.tracks, self.surface.heads, self.surface.cylinders = tracks, heads, tracks // heads
        words = [_words(free), _words(blocks)]
        counts = [free.sum(axis=1, dtype=np.int32), blocks.sum(axis=1, dtype=np.int32)]
        self.arrays = (words, counts, least)
        cdef uint64_t[:, ::1] bits = words[0]
        cdef int32_t[::1] count = counts[0]
        cdef int64_t[::1] shortest = least
        self.surface.least = &shortest[0]
        self.surface.sectors.words, self.surface.sectors.count = &bits[0, 0], &count[0]
        bits, count = words[1], counts[1]
        self.surface.blocks.words, self.surface.blocks.count = &bits[0, 0], &count[0]
        self.surface.sectors.width, self.surface.sectors.units, self.surface.sectors.unit = words[0].shape[1], sectors, 1
        self.surface.blocks.width, self.surface.blocks.units = words[1].shape[1], sectors // unit
        self.surface.sectors.step, self.surface.blocks.unit, self.surface.blocks.step = 1, unit, unit
        self.surface.used = (counts[0] != sectors).sum()

    cdef int check_track(self, int32_t track) except -1:
        if not 0 <= track < self.surface.tracks:
            raise ParameterError(f"track {track}; expected 0 to {self.surface.tracks - 1}")
        return 0

    def nearest(self, int32_t track, int64_t now, bint blocks=False):
        """Return the free sector or block that passes first: ``(track, unit, ready, start)``; None if nothing is
        free."""
        cdef choice_t choice
        self.check_track(track)
        choice = nearest(
            &self.surface, &self.surface.blocks if blocks else &self.surface.sectors, track, now, -1, False, False)
        return None if choice.start == FOREVER else (choice.track, choice.unit, choice.ready, choice.start)

    def waits(self, const int32_t[::1] track, const int64_t[::1] now, bint blocks=False):
        """Return the time until a free unit passes, in ns, for an arm on each of these tracks at these times; -1 if
        nothing is free."""
        cdef Py_ssize_t i
        cdef choice_t choice
        cdef int64_t[::1] wait = np.empty(track.shape[0], np.int64)
        if now.shape[0] != track.shape[0]:
            raise ParameterError(f"{track.shape[0]} tracks at {now.shape[0]} times; expected equal numbers")
        for i in range(track.shape[0]):
            self.check_track(track[i])
        with self, nogil:
            for i in range(track.shape[0]):
                choice = nearest(
                    &self.surface, &self.surface.blocks if blocks else &self.surface.sectors, track[i], now[i], -1,
                    False, False)
                wait[i] = -1 if choice.start == FOREVER else choice.start - now[i]
        return np.asarray(wait)

    def fill(self, int32_t track, const int64_t[::1] now):
        """Write at each of these times to the track's free sector that passes first; return the waits, ns."""
        cdef Py_ssize_t i
        cdef choice_t choice
        cdef int64_t[::1] wait = np.empty(now.shape[0], np.int64)
        self.check_track(track)
        if now.shape[0] > self.surface.sectors.count[track]:
            raise ParameterError(
                f"{now.shape[0]} writes to track {track}; expected at most {self.surface.sectors.count[track]}, its number "
                "of free sectors"
            )
        with self, nogil:
            for i in range(now.shape[0]):
                choice.start = FOREVER
                try_track(&self.surface, &self.surface.sectors, track, track, now[i], &choice)
                take_sector(&self.surface, track, choice.unit)
                wait[i] = choice.start - now[i]
        return np.asarray(wait)


def _words(free):
    """Pack the bits of each row into 64-bit words."""
    tracks, units = free.shape
    padded = np.zeros((tracks, -(-units // 64) * 64), np.uint8)
    padded[:, :units] = free
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)
