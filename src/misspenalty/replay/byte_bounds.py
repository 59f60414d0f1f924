"""Bound the hits and hit bytes of the best cache of a given size in bytes, if all future requests are known.

With objects of different sizes the best decisions cannot be found in reasonable time, but their hits can be bounded.
Between two successive references to an object (an *interval*), a cache either keeps the object, which occupies its
bytes for that long and makes the second reference a hit, or it does not.

- At most: the space-time (bytes times duration) of all intervals kept cannot exceed the cache's bytes times the length
  of the trace. Under that condition alone, keeping those of least space-time gives the most hits, and keeping those of
  least space-time per byte requested (the shortest ones, if sizes do not change) the most bytes. This is PFOO-L.
- At least: intervals are considered in order of space-time, and each is kept if the cache has room for it throughout. A
  cache that knows the future could follow this schedule, so the best one has at least as many hits. For bytes, the
  shortest intervals are considered first.

Both bounds allow a cache to leave out an object that would fit. Of the policies here, only GDSF does so; W-TinyLFU
comes close, since it may evict an object larger than its window as soon as it has loaded it.

Paper: D. S. Berger, N. Beckmann, M. Harchol-Balter, "Practical bounds on optimal caching with variable object sizes",
Proceedings of the ACM on Measurement and Analysis of Computing Systems 2(2), 2018 (SIGMETRICS).

Deviation: the paper's PFOO-U cuts the trace into pieces and solves a flow problem for each; the lower bound here
decides about one interval at a time.
"""

import numpy as np

from misspenalty.replay._packing import Packing

SLACK = 1e-9  # relative error allowed in sums of products that are too large to be exact
NAMES = ("opt_at_least", "opt_at_most")


class Intervals:
    """The intervals between successive references to an object, if the second reference counts and can be a hit.

    Parameters
    ----------
    ids : uint32, shape (n,)
        The references that reach the cache.
    sizes : int64, shape (n,)
        Bytes that each reference requests.
    counted : bool, shape (n,), or None
        Which references count; None if all do.
    changes : {"keep", "replace", "new"}
        See `misspenalty.policies.sized.reference`.
    held : int64, shape (3, n), optional
        Smallest, largest and last size, in bytes, of an object that is kept from each reference to its next one, if
        writes that only refresh change the size in between.
    """

    def __init__(
        self,
        ids: np.ndarray,
        sizes: np.ndarray,
        counted: np.ndarray | None,
        changes: str,
        held: np.ndarray | None = None,
    ) -> None:
        self.slots = len(ids)
        smallest, largest, last = (sizes, sizes, sizes) if held is None else held
        order = np.argsort(ids, kind="stable")
        same = ids[order][1:] == ids[order][:-1]
        begin, end = order[:-1][same].astype(np.int64), order[1:][same].astype(np.int64)
        kept = np.ones(len(begin), bool) if counted is None else counted[end]
        if changes == "new":
            kept &= last[begin] == sizes[end]
        self.begin, self.end = begin[kept], end[kept]
        self.asked = sizes[self.end]
        if changes == "keep":  # an object loaded earlier may have any of the sizes with which it was requested
            blocks = int(ids.max(initial=0)) + 1
            low, high = np.full(blocks, np.iinfo(np.int64).max), np.zeros(blocks, np.int64)
            np.minimum.at(low, ids, sizes)
            np.maximum.at(high, ids, sizes)
            self.low, self.high = low[ids[self.begin]], high[ids[self.begin]]
        else:
            self.low, self.high = smallest[self.begin], largest[self.begin]
        self.needed = self.low if changes == "keep" else np.maximum(self.high, self.asked)  # bytes needed for a hit

    def at_most(self, room: int) -> tuple[int, int]:
        """Return upper bounds on the hits, and on the bytes of hits, of a cache of `room` bytes."""
        fits = self.needed <= room
        length = (self.end - self.begin)[fits].astype(float)
        taken, asked = self.low[fits] * length, self.asked[fits].astype(float)
        most = room * float(max(self.slots - 1, 0)) * (1 + SLACK)
        hits = int(np.searchsorted(np.cumsum(np.sort(taken)), most, side="right"))
        order = np.argsort(np.divide(taken, asked, out=np.full(len(taken), np.inf), where=asked > 0), kind="stable")
        sums, values = np.cumsum(taken[order]), np.cumsum(asked[order])
        whole = int(np.searchsorted(sums, most, side="right"))
        found = values[whole - 1] if whole else 0.0
        if whole < len(order):  # add the part of the next interval that fits
            before = sums[whole - 1] if whole else 0.0
            found += asked[order[whole]] * (most - before) / taken[order[whole]]
        return hits, min(int(found * (1 + SLACK)), int(self.asked[fits].sum()))

    def at_least(self, room: int) -> tuple[int, int]:
        """Return the hits, and the bytes of hits, that a cache of `room` bytes can reach, each by its own schedule."""
        fits = np.flatnonzero(self.needed <= room)
        length = (self.end - self.begin)[fits]
        hits = self._packed(room, fits[np.argsort(self.high[fits] * length.astype(float), kind="stable")])
        found = self._packed(room, fits[np.argsort(length, kind="stable")])
        return len(hits), int(self.asked[found].sum())

    def _packed(self, room: int, order: np.ndarray) -> np.ndarray:
        kept = np.zeros(len(order), np.uint8)
        Packing(max(self.slots, 1), room).pack(self.begin[order], self.end[order], self.high[order], kept)
        return np.asarray(order[kept.astype(bool)])
