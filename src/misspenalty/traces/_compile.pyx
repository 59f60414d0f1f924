"""Kernel: block addresses to dense ids in order of first use."""

import numpy as np

from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc

cdef extern from *:
    void __builtin_prefetch(const void*) noexcept nogil

cdef enum:
    AHEAD = 16                  # addresses whose slot is fetched before it is needed
    MOST_BLOCKS = 0xFFFFFF00    # ids above are kept for list heads and marks


cdef struct Slot:
    uint64_t address            # block address
    uint64_t id                 # dense id + 1; 0 = free


cdef inline uint64_t _hash(uint64_t x) noexcept nogil:
    x ^= x >> 32
    x *= 0x9E3779B97F4A7C15ULL
    return x ^ (x >> 29)


cdef class Interner:
    """Open-addressing table from block address to dense id."""

    cdef Slot* slots
    cdef uint64_t mask          # slots - 1; a power of two, at most half full
    cdef uint64_t* addresses    # by id
    cdef uint64_t size          # distinct addresses
    cdef uint64_t room          # entries `addresses` can hold

    def __cinit__(self):
        self.mask = (1 << 12) - 1
        self.room = 1 << 11
        self.slots = <Slot*>calloc(self.mask + 1, sizeof(Slot))
        self.addresses = <uint64_t*>realloc(NULL, self.room * sizeof(uint64_t))
        if self.slots == NULL or self.addresses == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.slots)
        free(self.addresses)

    def __len__(self):
        return self.size

    cdef int _grow(self) except -1 nogil:
        cdef uint64_t mask = 2 * self.mask + 1, i, at
        cdef Slot* slots = <Slot*>calloc(mask + 1, sizeof(Slot))
        cdef uint64_t* addresses = <uint64_t*>realloc(self.addresses, 2 * self.room * sizeof(uint64_t))
        if addresses != NULL:
            self.addresses = addresses
            self.room *= 2
        if slots == NULL or addresses == NULL:
            free(slots)
            with gil:
                raise MemoryError(f"no memory for more than {self.size} distinct blocks")
        for i in range(self.size):
            at = _hash(addresses[i]) & mask
            while slots[at].id:
                at = (at + 1) & mask
            slots[at].address = addresses[i]
            slots[at].id = i + 1
        free(self.slots)
        self.slots = slots
        self.mask = mask
        return 0

    def ids(self, const uint64_t[::1] addresses):
        """Dense ids of `addresses`, new ones for addresses not seen before; uint32, same length."""
        result = np.empty(addresses.shape[0], np.uint32)
        cdef uint32_t[::1] out = result
        cdef Py_ssize_t i, n = addresses.shape[0]
        cdef uint64_t at, address
        with nogil:
            for i in range(n):
                if i + AHEAD < n:
                    __builtin_prefetch(&self.slots[_hash(addresses[i + AHEAD]) & self.mask])
                address = addresses[i]
                at = _hash(address) & self.mask
                while self.slots[at].id and self.slots[at].address != address:
                    at = (at + 1) & self.mask
                if not self.slots[at].id:
                    if self.size >= MOST_BLOCKS:
                        with gil:
                            raise OverflowError(f"more than {MOST_BLOCKS} distinct blocks")
                    self.addresses[self.size] = address
                    self.size += 1
                    self.slots[at].address = address
                    self.slots[at].id = self.size
                    out[i] = <uint32_t>(self.size - 1)
                    if self.size == self.room:
                        self._grow()
                else:
                    out[i] = <uint32_t>(self.slots[at].id - 1)
        return result

    def addresses_by_id(self):
        """Addresses in order of first use; uint64."""
        result = np.empty(self.size, np.uint64)
        cdef uint64_t[::1] out = result
        cdef uint64_t i
        for i in range(self.size):
            out[i] = self.addresses[i]
        return result
