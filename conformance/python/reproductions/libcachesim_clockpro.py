# libcachesim.ClockPro, capacity 3, trace 1 1 2 2: prints 0100; clockpro has 0101
import libcachesim

cache, hits = libcachesim.ClockPro(cache_size=3), ""
for block in [1, 1, 2, 2]:
    request = libcachesim.Request()
    request.obj_id, request.obj_size = block, 1
    hits += "01"[cache.get(request)]
print(hits)
