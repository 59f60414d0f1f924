# Count accesses to blocks approximately: a count-min sketch of four-bit counters, laid out and aged as in Caffeine.
#
# A block is identified by its number in order of first use, from 1. All its counters lie in one line of 64 bytes.

from libc.stdint cimport uint64_t, uint32_t, uintptr_t

from misspenalty.policies._policy cimport Policy
from misspenalty.traces._splitmix cimport GOLDEN, mix

cdef extern from *:
    int count_ones "__builtin_popcountll" (unsigned long long) noexcept nogil

cdef enum:
    ROWS = 4                    # number of rows of a line; a block has one counter per row
    WORDS = 8                   # number of words of a line; two per row
    LINE_BYTES = 64             # size of a line, bytes; the same as that of a line of the processor's cache
    MAX_COUNT = 15              # highest value of a counter


cdef struct Sketch:
    uint64_t* words             # words of 16 counters each
    uint64_t lines              # number of lines, a power of two
    uint64_t sample             # number of increments after which counters are halved
    uint64_t size               # number of increments since the last halving, plus what halvings left of earlier ones


cdef inline uint64_t* aligned(uint64_t* words) noexcept nogil:
    """Return the start of the first whole cache line in an array that is one line longer than needed."""
    return <uint64_t*>((<uintptr_t>words + LINE_BYTES - 1) & ~<uintptr_t>(LINE_BYTES - 1))


cdef inline uint64_t draw_of(uint32_t number) noexcept nogil:
    return mix(<uint64_t>number * <uint64_t>GOLDEN)


cdef inline uint64_t* line_of(const Sketch* sketch, uint64_t draw) noexcept nogil:
    return &sketch.words[WORDS * (draw & (sketch.lines - 1))]


cdef inline uint64_t* word_of(uint64_t* line, uint64_t draw, int row) noexcept nogil:
    return &line[2 * row + ((draw >> (48 + 5 * row)) & 1)]


cdef inline int shift_of(uint64_t draw, int row) noexcept nogil:
    return <int>((draw >> (44 + 5 * row)) & 15) * 4


cdef inline int frequency(const Sketch* sketch, uint32_t number) noexcept nogil:
    cdef uint64_t draw = draw_of(number)
    cdef uint64_t* line = line_of(sketch, draw)
    cdef int row, least = MAX_COUNT
    for row in range(ROWS):
        least = min(least, <int>((word_of(line, draw, row)[0] >> shift_of(draw, row)) & MAX_COUNT))
    return least


cdef inline void halve(Sketch* sketch) noexcept nogil:
    cdef uint64_t i, odd = 0
    for i in range(WORDS * sketch.lines):
        odd += count_ones(sketch.words[i] & <uint64_t>0x1111111111111111)
        sketch.words[i] = (sketch.words[i] >> 1) & <uint64_t>0x7777777777777777
    sketch.size = (sketch.size - odd // ROWS) >> 1


cdef inline void increment(Sketch* sketch, uint64_t draw) noexcept nogil:
    cdef uint64_t low, any_low = 0
    cdef uint64_t* line = line_of(sketch, draw)
    cdef uint64_t* word
    cdef int row, shift
    for row in range(ROWS):
        word = word_of(line, draw, row)
        shift = shift_of(draw, row)
        low = ((word[0] >> shift) & MAX_COUNT) != MAX_COUNT
        word[0] += low << shift
        any_low |= low
    sketch.size += any_low
    if sketch.size >= sketch.sample:
        halve(sketch)


cdef inline int make_sketch(Sketch* sketch, Policy policy, size_t entries, uint64_t sample) except -1:
    """Make counters for `entries` blocks; they are halved after `sample` increments."""
    cdef uint64_t lines = 1
    while WORDS * lines < entries:
        lines *= 2
    sketch.lines, sketch.sample = lines, sample
    sketch.words = aligned(<uint64_t*>policy.allocate(WORDS * (lines + 1), sizeof(uint64_t)))
    return 0
