# Tracks in flight from disk: a small hash table from a track to the drive operations that read it (one or several).
#
# The table uses open addressing with linear probing, and is at most half full. Deleting an entry moves later
# entries of the same probe sequence back to close the gap.

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free

from misspenalty.traces._splitmix cimport mix


cdef struct flight_t:
    int64_t key                     # track + 1; 0 = free
    int32_t operation               # drive operation that reads pages of the track


cdef struct flights_t:
    flight_t* slots                 # NULL = nothing allocated
    uint64_t mask                   # number of slots, a power of two, minus 1
    uint64_t size                   # entries


cdef inline int make_flights(flights_t* flights, uint64_t slots) except -1 nogil:
    cdef flight_t* made = <flight_t*>calloc(slots, sizeof(flight_t))
    if made == NULL:
        with gil:
            raise MemoryError(f"no memory for {slots // 2} tracks in flight")
    flights.slots = made
    flights.mask = slots - 1
    flights.size = 0
    return 0


cdef inline uint64_t home(flights_t* flights, int64_t track) noexcept nogil:
    return mix(<uint64_t>track) & flights.mask


cdef inline int add_flight(flights_t* flights, int64_t track, int32_t operation) except -1 nogil:
    cdef uint64_t place, old
    cdef flight_t* slots = flights.slots
    if 2 * (flights.size + 1) > flights.mask:
        old = flights.mask + 1
        make_flights(flights, 2 * old)
        for place in range(old):
            if slots[place].key:
                add_flight(flights, slots[place].key - 1, slots[place].operation)
        free(slots)
    place = home(flights, track)
    while flights.slots[place].key:
        place = (place + 1) & flights.mask
    flights.slots[place].key = track + 1
    flights.slots[place].operation = operation
    flights.size += 1
    return 0


cdef inline void remove_flight(flights_t* flights, int64_t track, int32_t operation) noexcept nogil:
    cdef uint64_t place = home(flights, track), hole, own
    while flights.slots[place].key != track + 1 or flights.slots[place].operation != operation:
        place = (place + 1) & flights.mask
    hole = place
    while True:
        place = (place + 1) & flights.mask
        if not flights.slots[place].key:
            break
        own = home(flights, flights.slots[place].key - 1)
        if ((place - own) & flights.mask) >= ((place - hole) & flights.mask):
            flights.slots[hole] = flights.slots[place]
            hole = place
    flights.slots[hole].key = 0
    flights.size -= 1
