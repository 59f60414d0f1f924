"""Define FIFO, LRU, CLOCK, SIEVE, SLRU, S3-FIFO and ARC for objects of different sizes.

Papers and parameters are those of the policies of the same names (except that SLRU has no `fill_up`). Shares of the
cache are shares of its bytes, and if all objects have one byte, each policy equals the one for blocks.

Deviations and decisions, beyond those of the policies for blocks:

- S3-FIFO: as in libCacheSim, with equal misses, except that an object larger than the small queue's share, which
  libCacheSim never caches, is loaded. G holds the names of objects that together have up to `ghost` times the cache's
  bytes.
- ARC: a ghost hit moves the target by the object's bytes times the ratio of the ghost lists, as in OpenZFS (arc.c);
  the paper moves it by one block times that ratio. If T2 is empty, T1 provides the victim, whatever the target is. In
  libCacheSim the target moves by a few bytes per ghost hit, so its misses differ.
- SLRU: an object larger than the limit of the segment to which it is promoted returns to the lowest segment, as its
  newest object.
"""

from misspenalty.policies.sized.reference import Queue, SizedReference, remember

MAX_USES = 3  # highest value of S3-FIFO's two-bit counter


class FIFO(SizedReference):
    """First in, first out."""

    def evict(self):
        """Evict the oldest object."""
        self.leave(self.queue.oldest)


class LRU(FIFO):
    """Least recently used."""

    def touch(self, block):
        """Move the object to the newest end."""
        self.queue.move_to_end(block)


class Clock(FIFO):
    """CLOCK: the oldest object gets another chance for each counted use."""

    def __init__(self, room, changes="replace", bits=1):
        super().__init__(room, changes)
        self.most = 2**bits - 1
        self.uses = {}

    def touch(self, block):
        """Count the use."""
        self.uses[block] = min(self.uses[block] + 1, self.most)

    def load(self, block, size):
        """Load an object, with a count of 0."""
        super().load(block, size)
        self.uses[block] = 0

    def evict(self):
        """Evict the oldest object with no uses left; older objects lose one use each and become the newest."""
        while self.uses[self.queue.oldest]:
            self.uses[self.queue.oldest] -= 1
            self.queue.move_to_end(self.queue.oldest)
        self.leave(self.queue.oldest)


class Sieve(Clock):
    """SIEVE: a hand that moves towards the newest object and leaves used objects in place."""

    hand = None  # object at which the search begins; None: the oldest

    def evict(self):
        """Evict the first unused object from the hand on, and mark the objects that the hand passes as unused."""
        order = list(self.queue)
        at = 0 if self.hand is None else order.index(self.hand)
        while self.uses[order[at]]:
            self.uses[order[at]] = 0
            at = (at + 1) % len(order)
        self.hand = order[at]
        self.leave(order[at])

    def leave(self, block):
        """Remove an object; if the hand pointed at it, move the hand on."""
        if block == self.hand:
            order = list(self.queue)
            at = order.index(block) + 1
            self.hand = order[at] if at < len(order) else None
        return super().leave(block)


class SLRU(SizedReference):
    """Segmented LRU: probationary and protected objects."""

    def __init__(self, room, changes="replace", segments=2, protected=0.8):
        super().__init__(room, changes)
        self.limit = int(room * protected / (segments - 1))  # limit of each segment but the lowest, bytes
        self.segments = [self.queue, *(Queue() for _ in range(segments - 1))]  # lowest first

    def queues(self):
        """Return the segments."""
        return self.segments

    def touch(self, block):
        """Move the object up a segment, or to the newest end of the highest."""
        at = self.segments.index(self.where(block))
        size = self.segments[at].pop(block)
        at = min(at + 1, len(self.segments) - 1)
        self.segments[at][block] = size
        while at:
            while self.segments[at].bytes > self.limit:
                demoted, size = self.segments[at].popitem(last=False)
                self.segments[at - 1][demoted] = size
            at -= 1

    def evict(self):
        """Evict the oldest object of the lowest segment that is not empty."""
        self.leave(next(segment for segment in self.segments if segment).oldest)


class S3FIFO(SizedReference):
    """S3-FIFO: small, main and ghost FIFO queues."""

    def __init__(self, room, changes="replace", small=0.1, ghost=0.9, threshold=2, fill_main=1):
        super().__init__(room, changes)
        self.share = min(max(int(room * small), 1), room)  # conversion to float may round a large room up
        self.ghost_room = int(room * ghost)
        self.threshold, self.filling = threshold, bool(fill_main)
        self.small, self.main, self.ghosts = Queue(), Queue(), Queue()
        self.uses = {}

    def queues(self):
        """Return the two queues of objects."""
        return [self.small, self.main]

    def touch(self, block):
        """Count the use, up to three."""
        self.uses[block] = min(self.uses[block] + 1, MAX_USES)

    def load(self, block, size):
        """Load an object into the main queue if the ghost queue has its name, otherwise into the small queue."""
        known = self.ghosts.pop(block, None) is not None
        self.make_room(size)
        overflow = self.filling and self.small.bytes >= self.share
        (self.main if known or overflow else self.small)[block] = size
        self.uses[block] = 0

    def evict(self):
        """Evict from the main queue if it exceeds its share, otherwise from the small one."""
        self.filling = False
        if self.main.bytes > self.room - self.share or not self.small:
            self._evict_main()
        else:
            self._evict_small()

    def _evict_small(self):
        while self.small:
            block = self.small.oldest
            if self.uses[block] < self.threshold:
                remember(self.ghosts, block, self.leave(block), self.ghost_room)
                return
            self.main[block] = self.small.pop(block)
            self.uses[block] = 0

    def _evict_main(self):
        while self.uses[self.main.oldest]:
            self.uses[self.main.oldest] -= 1
            self.main.move_to_end(self.main.oldest)
        self.leave(self.main.oldest)


class ARC(SizedReference):
    """Adaptive replacement cache: recency and frequency balanced by ghost hits."""

    def __init__(self, room, changes="replace", target=None):
        super().__init__(room, changes)
        self.adapts = target is None
        self.p = 0.0 if target is None else target * room  # target bytes of T1
        self.t1, self.t2, self.b1, self.b2 = (Queue() for _ in range(4))

    def queues(self):
        """Return T1 and T2."""
        return [self.t1, self.t2]

    def touch(self, block):
        """Move the object to the newest end of T2."""
        self.t2[block] = self.where(block).pop(block)
        self.t2.move_to_end(block)

    def load(self, block, size):
        """Load an object into T2 if its name is remembered, otherwise into T1."""
        if block in self.b1 or block in self.b2:
            in_b2 = block in self.b2
            self._adapt(size, *((self.b2, self.b1, -1) if in_b2 else (self.b1, self.b2, 1)))
            (self.b2 if in_b2 else self.b1).pop(block)
            while self.used + size > self.room:
                self._replace(in_b2)
            self._trim(size)
            self.t2[block] = size
            return
        while self.used + size > self.room:
            if self.t1.bytes + size > self.room and not self.b1:
                self.leave(self.t1.oldest)
            else:
                self._replace()
        while self.t1.bytes + self.b1.bytes + size > self.room:
            self.b1.popitem(last=False)
        self._trim(size)
        self.t1[block] = size

    def _adapt(self, size, own, other, sign):
        if self.adapts:
            step = size * max(other.bytes / max(own.bytes, 1), 1.0)
            self.p = min(max(self.p + sign * step, 0.0), float(self.room))

    def _replace(self, in_b2=False):
        if self.t1 and (not self.t2 or self.t1.bytes > self.p or (in_b2 and self.t1.bytes == self.p)):
            victim = self.t1.oldest
            self.b1[victim] = self.leave(victim)
        else:
            victim = self.t2.oldest
            self.b2[victim] = self.leave(victim)

    def _trim(self, size):
        while self.used + self.b1.bytes + self.b2.bytes + size > 2 * self.room:
            (self.b2 or self.b1).popitem(last=False)

    def evict(self):
        """Evict from T1 if it exceeds its target, otherwise from T2."""
        self._replace()

    def settle(self):
        """Evict objects and forget names until everything is within its limits."""
        super().settle()
        while self.t1.bytes + self.b1.bytes > self.room:
            self.b1.popitem(last=False)
        self._trim(0)
