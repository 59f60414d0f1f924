"""The benchmarks' own parts; what they measure is not tested here, as it depends on the machine."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from misspenalty.figures import save_figure

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture(scope="module")
def part():
    sys.path.insert(0, str(BENCHMARKS))
    yield importlib.import_module
    sys.path.remove(str(BENCHMARKS))


def test_generated_requests_are_repeatable_and_skewed(part):
    library = part("library")
    ids = np.concatenate(list(library.generated(2_500_000)))
    assert ids.size == 2_500_000 and ids.max() <= library.GIANT_BLOCKS
    assert np.array_equal(ids[:1000], next(library.generated(1000))[:1000])
    counts = np.bincount(ids)
    assert counts[0] / counts[9] == pytest.approx(np.log(2) / np.log(1.1), rel=0.1)  # log-uniform


def test_giant_run_reports_the_growth_of_cost(part, capsys):
    rows = pd.DataFrame(part("library").giant(["lru"], (20_000, 60_000)))
    growth = rows.set_index("measure")["value"]
    assert growth["lru, growth of the cost a request"] == pytest.approx(
        growth["lru, 60,000 requests"] / growth["lru, 20,000 requests"]
    )
    assert "ns/req" in capsys.readouterr().out


def test_memory_is_reported_for_every_policy(part, make_trace):
    rows = list(part("library").memory(make_trace(np.arange(5000))))
    assert all(row["value"] > 0 for row in rows)
    assert {row["measure"] for row in rows} >= {"lru, memory", "mq, memory"}


def test_oracle_general_file_is_read_back(part, tmp_path, make_trace):
    from misspenalty import open_trace

    trace = make_trace([5, 9, 5, 5, 9])
    path = tmp_path / "x.bin"
    part("policies").write_oracle_general(trace.ids, trace.blocks, path)
    again = open_trace(path)
    assert (again.format, again.ids.tolist()) == ("oracleGeneral", trace.ids.tolist())


def test_figure_of_speed_is_the_same_bytes_every_time(part, tmp_path):
    table = pd.DataFrame(
        {"workload": ["zipf", "zipf", "oltp"], "policy": ["lru", "mq", "lru"], "ratio": [6.0, None, 9.0]}
    )
    files = [save_figure(part("figure").speed(table), tmp_path / name, ["png"])[0].read_bytes() for name in ("a", "b")]
    assert files[0] == files[1]
