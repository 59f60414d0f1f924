"""Record what the tables of the classics study show for each statement of its ledger."""

import xarray as xr

from misspenalty_studies.classics.settings import TABLE_1, TRACES
from misspenalty_studies.common.claims.tables import Table, cross

PRINTED = ("arc", "lru", "fbr", "lirs", "mq", "lru2", "2q", "lrfu", "opt")  # the rows of ARC's Table 1 except LFU
TUNED = ("lru2", "2q", "lrfu")
SPLIT = 32768  # pages: the cache size of ARC's Table 4
PROGRAM = [name for name, replays in TRACES.items() if replays.program]
EXAMPLES = {
    "2_pools": (60, 160, 450),
    "cpp": (35, 100, 500),
    "cs": (200, 600, 1000),
    "gli": (300, 1000, 1500),
    "loop": (256, 640, 960),
    "multi2": (400, 1000, 1800),
    "sprite": (100, 500, 1000),
}
LRU_ELSEWHERE = {
    "OLTP": (250, 500, 750, 1000, 1250, 1500, 1750, 2000),
    "gli": (250, 500, 750, 1000, 1250, 1500, 1750, 2000),
}

_HITS = tuple(
    row
    for trace, replays in TRACES.items()
    for row in cross(trace=[trace], cache_blocks=replays.cache_blocks, policy=replays.rows)
)
_LRU = tuple(
    row for trace, sizes in LRU_ELSEWHERE.items() for row in cross(trace=[trace], cache_blocks=sizes, policy=["lru"])
)
_FRC = cross(trace=["P3", "P6"], cache_blocks=[SPLIT], policy=["frc"])
_PROGRAM = tuple(
    row | {"reading": reading}
    for trace in PROGRAM
    for policy, reading in (("lru", "own"), ("opt", "own"), ("arc", "own"), ("lirs", "own"), ("lirs", "program"))
    for row in cross(trace=[trace], cache_blocks=TRACES[trace].cache_blocks, policy=[policy])
)
TABLES = {
    "hit_ratios": Table(
        ("trace", "cache_blocks", "policy"),
        ("hit_ratio_pct",),
        (*_HITS, *(row for row in _LRU if row not in _HITS), *_FRC),
    ),
    "program": Table(("trace", "cache_blocks", "policy", "reading"), ("misses",), _PROGRAM),
}


def claims(record, tables):
    """Record every claim of the ledger whose id begins with ``classics``."""
    ratios = tables["hit_ratios"].hit_ratio_pct

    def hit(trace, policy, sizes):
        """Return the hit ratios, in %, by cache size."""
        found = [ratios.loc[(trace, size, policy)] for size in sizes]
        return xr.DataArray(found, coords={"cache_blocks": list(sizes)}, dims="cache_blocks")

    def order(claim, trace, policies, sizes):
        record.order(f"classics.{claim}", {policy: hit(trace, policy, sizes) for policy in policies})

    _table_1(record, hit, order)
    _table_4(record, hit, order)
    for trace, sizes in LRU_ELSEWHERE.items():
        for size in sizes:
            record.value(f"classics.independent.{trace.lower()}.lru.{size}", hit(trace, "lru", [size]))
    _program(record, tables["program"].misses)
    for trace in ("OLTP", "P3", "P6"):
        sizes = TRACES[trace].cache_blocks
        order(f"car.{trace.lower()}.order", trace, ("clock", "car"), sizes)
        record.equal(f"classics.car.{trace.lower()}.like_arc", hit(trace, "car", sizes), hit(trace, "arc", sizes))
    record.no_table(
        "classics.lirs.hir", "classics.clockpro.time", *(f"classics.arc.oltp.lfu.{size}" for size in TABLE_1)
    )


def _table_1(record, hit, order):
    for size in TABLE_1:
        at = {policy: hit("OLTP", policy, [size]) for policy in (*PRINTED, "lfu")}
        for policy in PRINTED:
            record.value(f"classics.arc.oltp.{policy}.{size}", at[policy])
        order(f"arc.oltp.order.{size}", "OLTP", ("lru", "lfu", "lirs", "mq", "arc"), [size])
        for claim in ("fbr_order", "fbr_row"):
            order(f"arc.oltp.{claim}.{size}", "OLTP", ("fbr", "arc"), [size])
        for policy in TUNED:
            order(f"arc.oltp.{policy}_row.{size}", "OLTP", (policy, "arc"), [size])
        best = xr.concat([at[policy] for policy in at if policy != "opt"], "policy").max("policy", skipna=False)
        record.bound(f"classics.arc.oltp.min_margin.{size}", at["opt"] - best)
        record.value(f"classics.arc.oltp.gain.{size}", at["arc"] / at["lru"], neutral=1)
    for policy in PRINTED:
        record.trend(f"classics.arc.oltp.trend.{policy}", hit("OLTP", policy, TABLE_1))


def _table_4(record, hit, order):
    for trace in ("P3", "P6"):
        lru, arc, frc = (hit(trace, policy, [SPLIT]) for policy in ("lru", "arc", "frc"))
        for policy, obtained in (("lru", lru), ("arc", arc), ("frc", frc)):
            record.value(f"classics.arc.{trace.lower()}.{policy}", obtained)
        record.value(f"classics.arc.{trace.lower()}.ratio", arc / lru, neutral=1)
        order(f"arc.{trace.lower()}.figure2", trace, ("lru", "arc"), TRACES[trace].cache_blocks)
    record.bound("classics.arc.p3.frc_bound", hit("P3", "frc", [SPLIT]) - hit("P3", "arc", [SPLIT]))
    order("arc.p6.frc_order", "P6", ("frc", "arc"), [SPLIT])


def _program(record, misses):
    for trace in PROGRAM:
        sizes = TRACES[trace].cache_blocks
        for policy, reading in (("lru", "own"), ("opt", "own"), ("lirs", "program"), ("arc", "own")):
            record.value(
                f"classics.program.{trace}.{policy}", [misses.loc[(trace, size, policy, reading)] for size in sizes]
            )
        for size in EXAMPLES[trace]:
            record.value(f"classics.lirs.{trace}.lirs.{size}", misses.loc[(trace, size, "lirs", "own")])
