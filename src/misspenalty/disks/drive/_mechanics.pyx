"""Hold a drive's mechanics; the .pxd has the model, and `misspenalty.disks.drive.layout` has the geometry."""

from libc.stdint cimport UINT64_MAX, int32_t, int64_t, uint64_t

from misspenalty._kernel cimport zeros
from misspenalty.errors import ParameterError

TICKS = TURN


cdef void fill_widths(track_t* tracks, Py_ssize_t n) noexcept nogil:
    """Fill in widths and reciprocals; for 1 sector, 2**64 wraps to 0, which is harmless: only 0 is multiplied by it."""
    cdef Py_ssize_t i
    for i in range(n):
        tracks[i].width = TURN // <int64_t>tracks[i].sectors
        tracks[i].reciprocal = UINT64_MAX // <uint64_t>tracks[i].sectors + 1


cdef void fill_buckets(const run_t* runs, int shift, int32_t[::1] buckets) noexcept nogil:
    """Fill in the run of the first block of each bucket."""
    cdef Py_ssize_t i
    cdef int32_t run = 0
    for i in range(buckets.shape[0]):
        while runs[run + 1].lbn <= <int64_t>i << shift:
            run += 1
        buckets[i] = run


cdef class Mechanics:
    """A drive's mechanics, shared by all drives of its kind.

    Parameters
    ----------
    tracks : bytes of an array of track_t
        By cylinder, followed by one closing entry; `width` and `reciprocal` are filled in here.
    runs : bytes of an array of run_t
        By lbn, followed by one closing entry (lbn = blocks).
    by_track : array of int32
        Indices of runs by (track, sector).
    seeks : array of int64
        Seek time by distance, ns; one per distance from 0 to cylinders - 1.
    rpm, head_switch, write_settle : int
        Revolutions per minute; the times in ns.
    """

    def __cinit__(
        self, unsigned char[::1] tracks not None, const unsigned char[::1] runs not None, const int32_t[::1] by_track not None,
        const int64_t[::1] seeks not None, rpm, head_switch, write_settle,
    ):
        cdef Py_ssize_t tracks_n = tracks.shape[0] // sizeof(track_t), runs_n = runs.shape[0] // sizeof(run_t)
        cdef const run_t* run = <const run_t*>&runs[0]
        cdef int64_t blocks = run[runs_n - 1].lbn
        cdef int shift = max(0, int(blocks // (runs_n - 1)).bit_length() - 1)
        cdef int32_t[::1] buckets = zeros("i", (blocks - 1 >> shift) + 1)
        fill_widths(<track_t*>&tracks[0], tracks_n)
        fill_buckets(run, shift, buckets)
        self.arrays = (tracks, runs, by_track, seeks, buckets)
        self.m.runs = run
        self.m.tracks = <const track_t*>&tracks[0]
        self.m.by_track = &by_track[0]
        self.m.buckets = &buckets[0]
        self.m.seeks = &seeks[0]
        self.m.blocks = blocks
        self.m.rpm = rpm
        self.m.head_switch = head_switch
        self.m.write_settle = write_settle
        self.m.revolution = (TURN + self.m.rpm - 1) // self.m.rpm
        self.m.reciprocal = min(2**64 // rpm + 1, 2**64 - 1)
        self.m.shift = shift
        self.m.tracks_n = <int32_t>(tracks_n - 1)
        self.m.cylinders = <int32_t>seeks.shape[0]

    @property
    def blocks(self):
        """Number of blocks of the drive."""
        return self.m.blocks

    @property
    def tracks(self):
        """Number of tracks of the drive."""
        return self.m.tracks_n

    @property
    def cylinders(self):
        """Number of cylinders of the drive, including unused ones."""
        return self.m.cylinders

    @property
    def revolution_ns(self):
        """Time of a revolution, rounded up to whole ns."""
        return self.m.revolution

    cdef int check(self, int64_t lbn, int64_t count) except -1:
        if count < 1 or lbn < 0 or lbn > self.m.blocks - count:
            raise ParameterError(f"blocks {lbn} to {lbn + count - 1}: the drive has blocks 0 to {self.m.blocks - 1}")
        return 0

    def locate(self, int64_t lbn):
        """Return where a block is: ``(cylinder, head, sector, angle in ticks, track)``."""
        cdef place_t place
        self.check(lbn, 1)
        locate(&self.m, lbn, &place)
        return place.cylinder, self.m.tracks[place.track].head, place.sector, place.angle, place.track

    def lbn_at(self, int32_t track, int32_t sector):
        """Return the block of a sector, or None if it holds none."""
        if not (0 <= track < self.m.tracks_n and 0 <= sector < self.m.tracks[track].sectors):
            raise ParameterError(f"track {track}, sector {sector}: no such sector")
        lbn = lbn_at(&self.m, track, sector)
        return None if lbn < 0 else lbn

    def seek(self, int32_t distance):
        """Return the time of a seek over `distance` cylinders, ns."""
        if not 0 <= distance < self.m.cylinders:
            raise ParameterError(f"seek over {distance} cylinders: the drive has {self.m.cylinders}")
        return self.m.seeks[distance]

    def reposition(self, int32_t from_track, int32_t to_track, bint write=False):
        """Return the time to bring a head from one track to another, ns."""
        if not (0 <= from_track < self.m.tracks_n and 0 <= to_track < self.m.tracks_n):
            raise ParameterError(f"tracks {from_track}, {to_track}: the drive has {self.m.tracks_n}")
        return reposition(&self.m, from_track, to_track, write)

    def rotation(self, int64_t now, int64_t angle):
        """Return the time from `now` until an angle passes under the head, ns."""
        if now < 0 or not 0 <= angle < TURN:
            raise ParameterError(f"time {now}, angle {angle}: expected a time of 0 or later, an angle below {TURN}")
        return rotation(&self.m, now, angle)
