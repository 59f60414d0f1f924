# libcachesim.SLRU, capacity 4, trace 1 2 1 2 1 2 3 4 5 6 7 8 1: prints 0011110000000; slru has 0011110000001
import libcachesim

cache, hits = libcachesim.SLRU(cache_size=4), ""
for block in [1, 2, 1, 2, 1, 2, 3, 4, 5, 6, 7, 8, 1]:
    request = libcachesim.Request()
    request.obj_id, request.obj_size = block, 1
    hits += "01"[cache.get(request)]
print(hits)
