"""Record what the tables of the dispute study show for each statement of its ledger."""

import numpy as np

from misspenalty_studies.common.claims.tables import Table, cross
from misspenalty_studies.dispute.published import EVERY, FIGURE_6, FIGURE_7, WEB
from misspenalty_studies.dispute.runs import ZIPF, ZIPF_BLOCKS

LARGE, SMALL = 0.1, 0.001  # cache sizes of the paper, as shares of the objects
OWN = "own"  # the reading of a policy that is judged
LAST_RULE = "a result of every plotted policy"
FAST_DEMOTION = ("wtinylfu", "lirs", "2q", "slru", "arc", "s3fifo")
TRADITIONAL = ("wtinylfu", "lirs", "2q", "slru", "arc")
RECENT = ("cacheus", "lecar", "lhd", "fifo_merge")
MARKS = ("p10", "p25", "median", "mean", "p75", "p90")  # the marks that Figure 6 draws
EXAMPLES = {"twitter": "cluster52", "msr": "hm_0.IQI.bin"}
EXAMPLE_POLICIES = ("lru", "arc", "s3fifo", "wtinylfu", "wtinylfu_10")
FILES = ("s3fifo", "2q", "arc", "lirs", "lhd", "lrb", "wtinylfu", "wtinylfu_10")
PROGRAM_POLICIES = ("lru", "fifo", "arc", "2q", "lirs", "s3fifo", "sieve", "lfu", "opt", "wtinylfu", "slru", "clock")
BY_RULES = ("slru", "lirs", "wtinylfu")  # policies that are also replayed with the program's rules
PROGRAM_BLOCKS = {  # 10 % of the blocks, in the order in which the ledger lists the traces
    "2-pools": 993, "cpp": 122, "cs": 140, "gli": 252, "loop": 101, "multi2": 568, "orm-busy": 7634, "sprite": 707,
}  # fmt: skip
BLOCK = ("AlibabaBlock", "Cloudphysics", "FIU", "MSR", "SYSTOR", "TencentBlock")
SIEVE_FIGURE_1 = ("lru", "clock", "lirs", "arc")

TABLES = {
    "reductions": Table(
        ("selection", "size_ratio", "policy"),
        (*MARKS, "mean_of_datasets", "unbounded_mean", "worse_than_fifo_pct", "worse_than_lru_pct", "behind_ci95_low",
         "behind_datasets_ci95_low"),
        (
            *cross(selection=["authors"], size_ratio=[SMALL, LARGE], policy=EVERY),
            *cross(selection=["all"], size_ratio=[LARGE], policy=["s3fifo"]),
            *cross(selection=["sieve"], size_ratio=[LARGE], policy=SIEVE_FIGURE_1),
        ),
    ),
    "datasets": Table(
        ("selection", "size_ratio", "dataset", "policy"),
        ("mean", "rank", "rank_of_all"),
        (
            *cross(selection=["authors", "all"], size_ratio=[LARGE], dataset=(*BLOCK, *WEB), policy=FIGURE_7),
            *cross(selection=["authors"], size_ratio=[LARGE], dataset=(*BLOCK, *WEB), policy=["slru", "fifo_merge"]),
        ),
    ),
    "selection": Table(
        ("size_ratio", "rule"), ("traces", "datasets"), cross(size_ratio=[LARGE], rule=[LAST_RULE])
    ),
    "examples": Table(
        ("trace", "policy"), ("miss_ratio",), cross(trace=EXAMPLES.values(), policy=EXAMPLE_POLICIES)
    ),
    "program": Table(
        ("trace", "cache_blocks", "policy", "reading"),
        ("misses",),
        (
            *cross(trace=[ZIPF], cache_blocks=ZIPF_BLOCKS, policy=["fifo", "lru", "sieve", "opt"], reading=[OWN]),
            *(
                row
                for trace, size in PROGRAM_BLOCKS.items()
                for row in cross(trace=[trace], cache_blocks=[size], policy=PROGRAM_POLICIES, reading=[OWN])
            ),
            *(
                row
                for trace, size in PROGRAM_BLOCKS.items()
                for row in cross(trace=[trace], cache_blocks=[size], policy=BY_RULES, reading=["program"])
            ),
        ),
    ),
    "always_missed": Table(
        ("objects_in_cache", "policy"),
        ("always_missed_pct",),
        (
            {"objects_in_cache": "below 10", "policy": "wtinylfu_10"},
            *cross(objects_in_cache=["below 10", "10 to 99"], policy=["wtinylfu"]),
        ),
    ),
    "replayed_reductions": Table(
        ("kind", "size_ratio", "policy"),
        ("mean", "best_pct"),
        cross(kind=["web"], size_ratio=[LARGE], policy=(*SIEVE_FIGURE_1, "sieve")),
    ),
    "trace_comparisons": Table(("kind", "trace", "size_ratio"), ("sieve_below_arc_pct", "sieve_below_lru_pct"), ()),
}  # fmt: skip


def claims(record, tables):
    """Record every claim of the ledger whose id begins with ``dispute``."""
    _reductions(record, tables["reductions"])
    _datasets(record, tables["datasets"])
    chosen = tables["selection"].loc[(LARGE, LAST_RULE)]
    record.value("dispute.s3.traces", chosen.traces)
    record.value("dispute.s3.datasets", chosen.datasets)
    for name, trace in EXAMPLES.items():
        for policy in EXAMPLE_POLICIES:
            obtained = tables["examples"].miss_ratio.loc[(trace, policy)]
            record.value(f"dispute.s3.table2.{name}.{policy}", obtained)
    _program(record, tables["program"].misses)
    always = tables["always_missed"].always_missed_pct
    record.bound("dispute.floors.wtinylfu", [always.loc[(band, "wtinylfu")] for band in ("below 10", "10 to 99")])
    record.bound("dispute.floors.wtinylfu_10", always.loc[("below 10", "wtinylfu_10")])
    _replays(record, tables["replayed_reductions"], tables["trace_comparisons"])
    record.no_table(
        "dispute.s3.onehit",
        "dispute.s3.throughput",
        "dispute.sieve.next",
        "dispute.sieve.traces",
        "dispute.sieve.figure1.sieve",
        "dispute.sieve.throughput",
    )


def _reductions(record, reductions):
    def cell(policy, column, size=LARGE, selection="authors"):
        return reductions[column].loc[(selection, size, policy)]

    def order(claim, column, *policies):
        record.order(f"dispute.s3.{claim}", {policy: [cell(policy, column)] for policy in policies})

    rivals = [name for name in FIGURE_6 if name != "s3fifo"]
    for word, size in (("large", LARGE), ("small", SMALL)):
        best = _most([cell(name, "mean", size) for name in rivals])
        record.order(f"dispute.s3.mean_best.{word}", {"others": [best], "s3fifo": [cell("s3fifo", "mean", size)]})
        record.value(f"dispute.s3.tinylfu.worse.{word}", cell("wtinylfu", "worse_than_fifo_pct", size))
        for policy in FILES:
            record.value(f"dispute.files.{word}.{policy}", cell(policy, "mean", size))
    record.value("dispute.s3.mean", cell("s3fifo", "mean"))
    record.bound("dispute.s3.p90", cell("s3fifo", "p90"))
    leads = [cell("s3fifo", mark) - _most([cell(name, mark) for name in rivals]) for mark in MARKS]
    record.bound("dispute.s3.percentiles", _count(np.array(leads) >= 0, leads))
    others = _most([cell(name, "mean") for name in rivals if name != "wtinylfu"])
    closest = {"others": [others], "wtinylfu": [cell("wtinylfu", "mean")], "s3fifo": [cell("s3fifo", "mean")]}
    record.order("dispute.s3.tinylfu.closest", closest)
    record.bound("dispute.s3.tinylfu.p10", cell("wtinylfu", "p10"))
    order("window.tail", "p10", "wtinylfu", "wtinylfu_10")
    order("window.best", "p90", "wtinylfu_10", "wtinylfu")
    order("lirs.robust", "worse_than_fifo_pct", "lirs", "wtinylfu")
    for policy in ("2q", "arc"):
        both = {name: [cell(name, "mean", size) for size in (LARGE, SMALL)] for name in (policy, "s3fifo")}
        record.order(f"dispute.s3.over.{policy}", both)
    groups = {"recent": RECENT, "traditional": TRADITIONAL}
    means = {group: [np.mean([cell(name, "mean") for name in names])] for group, names in groups.items()}
    record.order("dispute.s3.recent", means)
    order("common", "mean", "lru", "clock", *FAST_DEMOTION)
    record.bound("dispute.s3.b_lru", cell("b_lru", "worse_than_lru_pct"))
    order("adaptive.tail", "p10", "s3fifo", "s3fifo_d")
    order("adaptive.mean", "mean", "s3fifo_d", "s3fifo")
    for word, column in (("traces", "behind_ci95_low"), ("datasets", "behind_datasets_ci95_low")):
        record.bound(f"dispute.s3.sure.{word}", -_most([-cell(name, column) for name in rivals]))
    for policy in ("s3fifo", "2q", "arc", "lirs"):
        record.value(f"dispute.files.worse.{policy}", cell(policy, "worse_than_fifo_pct"))
    record.bound("dispute.files.unbounded", cell("s3fifo", "unbounded_mean", selection="all"))
    record.order("dispute.files.lrb", {name: [cell(name, "mean")] for name in ("s3fifo", "lrb")})
    figure_1 = {name: [cell(name, "mean_of_datasets", selection="sieve")] for name in SIEVE_FIGURE_1}
    for policy, mean in figure_1.items():
        record.value(f"dispute.sieve.figure1.{policy}", mean)
    record.order("dispute.sieve.figure1.files", figure_1)


def _datasets(record, datasets):
    def ranks(policy, size=LARGE, selection="authors", column="rank"):
        """Return the ranks of a policy, one per data set; a single NaN if there are none."""
        rows = datasets[column].reset_index()
        own = rows["size_ratio"].eq(size) & rows["selection"].eq(selection) & rows["policy"].eq(policy)
        found = rows.loc[own, column].to_numpy(dtype=float)
        return found if len(found) else np.array([np.nan])

    def first(policy, **where):
        places = ranks(policy, **where)
        return _count(places == 1, places)

    record.value("dispute.s3.best.large", first("s3fifo"))
    record.value("dispute.s3.best.next", first("lirs"))
    places = ranks("s3fifo")
    record.value("dispute.s3.top_three", _count(places <= 3, places))
    record.value("dispute.files.best.every_file", first("s3fifo", selection="all"))
    record.value("dispute.files.best.every_policy", first("s3fifo", column="rank_of_all"))
    for policy in ("slru", "fifo_merge"):
        means = {
            kind: [np.mean([datasets["mean"].loc[("authors", LARGE, name, policy)] for name in names])]
            for kind, names in (("block", BLOCK), ("web", WEB))
        }
        record.order(f"dispute.s3.web.{policy}", means)


def _program(record, misses):
    zipf = {
        policy: [misses.loc[(ZIPF, size, policy, OWN)] for size in ZIPF_BLOCKS]
        for policy in ("fifo", "lru", "sieve", "opt")
    }
    for policy, counts in zipf.items():
        record.value(f"dispute.sieve.zipf.{policy}", counts)
    record.order("dispute.sieve.zipf.order", {name: zipf[name][:3] for name in ("sieve", "lru", "fifo")})
    for policy in PROGRAM_POLICIES:
        counts = [misses.loc[(trace, size, policy, OWN)] for trace, size in PROGRAM_BLOCKS.items()]
        record.value(f"dispute.program.{policy}", counts)
    for policy in BY_RULES:
        counts = [misses.loc[(trace, size, policy, "program")] for trace, size in PROGRAM_BLOCKS.items()]
        record.value(f"dispute.rules.{policy}", counts)


def _replays(record, kinds, cells):
    record.bound("dispute.sieve.share", kinds.best_pct.loc[("web", LARGE, "sieve")])
    means = {policy: [kinds["mean"].loc[("web", LARGE, policy)]] for policy in (*SIEVE_FIGURE_1, "sieve")}
    record.order("dispute.sieve.figure1.replays", means)
    record.bound("dispute.sieve.arc", _most(cells.sieve_below_arc_pct.to_numpy(dtype=float)), neutral=0)
    kind = cells.index.get_level_values("kind")
    gains = {name: cells.sieve_below_lru_pct.to_numpy(dtype=float)[kind == name] for name in ("block", "web")}
    record.bound("dispute.sieve.scan", _count(gains["block"] < 0, gains["block"]))
    share = {name: [100 * _count(own > 0, own) / max(len(own), 1)] for name, own in gains.items()}
    record.order("dispute.sieve.web_lru", share)


def _most(values):
    """Return the greatest value; NaN if there is none or if any is missing."""
    return np.max(values) if len(values) else np.nan


def _count(holds, values):
    """Count the cells where `holds` is true; NaN if `values` is empty or a value is missing."""
    return float(np.sum(holds)) if len(values) and not np.isnan(values).any() else np.nan
