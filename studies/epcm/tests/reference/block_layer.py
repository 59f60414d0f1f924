"""Define the lower half of the file client in readable code: frames, the request queue of Linux 2.2, and the disk."""

import heapq
from types import SimpleNamespace

from misspenalty.errors import ParameterError

AT_DISK_DONE, AT_WRITEBACK = range(2)


class Entry(SimpleNamespace):
    """A page of a file or a block of metadata, with its place on disk and its state in memory."""

    def __init__(self, lba, sectors, metadata):
        super().__init__(lba=lba, sectors=sectors, metadata=metadata)
        self.forget()

    def forget(self):
        """Mark the entry as neither in memory nor being read or written."""
        self.page = self.buffer = self.coming = self.leaving = False
        self.page_used = self.buffer_used = self.ahead = self.stored = False
        self.dirtied = self.request = None

    __hash__ = object.__hash__
    __eq__ = object.__eq__


class Request(SimpleNamespace):
    """A contiguous stretch of entries to be read or written."""

    @property
    def lba(self):
        return self.entries[0].lba

    @property
    def sectors(self):
        return sum(entry.sectors for entry in self.entries)

    @property
    def end(self):
        return self.lba + self.sectors


class BlockLayerReference:
    """The frames, the request queue and the disk; `machine` has the same entries as the kernel's."""

    def __init__(self, entries, machine, drive=None):
        self.entries, self.machine, self.drive = entries, SimpleNamespace(**machine), drive
        self.forget()

    def forget(self):
        """Empty all caches."""
        for entry in self.entries:
            entry.forget()
        self.queue, self.plugged, self.serving, self.latest = [], False, 0, 0
        self.events, self.sequence = [], 0
        self.frames = [None] * self.machine.room  # (entry, "page" or "buffer")
        self.unused = list(range(self.machine.room - 1, -1, -1))
        self.hand = 0
        self.dirty = []  # dirty entries, oldest first
        self.count_from_zero()

    def count_from_zero(self):
        """Reset the counts to zero."""
        self.counts = dict.fromkeys(("reads", "writes", "read_sectors", "write_sectors", "evictions"), 0)

    def schedule(self, time, priority, what):
        """Schedule an event that follows those with the same time and priority."""
        heapq.heappush(self.events, (time, priority, self.sequence, what))
        self.sequence += 1

    # requests

    def submit(self, entry, write, now):
        """Request that an entry be read or written."""
        self.advance(now)
        if not self.queue:
            self.plugged = True
        if write:
            entry.leaving = True
        else:
            entry.coming = True
        if not self._merge(entry, write):
            self._insert(Request(write=write, entries=[entry], demand=False))

    def _merge(self, entry, write):
        for place, request in enumerate(self.queue):
            if request.write != write or request.sectors + entry.sectors > self.machine.max_sectors:
                continue
            if request.end == entry.lba:
                request.entries.append(entry)
                entry.request = request
                after = self.queue[place + 1] if place + 1 < len(self.queue) else None
                fits = after and request.sectors + after.sectors <= self.machine.max_sectors
                if fits and after.write == write and request.end == after.lba:
                    request.entries += after.entries
                    request.demand |= after.demand
                    for other in after.entries:
                        other.request = request
                    del self.queue[place + 1]
                return True
            if entry.lba + entry.sectors == request.lba:
                request.entries.insert(0, entry)
                entry.request = request
                return True
        return False

    def _insert(self, request):
        """Insert a request into the one-way elevator: between two that enclose it, or where the sectors wrap around."""
        request.entries[0].request = request
        # The plug counts as below all sectors.
        places = [-1 if self.plugged else None, *(other.lba for other in self.queue)]
        begin = 0 if self.plugged else 1
        for i in range(begin, len(self.queue)):
            before, after = places[i], places[i + 1]
            fits = (before < request.lba, request.lba < after)
            if all(fits) if before < after else any(fits):
                self.queue.insert(i, request)
                return
        self.queue.append(request)

    def unplug(self, now):
        """Unplug the queue so that the disk starts to serve it."""
        self.advance(now)
        self.plugged = False
        self._dispatch(now)

    def _dispatch(self, now):
        while self.serving < self.machine.depth and self.queue and not self.plugged:
            urgent = [request for request in self.queue if request.demand] if self.machine.demand_first else []
            request = (urgent or self.queue)[0]
            self.queue.remove(request)
            begin = now + self.machine.host
            if self.drive:
                begin = max(begin, self.latest)
                done = self.drive.service(begin, request.lba, request.sectors, request.write)["done"]
            else:
                done = begin + self.machine.access + request.sectors * self.machine.sector
            self.latest = done
            self.serving += 1
            kind = "write" if request.write else "read"
            self.counts[f"{kind}s"] += 1
            self.counts[f"{kind}_sectors"] += request.sectors
            self.schedule(done, AT_DISK_DONE, request)

    def _complete(self, request, now):
        for entry in request.entries:
            entry.request = None
            if request.write:
                entry.leaving = False
            else:
                entry.coming = False
                if entry.metadata:
                    entry.buffer = True
                else:
                    entry.page = True
        self.serving -= 1
        self._dispatch(now)

    def step(self):
        """Process the next event; return its time."""
        time, priority, _, what = heapq.heappop(self.events)
        if priority == AT_DISK_DONE:
            self._complete(what, time)
        else:
            self.schedule(time + self.machine.interval, AT_WRITEBACK, None)
            self.write_back(time - self.machine.age, time)
        return time

    def advance(self, now):
        """Process all events that are due."""
        while self.events and self.events[0][0] <= now:
            self.step()

    def wait(self, entry, now):
        """Wait until the entry is neither being read nor written; return the time."""
        if entry.coming or entry.leaving:
            entry.request.demand = True
            self.unplug(now)
        while entry.coming or entry.leaving:
            now = max(now, self.step())
        return now

    # memory

    def hold(self, entry, kind, now):
        """Allocate a frame; return the time at which it is available."""
        while not self.unused and not self._evict():
            self.write_back(now, now)
            self.unplug(now)
            if not self.serving:
                raise ParameterError("the memory is too small for one call")
            now = max(now, self.step())
        self.frames[self.unused.pop()] = (entry, kind)
        return now

    def release(self, entry, kind):
        """Free the frame of an entry's page or buffer."""
        frame = self.frames.index((entry, kind))
        self.frames[frame] = None
        self.unused.append(frame)
        setattr(entry, kind, False)
        setattr(entry, f"{kind}_used", False)
        if kind == "page":
            entry.ahead = False

    def holds(self, entry, kind):
        """Return whether the entry has a frame for its page or buffer."""
        return (entry, kind) in self.frames

    def _evict(self):
        for _ in range(2 * self.machine.room):
            entry, kind = self.frames[self.hand]
            self.hand = (self.hand + 1) % self.machine.room
            written = entry.dirtied is not None or entry.leaving
            if entry.coming or ((kind == "buffer" or not self.machine.separate) and written):
                continue
            if getattr(entry, f"{kind}_used"):
                setattr(entry, f"{kind}_used", False)
                continue
            self.release(entry, kind)
            self.counts["evictions"] += 1
            return True
        return False

    # write-back

    def soil(self, entry, now):
        """Mark an entry dirty."""
        if entry.dirtied is None:
            entry.dirtied = now
            self.dirty.append(entry)

    def clean(self, entry):
        """Mark an entry clean."""
        if entry.dirtied is not None:
            entry.dirtied = None
            self.dirty.remove(entry)

    def write_back(self, older, now):
        """Issue the entries that became dirty by the time `older`, except those that are being read or written."""
        old = [entry for entry in self.dirty if entry.dirtied <= older and not (entry.leaving or entry.coming)]
        for entry in old:
            if entry.dirtied is not None:  # a due write-back has not issued it in the meantime
                self.clean(entry)
                self.submit(entry, True, now)
        if old:
            self.unplug(now)

    def settle(self, now):
        """Write everything back and wait until the disk is idle; return the time."""
        while self.dirty or self.queue or self.serving:
            self.write_back(now, now)
            self.unplug(now)
            now = max(now, self.step())
        self.events = []
        return now
