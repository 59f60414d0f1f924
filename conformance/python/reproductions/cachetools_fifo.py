# cachetools.FIFOCache, capacity 2, trace 1 2 w1 3 1: prints 00101; fifo has 00100
from cachetools import FIFOCache

cache, hits = FIFOCache(2), ""
for block, write in [(1, False), (2, False), (1, True), (3, False), (1, False)]:
    hit = block in cache
    if write or not hit:
        cache[block] = True
    hits += "01"[hit]
print(hits)
