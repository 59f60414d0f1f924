"""Run policies for objects of different sizes that are written in Python, as a class with ``access(block, size)``.

``access`` references an object, given by its address in the trace, and returns whether it was in the cache; ``size`` is
the number of bytes requested. The constructor takes the size of the cache in bytes and, by name, the policy's
parameters; a second argument called ``future`` is refused.

The class itself decides what happens to an object that is larger than the cache or changes its size, because it
receives every size; the rule ``size_changes`` does not apply to it. Hits are checked: an object must have been in the
cache from the reference before a hit until the hit, and the objects that must have been there at the same time must
fit. In this check, an object has the smallest size with which it has been requested so far.

Evictions are the policy's ``evictions``; without this attribute, they are unknown. Refused requests are the policy's
``refused`` or, without it, the misses of objects larger than the cache. For response times and ``writes="refresh"``,
the class needs ``__contains__(block)``, and ``access`` must then report a hit for every contained object, whatever size
is requested.
"""

from array import array
from typing import Any

import numpy as np

from misspenalty.policies.python_policy import Adapter


class ByteClaims:
    """Check whether a cache of `room` bytes that loads only referenced objects can have the claimed hits.

    This is `misspenalty.policies._opt.Claims` with bytes in place of slots: a hit frees the bytes that its object took
    until then, and an object's stay in the cache takes the bytes that were freed last before the stay began. If too few
    bytes were free then, the objects of all hits so far do not fit.

    Examples
    --------
    >>> claims = ByteClaims(10)
    >>> claims.add(np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1]), np.array([6, 6, 6, 6]))
    (3, True)
    """

    def __init__(self, room: int, blocks: int = 0) -> None:
        self.free = array("q", [room])  # by claim, from 1: bytes that became free then; 0: bytes never used
        self.lower = array("q", [0])  # by claim: itself, or an earlier one if no bytes are left
        self.latest: dict[int, tuple[int, int]] = {}  # by id: claims before its latest reference, smallest size

    def add(self, ids: np.ndarray, hit: np.ndarray, sizes: np.ndarray) -> tuple[int, bool]:
        """Check the next references; return the index of the first impossible claim and whether its object is known.

        Return (n, False) if all n claims are possible. After an impossible claim, no more references can be added.
        """
        for number, (one, found, size) in enumerate(zip(ids.tolist(), hit.tolist(), sizes.tolist(), strict=True)):
            since, least = self.latest.get(one, (-1, size))
            if found and (since < 0 or not self._stay(since, least)):
                return number, since >= 0
            self.latest[one] = len(self.free) - 1, min(least, size)
        return len(ids), False

    def _stay(self, since: int, size: int) -> bool:
        """Take `size` bytes that were free after the first `since` claims; return whether enough were free."""
        left, at = size, since
        while left:
            while self.lower[at] != at:
                self.lower[at] = self.lower[self.lower[at]]
                at = self.lower[at]
            taken = min(left, self.free[at])
            left -= taken
            self.free[at] -= taken
            if left and not at:
                return False
            if not self.free[at] and at:
                self.lower[at] = at - 1
        if size:
            self.free.append(size)
            self.lower.append(len(self.lower))
        return True


class PythonBytes(Adapter):
    """Adapter that gives a Python policy for bytes the interface of `SizedCache`.

    Parameters
    ----------
    name, policy, capacity, address
        As in `Adapter`.
    sizes : int64, shape (blocks,)
        Bytes of each object when it is first requested.
    """

    UNIT, ITEM, CLAIMS = "bytes", "object", ByteClaims

    def __init__(self, name: str, policy: Any, capacity: int, address: np.ndarray, sizes: np.ndarray) -> None:
        super().__init__(name, policy, capacity, address)
        self.asked = np.array(sizes)  # bytes with which each object was last requested
        self.too_large = 0

    @property
    def evictions(self) -> int | None:
        """Number of objects evicted so far; None if the policy does not count them."""
        return self._count("evictions", 0) if hasattr(self.policy, "evictions") else None

    @property
    def refused(self) -> int:
        """Number of requests for objects that are too large for the cache."""
        return self._count("refused", self.too_large)

    def replay_sizes(
        self, ids: np.ndarray, sizes: np.ndarray, hit: np.ndarray, refresh: np.ndarray | None = None
    ) -> int:
        """Replay references, each requesting ``sizes[i]`` bytes; return the number of hits.

        `hit`, `refresh` and errors are those of `PythonPolicy.replay`.
        """
        requests = zip(self.address[ids].tolist(), sizes.tolist(), strict=True)
        accessed = self._noted(self._outcomes(requests, refresh), hit[: len(ids)], refresh)
        ids, sizes, hit = ids[accessed], sizes[accessed], hit[: len(ids)][accessed]
        self.asked[ids] = sizes
        self.too_large += int(np.count_nonzero((sizes > self.capacity) & (hit == 0)))
        self._check(ids, hit, sizes)
        return int(np.count_nonzero(hit))

    def _request(self, number: int) -> tuple[int, ...]:
        return int(self.address[number]), int(self.asked[number])

    def _sizes(self, number: int) -> tuple[np.ndarray, ...]:
        return (self.asked[number : number + 1],)

    def _taken(self, held: list[int]) -> int:
        latest = self._claims.latest
        return sum(latest[number][1] if number in latest else int(self.asked[number]) for number in held)
