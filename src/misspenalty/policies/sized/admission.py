"""W-TinyLFU for objects of different sizes: a candidate must have been used more often than all its victims together.

The window has a share of the bytes, the main region the rest; each is kept within its own limit. An object that
overflows the window is the candidate. If the main region has too little room left for it, its victims are the objects
that would be evicted for it, the oldest of the probation segment first, then the oldest protected ones. The candidate
is admitted if its count is above the sum of the victims' counts; otherwise it is evicted, and the victims stay.

Paper: G. Einziger, O. Eytan, R. Friedman, B. Manes, "Lightweight robust size aware cache management", ACM Transactions
on Storage 18(3), 2022: the aggregated victims (AV) method, applied to our W-TinyLFU (`misspenalty.policies.wtinylfu`).
Authors' code: Caffeine's simulator; none of it is copied here.

Deviations and decisions:

- The sketch has counters for as many objects as fit on average: the cache's bytes divided by `mean_bytes`, the mean
  size of the objects of the trace. Caffeine enlarges its sketch as the cache fills. The kernel has no more counters
  than the trace's objects need.
- The victims' counts are summed only until the sum reaches the candidate's count (the method's early pruning). Victims
  are not promoted if they win.
- On a tie the candidate is evicted, as in our W-TinyLFU; the authors' simulator admits it.
- If no object is in probation, the victims are protected objects; our W-TinyLFU for blocks then evicts the candidate.
- As in Caffeine and the authors' simulator, an object larger than the window is a candidate at once, and the other
  objects stay in the window.
- An object larger than both the window and the main region is refused; one that only the window can hold is evicted
  when it leaves the window.
"""

from misspenalty.policies.sized.reference import Queue, SizedReference
from misspenalty.policies.wtinylfu import Sketch


class WTinyLFU(SizedReference):
    """W-TinyLFU: an LRU window, and an SLRU behind admission by frequency."""

    def __init__(self, room, changes="replace", window=0.01, protected=0.8, sample_size=10.0, mean_bytes=1):
        super().__init__(room, changes)
        self.window_room = max(room - int(room * (1 - window)), 1)
        self.main_room = room - self.window_room
        self.protected_room = int(self.main_room * protected)
        self.largest = max(self.window_room, self.main_room)
        self.window, self.probation, self.protected = Queue(), Queue(), Queue()
        self.sketch = Sketch(max(room // mean_bytes, 1), sample_size)
        self.number = {}  # number of each object, in order of first use

    def queues(self):
        """Return the window and the two segments of the main region."""
        return [self.window, self.probation, self.protected]

    def see(self, block):
        """Count a reference."""
        self.sketch.increment(self.number.setdefault(block, len(self.number)))

    def touch(self, block):
        """Move the object to the newest end of its queue or, if it is in probation, of the protected segment."""
        if block in self.probation:
            self.protected[block] = self.probation.pop(block)
            self._demote()
        else:
            self.where(block).move_to_end(block)

    def load(self, block, size):
        """Load an object into the window, which may overflow."""
        self.window[block] = size
        self.settle()

    def settle(self):
        """Bring each region within its limit.

        An object larger than the window can only be the newest there, and is the first to leave it.
        """
        self._demote()
        while self.probation.bytes + self.protected.bytes > self.main_room:
            self.evict()
        if self.window and self.window[newest := next(reversed(self.window))] > self.window_room:
            self._admit(newest)
        while self.window.bytes > self.window_room:
            self._admit(self.window.oldest)

    def evict(self):
        """Evict the main region's next victim."""
        self.leave((self.probation or self.protected).oldest)

    def _demote(self):
        while self.protected.bytes > self.protected_room:
            demoted, size = self.protected.popitem(last=False)
            self.probation[demoted] = size

    def _admit(self, candidate):
        size = self.window[candidate]
        if size > self.main_room:
            self.leave(candidate)
            return
        free = self.main_room - self.probation.bytes - self.protected.bytes
        victims = []
        for block in [*self.probation, *self.protected]:
            if size <= free:
                break
            victims.append(block)
            free += self.where(block)[block]
        if victims and self._count(candidate) <= sum(map(self._count, victims)):
            self.leave(candidate)
            return
        for block in victims:
            self.leave(block)
        self.probation[candidate] = self.window.pop(candidate)

    def _count(self, block):
        return self.sketch.frequency(self.number[block])
