"""Record what the tables of the Multi-Queue study show for each statement of the paper."""

import pandas as pd

from misspenalty_studies.common.claims.tables import Table, cross
from misspenalty_studies.mq.captures import fact

SIZES = (128, 256, 512)
_ROWS = cross(cache_mb=SIZES, policy=("mq", "lru"))
TABLES = {
    "fig7": Table(("cache_mb", "policy"), ("normalized_rate",), _ROWS),
    "table4": Table(("cache_mb", "policy"), ("hit_ratio_pct", "timed_hit_ratio_pct"), _ROWS),
}


def claims(record, tables):
    """Record every claim of the ledger whose id begins with ``mq``."""
    hit, rate = (tables[item].to_xarray().sel(cache_mb=list(SIZES)) for item in ("table4", "fig7"))
    ratio, rate = hit.hit_ratio_pct, rate.normalized_rate
    mq, lru, rate_mq, rate_lru = (
        ratio.sel(policy="mq"),
        ratio.sel(policy="lru"),
        rate.sel(policy="mq"),
        rate.sel(policy="lru"),
    )
    margin, fewer_misses, gain = mq - lru, 100 * (mq - lru) / (100 - lru), 100 * (rate_mq / rate_lru - 1)
    rate_limit = 100 * (1 / (1 - fewer_misses / 100) - 1)
    for mb in SIZES:
        at = {"cache_mb": mb}
        record.value(f"mq.table4.mq.{mb}", mq.sel(at))
        record.value(f"mq.table4.lru.{mb}", lru.sel(at))
        record.order(f"mq.table4.order.{mb}", ratio.sel(at), "policy")
        record.value(f"mq.table4.margin.{mb}", margin.sel(at), neutral=0)
        record.value(f"mq.table4.rel_miss.{mb}", fewer_misses.sel(at), neutral=0)
        record.value(f"mq.table4.ratio.{mb}", (mq / lru).sel(at), neutral=1)
        record.value(f"mq.fig7.mq.{mb}", rate_mq.sel(at), neutral=1)
        record.value("mq.fig7.baseline" if mb == 128 else f"mq.fig7.lru.{mb}", rate_lru.sel(at), neutral=1)
        record.value(f"mq.fig7.gain.{mb}", gain.sel(at), neutral=0)
        record.order(f"mq.fig7.order.{mb}", rate.sel(at), "policy")
        also = {"limit as a rate gain": rate_limit.sel(at), "holds with it": (gain <= rate_limit).sel(at)}
        record.bound(f"mq.bound.end_performance.{mb}", gain.sel(at), limit=fewer_misses.sel(at), report=also)

    gain_mq, gain_lru = 100 * (rate_mq - 1), 100 * (rate_lru - 1)  # %, over LRU with 128 MB
    for id, large, twice, sizes in (
        ("mq.table4.double_size", mq, lru, [128, 256]),
        ("mq.table4.double_size.256", mq, lru, [256]),
        ("mq.fig7.double_size", gain_mq, gain_lru, [128, 256]),
        ("mq.fig7.equal.128_256", gain_mq, gain_lru, [128]),
        ("mq.fig7.equal.256_512", gain_mq, gain_lru, [256]),
    ):
        record.equal(id, large.sel(cache_mb=sizes), twice.sel(cache_mb=[2 * mb for mb in sizes]))
    record.compared("mq.table4.double_size.128", lru.sel(cache_mb=256), "<", mq.sel(cache_mb=128))
    record.order("mq.table4.order.margins", margin, "cache_mb")
    record.order("mq.fig7.gain_order", rate_mq / rate_lru, "cache_mb")
    record.trend("mq.table4.trend.size.mq", mq)
    record.trend("mq.table4.trend.size.lru", lru)
    record.trend("mq.table4.trend.ratio", mq / lru)
    record.value("mq.fig7.lru_256_gain", 100 * (rate_lru.sel(cache_mb=256) / rate_lru.sel(cache_mb=128) - 1), neutral=0)
    record.bound("mq.fig7.range", gain)
    record.rises_with("mq.results.request_rate", ratio, rate)

    apart = (tables["table4"].hit_ratio_pct - tables["table4"].timed_hit_ratio_pct).abs()
    points = {"in points": apart.max(skipna=False)}
    record.bound("mq.table4.sim_vs_impl", 100 * apart / tables["table4"].timed_hit_ratio_pct, report=points)

    record.no_table("mq.results.timing", "mq.results.miss_dominates", "mq.setup.oracle_buffer")


def logged(table4, fig7, fit, facts, raw):
    """Return notes for claims: the values obtained where no table decides a claim, and the result of the fit.

    Parameters
    ----------
    table4, fig7 : DataFrame
        The tables of these names.
    fit : DataFrame
        ``fit`` from `misspenalty_studies.mq.rates.fig7`.
    facts : path-like
        ``captures.yaml``, in which the capture program describes each capture.
    raw : path-like
        File of the capture, whose name is a key of `facts`.

    Returns
    -------
    DataFrame
        ``id`` of the claim, ``note``.
    """
    share = fig7["miss_time_share_pct"]
    replayed = fig7[["cache_mb", "policy"]].merge(table4, on=["cache_mb", "policy"], how="left")["hit_ratio_pct"]
    apart = (fig7["timed_hit_ratio_pct"] - replayed).abs().max()
    shared_buffers = fact(facts, raw, "shared_buffers")
    row = fit.iloc[0]
    outcome = "ends at its bound: " if row["at_bound"] else ""
    fitted = f"fit {outcome}{row['reached']:.4f} for {row['target']:g} at {row['value_us']:.0f} us"
    notes = {
        "mq.table4.sim_vs_impl": "the implemented side is the timed model, the cache inside it, on the same references",
        "mq.results.timing": f"obtained: reordering by concurrency moves no hit ratio by more than {apart:.2f} points; "
        "a faster server cannot change what a recorded trace asks for",
        "mq.results.miss_dominates": f"obtained: misses take {share.min():.2f} to {share.max():.2f} % of the time that "
        "reads spend outside the database",
        "mq.setup.oracle_buffer": f"obtained: {shared_buffers} of shared_buffers",
        "mq.fig7.lru.256": fitted,
        "mq.fig7.lru_256_gain": fitted,
    }
    return pd.DataFrame({"id": notes.keys(), "note": notes.values()})
