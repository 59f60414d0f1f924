"""Report what happened in a storage controller during an interval: counts, times by component, state at the end."""

import math
from dataclasses import dataclass

COMPONENTS = (
    "host_queue",
    "controller",
    "adapter_queue",
    "adapter",
    "write_cache",
    "in_flight",
    "disk_queue",
    "disk_overhead",
    "seek",
    "rotation",
    "disk_transfer",
    "disk_bus",
    "disk_cache",
)
COUNTS = (
    "reads",
    "writes",
    "read_hits",
    "read_waits",
    "dirty_reads",
    "stage_reads",
    "destage_reads",
    "destage_writes",
    "destages",
    "full_destages",
    "prefetch_reads",
)
STAGED = ("demand", "synchronous", "asynchronous")


@dataclass(frozen=True)
class Interval:
    """Counts and times of an interval; a request is counted when it completes, a hit when the request is looked up.

    Attributes
    ----------
    seconds : float
    counts : dict of str to int
        By the names in `COUNTS`: completed reads and writes; reads that found all pages in the cache (even if still in
        flight), that waited for drives, that missed pages but waited for no drive (all are dirty, or there are no
        drives); drive operations by purpose; destages, and those that needed no read; staging operations that no
        request waited for when they were issued.
    staged : dict of str to int
        Tracks read into the cache, by `STAGED`: requested tracks, rest of synchronous groups, asynchronous groups.
    read_ns, write_ns : dict of str to int
        Time spent by reads and by writes in each of `COMPONENTS`.
    response_ns : (int, int)
        Sum of the response times of reads and of writes, from arrival to completion.
    utilisation : float
        Mean over the drives, a fraction; 0 without drives.
    state : dict of str to float
        At the end: ``seq_pages, random_pages, ratio`` (2 * s * deltaL / |SEQ| at the last hit in RANDOM's bottom; all
        three 0 in caches without such lists), ``sequential_misses`` and ``unused`` (prefetched tracks evicted unread)
        since the start, ``dirty_pages``, ``backlog`` (requests not completed). Of the accesses to tracks by a
        generator's requests since the start, ``random_tracks`` were random, and ``false_sequential`` of these were
        labelled sequential; ``stream_tracks`` belonged to streams, and ``missed_sequential`` of these were not labelled
        sequential.
    """

    seconds: float
    counts: dict
    staged: dict
    read_ns: dict
    write_ns: dict
    response_ns: tuple
    utilisation: float
    state: dict

    @property
    def read_ms(self):
        """Mean response time of a read, ms; NaN if none completed."""
        return _mean_ms(self.response_ns[0], self.counts["reads"])

    @property
    def write_ms(self):
        """Mean response time of a write, ms; NaN if none completed."""
        return _mean_ms(self.response_ns[1], self.counts["writes"])

    @property
    def response_ms(self):
        """Mean response time of all requests, ms; NaN if none completed."""
        return _mean_ms(sum(self.response_ns), self.counts["reads"] + self.counts["writes"])

    def components_ms(self):
        """Return mean times by component, ``read_<component>_ms, write_<component>_ms``, in ms per request."""
        sides = {"read": self.read_ns, "write": self.write_ns}
        return {
            f"{side}_{name}_ms": _mean_ms(ns, self.counts[f"{side}s"])
            for side, spent in sides.items()
            for name, ns in spent.items()
        }


def _mean_ms(ns, number):
    return ns / number / 1e6 if number else math.nan
