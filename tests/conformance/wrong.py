"""Define wrong versions of policies, by policy and fault; a vector must detect the fault that it names in `catches`."""

from misspenalty.policies import find_policy
from misspenalty.policies.arc import ARC
from misspenalty.policies.car import CAR
from misspenalty.policies.clock import Clock
from misspenalty.policies.clock2qplus import Clock2QPlus
from misspenalty.policies.clockpro import ClockPro
from misspenalty.policies.fbr import FBR
from misspenalty.policies.fifo import FIFO
from misspenalty.policies.gdsf import GDSF
from misspenalty.policies.hyperbolic import Hyperbolic
from misspenalty.policies.lecar import LeCaR
from misspenalty.policies.lfru import LFRU
from misspenalty.policies.lfu import LFU
from misspenalty.policies.lhd import LHD
from misspenalty.policies.lirs import LIRS
from misspenalty.policies.lrfu import LRFU
from misspenalty.policies.lru import LRU
from misspenalty.policies.lruk import LRUK
from misspenalty.policies.merlin import Merlin
from misspenalty.policies.mq import MQ
from misspenalty.policies.mru import MRU
from misspenalty.policies.opt import OPT, OPTBypass
from misspenalty.policies.s3fifo import S3FIFO
from misspenalty.policies.s4fifo import S4FIFO
from misspenalty.policies.sieve import SIEVE
from misspenalty.policies.slru import SLRU
from misspenalty.policies.tinylfu import TinyLFU
from misspenalty.policies.twoq import TwoQ
from misspenalty.policies.wtinylfu import WTinyLFU


class ArcPlusOne(ARC):
    def _adapt(self, step):
        super()._adapt(1 if step > 0 else -1)


class ArcGhostToT1(ARC):
    def access(self, block):
        known = block in self.b1 or block in self.b2
        hit = super().access(block)
        if known:
            del self.t2[block]
            self.t1[block] = None
        return hit


class ArcHitStaysInT1(ARC):
    def access(self, block):
        if block in self.t1:
            self.t1.move_to_end(block)
            return True
        return super().access(block)


class ArcNoTie(ARC):
    def _replace(self, in_b2):
        super()._replace(False)


class ArcTie(ARC):
    def _replace(self, in_b2):
        super()._replace(True)


class ArcForgetsInT1(ARC):
    """Case IV drops the LRU block of T1 outright although it could drop a name from B1."""

    def _make_room(self):
        if len(self.t1) + len(self.b1) == self.capacity and self.t1:
            self.t1.popitem(last=False)
        else:
            super()._make_room()


class ArcKeepsName(ARC):
    """A block of T1 that is dropped when B1 is empty leaves its name in B1."""

    def _make_room(self):
        if len(self.t1) == self.capacity:
            self.b1[self.t1.popitem(last=False)[0]] = None
        else:
            super()._make_room()


class CarLoadsReferenced(CAR):
    def access(self, block):
        hit = super().access(block)
        self.bit[block] = True
        return hit


class CarFixed(CAR):
    def access(self, block):
        hit = super().access(block)
        self.p = 0.0
        return hit


class CarMovesHits(CAR):
    def access(self, block):
        if block in self.t1:
            self.t1.remove(block)
            self.t2.append(block)
            return True
        return super().access(block)


class CarSurvivorStays(CAR):
    """A referenced block of T1 gets a second turn in T1 instead of moving to T2."""

    def _replace(self):
        while len(self.t1) >= max(1, self.p) and self.bit[self.t1[0]]:
            self.bit[self.t1[0]] = False
            self.t1.rotate(-1)
        super()._replace()


class ClockHandWaits(Clock):
    """The hand stays on the new block."""

    def _replace(self, block):
        super()._replace(block)
        self.hand = (self.hand - 1) % self.capacity


class ClockRestarts(Clock):
    def _replace(self, block):
        self.hand = 0
        super()._replace(block)


class ClockKeepsBits(Clock):
    """The hand skips referenced blocks without clearing their bits, unless all are referenced."""

    def _replace(self, block):
        if all(self.references.values()):
            return super()._replace(block)
        while self.references[self.circle[self.hand]]:
            self._advance()
        return super()._replace(block)


class ClockProFixed(ClockPro):
    def _move_target(self, step):
        pass


class ClockProNoTest(ClockPro):
    """A cold page never becomes hot after the start."""

    def _promote(self, block):
        page = self.clock[block]
        self.absent -= not page.resident
        self.clock.move_to_end(block)
        self.clock[block] = type(page)(hot=False, test=True)


class ClockProHotForever(ClockPro):
    """HAND_hot does not clear the bit of a hot page."""

    def _run_hand_hot(self, candidate):
        used = {block for block, page in self.clock.items() if page.hot and page.used}
        found = super()._run_hand_hot(candidate)
        for block in used:
            if block in self.clock and self.clock[block].hot and any(not p.used for p in self.clock.values() if p.hot):
                self.clock[block].used = True
        return found


class FbrCountsAll(FBR):
    """A hit in the new section also increases the count."""

    def __init__(self, capacity, **parameters):
        super().__init__(capacity, **parameters)
        self.new = 0


class FbrWholeStack(FBR):
    """The victim is the block with the lowest count in the whole stack."""

    def _evict(self):
        self.old = len(self.stack)
        super()._evict()


class FbrNeverHalves(FBR):
    def __init__(self, capacity, **parameters):
        super().__init__(capacity, **{**parameters, "a_max": 2.0**32})


class FbrLastOnTie(FBR):
    def _evict(self):
        old = self.stack[-self.old :]
        victim = min(old, key=self.count.get)
        self.stack.remove(victim)
        self.stack.append(victim)
        self.count[victim] = 0
        super()._evict()


class LfruRestarts(LFRU):
    """A hit adds 1 to the block's CRF without letting it decay."""

    def access(self, block):
        crf, _ = self.crf.get(block, (0, 0))
        hit = super().access(block)
        if hit:
            self.crf[block] = 1 + crf, self.now
        return hit


class LrfuUndecayed(LfruRestarts, LRFU):
    pass


class LfuRemembers(LFU):
    def __init__(self, capacity, **_):
        super().__init__(capacity, history=1000)


class LfuEvictsNew(LFU):
    """The block that has just been loaded can itself be the victim."""

    def access(self, block):
        if block in self.count:
            return super().access(block)
        self.count[block] = 1
        if len(self.count) > self.capacity:
            newest_first = list(self.count)[::-1]
            del self.count[min(newest_first, key=self.count.get)]
        return False


class LirsDropsHistory(LIRS):
    """A block that is evicted leaves S as well."""

    def access(self, block):
        hit = super().access(block)
        for gone in [b for b in self.s if b not in self.lir and b not in self.q]:
            del self.s[gone]
        return hit


class LirsNoPruning(LIRS):
    def _exchange(self, block):
        lowest = next(b for b in self.s if b in self.lir)
        self.lir.remove(lowest)
        del self.s[lowest]
        self.q[lowest] = None
        self.lir.add(block)

    def _prune(self):
        pass


class LirsQueueKeeps(LIRS):
    """A HIR block that is hit while it is in Q but not in S keeps its place in Q."""

    def access(self, block):
        before = list(self.q)
        kept = block in self.q and block not in self.s
        hit = super().access(block)
        if kept and block in self.q:
            for each in before:
                self.q.move_to_end(each)
        return hit


class LirsStartsHir(LIRS):
    """Every new block becomes HIR, even while there is room among the LIR blocks."""

    def access(self, block):
        if block not in self.lir and block not in self.s and len(self.lir) < self.lirs and block not in self.q:
            if len(self.lir) + len(self.q) == self.capacity:
                self.q.popitem(last=False)
            self.q[block] = None
            self.s[block] = None
            return False
        return super().access(block)

    def _exchange(self, block):
        if len(self.lir) < self.lirs:
            self.lir.add(block)
        else:
            super()._exchange(block)


class LirsLru(LIRS):
    """A HIR block that is used while it is in S does not become LIR."""

    def _exchange(self, block):
        self.q[block] = None


class LirsHitStays(LIRS):
    """A LIR block that is hit keeps its place in S."""

    def access(self, block):
        return True if block in self.lir else super().access(block)


class LirsDemotedLeaves(LIRS):
    """The lowest LIR block goes to the front of Q, not to its end."""

    def _exchange(self, block):
        super()._exchange(block)
        self.q.move_to_end(next(reversed(self.q)), last=False)


class LrukFirstUse(LRUK):
    """Blocks without K uses are not preferred as victims."""

    def _rank(self, block):
        return self.hist[block][-1], self.last[block]


class LrukMostRecent(LRUK):
    """Among blocks without K uses, the most recently used one is evicted."""

    def _rank(self, block):
        known, last = super()._rank(block)
        return (known, -last) if not known else (known, last)


class MqLinear(MQ):
    """The queue number of a block grows with its count, not with the logarithm of the count."""

    def _enqueue(self, block, k):
        if block in self.count and self.count[block] > 1 and k == self.count[block].bit_length() - 1:
            k = min(self.count[block] - 1, len(self.queues) - 1)
        super()._enqueue(block, k)


class MqNoExpiry(MQ):
    def _adjust(self):
        self.now += 1


class MqToBottom(MQ):
    """An expired block falls to the lowest queue."""

    def _adjust(self):
        self.now += 1
        for k in range(1, len(self.queues)):
            block, expire = next(iter(self.queues[k].items()), (None, None))
            if block is not None and expire < self.now:
                del self.queues[k][block]
                self._enqueue(block, 0)


class MqFresh(MQ):
    """A block that moves down keeps its expiry time, so it soon moves down again."""

    def _adjust(self):
        self.now += 1
        for k in reversed(range(1, len(self.queues))):
            block, expire = next(iter(self.queues[k].items()), (None, None))
            if block is not None and expire < self.now:
                del self.queues[k][block]
                self.queues[k - 1][block] = expire


class S3Reinserts(S3FIFO):
    """A block that survives in M has its counter cleared instead of lowered."""

    def _evict_main(self):
        while self.count[self.main[0]]:
            self.count[self.main[0]] = 0
            self.main.rotate(-1)
        del self.count[self.main.popleft()]


class S3NoSecondChance(S3FIFO):
    def _evict_main(self):
        del self.count[self.main.popleft()]


class S3GhostToSmall(S3FIFO):
    def access(self, block):
        self.ghost.pop(block, None)
        return super().access(block)


class S3KeepsCount(S3FIFO):
    """A block that moves to M keeps its counter."""

    def _evict_small(self):
        counts = dict(self.count)
        before = set(self.main)
        super()._evict_small()
        for block in set(self.main) - before:
            self.count[block] = counts[block]


class S3MainRemembered(S3FIFO):
    """A victim of M enters G, too."""

    def _evict_main(self):
        before = set(self.count)
        super()._evict_main()
        self.ghost.update(dict.fromkeys(before - set(self.count), True))


class S3Uncapped(S3FIFO):
    """A counter may exceed three."""

    def access(self, block):
        if block in self.count:
            self.count[block] += 1
            return True
        return super().access(block)


class Clock2QPlusNoSecondChance(S3NoSecondChance, Clock2QPlus):
    pass


class Clock2QPlusGhostToSmall(S3GhostToSmall, Clock2QPlus):
    pass


class Clock2QPlusMainRemembered(S3MainRemembered, Clock2QPlus):
    pass


class Clock2QPlusCounts(Clock2QPlus):
    """Blocks of M have counters up to three in place of a bit."""

    def access(self, block):
        before = self.count.get(block, 0)
        hit = super().access(block)
        if hit and block in self.main:
            self.count[block] = min(before + 1, 3)
        return hit


class Clock2QPlusTwoHits(Clock2QPlus):
    """A block needs two hits after the window to move to M, as in S3-FIFO."""

    def access(self, block):
        before = self.count.get(block, 0)
        self.threshold = 2
        hit = super().access(block)
        if hit and block in self.small and self.count[block]:
            self.count[block] = max(self.count[block], before + (self.entered_after(block) >= self.window))
        return hit


class HyperbolicRestarts(Hyperbolic):
    """A hit restarts the time that a block has been cached."""

    def access(self, block):
        hit = super().access(block)
        self.entries[block] = self.entries[block][0], self.now
        return hit


class HyperbolicRemembers(Hyperbolic):
    """Counts outlive an eviction."""

    def __init__(self, capacity, **parameters):
        super().__init__(capacity, **parameters)
        self.known = {}

    def access(self, block):
        hit = super().access(block)
        self.known[block] = self.known.get(block, 0) + 1
        self.entries[block] = self.known[block], self.entries[block][1]
        return hit


class LecarBothRemembered(LeCaR):
    """A block that both experts choose enters LRU's history."""

    def _evict(self):
        before = dict(self.count)
        super()._evict()
        (victim,) = before.keys() - self.count.keys()
        if victim not in self.lfu_history:
            self.lru_history[victim] = before[victim], self.now


class LhdNoAge(LHD):
    """Only the class decides; in the lowest class, the most recently referenced block is evicted."""

    def _density(self, block):
        return self._class(block) - self.last[block] / 1e6


class S4NameLeaves(S4FIFO):
    """A name leaves G whenever its block returns."""

    def _recall(self, block):
        return self.ghost.pop(block, -1) >= self.return_hits


class GdsfHitAddsOne(GDSF):
    """A hit adds one to the rank and ignores the clock."""

    def access(self, block):
        before = self.cache.rank.get(block, 0)
        hit = super().access(block)
        if hit:
            self.cache.rank[block] = before + 1
        return hit


class GdsfRemembers(GDSF):
    """The count of a block survives its eviction."""

    def __init__(self, capacity):
        super().__init__(capacity)
        self.cache.history_room = 10**9


class SieveMoves(SIEVE):
    """Survivors move to the head, as in CLOCK."""

    def _evict(self):
        while self.visited[self.queue[0]]:
            self.visited[self.queue[0]] = False
            self.queue.append(self.queue.pop(0))
        del self.visited[self.queue.pop(0)]


class SieveRestarts(SIEVE):
    def _evict(self):
        self.hand = 0
        super()._evict()


class SieveLoadsVisited(SIEVE):
    def access(self, block):
        hit = super().access(block)
        self.visited[block] = True
        return hit


class SieveKeepsMarks(SIEVE):
    """The hand passes visited blocks without clearing their marks, unless all are visited."""

    def _evict(self):
        if not all(self.visited.values()):
            while self.visited[self.queue[self.hand]]:
                self.hand = (self.hand + 1) % len(self.queue)
        super()._evict()


class SlruDrops(SLRU):
    """A block that the protected segment evicts leaves the cache."""

    def _enter(self, k, block):
        self.segments[k][block] = None
        if k and len(self.segments[k]) > self.limits[k]:
            self.segments[k].popitem(last=False)


class SlruDemotesToBottom(SLRU):
    """A demoted block becomes the next victim."""

    def _enter(self, k, block):
        self.segments[k][block] = None
        if k and len(self.segments[k]) > self.limits[k]:
            demoted, _ = self.segments[k].popitem(last=False)
            self.segments[k - 1][demoted] = None
            self.segments[k - 1].move_to_end(demoted, last=False)


class SlruProtectedFifo(SLRU):
    """A hit in the protected segment does not move the block."""

    def access(self, block):
        return True if block in self.segments[-1] else super().access(block)


class TwoQPromotes(TwoQ):
    """A hit in A1in moves the block to Am."""

    def access(self, block):
        if block in self.a1in:
            self.am[block] = self.a1in.pop(block)
            return True
        return super().access(block)


class TwoQRenews(TwoQ):
    """A hit in A1in makes the block the newest one there."""

    def access(self, block):
        if block in self.a1in:
            self.a1in.move_to_end(block)
        return super().access(block)


class TwoQAmFifo(TwoQ):
    def access(self, block):
        return True if block in self.am else super().access(block)


class TwoQAtKin(TwoQ):
    """A1in loses a block as soon as it holds Kin blocks, instead of more than Kin."""

    def __init__(self, capacity, **parameters):
        super().__init__(capacity, **parameters)
        self.kin -= 1


class TwoQRemembersAll(TwoQ):
    """A block that Am evicts is also remembered."""

    def _reclaim(self):
        if len(self.a1in) > self.kin or not self.am:
            super()._reclaim()
        else:
            self.a1out[self.am.popitem(last=False)[0]] = True
            if len(self.a1out) > self.kout:
                self.a1out.popitem(last=False)


class TinyTieAdmits(WTinyLFU):
    def _frequency(self, block):
        # The candidate is no longer in any region.
        known = block in self.probation
        return super()._frequency(block) + (0 if known else 0.5)


class TinyAdmitsAll(WTinyLFU):
    def _frequency(self, block):
        return 0 if block in self.probation else 1


class TinyAdmitsNone(WTinyLFU):
    def _frequency(self, block):
        return 0


class TinyNoProtected(WTinyLFU):
    def _promote(self, block):
        self.probation.move_to_end(block)


class TinyCountsMisses(WTinyLFU):
    """Hits are not counted in the sketch."""

    def access(self, block):
        if block in self.window or block in self.probation or block in self.protected:
            increment, self.sketch.increment = self.sketch.increment, lambda number: None
            try:
                return super().access(block)
            finally:
                self.sketch.increment = increment
        return super().access(block)


class TinyWindowFifo(WTinyLFU):
    def access(self, block):
        order = list(self.window)
        hit = super().access(block)
        if hit and block in self.window:
            for each in order:
                self.window.move_to_end(each)
        return hit


class MerlinNeverSwaps(Merlin):
    def _compare(self):
        return False


class MerlinAlwaysSwaps(Merlin):
    """The oldest block of the filter replaces the oldest block of staging, whatever the sketch says."""

    def __init__(self, capacity, **parameters):
        super().__init__(capacity, **parameters)
        self.sketch.frequency = lambda number: number in map(self.number.get, self.filter)


class MerlinFixedGuard(Merlin):
    def _adjust_guard(self):
        pass


class MerlinFillsFilter(Merlin):
    """The first blocks enter the filter instead of the core."""

    def _load(self, queue, block):
        super()._load(self.filter if queue is self.core else queue, block)


class MerlinKeepsHits(Merlin):
    """A block that moves from the filter to the core keeps its hits."""

    def _shrink_filter(self):
        before = dict(self.count)
        super()._shrink_filter()
        for block in self.core:
            for count in range(self.count[block] + 1, before.get(block, 0) + 1):
                self.reaching[count] += 1
            self.count[block] = before.get(block, self.count[block])


class FilterTieAdmits(TinyLFU):
    def _frequency(self, block):
        return super()._frequency(block) + (0 if block in self.policy.cached_blocks() else 0.5)


class FilterAdmitsNone(TinyLFU):
    def _frequency(self, block):
        return 0


class FilterCountsMisses(TinyLFU):
    """Hits are not counted in the sketch."""

    def access(self, block):
        if block in self.cached_blocks():
            return self.policy.access(block)
        return super().access(block)


class FilterShowsRefused(TinyLFU):
    """A refused block that is in B1 still changes ARC's target."""

    def access(self, block):
        full = len(self.cached_blocks()) == self.capacity and block not in self.cached_blocks()
        refused = full and self.sketch.frequency(self.number.get(block, -1)) + 1 <= self._frequency(self.victim(block))
        if refused and block in self.policy.b1:
            self.policy._adapt(1)
        return super().access(block)


class FilterCountsAdmitted(TinyLFU):
    """An access to a block that is refused is not counted, unless it is the first access to the block."""

    def access(self, block):
        full = len(self.cached_blocks()) == self.capacity and block not in self.cached_blocks()
        if full and block in self.number and self._frequency(block) + 1 <= self._frequency(self.victim(block)):
            return False
        return super().access(block)


class FilterForgetsEvicted(TinyLFU):
    """The count of a block is lost when it is evicted."""

    def access(self, block):
        before = self.cached_blocks()
        hit = super().access(block)
        for each in before - self.cached_blocks():
            self.number[each] = len(self.number) + 1000  # an unused number, whose count is 0
        return hit


class FilterLeastFrequent(TinyLFU):
    """An admitted block replaces the least frequent block of the cache; on a tie, the least recently used one."""

    def victim(self, block):
        least = min(self.policy.stack, key=self._frequency)
        self.policy.stack.move_to_end(least, last=False)
        return least


class FilterRefusedRenews(TinyLFU):
    """A victim that stays becomes the most recently used block."""

    def access(self, block):
        full = len(self.cached_blocks()) == self.capacity and block not in self.cached_blocks()
        victim = self.victim(block) if full else None
        hit = super().access(block)
        if victim in self.cached_blocks():
            self.policy.access(victim)
        return hit


def before(filtered, policy):
    """Put a faulty filter in front of a policy."""
    return type(filtered.__name__, (filtered,), {"behind": find_policy(policy).reference})


class OptNearest(OPT):
    """The victim is the block whose next use is nearest."""

    def next_use(self, block):
        return -super().next_use(block)


class OptNeverLast(OPT):
    """A block that is never used again is evicted after all others."""

    def next_use(self, block):
        following = super().next_use(block)
        return -1 if following == float("inf") else following


class OptBypassNearest(OptNearest, OPTBypass):
    pass


class OptBypassNever(OPTBypass):
    """Once the cache is full, nothing is loaded."""

    def load(self, block):
        if len(self.cached) < self.capacity:
            super().load(block)


def one_more(policy):
    """Make a version that holds one block more than the capacity."""
    return lambda capacity, *rest, **parameters: find_policy(policy).reference(capacity + 1, *rest, **parameters)


class Unseen:
    """A policy that is not told about some of its hits."""

    def __init__(self, policy, repeats, capacity, *rest, **parameters):
        self.policy = find_policy(policy).reference(capacity, *rest, **parameters)
        self.repeats, self.last = repeats, None

    def access(self, block):
        unseen = block == self.last if self.repeats else block in self.policy.cached_blocks()
        self.last = block
        return True if unseen else self.policy.access(block)


class Forgetful:
    """A policy that forgets every block it evicts."""

    def __init__(self, policy, capacity, *rest, **parameters):
        self.policy = find_policy(policy).reference(capacity, *rest, **parameters)

    def access(self, block):
        hit = self.policy.access(block)
        for name in self.policy.GHOSTS:
            names = getattr(self.policy, name)
            for gone in self.policy.ghost_blocks() & set(names):
                del names[gone]
                for by_block in (getattr(self.policy, "count", {}), getattr(self.policy, "last", {})):
                    by_block.pop(gone, None)
        return hit


def hits_unseen(policy):
    """Make a version that changes nothing on a hit."""
    return lambda *arguments, **parameters: Unseen(policy, False, *arguments, **parameters)


def repeats_unseen(policy):
    """Make a version that ignores a reference to the block referenced just before."""
    return lambda *arguments, **parameters: Unseen(policy, True, *arguments, **parameters)


def forgetful(policy):
    """Make a version that keeps no history."""
    return lambda *arguments, **parameters: Forgetful(policy, *arguments, **parameters)


def other(policy, **changed):
    """Make a wrong version from another policy, or from the same one with `changed` parameters."""

    def make(capacity, **parameters):
        reference = find_policy(policy)
        taken = {name: value for name, value in parameters.items() if reference.takes(name)}
        return reference.reference(capacity, **{**reference.check(taken), **changed})

    return make


WRONG = {
    "fifo": {"renews": LRU, "second_chance": Clock, "newest": MRU},
    "lru": {"hits_unseen": FIFO, "second_chance": Clock, "newest": MRU, "segments": SLRU, "counts": LFU},
    "mru": {"oldest": LRU, "hits_unseen": hits_unseen("mru"), "first": FIFO},
    "clock": {
        "no_chance": FIFO,
        "counts": other("clock", bits=2),
        "hand_waits": ClockHandWaits,
        "restarts": ClockRestarts,
        "keeps_bits": ClockKeepsBits,
        "sieve": SIEVE,
        "lru": LRU,
    },
    "random": {},
    "slru": {
        "drops": SlruDrops,
        "demotes_to_bottom": SlruDemotesToBottom,
        "protected_fifo": SlruProtectedFifo,
        "lru": LRU,
        "hits_unseen": hits_unseen("slru"),
        "unlimited": other("slru", protected=1.0),
    },
    "lfu": {"remembers": LfuRemembers, "lru": LRU, "hits_unseen": hits_unseen("lfu"), "evicts_new": LfuEvictsNew},
    "gdsf": {
        "lru": LRU,
        "lfu": LFU,
        "adds_one": GdsfHitAddsOne,
        "remembers": GdsfRemembers,
        "hits_unseen": hits_unseen("gdsf"),
    },
    "fbr": {
        "counts_all": FbrCountsAll,
        "whole_stack": FbrWholeStack,
        "lru": LRU,
        "lfu": LFU,
        "never_halves": FbrNeverHalves,
        "last_on_tie": FbrLastOnTie,
    },
    "lfru": {
        "lru": other("lru"),
        "frequency_only": other("lfru", lam=0.0),
        "undecayed": LfruRestarts,
        "forgetful": other("lfru", history=0.0),
    },
    "lrfu": {
        "lru": other("lru"),
        "frequency_only": other("lrfu", lam=0.0),
        "undecayed": LrfuUndecayed,
        "remembers": other("lfru"),
        "correlated": other("lrfu", correlated_period=0),
    },
    "lru2": {
        "lru": LRU,
        "forgetful": other("lru2", history=0.0),
        "first_use": LrukFirstUse,
        "most_recent": LrukMostRecent,
        "k3": other("lru2", k=3),
        "correlated": other("lru2", correlated_period=0),
        "lfu": LFU,
    },
    "2q": {
        "promotes": TwoQPromotes,
        "renews": TwoQRenews,
        "am_fifo": TwoQAmFifo,
        "at_kin": TwoQAtKin,
        "remembers_all": TwoQRemembersAll,
        "forgetful": forgetful("2q"),
        "remembers_more": other("2q", kout=1.0),
        "lru": LRU,
    },
    "lirs": {
        "drops_history": LirsDropsHistory,
        "no_pruning": LirsNoPruning,
        "queue_keeps": LirsQueueKeeps,
        "starts_hir": LirsStartsHir,
        "never_lir": LirsLru,
        "demoted_leaves": LirsDemotedLeaves,
        "lru": LRU,
        "hit_stays": LirsHitStays,
    },
    "clockpro": {
        "fixed": ClockProFixed,
        "no_test": ClockProNoTest,
        "hot_forever": ClockProHotForever,
        "forgetful": other("clockpro", history=0.0),
        "remembers_more": other("clockpro", history=3.0),
        "clock": Clock,
        "lirs": LIRS,
        "hits_unseen": hits_unseen("clockpro"),
    },
    "arc": {
        "fixed": other("arc", target=0.0),
        "plus_one": ArcPlusOne,
        "ghost_to_t1": ArcGhostToT1,
        "hit_stays": ArcHitStaysInT1,
        "no_tie": ArcNoTie,
        "tie": ArcTie,
        "drops_t1": ArcForgetsInT1,
        "keeps_name": ArcKeepsName,
        "lru": LRU,
        "forgetful": forgetful("arc"),
        "hits_unseen": hits_unseen("arc"),
    },
    "car": {
        "loads_referenced": CarLoadsReferenced,
        "fixed": CarFixed,
        "moves_hits": CarMovesHits,
        "survivor_stays": CarSurvivorStays,
        "arc": ARC,
        "forgetful": forgetful("car"),
        "clock": Clock,
        "hits_unseen": hits_unseen("car"),
    },
    "mq": {
        "linear": MqLinear,
        "no_expiry": MqNoExpiry,
        "to_bottom": MqToBottom,
        "fresh": MqFresh,
        "forgetful": other("mq", history=0.0),
        "lru": other("lru"),
        "lfu": other("lfu"),
    },
    "s3fifo": {
        "reinserts_cleared": S3Reinserts,
        "no_second_chance": S3NoSecondChance,
        "ghost_to_small": S3GhostToSmall,
        "keeps_count": S3KeepsCount,
        "main_remembered": S3MainRemembered,
        "uncapped": S3Uncapped,
        "one_hit": other("s3fifo", threshold=1),
        "remembers_more": other("s3fifo", ghost=3.0),
        "clock": other("clock", bits=2),
        "lru": LRU,
    },
    "clock2qplus": {
        "no_window": other("clock2qplus", window=0.0),
        "whole_window": other("clock2qplus", window=1.0),
        "two_hits": Clock2QPlusTwoHits,
        "counts": Clock2QPlusCounts,
        "no_second_chance": Clock2QPlusNoSecondChance,
        "ghost_to_small": Clock2QPlusGhostToSmall,
        "main_remembered": Clock2QPlusMainRemembered,
        "remembers_more": other("clock2qplus", ghost=3.0),
        "s3fifo": other("s3fifo"),
        "lru": LRU,
    },
    "s4fifo": {
        "no_skip": other("s4fifo", skip=0.0),
        "all_skipped": other("s4fifo", skip=1.0),
        "enters_main": other("s4fifo", return_hits=0),
        "name_leaves": S4NameLeaves,
        "one_hit": other("s4fifo", threshold=1),
        "s3fifo": other("s3fifo"),
        "lru": LRU,
    },
    "hyperbolic": {
        "restarts": HyperbolicRestarts,
        "remembers": HyperbolicRemembers,
        "hits_unseen": hits_unseen("hyperbolic"),
        "lfu": LFU,
        "lru": LRU,
    },
    "lecar": {
        "restarts": other("lecar", recall=0),
        "no_regret": other("lecar", rate=0.0),
        "both_remembered": LecarBothRemembered,
        "forgetful": other("lecar", histories=0.0),
        "hits_unseen": hits_unseen("lecar"),
        "lfu": other("lfu"),
        "lru": other("lru"),
    },
    "lhd": {"no_age": LhdNoAge, "hits_unseen": hits_unseen("lhd"), "lfu": LFU, "lru": LRU},
    "sieve": {
        "moves": SieveMoves,
        "restarts": SieveRestarts,
        "loads_visited": SieveLoadsVisited,
        "keeps_marks": SieveKeepsMarks,
        "hits_unseen": FIFO,
        "lru": LRU,
    },
    "wtinylfu": {
        "tie_admits": TinyTieAdmits,
        "admits_all": TinyAdmitsAll,
        "admits_none": TinyAdmitsNone,
        "no_protected": TinyNoProtected,
        "hits_uncounted": TinyCountsMisses,
        "window_fifo": TinyWindowFifo,
        "lru": LRU,
    },
    "tinylfu+lru": {
        "tie_admits": before(FilterTieAdmits, "lru"),
        "admits_none": before(FilterAdmitsNone, "lru"),
        "hits_uncounted": before(FilterCountsMisses, "lru"),
        "misses_uncounted": before(FilterCountsAdmitted, "lru"),
        "evicted_forgotten": before(FilterForgetsEvicted, "lru"),
        "no_ageing": other("tinylfu+lru", sample_size=1000.0),
        "fifo": other("tinylfu+fifo"),
        "least_frequent": before(FilterLeastFrequent, "lru"),
        "refused_renews": before(FilterRefusedRenews, "lru"),
        "wtinylfu": other("wtinylfu"),
        "lru": LRU,
    },
    "tinylfu+arc": {
        "tie_admits": before(FilterTieAdmits, "arc"),
        "admits_none": before(FilterAdmitsNone, "arc"),
        "hits_uncounted": before(FilterCountsMisses, "arc"),
        "misses_uncounted": before(FilterCountsAdmitted, "arc"),
        "evicted_forgotten": before(FilterForgetsEvicted, "arc"),
        "no_ageing": other("tinylfu+arc", sample_size=1000.0),
        "refused_adapts": before(FilterShowsRefused, "arc"),
        "arc": other("arc"),
        "lru": other("tinylfu+lru"),
    },
    "merlin": {
        "never_swaps": MerlinNeverSwaps,
        "always_swaps": MerlinAlwaysSwaps,
        "fixed_guard": MerlinFixedGuard,
        "fills_filter": MerlinFillsFilter,
        "keeps_hits": MerlinKeepsHits,
        "forgetful": other("merlin", ghost=0.0),
        "s3fifo": other("s3fifo"),
        "lru": LRU,
    },
    "opt": {"nearest": OptNearest, "never_last": OptNeverLast},
    "opt_bypass": {"loads_all": OPT, "nearest": OptBypassNearest, "loads_none": OptBypassNever},
    "sarc": {"lru": LRU, "lru_bottom": other("lru_bottom"), "fifo": FIFO},
    "lru_top": {"lru_bottom": other("lru_bottom"), "hits_unseen": FIFO, "clock": Clock},
    "lru_bottom": {"lru": LRU, "sarc": other("sarc"), "fifo": FIFO},
}
GENERIC = {"one_more": one_more, "repeats_unseen": repeats_unseen}


def wrong_version(policy, fault):
    """Return ``make(capacity, **parameters)``, which makes a faulty version."""
    return GENERIC[fault](policy) if fault in GENERIC else WRONG[policy][fault]
