"""Simulate the timing of a page server and its clients: network, server processor, page cache, disk, and clients' work.

A client is given as a stream of fetches, each with its page and the client's processor time before the request. A
request crosses the network and takes time on the server's processor; its page is found in the page cache (LRU) or read
from the drive, and returns over the network. The wire, the server's processor and the drive each serve requests in
order of arrival; with one client there are no queues. The drive is the model of `misspenalty.disks` with its own cache:
contiguous pages may already have been read ahead when they are requested.

Time is in whole nanoseconds; events at equal times are processed in the order in which they were scheduled.
"""

from dataclasses import dataclass

import numpy as np

from misspenalty import disks
from misspenalty.errors import ParameterError
from misspenalty.policies._lru import LRU
from misspenalty_studies.hac.object_server._page_server import Replay
from misspenalty_studies.hac.objects.format import PAGE

COMPONENTS = ("client", "server", "disk", "network")


@dataclass(frozen=True)
class Stream:
    """The fetches and processor times of one client.

    Attributes
    ----------
    page : int64 array, shape (n,)
        Page of each fetch.
    before : int64 array, shape (n + 1,)
        Processor time before each fetch and after the last, ns.
    register : int
        Time to register a page, ns.
    """

    page: np.ndarray
    before: np.ndarray
    register: int


@dataclass(frozen=True)
class FetchTimes:
    """Times of the fetches of one client.

    Attributes
    ----------
    ns : int64 array, shape (n, 4)
        Time of each fetch by component (`COMPONENTS`), including waiting for other clients.
    begun : int64 array, shape (n + 1,)
        Times at which each fetch began, and at which the client finished, ns.
    hit : bool array, shape (n,)
        Whether the page was in the server's page cache.
    """

    ns: np.ndarray
    begun: np.ndarray
    hit: np.ndarray


def message_ns(testbed, payload, rate=None):
    """Return (processor time of sender and receiver that the wire does not hide, time on the wire), in ns.

    Packets are sent, transmitted and received in a pipeline: the time of the slowest stage counts for every packet, and
    the work of both processors is added once.
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
        Rate of the network, 10^6 bits/s; the testbed's by default.
    hit_share : float, optional
        Probability that a fetch is a hit. If it is given, hits are drawn from `generator`, and there is no page cache.
    generator : numpy.random.Generator, optional
        Needed for `hit_share` and for pages in random order.

    Raises
    ------
    ParameterError
        The database does not fit on the drive, `hit_share` is not between 0 and 1, or `generator` is missing although
        `hit_share` is above 0 or the pages are in random order.
    """

    def __init__(self, testbed, pages, *, rate=None, hit_share=None, generator=None):
        if hit_share is not None and not 0 <= hit_share <= 1:
            raise ParameterError(f"hit_share is {hit_share}; expected 0 to 1")
        if hit_share and generator is None:
            raise ParameterError(f"hit_share is {hit_share}, but no generator was given to draw the hits")
        self.testbed, self.hit_share, self.generator = testbed, hit_share, generator
        self.request, self.reply = (message_ns(testbed, size, rate) for size in (testbed["request_bytes"], PAGE))
        self.capacity = int(testbed["server_cache_mb"] * 2**20) // PAGE
        self.page_ns = round(1000 * testbed["server_page_us"])
        self.drive = disks.load(testbed["drive"], "disk")
        self.count = PAGE // self.drive.data["geometry"]["sector_bytes"]
        self.block = self._placed(pages)

    def _placed(self, pages):
        """Return the first block of every page, indexed by the page's id."""
        slots = self.drive.blocks // self.count
        order, first = self.testbed["page_order"], int(self.testbed["database_at"] * slots)
        if order != "contiguous" and self.generator is None:
            raise ParameterError(f"page_order is {order}, so the places are drawn at random; pass a generator")
        if (pages if order == "scattered" else first + pages) > slots:
            raise ParameterError(f"{pages} pages do not fit on drive {self.drive.name}")
        match order:
            case "scattered":
                chosen = self.generator.choice(slots, pages, replace=False)
            case "shuffled":
                chosen = first + self.generator.permutation(pages)
            case _:
                chosen = first + np.arange(pages)
        return np.concatenate([[-1], chosen * self.count])

    def run(self, streams, earlier=(), enough=None):
        """Replay all streams together.

        Parameters
        ----------
        streams : sequence of Stream
        earlier : sequence of int
            Pages that are looked up in the page cache, in this order, before the clock starts.
        enough : int, optional
            Stop once each client has fetched this number of pages; the times of unfinished fetches are then incomplete.

        Returns
        -------
        list of FetchTimes

        Raises
        ------
        ParameterError
            A page is not in the database, a time is negative, or a stream's times do not match its fetches.
        """
        first, page, before, register = self._joined(streams)
        cache, given = self._cache(earlier), self._hits(len(page))
        ns, hit = np.zeros((len(page), len(COMPONENTS)), np.int64), np.zeros(len(page), bool)
        begun = np.zeros(len(before), np.int64)
        costs = dict(zip(("request_processor", "request_wire"), self.request, strict=True))
        costs |= dict(zip(("reply_processor", "reply_wire"), self.reply, strict=True)) | {"page": self.page_ns}
        kernel = Replay(self.drive.drive(), cache, **costs)
        kernel.run(
            *(first, register, page.astype(np.uint32), self.block[page], self.count, before, given),
            *(-1 if enough is None else enough, ns, begun, hit.view(np.uint8)),
        )
        rows = [slice(first[i], first[i + 1]) for i in range(len(streams))]
        return [FetchTimes(ns[at], begun[at.start + i : at.stop + i + 1], hit[at]) for i, at in enumerate(rows)]

    def _joined(self, streams):
        """Concatenate the streams; return their first indices, pages, times before fetches, and times to register."""
        first = np.cumsum([0, *(len(stream.page) for stream in streams)])
        page, before = (
            np.concatenate([np.asarray(getattr(stream, name), np.int64) for stream in streams])
            for name in ("page", "before")
        )
        register = np.array([stream.register for stream in streams], np.int64)
        if any(len(stream.before) != len(stream.page) + 1 for stream in streams):
            raise ParameterError(
                "the times do not match the fetches; expected one before each fetch of a stream and one after the last"
            )
        if min(before.min(), register.min()) < 0:
            raise ParameterError("a time of a stream is negative")
        pages = len(self.block) - 1
        if len(page) and not 1 <= page.min() <= page.max() <= pages:
            raise ParameterError(
                f"pages {page.min()} to {page.max()} are fetched, but the database has pages 1 to {pages}"
            )
        return first, page, before, register

    def _cache(self, earlier):
        """Return the page cache, or None if hits are drawn or there is no room for a page."""
        if self.hit_share is not None or not self.capacity:
            return None
        cache = LRU(self.capacity, len(self.block))
        cache.replay(np.asarray(earlier, np.uint32), np.empty(len(earlier), np.uint8))
        return cache

    def _hits(self, number):
        """Draw whether each fetch hits, in the order of lookups; without `hit_share`, return misses only."""
        share = self.hit_share or 0
        return (self.generator.random(number) < share if share else np.zeros(number, bool)).view(np.uint8)
