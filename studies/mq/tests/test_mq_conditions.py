"""Test Table 4 and Figure 7 of the MQ study under other readings: each condition must occur once, and have the rows
that claims read."""

import numpy as np
import pandas as pd
import pytest

from misspenalty.errors import ParameterError
from misspenalty.traces import Trace
from misspenalty_studies.mq import conditions, first_level
from misspenalty_studies.mq.runs import behind, replay

SIZES = [8, 16]


@pytest.fixture
def trace():
    """Return reads and writes of blocks; the lower the number of a block, the more often it is referenced."""
    rng = np.random.default_rng(5)
    ids = (6000 * rng.random(40_000) ** 3).astype(np.int64)
    return Trace.from_blocks(ids, rng.random(40_000) < 0.3, block_bytes=8192)


@pytest.fixture
def levels(trace):
    target = first_level.distances(behind(trace, 12, 3000), 20)["short_share_pct"]
    return first_level.calibrate(trace, target, (2, 30), 20, SIZES, [4], 3000)[1]


def test_every_first_level_is_tried_under_both_other_rules(trace, levels):
    parts = conditions.with_rules(trace, levels, SIZES, 1)
    table = pd.concat(parts)
    assert table["condition"].nunique() == len(parts) == 2 * levels["first_level_mb"].nunique()
    assert not table.duplicated(["condition", "cache_mb", "policy"]).any() and len(table) == 4 * len(parts)
    chosen = levels.loc[levels["chosen"], "first_level_mb"].iloc[0]
    stream = behind(trace, chosen, 3000)
    expected = replay(stream, "mq", SIZES, writes=("ignore",))["hit_ratio_pct"].tolist()
    found = table[table["condition"] == f"LRU first level of {chosen} MB; writes ignored by the storage cache"]
    assert found[found["policy"] == "mq"]["hit_ratio_pct"].tolist() == expected


def test_the_size_is_found_over_another_capture_too(trace, levels):
    table = conditions.over_another(trace, levels.assign(target_pct=46), 20, SIZES)
    assert len(table) == 4 and table["condition"].nunique() == 1
    assert "calibrated on Table 3 over another capture of " in table["condition"].iloc[0]


def test_another_size_than_those_shown_is_refused_with_the_key_that_lists_them(trace, levels):
    with pytest.raises(ParameterError, match=r"% of the re-accesses are short.*; add .* to mq\.calibrated\.shown_mb"):
        conditions.over_another(trace, levels[levels["chosen"]].assign(target_pct=46), 20, SIZES)


def test_each_value_of_the_testbed_is_a_condition():
    rates = pd.DataFrame({"parameter": ["none", "disk_time", "terminals"], "value": ["", "exponential", 12]})
    rates = rates.assign(cache_mb=128, policy="lru", normalized_rate=[1.0, 1.1, 2.0])
    table = conditions.of_the_testbed(rates)
    assert table["condition"].tolist() == ["Figure 7 with exponential disk times", "Figure 7 with 12 terminals"]
    assert table["normalized_rate"].tolist() == [1.1, 2]
