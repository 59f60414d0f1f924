# Processors of a controller: a station of servers with one queue, first come, first served, and equal service times.
#
# A model is a slice of its machine, but a processor of the machine serves several slices. The requests of the other
# slices are copies of the model's own, which each slice sends with a different delay, a multiple of `ECHO`. The load of
# every slice is therefore as heavy, as bursty and as throttled by the host as the model's own, but the slices do not
# send their requests at the same moments. Since service times are equal, a request (the model's own or a copy) starts
# when it has arrived and the request `servers` places ahead of it has finished.
#
# Time is cut into windows of `ECHO`. A copy keeps its request's offset in the window, so the copies that arrive in one
# window are the slice's requests of the `echoes` windows before it, merged by offset. When a window ends, its requests
# join the copies, and those of the oldest window leave them.

from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free

from misspenalty._kernel cimport grown

cdef extern from *:
    """
    #define MISSPENALTY_ECHO 100000000LL
    """
    const int64_t ECHO "MISSPENALTY_ECHO"         # delay between one copy and the next, ns


cdef struct station_t:
    int64_t* free                   # when each server becomes free, ns; the next request takes server `next`
    int64_t servers
    int64_t next
    int64_t echoes                  # copies of each request
    int64_t window                  # number of the current window
    int64_t* own                    # ring of the offsets of the slice's own requests, ns
    int64_t room                    # size of the ring, a power of two
    int64_t written                 # number of own requests so far
    int64_t* began                  # ring of the numbers of own requests before each of the last `echoes` + 1 windows
    int64_t* copies                 # offsets of the copies that arrive in this window, in order, ns
    int64_t* later                  # space for the copies of the next window
    int64_t most                    # number of copies that fit
    int64_t coming                  # number of copies in this window
    int64_t served                  # number of these copies that have been served


cdef inline int make_station(station_t* station, int64_t servers, int64_t echoes) except -1:
    station.servers, station.echoes, station.room, station.most = servers, echoes, 1 << 10, 1 << 10
    station.free = <int64_t*>calloc(servers + 1, sizeof(int64_t))
    station.own = <int64_t*>calloc(station.room, sizeof(int64_t))
    station.began = <int64_t*>calloc(echoes + 1, sizeof(int64_t))
    station.copies = <int64_t*>calloc(station.most, sizeof(int64_t))
    station.later = <int64_t*>calloc(station.most, sizeof(int64_t))
    if (station.free == NULL or station.own == NULL or station.began == NULL or station.copies == NULL
            or station.later == NULL):
        raise MemoryError(f"no memory for {servers} processors")
    return 0


cdef inline void free_station(station_t* station) noexcept:
    free(station.free)
    free(station.own)
    free(station.began)
    free(station.copies)
    free(station.later)


cdef inline int64_t occupy(station_t* station, int64_t now, int64_t service) noexcept nogil:
    """Return the time at which a request that arrives now completes."""
    cdef int64_t done = max(station.free[station.next], now) + service
    station.free[station.next] = done
    station.next += 1
    if station.next == station.servers:
        station.next = 0
    return done


cdef inline void serve_copies(station_t* station, int64_t until, int64_t service) noexcept nogil:
    """Serve the copies that arrive up to an offset in this window."""
    cdef int64_t i = station.served, start = station.window * ECHO
    while i < station.coming and station.copies[i] <= until:
        occupy(station, start + station.copies[i], service)
        i += 1
    station.served = i


cdef inline int hold_copies(station_t* station, int64_t most) except -1 nogil:
    """Make room for `most` copies in a window."""
    while most > station.most:
        station.copies = <int64_t*>grown(station.copies, 2 * station.most, sizeof(int64_t), b"copies of requests")
        station.later = <int64_t*>grown(station.later, 2 * station.most, sizeof(int64_t), b"copies of requests")
        station.most *= 2
    return 0


cdef inline int next_window(station_t* station) except -1 nogil:
    """Merge the requests of the ending window into the copies, and remove those of the oldest window."""
    cdef int64_t mask = station.room - 1, turns = station.echoes + 1, i, value, made = 0
    cdef int64_t oldest = (station.window + 1) % turns      # began `echoes` windows before this one
    cdef int64_t leaves = station.began[oldest], left = station.began[(oldest + 1) % turns]
    cdef int64_t joins = station.began[station.window % turns]
    cdef int64_t* own = station.own
    cdef int64_t* later
    hold_copies(station, station.coming + station.written - joins)
    later = station.later
    for i in range(station.coming):
        value = station.copies[i]
        if leaves < left and own[leaves & mask] == value:
            leaves += 1
            continue
        while joins < station.written and own[joins & mask] <= value:
            later[made] = own[joins & mask]
            made += 1
            joins += 1
        later[made] = value
        made += 1
    while joins < station.written:
        later[made] = own[joins & mask]
        made += 1
        joins += 1
    station.later, station.copies = station.copies, later
    station.coming, station.served = made, 0
    station.window += 1
    station.began[station.window % turns] = station.written
    return 0


cdef inline int advance(station_t* station, int64_t now, int64_t service) except -1 nogil:
    """Serve the copies that arrive up to now, in order of time."""
    cdef int64_t window = now // ECHO, i
    while station.window < window:
        serve_copies(station, ECHO, service)
        next_window(station)
        if station.coming == 0 and station.window < window:     # no copy arrives before `now`
            station.window = window
            for i in range(station.echoes + 1):
                station.began[i] = station.written
    serve_copies(station, now - window * ECHO, service)
    return 0


cdef inline int remember(station_t* station, int64_t now) except -1 nogil:
    """Record a request, so that copies can be made of it."""
    cdef int64_t i, room = station.room
    cdef int64_t* own
    if station.written - station.began[(station.window + 1) % (station.echoes + 1)] == room:
        own = <int64_t*>grown(station.own, 2 * room, sizeof(int64_t), b"requests of a slice")
        for i in range(room):
            own[room + i] = own[i]
        station.own, station.room = own, 2 * room
    station.own[station.written & (station.room - 1)] = now - station.window * ECHO
    station.written += 1
    return 0


cdef inline int64_t process(station_t* station, int64_t now, int64_t service) except -1 nogil:
    """Return the time at which the slice's own request that arrives now completes; call this in order of arrival."""
    if station.echoes:
        advance(station, now, service)
        remember(station, now)
    return occupy(station, now, service)
