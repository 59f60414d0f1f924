"""Pass requests from a reader to a trace: collect statistics on them, and split them into references to one block."""

from collections.abc import Iterator

import numpy as np

from misspenalty.traces.reader import Requests
from misspenalty.traces.reading import Reading

EXPANDED = 1 << 20  # references expanded at a time


class Source:
    """The requests of a reader, and statistics that are collected while they pass.

    Attributes
    ----------
    reading : Reading or None
        The description that the reader returns at its end; None before that, or if the reader returns none.
    earlier : int
        Number of requests that are earlier than the preceding request.
    writes : int
        Number of references that are writes.
    """

    def __init__(self, requests: Iterator[Requests]) -> None:
        self.requests = iter(requests)
        self.last: int | None = None  # time of the last request so far, ns
        self.reading: Reading | None = None
        self.earlier = self.writes = 0

    def __iter__(self) -> Iterator[Requests]:
        for batch in self._all():
            if batch.time is not None and batch.time.size:
                before = batch.time[0] if self.last is None else self.last
                self.earlier += int(np.count_nonzero(np.diff(batch.time, prepend=before) < 0))
                self.last = int(batch.time[-1])
            if batch.write is not None:
                counts = batch.write if batch.count is None else batch.count[batch.write]
                self.writes += int(np.count_nonzero(counts) if batch.count is None else counts.sum())
            yield batch

    def _all(self) -> Iterator[Requests]:
        try:
            while True:
                yield next(self.requests)
        except StopIteration as end:
            self.reading = end.value


def expand(
    requests: Requests,
) -> Iterator[tuple[np.ndarray, np.ndarray | None, np.ndarray | None]]:
    """Split requests that span several blocks into references to one block each, a bounded number at a time."""
    start, count, write, time = requests[:4]
    if count is None:
        yield start, write, time
        return
    ends = np.cumsum(count)
    low = 0
    while low < count.size:
        done = ends[low - 1] if low else 0
        high = max(int(np.searchsorted(ends, done + EXPANDED, side="right")), low + 1)
        part = slice(low, high)
        offsets = np.arange(ends[high - 1] - done) - np.repeat(ends[part] - count[part] - done, count[part])
        blocks = np.repeat(start[part], count[part]) + offsets.astype(np.uint64)
        yield (blocks, *(None if values is None else np.repeat(values[part], count[part]) for values in (write, time)))
        low = high
