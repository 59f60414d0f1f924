# The kvcache study replays a production trace of prompts on one level of cache, on two levels, and on a cluster.
plan = PLANS["kvcache"]
KVCACHE = config["kvcache"]
KVCACHE_MACHINE = "studies/kvcache/machine.yaml"
# These tables are judged on parts of the trace.
KVCACHE_PARTS = ["hits", "second_level", "ttft"]

plan.stacked("trace_parts", runs="results/kvcache/runs/workload.csv")
plan.table("kvcache.tables.table2", workload="trace_parts")
plan.table("kvcache.tables.hits", hits="results/kvcache/runs/hits.csv")
plan.table("kvcache.tables.table1", hits="hits")
plan.table("kvcache.tables.fig9", hits="hits")
plan.table("kvcache.tables.second_level", levels="results/kvcache/runs/levels.csv")
plan.table("kvcache.tables.ttft", times="results/kvcache/runs/times.csv")
plan.stacked("cluster", runs="results/kvcache/runs/cluster.csv")
plan.table("kvcache.tables.fig10", cluster="cluster")
plan.stacked("sensitivity", runs="results/kvcache/runs/sensitivity.csv", part="further")
plan.table("kvcache.tables.costs", machine=KVCACHE_MACHINE)
plan.figure(
    "capacity",
    "Figure 9",
    "hits by capacity",
    table="hits",
    published="studies/kvcache/published/fig9.csv",
)
plan.figure("second_level", "Second level", "hits behind a first level")
plan.figure(
    "prefixes",
    "Prefixes",
    "block hits and contiguous prefixes",
    part="further",
    table="hits",
)
plan.figure("ttft", "Time to first token", "prefill and loading", part="further")
plan.conditions = ["table1", "fig9", "fig10", "hits", "second_level", "ttft"]
plan.seed = KVCACHE["seed"]


plan.simulation(
    "kvcache_single",
    "kvcache.runs.single",
    inputs=dict(trace=KVCACHE["trace"]),
    outputs=dict(workload="runs/workload", hits="runs/hits"),
    params=dict(settings=KVCACHE),
    threads=min(HALF, 2),
)


plan.simulation(
    "kvcache_two_levels",
    "kvcache.runs.two_levels",
    inputs=dict(trace=KVCACHE["trace"], machine=KVCACHE_MACHINE),
    outputs=dict(levels="runs/levels", times="runs/times"),
    params=dict(settings=KVCACHE),
    threads=min(HALF, 2),
)


plan.simulation(
    "kvcache_cluster",
    "kvcache.cluster.clusters",
    inputs=dict(trace=KVCACHE["trace"], machine=KVCACHE_MACHINE),
    outputs="runs/cluster",
    params=dict(settings=KVCACHE),
)


plan.simulation(
    "kvcache_sensitivity",
    "kvcache.conditions.sensitivity",
    inputs=dict(trace=KVCACHE["trace"], machine=KVCACHE_MACHINE),
    outputs="runs/sensitivity",
    params=dict(settings=KVCACHE),
    threads=min(HALF, 2),
)


plan.simulation(
    "kvcache_varied",
    "kvcache.conditions.conditions",
    inputs=dict(trace=KVCACHE["trace"], machine=KVCACHE_MACHINE),
    outputs={i: f"runs/conditions/{i}" for i in ("table1", "fig9", "fig10")},
    params=dict(settings=KVCACHE),
)


plan.simulation(
    "kvcache_parts",
    "kvcache.conditions.on_parts",
    inputs={item: f"results/kvcache/{item}.csv" for item in KVCACHE_PARTS},
    outputs={item: f"runs/conditions/{item}" for item in KVCACHE_PARTS},
)
