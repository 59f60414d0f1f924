"""Replay requests on a drive: one after another, or as they arrive, through its queue."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t

from misspenalty._kernel cimport SLICE, check_signals
from misspenalty.disks.drive._drive cimport Drive, arrive, complete
from misspenalty.disks.drive._service cimport service
from misspenalty.disks.drive._state cimport IDLE, record_t
from misspenalty.disks.drive.records import RECORD
from misspenalty.disks.drive._mechanics cimport mechanics_t
from misspenalty.errors import ParameterError

cdef extern from *:
    # This is a macro because GCC treats a function that only prefetches as one without effect, and drops the call.
    """
    #define MISSPENALTY_FETCH(m, later, sooner, next) do { \\
        __builtin_prefetch(&(m)->buckets[(later) >> (m)->shift]); \\
        __builtin_prefetch(&(m)->runs[(m)->buckets[(sooner) >> (m)->shift]]); \\
        __builtin_prefetch(&(m)->tracks[(m)->runs[(m)->buckets[(next) >> (m)->shift]].track]); \\
        __builtin_prefetch(&(m)->tracks[(m)->runs[(m)->buckets[(next) >> (m)->shift]].track] + 1); \\
    } while (0)
    """
    # Prefetch what future requests will need: a bucket, the run that it names, and that run's track.
    void fetch "MISSPENALTY_FETCH" (const mechanics_t* m, int64_t later, int64_t sooner, int64_t next) noexcept nogil

cdef enum:
    LATER = 18                      # number of requests by which the prefetch of a bucket is ahead
    SOONER = 12                     # … the prefetch of a run
    NEXT = 6                        # … the prefetch of a track

cdef int64_t LATEST = <int64_t>1 << 60     # latest time that requests may have, ns


cdef int check(
    Drive drive, const int64_t[::1] lbn, const int32_t[::1] count, Py_ssize_t writes, const int64_t[::1] times, int64_t first,
    bint rising,
) except -1:
    """Reject requests that the kernel could not serve: those outside the drive, or with an invalid time.

    No time may be below `first` or above LATEST. If times must be `rising`, none may be below the previous one; else
    they are delays, whose sum may not exceed the time left until LATEST.
    """
    cdef Py_ssize_t i, n = lbn.shape[0], wrong = -1
    cdef int64_t least = first, most = LATEST if rising else max(LATEST - drive.d.now, 0)
    if not n == count.shape[0] == writes == times.shape[0]:
        raise ParameterError("lbn, count, write and times differ in length")
    with nogil:
        for i in range(n):
            if lbn[i] < 0 or count[i] < 1 or lbn[i] > drive.d.m.blocks - count[i]:
                wrong = i
                break
    if wrong >= 0:
        raise ParameterError(
            f"request {wrong + 1}: {count[wrong]} blocks from {lbn[wrong]}; the drive has blocks 0 to {drive.d.m.blocks - 1}"
        )
    with nogil:
        for i in range(n):
            if times[i] < least or times[i] > most:
                wrong = i
                break
            if rising:
                least = times[i]
            else:
                most -= times[i]
    if wrong >= 0:
        what, order = ("time", "; times must not decrease") if rising else ("delay", "")
        raise ParameterError(f"request {wrong + 1}: {what} {times[wrong]} ns; expected {least} to {most}{order}")
    return 0


def one_by_one(
    Drive drive not None, const int64_t[::1] lbn, const int32_t[::1] count, const uint8_t[::1] write,
    const int64_t[::1] delay, bint records=True,
):
    """Serve requests one after another, waiting `delay` ns after each one; return the records in order.

    Without `records`, return the service times, ns. The first request arrives at the drive's time, which is 0 for a new
    drive and otherwise the end of the last request or the time of a later call of `position`. Raise ParameterError if a
    delay is negative, the delays reach beyond 2^60 ns, a request lies outside the drive, or the arrays differ in length.
    """
    cdef Py_ssize_t i, n = lbn.shape[0], step = 1 if records else 0
    cdef int64_t now = drive.d.now, done
    check(drive, lbn, count, write.shape[0], delay, 0, False)
    made = np.empty(max(n, 1) if records else 1, RECORD)
    times = np.empty(n, np.int64)
    cdef uint8_t[::1] view = made.view(np.uint8)
    cdef int64_t[::1] times_view = times
    cdef record_t* out = <record_t*>&view[0]
    with drive, nogil:
        for i in range(n):
            if i % SLICE == SLICE - 1:
                check_signals()
            if i + LATER < n:
                fetch(drive.d.m, lbn[i + LATER], lbn[i + SOONER], lbn[i + NEXT])
            done = service(&drive.d, now, lbn[i], count[i], write[i], out + step * i)
            times_view[i] = done - now
            now = done + delay[i]
    return made[:n] if records else times


def as_they_arrive(
    Drive drive not None, const int64_t[::1] arrival, const int64_t[::1] lbn, const int32_t[::1] count,
    const uint8_t[::1] write,
):
    """Serve requests that arrive at given times, in order, through the drive's queue; return their records in order.

    Raise ParameterError if a request arrives before the previous one, before the drive's time or after 2^60 ns, or lies
    outside the drive, or if the arrays differ in length.
    """
    cdef Py_ssize_t i = 0, n = lbn.shape[0], steps = 0
    cdef int64_t event = IDLE, got
    cdef record_t record
    check(drive, lbn, count, write.shape[0], arrival, drive.d.now, True)
    made = np.empty(max(n, 1), RECORD)
    cdef uint8_t[::1] view = made.view(np.uint8)
    cdef record_t* out = <record_t*>&view[0]
    with drive, nogil:
        drive.d.active = False                  # drop what an interrupted call left in the queue
        drive.d.waiting = drive.d.backlogged = 0
        while i < n or event != IDLE:
            steps += 1
            if steps % SLICE == 0:
                check_signals()
            # at equal times, a completion comes before an arrival
            if event != IDLE and (i == n or event <= arrival[i]):
                event = complete(&drive.d, &record)
                out[record.tag] = record
            else:
                if i + LATER < n:
                    fetch(drive.d.m, lbn[i + LATER], lbn[i + SOONER], lbn[i + NEXT])
                got = arrive(&drive.d, arrival[i], lbn[i], count[i], write[i], i)
                event = got if got != IDLE else event
                i += 1
    return made[:n]
