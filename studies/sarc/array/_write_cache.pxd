# The non-volatile write cache: dirty pages by stripe, array by array, in the order of the stripes' last or first write.
# An entry whose destage has begun is in no order and can no longer be found: pages of its stripe that are written from
# then on belong to another entry. Its own pages take up room until the destage completes.

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memset

from misspenalty._divide cimport quotient
from misspenalty._kernel cimport Kernel
from misspenalty_studies.sarc.array._raid cimport array_of, raid_t

cdef extern from *:
    int count_bits "__builtin_popcountll" (unsigned long long) noexcept nogil
    void prefetch "__builtin_prefetch" (const void*) noexcept nogil


cdef struct entry_t:                # dirty pages of one stripe
    int64_t stripe                  # number of the stripe
    uint32_t older                  # neighbours in its array's order; 0 = none; in a free entry, the next free entry
    uint32_t newer
    int32_t pages                   # dirty pages
    int32_t left                    # outstanding operations of this step of its destage
    bint writing                    # step of its destage: 0 = reading what the parity needs, 1 = writing


cdef struct order_t:                # order of one array's stripes
    uint32_t oldest                 # 0 = no stripe
    uint32_t newest
    int32_t destages                # destages in progress


cdef struct write_cache_t:
    entry_t* entries                # entry 0 means none
    uint64_t* dirty                 # a word per data strip, a bit per page; entry e begins at e * strips
    uint64_t* old                   # the same for dirty pages whose contents on disk are known
    uint32_t* entry_of              # entry of each stripe; 0 = none
    order_t* orders                 # one per array
    int64_t strips                  # data strips of a stripe
    int64_t room                    # pages
    int64_t used                    # pages, including those being destaged
    int64_t low                     # pages above which destages begin
    int64_t high                    # pages at which each array may have `most` destages in progress
    int64_t most                    # maximum number of destages in progress in one array
    bint grouped                    # whether a destage takes all dirty strips of a stripe, or only the first
    bint renewed                    # whether a stripe that is written again moves to the end of the order
    uint32_t free                   # first free entry; 0 = no free entry below `fresh`
    uint32_t fresh                  # first entry never used


cdef inline int make_write_cache(write_cache_t* cache, Kernel owner, raid_t* raid, int64_t stripes, int64_t room) except -1:
    cache.strips = raid.members - 1
    cache.room = room
    cache.fresh = 1
    cache.entries = <entry_t*>owner.allocate(room, sizeof(entry_t))
    cache.dirty = <uint64_t*>owner.allocate((room + 1) * cache.strips, sizeof(uint64_t))
    cache.old = <uint64_t*>owner.allocate((room + 1) * cache.strips, sizeof(uint64_t))
    cache.entry_of = <uint32_t*>owner.allocate(stripes, sizeof(uint32_t))
    cache.orders = <order_t*>owner.allocate(raid.arrays, sizeof(order_t))
    return 0


cdef inline uint64_t bits(int64_t first, int64_t n) noexcept nogil:
    return (~<uint64_t>0 >> (64 - n)) << first


cdef inline int64_t clean_pages(write_cache_t* cache, raid_t* raid, int64_t page, int64_t pages) noexcept nogil:
    """Count the pages of a range that are not dirty yet and therefore need room."""
    cdef int64_t clean = 0, stripe, strip, first, n
    cdef uint32_t entry
    cdef uint64_t mask
    while pages > 0:
        stripe = quotient(page, &raid.by_stripe)
        first = page - stripe * raid.stripe
        strip = quotient(first, &raid.by_strip)
        first -= strip * raid.strip
        n = min(pages, raid.strip - first)
        entry = cache.entry_of[stripe]
        mask = bits(first, n)
        clean += n - (count_bits(cache.dirty[entry * cache.strips + strip] & mask) if entry else 0)
        page += n
        pages -= n
    return clean


cdef inline void warm_stripe(write_cache_t* cache, raid_t* raid, int64_t page, bint entry) noexcept nogil:
    """Prefetch what `write_pages` reads for a page: the number of the stripe's entry if `entry` is set, otherwise that
    entry and its dirty pages."""
    cdef int64_t stripe = quotient(page, &raid.by_stripe)
    cdef uint32_t which
    if entry:
        prefetch(&cache.entry_of[stripe])
        return
    which = cache.entry_of[stripe]
    if which:
        prefetch(&cache.entries[which])
        prefetch(&cache.dirty[which * cache.strips + quotient(page - stripe * raid.stripe, &raid.by_strip)])


cdef inline bint all_dirty(write_cache_t* cache, raid_t* raid, int64_t page, int64_t pages) noexcept nogil:
    return clean_pages(cache, raid, page, pages) == 0


cdef inline void unlink(write_cache_t* cache, order_t* order, uint32_t which) noexcept nogil:
    cdef entry_t* entry = &cache.entries[which]
    if entry.older:
        cache.entries[entry.older].newer = entry.newer
    else:
        order.oldest = entry.newer
    if entry.newer:
        cache.entries[entry.newer].older = entry.older
    else:
        order.newest = entry.older


cdef inline void link_newest(write_cache_t* cache, order_t* order, uint32_t which) noexcept nogil:
    cdef entry_t* entry = &cache.entries[which]
    entry.older = order.newest
    entry.newer = 0
    if order.newest:
        cache.entries[order.newest].newer = which
    else:
        order.oldest = which
    order.newest = which


cdef inline uint32_t new_entry(write_cache_t* cache, int64_t stripe) noexcept nogil:
    """Allocate an entry. There is always a free one: each entry in use has a page, and the numbers of entries and of
    pages are equal."""
    cdef uint32_t which = cache.free
    if which:
        cache.free = cache.entries[which].older
    else:
        which = cache.fresh
        cache.fresh += 1
    cache.entries[which].stripe = stripe
    cache.entries[which].pages = 0
    return which


cdef inline void write_pages(
    write_cache_t* cache, raid_t* raid, int64_t page, int64_t pages, uint64_t known
) noexcept nogil:
    """Make pages dirty; the caller has ensured that there is room. `known`: pages with known contents on disk."""
    cdef int64_t stripe, strip, first, n, added
    cdef uint32_t which
    cdef uint64_t mask
    cdef uint64_t* word
    cdef order_t* order
    while pages > 0:
        stripe = quotient(page, &raid.by_stripe)
        first = page - stripe * raid.stripe
        strip = quotient(first, &raid.by_strip)
        first -= strip * raid.strip
        n = min(pages, raid.strip - first)
        order = &cache.orders[array_of(raid, stripe)]
        which = cache.entry_of[stripe]
        if which == 0:
            which = cache.entry_of[stripe] = new_entry(cache, stripe)
            link_newest(cache, order, which)
        elif cache.renewed:
            unlink(cache, order, which)
            link_newest(cache, order, which)
        word = &cache.dirty[which * cache.strips + strip]
        mask = bits(first, n)
        added = n - count_bits(word[0] & mask)
        cache.old[which * cache.strips + strip] |= known << first & mask & ~word[0]
        word[0] |= mask
        cache.entries[which].pages += <int32_t>added
        cache.used += added
        page += n
        pages -= n
        known >>= n & 63


cdef inline int64_t destages_wanted(write_cache_t* cache) noexcept nogil:
    """Return how many destages an array should have in progress: proportional to the fill above `low`, rounded up."""
    if cache.used <= cache.low:
        return 0
    if cache.used >= cache.high:
        return cache.most
    return (cache.most * (cache.used - cache.low) + cache.high - cache.low - 1) // (cache.high - cache.low)


cdef inline uint32_t split_strip(write_cache_t* cache, uint32_t which) noexcept nogil:
    """Split off an entry for a stripe's first dirty strip; return `which` itself if no other strip is dirty."""
    cdef int64_t strip = 0, place = which * cache.strips, other
    cdef uint32_t taken
    cdef int32_t pages
    while cache.dirty[place + strip] == 0:
        strip += 1
    pages = count_bits(cache.dirty[place + strip])
    if pages == cache.entries[which].pages:
        return which
    taken = new_entry(cache, cache.entries[which].stripe)
    other = taken * cache.strips
    cache.dirty[other + strip], cache.old[other + strip] = cache.dirty[place + strip], cache.old[place + strip]
    cache.dirty[place + strip] = cache.old[place + strip] = 0
    cache.entries[taken].pages = pages
    cache.entries[which].pages -= pages
    return taken


cdef inline uint32_t take_oldest(write_cache_t* cache, int64_t array) noexcept nogil:
    """Detach and return the entry that an array destages next, from the oldest stripe; lookups no longer find it."""
    cdef order_t* order = &cache.orders[array]
    cdef uint32_t which = order.oldest, taken
    if not cache.grouped:
        taken = split_strip(cache, which)
        if taken != which:
            order.destages += 1
            return taken
    unlink(cache, order, which)
    cache.entry_of[cache.entries[which].stripe] = 0
    order.destages += 1
    return which


cdef inline void release(write_cache_t* cache, int64_t array, uint32_t which) noexcept nogil:
    """Free an entry whose pages are now on disk."""
    cache.used -= cache.entries[which].pages
    cache.orders[array].destages -= 1
    memset(&cache.dirty[which * cache.strips], 0, cache.strips * sizeof(uint64_t))
    memset(&cache.old[which * cache.strips], 0, cache.strips * sizeof(uint64_t))
    cache.entries[which].older = cache.free
    cache.free = which
