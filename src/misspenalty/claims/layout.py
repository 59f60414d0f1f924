"""The result tables that the ledger reads: their keys, the members of each key, their value columns.

A *key* column says which row is meant, a value column holds what was obtained there. `complete` lists the
members that a statement about "every" member needs; `inner` names the keys over which ``max``, ``min``, ``sum``
and ``count`` run; `neutral` is the value of a column that already is a comparison when the two sides are equal.
"""

from dataclasses import dataclass, field

POLICIES = tuple(
    [
        "fifo",
        "lru",
        "mru",
        "clock",
        "random",
        "slru",
        "lfu",
        "fbr",
        "lfru",
        "lrfu",
        "lru2",
        "2q",
        "lirs",
        "clockpro",
        "arc",
        "car",
        "mq",
        "s3fifo",
        "sieve",
        "wtinylfu",
        "opt",
        "sarc",
        "lru_top",
        "lru_bottom",
    ]
)
TRAVERSALS = ("T6", "T1-", "T1", "T1+")
PLATFORMS = ("sparc10_hp", "sparc10_seagate", "ultra170_seagate")
CASES = tuple(
    [
        "fig9_point",
        "busy_processor",
        "quickstore_mapped",
        "quickstore_unmapped",
        "iterative_traversal",
        "server_hit_23",
        "slower_network",
        "faster_network",
        "faster_network_and_offsets",
        "shared_server",
        "pentium_pro",
        "pentium_pro_larger_l2",
    ]
)
QUANTITIES = tuple(
    [
        "conversion_us",
        "fetch_us",
        "stack_scanning_us",
        "replacement_visible_us",
        "total_time_increase_pct",
        "server_cache_hit_pct",
        "replacement_over_disk_pct",
        "replacement_plus_conversion_over_fetch_pct",
        "conversion_over_alpha_pct",
        "replacement_over_alpha_pct",
        "installed_objects_per_fetch",
        "swizzled_pointers_per_fetch",
        "surviving_fraction_of_page",
        "whole_page_evictions_pct",
    ]
)
LOADS = {
    "cache_insensitive": (1136, 5682, 9091, 10227, 10795, 11364),
    "cache_sensitive": (2500, 12500, 20000, 22500, 23750, 25000),
}


@dataclass(frozen=True)
class Layout:
    """Columns of one result table."""

    keys: dict  # key column -> its members, or None where it is a number
    values: tuple  # value columns that have to be there; the first is the one meant when none is named
    optional: tuple = ()  # further columns a statement may ask for; without them it cannot be tested
    complete: dict = field(default_factory=dict)  # key -> members "every" stands for (dict: depending on `config`)
    inner: tuple = ()  # keys an aggregate runs over; empty = all
    parts: tuple = ()  # members of `component` that add up to the whole
    points: dict = field(default_factory=dict)  # traversal -> the `cache_mb` meant where none is given
    defaults: dict = field(default_factory=dict)  # key -> member meant where none is asked for, or the cell is empty
    neutral: dict = field(default_factory=dict)  # value column or quantity -> its value when both sides are equal

    def key_of(self, member):
        """Name of the key that `member` belongs to, or None."""
        if isinstance(member, int | float):
            numeric = [key for key, members in self.keys.items() if members is None]
            return numeric[0] if len(numeric) == 1 else None
        return next((key for key, members in self.keys.items() if members and member in members), None)


_SARC = {"config": tuple(LOADS), "scaled_iops": None, "policy": POLICIES}
_SARC_COMPLETE = {"config": tuple(LOADS), "scaled_iops": LOADS, "policy": ("lru_top", "lru_bottom", "sarc")}
_MQ = {"cache_mb": None, "policy": POLICIES}
_MQ_COMPLETE = {"cache_mb": (128, 256, 512), "policy": ("mq", "lru")}

TABLES = {
    "mq_table4": Layout(_MQ, ("hit_ratio_pct",), optional=("timed_hit_ratio_pct",), complete=_MQ_COMPLETE),
    "mq_fig7": Layout(_MQ, ("normalized_rate",), complete=_MQ_COMPLETE, neutral={"normalized_rate": 1}),
    "sarc_table2": Layout(
        _SARC, ("read_ms", "write_ms"), complete=_SARC_COMPLETE, inner=("config", "scaled_iops", "policy")
    ),
    "sarc_fig6": Layout(
        _SARC,
        ("response_ms", "power", "stage_rate"),
        complete=_SARC_COMPLETE,
        inner=("config", "scaled_iops", "policy"),
    ),
    "hac_fig9": Layout(
        {
            "traversal": TRAVERSALS,
            "cache_mb": None,
            "component": ("fetch", "replacement", "conversion", "total"),
        },
        ("us",),
        complete={"traversal": TRAVERSALS},
        inner=("component",),
        parts=("fetch", "replacement", "conversion"),
        points={"T6": 0.16, "T1-": 5, "T1": 12, "T1+": 20},
    ),
    "hac_fig10": Layout(
        {"traversal": TRAVERSALS, "component": ("usage_computation", "compaction", "stack_scanning")},
        ("us",),
        complete={"traversal": TRAVERSALS},
        inner=("component",),
        parts=("usage_computation", "compaction", "stack_scanning"),
    ),
    "hac_fig11": Layout(
        {"traversal": TRAVERSALS, "component": ("client", "server", "disk", "network")},
        ("us",),
        complete={"traversal": TRAVERSALS},
        inner=("component",),
        parts=("client", "server", "disk", "network"),
    ),
    "hac_projections": Layout(
        {"case": CASES, "traversal": TRAVERSALS, "quantity": QUANTITIES},
        ("value",),
        inner=("traversal",),
        neutral={
            "conversion_over_alpha_pct": 100,
            "replacement_over_alpha_pct": 100,
            "replacement_over_disk_pct": 100,
            "total_time_increase_pct": 0,
        },
    ),
    "epcm_fig7": Layout(
        {
            "benchmark": ("andrew", "ld", "glimpse", "ssh"),
            "model": ("cold", "hot", "last_successor", "pcm", "epcm"),
            "partition_size": None,
            "model_order": None,
            "buffer_copy": (True, False),
        },
        (
            "elapsed_s",
            "compute_s",
            "elapsed_reduction_s",
            "io_reduction_pct",
            "read_reduction_pct",
            "read_latency_us",
        ),
        inner=("partition_size", "model_order"),
        defaults={"buffer_copy": True},
        neutral={"elapsed_reduction_s": 0, "io_reduction_pct": 0, "read_reduction_pct": 0},
    ),
    "epcm_fig8": Layout(
        {"run": ("hot", "epcm"), "bucket_low_us": None, "bucket_high_us": None},
        ("events",),
        inner=("bucket_low_us", "bucket_high_us"),
    ),
    "vlog_table2": Layout(
        {"platform": PLATFORMS}, ("speedup",), complete={"platform": PLATFORMS}, neutral={"speedup": 1}
    ),
    "vlog_fig9": Layout(
        {
            "platform": PLATFORMS,
            "system": ("update_in_place", "virtual_log"),
            "component": ("scsi_overhead", "transfer", "locate", "other", "total"),
        },
        ("ms",),
        complete={"platform": PLATFORMS, "system": ("update_in_place", "virtual_log")},
        inner=("component",),
        parts=("scsi_overhead", "transfer", "locate", "other"),
    ),
}
