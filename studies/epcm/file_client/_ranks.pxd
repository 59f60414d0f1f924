# Define a set of small numbers. The greatest member below a given number is found in a few steps: the lowest level has
# one bit per number, and each higher level has one bit per word of the level below, set if that word is not zero, up to
# a single word.

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memset

from misspenalty._kernel cimport Kernel

cdef extern from *:
    int leading_zeros "__builtin_clzll" (unsigned long long) noexcept nogil

cdef enum:
    MOST_LEVELS = 6                 # enough for 2**36 numbers, with 64 bits per word


cdef struct ranks_t:
    uint64_t* words[MOST_LEVELS]    # level 0 holds the numbers themselves
    size_t sizes[MOST_LEVELS]       # number of words of each level
    int levels


cdef inline int make_ranks(ranks_t* s, Kernel owner, size_t n) except -1:
    """Make an empty set of numbers below n, in arrays of `owner`."""
    while s.levels == 0 or s.sizes[s.levels - 1] > 1:
        n = n // 64 + 1
        s.words[s.levels] = <uint64_t*>owner.allocate(n, sizeof(uint64_t))
        s.sizes[s.levels] = n
        s.levels += 1
    return 0


cdef inline void clear_ranks(ranks_t* s) noexcept nogil:
    cdef int level
    for level in range(s.levels):
        memset(s.words[level], 0, s.sizes[level] * sizeof(uint64_t))


cdef inline void add_rank(ranks_t* s, size_t i) noexcept nogil:
    cdef int level
    for level in range(s.levels):
        s.words[level][i // 64] |= <uint64_t>1 << (i % 64)
        i //= 64


cdef inline void drop_rank(ranks_t* s, size_t i) noexcept nogil:
    cdef int level
    for level in range(s.levels):
        s.words[level][i // 64] &= ~(<uint64_t>1 << (i % 64))
        if s.words[level][i // 64]:
            return
        i //= 64


cdef inline int64_t highest(const ranks_t* s, int level, size_t word, uint64_t bits) noexcept nogil:
    """Return the greatest number in the subtree of the highest bit set in `bits`, taken from word `word` of `level`."""
    cdef size_t i = 64 * word + 63 - leading_zeros(bits)
    while level > 0:
        level -= 1
        i = 64 * i + 63 - leading_zeros(s.words[level][i])
    return <int64_t>i


cdef inline int64_t below(const ranks_t* s, size_t i) noexcept nogil:
    """Return the greatest member below i; -1 = there is none."""
    cdef int level
    cdef uint64_t bits
    for level in range(s.levels):
        bits = s.words[level][i // 64] & ((<uint64_t>1 << (i % 64)) - 1)
        if bits:
            return highest(s, level, i // 64, bits)
        i //= 64
    return -1
