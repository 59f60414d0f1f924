"""Write a folder of results with the right shape but no meaning, for the tests of the figures and the paper.

    python tests/data/synthetic_results.py FOLDER

FOLDER becomes a stand-in for the repository's root: ``results/`` with every table that the figures and the paper read,
and ``data/raw/tpcc/captures.yaml``. The values follow simple formulas; none was measured.
"""

import sys
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from misspenalty.io.files import write_csv
from misspenalty_studies.common.judge import write_claims

ROOT = Path(__file__).parents[2]
SIZES = (128, 256, 512)
CAPTURES = {"128mb": 128, "16mb": 16, "2mb": 2}
STRENGTH = {
    "opt": 1.4,
    "mq": 1.0,
    "2q": 0.9,
    "lru2": 0.7,
    "lfru": 0.8,
    "fbr": 0.75,
    "lfu": 0.85,
    "lru": 0.55,
    "mru": 0.2,
}


def hit_ratio(policy, cache_mb, first_mb=128):
    """Return a made-up hit ratio in per cent that grows with the cache and shrinks with the first level."""
    return min(99.0, 9 * STRENGTH[policy] * np.log2(1 + 4 * cache_mb / first_mb))


def hit_table(first_mb):
    """Return the columns of table4."""
    rows = [(mb, policy, hit_ratio(policy, mb, first_mb)) for mb, policy in product(SIZES, ("mq", "lru"))]
    return pd.DataFrame(rows, columns=["cache_mb", "policy", "hit_ratio_pct"]).assign(
        timed_hit_ratio_pct=lambda t: 0.98 * t["hit_ratio_pct"],
        writes="count",
        requests=7_300_000,
        hits=lambda t: (t["hit_ratio_pct"] * 73_000).astype(int),
    )


def table2():
    """Return the columns of table2: two streams under every rule for writes, the others only with writes counted."""
    gain = {"count": 1, "ignore": 1.1, "refresh": 1.05}
    streams = [(capture, first, gain) for capture, first in (("128mb", 128), ("calibrated", 58))]
    streams += [(capture, first, ["count"]) for capture, first in CAPTURES.items() if capture != "128mb"]
    rows = [
        (capture, policy, mb, writes, hit_ratio(policy, mb, first) * gain[writes], "")
        for capture, first, rules in streams
        for policy, mb, writes in product(STRENGTH, (64, *SIZES, 1024), rules)
    ]
    return pd.DataFrame(rows, columns=["capture", "policy", "cache_mb", "writes", "hit_ratio_pct", "parameters"])


def table3():
    """Return the columns of table3, for a million reads."""
    rows = []
    for policy, writes in product(STRENGTH, ("count", "ignore")):
        hits = int(hit_ratio(policy, 512) * 10_000)
        short = hits // 3
        rows.append((policy, 512, writes, short, 250_000 - short, hits - short, 600_000 - (hits - short), 150_000))
    columns = ["hits_short", "misses_short", "hits_long", "misses_long", "first_reads"]
    table = pd.DataFrame(rows, columns=["policy", "cache_mb", "writes", *columns])
    return table.assign(hit_ratio_pct=(table["hits_short"] + table["hits_long"]) / 10_000)


def distances(captures):
    """Return the columns of fig2 and fig3."""
    tables = []
    for capture in captures:
        low = 2 ** np.arange(24)
        accesses = (1e6 * np.exp(-0.5 * ((np.arange(24) - np.log2(CAPTURES[capture] * 512)) / 3) ** 2)).astype(int)
        share = 100 * accesses / accesses.sum()
        table = pd.DataFrame({"capture": capture, "distance_low": low, "distance_high": 2 * low - 1})
        tables.append(table.assign(accesses=accesses, share_pct=share, cumulative_pct=np.cumsum(share)))
    return pd.concat(tables, ignore_index=True)


def frequencies():
    """Return the columns of fig4."""
    least = 2 ** np.arange(16)
    tables = [
        pd.DataFrame(
            {
                "capture": capture,
                "min_accesses": least,
                "blocks_pct": 100 / least ** (0.6 + first / 200),
                "accesses_pct": 100 / least ** (first / 300),
            }
        )
        for capture, first in CAPTURES.items()
    ]
    return pd.concat(tables, ignore_index=True)


def rates(hits):
    """Return the columns of fig7, from those of table4."""
    base = 100 - hits.loc[(hits["cache_mb"] == 128) & (hits["policy"] == "lru"), "hit_ratio_pct"].item()
    rate = base / (100 - 0.8 * hits["hit_ratio_pct"])
    columns = hits[["cache_mb", "policy", "hit_ratio_pct", "timed_hit_ratio_pct"]].assign(
        normalized_rate=rate / rate.iloc[1], timed_normalized_rate=rate / rate.iloc[1], miss_time_share_pct=90.0
    )
    return columns.assign(rate_per_s=100 * rate, utilisation_disk=0.7, utilisation_database_cpu=0.3)


def components(rate):
    """Return the columns of fig7_components."""
    stations = (
        "database_queue",
        "database_cpu",
        "network_queue",
        "network",
        "server_queue",
        "server_cpu",
        "disk_queue",
        "disk",
    )
    shares = {name: (i + 1) / 36 for i, name in enumerate(stations)}
    rows = [
        (row.cache_mb, row.policy, name, 10_000 * share / row.normalized_rate)
        for row in rate.itertuples()
        for name, share in shares.items()
    ]
    return pd.DataFrame(rows, columns=["cache_mb", "policy", "component", "us"])


def sensitivities(rate):
    """Return the columns of fig7_sensitivity and of sensitivity."""
    varied = {
        "terminals": (12, 24, 96, 192),
        "think_time_us": (10_000, 100_000),
        "database_cpus": (2, 4),
        "database_cpu_us": (1250, 5000),
        "server_request_us": (0, 100),
        "disk_time": ("constant", "exponential"),
        "stripe_blocks": (1, 64),
        "write_through": ("false",),
    }
    fig7 = [rate[["cache_mb", "policy", "normalized_rate"]].assign(parameter="none", value="")]
    fig7 += [
        rate[["cache_mb", "policy"]].assign(
            parameter=name, value=value, normalized_rate=1 + (rate["normalized_rate"] - 1) * (1 + i / 4)
        )
        for name, values in varied.items()
        for i, value in enumerate(values)
    ]
    mq = [
        (name, value, mb, hit_ratio("mq", mb) * (1 - 0.03 * abs(np.log2(max(value, 0.25)) - middle)))
        for name, values, middle in (
            ("life_time_factor", (0.25, 0.5, 1, 2, 4), 0),
            ("queues", (1, 2, 4, 8), 3),
            ("history", (0, 1, 2, 4, 8), 2),
        )
        for value in values
        for mb in SIZES
    ]
    columns = ["parameter", "value", "cache_mb", "policy", "normalized_rate"]
    return pd.concat(fig7, ignore_index=True)[columns], pd.DataFrame(
        mq, columns=["parameter", "value", "cache_mb", "hit_ratio_pct"]
    )


def bounds(hits, rate):
    """Return the columns of bounds."""
    hit = hits.pivot(index="cache_mb", columns="policy", values="hit_ratio_pct")
    gain = rate.pivot(index="cache_mb", columns="policy", values="normalized_rate")
    share = (hit["mq"] - hit["lru"]) / (100 - hit["lru"])
    return pd.DataFrame(
        {
            "cache_mb": hit.index,
            "relative_miss_difference_pct": 100 * share.to_numpy(),
            "rate_bound_pct": 100 * (1 / (1 - share.to_numpy()) - 1),
            "rate_gain_pct": 100 * (gain["mq"] / gain["lru"] - 1).to_numpy(),
            "equal_lru_mb": [300.0, 700.0, np.nan],
            "equal_lru_factor": [300 / 128, 700 / 256, np.nan],
        }
    )


def facts(first_mb):
    """Return the facts that the capture program enters for one capture."""
    kinds = {"new_order": 45_000, "payment": 43_000, "order_status": 4_000, "delivery": 4_000, "stock_level": 4_000}
    return {
        "shared_buffers": f"{first_mb}MB",
        "warehouses": 256,
        "clients": 8,
        "started_utc": "2000-01-01T00:00:00Z",
        "warm_up_s": 60,
        "duration_s": 240.5,
        "reads": 7_300_000,
        "writes": 2_900_000,
        "writes_that_extend": 10_000,
        "distinct_blocks": 1_100_000,
        "transactions_before_window": 50_000,
        "transactions": {"all": sum(kinds.values()), **kinds},
        "whole_run": {"blks_read_delta": 9_000_000, "reads_seen": 8_990_000, "seen_percent": 99.9},
        "database_at_start_mib": 28_000,
        "bytes": 25_000_000,
        "sha256": "0" * 64,
        "versions": {"postgresql": "15.0"},
        "machine": {"cpu": "a processor"},
    }


def first_level_fit():
    """Return a fit over three sizes of the first level, of which the second is the calibrated one."""
    rows = list(product((32, 58, 128), SIZES, ("mq", "lru")))
    table = pd.DataFrame(rows, columns=["first_level_mb", "cache_mb", "policy"])
    share = {
        "target_pct": 28.8,
        "short_share_pct": 40 - table["first_level_mb"] / 5,
        "first_reads_pct": 20.0,
        "short_of_reads_pct": 45.0,
        "first_of_reads_pct": 21.0,
    }
    ratios = [hit_ratio(row.policy, row.cache_mb, row.first_level_mb) for row in table.itertuples()]
    return table.assign(chosen=table["first_level_mb"] == 58, reads=3_300_000, hit_ratio_pct=ratios, **share)


def first_level_claims():
    """Return made-up counts of the claims reproduced at each size."""
    table = first_level_fit().drop_duplicates("first_level_mb")[["first_level_mb", "chosen", "short_share_pct"]]
    return table.assign(judged=26, reproduced=[10, 20, 15], direction=4)


def write_rules():
    """Return a made-up difference from the paper for each treatment of writes."""
    rows = list(product(("128mb", "calibrated"), ("all",), ("count", "ignore", "refresh"), (3.0,)))
    return pd.DataFrame(rows, columns=["capture", "policy", "writes", "difference"])


def tables():
    """Return every table by its path under ``results/mq``, without suffix."""
    hits = {"": hit_table(128), "_calibrated": hit_table(64)}
    fig7, mq = sensitivities(rates(hits[""]))
    fit = [
        ("database_cpu_us", name, 2500.0, 1.08, 1.0799, False, 0, 200_000, 1.0, 1.1, low, 9000.0)
        for name, low in (("128mb", 1000.0), ("calibrated", 0.0))
    ]
    fit_columns = [
        "parameter",
        "variant",
        "value_us",
        "target",
        "reached",
        "at_bound",
        "low_us",
        "high_us",
        "lowest",
        "highest",
        "within_low_us",
        "within_high_us",
    ]
    first = list(product((32, 64, 128), SIZES, ("mq", "lru")))
    return {
        **{f"table4{suffix}": table for suffix, table in hits.items()},
        **{f"fig7{suffix}": rates(table) for suffix, table in hits.items()},
        "table2": table2(),
        "table3": table3(),
        "table3_calibrated": table3(),
        "fig2": distances(["2mb"]),
        "fig3": distances(["128mb", "16mb"]),
        "fig4": frequencies(),
        "fig7_components": components(rates(hits[""])),
        "fig7_sensitivity": fig7,
        "sensitivity": mq,
        "fit": pd.DataFrame(fit, columns=fit_columns),
        "bounds": bounds(hits[""], rates(hits[""])),
        "first_level_fit": first_level_fit(),
        "first_level_claims": first_level_claims(),
        "write_rules": write_rules(),
        "conditions": pd.DataFrame(
            [("mq.table4.mq.128", "writes ignored by the storage cache", "20", "reproduced", "direction")],
            columns=["claim", "condition", "value", "verdict", "judged"],
        ),
        "first_level": pd.DataFrame(first, columns=["first_level_mb", "cache_mb", "policy"]).assign(
            hit_ratio_pct=lambda t: [hit_ratio(row.policy, row.cache_mb, row.first_level_mb) for row in t.itertuples()]
        ),
    }


def write_results(root):
    """Write everything under `root`."""
    results = Path(root) / "results"
    for name, table in tables().items():
        write_csv(table, results / "mq" / f"{name}.csv")
    for suffix in ("", "_calibrated"):
        write_claims(results, root=ROOT, variant=suffix)
    sheet = Path(root) / "data" / "raw" / "tpcc" / "captures.yaml"
    sheet.parent.mkdir(parents=True, exist_ok=True)
    sheet.write_text(yaml.safe_dump({f"{name}.parquet": facts(mb) for name, mb in CAPTURES.items()}, sort_keys=False))


if __name__ == "__main__":
    write_results(sys.argv[1])
