"""Define what all caches of objects of different sizes have in common, in slow, readable form.

An object that does not fit evicts others, in the order of the policy, until it fits. One that is larger than the whole
cache (in W-TinyLFU, larger than both of its regions) is a miss, evicts nothing and is not admitted; such references are
counted as ``refused``.

If an object in the cache is requested with a size other than the one it has there, the rule ``size_changes`` decides:

- ``replace``: a hit, and the new size replaces the old one. If the cache is then overfull, objects, perhaps including
  this one, are evicted in the order of the policy. Caffeine's simulator does so. An object that has become larger than
  the cache leaves it and is a miss.
- ``keep``: a hit; the object keeps the size with which it was loaded until it is evicted. libCacheSim does so.
- ``new``: a miss. The cached version is out of date and leaves the cache; then the new one is loaded. Simulators whose
  objects are pairs of number and size, such as webcachesim, come close to this, but there the old version stays.
"""

from abc import ABC, abstractmethod
from collections import OrderedDict


class Queue(OrderedDict):
    """Objects in order, the oldest first, each with its bytes."""

    @property
    def bytes(self):
        """Bytes of all objects."""
        return sum(self.values())

    @property
    def oldest(self):
        """The first object."""
        return next(iter(self))


def remember(history, block, size, room):
    """Add an evicted object to `history`, and forget the oldest until the objects in it have at most `room` bytes.

    An object that is larger than `room` is not added.
    """
    if 0 < room >= size:
        history[block] = size
    while history.bytes > room:
        history.popitem(last=False)


class SizedReference(ABC):
    """A cache of `room` bytes.

    A policy keeps its objects in the queues that ``queues`` returns, and defines ``touch(block)`` for a hit,
    ``load(block, size)`` for a miss of an object of at most `largest` bytes, and ``evict()``, which removes an object
    or moves some closer to eviction.
    """

    def __init__(self, room, changes="replace"):
        self.room, self.changes, self.largest = room, changes, room
        self.queue = Queue()
        self.refused = self.evictions = 0

    def queues(self):
        """Return the queues that hold the objects in the cache."""
        return [self.queue]

    def where(self, block):
        """Return the queue that holds an object, or None."""
        return next((queue for queue in self.queues() if block in queue), None)

    @property
    def used(self):
        """Bytes of all objects in the cache."""
        return sum(queue.bytes for queue in self.queues())

    def access(self, block, size):
        """Reference `block`, which is requested with `size` bytes; return whether it was in the cache."""
        self.see(block)
        queue = self.where(block)
        if queue is not None and queue[block] != size and self.changes != "keep":
            if self.changes == "new" or size > self.largest:
                self.leave(block)
                queue = None
            else:
                queue[block] = size
        if queue is not None:
            self.touch(block)
            self.settle()
        elif size > self.largest:
            self.refused += 1
        else:
            self.load(block, size)
        return queue is not None

    def see(self, block):  # noqa: B027, most policies do nothing
        """Handle any reference, hit or miss, before anything else."""

    def touch(self, block):  # noqa: B027
        """Handle a hit; by default it changes nothing."""

    def load(self, block, size):
        """Load an object that was missed."""
        self.make_room(size)
        self.queue[block] = size

    @abstractmethod
    def evict(self):
        """Evict an object, or move some closer to eviction."""

    def settle(self):
        """Evict until everything is within its limits."""
        while self.used > self.room:
            self.evict()

    def make_room(self, size):
        """Evict until an object of `size` fits."""
        while self.used + size > self.room:
            self.evict()

    def leave(self, block):
        """Remove an object from the cache; return its bytes."""
        self.evictions += 1
        return self.where(block).pop(block)
