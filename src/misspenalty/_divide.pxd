# Divide by a number that is fixed for a run, using a multiplication; a 64-bit division would take 20 to 40 cycles.
#
# The quotient is exact if x * n < 2**64, or if n is a power of two.

from libc.stdint cimport int64_t, uint64_t

cdef extern from *:
    """
    static inline int64_t misspenalty_divide(int64_t x, uint64_t reciprocal) {
        return (int64_t)(((unsigned __int128)(uint64_t)x * reciprocal) >> 64);
    }
    """
    # Return x // n for x >= 0 and n > 1; `reciprocal` is 2**64 / n, rounded up.
    int64_t divide "misspenalty_divide" (int64_t x, uint64_t reciprocal) noexcept nogil


cdef struct divisor_t:
    int64_t n                       # the divisor, at least 1
    uint64_t reciprocal             # 2**64 / n, rounded up; it wraps to 0 for n = 1


cdef inline divisor_t divisor(int64_t n) noexcept nogil:
    cdef divisor_t made
    made.n = n
    made.reciprocal = <uint64_t>-1 // <uint64_t>n + 1
    return made


cdef inline int64_t quotient(int64_t x, const divisor_t* by) noexcept nogil:
    """Return x // n for x >= 0."""
    return divide(x, by.reciprocal) if by.reciprocal else x


cdef inline int64_t remainder(int64_t x, const divisor_t* by) noexcept nogil:
    """Return x % n for x >= 0."""
    return x - quotient(x, by) * by.n
