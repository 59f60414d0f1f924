"""Run a host and a disk on one clock: the host waits for some requests, and others are served in the background."""

import numpy as np

SECTOR = 512
BLOCK = 4096
BLOCK_SECTORS = BLOCK // SECTOR


class DiskClient:
    """One process on a host with one disk, which serves the process's requests in order.

    Parameters
    ----------
    store : InPlace or CompactingLog
        See `misspenalty_studies.vlog.virtual_log.log`.
    host : Host

    Attributes
    ----------
    now : int
        The process's clock, ns; the disk's own is ``store.now``.
    """

    def __init__(self, store, host):
        self.store, self.host, self.now = store, host, 0

    def compute(self, ns):
        """Advance the clock by a time during which the processor works."""
        self.now += ns

    def call(self, size=0):
        """Spend the time of a file-system call that copies `size` bytes."""
        self.compute(self.host.write_ns(size))

    def behind(self, write, sector, count):
        """Issue a request and continue; return the time at which the disk will have finished."""
        self.compute(self.host.request_ns(count * SECTOR))
        return self.store.request(max(self.now, self.store.now), write, sector, count)[0]

    def wait(self, until=None):
        """Wait until a given time or, by default, until the disk has finished."""
        self.now = max(self.now, self.store.now if until is None else until)

    def sync(self, write, sector, count):
        """Issue a request and wait for it."""
        self.wait(self.behind(write, sector, count))

    def pause(self, ns):
        """Stay idle for a while; the disk may use the time, and the next request waits until the disk has finished."""
        until = max(self.now, self.store.now) + ns
        self.store.rest(until)
        self.now = until


def permutation(count, seed):
    """Return block numbers in random order."""
    return np.random.default_rng(seed).permutation(count)
