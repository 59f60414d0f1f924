"""Test the figures of the HAC study, drawn from the archived tables."""

import re
from pathlib import Path

import pandas as pd
import pytest

from misspenalty.errors import InputError
from misspenalty_studies.hac import figures

ROOT = Path(__file__).parents[3]


def table(name):
    return pd.read_csv(ROOT / "results" / "hac" / f"{name}.csv")


def test_ticks_of_the_misses_are_sizes_of_all_systems():
    """The first tick must be the smallest size of any system, and every tick must be a size of some system."""
    found = table("misses")
    axes = figures.misses(found, table("dynamic")).axes
    assert len(axes) > len(figures.TRAVERSALS)
    for axis, name in zip(axes, figures.TRAVERSALS, strict=False):
        sizes = set(found.loc[found["traversal"] == name, "cache_mb"])
        assert axis.get_title(loc="left") == name
        assert axis.get_xticks()[0] == min(sizes) and set(axis.get_xticks()) <= sizes


def test_misses_need_a_dynamic_traversal_that_some_cache_can_run():
    with pytest.raises(InputError, match="the table for dynamic has no rows"):
        figures.misses(table("misses"), table("dynamic")[:0])


def test_a_traversal_that_fetches_too_little_at_every_size_has_an_empty_panel_of_peaks():
    published = pd.read_csv(ROOT / "studies/hac/published/miss_penalty.csv")
    both = (found[found["traversal"] != "T6"] for found in (table("fig9"), table("fig9_frames")))
    empty, *others = figures.peaks(*both, published).axes
    assert len(empty.get_lines()) == 3 and all(len(axis.get_lines()) == 5 for axis in others)


def test_sensitivity_leaves_out_only_what_moves_neither_share():
    costs, algorithm = table("cost_sensitivity"), table("sensitivity")
    axes = figures.sensitivity(costs, algorithm).axes
    assert len(axes) == 2
    for axis, all_ in zip(axes, (costs, algorithm), strict=True):
        part = all_[all_["traversal"] == "T1"].set_index("parameter")[["replacement_pct", "conversion_pct"]]
        moves = (part - part.loc["none"]).abs().groupby(level=0).max().max(axis=1)
        names = (re.sub("_(instructions|words|bytes|kb|mb|ns|us)$", "", name) for name in moves.index[moves > 0.1])
        shown = [text.get_text().split(" (")[0].lower() for text in axis.get_yticklabels()]
        assert sorted(shown) == sorted(name.replace("_", " ") for name in names)


def test_the_text_above_a_stack_does_not_overlap_its_value():
    """The text with the share of stack scanning must not overlap a stack's number, which is above the stack's
    whisker."""
    figure = figures.fig10(table("fig10"), pd.read_csv(ROOT / "studies/hac/published/miss_penalty.csv"))
    (axis,) = figure.axes
    figure.draw_without_rendering()
    boxes = [(text.get_text().strip(), text.get_window_extent()) for text in axis.texts]
    shares = [box for text, box in boxes if text.startswith("stack")]
    values = [box for text, box in boxes if not text.startswith("stack")]
    assert len(shares) == 4 and not any(share.overlaps(value) for share in shares for value in values)


def test_hot_traversals_hit_the_server_as_often_as_the_caption_of_figure_11_says():
    found = table("projections").query("case == 'fig9_point' and quantity == 'server_cache_hit_pct'")
    hits = found.set_index("traversal")["value"]
    assert hits["T6"] == hits["T1-"] == 100 and hits[["T1", "T1+"]].between(90, 100, inclusive="neither").all()
