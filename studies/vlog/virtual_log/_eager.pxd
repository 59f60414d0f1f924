# Eager writing: which sectors are free, and which free block passes under a head next. Everything is inlined where cimported.
#
# A sector's address is track * sectors + sector; this leaves no place for sectors that a drive skips, so only disks
# without such sectors are simulated. A block is `unit` sectors of a track, and begins at a multiple of `step` sectors:
# `step` is `unit` if blocks are aligned, and 1 if they may begin anywhere and overlap. There is a bitmap of sectors and
# one of blocks: a block is free when all its sectors are.

from libc.stdint cimport int32_t, int64_t, uint64_t

from misspenalty.disks.drive._mechanics cimport angle_of, mechanics_t, next_sector, reposition, rotation

cdef extern from *:
    """
    #define misspenalty_ctz(word) __builtin_ctzll(word)
    #define MISSPENALTY_FOREVER INT64_MAX
    """
    const int64_t FOREVER "MISSPENALTY_FOREVER"     # later than any event, ns
    int lowest_bit "misspenalty_ctz"(uint64_t word) noexcept nogil

cdef enum:
    NOWHERE = -1


cdef struct bitmap_t:
    uint64_t* words                 # `width` words per track; a bit of 1 means free
    int32_t* count                  # free units of each track
    int32_t width                   # 64-bit words per track
    int32_t units                   # units per track; the bits beyond are 0
    int32_t unit                    # sectors per unit
    int32_t step                    # sectors from one unit's start to the next one's


cdef struct surface_t:
    const mechanics_t* m            # mechanics of a drive with identical tracks
    const int64_t* least            # least[n]: the shortest seek over n cylinders or more, ns
    bitmap_t sectors
    bitmap_t blocks
    int32_t tracks                  # number of tracks in use, from the first on; a multiple of `heads`
    int32_t heads                   # tracks of a cylinder
    int32_t cylinders               # cylinders in use
    int64_t tried                   # tracks examined so far
    int32_t used                    # number of tracks with a sector in use


cdef struct choice_t:
    int64_t ready                   # when the head is on the track, ns
    int64_t start                   # when the unit begins to pass, ns; FOREVER = nothing is free
    int32_t track
    int32_t unit                    # index on its track, in units of the bitmap that was searched


cdef inline bint is_set(const bitmap_t* map, int32_t track, int32_t unit) noexcept nogil:
    return map.words[track * map.width + (unit >> 6)] >> (unit & 63) & 1


cdef inline void set_bit(bitmap_t* map, int32_t track, int32_t unit) noexcept nogil:
    map.words[track * map.width + (unit >> 6)] |= <uint64_t>1 << (unit & 63)
    map.count[track] += 1


cdef inline void clear_bit(bitmap_t* map, int32_t track, int32_t unit) noexcept nogil:
    map.words[track * map.width + (unit >> 6)] &= ~(<uint64_t>1 << (unit & 63))
    map.count[track] -= 1


cdef inline int32_t find_from(const bitmap_t* map, int32_t track, int32_t unit) noexcept nogil:
    """Return the first free unit at or after a given one, wrapping around; the track must have a free unit."""
    cdef const uint64_t* words = map.words + track * map.width
    cdef int32_t i = unit >> 6
    cdef uint64_t word = words[i] & (<uint64_t>-1 << (unit & 63))
    while word == 0:
        i += 1
        if i >= map.width:
            i = 0
        word = words[i]
    return 64 * i + lowest_bit(word)


cdef inline int32_t first_around(const bitmap_t* map, int32_t sector) noexcept nogil:
    """Return the first unit that contains a sector."""
    return max(sector - map.unit + map.step, <int32_t>0) // map.step


cdef inline int32_t last_around(const bitmap_t* map, int32_t sector) noexcept nogil:
    """Return the last unit that contains a sector; less than the first one if none does."""
    return min(sector // map.step, map.units - 1)


cdef inline void take_sector(surface_t* s, int32_t track, int32_t sector) noexcept nogil:
    """Mark a free sector as in use, and with it the blocks that contain it."""
    cdef int32_t block
    s.used += s.sectors.count[track] == s.sectors.units
    clear_bit(&s.sectors, track, sector)
    for block in range(first_around(&s.blocks, sector), last_around(&s.blocks, sector) + 1):
        if is_set(&s.blocks, track, block):
            clear_bit(&s.blocks, track, block)


cdef inline void free_sector(surface_t* s, int32_t track, int32_t sector) noexcept nogil:
    """Mark a sector as free, and with it the blocks that contain it and no sector in use."""
    cdef int32_t block, i
    set_bit(&s.sectors, track, sector)
    s.used -= s.sectors.count[track] == s.sectors.units
    for block in range(first_around(&s.blocks, sector), last_around(&s.blocks, sector) + 1):
        for i in range(block * s.blocks.step, block * s.blocks.step + s.blocks.unit):
            if not is_set(&s.sectors, track, i):
                break
        else:
            set_bit(&s.blocks, track, block)


cdef inline void take_block(surface_t* s, int32_t track, int32_t block) noexcept nogil:
    cdef int32_t i
    for i in range(block * s.blocks.step, block * s.blocks.step + s.blocks.unit):
        take_sector(s, track, i)


cdef inline void free_block(surface_t* s, int32_t track, int32_t block) noexcept nogil:
    cdef int32_t i
    for i in range(block * s.blocks.step, block * s.blocks.step + s.blocks.unit):
        free_sector(s, track, i)


cdef inline bint is_empty(const surface_t* s, int32_t track) noexcept nogil:
    return s.sectors.count[track] == s.sectors.units


cdef inline void try_track(
    surface_t* s, const bitmap_t* map, int32_t at, int32_t track, int64_t now, choice_t* best
) noexcept nogil:
    """Set `best` to the free unit that passes next on a track, if it passes before the best one so far."""
    cdef int64_t ready = now + reposition(s.m, at, track, True), start
    cdef int32_t unit
    s.tried += 1
    if ready >= best.start:
        return
    unit = (next_sector(s.m, track, ready) + map.step - 1) // map.step
    unit = find_from(map, track, unit if unit < map.units else 0)
    start = ready + rotation(s.m, ready, angle_of(&s.m.tracks[track], unit * map.step))
    if start < best.start:
        best.ready = ready
        best.start = start
        best.track = track
        best.unit = unit


cdef inline choice_t nearest(
    surface_t* s, const bitmap_t* map, int32_t at, int64_t now, int32_t avoid, bint only_empty, bint no_empty
) noexcept nogil:
    """Find the free unit that passes under a head first, with the arm on track `at` now.

    The arm moves one way: this cylinder and those above are candidates; if nothing is free there, the sweep starts
    again from the first cylinder with free space. Track `avoid` is left out (-1 = none); `only_empty` and `no_empty`
    restrict the search to empty tracks or to tracks in use.
    """
    cdef choice_t best
    cdef int32_t first = at // s.heads, cylinder = at // s.heads, step, track
    cdef int64_t soonest = now + min(s.m.write_settle, <int64_t>0)
    best.start = FOREVER
    best.ready = now
    best.track = best.unit = NOWHERE
    if only_empty and s.used == s.tracks:           # no track is empty
        return best
    for step in range(s.cylinders):
        if cylinder == s.cylinders:
            cylinder = 0
        if best.start < FOREVER and (cylinder < first or soonest + s.least[cylinder - first] >= best.start):
            break
        for track in range(cylinder * s.heads, (cylinder + 1) * s.heads):
            if map.count[track] == 0 or track == avoid:
                continue
            if (only_empty or no_empty) and is_empty(s, track) != only_empty:
                continue
            try_track(s, map, at, track, now, &best)
        cylinder += 1
    return best
