# Processors of a controller: a station of servers with one queue, first come, first served, and the same service for all.
#
# A model is a slice of its machine, but a processor of the machine serves several slices. The others' requests come to
# the station as copies of the slice's own, each delayed by another multiple of `ECHO`: as many, as bursty and as held up
# by the host as these are, and independent of what happens now. With equal services the n-th request to come starts when
# the one `servers` before it is done.

from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free, realloc

cdef enum:
    MOST_ECHOES = 1 << 8            # room for a copy's number below a time: times end at 2**54 ns, after 208 days

cdef extern from *:
    """
    #define MISSPENALTY_ECHO 100000000LL
    #define MISSPENALTY_NO_ECHO (1LL << 62)
    """
    const int64_t ECHO "MISSPENALTY_ECHO"         # delay between one copy and the next, ns
    const int64_t NO_ECHO "MISSPENALTY_NO_ECHO"   # nothing to come yet


cdef struct station_t:
    int64_t* free                   # when each server's work is done, ns; the next request takes `next`
    int64_t servers
    int64_t next
    int64_t* came                   # ring of the slice's own requests, ns
    int64_t room                    # of the ring, a power of two
    int64_t written                 # own requests so far
    int64_t echoes                  # copies
    int64_t* read                   # how many requests of each copy have come
    int64_t* due                    # when each copy's next one comes, ns, times MOST_ECHOES, plus the copy's number;
    #                               # NO_ECHO = not known yet; padded to a multiple of four


cdef inline int make_station(station_t* station, int64_t servers, int64_t echoes) except -1:
    cdef int64_t i
    station.servers, station.echoes, station.room = servers, echoes, 1 << 10
    station.free = <int64_t*>calloc(servers + 1, sizeof(int64_t))
    station.came = <int64_t*>calloc(station.room, sizeof(int64_t))
    station.read = <int64_t*>calloc(echoes + 1, sizeof(int64_t))
    station.due = <int64_t*>calloc(echoes + 4, sizeof(int64_t))
    if station.free == NULL or station.came == NULL or station.read == NULL or station.due == NULL:
        raise MemoryError(f"no memory for {servers} processors")
    for i in range(echoes + 4):
        station.due[i] = NO_ECHO
    return 0


cdef inline void free_station(station_t* station) noexcept:
    free(station.free)
    free(station.came)
    free(station.read)
    free(station.due)


cdef inline int64_t occupy(station_t* station, int64_t now, int64_t service) noexcept nogil:
    """When a request that comes now is done."""
    cdef int64_t done = max(station.free[station.next], now) + service
    station.free[station.next] = done
    station.next += 1
    if station.next == station.servers:
        station.next = 0
    return done


cdef inline void await_echo(station_t* station, int64_t echo) noexcept nogil:
    """When the next request of a copy comes."""
    station.due[echo] = NO_ECHO
    if station.read[echo] < station.written:
        station.due[echo] = station.came[station.read[echo] & (station.room - 1)] + (echo + 1) * ECHO
        station.due[echo] = station.due[echo] * MOST_ECHOES + echo


cdef inline void serve_echoes(station_t* station, int64_t now, int64_t service) noexcept nogil:
    """Serve the copies that come up to now, in order of time."""
    cdef int64_t a, b, c, d, echo, i
    while True:
        a, b, c, d = station.due[0], station.due[1], station.due[2], station.due[3]
        for i in range(4, station.echoes, 4):       # four at a time, without a branch
            a = min(a, station.due[i])
            b = min(b, station.due[i + 1])
            c = min(c, station.due[i + 2])
            d = min(d, station.due[i + 3])
        a = min(min(a, b), min(c, d))
        if a >= (now + 1) * MOST_ECHOES:
            return
        echo = a & (MOST_ECHOES - 1)
        occupy(station, a // MOST_ECHOES, service)
        station.read[echo] += 1
        await_echo(station, echo)


cdef inline int remember(station_t* station, int64_t now) except -1 nogil:
    """Note a request for its copies."""
    cdef int64_t i, room = station.room
    cdef int64_t* came
    if station.written - station.read[station.echoes - 1] == room:     # the last copy is the most behind
        came = <int64_t*>realloc(station.came, 2 * room * sizeof(int64_t))
        if came == NULL:
            with gil:
                raise MemoryError(f"no memory for {2 * room} requests of a processor")
        for i in range(room):
            came[room + i] = came[i]
        station.came, station.room = came, 2 * room
    station.came[station.written & (station.room - 1)] = now
    station.written += 1
    for i in range(station.echoes):
        if station.due[i] == NO_ECHO:
            await_echo(station, i)
    return 0


cdef inline int64_t process(station_t* station, int64_t now, int64_t service) except -1 nogil:
    """When a request of the slice's own that comes now is done; to be called in order of time."""
    if station.echoes:
        serve_echoes(station, now, service)
        remember(station, now)
    return occupy(station, now, service)
