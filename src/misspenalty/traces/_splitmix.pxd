# SplitMix64: state += GOLDEN, then mix(state) is the draw; mix alone is a good hash of 64 bits.

from libc.stdint cimport uint64_t

cdef enum:
    GOLDEN = 0x9E3779B97F4A7C15


cdef inline uint64_t mix(uint64_t z) noexcept nogil:
    z = (z ^ (z >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t>0x94D049BB133111EB
    return z ^ (z >> 31)
