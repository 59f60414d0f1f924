"""A page server and its clients in time: network, server processor, page cache, disk, and the clients' own work.

Clients are given as streams of fetches: the page, and the client's processor time before the request. Each fetch
crosses the network to the server, takes its processor, is found in the page cache (LRU) or read from the drive, and
comes back. Wire, server processor and drive are first come, first served; with one client there are no queues. The
drive is `misspenalty.disks`' model with its own cache: contiguous pages may have been read ahead when they are
requested.

Time is in whole nanoseconds; events of equal time follow in the order in which they were scheduled.
"""

import heapq
from collections import OrderedDict
from dataclasses import dataclass

import numpy as np

from misspenalty import disks
from misspenalty.errors import ParameterError
from misspenalty.objects.format import PAGE

COMPONENTS = ("client", "server", "disk", "network")


@dataclass(frozen=True)
class Stream:
    """What one client does.

    Attributes
    ----------
    page : int64 array, shape (n,)
        Page of each fetch.
    before : int64 array, shape (n + 1,)
        Processor time before each fetch and after the last, ns.
    register : int
        Registering a page, ns.
    """

    page: np.ndarray
    before: np.ndarray
    register: int


@dataclass(frozen=True)
class FetchTimes:
    """What happened to the fetches of one client.

    Attributes
    ----------
    ns : int64 array, shape (n, 4)
        By component (`COMPONENTS`), waiting for others included.
    begun : int64 array, shape (n + 1,)
        When each fetch began, and when the client was done, ns.
    hit : bool array, shape (n,)
        In the server's page cache.
    """

    ns: np.ndarray
    begun: np.ndarray
    hit: np.ndarray


def message_ns(testbed, payload, rate=None):
    """(processor time of sender and receiver that the wire does not hide, time on the wire), ns.

    Packets are sent, transmitted and received in a pipeline: its slowest stage counts for every packet, the other
    processor's work once.
    """
    rate = testbed["network_mbit_per_s"] if rate is None else rate
    packets = -(-payload // testbed["packet_bytes"])
    wire = 8000 * (payload + packets * testbed["packet_overhead_bytes"]) / rate
    processor = 1000 * testbed["packet_us"]
    return round(2 * processor + max(0.0, packets * processor - wire)), round(wire)


class PageServer:
    """Replays streams of fetches on one testbed.

    Parameters
    ----------
    testbed : ObjectServerTestbed
    pages : int
        Pages of the database, ids from 1.
    rate : float, optional
        Of the network, 10^6 bits/s; the testbed's by default.
    hit_share : float, optional
        Instead of the page cache, each fetch is a hit with this probability, drawn from `generator`.
    generator : numpy.random.Generator, optional
        For `hit_share`, and pages in no order.

    Raises
    ------
    ParameterError
        The database does not fit the drive, or `hit_share` is not between 0 and 1.
    """

    def __init__(self, testbed, pages, *, rate=None, hit_share=None, generator=None):
        if hit_share is not None and not 0 <= hit_share <= 1:
            raise ParameterError(f"hit_share is {hit_share}; expected 0 to 1")
        self.testbed, self.hit_share, self.generator = testbed, hit_share, generator
        self.request, self.reply = (message_ns(testbed, size, rate) for size in (testbed["request_bytes"], PAGE))
        self.capacity = int(testbed["server_cache_mb"] * 2**20) // PAGE
        self.drive = disks.load(testbed["drive"], "disk")
        self.count = PAGE // self.drive.data["geometry"]["sector_bytes"]
        self.block = self._placed(pages)

    def _placed(self, pages):
        """First block of every page, by its id."""
        slots = self.drive.blocks // self.count
        order, first = self.testbed["page_order"], int(self.testbed["database_at"] * slots)
        if order != "contiguous" and self.generator is None:
            raise ParameterError(f"{order} pages are drawn: a generator is needed")
        match order:
            case "scattered":
                chosen = self.generator.choice(slots, pages, replace=False)
            case "shuffled":
                chosen = first + self.generator.permutation(pages)
            case _:
                chosen = first + np.arange(pages)
        if chosen.max(initial=0) >= slots:
            raise ParameterError(f"{pages} pages do not fit drive {self.drive.name}")
        return np.concatenate([[-1], chosen * self.count])

    def run(self, streams, earlier=(), enough=None):
        """Replay all streams together.

        Parameters
        ----------
        streams : sequence of Stream
        earlier : sequence of int
            Pages that went through the page cache before the clock starts, in this order.
        enough : int, optional
            Several clients stop once each has fetched that many pages; what comes later is not filled in.

        Returns
        -------
        list of FetchTimes
        """
        if len(streams) == 1:
            return [_run_alone(self, streams[0], earlier)]
        run = _Run(self, streams, earlier)
        run.go(enough)
        return [FetchTimes(*parts) for parts in zip(run.ns, run.begun, run.hit, strict=True)]


def _run_alone(server, stream, earlier):
    """One client: nothing waits for anything, so that only what the server's cache does not hold has to be followed."""
    cache, n = _PageCache(server.capacity), len(stream.page)
    for page in earlier:
        cache.is_hit(int(page))
    if server.hit_share is None:
        hit = np.fromiter(map(cache.is_hit, stream.page.tolist()), bool, n)
    else:
        hit = server.generator.random(n) < server.hit_share
    page_ns, request, reply = round(1000 * server.testbed["server_page_us"]), sum(server.request), sum(server.reply)
    ns = np.zeros((n, len(COMPONENTS)), np.int64)
    ns[:] = stream.register, page_ns, 0, request + reply
    begun = np.cumsum(stream.before) + np.arange(n + 1) * int(ns[0].sum() if n else 0)
    drive, waited, disk, spent = server.drive.drive(), 0, COMPONENTS.index("disk"), []
    blocks, asked = server.block[stream.page[~hit]], begun[:-1][~hit] + (request + page_ns)
    for block, when in zip(blocks.tolist(), asked.tolist(), strict=True):
        done = drive.service(when + waited, block, server.count, False)["done"]
        spent.append(done - when - waited)
        waited = done - when
    ns[~hit, disk] = spent
    begun[1:] += np.cumsum(ns[:, disk])
    return FetchTimes(ns, begun, hit)


class _PageCache:
    """The server's cache: LRU."""

    def __init__(self, capacity):
        self.capacity, self.pages = capacity, OrderedDict()

    def is_hit(self, page):
        """Whether the page is there; it is from now on."""
        hit = page in self.pages
        if hit:
            self.pages.move_to_end(page)
        else:
            self.pages[page] = True
            if len(self.pages) > self.capacity:
                self.pages.popitem(last=False)
        return hit


class _Run:
    """The state of one replay of several clients."""

    def __init__(self, server, streams, earlier):
        self.server, self.streams = server, streams
        self.drive = server.drive.drive()
        self.cache, self.events, self.sequence = _PageCache(server.capacity), [], 0
        self.free = {"wire": 0, "server": 0, "disk": 0}
        self.page_ns = round(1000 * server.testbed["server_page_us"])
        self.ns = [np.zeros((len(s.page), len(COMPONENTS)), np.int64) for s in streams]
        self.begun = [np.zeros(len(s.page) + 1, np.int64) for s in streams]
        self.hit = [np.zeros(len(s.page), bool) for s in streams]
        self.at = [0] * len(streams)
        for page in earlier:
            self.cache.is_hit(int(page))

    def go(self, enough):
        for client, stream in enumerate(self.streams):
            self._schedule(int(stream.before[0]), client, self._ask)
        while self.events and (enough is None or min(self.at) < enough):
            now, _, client, act = heapq.heappop(self.events)
            act(now, client)

    def _schedule(self, when, client, act):
        self.sequence += 1
        heapq.heappush(self.events, (when, self.sequence, client, act))

    def _serve(self, resource, now, ns):
        done = max(now, self.free[resource]) + ns
        self.free[resource] = done
        return done

    def _book(self, client, component, ns):
        self.ns[client][self.at[client], COMPONENTS.index(component)] += ns

    def _ask(self, now, client):
        """The client needs a page; where there is none left, it is done."""
        self.begun[client][self.at[client]] = now
        if self.at[client] == len(self.streams[client].page):
            return
        processor, wire = self.server.request
        done = self._serve("wire", now, wire) + processor
        self._book(client, "network", done - now)
        self._schedule(done, client, self._look)

    def _look(self, now, client):
        """The request is at the server."""
        done = self._serve("server", now, self.page_ns)
        self._book(client, "server", done - now)
        page = int(self.streams[client].page[self.at[client]])
        if self._is_hit(page):
            self.hit[client][self.at[client]] = True
            self._schedule(done, client, self._answer)
        else:
            self._schedule(done, client, self._read)

    def _is_hit(self, page):
        if self.server.hit_share is not None:
            return bool(self.server.generator.random() < self.server.hit_share)
        return self.cache.is_hit(page)

    def _read(self, now, client):
        """The page is read from the drive."""
        begin = max(now, self.free["disk"])
        lbn = int(self.server.block[self.streams[client].page[self.at[client]]])
        done = self.free["disk"] = self.drive.service(begin, lbn, self.server.count, False)["done"]
        self._book(client, "disk", done - now)
        self._schedule(done, client, self._answer)

    def _answer(self, now, client):
        """The page crosses the network and is registered."""
        processor, wire = self.server.reply
        done = self._serve("wire", now, wire) + processor
        self._book(client, "network", done - now)
        self._schedule(done, client, self._receive)

    def _receive(self, now, client):
        stream = self.streams[client]
        self._book(client, "client", stream.register)
        self.at[client] += 1
        self._schedule(now + stream.register + int(stream.before[self.at[client]]), client, self._ask)
