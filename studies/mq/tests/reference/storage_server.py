"""Simulate the closed-loop storage server in slow, readable code, with a queue and events at every station.

It implements the description in `misspenalty_studies.mq.storage_server.server` as processes that wait for each other,
with Python's heapq and no code of the kernel; tests compare the two.
"""

import heapq
import itertools
from collections import Counter, deque

from misspenalty_studies.mq.storage_server.server import (
    COMPONENTS,
    CREDIT,
    HIT,
    MISS,
    STATIONS,
    WRITE,
    ClosedLoopResult,
    LiveResult,
    disk_times,
)

# Kinds of events, in the order in which simultaneous events occur. Completions come first, so that the next arrivals
# are in order.
COMPLETION, AT_DISK_DONE, AT_WRITE, AT_REQUEST, AT_LINK = range(5)


class Station:
    """Servers with one FCFS queue."""

    def __init__(self, reference, servers):
        self.reference, self.idle, self.servers = reference, servers, servers
        self.queue = deque()
        self.periods = []  # periods in which a server worked, as (begin, end)

    def arrive(self, process, service):
        """Queue `process` for service; once it is served, it resumes with the time that it waited."""
        self.queue.append((self.reference.now, process, service))
        self.start()

    def start(self):
        """Serve the head of the queue if a server is idle."""
        if self.idle and self.queue:
            arrived, process, service = self.queue.popleft()
            self.idle -= 1
            now = self.reference.now
            self.periods.append((now, now + service))
            self.reference.at(now + service, COMPLETION, None, lambda: self.complete(process, now - arrived))

    def complete(self, process, waited):
        """Release the server, start the next process, and resume this one."""
        self.idle += 1
        self.start()
        self.reference.resume(process, waited)

    def utilisation(self, begin, end):
        """Return the mean share of the time in which the servers work."""
        worked = sum(max(0, min(stop, end) - max(start, begin)) for start, stop in self.periods)
        return worked / self.servers / (end - begin)


class Reference:
    """One run; the parameters are those of `misspenalty_studies.mq.storage_server.server.run`.

    With a `cache` (a policy's reference) and the `blocks` referenced, the run is live: `outcome` then only marks the
    writes, and the run fills in the outcomes of the reads. `served` lists the references in the order in which they
    reached the servers.
    """

    def __init__(self, outcome, disk, testbed, reads_per_transaction, generator=None, cache=None, blocks=None):
        self.outcome, self.disk, self.testbed = list(map(int, outcome)), list(map(int, disk)), testbed
        times = disk_times(testbed, len(self.outcome), generator).tolist()
        self.access = times if len(times) > 1 else times * len(self.outcome)
        self.reads_per_transaction = reads_per_transaction
        self.message, self.interrupt = round(1000 * testbed.message_latency_us), round(1000 * testbed.interrupt_us)
        self.cache, self.blocks, self.served = cache, blocks, []
        self.trace = deque(range(len(self.outcome)))  # references that no terminal has taken
        self.now, self.taken, self.credit, self.numbers = 0, 0, 0, itertools.count()
        self.events = []
        self.database = Station(self, testbed.database_cpus)
        self.servers = [Station(self, 1) for _ in range(testbed.storage_servers)]
        self.disks = [Station(self, 1) for _ in range(testbed.disks)]
        self.link_in, self.link_out = Station(self, 1), Station(self, 1)
        self.begin = self.end = None
        self.spent, self.count, self.writes = [Counter(), Counter(), Counter()], [0, 0, 0], 0
        self.clock_ns = 0  # total duration of the completed transactions, measured by the clock

    def run(self):
        """Simulate until a terminal finds no read left or, in a live run, until everything is served.

        Returns
        -------
        ClosedLoopResult or LiveResult
        """
        for number in range(self.testbed.terminals):
            self.resume(self.terminal(number), None)
        while self.events if self.cache else self.end is None:
            self.now, _, _, action = heapq.heappop(self.events)
            action()
        spent = [{name: part[name] for name in COMPONENTS} for part in self.spent]
        hits, misses, transactions = self.count
        fields = (transactions, hits, misses, self.writes, self.end - self.begin, *spent, self.utilisation())
        if not self.cache:
            return ClosedLoopResult(*fields)
        hits, misses = self.outcome.count(HIT), self.outcome.count(MISS)
        return LiveResult(*fields, hits + misses, hits)

    def at(self, time, kind, sequence, action):
        """Schedule `action`; without a `sequence` number, after all earlier actions of the same time and kind."""
        heapq.heappush(self.events, (time, kind, next(self.numbers) if sequence is None else sequence, action))

    def resume(self, process, value):
        """Continue a process until it yields a function, which is called with the process to make it wait."""
        wait = next(process) if value is None else process.send(value)
        if wait is not None:
            wait(process)

    def until(self, time, kind, sequence):
        """Return a function that makes a process wait until `time`."""
        return lambda process: self.at(time, kind, sequence, lambda: self.resume(process, 0))

    def terminal(self, number):
        """Yield the steps of a database process: one transaction after another."""
        bed, left, finished, transaction, stretch = self.testbed, 0, [], Counter(), self.trace
        while True:
            yield self.until(self.now + self.message, AT_REQUEST, number)
            self.book(finished)
            if left == 0:
                left, transaction, began = self.grant(), Counter(), self.now
                stretch = self.deal(left) if self.cache else self.trace
            asked = self.now
            reference = yield from self.take(stretch, number)
            if reference is None:
                break
            spent = Counter(network=self.message, network_queue=self.now - asked)
            yield from self.read(reference, spent)
            burst = bed.burst_ns(self.reads_per_transaction)
            spent["database_queue"] += yield lambda process, burst=burst: self.database.arrive(process, burst)
            spent["database_cpu"] += burst
            left -= 1
            transaction.update(spent)
            finished = [(self.outcome[reference], spent, 0)]
            if left == 0:
                finished.append((2, transaction, self.now + self.message - began))
                yield self.until(self.now + round(1000 * bed.think_time_us), COMPLETION, None)
        yield None

    def read(self, reference, spent):
        """Yield the steps of a read from its arrival at the server until the database has the block."""
        self.arrive(reference)
        bed, disk = self.testbed, self.disk[reference]
        server = self.servers[disk % bed.storage_servers]
        spent["server_queue"] += yield lambda process: server.arrive(process, bed.request_ns)
        spent["server_cpu"] += bed.request_ns
        if self.outcome[reference] != HIT:
            access = self.access[reference]
            spent["disk_queue"] += yield lambda process: self.disks[disk].arrive(process, access)
            spent["disk"] += access
            yield self.until(self.now, AT_DISK_DONE, reference)
            spent["server_queue"] += yield lambda process: server.arrive(process, self.interrupt)
            spent["server_cpu"] += self.interrupt
        yield self.until(self.now, AT_LINK, reference)
        spent["network_queue"] += yield lambda process: self.link_in.arrive(process, bed.transfer_ns)
        spent["network"] += bed.transfer_ns + bed.reply_ns
        yield self.until(self.now + bed.reply_ns, COMPLETION, None)

    def write(self, reference, follow=None):
        """Yield the steps of a written block on its way to disk; run `follow`, if there is one, when the block reaches
        its server."""
        bed, disk = self.testbed, self.disk[reference]
        server = self.servers[disk % bed.storage_servers]
        yield lambda process: self.link_out.arrive(process, bed.transfer_ns)
        latency = 0 if self.cache else self.message  # in a live run, already spent on the terminal's request
        yield self.until(self.now + latency, AT_WRITE, reference)
        self.arrive(reference)
        if follow:
            follow()
        yield lambda process: server.arrive(process, bed.request_ns)
        if bed.write_through:
            yield lambda process: self.disks[disk].arrive(process, self.access[reference])
            yield self.until(self.now, AT_DISK_DONE, reference)
            yield lambda process: server.arrive(process, self.interrupt)
        yield None

    def arrive(self, reference):
        """Record that a reference reaches the servers; in a live run, look up its block."""
        self.served.append(reference)
        if self.cache:
            hit = self.cache.access(self.blocks[reference])
            if self.outcome[reference] != WRITE:
                self.outcome[reference] = HIT if hit else MISS

    def deal(self, reads):
        """Remove and return the head of the trace, up to and including its `reads`-th read."""
        stretch = deque()
        while reads and self.trace:
            stretch.append(self.trace.popleft())
            reads -= self.outcome[stretch[-1]] != WRITE
        return stretch

    def take(self, stretch, number):
        """Send the writes before the next read of a stretch, and return that read, or None if no read is left; in a
        live run, first wait until the last of these writes has reached its server."""
        writes = list(itertools.takewhile(lambda reference: self.outcome[reference] == WRITE, stretch))
        if len(writes) == len(stretch):
            self.send(writes if self.cache else [], stretch)
            self.end = self.now if self.end is None else self.end
            return None
        if self.cache and writes:
            yield lambda process: self.send(
                writes, stretch, lambda: self.at(self.now, AT_REQUEST, number, lambda: self.resume(process, 0))
            )
        else:
            self.send(writes, stretch)
        self.taken += 1
        if self.begin is None and self.end is None:
            started = self.taken >= int(self.testbed.warm_up_share * len(self.outcome))
            self.begin = self.now if started else None
        return stretch.popleft()

    def send(self, writes, stretch, follow=None):
        """Send the stretch's next writes, one after another; call `follow` when the last reaches its server."""
        for write in writes:
            stretch.popleft()
            self.resume(self.write(write, follow if write == writes[-1] else None), None)
        self.taken += len(writes)
        self.writes += len(writes) if self.measuring else 0

    @property
    def measuring(self):
        """Whether the warm-up is over and no terminal has run out of reads."""
        return self.begin is not None and self.end is None

    def grant(self):
        """Return the number of reads of the next transaction."""
        self.credit += round(CREDIT * self.reads_per_transaction)
        reads, self.credit = divmod(self.credit, CREDIT)
        return reads

    def book(self, finished):
        """Count a finished read and, if it was the last of its transaction, the transaction."""
        for kind, spent, clock in finished if self.measuring else ():
            self.count[kind] += 1
            self.spent[kind].update(spent)
            self.clock_ns += clock

    def utilisation(self):
        """Return the exact mean utilisation of each kind of station."""
        groups = ([self.database], self.servers, self.disks, [self.link_in], [self.link_out])
        return {
            name: sum(station.utilisation(self.begin, self.end) for station in group) / len(group)
            for name, group in zip(STATIONS, groups, strict=True)
        }
