# libcachesim.WTinyLFU, capacity 100, trace 1-100 100 100 101 1: prints 3 hits; wtinylfu has 2 hits
import libcachesim

cache, hits = libcachesim.WTinyLFU(cache_size=100), 0
for block in [*range(1, 101), 100, 100, 101, 1]:
    request = libcachesim.Request()
    request.obj_id, request.obj_size = block, 1
    hits += cache.get(request)
print(hits)
