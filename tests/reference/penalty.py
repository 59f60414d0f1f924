"""Simulate response times in slow, readable code: search lists of requests in progress for each next event."""

from collections import OrderedDict

COMPONENTS = ("queue", "overhead", "seek", "rotation", "switch", "transfer", "bus", "cache")


class LRU:
    """A cache that evicts the least recently used block."""

    def __init__(self, capacity):
        self.capacity, self.cached = capacity, OrderedDict()

    def __contains__(self, block):
        return block in self.cached

    def access(self, block, coming):
        if block not in self.cached and len(self.cached) == self.capacity:
            self.cached.popitem(last=False)
        self.cached[block] = True
        self.cached.move_to_end(block)


class OPT:
    """A cache that evicts the block whose next reference is farthest in the future."""

    bypass = False  # whether it may refuse a block

    def __init__(self, capacity):
        self.capacity, self.cached = capacity, {}

    def __contains__(self, block):
        return block in self.cached

    def access(self, block, coming):
        if block not in self.cached and len(self.cached) == self.capacity:
            victim = max(self.cached, key=self.cached.get)
            if self.bypass and coming >= self.cached[victim]:
                return
            del self.cached[victim]
        self.cached[block] = coming


class OPTBypass(OPT):
    bypass = True


class Fixed:
    """A device that serves any number of requests at once, all in the same time."""

    def __init__(self, latency):
        self.latency, self.under_way = latency, []

    def submit(self, now, lbn, count, write, tag):
        self.under_way.append((now + self.latency, tag, {"overhead": self.latency}))

    def next(self):
        return min(self.under_way, key=lambda flight: flight[0], default=None)

    def complete(self):
        flight = self.next()
        self.under_way.remove(flight)
        return flight


class FirstComeFirstServed:
    """A drive that is given one request after another, in order of arrival."""

    def __init__(self, drive):
        self.drive, self.free, self.under_way = drive, 0, []

    def submit(self, now, lbn, count, write, tag):
        start = max(now, self.free)
        record = self.drive.service(start, lbn, count, write)
        self.free = record["done"]
        parts = {part: record[part] for part in COMPONENTS}
        self.under_way.append((self.free, tag, parts | {"queue": start - now}))

    def next(self):
        return self.under_way[0] if self.under_way else None

    def complete(self):
        return self.under_way.pop(0)


def play(ids, write, arrival, cache, device, lbn, sectors, hit_ns=0, through=False, warm_up=0, clients=0, pause=0):
    """Return the counts, and the latency of each reference, None for writes and during the warm-up.

    If `arrival` is None, `clients` clients replay the references in a closed loop.
    """
    counts = dict.fromkeys(["hits", "delayed_hits", "misses", "delayed", *COMPONENTS], 0)
    latency = [None] * len(ids)
    came, waiting = {}, {}  # time of each reference; block on its way -> references that wait
    ready = [0] * clients
    i = 0
    while i < len(ids) or device.next():
        coming = None
        if i < len(ids) and arrival is not None:
            coming = arrival[i]
        elif i < len(ids) and ready:
            coming = min(ready)
        flight = device.next()
        if flight and (coming is None or flight[0] <= coming):
            done, block, parts = device.complete()
            if block is None:
                continue
            waiters = waiting.pop(block)
            cache.access(block, _coming(ids, block, i))
            for waiter in waiters:
                ready += [done + hit_ns + pause] if arrival is None else []
                if waiter < warm_up:
                    continue
                latency[waiter] = done - came[waiter] + hit_ns
                if waiter == waiters[0]:
                    counts["misses"] += 1
                    for part, value in parts.items():
                        counts[part] += value
                else:
                    counts["delayed_hits"] += 1
                    counts["delayed"] += done - came[waiter]
            continue
        block, came[i] = ids[i], coming
        if arrival is None:
            ready.remove(coming)
        at_once = True
        if write is not None and write[i]:
            if block not in waiting:
                cache.access(block, _coming(ids, block, i + 1))
            if through:
                device.submit(coming, lbn[block], sectors, True, None)
        elif block in waiting:
            waiting[block].append(i)
            at_once = False
        elif block in cache:
            cache.access(block, _coming(ids, block, i + 1))
            if i >= warm_up:
                counts["hits"] += 1
                latency[i] = hit_ns
        else:
            waiting[block] = [i]
            device.submit(coming, lbn[block], sectors, False, block)
            at_once = False
        ready += [coming + hit_ns + pause] if arrival is None and at_once else []
        i += 1
    return counts, latency


def _coming(ids, block, begin):
    """Return the number of the next reference to a block."""
    return next((k for k in range(begin, len(ids)) if ids[k] == block), float("inf"))
