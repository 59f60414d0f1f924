"""Define the dual buffer in slow, readable code: pages in LRU order, and a buddy system for used objects of evicted
pages."""

from misspenalty_studies.hac.objects.format import PAGE
from studies.hac.tests.reference.object_cache import BUFFER, CacheReference

GRANULE = 16  # bytes of the smallest block
TOP = 9  # order of the largest block, a frame


class Buddies:
    """A buddy allocator of blocks of 16 << order bytes; the block freed last is allocated first.

    Parameters
    ----------
    frames : int
        Number of frames, each of which is one free block at the beginning.
    """

    def __init__(self, frames):
        self.vacant = [[] for _ in range(TOP + 1)]
        for frame in range(frames):
            self.give(frame << TOP, TOP)

    def give(self, granule, order):
        """Free a block, merging it with its buddies while they are free."""
        while order < TOP and granule ^ 1 << order in self.vacant[order]:
            self.vacant[order].remove(granule ^ 1 << order)
            granule &= ~(1 << order)
            order += 1
        self.vacant[order].append(granule)

    def take(self, size):
        """Allocate a block of at least `size` bytes; return (first granule, order), or None if there is no room."""
        order = next(order for order in range(TOP + 1) if GRANULE << order >= size)
        found = next((larger for larger in range(order, TOP + 1) if self.vacant[larger]), None)
        if found is None:
            return None
        granule = self.vacant[found].pop()
        for half in range(found - 1, order - 1, -1):
            self.vacant[half].append(granule + (1 << half))
        return granule, order


class GOMReference(CacheReference):
    """Pages in LRU order, and a buffer for the used objects of evicted pages."""

    def __init__(self, database, size, *, share=0.5, **common):
        super().__init__(database, size, **common)
        count = len(self.frames)
        self.first = count - max(min(round(share * count), count - 3), 0)
        for frame in self.frames[self.first :]:
            frame.kind = BUFFER
        self.free = self.frames[: self.first][::-1]
        self.buddies, self.blocks = Buddies(count - self.first), {}  # blocks by thing, the least recently used first

    def touch(self, thing):
        if thing in self.blocks:
            self.blocks[thing] = self.blocks.pop(thing)
        else:
            super().touch(thing)

    def place(self, thing):
        """Return the offset of an object in the buffer, in bytes from the start of the frames."""
        return self.first * PAGE + GRANULE * self.blocks[thing][0]

    def free_one(self, pinned):
        frame = min(self._victims(pinned), key=lambda f: f.used)
        things = frame.things
        kept = sum([thing.entry is not None and self._keep(thing, pinned) for thing in things])
        self.counts["dropped"] += sum(thing.entry is None for thing in things)
        self.counts["retained"] += kept
        self.counts["frames_compacted"] += 1
        self.counts["whole_evictions"] += kept == 0
        self.counts["page_objects"] += len(things)
        self.counts["page_survivors"] += kept
        self._give_back(frame)

    def _keep(self, thing, pinned):
        """Move an object to the buffer; return False if there is no room for it and it is discarded."""
        block = self.buddies.take(thing.size)
        while block is None:
            oldest = next((one for one in self.blocks if one.frame not in pinned), None)
            if oldest is None:
                self._discard(thing)
                return False
            self.buddies.give(*self.blocks.pop(oldest))
            self._discard(oldest)
            block = self.buddies.take(thing.size)
        self.blocks[thing] = block
        thing.frame = self.frames[self.first + (block[0] >> TOP)]
        self.counts["bytes_moved"] += thing.size
        return True
