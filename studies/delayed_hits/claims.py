"""Record what the tables of the delayed-hits study show for each statement."""

from misspenalty.latency.steps import POLICIES
from misspenalty_studies.common.claims.tables import Table, cross

TRACES = ["sample", "syn_zipf", "syn_bursts"]
PCT = [1, 5, 10, 25]
STEPS = [1, 5, 20, 100, 500]
ONLINE = ["lru", "arc", "lru_mad", "arc_mad"]
TABLES = {
    "runs": Table(
        ("trace", "policy", "cache_pct", "fetch_steps"),
        ("cache_entries", "hits", "delayed_hits", "misses", "total_latency"),
        cross(trace=TRACES, policy=list(POLICIES), cache_pct=PCT, fetch_steps=STEPS),
    ),
}
POINTS = [  # trace, policy, cache size (% of `most_active`, and in entries), fetch steps
    *(("sample", policy, 5, 12, 20) for policy in ("lru", "arc", "opt", "lru_mad", "opt_mad")),
    ("sample", "lru", 25, 61, 100),
    ("syn_zipf", "lru", 10, 136, 100),
    ("syn_zipf", "arc", 10, 136, 100),
    *(("syn_bursts", policy, 10, 7, 20) for policy in ("lru", "opt", "lru_mad")),
]


def claims(record, tables):
    """Record every claim of the ledger whose id begins with ``delayed_hits``."""
    runs = tables["runs"].to_xarray().sel(trace=TRACES, policy=list(POLICIES), cache_pct=PCT, fetch_steps=STEPS)
    latency = runs.total_latency
    at_once = runs.sel(fetch_steps=1)
    plain = latency.sel(policy=["lru", "arc", "opt"])
    variant = latency.sel(policy=["lru_mad", "arc_mad", "opt_mad"]).assign_coords(policy=plain.policy)
    gain = 100 * (1 - variant / plain)

    record.no_table("delayed_hits.abstract.offline", "delayed_hits.abstract.cdn")
    record.bound("delayed_hits.abstract.online", gain.sel(policy=["lru", "arc"]).max(skipna=False), neutral=0)
    online = at_once.total_latency.sel(policy=ONLINE).min("policy", skipna=False)
    record.order("delayed_hits.readme.no_delay", {"opt": at_once.total_latency.sel(policy="opt"), "online": online})
    record.equal("delayed_hits.definition.misses", at_once.total_latency, at_once.misses)
    long = gain.sel(policy="opt", fetch_steps=[20, 100, 500])
    record.bound("delayed_hits.section2.belady", count(long > 0, long))

    for trace, policy, pct, entries, z in POINTS:
        run = runs.sel(trace=trace, policy=policy, cache_pct=pct, fetch_steps=z)
        record.value(f"delayed_hits.simulator.{trace}_{policy}_{entries}_z{z}", run.total_latency)
    run = runs.sel(trace="sample", policy="lru", cache_pct=5, fetch_steps=20)
    parts = [float(run[name]) for name in ("hits", "delayed_hits", "misses")]
    record.value("delayed_hits.simulator.sample_lru_12_z20_counts", parts)
    lead = latency.sel(policy=ONLINE) - latency.sel(policy="opt")
    record.bound("delayed_hits.simulator.online_below_belady", count(lead < 0, lead))
    record.bound("delayed_hits.simulator.variant_above", count(gain < 0, gain))


def count(cells, values):
    """Count the cells that are true; return NaN if a value is missing."""
    return cells.sum().where(values.notnull().all())
