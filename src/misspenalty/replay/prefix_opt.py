"""Define a cache of prompts that keeps trees and, given all future prompts, evicts the leaf that is needed last.

A block is in the cache only together with all blocks before it in its prompt, so only a leaf can be evicted. The cache
evicts the leaf whose next prompt is furthest away. A full cache loads a block only if a leaf outside the block's own
prompt is needed later than the block. This is Belady's rule applied to leaves; it has not been proven
optimal among caches of trees.
"""

import heapq
from collections.abc import Sequence

import numpy as np


class OptimalTree:
    """A cache of trees of blocks, which is given all future prompts.

    Parameters
    ----------
    capacity : int
        Blocks that the cache can hold.
    prompts : sequence of uint32 array
        Dense ids of the blocks of each prompt, numbered in the order of their first use; `use` must be called once per
        prompt, in the order of the prompts.
    blocks : int
        Number of distinct blocks.

    Examples
    --------
    >>> asked = [np.array(each, np.uint32) for each in ([0, 1], [0, 2], [0, 1])]
    >>> cache, hits = OptimalTree(2, asked, 3), []
    >>> for prompt in asked:
    ...     hits.append(sum(cache.held(prompt.tolist())))
    ...     cache.use(prompt)
    >>> hits
    [0, 1, 2]
    """

    def __init__(self, capacity: int, prompts: Sequence[np.ndarray], blocks: int) -> None:
        self.capacity, self.size, self.number = capacity, 0, 0
        self.next_use = _next_uses(prompts, blocks)
        self.present = bytearray(blocks)
        self.children = [0] * blocks
        self.parent = [-1] * blocks
        self.needed = [0] * blocks  # the next prompt with this block
        self.leaves: list[tuple[int, int]] = []  # (-needed, -block) when pushed; some entries are out of date

    def held(self, prompt: Sequence[int]) -> list[bool]:
        """Return which blocks of a prompt are in the cache."""
        return [bool(self.present[block]) for block in prompt]

    def use(self, prompt: np.ndarray) -> None:
        """Serve the next prompt, and load its blocks as long as there is room or a leaf that is needed later."""
        ids, coming = prompt.tolist(), self.next_use[self.number].tolist()
        self.number += 1
        length = 0
        for block, needed in zip(ids, coming, strict=True):
            if not self.present[block]:
                break
            length += 1
            self._touch(block, needed)
        own = set(ids[:length])
        for place in range(length, len(ids)):
            block, needed = ids[place], coming[place]
            if self.present[block] or (self.size >= self.capacity and not self._evicted(needed, own)):
                break
            self.present[block] = 1
            self.size += 1
            if place:
                self.parent[block] = ids[place - 1]
                self.children[ids[place - 1]] += 1
            own.add(block)
            self._touch(block, needed)

    def _touch(self, block: int, needed: int) -> None:
        self.needed[block] = needed
        self._push(block)

    def _push(self, block: int) -> None:
        if self.present[block] and not self.children[block]:
            heapq.heappush(self.leaves, (-self.needed[block], -block))

    def _evicted(self, needed: int, own: set[int]) -> bool:
        """Evict the leaf outside `own` that is needed last, if that is after `needed`; return whether there was one."""
        kept = []
        found = False
        while self.leaves and not found:
            key, leaf = self.leaves[0]
            block = -leaf
            if not self.present[block] or self.children[block] or self.needed[block] != -key:
                heapq.heappop(self.leaves)  # this entry is out of date
            elif block in own:
                kept.append(heapq.heappop(self.leaves))
            elif -key <= needed:
                break
            else:
                heapq.heappop(self.leaves)
                self._remove(block)
                found = True
        for each in kept:
            heapq.heappush(self.leaves, each)
        return found

    def _remove(self, block: int) -> None:
        self.present[block] = 0
        self.size -= 1
        if (parent := self.parent[block]) >= 0:
            self.children[parent] -= 1
            self._push(parent)
        self.parent[block] = -1


def _next_uses(prompts: Sequence[np.ndarray], blocks: int) -> list[np.ndarray]:
    """Find, for each block of each prompt, the next prompt that has it, or the number of prompts if none does."""
    following = np.full(blocks, len(prompts), np.int64)
    made = []
    for number in range(len(prompts) - 1, -1, -1):
        made.append(following[prompts[number]])
        following[prompts[number]] = number
    return made[::-1]
