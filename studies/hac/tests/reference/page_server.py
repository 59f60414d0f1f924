"""Simulate the page server in slow, readable code: one event per step of a fetch, on Python's heapq.

It implements the description in `misspenalty_studies.hac.object_server.page_server` with its own cache, stations and
event loop; tests compare the two.
"""

import heapq
from collections import OrderedDict

import numpy as np

from misspenalty_studies.hac.object_server.page_server import COMPONENTS, FetchTimes


def run(server, streams, earlier=(), enough=None):
    """Replay the streams as `PageServer.run` does."""
    replay = Replay(server, streams, earlier)
    replay.go(enough)
    return [FetchTimes(*parts) for parts in zip(replay.ns, replay.begun, replay.hit, strict=True)]


class PageCache:
    """The server's LRU cache."""

    def __init__(self, capacity):
        self.capacity, self.pages = capacity, OrderedDict()

    def is_hit(self, page):
        """Return whether the page is cached, and insert the page if it is not."""
        hit = page in self.pages
        if hit:
            self.pages.move_to_end(page)
        else:
            self.pages[page] = True
            if len(self.pages) > self.capacity:
                self.pages.popitem(last=False)
        return hit


class Replay:
    """The state of one replay of one or more clients."""

    def __init__(self, server, streams, earlier):
        self.server, self.streams = server, streams
        self.drive = server.drive.drive()
        self.cache, self.events, self.sequence = PageCache(server.capacity), [], 0
        self.free = {"wire": 0, "server": 0, "disk": 0}
        self.page_ns = server.page_ns
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
        """Request the client's next page; if none is left, the client has finished."""
        self.begun[client][self.at[client]] = now
        if self.at[client] == len(self.streams[client].page):
            return
        processor, wire = self.server.request
        done = self._serve("wire", now, wire) + processor
        self._book(client, "network", done - now)
        self._schedule(done, client, self._look)

    def _look(self, now, client):
        """Look up the page when its request has reached the server."""
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
        """Read the page from the drive."""
        begin = max(now, self.free["disk"])
        lbn = int(self.server.block[self.streams[client].page[self.at[client]]])
        done = self.free["disk"] = self.drive.service(begin, lbn, self.server.count, False)["done"]
        self._book(client, "disk", done - now)
        self._schedule(done, client, self._answer)

    def _answer(self, now, client):
        """Send the page over the network."""
        processor, wire = self.server.reply
        done = self._serve("wire", now, wire) + processor
        self._book(client, "network", done - now)
        self._schedule(done, client, self._receive)

    def _receive(self, now, client):
        stream = self.streams[client]
        self._book(client, "client", stream.register)
        self.at[client] += 1
        self._schedule(now + stream.register + int(stream.before[self.at[client]]), client, self._ask)
