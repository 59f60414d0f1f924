# libcachesim.LIRS, capacity 3, trace 1 2 3 4 5 4 3 2 1 2: prints 0000000101; lirs has 0000000100
import libcachesim

cache, hits = libcachesim.LIRS(cache_size=3), ""
for block in [1, 2, 3, 4, 5, 4, 3, 2, 1, 2]:
    request = libcachesim.Request()
    request.obj_id, request.obj_size = block, 1
    hits += "01"[cache.get(request)]
print(hits)
