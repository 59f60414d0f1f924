"""Turn block addresses into dense ids in order of first use.

Low addresses, many of which are likely to be used, index an array; the others are looked up in an open-addressing
table. The limit below which addresses are low grows with the tables, so memory is proportional to the number of
distinct blocks, whatever their addresses.
"""

import numpy as np

from libc.stdint cimport INT64_MAX, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc

from misspenalty._kernel cimport Kernel, check_ids, prefetch
from misspenalty._memory cimport zeroed

cdef enum:
    AHEAD = 64                  # distance at which entries are prefetched, references
    LEAST = 1 << 11             # number of addresses that the first tables have room for
    REACH = 4                   # low addresses, as a multiple of the number of addresses that the tables have room for
    MOST_BLOCKS = 0xFFFFFF00    # ids from this one on are reserved for list heads and marks


cdef struct Slot:
    uint64_t address            # block address
    uint64_t id                 # dense id + 1; 0 = free


cdef inline uint64_t _hash(uint64_t x) noexcept nogil:
    x ^= x >> 32
    x *= 0x9E3779B97F4A7C15ULL
    return x ^ (x >> 29)


cdef class Interner(Kernel):
    """A table that numbers block addresses in order of first use."""

    cdef uint32_t* low          # dense id + 1 by address; 0 = not seen
    cdef uint64_t reach         # addresses below this one are low
    cdef Slot* slots            # slots of the other addresses; at most half full
    cdef uint64_t mask          # number of slots - 1; the number is a power of two
    cdef uint64_t* addresses    # by id: block address
    cdef uint64_t size          # number of distinct addresses
    cdef uint64_t room          # number of entries that `addresses` can hold
    cdef uint64_t most          # maximum number of distinct addresses

    def __cinit__(self, uint64_t most=MOST_BLOCKS):
        self.most = most
        self._make_room(LEAST)

    def __dealloc__(self):
        free(self.low)
        free(self.slots)
        free(self.addresses)

    def __len__(self):
        return self.size

    cdef int _make_room(self, uint64_t room) except -1 nogil:
        """Build tables for `room` addresses that contain the existing ones."""
        cdef uint64_t reach = REACH * room, mask = 2 * room - 1, i
        cdef uint32_t* low = <uint32_t*>zeroed(reach, sizeof(uint32_t))
        cdef Slot* slots = <Slot*>zeroed(mask + 1, sizeof(Slot))
        cdef uint64_t* addresses = <uint64_t*>realloc(self.addresses, room * sizeof(uint64_t))
        if addresses != NULL:
            self.addresses = addresses
        if low == NULL or slots == NULL or addresses == NULL:
            free(low)
            free(slots)
            with gil:
                raise MemoryError(f"no memory for more than {self.size} distinct blocks")
        free(self.low)
        free(self.slots)
        self.low, self.reach, self.slots, self.mask, self.room = low, reach, slots, mask, room
        for i in range(self.size):
            if i + AHEAD < self.size:
                prefetch(self._place(addresses[i + AHEAD]))
            if addresses[i] < reach:
                low[addresses[i]] = <uint32_t>(i + 1)
            else:
                self._slot(addresses[i])[0] = Slot(addresses[i], i + 1)
        return 0

    cdef inline const void* _place(self, uint64_t address) noexcept nogil:
        """Return where the search for an address begins."""
        if address < self.reach:
            return &self.low[address]
        return &self.slots[_hash(address) & self.mask]

    cdef inline Slot* _slot(self, uint64_t address) noexcept nogil:
        """Return the slot of an address, or a free one for it."""
        cdef uint64_t at = _hash(address) & self.mask
        while self.slots[at].id and self.slots[at].address != address:
            at = (at + 1) & self.mask
        return &self.slots[at]

    cdef uint64_t _enter(self, uint64_t address) except 0 nogil:
        """Number an address that has no number yet; return its id + 1."""
        if self.size >= self.most:
            with gil:
                raise OverflowError(f"more than {self.most} distinct blocks")
        if self.size == self.room:
            self._make_room(2 * self.room)
        self.addresses[self.size] = address
        self.size += 1
        if address < self.reach:
            self.low[address] = <uint32_t>self.size
        else:
            self._slot(address)[0] = Slot(address, self.size)
        return self.size

    def ids(self, const uint64_t[::1] addresses):
        """Return the dense ids of `addresses`, new ones for addresses not seen before; uint32, same length."""
        result = np.empty(addresses.shape[0], np.uint32)
        cdef uint32_t[::1] out = result
        cdef Py_ssize_t i, n = addresses.shape[0]
        cdef uint64_t address, number
        with self, nogil:
            for i in range(n):
                if i + AHEAD < n:
                    prefetch(self._place(addresses[i + AHEAD]))
                address = addresses[i]
                number = self.low[address] if address < self.reach else self._slot(address).id
                if not number:
                    number = self._enter(address)
                out[i] = <uint32_t>(number - 1)
        return result

    def addresses_by_id(self):
        """Return the addresses in order of first use; uint64."""
        if not self.size:
            return np.empty(0, np.uint64)
        return np.array(<uint64_t[:self.size]>self.addresses)


def new_blocks(const uint32_t[::1] ids, uint64_t seen):
    """Return which references are the first to their block; bool, same length.

    Parameters
    ----------
    ids : uint32, shape (n,)
        Dense ids, numbered in order of first use.
    seen : int
        Number of blocks referenced before, which is the id of the next new block.
    """
    result = np.empty(ids.shape[0], np.bool_)
    cdef uint8_t[::1] out = result.view(np.uint8)
    cdef Py_ssize_t i
    cdef bint new
    with nogil:
        for i in range(ids.shape[0]):
            new = ids[i] >= seen
            seen += new
            out[i] = new
    return result


def first_sizes(const uint32_t[::1] ids, const int64_t[::1] sizes, int64_t[::1] first, uint64_t seen):
    """Enter the size of each object at its first reference, and count the references with another size.

    Parameters
    ----------
    ids : uint32, shape (n,)
        Dense ids, numbered in order of first use.
    sizes : int64, shape (n,)
        Size of the object at each reference, bytes.
    first : int64, by id
        Sizes at the first references, which are entered here.
    seen : int
        Number of objects referenced before, which is the id of the next new object.

    Returns
    -------
    seen, changes : int
        Number of objects referenced so far; number of references whose object had another size at its first reference.

    Raises
    ------
    IndexError
        An id is not below the length of `first`, or `sizes` has another length than `ids`.
    """
    cdef Py_ssize_t i, n = ids.shape[0]
    cdef uint64_t changes = 0
    check_ids(ids, first.shape[0])
    if sizes.shape[0] != n:
        raise IndexError(f"sizes has length {sizes.shape[0]}; expected {n}")
    with nogil:
        for i in range(n):
            if i + AHEAD < n:
                prefetch(&first[ids[i + AHEAD]])
            if ids[i] == seen:
                first[seen] = sizes[i]
                seen += 1
            else:
                changes += first[ids[i]] != sizes[i]
    return seen, changes


def generations(
    const uint32_t[::1] ids, const int64_t[::1] time, const int64_t[::1] life, const uint8_t[::1] write,
    int64_t[::1] ends, uint32_t[::1] generation, uint8_t[::1] alive,
):
    """Return how many lives of each reference's object have ended so far, and how many objects expired or were deleted.

    Parameters
    ----------
    ids : uint32, shape (n,)
    time, life : int64, shape (n,)
        ns; `life` is a time to live, 0 for none, -1 for a delete.
    write : uint8, shape (n,)
    ends, generation, alive : by id
        State of each object, which is updated: its last moment, how many of its lives have ended, whether it is alive.

    Returns
    -------
    number : uint32, shape (n,)
    expired, deleted : int

    Raises
    ------
    IndexError
        An id is not below the length of every state array.
    """
    result = np.empty(ids.shape[0], np.uint32)
    cdef uint32_t[::1] out = result
    cdef Py_ssize_t i
    cdef uint32_t block
    cdef int64_t expired = 0, deleted = 0
    check_ids(ids, min(ends.shape[0], generation.shape[0], alive.shape[0]))
    with nogil:
        for i in range(ids.shape[0]):
            block = ids[i]
            if life[i] < 0:
                deleted += alive[block]
                generation[block] += alive[block]
                alive[block] = 0
            else:
                if alive[block] and ends[block] < time[i]:
                    expired += 1
                    generation[block] += 1
                    alive[block] = 0
                if write[i] or not alive[block]:
                    alive[block] = 1
                    ends[block] = time[i] + life[i] if life[i] else INT64_MAX
            out[i] = generation[block]
    return result, expired, deleted
