"""Implement the kernel of the page server and its clients; the model is defined in page_server.py."""

import numpy as np

from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport free

from misspenalty._kernel cimport SLICE, Kernel, check_signals
from misspenalty.disks.drive._drive cimport Drive, record_t, service
from misspenalty.policies._policy cimport Policy, block_t
from misspenalty.engine._engine cimport event_t, pop, queue_t, schedule, serve, server_t

cdef enum:                          # steps of a client's fetch, in order
    ASK = 0                         # the client needs a page
    LOOK_UP = 1                     # the request is at the server
    READ = 2                        # the page is read from the drive
    ANSWER = 3                      # the page leaves the server
    RECEIVE = 4                     # the client has the page
    STEPS = 5

cdef enum:                          # components of a fetch
    CLIENT = 0
    SERVER = 1
    DISK = 2
    NETWORK = 3
    COMPONENTS = 4


cdef struct costs_t:                # ns
    int64_t request_wire            # time of a request on the wire
    int64_t request_processor       # processor time for a request that the wire does not hide
    int64_t page                    # server processor time per page
    int64_t reply_wire
    int64_t reply_processor


cdef class Replay(Kernel):
    """One replay; `run` may be called only once.

    Without a cache, `given` lists hits and misses in the order of the lookups.
    """

    cdef Drive drive
    cdef Policy cache               # None = no cache
    cdef costs_t costs
    cdef queue_t queue
    cdef server_t wire, processor
    cdef int64_t ready              # time at which the drive will have finished all work given so far, ns

    def __cinit__(self, Drive drive not None, Policy cache, **costs):
        self.drive, self.cache, self.costs = drive, cache, costs
        self.uses(drive)
        if cache is not None:
            self.uses(cache)

    def __dealloc__(self):
        free(self.queue.events)

    def run(self, const int64_t[::1] first, const int64_t[::1] register, const block_t[::1] page, const int64_t[::1] lbn,
            int64_t count, const int64_t[::1] before, const uint8_t[::1] given, int64_t enough,
            int64_t[:, ::1] ns, int64_t[::1] begun, uint8_t[::1] hit):
        """Replay all clients until each has fetched `enough` pages, or all of its pages if `enough` is -1.

        Fetch k of client c has index ``first[c] + k`` in arrays of fetches, and ``first[c] + c + k`` in `before` and
        `begun`, which have one more entry for each client. `ns, begun` and `hit` are filled in.
        """
        cdef Py_ssize_t clients = register.shape[0], looked_up = 0, client, at
        cdef int64_t left = clients, done, steps = 0
        cdef int64_t now
        cdef event_t event
        cdef record_t record
        cdef Py_ssize_t[::1] fetched = np.zeros(clients, np.intp)
        with self, nogil:
            for client in range(clients):
                schedule(&self.queue, before[first[client] + client], 0, STEPS * client + ASK)
            while self.queue.size and left:
                steps += 1
                if steps % SLICE == 0:
                    check_signals()
                event = pop(&self.queue)
                now, client = event.time, event.what // STEPS
                at = first[client] + fetched[client]
                if event.what % STEPS == ASK:
                    begun[at + client] = now
                    if at == first[client + 1]:         # the client has finished
                        continue
                    done = serve(&self.wire, now, self.costs.request_wire) + self.costs.request_processor
                    ns[at, NETWORK] = done - now
                    schedule(&self.queue, done, 0, STEPS * client + LOOK_UP)
                elif event.what % STEPS == LOOK_UP:
                    done = serve(&self.processor, now, self.costs.page)
                    ns[at, SERVER] = done - now
                    hit[at] = given[looked_up] if self.cache is None else self.cache.access(page[at])
                    looked_up += 1
                    schedule(&self.queue, done, 0, STEPS * client + (ANSWER if hit[at] else READ))
                elif event.what % STEPS == READ:
                    service(&self.drive.d, max(now, self.ready), lbn[at], count, False, &record)
                    self.ready = record.done
                    ns[at, DISK] = self.ready - now
                    schedule(&self.queue, self.ready, 0, STEPS * client + ANSWER)
                elif event.what % STEPS == ANSWER:
                    done = serve(&self.wire, now, self.costs.reply_wire) + self.costs.reply_processor
                    ns[at, NETWORK] += done - now
                    schedule(&self.queue, done, 0, STEPS * client + RECEIVE)
                else:
                    ns[at, CLIENT] = register[client]
                    fetched[client] += 1
                    left -= fetched[client] == enough
                    done = now + register[client] + before[at + client + 1]
                    schedule(&self.queue, done, 0, STEPS * client + ASK)
