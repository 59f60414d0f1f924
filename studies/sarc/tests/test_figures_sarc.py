"""Test that SARC's figures draw the archived tables and parts of them, and that errors name what is missing."""

from pathlib import Path

import pandas as pd
import pytest

from misspenalty import InputError
from misspenalty.plotting import save_figure
from misspenalty_studies.sarc import figures as sarc
from misspenalty_studies.sarc import figures_fit, figures_prefetchers

ROOT = Path(__file__).parents[3]
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


def archived(name):
    return pd.read_csv(ROOT / "results" / "sarc" / f"{name}.csv")


@pytest.fixture(scope="module")
def tables():
    """Return the archived tables of each figure, by the names of its arguments."""
    published = {"published": pd.read_csv(ROOT / "studies" / "sarc" / "published" / "table2.csv")}
    minutes = {"minutes": archived("by_minute")}
    more = {"table2": published, "fig6": minutes | published, "sensitivity": {"orderings": archived("orderings")}}
    found = {name: {"table": archived(name)} | more.get(name, {}) for name in FIGURES if name != "lists"}
    return found | {"lists": minutes}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_drawn_the_same_twice(tables, name, tmp_path):
    """The SVG files must be equal byte by byte; `test_figures.py` tests the other formats."""
    first, second = (
        save_figure(FIGURES[name](**tables[name]), tmp_path / stem, ["svg"])[0].read_bytes() for stem in ("one", "two")
    )
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


def test_detection_names_every_space_in_its_legend(tables):
    figure = sarc.detection(**tables["detection"])
    named = {(entry.get_marker(), entry.get_color()): entry.get_label() for entry in figure.legends[0].get_lines()[2:]}
    drawn = {(line.get_marker(), line.get_color()) for line in figure.axes[0].get_lines()[:-1]}
    assert drawn == set(named)
    spaces = tables["detection"]["table"][["config", "footprint_gb"]].drop_duplicates()
    assert sorted(named.values()) == sorted(
        f"{config.removeprefix('cache_')}, {gb:g} GB" for config, gb in spaces.itertuples(index=False)
    )


def test_the_map_of_the_fit_explains_its_marks(tables):
    figure = figures_fit.fit_grid(**tables["fit_grid"])
    assert {"one seed", "all seeds", "chosen"} <= {entry.get_label() for entry in figure.legends[0].get_lines()}


def test_ratios_below_the_axis_are_zeros_as_the_caption_says():
    minutes = archived("by_minute").sort_values("minute")
    drawn = minutes.groupby(["config", "policy"])["ratio"].transform(lambda ratio: ratio.rolling(5, 1).median())
    below = drawn[drawn < 0.01]
    assert len(below) and (below == 0).all()
