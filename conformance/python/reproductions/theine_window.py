# theine.Cache, capacity 1000, trace n n-20 for n to 100000: prints over 80000 hits; wtinylfu has under 4000 hits
#
# A window of 1 %, 10 blocks, is too small to hold a block until its second reference; with a larger window, nearly all
# second references are hits.
from theine import Cache

cache, hits = Cache(1000), 0
for n in range(1, 100_001):
    for block in (n, n - 20):
        if block < 1:
            continue
        if cache.get(block)[1]:
            hits += 1
        else:
            cache.set(block, True)
print(hits)
