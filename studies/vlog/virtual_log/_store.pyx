"""Implement stores, the disks that file systems see: base class, single and replayed requests, update in place."""

from libc.stdint cimport int64_t
from libc.string cimport memset

from misspenalty._kernel cimport SLICE, check_signals
from misspenalty.disks.drive._drive cimport record_t, service
from misspenalty.disks.drive._mechanics cimport Mechanics
from misspenalty_studies.vlog.virtual_log._store cimport READ, WRITE, Store, latency_t
from misspenalty.errors import ParameterError

COMPONENTS = ("other", "overhead", "locate", "transfer")
PARTS = (*COMPONENTS, "map_locate", "map_transfer")
LATEST = 2 ** 62                    # ns


cdef class Store(Kernel):
    """A disk that serves one request at a time; subclasses define how."""

    cdef int set_up(self, Mechanics mechanics, int64_t sectors, int64_t read_overhead, int64_t write_overhead) except -1:
        self.mechanics = mechanics
        self.sectors = sectors
        self.overhead[READ] = read_overhead
        self.overhead[WRITE] = write_overhead
        return 0

    cdef int64_t serve(self, int64_t now, int kind, int64_t sector, int64_t count, latency_t* spent) noexcept nogil:
        return now

    cdef void idle(self, int64_t until) noexcept nogil:
        pass

    cdef int check(self, int64_t now, int64_t sector, int64_t count) except -1:
        if count < 1 or sector < 0 or sector > self.sectors - count:
            raise ParameterError(f"sectors {sector} to {sector + count - 1}: the store has 0 to {self.sectors - 1}")
        if not self.now <= now < LATEST:
            raise ParameterError(f"a request at {now} ns; expected {self.now}, the store's time, or later, below {LATEST}")
        return 0

    cdef int check_room(self) except -1:
        if self.full:
            raise ParameterError("no room for a block: too few free sectors are next to each other; write fewer blocks")
        return 0

    def request(self, int64_t now, bint write, int64_t sector, int64_t count):
        """Serve one request and return ``(end, parts)``: its end, ns, and a dict of its time by part, ns."""
        cdef latency_t spent
        self.check(now, sector, count)
        memset(&spent, 0, sizeof(spent))
        with self, nogil:
            self.now = self.serve(now, WRITE if write else READ, sector, count, &spent)
        self.check_room()
        return self.now, dict(zip(PARTS, as_tuple(&spent)))

    def rest(self, int64_t until):
        """Let the store use the time until `until` ns, which it may exceed; return the time at which it is free."""
        if not self.now <= until < LATEST:
            raise ParameterError(f"idle until {until} ns; expected {self.now}, the store's time, or later, below {LATEST}")
        with self, nogil:
            self.idle(until)
            self.now = max(self.now, until)
        self.check_room()
        return self.now

    def replay(self, const int64_t[::1] sector, const int64_t[::1] count, const int64_t[::1] host, Py_ssize_t warm_up):
        """Write synchronously, one request after another.

        Parameters
        ----------
        sector, count : int64, shape (n,)
            First sector and number of sectors of each write.
        host : int64, shape (1,) or (n,)
            Host processing before each write, ns.
        warm_up : int
            Number of requests at the start that are not counted, less than n.

        Returns
        -------
        dict of str to int
            Time of the counted requests by part, ns, and ``total``, by the clock.
        """
        cdef Py_ssize_t i, n = sector.shape[0], step = 1 if host.shape[0] > 1 else 0
        cdef int64_t now = self.now, counted = self.now
        cdef latency_t spent
        if count.shape[0] != n or host.shape[0] not in (1, n):
            raise ParameterError(f"{n} sectors, {count.shape[0]} counts, {host.shape[0]} host times")
        for i in range(n):
            self.check(self.now + host[step * i], sector[i], count[i])
        memset(&spent, 0, sizeof(spent))
        with self, nogil:
            for i in range(n):
                if i % SLICE == SLICE - 1:
                    self.now = now                  # Ctrl-C leaves the store at the time that it has reached
                    check_signals()
                if i == warm_up:
                    memset(&spent, 0, sizeof(spent))
                    counted = now
                spent.other += host[step * i]
                now = self.serve(now + host[step * i], WRITE, sector[i], count[i], &spent)
            self.now = now
        self.check_room()
        return {**dict(zip(PARTS, as_tuple(&spent))), "total": now - counted}


cdef as_tuple(latency_t* spent):
    return (spent.other, spent.overhead, spent.locate, spent.transfer, spent.map_locate, spent.map_transfer)


cdef class InPlace(Store):
    """A drive that keeps every block at its address."""

    def __cinit__(self, Drive drive not None, Mechanics mechanics not None, sectors):
        self.set_up(mechanics, sectors, 0, 0)  # the drive adds its own overheads
        self.drive = drive
        self.uses(drive)
        self.now = drive.d.now

    cdef int64_t serve(self, int64_t now, int kind, int64_t sector, int64_t count, latency_t* spent) noexcept nogil:
        cdef record_t record
        service(&self.drive.d, now, sector, count, kind == WRITE, &record)
        spent.overhead += record.overhead
        spent.locate += record.seek + record.rotation + record.switches
        spent.transfer += record.transfer + record.bus + record.cache
        return record.done
