"""Run conformance vectors through a cache of a Python library, and print its outcomes.

    python adapter.py list                                    # the caches: name, library, version, policy
    python adapter.py cachetools.LRUCache VECTORS [RUNS]      # VECTORS: a file such as lru.json
    python adapter.py cachetools.LRUCache 2 "1 2 1 3 2"       # one trace on a cache of 2 blocks; @FILE reads it

A cache is a function of the capacity that returns ``reference(block, write)``: whether the block was in the cache.
"""

import json
import sys
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path


def mapping(make):
    """Wrap a cache with the interface of a dictionary; ``make(capacity)`` makes it."""

    def open_cache(capacity):
        cache, absent = make(capacity), object()

        def reference(block, write):
            hit = block in cache if write else cache.get(block, absent) is not absent
            if write or not hit:
                cache[block] = True
            return hit

        return reference

    return open_cache


def standard(capacity):
    """Wrap functools.lru_cache, which has no way to write."""
    load = lru_cache(maxsize=capacity)(lambda block: True)

    def reference(block, write):
        before = load.cache_info().hits
        load(block)
        return load.cache_info().hits > before

    reference.writes = False
    return reference


def theine(capacity):
    """Wrap theine.Cache, whose look-ups all count, so that writes are left out."""
    from theine import Cache

    cache = Cache(capacity)

    def reference(block, write):
        hit = cache.get(block)[1]
        if not hit:
            cache.set(block, True)
        return hit

    reference.writes = False
    return reference


def libcachesim(name, least):
    """Wrap a cache of libCacheSim, which aborts or caches nothing with fewer than `least` blocks."""
    import libcachesim as simulator

    def open_cache(capacity):
        cache = getattr(simulator, name)(cache_size=capacity)

        def reference(block, write):
            request = simulator.Request()
            request.obj_id, request.obj_size = block, 1
            return cache.get(request)

        return reference

    open_cache.least = least
    return open_cache


def caches():
    """Return by name: library, policy that it claims to have, whether it is deterministic, function of the capacity."""
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
    names = {"TwoQ": "2q"}
    for name, least in (simulated | drawn).items():
        policy = names.get(name, name.lower())
        found[f"libcachesim.{name}"] = ("libcachesim", policy, name not in drawn, libcachesim(name, least))
    return found


def replay(open_cache, capacity, trace, writes):
    """Replay a trace; return the outcomes as a string of 0 and 1, or None if the cache offers no such run."""
    if capacity < getattr(open_cache, "least", 1):
        return None
    reference = open_cache(capacity)
    if writes and not getattr(reference, "writes", True):
        return None
    written = set(writes)
    return "".join("1" if reference(block, number in written) else "0" for number, block in enumerate(trace))


def main(name, *rest):
    """List the caches, or print the outcomes of a cache on one trace or on the vectors of a file."""
    known = caches()
    if name == "list":
        for cache, (library, policy, certain, _) in known.items():
            number = sys.version.split()[0] if library == "python" else version(library)
            print(cache, library, number, policy, "certain" if certain else "chance", sep="\t")
        return
    *_, certain, open_cache = known[name]
    if len(rest) == 2 and rest[0].isdigit():
        text = Path(rest[1][1:]).read_text() if rest[1].startswith("@") else rest[1]
        print(replay(open_cache, int(rest[0]), [int(block) for block in text.split()], []))
        return
    path, runs = Path(rest[0]), int(rest[1]) if len(rest) > 1 else 1
    suite = json.loads(path.read_text())
    for vector in suite["vectors"]:
        if not vector.get("parameters") and certain:
            hits = replay(open_cache, vector["capacity"], vector["trace"], vector.get("writes", []))
            if hits is not None:
                print(json.dumps({"id": vector["id"], "hits": hits}))
    for vector in suite["long"]:
        trace = [int(line) for line in (path.parent / vector["file"]).read_text().split()]
        for _ in range(runs):
            hits = replay(open_cache, vector["capacity"], trace, [])
            if hits is not None:
                print(json.dumps({"id": vector["id"], "hits": hits}))


if __name__ == "__main__":
    main(*sys.argv[1:])
