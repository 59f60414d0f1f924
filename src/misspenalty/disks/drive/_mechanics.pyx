"""Kernel of a drive's mechanics; the model and its functions stand in the .pxd, the geometry in `misspenalty.disks.drive.layout`."""

import numpy as np

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from misspenalty.errors import ParameterError

RUN = np.dtype([("lbn", np.int64), ("track", np.int32), ("sector", np.int32)])
TRACK = np.dtype(
    [("angle", np.int64), ("cylinder", np.int32), ("head", np.int32), ("sectors", np.int32), ("first", np.int32),
     ("width", np.int64), ("reciprocal", np.uint64)]  # fmt: skip
)
TICKS = TURN


cdef class Mechanics:
    """A drive's mechanics, shared by all drives of its kind.

    Parameters
    ----------
    tracks : array of TRACK
        By cylinder, one closing entry behind them; `width` and `reciprocal` are filled in here.
    runs : array of RUN
        By lbn, one closing entry (lbn = blocks) behind them.
    by_track : array of int32
        Indices of runs by (track, sector).
    seeks : array of int64
        Seek time by distance, ns; one for each distance from 0 to cylinders - 1.
    rpm, head_switch, write_settle : int
        Revolutions a minute, ns, ns.
    heads : int
        Surfaces.
    """

    def __cinit__(self, tracks, runs, by_track, seeks, rpm, head_switch, write_settle, heads):
        cdef int64_t[::1] seek_view = seeks
        cdef const int32_t[::1] by_track_view = by_track
        for sectors in np.unique(tracks["sectors"]).tolist():
            same = tracks["sectors"] == sectors
            tracks["width"][same] = TURN // sectors
            tracks["reciprocal"][same] = min(2**64 // sectors + 1, 2**64 - 1)
        blocks = int(runs["lbn"][len(runs) - 1])
        shift = max(0, int(blocks // (len(runs) - 1)).bit_length() - 1)
        buckets = np.searchsorted(runs["lbn"], np.arange(0, blocks, 1 << shift), side="right") - 1
        buckets = np.ascontiguousarray(buckets, np.int32)
        self.arrays = (tracks, runs, by_track, seeks, buckets)
        cdef const int32_t[::1] buckets_view = buckets
        cdef const unsigned char[::1] runs_view = runs.view(np.uint8)
        cdef const unsigned char[::1] tracks_view = tracks.view(np.uint8)
        self.m.runs = <const run_t*>&runs_view[0]
        self.m.tracks = <const track_t*>&tracks_view[0]
        self.m.by_track = &by_track_view[0]
        self.m.buckets = &buckets_view[0]
        self.m.seeks = &seek_view[0]
        self.m.blocks = blocks
        self.m.rpm = rpm
        self.m.head_switch = head_switch
        self.m.write_settle = write_settle
        self.m.revolution = (TURN + self.m.rpm - 1) // self.m.rpm
        self.m.reciprocal = min(2**64 // rpm + 1, 2**64 - 1)
        self.m.shift = shift
        self.m.tracks_n = len(tracks) - 1
        self.m.cylinders = len(seeks)
        self.m.heads = heads

    @property
    def blocks(self):
        """Blocks of the drive."""
        return self.m.blocks

    @property
    def tracks(self):
        """Tracks of the drive."""
        return self.m.tracks_n

    @property
    def cylinders(self):
        """Cylinders of the drive, unused ones included."""
        return self.m.cylinders

    @property
    def revolution_ns(self):
        """A revolution, rounded up to whole ns."""
        return self.m.revolution

    cdef int check(self, int64_t lbn, int64_t count) except -1:
        if count < 1 or lbn < 0 or lbn > self.m.blocks - count:
            raise ParameterError(f"blocks {lbn} to {lbn + count - 1}: the drive has blocks 0 to {self.m.blocks - 1}")
        return 0

    def locate(self, int64_t lbn):
        """Where a block lies: ``(cylinder, head, sector, angle in ticks, track)``."""
        cdef place_t place
        self.check(lbn, 1)
        locate(&self.m, lbn, &place)
        return place.cylinder, self.m.tracks[place.track].head, place.sector, place.angle, place.track

    def lbn_at(self, int32_t track, int32_t sector):
        """The block of a sector, or None where it holds none."""
        if not (0 <= track < self.m.tracks_n and 0 <= sector < self.m.tracks[track].sectors):
            raise ParameterError(f"track {track}, sector {sector}: no such sector")
        lbn = lbn_at(&self.m, track, sector)
        return None if lbn < 0 else lbn

    def seek(self, int32_t distance):
        """Time of a seek over `distance` cylinders, ns."""
        if not 0 <= distance < self.m.cylinders:
            raise ParameterError(f"seek over {distance} cylinders: the drive has {self.m.cylinders}")
        return self.m.seeks[distance]

    def reposition(self, int32_t from_track, int32_t to_track, bint write=False):
        """Time to bring a head from one track to another, ns."""
        if not (0 <= from_track < self.m.tracks_n and 0 <= to_track < self.m.tracks_n):
            raise ParameterError(f"tracks {from_track}, {to_track}: the drive has {self.m.tracks_n}")
        return reposition(&self.m, from_track, to_track, write)

    def rotation(self, int64_t now, int64_t angle):
        """Time from `now` until an angle passes under the head, ns."""
        if now < 0 or not 0 <= angle < TURN:
            raise ParameterError(f"time {now}, angle {angle}: expected a time of 0 or later, an angle below {TURN}")
        return rotation(&self.m, now, angle)

    def next_sector(self, int32_t track, int64_t now):
        """The sector of a track that begins next at or after `now`; its number of sectors means sector 0."""
        if not 0 <= track < self.m.tracks_n or now < 0:
            raise ParameterError(f"track {track}, time {now}: no such track or time")
        return next_sector(&self.m, track, now)

    def move(self, int32_t track, int64_t now, int64_t lbn, int64_t count, bint write=False):
        """Read or write blocks with the arm on a track: ``(end, track, parts)``, `parts` a dict of ns."""
        cdef parts_t parts
        self.check(lbn, count)
        if not 0 <= track < self.m.tracks_n or now < 0:
            raise ParameterError(f"track {track}, time {now}: no such track or time")
        memset(&parts, 0, sizeof(parts))
        end = move(&self.m, &track, now, lbn, count, write, &parts)
        return end, track, {"seek": parts.seek, "rotation": parts.rotation, "switch": parts.switches,
                            "transfer": parts.transfer}  # fmt: skip
