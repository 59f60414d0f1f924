"""Run conformance vectors through a cache of a Python library, and print its outcomes.

    python adapter.py list                               # caches: name, library, version, policy, certain or chance
    python adapter.py cachetools.LRUCache VECTORS [RUNS] # VECTORS: a file such as lru.json
    python adapter.py cachetools.LRUCache 2 "1 2 1 3 2"  # one trace in a cache of 2 blocks; @FILE reads one

Each cache is opened by a function of the capacity. It returns ``reference(block, write)``, which makes one reference
and returns whether the block was in the cache. If the library can also report, without a reference, whether a block is
in the cache, ``reference.holds(block)`` does so, and the adapter uses it to find the evictions.
"""

import json
import sys
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path


def mapping(make):
    """Wrap a cache that has the interface of a dictionary; ``make(capacity)`` makes the cache."""

    def open_cache(capacity):
        cache, absent = make(capacity), object()

        def reference(block, write):
            hit = block in cache if write else cache.get(block, absent) is not absent
            if write or not hit:
                cache[block] = True
            return hit

        reference.holds = getattr(cache, "peek", cache.__contains__)  # `in` would count as a use in cachebox
        return reference

    return open_cache


def standard(capacity):
    """Wrap functools.lru_cache, which does not support writes."""
    load = lru_cache(maxsize=capacity)(lambda block: True)

    def reference(block, write):
        misses = load.cache_info().misses
        return load(block) and load.cache_info().misses == misses

    return reference


def theine(capacity):
    """Wrap theine.Cache, which counts every look-up as a use; vectors with writes are therefore not run."""
    from theine import Cache

    cache = Cache(capacity)

    def reference(block, write):
        hit = cache.get(block)[1]
        if not hit:
            cache.set(block, True)
        return hit

    return reference


standard.writes = theine.writes = False


def libcachesim(name, least):
    """Wrap a cache of libCacheSim that aborts or stays empty if its capacity is below `least` blocks."""
    import libcachesim as simulator

    def request(block):
        made = simulator.Request()
        made.obj_id, made.obj_size = block, 1
        return made

    def open_cache(capacity):
        cache = getattr(simulator, name)(cache_size=capacity)

        def reference(block, write):
            return cache.get(request(block))

        reference.holds = lambda block: cache.find(request(block), False) is not None
        return reference

    open_cache.least = least
    return open_cache


def caches():
    """Return, for each cache, its library and claimed policy, whether it is deterministic, and its opening function."""
    import cachebox
    import cachetools
    from lru import LRU

    found = {
        "functools.lru_cache": ("python", "lru", True, standard),
        "lru-dict.LRU": ("lru-dict", "lru", True, mapping(LRU)),
        "theine.Cache": ("theine", "wtinylfu", False, theine),
    }
    for name, policy in ("LRUCache", "lru"), ("FIFOCache", "fifo"), ("LFUCache", "lfu"), ("RRCache", "random"):
        found[f"cachetools.{name}"] = ("cachetools", policy, policy != "random", mapping(getattr(cachetools, name)))
        found[f"cachebox.{name}"] = ("cachebox", policy, policy != "random", mapping(getattr(cachebox, name)))
    simulated = {"LRU": 1, "FIFO": 1, "Clock": 1, "Sieve": 1, "LFU": 1, "ARC": 1, "SLRU": 4, "TwoQ": 4, "LIRS": 2}
    simulated |= {"S3FIFO": 20, "Clock2QPlus": 20, "WTinyLFU": 100, "ClockPro": 3, "MQ": 3}
    drawn = {"Hyperbolic": 1, "LeCaR": 2, "LHD": 1}
    for name, least in (simulated | drawn).items():
        policy = {"TwoQ": "2q"}.get(name, name.lower())
        found[f"libcachesim.{name}"] = ("libcachesim", policy, name not in drawn, libcachesim(name, least))
    return found


def replay(open_cache, capacity, trace, writes=(), tell=False):
    """Return the outcomes of a trace (1 for a hit), or None if the cache cannot run the trace.

    With `tell`, also return the evictions, if the cache can report which blocks it holds.
    """
    if capacity < getattr(open_cache, "least", 1) or (writes and not getattr(open_cache, "writes", True)):
        return None
    reference, hits, evicted, cached, written = open_cache(capacity), "", {}, set(), set(writes)
    holds = getattr(reference, "holds", None) if tell else None
    for number, block in enumerate(trace):
        hits += "01"[bool(reference(block, number in written))]
        before, cached = cached, {each for each in cached | {block} if holds and holds(each)}
        if before - cached:
            evicted[number] = sorted(before - cached)
    return {"hits": hits, "evicted": evicted} if holds else {"hits": hits}


def main(name, *rest):
    """List the caches, or print the outcomes of a cache on one trace or on the vectors of a file."""
    if name == "list":
        for cache, (library, policy, certain, _) in caches().items():
            number = sys.version.split()[0] if library == "python" else version(library)
            print(cache, library, number, policy, "certain" if certain else "chance", sep="\t")
        return
    *_, certain, open_cache = caches()[name]
    if len(rest) == 2 and rest[0].isdigit():
        text = Path(rest[1][1:]).read_text() if rest[1].startswith("@") else rest[1]
        told = replay(open_cache, int(rest[0]), [int(block) for block in text.split()])
        if told is not None:  # None means that the cache does not offer this capacity
            print(told["hits"])
        return
    path, runs = Path(rest[0]), int(rest[1]) if len(rest) > 1 else 1
    suite = json.loads(path.read_text())
    short = [v for v in suite["vectors"] if certain and not v.get("parameters")]
    asked = [(v, replay(open_cache, v["capacity"], v["trace"], v.get("writes", ()), tell=True)) for v in short]
    for vector in suite["long"]:
        trace = [int(line) for line in (path.parent / vector["file"]).read_text().split()]
        asked += [(vector, replay(open_cache, vector["capacity"], trace)) for _ in range(runs)]
    for vector, told in asked:
        if told is not None:
            print(json.dumps({"id": vector["id"]} | told))


if __name__ == "__main__":
    main(*sys.argv[1:])
