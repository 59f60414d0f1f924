"""Implement the kernel of CLOCK-Pro; the definition is in clockpro.py.

Each hand points to the oldest page that can be of its kind (hot, cold and resident, or in test). Pages older than that
are not of this kind, since a page becomes hot, in test or resident again only at the head. Reference bits and status
are kept apart from the list's links, so that a hit touches one byte.
"""

from libc.stdint cimport uint8_t

from misspenalty.policies._list cimport Link, append, make_list, remove
from misspenalty.policies._policy cimport AHEAD, NEAR, Policy, block_t, prefetch

cdef enum:
    OUT = 0                     # status of a page that is not in the list
    RESIDENT = 1                # the page is in the cache; a page in the list without this bit has been evicted
    HOT = 2
    TEST = 4                    # the page is in its test period
    USED = 8                    # reference bit


cdef class ClockPro(Policy):
    cdef uint8_t* status        # bits as above; one status per block
    cdef Link* links            # links of the list, oldest page first: one per block, then the head
    cdef block_t head
    cdef block_t hand_hot
    cdef block_t hand_cold
    cdef block_t hand_test
    cdef readonly Py_ssize_t hot            # number of hot pages
    cdef Py_ssize_t absent                  # number of evicted pages in the list
    cdef Py_ssize_t room                    # maximum number of evicted pages in the list
    cdef readonly Py_ssize_t cold_target    # m_c
    cdef Py_ssize_t least                   # minimum and maximum of the target
    cdef Py_ssize_t most

    def __cinit__(self, capacity, blocks, min_cold, max_cold, history):
        self.least = max(int(min_cold * capacity), 1)
        self.most = max(min(int(max_cold * capacity), capacity - self.least), self.least)
        self.cold_target = self.least
        self.room = self.ghosts(history)
        self.status = <uint8_t*>self.allocate(blocks, sizeof(uint8_t))
        self.links = <Link*>self.allocate(blocks + 1, sizeof(Link))
        self.head = self.hand_hot = self.hand_cold = self.hand_test = <block_t>blocks
        make_list(self.links, sizeof(Link), self.head)

    cdef bint holds(self, block_t block) noexcept nogil:
        return self.status[block] & RESIDENT

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        cdef uint8_t* status = self.status
        cdef Py_ssize_t i
        cdef block_t block
        for i in range(n):
            if i + AHEAD < n:
                prefetch(&status[ids[i + AHEAD]])
                if not status[ids[i + NEAR]] & RESIDENT:
                    prefetch(&self.links[ids[i + NEAR]])
            block = ids[i]
            hit[i] = status[block] & RESIDENT
            if status[block] & RESIDENT:
                status[block] |= USED
            else:
                self.load(block)

    cdef inline void load(self, block_t block) noexcept nogil:
        self.ghost_hits += self.status[block] != OUT
        if self.resident < self.capacity:
            if self.resident < self.capacity - self.least:
                self.status[block] = RESIDENT | HOT
                self.hot += 1
            else:
                self.status[block] = RESIDENT | TEST
            self.resident += 1
            self.to_head(block)
            return
        self.run_hand_cold()
        self.evictions += 1
        if self.status[block] == OUT:
            self.status[block] = RESIDENT | TEST
            self.to_head(block)
        else:
            self.promote(block)

    cdef inline void to_head(self, block_t block) noexcept nogil:
        append(self.links, sizeof(Link), self.head, block)
        if self.hand_hot == self.head:
            self.hand_hot = block
        if self.hand_cold == self.head:
            self.hand_cold = block
        if self.hand_test == self.head:
            self.hand_test = block

    cdef inline void out_of_list(self, block_t block) noexcept nogil:
        cdef block_t newer = self.links[block].newer
        if self.hand_hot == block:
            self.hand_hot = newer
        if self.hand_cold == block:
            self.hand_cold = newer
        if self.hand_test == block:
            self.hand_test = newer
        remove(self.links, sizeof(Link), block)

    cdef inline block_t step(self, block_t block) noexcept nogil:
        """Return the next newer page, and prefetch the one after it."""
        cdef block_t newer = self.links[block].newer
        prefetch(&self.links[self.links[newer].newer])
        return newer

    cdef inline void run_hand_cold(self) noexcept nogil:
        """Move HAND_cold until a page is evicted."""
        cdef block_t block
        cdef uint8_t status
        while True:
            while self.status[self.hand_cold] & (RESIDENT | HOT) != RESIDENT:
                self.hand_cold = self.step(self.hand_cold)
            block = self.hand_cold
            status = self.status[block]
            if not status & USED:
                break
            if status & TEST:
                self.promote(block)
            else:
                self.out_of_list(block)
                self.status[block] = RESIDENT | TEST
                self.to_head(block)
        if status & TEST:
            self.status[block] = TEST
            self.absent += 1
            while self.absent > self.room:
                while not self.status[self.hand_test] & TEST:
                    self.hand_test = self.step(self.hand_test)
                self.end_test(self.hand_test)
        else:
            self.status[block] = OUT
            self.out_of_list(block)

    cdef void promote(self, block_t block) noexcept nogil:
        """Make a cold page used in its test hot unless HAND_hot makes too few pages cold; move the page to the head."""
        cdef bint hot = True
        self.status[block] &= ~USED
        self.move_target(1)
        while hot and self.hot >= self.capacity - self.cold_target:
            hot = self.hot > 0 and self.status[block] & TEST and self.run_hand_hot(block)
        if self.status[block] != OUT:
            self.absent -= not self.status[block] & RESIDENT
            self.out_of_list(block)
        self.status[block] = RESIDENT | (HOT if hot else TEST)
        self.hot += hot
        self.to_head(block)
        self.end_tests_before_hot()

    cdef inline bint run_hand_hot(self, block_t candidate) noexcept nogil:
        """Make the oldest unused hot page cold; return whether the hand finds one before it reaches `candidate`."""
        cdef block_t block
        cdef bint found = False
        while self.hand_hot != candidate and not found:
            block = self.hand_hot
            if self.status[block] & HOT:
                found = not self.status[block] & USED
                self.out_of_list(block)
                self.status[block] = RESIDENT if found else RESIDENT | HOT
                self.hot -= found
                self.to_head(block)
            else:
                self.hand_hot = self.step(block)
                self.end_test(block)
        self.end_tests_before_hot()
        return found

    cdef inline void end_tests_before_hot(self) noexcept nogil:
        """Move HAND_hot on to the oldest hot page, and end the tests that it passes."""
        cdef block_t block
        while self.hot and not self.status[self.hand_hot] & HOT:
            block = self.hand_hot
            self.hand_hot = self.step(block)
            self.end_test(block)

    cdef inline void end_test(self, block_t block) noexcept nogil:
        if not self.status[block] & TEST:
            return
        self.move_target(1 if self.status[block] & USED else -1)
        self.status[block] &= ~TEST
        if not self.status[block] & RESIDENT:
            self.out_of_list(block)
            self.absent -= 1

    cdef inline void move_target(self, int step) noexcept nogil:
        self.cold_target = min(max(self.cold_target + step, self.least), self.most)
