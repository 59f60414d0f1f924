"""Define LIRS2, which judges a block by the sum of its last two reuse distances, as in its authors' program.

C. Zhong, X. Zhao, S. Jiang: "LIRS2: an improved LIRS replacement algorithm", SYSTOR 2021. Only its abstract was
available, so the rules are those of the authors' program (repository zhongch4g/LIRS2, no licence; none of its code is
copied).
"""

import heapq
from collections import OrderedDict
from itertools import count

HIR_SHARE = 0.01
HIR_BLOCKS = 4
STACK_LIMIT = 8  # maximum number of references that the stack holds, in multiples of the cache size


class LIRS2:
    """LIRS with two reuse distances: a block stays if it was used three times in a short time.

    The stack holds at most the last two references to each block. It ends at the oldest second-to-last reference of a
    block that stays (LIR). The other blocks (HIR) wait in a queue, whose oldest block is the victim. A HIR block
    becomes LIR if it is used while its second-to-last reference is still in the stack; the LIR block whose
    second-to-last reference is the oldest then moves to the queue. While the cache fills up, new blocks become LIR at
    once, until only the places of the HIR blocks are free.

    Parameters
    ----------
    capacity : int
        Cache size in blocks, at least 2. The program's minimum is 5, because it keeps at least 4 HIR blocks.

    Examples
    --------
    >>> cache = LIRS2(5)
    >>> [cache.access(block) for block in (1, 2, 2, 1)]
    [False, False, True, True]
    """

    def __init__(self, capacity):
        self.capacity = capacity
        self.hirs = min(max(int(HIR_SHARE * capacity), HIR_BLOCKS), capacity - 1)
        self.stay, self.queue = set(), OrderedDict()  # the queue begins with its oldest block
        self.stack = OrderedDict()  # time of a reference -> block, oldest first
        self.last, self.before = {}, {}  # block -> time of its last reference, and of its second-to-last
        self.used_once = set()
        self.passing = []  # heap of HIR blocks' reference times; may also contain stale times and those of LIR blocks
        self.clock = count()

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        hit = block in self.stay or block in self.queue
        if hit:
            self.queue.pop(block, None)
        else:
            self._make_room(block)
        if block not in self.last:
            self._push_first(block)
        else:
            short = block not in self.used_once and self.before[block] in self.stack
            self._push(block)
            if block not in self.stay and short:
                self._promote(block)
        if block not in self.stay:
            self._pass(block)
        self._limit_stack()
        return hit

    def _make_room(self, block):
        free = self.capacity - len(self.stay) - len(self.queue)
        if not free:
            self.queue.popitem(last=False)
        elif free > self.hirs:
            self.stay.add(block)

    def _push_first(self, block):
        """Add a new block with two references; the earlier one is made up, and `used_once` marks such a block."""
        self.used_once.add(block)
        for times in (self.before, self.last):
            times[block] = next(self.clock)
            self.stack[times[block]] = block

    def _push(self, block):
        self.used_once.discard(block)
        self.stack.pop(self.before[block], None)
        self.before[block], self.last[block] = self.last[block], next(self.clock)
        self.stack[self.last[block]] = block
        self._trim()

    def _promote(self, block):
        self.stay.add(block)
        deepest = next(iter(self.stack.values()))
        self.stay.remove(deepest)
        self._pass(deepest)
        self._trim()

    def _pass(self, block):
        self.queue[block] = None
        for times in (self.before, self.last):
            heapq.heappush(self.passing, times[block])

    def _trim(self):
        """Remove the oldest references until the stack ends at the second-to-last reference of a block that stays."""
        while True:
            time, block = next(iter(self.stack.items()))
            if block in self.stay and self.before[block] == time:
                return
            del self.stack[time]

    def _limit_stack(self):
        """Remove the oldest references of HIR blocks while the stack is too long."""
        while len(self.stack) > STACK_LIMIT * self.capacity:
            time = heapq.heappop(self.passing)
            if time in self.stack and self.stack[time] not in self.stay:
                del self.stack[time]
