# RAID-5 arrays: where a page is stored, and which disk operations destage the dirty pages of a stripe.
#
# A stripe is one strip on each drive of an array, one of them parity. Stripes are dealt out to the arrays `unit` at a
# time. The parity rotates as in the left-symmetric layout: it moves one drive to the left per stripe, and the data
# strips start on the drive to its right, so that `members` consecutive data strips of an array are on different drives.

from libc.stdint cimport int32_t, int64_t, uint64_t

from misspenalty._divide cimport divisor, divisor_t, quotient, remainder

cdef extern from *:
    int lowest_bit "__builtin_ctzll" (unsigned long long) noexcept nogil
    int leading_zeros "__builtin_clzll" (unsigned long long) noexcept nogil

cdef enum:
    PAGE_SECTORS = 8                # sectors of a page: pages of 4 KB, sectors of 512 bytes
    MOST_MEMBERS = 16               # maximum number of drives of an array


cdef struct raid_t:
    int64_t arrays                  # arrays
    int64_t members                 # drives of an array, including parity but not spares
    int64_t strip                   # consecutive pages on one drive
    int64_t stripe                  # data pages of a stripe
    int64_t unit                    # consecutive stripes on one array
    divisor_t by_arrays, by_members, by_strip, by_stripe, by_unit
    divisor_t by_round              # consecutive stripes from one turn of an array to its next


cdef struct piece_t:
    int64_t lbn                     # first sector
    int32_t drive                   # number among all drives
    int32_t pages                   # length


cdef struct plan_t:
    piece_t[MOST_MEMBERS] reads     # done first: old data and parity, or the other data that the parity covers
    piece_t[MOST_MEMBERS] writes    # done next: the dirty strips and the parity
    int32_t n_reads                 # 0 = all data that the written parity covers are known
    int32_t n_writes                # at least 2


cdef inline void make_divisors(raid_t* raid) noexcept nogil:
    """Fill in the divisors of a layout."""
    raid.by_arrays, raid.by_members = divisor(raid.arrays), divisor(raid.members)
    raid.by_strip, raid.by_stripe = divisor(raid.strip), divisor(raid.stripe)
    raid.by_unit, raid.by_round = divisor(raid.unit), divisor(raid.unit * raid.arrays)


cdef inline int64_t array_of(const raid_t* raid, int64_t stripe) noexcept nogil:
    return remainder(quotient(stripe, &raid.by_unit), &raid.by_arrays)


cdef inline int64_t row_of(raid_t* raid, int64_t stripe) noexcept nogil:
    """Return the stripe's place on its array."""
    return quotient(stripe, &raid.by_round) * raid.unit + remainder(stripe, &raid.by_unit)


cdef inline piece_t piece(raid_t* raid, int64_t stripe, int64_t strip, int64_t first, int64_t last) noexcept nogil:
    """Return pages `first` up to `last` (excluded) of a strip; strip `members` - 1 is the parity."""
    cdef piece_t found
    cdef int64_t row = row_of(raid, stripe)
    cdef int64_t parity = raid.members - 1 - remainder(row, &raid.by_members)
    cdef int64_t member = parity + 1 + strip
    if member >= raid.members:
        member -= raid.members
    found.drive = <int32_t>(array_of(raid, stripe) * raid.members + member)
    found.lbn = (row * raid.strip + first) * PAGE_SECTORS
    found.pages = <int32_t>(last - first)
    return found


cdef inline piece_t next_piece(raid_t* raid, int64_t page, int64_t pages) noexcept nogil:
    """Return the part of a range up to the end of the strip in which the range begins."""
    cdef int64_t stripe = quotient(page, &raid.by_stripe)
    cdef int64_t within = page - stripe * raid.stripe
    cdef int64_t strip = quotient(within, &raid.by_strip)
    cdef int64_t first = within - strip * raid.strip
    return piece(raid, stripe, strip, first, min(first + pages, raid.strip))


cdef inline void plan_destage(
    raid_t* raid, int64_t stripe, const uint64_t* dirty, const uint64_t* old, const uint64_t* held, plan_t* plan
) noexcept nogil:
    """Choose the disk operations of a destage.

    `dirty`, `old` and `held` have a word per data strip and a bit per page. The on-disk contents of `old` pages and the
    current contents of `held` pages are known without a read. The new parity is computed either from the old one, by
    reading the parity and each dirty strip whose old contents are not known, or from all data, by reading the range
    from the lowest to the highest dirty place in each strip whose contents there are not fully known. The way with
    fewer reads is chosen; on a tie, the first. If nothing is known and there are at least three data strips, a single
    dirty strip takes the four operations of a small write; if everything is known, nothing is read.
    """
    cdef int64_t data = raid.members - 1
    cdef int64_t low = raid.strip, high = 0, known = 0, changed = 0, i
    cdef uint64_t extent
    for i in range(data):
        if dirty[i]:
            changed += (dirty[i] & ~old[i]) != 0
            low = min(low, <int64_t>lowest_bit(dirty[i]))
            high = max(high, <int64_t>(64 - leading_zeros(dirty[i])))
    extent = (~<uint64_t>0 >> (64 - (high - low))) << low
    for i in range(data):
        known += ((dirty[i] | held[i]) & extent) == extent
    plan.n_reads = plan.n_writes = 0
    for i in range(data):
        if data - known <= changed:
            if ((dirty[i] | held[i]) & extent) != extent:
                plan.reads[plan.n_reads] = piece(raid, stripe, i, low, high)
                plan.n_reads += 1
        elif dirty[i] & ~old[i]:
            plan.reads[plan.n_reads] = piece(raid, stripe, i, lowest_bit(dirty[i]), 64 - leading_zeros(dirty[i]))
            plan.n_reads += 1
        if dirty[i]:
            plan.writes[plan.n_writes] = piece(raid, stripe, i, lowest_bit(dirty[i]), 64 - leading_zeros(dirty[i]))
            plan.n_writes += 1
    if data - known > changed:
        plan.reads[plan.n_reads] = piece(raid, stripe, data, low, high)
        plan.n_reads += 1
    plan.writes[plan.n_writes] = piece(raid, stripe, data, low, high)
    plan.n_writes += 1
