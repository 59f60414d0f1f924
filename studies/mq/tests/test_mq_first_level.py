"""Test the calibrated first level: count shares of distances by hand, and compare the size found with all others."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from misspenalty.errors import ParameterError
from misspenalty.traces import Trace
from misspenalty_studies.mq import first_level
from misspenalty_studies.mq.runs import MB, behind
from misspenalty_studies.mq.tables import write_rules

ROOT = Path(__file__).parents[3]


def stream(n=60_000, blocks=6000, seed=3):
    """Return reads and writes of blocks; the lower the number of a block, the more often it is referenced."""
    rng = np.random.default_rng(seed)
    ids = (blocks * rng.random(n) ** 3).astype(np.int64)
    return Trace.from_blocks(ids, rng.random(n) < 0.3, block_bytes=8192)


def test_shares_count_reads_whose_distances_count_all_accesses():
    # The trace reads a and b, writes c, and reads a (3 accesses ago), c (2 accesses ago), c (1 access ago) and d.
    trace = Trace.from_blocks([1, 2, 3, 1, 3, 3, 4], np.array([0, 0, 1, 0, 0, 0, 0], bool), block_bytes=MB)
    found = first_level.distances(trace, threshold_mb=3)
    assert found == {
        "short_share_pct": pytest.approx(200 / 3),
        "first_reads_pct": pytest.approx(50),
        # Block a is read again 2 reads later, and c 1 read later; the write does not count.
        "short_of_reads_pct": pytest.approx(100),
        "first_of_reads_pct": pytest.approx(200 / 3),
    }


def test_distances_of_writes_alone_are_refused():
    with pytest.raises(ParameterError, match="array: the trace has no reads"):
        first_level.distances(Trace.from_blocks([1, 2, 1], np.ones(3, bool), block_bytes=MB), threshold_mb=3)


def test_the_size_found_is_the_closest_of_all():
    trace = stream()
    shares = {mb: first_level.distances(behind(trace, mb), 20)["short_share_pct"] for mb in range(2, 31)}
    target = 0.4 * shares[2] + 0.6 * shares[30]
    found, table = first_level.calibrate(trace, target, (2, 30), 20, [16, 32], [4, 8])
    (chosen,) = table.loc[table["chosen"], "first_level_mb"].unique()
    assert abs(shares[chosen] - target) == min(abs(share - target) for share in shares.values())
    assert len(found) == len(behind(trace, chosen))
    assert sorted(table["first_level_mb"].unique()) == sorted({4, 8, chosen})
    assert len(table) == table["first_level_mb"].nunique() * 2 * 2
    assert table.set_index("first_level_mb")["short_share_pct"].drop_duplicates().sort_index().is_monotonic_decreasing


def test_a_share_that_no_size_reaches_is_refused():
    with pytest.raises(ParameterError, match="the published share is 99 %"):
        first_level.calibrate(stream(), 99, (2, 30), 20, [16], [4])


def test_every_stream_ends_with_the_reads_asked_for():
    trace = stream()
    whole = behind(trace, 4)
    cut = behind(trace, 4, 5000)
    assert cut.reads == 5000 and not cut.write[-1]
    assert np.array_equal(cut.ids, whole.ids[: len(cut)])
    found, table = first_level.calibrate(trace, 40, (2, 30), 20, [16], [4], 2000)
    assert found.reads == 2000 and (table["reads"] == 2000).all()
    with pytest.raises(ParameterError, match="but 90000 are needed"):
        behind(trace, 4, 90_000)


def test_claims_are_counted_at_every_size():
    """More claims must be reproduced with the printed hit ratios than with the same ratios in reverse order."""
    printed = pd.read_csv(ROOT / "studies" / "mq" / "published" / "table4.csv").rename(
        columns={"storage_cache_mb": "cache_mb"}
    )
    far = printed.assign(hit_ratio_pct=printed["hit_ratio_pct"].iloc[::-1].to_numpy())
    parts = [part.assign(first_level_mb=mb, chosen=mb == 58) for mb, part in ((58, printed), (128, far))]
    table = first_level.claims_over_size(
        pd.concat(parts).assign(short_share_pct=28.8), ROOT / "studies" / "mq" / "ledger.yaml"
    ).set_index("first_level_mb")
    assert table.loc[58, "judged"] == table.loc[128, "judged"] > 20
    assert table.loc[58, "reproduced"] > table.loc[128, "reproduced"]


def test_the_write_rules_are_compared_with_table_3():
    published = pd.DataFrame({"policy": ["lru", "mq"], "reads": 100, "hits_short": [10, 20], "hits_long": [5, 20]})
    rows = [
        ("a", policy, mode, 512, ratio)
        for mode, ratio in (("count", 20.0), ("refresh", 40.0))
        for policy in ("lru", "mq")
    ]
    runs = pd.DataFrame(rows, columns=["capture", "policy", "writes", "cache_mb", "hit_ratio_pct"])
    table = write_rules(runs, published, 512)
    whole = table[table["policy"] == "all"].set_index("writes")["difference"]
    assert whole.to_dict() == {"count": (5 + 20) / 2, "refresh": (25 + 0) / 2}
    assert table.set_index(["policy", "writes"]).loc[("mq", "count"), "difference"] == -20
