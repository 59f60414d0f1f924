"""Define the step model of delayed hits in slow, readable code: every rank is computed when it is needed."""

from collections import OrderedDict, defaultdict


def run(requests, policy, capacity, z):
    """Return (hits, delayed hits, misses, total latency) of one run; a request of -1 is a step without one."""
    cache = POLICIES[policy](capacity, z, list(requests))
    waiting = {}  # object being fetched -> (step in which its fetch ends, requests that wait for it)
    hits = delayed = misses = latency = 0
    for step, wanted in enumerate(requests):
        if wanted >= 0:
            cache.arrive(wanted, step)
            if wanted in cache:
                hits += 1
                cache.hit(wanted, step)
            elif wanted in waiting:
                delayed += 1
                end, queue = waiting[wanted]
                waiting[wanted] = end, queue + 1
                latency += end - step + 1
            else:
                misses += 1
                waiting[wanted] = step + z - 1, 1
                latency += z
        for fetched in [name for name, (end, _) in waiting.items() if end == step]:
            cache.fetched(fetched, waiting.pop(fetched)[1], step)
    return hits, delayed, misses, latency


class Cache:
    """The base of the policies, which learns nothing from an arrival and changes nothing on a hit."""

    def __init__(self, capacity, z, requests):
        self.capacity, self.z = capacity, z
        self.cached = OrderedDict()

    def __contains__(self, name):
        return name in self.cached

    def arrive(self, name, step):
        """Handle the arrival of a request, whatever its outcome."""

    def hit(self, name, step):
        """Handle a request that found its object in the cache."""


class LRU(Cache):
    """The policy that evicts the least recently used object; the end of a fetch counts as one use."""

    def hit(self, name, step):
        self.cached.move_to_end(name)

    def fetched(self, name, queue, step):
        if len(self.cached) == self.capacity:
            self.cached.popitem(last=False)
        self.cached[name] = True


class History:
    """The requests for an object so far, cut into windows of z steps that open at a request."""

    def __init__(self):
        self.windows = []  # aggregate delay of each window
        self.opened = self.last = None

    def add(self, step, z):
        if self.opened is None or step - self.opened >= z:
            self.opened = step
            self.windows.append(0)
        self.windows[-1] += z - (step - self.opened)
        self.last = step

    def mean(self, z):
        return sum(self.windows) / len(self.windows)


class ClosedHistory:
    """The history in the authors' ARC: only completed windows count, and the first one has a single request.

    A running window counts if it is the only one. After at most two requests, the mean is 0 if z is above 100.
    """

    def __init__(self):
        self.windows = []
        self.requests = 0
        self.opened = self.last = None

    def add(self, step, z):
        if self.requests < 2 or step - self.opened >= z:
            self.opened = step
            self.windows.append(0)
        self.windows[-1] += z - (step - self.opened)
        self.requests += 1
        self.last = step

    def mean(self, z):
        if z > 100 and self.requests <= 2:
            return 0.0
        past = self.windows[:-1] or self.windows
        return sum(past) / len(past)


class LRUMAD(Cache):
    """The policy that evicts the object with the lowest mean aggregate delay per step since its last request.

    Of several such objects, the one whose first request came earliest is evicted.
    """

    history = History

    def __init__(self, capacity, z, requests):
        super().__init__(capacity, z, requests)
        self.histories = defaultdict(self.history)
        self.number = {name: i for i, name in enumerate(OrderedDict.fromkeys(requests))}

    def arrive(self, name, step):
        self.histories[name].add(step, self.z)

    def rank(self, name, step):
        history = self.histories[name]
        return history.mean(self.z) / (step - history.last + 1), self.number[name]

    def fetched(self, name, queue, step):
        if len(self.cached) == self.capacity:
            del self.cached[min(self.cached, key=lambda other: self.rank(other, step))]
        self.cached[name] = True


class ARC(Cache):
    """ARC with an integer target: ratios of the ghost lists are rounded half up. Each waiting request is a use."""

    def __init__(self, capacity, z, requests):
        super().__init__(capacity, z, requests)
        self.t1, self.t2, self.b1, self.b2 = (OrderedDict() for _ in range(4))
        self.p = 0

    def __contains__(self, name):
        return name in self.t1 or name in self.t2

    def hit(self, name, step):
        self.t1.pop(name, None)
        self.t2.pop(name, None)
        self.t2[name] = True

    def fetched(self, name, queue, step):
        c, ones = self.capacity, len(self.t1) + len(self.b1)
        total = ones + len(self.t2) + len(self.b2)
        if name in self.b1:
            self.p = min(self.p + max(1, half_up(len(self.b2), len(self.b1))), c)
            self.replace(name, step)
            del self.b1[name]
            self.t2[name] = True
        elif name in self.b2:
            self.p = max(self.p - max(1, half_up(len(self.b1), len(self.b2))), 0)
            self.replace(name, step)
            del self.b2[name]
            self.t2[name] = True
        else:
            if len(self.t1) == c:
                del self.t1[self.only_once(step)]
            elif ones == c:
                self.b1.popitem(last=False)
                self.replace(name, step)
            elif total >= c:
                if total == 2 * c:
                    self.b2.popitem(last=False)
                self.replace(name, step)
            self.t1[name] = True
        if queue > 1:
            self.hit(name, step)

    def replace(self, name, step):
        once = self.t1 and (len(self.t1) > self.p or (name in self.b2 and len(self.t1) == self.p))
        cached, ghosts = (self.t1, self.b1) if once else (self.t2, self.b2)
        victim = self.victim(cached, step)
        del cached[victim]
        ghosts[victim] = True

    def victim(self, cached, step):
        return next(iter(cached))

    def only_once(self, step):
        """Return the victim when T1 fills the whole cache."""
        return next(iter(self.t1))


def half_up(over, under):
    """Return the ratio, rounded half up to a whole number."""
    return (2 * over + under) // (2 * under)


class ARCMAD(ARC, LRUMAD):
    """ARC whose lists T1 and T2 evict the object with the lowest mean aggregate delay per step."""

    history = ClosedHistory

    def victim(self, cached, step):
        return min(cached, key=lambda other: self.rank(other, step))

    def only_once(self, step):
        """Return the victim of the published program, which swaps step and fetch time and uses unsigned arithmetic."""
        return min(self.t1, key=lambda other: self.exchanged(other, step))

    def exchanged(self, name, step):
        history = self.histories[name]
        age = (self.z - history.last + 1) % 2**64
        return history.mean(step) / age if age else float("inf"), self.number[name]


class OPT(Cache):
    """The policy that evicts, or does not admit, the object whose next request is farthest in the future."""

    def __init__(self, capacity, z, requests):
        super().__init__(capacity, z, requests)
        self.steps = defaultdict(list)
        for step, name in enumerate(requests):
            self.steps[name].append(step)
        self.number = {name: i for i, name in enumerate(self.steps)}

    def following(self, name, step):
        """Return the steps of the object's requests from `step` on."""
        return [at for at in self.steps[name] if at >= step]

    def value(self, name, step, now):
        """Return the value of keeping the object at the end of step `now`, when its requests before `step` are past."""
        coming = self.following(name, step)
        return -coming[0] if coming else -float("inf")

    def fetched(self, name, queue, step):
        if len(self.cached) == self.capacity:
            # For a cached object, a request in this step is still to come.
            values = {other: (self.value(other, step, step), self.number[other]) for other in self.cached}
            victim = min(values, key=values.get)
            if not self.admits(self.value(name, step + 1, step), values[victim][0]):
                return
            del self.cached[victim]
        self.cached[name] = True

    def admits(self, own, least):
        return own > least


class OPTMAD(OPT):
    """OPT that ranks objects by the aggregate delay of their next window, divided by the steps to its start."""

    def value(self, name, step, now):
        coming = self.following(name, step)
        if not coming:
            return 0.0
        return sum(self.z - (at - coming[0]) for at in coming if at - coming[0] < self.z) / (coming[0] - now + 1)

    def admits(self, own, least):
        return own >= least


POLICIES = {"lru": LRU, "lru_mad": LRUMAD, "arc": ARC, "arc_mad": ARCMAD, "opt": OPT, "opt_mad": OPTMAD}
