"""TinyLFU: a filter before a policy (``tinylfu+lru``, ``tinylfu+arc``, …) that decides which missed blocks to admit.

All accesses, hits and misses, are counted approximately in the sketch of wtinylfu.py, whose counters age. If the block
is in the cache or the cache has room, the policy behind the filter sees the access. If the cache is full, a missed
block is admitted only if its count is above that of the victim, the block that the policy would evict for it. If the
missed block is not admitted, the policy does not see the access, and its hand, queues and history do not change.

Paper: G. Einziger, R. Friedman, B. Manes, "TinyLFU: a highly efficient cache admission policy", ACM Transactions on
Storage 13(4), 2017, section 3: the filter (3.1), counting with ageing (3.2, 3.3).
Authors' code: ben-manes/caffeine, FrequencySketch (00b1503), for the sketch; on a tie the victim stays, as in
Caffeine.

Deviations and decisions:

- Sketch, hash and sample are as in wtinylfu.py, and the paper's doorkeeper is left out as there.
- A policy that moves something when it looks for its victim, such as CLOCK, does so only if the block is admitted.
- A refused block evicts nothing. A cache that refuses blocks can have fewer misses than OPT, which loads all of them;
  ``opt_bypass`` is the bound.

``tinylfu`` alone is ``wtinylfu``, the authors' recommended form, as in other simulators. The policies in `FAST` have a
kernel that can report its victim in advance. Any other policy that has a `Reference` runs as defined here, slowly: its
victim is the block that a copy of it evicts. Classes that are not derived from `Reference` or do not say which blocks
they hold, policies that look into the future or at neighbouring blocks, and policies that already have this filter
cannot be filtered.
"""

import copy
import functools

from misspenalty.errors import ParameterError
from misspenalty.policies._clock import Clock
from misspenalty.policies._tinylfu import TinyLFU as Kernel
from misspenalty.policies.registry import Definition, Reference, register_admission
from misspenalty.policies.wtinylfu import PARAMETERS, Sketch

FAST = ("2q", "arc", "clock", "fifo", "lfu", "lirs", "lru", "mru", "random", "s3fifo", "sieve", "slru")
SAMPLE_SIZE = next(parameter for parameter in PARAMETERS if parameter.name == "sample_size")


class TinyLFU(Reference):
    """TinyLFU as a filter before the policy that the class `behind` defines."""

    behind: type[Reference]

    def __init__(self, capacity, sample_size=10.0, **parameters):
        self.capacity = capacity
        self.policy = self.behind(capacity, **parameters)
        self.sketch = Sketch(capacity, sample_size)
        self.number = {}  # number of each block, in order of first use
        self.evictions = 0

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        self.sketch.increment(self.number.setdefault(block, len(self.number)))
        cached = self.policy.cached_blocks()
        if block not in cached and len(cached) == self.capacity:
            if self._frequency(block) <= self._frequency(self.victim(block)):
                return False
            self.evictions += 1
        return self.policy.access(block)

    def __contains__(self, block):
        return block in self.policy.cached_blocks()

    def victim(self, block):
        """Return the block that the policy would evict for a missed one: the block that a copy of the policy evicts."""
        after = copy.deepcopy(self.policy)
        after.access(block)
        (victim,) = self.policy.cached_blocks() - after.cached_blocks()
        return victim

    def cached_blocks(self):
        """Return the blocks in the cache."""
        return self.policy.cached_blocks()

    def ghost_blocks(self):
        """Return the blocks that the policy remembers."""
        return self.policy.ghost_blocks()

    def _frequency(self, block):
        return self.sketch.frequency(self.number[block])


@register_admission("tinylfu")
@functools.cache
def filtered(policy: Definition) -> Definition:
    """Return the definition of TinyLFU before a policy.

    Raises
    ------
    ParameterError
        The policy cannot be filtered.

    Examples
    --------
    >>> from misspenalty.policies import find_policy
    >>> find_policy("tinylfu+arc").name
    'tinylfu+arc'
    """
    reason = _why_not(policy)
    if reason:
        raise ParameterError(
            f"tinylfu+{policy.name}: {reason}; expected tinylfu+ with an online policy that loads single blocks, such"
            f" as {', '.join(FAST)}"
        )
    kernel = functools.partial(_make_kernel, policy) if policy.name in FAST else None
    summary = f"TinyLFU as a filter before {policy.summary}."
    reference = type("TinyLFU", (TinyLFU,), {"behind": policy.reference, "__doc__": summary})
    parameters = (*policy.parameters, SAMPLE_SIZE)
    together = policy.together and (lambda sample_size, **own: policy.together(**own))
    return Definition(f"tinylfu+{policy.name}", kernel, reference, parameters, together=together)


def _why_not(policy):
    if policy.offline:
        return f"{policy.name} looks into the future, and no filter can improve it"
    if policy.spatial:
        return f"{policy.name} also loads neighbouring blocks, so that a miss has no single victim"
    if policy.takes("sample_size"):
        return f"{policy.name} already has this filter"
    if not issubclass(policy.reference, Reference):
        return f"{policy.name} is not derived from Reference, so its contents are unknown"
    if not policy.reference.CACHED and policy.reference.cached_blocks is Reference.cached_blocks:
        return f"{policy.name} does not name in CACHED the attributes that hold its blocks"
    return None


def _make_kernel(policy, capacity, blocks, sample_size, **parameters):
    without_bits = policy.name == "fifo"  # CLOCK without reference bits is FIFO, and can report its victim
    behind = Clock(capacity, blocks, 0) if without_bits else policy.kernel(capacity, blocks, **parameters)
    return Kernel(capacity, blocks, behind, sample_size)
