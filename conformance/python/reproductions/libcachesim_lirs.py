# libcachesim.LIRS, capacity 3, trace 1 2 3 3 1 3 1: prints 0001110; lirs has 0001111
import libcachesim

cache, hits = libcachesim.LIRS(cache_size=3), ""
for block in [1, 2, 3, 3, 1, 3, 1]:
    request = libcachesim.Request()
    request.obj_id, request.obj_size = block, 1
    hits += "01"[cache.get(request)]
print(hits)
