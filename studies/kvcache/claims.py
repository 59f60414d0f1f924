"""Record what the tables of the kvcache study show for each statement of its ledger."""

import numpy as np
import xarray as xr

from misspenalty_studies.common.claims.tables import Table, cross
from misspenalty_studies.kvcache.settings import ALL

FIGURE_9 = [10_000, 100_000, 1_000_000, 2_000_000, 4_000_000, 5_000_000, 8_000_000, 10_000_000, 50_000_000]
LOCAL, LARGE = 3_000_000, 50_000_000  # tokens
SIZES = [1_000_000, 2_000_000, 3_000_000, 4_000_000, 5_000_000, 8_000_000, 10_000_000, 15_000_000]
LARGEST = [25_000_000, 50_000_000, 100_000_000]
PAST_LIRS = [8_000_000, 10_000_000, 15_000_000, 25_000_000]
POLICIES = list(ALL)
TABLE_1 = [1000, 10_000, 30_000, 50_000, 100_000]  # blocks
ONLINE = [policy for policy in POLICIES if policy != "opt"]
SECOND = [1_500_000, 3_000_000, 5_120_000, 10_000_000, 25_000_000, 50_000_000]
GPU, EQUAL = 1_500_000, 5_120_000  # first levels
CACHES, ROUTINGS = ["none", "gpu", "local", "shared"], ["aware", "balanced", "random"]
PAPER = {"workload": ["conversation"]}
JUDGED = {"part": ["judged"]}
COSTS = (
    "least_bandwidth_a800",
    "least_bandwidth_h800",
    "token_cache",
    "cache_of_3m_tokens",
    "nodes_for_50m_tokens",
    "cache_of_128k_tokens",
)
TABLES = {
    "table1": Table(
        ("workload", "policy", "cache_blocks"),
        ("hit_pct",),
        cross(**PAPER, policy=["lfu", "lru"], cache_blocks=TABLE_1),
    ),
    "table2": Table(
        ("workload",),
        ("blocks_used_once_pct", "requests", "mean_input_tokens", "mean_output_tokens", "max_input_tokens", "span_s"),
        cross(**PAPER),
    ),
    "fig9": Table(
        ("workload", "cache_tokens"),
        ("hit_pct", "possible_pct", "share_of_possible_pct"),
        cross(**PAPER, cache_tokens=sorted({*FIGURE_9, LOCAL})),
    ),
    "fig10": Table(
        ("workload", "cache", "routing"),
        ("hit_pct", "prefill_s", "ttft_s"),
        cross(**PAPER, cache=CACHES, routing=ROUTINGS),
    ),
    "costs": Table(("quantity",), ("value",), cross(quantity=COSTS)),
    "trace_parts": Table(("part",), ("blocks_used_once_pct",), cross(**JUDGED)),
    "hits": Table(
        ("policy", "cache_tokens", "part"),
        ("share_of_possible_pct", "block_hit_pct", "prefix_block_pct", "in_prefix_pct"),
        cross(policy=POLICIES, cache_tokens=[*SIZES, *LARGEST], **JUDGED),
    ),
    "second_level": Table(
        ("first_tokens", "policy", "second_tokens", "part"),
        ("block_hit_pct",),
        cross(first_tokens=[GPU, EQUAL], policy=POLICIES, second_tokens=SECOND, **JUDGED),
    ),
    "ttft": Table(
        ("first_tokens", "policy", "second_tokens", "kind", "part"),
        ("ttft_s", "p99_ttft_s", "slower", "loading_pays_pct"),
        (
            *cross(first_tokens=[GPU, EQUAL], policy=POLICIES, second_tokens=SECOND, kind=["dram", "ssd"], **JUDGED),
            *cross(first_tokens=[GPU, EQUAL], policy=["none"], second_tokens=[0], kind=["none"], **JUDGED),
        ),
    ),
    "cluster": Table(("cache", "routing", "part"), ("hit_pct",), cross(cache=["local"], routing=ROUTINGS, **JUDGED)),
}


def claims(record, tables):
    """Record every claim of the ledger whose id begins with ``kvcache``."""
    _trace_and_costs(record, tables)
    _figures(record, tables)
    _single(record, tables)
    _second(record, tables)
    _times(record, tables)


def _trace_and_costs(record, tables):
    facts = tables["table2"].loc["conversation"]
    record.value("kvcache.table2.requests", facts.requests)
    record.value("kvcache.table2.input", facts.mean_input_tokens)
    record.value("kvcache.table2.output", facts.mean_output_tokens)
    record.bound("kvcache.s521.maximum", facts.max_input_tokens)
    record.value("kvcache.s521.hour", facts.span_s)
    record.bound("kvcache.arxiv.unused", facts.blocks_used_once_pct)
    earlier = tables["table1"].loc["conversation"].hit_pct
    record.order("kvcache.policy.arxiv", {policy: earlier[policy][TABLE_1] for policy in ("lfu", "lru")})
    value = tables["costs"].value
    record.value("kvcache.s22.bandwidth.a800", value["least_bandwidth_a800"])
    record.value("kvcache.s22.bandwidth.h800", value["least_bandwidth_h800"])
    record.value("kvcache.s531.token", value["token_cache"])
    record.equal("kvcache.s531.terabyte", [1.0], [value["cache_of_3m_tokens"]])
    record.bound("kvcache.s531.nodes", value["nodes_for_50m_tokens"])
    record.value("kvcache.s541.size", value["cache_of_128k_tokens"])


def _figures(record, tables):
    lru = tables["fig9"].loc["conversation"]
    share = lru.share_of_possible_pct
    record.value("kvcache.table2.ratio", lru.possible_pct[LARGE])
    record.value("kvcache.fig9.local", share[LOCAL])
    record.bound("kvcache.fig9.below_half", share[LOCAL])
    record.bound("kvcache.fig9.fifty_million", share[LARGE])
    for size in FIGURE_9:
        record.value(f"kvcache.fig9.conversation.{size}", lru.hit_pct[size])
    record.trend("kvcache.fig9.rise", lru.hit_pct[sorted({*FIGURE_9, LOCAL})])
    cluster = tables["fig10"].loc["conversation"]
    aware = {cache: cluster.loc[(cache, "aware")] for cache in CACHES}
    shared, local = aware["shared"], aware["local"]
    record.value("kvcache.fig10.conversation.hit", shared.hit_pct / local.hit_pct, neutral=1)
    record.value("kvcache.fig10.conversation.time", shared.prefill_s / local.prefill_s, neutral=1)
    record.value("kvcache.s523.reduction", 100 * (1 - shared.prefill_s / aware["none"].prefill_s), neutral=0)
    record.value("kvcache.s523.vllm_prefix", aware["gpu"].prefill_s / shared.prefill_s, neutral=1)
    schedulers = {
        "shared_aware": ("shared", "aware"),
        "local_aware": ("local", "aware"),
        "load_balancing": ("local", "balanced"),
        "random": ("local", "random"),
    }
    record.order("kvcache.fig5.order", {name: cluster.loc[key].ttft_s for name, key in schedulers.items()})
    record.no_table(
        "kvcache.fig9.tool",
        "kvcache.fig10.tool.hit",
        "kvcache.fig10.tool.time",
        "kvcache.fig9.order",
        "kvcache.s321.lru",
    )


def _single(record, tables):
    hits = cells(tables["hits"], part="judged").sel(policy=POLICIES, cache_tokens=[*SIZES, *LARGEST])
    share = hits.share_of_possible_pct

    def order(claim, policies, sizes):
        record.order(f"kvcache.own.{claim}", share.sel(policy=policies, cache_tokens=sizes), "policy")

    record.bound("kvcache.own.once", tables["trace_parts"].blocks_used_once_pct["judged"])
    lead = share.sel(policy="mq", cache_tokens=LOCAL) - share.sel(policy="lru", cache_tokens=LOCAL)
    record.bound("kvcache.own.mq_lru", lead)
    order("mq_never_below", ["lru", "mq"], SIZES)
    order("small_order", ["lru", "mq", "lirs", "opt"], [1_000_000, 2_000_000])
    order("large_order", ["lirs", "lru"], PAST_LIRS)
    order("queues", ["sieve", "lru", "s3fifo"], [LOCAL])
    kept = hits.in_prefix_pct
    steady = kept.sel(policy=["lru", "mq", "arc", "lirs"])
    record.bound("kvcache.own.prefix_kept", steady.min(skipna=False))
    record.bound("kvcache.own.prefix_wtinylfu", kept.sel(policy="wtinylfu", cache_tokens=2_000_000))
    record.bound("kvcache.own.prefix_random", kept.sel(policy="random", cache_tokens=LOCAL))
    few = hits.sel(policy=ONLINE, cache_tokens=SIZES)
    record.bound("kvcache.own.prefix_winner", winners_differ(few.block_hit_pct, few.prefix_block_pct))


def _second(record, tables):
    hit = cells(tables["second_level"].block_hit_pct, part="judged").sel(policy=POLICIES, second_tokens=SECOND)
    equal = hit.sel(first_tokens=EQUAL, second_tokens=EQUAL)
    record.bound("kvcache.own.second_lru", equal.sel(policy="lru"))
    record.bound("kvcache.own.second_mq", equal.sel(policy="mq") / equal.sel(policy="lru"))
    record.order("kvcache.own.second_order", equal.sel(policy=["lru", "mq", "lirs", "opt"]), "policy")
    record.bound("kvcache.own.second_arc", abs(equal.sel(policy="arc") - equal.sel(policy="lru")))
    larger = hit.sel(first_tokens=EQUAL, second_tokens=10_000_000)
    best = larger.sel(policy=ONLINE).max(skipna=False)
    record.bound("kvcache.own.second_best", best - larger.sel(policy="mq"))
    large = hit.sel(first_tokens=EQUAL, second_tokens=25_000_000)
    behind = large.sel(policy="opt") - large.sel(policy=["lru", "arc", "mq"])
    record.bound("kvcache.own.second_large", behind.max(skipna=False))
    gpu = hit.sel(first_tokens=GPU, second_tokens=LOCAL, policy=["lru", "arc", "mq", "lirs"])
    record.order("kvcache.own.gpu_mq", gpu, "policy")


def _times(record, tables):
    times = tables["ttft"]
    mean, p99 = times.ttft_s, times.p99_ttft_s
    memory = cells(mean, part="judged", kind="dram").sel(
        policy=POLICIES, second_tokens=SECOND, first_tokens=[GPU, EQUAL]
    )
    gpu = memory.sel(first_tokens=GPU, second_tokens=LOCAL)
    record.bound("kvcache.own.ttft_mq", 100 * (1 - gpu.sel(policy="mq") / gpu.sel(policy="lru")))
    record.order("kvcache.own.ttft_order", gpu.sel(policy=["lru", "mq", "lirs", "opt"]), "policy")
    shorter = p99[(GPU, "mq", LOCAL, "dram", "judged")] / p99[(GPU, "none", 0, "none", "judged")]
    record.bound("kvcache.own.ttft_p99", 100 * (1 - shorter))
    hit = cells(tables["second_level"].block_hit_pct, part="judged")
    hit = hit.sel(policy=ONLINE, second_tokens=SECOND, first_tokens=[GPU, EQUAL])
    record.bound("kvcache.own.ttft_winner", winners_differ(hit, -memory.sel(policy=ONLINE)))
    without = mean[(EQUAL, "none", 0, "none", "judged")]
    saved = {kind: without - mean[(EQUAL, "lirs", EQUAL, kind, "judged")] for kind in ("dram", "ssd")}
    record.bound("kvcache.own.flash_half", 100 * saved["ssd"] / saved["dram"])
    slower = cells(times.slower, part="judged", kind="dram")
    slower = slower.sel(policy=POLICIES, second_tokens=SECOND, first_tokens=[GPU, EQUAL])
    record.bound("kvcache.own.memory_pays", slower.max(skipna=False))
    record.bound("kvcache.own.flash_pays", times.loading_pays_pct[(EQUAL, "lirs", EQUAL, "ssd", "judged")])
    local = tables["cluster"].hit_pct
    ratio = local[("local", "balanced", "judged")] / local[("local", "aware", "judged")]
    record.bound("kvcache.own.routing", 100 * ratio)


def cells(column, **where):
    """Select the cells of a column whose keys have these values, as an array over the other keys."""
    return column.xs(tuple(where.values()), level=tuple(where)).to_xarray()


def winners_differ(first, second):
    """Count the points where no policy is greatest in both `first` and `second`; return NaN if a value is missing."""
    best = second.where(first == first.max("policy")).max("policy")
    top = second.max("policy")
    differ = top - best > 1e-9 * np.maximum(abs(top), abs(best))
    whole = bool(first.notnull().all() & second.notnull().all())
    return differ.sum().where(xr.DataArray(whole))
