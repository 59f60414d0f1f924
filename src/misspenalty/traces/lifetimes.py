"""Apply times to live and deletes: an object that has expired or was deleted is another object from then on.

The next reference to it therefore misses under every policy, including OPT, and in a pass over all cache sizes. The old
object is never referenced again, but stays in the cache until the policy evicts it, as in caches that free expired
objects lazily. The lifetime of an object starts when a write stores it, or else at its first reference, whether or not
a cache still holds it. A read does not restart the lifetime; a write without a time to live makes it unlimited. An
object is alive up to and including the last moment of its lifetime.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from misspenalty.traces._compile import Interner, generations
from misspenalty.traces.values import mixed

if TYPE_CHECKING:
    from misspenalty.traces.reader import Requests

DELETE = -1  # marks a delete, in place of a time to live


class Lifetimes:
    """Record of which objects are alive.

    Attributes
    ----------
    expired, deleted : int
        Number of objects that had expired when they were referenced again, and number of objects that were deleted,
        even if they had expired by then.
    """

    def __init__(self) -> None:
        self.interner = Interner()
        self.ends = np.empty(0, np.int64)  # last moment of each object, ns
        self.generation = np.empty(0, np.uint32)
        self.alive = np.empty(0, np.uint8)
        self.expired = self.deleted = 0

    def split(self, requests: "Requests") -> "Requests":
        """Return the requests without deletes, with each life of an object (`Requests.life`) as a separate object."""
        assert requests.life is not None
        assert requests.time is not None
        ids = self.interner.ids(np.ascontiguousarray(requests.start))
        if (room := len(self.interner)) > len(self.ends):
            for name in ("ends", "generation", "alive"):
                old = getattr(self, name)
                made = np.zeros(2 * room, old.dtype)
                made[: len(old)] = old
                setattr(self, name, made)
        write = np.zeros(len(ids), np.uint8) if requests.write is None else requests.write.view(np.uint8)
        number, expired, deleted = generations(
            ids, requests.time, requests.life, write, self.ends, self.generation, self.alive
        )
        self.expired, self.deleted = self.expired + expired, self.deleted + deleted
        kept = requests.life != DELETE
        made = requests._replace(start=mixed(number.astype(np.uint64), requests.start), life=None)
        return type(requests)(*(None if column is None else column[kept] for column in made))

    @property
    def note(self) -> str:
        """A message to the user about the effect of lifetimes."""
        return (
            f"lifetimes honoured: an object that expired ({self.expired:,}) or was deleted ({self.deleted:,}) is"
            " treated as a new object from then on; the old one stays cached until evicted"
        )

    def apart(self, batches: "Iterable[Requests]") -> "Iterator[Requests]":
        """Yield the batches of requests, each as `split` returns it."""
        for batch in batches:
            yield self.split(batch)
