"""Test the SARC study's comparison of prefetchers: its table from runs, and the results that a small run must have."""

import math
from types import SimpleNamespace

import pandas as pd
import pytest

from misspenalty_studies.sarc import prefetchers
from misspenalty_studies.sarc.prefetchers import MEASURES, POLICIES, PREFETCHERS, compare, over_seeds
from misspenalty_studies.sarc.runs import load_shark
from studies.sarc.tests.test_sarc import MACHINE, VALUES


def test_amp_takes_the_place_of_a_fixed_degree():
    shark = load_shark(MACHINE, 16, VALUES)[0]
    assert shark.with_values(PREFETCHERS["fs4"]).prefetch()["trigger"] == -1
    assert shark.with_values(PREFETCHERS["fa16"]).prefetch()["trigger"] == 8
    assert shark.with_values(PREFETCHERS["amp"]).prefetch() == {
        "kind": "amp",
        "threshold": shark.threshold,
        "writes_sequential": int(shark.writes_sequential),
    }


class Steady:
    """A run in which each minute prefetches 20 tracks and evicts 5 of them unread."""

    def __init__(self, *_):
        self.unused = 0

    def load(self, _):
        pass

    def minute(self):
        self.unused += 5
        counts = dict.fromkeys(("reads", "writes", "read_hits", "stage_reads", "destage_reads", "destage_writes"), 1)
        return SimpleNamespace(
            counts=counts,
            staged={"demand": 7, "synchronous": 8, "asynchronous": 12},
            response_ns=(1, 1),
            seconds=60,
            state={"unused": self.unused},
            utilisation=0.5,
        )


@pytest.mark.parametrize("discarded", [0, 1, 2])
def test_unused_tracks_are_those_of_the_counted_minutes(monkeypatch, discarded):
    monkeypatch.setattr(prefetchers, "Run", Steady)
    shark = load_shark(MACHINE, 16, VALUES)[0]
    shark = shark.with_values({"warm_up_minutes": 4, "phase_minutes": 3, "discarded_minutes": discarded})
    rows = prefetchers._phases(shark, "cache_sensitive", "sarc", 1, [2500, 12500])
    assert [(row["load"], row["unused"]) for row in rows] == [(2500, 0.25), (12500, 0.25)]


def test_streams_wait_for_contention_like_any_other_load():
    """A hundred streams of 0.25 MB/s on each of the 16 arrays send 1526 reads of 256 KB per second."""
    shark = load_shark(MACHINE, 16, VALUES | {"phase_minutes": 2, "discarded_minutes": 1})[0]
    without, delayed = (
        prefetchers._streams(shark.with_values({"contention_us": us}), "lru_top", 1, 0.25, 100, 256) for us in (0, 100)
    )
    assert delayed["read_ms"] - without["read_ms"] == pytest.approx(0.1 * 1.526, rel=0.01)


def test_factors_are_means_over_the_seeds_of_ratios_to_sarcs_prefetcher():
    rows = [("streams", 1.0, 256, "sarc", name, seed) for name in ("fa8", "amp") for seed in (1, 2)]
    runs = pd.DataFrame(rows, columns=["workload", "load", "cache_mb", "policy", "prefetcher", "seed"])
    runs = runs.assign(**dict.fromkeys(MEASURES, 1.0))
    runs["read_ms"], runs["mb_per_s"] = [2.0, 4.0, 3.0, 2.0], [10.0, 20.0, 20.0, 20.0]
    table = over_seeds(runs).set_index("prefetcher")
    assert table.loc["amp", "read_factor"] == pytest.approx((3 / 2 + 2 / 4) / 2)
    assert table.loc["amp", "rate_factor"] == pytest.approx((20 / 10 + 20 / 20) / 2)
    assert table.loc["fa8", ["read_factor", "read_factor_ci95", "seeds"]].tolist() == [1, 0, 2]
    # For two values, Student's t with one degree of freedom gives 12.7062 times half the difference.
    assert table.loc["amp", "read_ms_ci95"] == pytest.approx(12.7062 * 0.5, rel=1e-5)
    elsewhere = over_seeds(runs.assign(workload="cache_sensitive"))
    assert elsewhere["mb_per_s"].isna().all() and elsewhere["rate_factor"].isna().all()


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    fitted = tmp_path_factory.mktemp("fitted") / "fitted.csv"
    pd.DataFrame({"parameter": VALUES.keys(), "value": VALUES.values()}).to_csv(fitted, index=False)
    return compare(
        MACHINE,
        fitted,
        {"divisor": 16, "values": {}},
        seeds=[1],
        phases={"warm_up_minutes": 0, "phase_minutes": 2, "discarded_minutes": 1},
        loads=[0],
        streams={"number": 100, "read_kb": 256, "mb_per_s": [0.25, 2.0], "cache_mb": [256, 8192]},
        threads=2,
    )


def test_each_prefetcher_has_a_row_for_each_load(table):
    assert len(table) == (2 + 2 * 2) * len(POLICIES) * len(PREFETCHERS)
    assert set(table["prefetcher"]) == set(PREFETCHERS) and set(table["seeds"]) == {1}
    assert table["hit_ratio"].between(0, 1.01).all() and (table["unused"] >= 0).all()
    assert table["mb_per_s"].isna().tolist() == (table["workload"] != "streams").tolist()
    assert math.isnan(table["read_ms_ci95"].iloc[0])


def test_streams_get_what_they_ask_for_or_what_the_drives_can_give(table):
    hundred = table[table["workload"] == "streams"].set_index(["cache_mb", "load", "policy", "prefetcher"])
    for cache_mb in (256, 8192):
        rates = hundred.loc[(cache_mb, 0.25), "mb_per_s"]
        assert rates.between(24.5, 25.5).all()
        assert (hundred.loc[(cache_mb, 2.0), "mb_per_s"] < 150).all()
    # In the smallest cache a stream's tracks are evicted before its next read: nothing is ever detected or prefetched.
    assert hundred.loc[(256, 2.0), "operations_per_request"].tolist() == pytest.approx([8.0] * 14, rel=1e-3)
    # In the largest cache, streams get more hits from a prefetcher that reads ahead than from one that waits for
    # misses.
    large = hundred.loc[(8192, 2.0, "lru_top"), "mb_per_s"]
    assert large["amp"] > large["fa8"] > large["fs8"] > large["fs4"]
