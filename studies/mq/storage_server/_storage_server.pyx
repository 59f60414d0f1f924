"""Implement the kernel of the closed-loop storage server; the model is defined in server.py.

The kernel has events only where streams of requests meet: at the storage servers' processors and at the database's
link. An FCFS station fed by only one other (a disk by a processor, the database processors by the link) receives the
requests in order, so its times are computed without an event; the reference model in the tests has an event at every
station. `run` is given the outcomes in the trace's order; `run_live` obtains each outcome from a cache when the request
arrives.
"""

import numpy as np

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memset

from misspenalty._kernel cimport SLICE, Kernel, check_signals
from misspenalty.policies._policy cimport Policy, block_t
from misspenalty.engine._engine cimport (
    done_by, event_t, make_event, pop, priority_of, push, queue_t, replace_first, reserve, sequence_of, serve, server_t,
)

cdef enum:                          # outcome of a reference
    HIT = 0
    MISS = 1
    WRITE = 2

cdef enum:                          # kinds of event, in their order at equal times
    AT_DISK_DONE = 0                # a disk has finished; sequence number = reference
    AT_WRITE = 1                    # a written block reaches its server; sequence number = reference
    AT_REQUEST = 2                  # a terminal's read request reaches the servers; sequence number = terminal
    AT_LINK = 3                     # a block for a terminal reaches the link; sequence number = reference

cdef enum:                          # components of a latency
    DATABASE_QUEUE = 0
    DATABASE_CPU = 1
    NETWORK_QUEUE = 2
    NETWORK = 3
    SERVER_QUEUE = 4
    SERVER_CPU = 5
    DISK_QUEUE = 6
    DISK = 7
    COMPONENTS = 8

cdef enum:                          # classes of servers; `done` has one entry for each
    ALL_CPU = 0                     # database processors
    ALL_SERVERS = 1                 # storage servers' processors
    ALL_DISKS = 2
    REPLIES = 3                     # link towards the database
    SENDS = 4                       # link from the database
    CLASSES = 5

cdef enum:
    CREDIT = 1 << 20                # one read, in the fixed-point arithmetic that spreads reads over transactions


cdef struct machine_t:
    int64_t message                 # one-way latency of a message, ns
    int64_t request                 # server processor time per request, including the interrupt, ns
    int64_t interrupt               # server processor time when a disk finishes, ns
    int64_t transfer                # time of one block over a link, ns
    int64_t reply                   # time from the end of a reply's transfer until the database continues, ns
    int64_t burst                   # database processor time after each read, ns
    int64_t think                   # time between transactions, ns
    int64_t reads                   # reads per transaction, in units of 1 / CREDIT
    int64_t write_through           # 1 = written blocks go to disk


cdef struct terminal_t:
    int64_t left                    # reads left in its transaction, including the current one
    int64_t outcome                 # outcome of the current read; -1 = none
    int64_t next                    # in a live run, the next reference of its stretch
    int64_t[COMPONENTS] read        # components of the current read, ns
    int64_t[COMPONENTS] transaction # components of its transaction's completed reads, ns


cdef class Server(Kernel):
    """One run: call `run` or `run_live` once, then read the results."""

    cdef machine_t machine
    cdef queue_t queue
    cdef terminal_t* terminals
    cdef server_t* servers          # database processors, storage servers, disks, link in, link out
    cdef uint8_t[256] server_of_disk  # index of each disk's storage server
    cdef server_t* first[CLASSES + 1] # first server of each class; the last entry marks the end
    cdef Py_ssize_t[CLASSES] number # servers in each class
    cdef int64_t credit             # reads not yet assigned to a transaction, in units of 1 / CREDIT
    cdef readonly int64_t cursor    # references taken from the trace so far
    cdef int64_t dealt              # in a live run, references dealt to the terminals in stretches
    cdef readonly int64_t begin     # when the measurement began, ns; -1 = warming up
    cdef readonly int64_t end       # when the measurement ended, ns; -1 = not yet
    cdef bint measuring
    cdef readonly int64_t transactions  # completed; this and the counters below cover only the measurement
    cdef readonly int64_t writes    # writes sent
    cdef int64_t[2] _reads          # completed reads: hits, misses
    cdef int64_t[3][COMPONENTS] _spent  # components of hits, misses and completed transactions, ns
    cdef int64_t[CLASSES] _done     # service time during the measurement, ns

    def __cinit__(self, terminals, processors, servers, disks, **machine):
        self.machine = machine
        for kind in range(256):
            self.server_of_disk[kind] = kind % servers
        for kind, count in enumerate((processors, servers, disks, 1, 1)):
            self.number[kind] = count
        self.terminals = <terminal_t*>self.allocate(terminals, sizeof(terminal_t))
        self.servers = <server_t*>self.allocate(processors + servers + disks + 2, sizeof(server_t))
        self.first[0] = self.servers
        for kind in range(CLASSES):
            self.first[kind + 1] = self.first[kind] + self.number[kind]
        self.begin = self.end = -1
        reserve(&self.queue, 2 * terminals)
        for terminal in range(terminals):
            self.terminals[terminal].outcome = -1
            push(&self.queue, make_event(self.machine.message, AT_REQUEST, terminal, terminal))

    def __dealloc__(self):
        free(self.queue.events)

    def run(self, const uint8_t[::1] outcome, const uint8_t[::1] disk, const uint32_t[::1] access, int64_t warm_up):
        """Simulate until no read is left; `access` is the disks' service time, one for all or one per reference, ns."""
        cdef Py_ssize_t step = 1 if access.shape[0] > 1 else 0
        with self, nogil:
            self.replay(&outcome[0], &disk[0], &access[0], step, outcome.shape[0], warm_up)

    def run_live(self, Policy cache not None, const block_t[::1] ids, uint8_t[::1] outcome, const uint8_t[::1] disk,
                 const uint32_t[::1] access, int64_t warm_up):
        """Simulate until every reference is served; `outcome` marks the writes, and is filled in for the reads."""
        cdef Py_ssize_t step = 1 if access.shape[0] > 1 else 0
        with self, cache, nogil:
            self.serve_live(cache, &ids[0], &outcome[0], &disk[0], &access[0], step, outcome.shape[0], warm_up)

    @property
    def reads(self):
        """Completed reads as (hits, misses)."""
        return self._reads[HIT], self._reads[MISS]

    @property
    def spent(self):
        """Components of hits, misses and completed transactions, int64, shape (3, 8), ns."""
        return np.array([[self._spent[row][column] for column in range(COMPONENTS)] for row in range(3)])

    @property
    def done(self):
        """Service time of database processors, servers, disks, link in and link out during the measurement, ns."""
        return [self._done[kind] for kind in range(CLASSES)]

    cdef int replay(self, const uint8_t* outcome, const uint8_t* disk, const uint32_t* access, Py_ssize_t step,
                    int64_t n, int64_t warm_up) except -1 nogil:
        cdef event_t event
        cdef uint64_t kind
        cdef int64_t reference, steps = 0
        while True:
            steps += 1
            if steps % SLICE == 0:
                check_signals()
            event = self.queue.events[0]
            kind = priority_of(event)
            if kind == AT_REQUEST:
                self.finish_read(&self.terminals[event.what])
                reference = self.cursor
                while reference < n and outcome[reference] == WRITE:
                    reference += 1
                if reference == n:
                    self.measure(event.time)
                    return 0
                self.take_read(event, reference, outcome[reference], disk[reference], access[step * reference])
                while self.cursor < reference:
                    self.send_write(event.time, self.cursor, self.machine.message)
                self.cursor += 1
                if self.begin < 0 and self.cursor >= warm_up:
                    self.start(event.time)
            elif kind == AT_LINK:
                self.deliver(event)
            elif kind == AT_DISK_DONE:
                self.leave_disk(event, disk[sequence_of(event)])
            else:
                reference = sequence_of(event)
                self.store(event, disk[reference], access[step * reference])

    cdef int serve_live(self, Policy cache, const block_t* ids, uint8_t* outcome, const uint8_t* disk,
                        const uint32_t* access, Py_ssize_t step, int64_t n, int64_t warm_up) except -1 nogil:
        cdef event_t event
        cdef terminal_t* terminal
        cdef uint64_t kind
        cdef int64_t reference, steps = 0
        while self.queue.size:
            steps += 1
            if steps % SLICE == 0:
                check_signals()
            event = self.queue.events[0]
            kind = priority_of(event)
            if kind == AT_REQUEST:
                terminal = &self.terminals[event.what]
                if self.finish_read(terminal):
                    self.deal(terminal, outcome, n)
                reference = terminal.next
                if reference == n or outcome[reference] == WRITE:
                    self.pass_writes(event, outcome, n)
                    continue
                outcome[reference] = HIT if cache.access(ids[reference]) else MISS
                self.take_read(event, reference, outcome[reference], disk[reference], access[step * reference])
                terminal.next += 1
                self.cursor += 1
                if self.begin < 0 and self.end < 0 and self.cursor >= warm_up:
                    self.start(event.time)
            elif kind == AT_LINK:
                self.deliver(event)
            elif kind == AT_DISK_DONE:
                self.leave_disk(event, disk[sequence_of(event)])
            else:
                reference = sequence_of(event)
                cache.access(ids[reference])
                self.store(event, disk[reference], access[step * reference])
        return 0

    cdef inline void deal(self, terminal_t* terminal, const uint8_t* outcome, int64_t n) noexcept nogil:
        """Assign the terminal the next stretch of the trace, which has the reads of its next transaction."""
        cdef int64_t reads = terminal.left
        terminal.next = self.dealt
        while reads > 0 and self.dealt < n:
            reads -= outcome[self.dealt] != WRITE
            self.dealt += 1

    cdef int pass_writes(self, event_t event, const uint8_t* outcome, int64_t n) except -1 nogil:
        """Send the writes before a terminal's next read, then its request; if no read is left, stop the terminal."""
        cdef terminal_t* terminal = &self.terminals[event.what]
        cdef int64_t arrival = event.time
        pop(&self.queue)
        while terminal.next < n and outcome[terminal.next] == WRITE:
            arrival = self.send_write(event.time, terminal.next, 0)
            terminal.next += 1
        if terminal.next < n:
            terminal.read[NETWORK_QUEUE] = arrival - event.time
            push(&self.queue, make_event(arrival, AT_REQUEST, event.what, event.what))
        elif self.end < 0:
            self.measure(event.time)
        return 0

    cdef inline void take_read(self, event_t event, int64_t reference, uint8_t outcome, uint8_t disk,
                               int64_t access) noexcept nogil:
        """Serve a read request at its server's processor and, on a miss, at the disk."""
        cdef terminal_t* terminal = &self.terminals[event.what]
        cdef int64_t done = serve(self.server_of(disk), event.time, self.machine.request)
        terminal.outcome = outcome
        terminal.read[NETWORK] = self.machine.message
        terminal.read[SERVER_QUEUE] = done - self.machine.request - event.time
        terminal.read[SERVER_CPU] = self.machine.request
        if outcome == HIT:
            terminal.read[DISK_QUEUE] = terminal.read[DISK] = 0
            replace_first(&self.queue, make_event(done, AT_LINK, reference, event.what))
            return
        terminal.read[DISK] = access
        terminal.read[DISK_QUEUE] = -access - done
        done = serve(self.first[ALL_DISKS] + disk, done, access)
        terminal.read[DISK_QUEUE] += done
        replace_first(&self.queue, make_event(done, AT_DISK_DONE, reference, event.what))

    cdef inline void leave_disk(self, event_t event, uint8_t disk) noexcept nogil:
        """Handle the interrupt of a disk that has finished, then reply; a write (terminal -1) gets no reply."""
        cdef int64_t done = serve(self.server_of(disk), event.time, self.machine.interrupt)
        if event.what < 0:
            pop(&self.queue)
            return
        cdef terminal_t* terminal = &self.terminals[event.what]
        terminal.read[SERVER_QUEUE] += done - self.machine.interrupt - event.time
        terminal.read[SERVER_CPU] += self.machine.interrupt
        replace_first(&self.queue, make_event(done, AT_LINK, sequence_of(event), event.what))

    cdef inline void deliver(self, event_t event) noexcept nogil:
        """Send the block over the link; the terminal then computes on it and requests its next block."""
        cdef terminal_t* terminal = &self.terminals[event.what]
        cdef int64_t done = serve(self.first[REPLIES], event.time, self.machine.transfer), resumed
        terminal.read[NETWORK_QUEUE] += done - self.machine.transfer - event.time
        terminal.read[NETWORK] += self.machine.transfer + self.machine.reply
        resumed = done + self.machine.reply
        done = serve(self.free_processor(), resumed, self.machine.burst)
        terminal.read[DATABASE_QUEUE] = done - self.machine.burst - resumed
        terminal.read[DATABASE_CPU] = self.machine.burst
        done += self.machine.message + (self.machine.think if terminal.left == 1 else 0)
        replace_first(&self.queue, make_event(done, AT_REQUEST, event.what, event.what))

    cdef inline int64_t send_write(self, int64_t now, int64_t reference, int64_t message) except -1 nogil:
        """Send a written block and return the time at which it reaches its server."""
        cdef int64_t arrival = serve(self.first[SENDS], now, self.machine.transfer) + message
        push(&self.queue, make_event(arrival, AT_WRITE, reference, -1))
        self.cursor += 1
        self.writes += self.measuring
        return arrival

    cdef inline void store(self, event_t event, uint8_t disk, int64_t access) noexcept nogil:
        """Serve a written block at its server's processor and, if writes go to disk, at the disk."""
        cdef int64_t done = serve(self.server_of(disk), event.time, self.machine.request)
        if not self.machine.write_through:
            pop(&self.queue)
            return
        done = serve(self.first[ALL_DISKS] + disk, done, access)
        replace_first(&self.queue, make_event(done, AT_DISK_DONE, sequence_of(event), -1))

    cdef inline bint finish_read(self, terminal_t* terminal) noexcept nogil:
        """Count a finished read and the transaction that it completes, if any; return whether a transaction begins."""
        cdef int i
        if terminal.outcome >= 0:
            for i in range(COMPONENTS):
                terminal.transaction[i] += terminal.read[i]
            if self.measuring:
                self._reads[terminal.outcome] += 1
                for i in range(COMPONENTS):
                    self._spent[terminal.outcome][i] += terminal.read[i]
            terminal.left -= 1
            if terminal.left == 0 and self.measuring:
                self.transactions += 1
                for i in range(COMPONENTS):
                    self._spent[2][i] += terminal.transaction[i]
            terminal.outcome = -1
            terminal.read[NETWORK_QUEUE] = 0
        if terminal.left > 0:
            return False
        memset(&terminal.transaction[0], 0, COMPONENTS * sizeof(int64_t))
        self.credit += self.machine.reads
        terminal.left = self.credit // CREDIT
        self.credit %= CREDIT
        return True

    cdef inline server_t* server_of(self, uint8_t disk) noexcept nogil:
        return self.first[ALL_SERVERS] + self.server_of_disk[disk]

    cdef inline server_t* free_processor(self) noexcept nogil:
        """Return the database processor that becomes free first; on a tie, the one with the lowest number."""
        cdef server_t* best = self.first[ALL_CPU]
        cdef Py_ssize_t i
        for i in range(1, self.number[ALL_CPU]):
            if self.first[ALL_CPU][i].free < best.free:
                best = self.first[ALL_CPU] + i
        return best

    cdef void start(self, int64_t now) noexcept nogil:
        self.begin = now
        self.measuring = True
        self.account(now, -1)

    cdef void measure(self, int64_t now) noexcept nogil:
        self.end = now
        self.measuring = False
        self.account(now, 1)

    cdef void account(self, int64_t now, int64_t sign) noexcept nogil:
        cdef int kind
        cdef server_t* server
        cdef Py_ssize_t i
        for kind in range(CLASSES):
            for i in range(self.number[kind]):
                self._done[kind] += sign * done_by(self.first[kind] + i, now)
