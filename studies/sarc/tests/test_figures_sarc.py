"""Test that the SARC study's figures draw partial tables, and that errors name what is missing."""

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from misspenalty import InputError
from misspenalty.plotting import save_figure
from misspenalty_studies.sarc import figures as sarc
from misspenalty_studies.sarc import figures_fit, figures_prefetchers
from misspenalty_studies.sarc.prefetchers import MEASURES, POLICIES, PREFETCHERS, over_seeds
from misspenalty_studies.sarc.runs import LOADS, PAPERS
from misspenalty_studies.sarc.sensitivity import orderings
from misspenalty_studies.sarc.tables import table2 as make_table2

ROOT = Path(__file__).parents[3]
POINTS = [(config, load, policy) for config, loads in LOADS.items() for load in loads for policy in PAPERS]


def table(rows, *names):
    return pd.DataFrame(rows, columns=names)


def prefetcher_runs():
    """Make runs of every prefetcher on each load with two seeds."""
    loads = [("cache_sensitive", 12500, 8192), ("cache_insensitive", 5682, 8192), ("streams", 1.0, 256)]
    cases = itertools.product(loads, POLICIES, PREFETCHERS, (1, 2))
    rows = [(*load, policy, name, seed) for load, policy, name, seed in cases]
    frame = table(rows, "workload", "load", "cache_mb", "policy", "prefetcher", "seed")
    values = np.random.default_rng(5).random((len(frame), len(MEASURES)))
    return frame.join(pd.DataFrame(values, columns=MEASURES))


@pytest.fixture(scope="module")
def points():
    generator = np.random.default_rng(1)
    frame = table(POINTS, "config", "scaled_iops", "policy")
    frame = frame.loc[frame.index.repeat(2)].assign(seed=[1, 2] * len(frame))
    read = 2 + frame["scaled_iops"] / 2000 * (1 + generator.random(len(frame)))
    read.iloc[-1] = 50_000  # a backlog
    return frame.assign(read_ms=read, write_ms=read / 2, response_ms=0.7 * read, stage_rate=1000.0)


@pytest.fixture(scope="module")
def tables(points):
    minutes = [
        (config, policy, minute, minute // 4, 1000 * minute, minute / 10, minute / 3)
        for config, policy, minute in itertools.product(LOADS, PAPERS, range(1, 10))
    ]
    varied = [
        (parameter, value, config, policy, 3.0 + i)
        for parameter, value in (("none", "none"), ("delta", "0.1"), ("drive_scheduler", "fcfs"))
        for config in LOADS
        for i, policy in enumerate(PAPERS if value == "none" else reversed(PAPERS))
    ]
    strategies = [
        (name, degree, size, 30 / size) for name, degree, size in itertools.product(sarc.STRATEGIES, (4, 8), (1, 4, 16))
    ]
    errors = [
        (config, space, threshold, 90 / threshold**2, threshold / 4, 3.0)
        for config, space, threshold in itertools.product(LOADS, (200, 400), (3, 6, 12))
    ]
    tried = {
        "load": {"load_factor": 1.0, "host_slots": 4},
        "space": {"footprint_sensitive_gb": 240, "insertion": 0.1, "degree": 8, "staging": 1},
    }
    grid = [
        {"step": step + again, "seeds": 3 if again else 1, "mean_factor": factor}
        | {name: value * x for name, value in tried[step].items()}
        for step, again, x, factor in itertools.product(tried, ("", "_again"), (1, 2), (1.1, 9.0))
    ]
    near = {"response_ms_ci95": 0.1, "low_ms": 1.0, "high_ms": 9.0, "published_ms": 3.0, "low_pct": -2, "high_pct": 2}
    spent = dict.fromkeys(sarc.PURPOSES, 0.3) | {"needed_operations": 1.0}
    response = points.groupby(["config", "scaled_iops", "policy"], sort=False)["response_ms"].mean().reset_index()
    published = pd.read_csv(ROOT / "studies" / "sarc" / "published" / "table2.csv")
    varied = table(varied, "parameter", "value", "config", "policy", "response_ms")
    columns = ("config", "policy", "minute", "phase", "stage_rate", "seq_share", "ratio")
    return {
        "table2": {
            "table": make_table2(points),
            "published": published,
        },
        "fig6": {"table": response.assign(power=1.0), "minutes": table(minutes, *columns), "published": published},
        "lists": {"minutes": table(minutes, *columns)},
        "anomaly": {"table": table(strategies, "strategy", "degree", "tracks_a_stream", "misses_pct")},
        "other_policies": {"table": response.replace({"policy": {"lru_top": "arc"}})},
        "sensitivity": {"table": varied, "orderings": orderings(varied)},
        "detection": {
            "table": table(errors, "config", "footprint_gb", "threshold", "false_pct", "missed_pct", "mean_error_pct")
        },
        "fit_grid": {"table": pd.DataFrame(grid)},
        "load_axis": {"table": response.assign(**near)},
        "disk_operations": {"table": table(POINTS, "config", "scaled_iops", "policy").assign(**spent)},
        "prefetchers": {"table": over_seeds(prefetcher_runs())},
        "scale": {"table": pd.concat([response.assign(divisor=divisor) for divisor in (16, 8)])},
    }


FIGURES = {
    "table2": sarc.table2,
    "fig6": sarc.fig6,
    "lists": sarc.lists,
    "anomaly": sarc.anomaly,
    "other_policies": sarc.other_policies,
    "sensitivity": sarc.sensitivity,
    "scale": sarc.scale,
    "detection": sarc.detection,
    "disk_operations": sarc.disk_operations,
    "fit_grid": figures_fit.fit_grid,
    "prefetchers": figures_prefetchers.prefetchers,
    "load_axis": figures_fit.load_axis,
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_drawn_the_same_twice(tables, name, tmp_path):
    for folder in ("one", "two"):
        save_figure(FIGURES[name](**tables[name]), tmp_path / folder / name, formats=("pdf", "svg"))
    for form in ("pdf", "svg"):
        first, second = ((tmp_path / folder / f"{name}.{form}").read_bytes() for folder in ("one", "two"))
        assert first == second


@pytest.mark.parametrize("name", FIGURES)
def test_a_missing_column_or_an_empty_table_is_named(tables, name):
    frame = next(iter(tables[name]))
    whole = tables[name][frame]
    lacking = next(column for column in ("workload", "policy", "strategy", "config", "step") if column in whole)
    with pytest.raises(InputError, match=f"has no column {lacking}"):
        FIGURES[name](**tables[name] | {frame: whole.drop(columns=lacking)})
    with pytest.raises(InputError, match="has no rows"):
        FIGURES[name](**tables[name] | {frame: whole.iloc[:0]})


def test_one_configuration_alone_is_enough(tables):
    for name in (
        "table2",
        "fig6",
        "lists",
        "other_policies",
        "sensitivity",
        "scale",
        "detection",
        "disk_operations",
    ):
        part = {key: frame[frame["config"] == "cache_sensitive"] for key, frame in tables[name].items()}
        FIGURES[name](**part)


def test_ratios_below_the_axis_are_zeros_as_the_caption_says():
    minutes = pd.read_csv(ROOT / "results/sarc/by_minute.csv").sort_values("minute")
    drawn = minutes.groupby(["config", "policy"])["ratio"].transform(lambda ratio: ratio.rolling(5, 1).median())
    below = drawn[drawn < 0.01]
    assert len(below) and (below == 0).all()
