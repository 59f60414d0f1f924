"""Test that charts read back from drawn figures keep numbers, names and scales, and that Vega-Lite accepts them."""

import json
from pathlib import Path

import numpy as np
import pytest
import vl_convert
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from misspenalty_studies.common.plan import paths_of
from misspenalty_studies.common.reporting.jobs import function_of, read_tables
from misspenalty_studies.common.site.charts import charts, read_figure
from misspenalty_studies.common.site.inputs import read_index
from misspenalty_studies.common.site.pages import _tuples, _under

ROOT = Path(__file__).parents[4]
ARCHIVED = {
    figure["output"]: figure
    for figure in read_index(ROOT / "results" / "index.json")["figures"]
    if all((ROOT / path).is_file() for path in paths_of(figure["inputs"]))
}


def test_most_figures_can_be_drawn_from_archived_tables():
    assert len(ARCHIVED) > 40 and {figure["study"] for figure in ARCHIVED.values()} >= {
        "hac",
        "mq",
        "epcm",
        "vlog",
        "sarc",
    }


@pytest.mark.parametrize("output", ARCHIVED)
def test_an_archived_figure_becomes_charts_whose_marks_have_names_and_places(output):
    figure = ARCHIVED[output]
    inputs = read_tables(_under(ROOT, figure["inputs"]))
    found = charts(function_of(figure["function"])(**inputs, **_tuples(figure["options"])))
    json.dumps(found, allow_nan=False)
    names = {one["name"] for one in found["series"]}
    rows = [row for panel in found["panels"] for row in panel["data"]["values"]]
    assert rows and {row["series"] for row in rows} == {one["name"] for one in found["series"] if one["marks"]} <= names
    assert [panel["title"] for panel in found["panels"] if not panel["data"]["values"] or not panel["layer"]] == []
    assert [row for row in rows if row["x"] is None or row["y"] is None] == []


def test_a_line_is_read_back_with_its_name_and_numbers():
    figure = Figure()
    axis = figure.subplots()
    axis.plot([1, 2, 4], [3, np.nan, 7], "s--", color="#e8702a", label="LRU")
    axis.set(xlabel="Cache (MB)", ylabel="Hit ratio (%)", title="behind 128 MB", xscale="log")
    axis.legend()
    (panel,), series = read_figure(figure)
    assert (panel.title, panel.xlabel, panel.ylabel) == ("behind 128 MB", "Cache (MB)", "Hit ratio (%)")
    assert [(mark["x"], mark["y"]) for mark in panel.marks] == [(1, 3), (4, 7)]
    assert panel.scales == {"x": "log", "y": "linear"}
    assert series["LRU"].color == "#e8702a" and series["LRU"].shape == "square" and series["LRU"].dash != (1, 0)


def test_published_points_are_told_from_those_of_the_same_colour():
    figure = Figure()
    axis = figure.subplots()
    axis.plot([1, 2], [3, 4], "o-", color="#004c8c", label="MQ")
    axis.plot([1, 2], [5, 6], "o:", color="#004c8c", markerfacecolor="white", label="MQ")
    published = Line2D([], [], color="black", marker="o", markerfacecolor="white", label="published")
    axis.legend(handles=[axis.lines[0], published])
    (panel,), series = read_figure(figure)
    assert {mark["series"]: mark["y"] for mark in panel.marks} == {"MQ": 4, "MQ, published": 6}
    assert series["MQ, published"].hollow and not series["MQ"].hollow


def test_bars_are_read_back_with_the_value_that_a_pointer_shows():
    figure = Figure()
    axis = figure.subplots()
    axis.bar([0, 1], [20, 40], label="read")
    axis.bar([0, 1], [5, 10], bottom=[20, 40], label="seek")
    axis.set_xticks([0, 1], ["LRU", "MQ"])
    (panel,) = charts(figure)["panels"]
    rows = [(row["series"], row["at"], row["value"]) for row in panel["data"]["values"]]
    assert rows == [("read", "LRU", 20), ("read", "MQ", 40), ("seek", "LRU", 5), ("seek", "MQ", 10)]


def test_bars_on_a_logarithmic_axis_keep_their_value():
    figure = Figure()
    axis = figure.subplots()
    axis.bar([0], [1000], label="misses")
    axis.set(yscale="log", ylim=(1, 2000))
    (row,) = charts(figure)["panels"][0]["data"]["values"]
    assert row["value"] == 1000 and row["y"] == 1


def test_axes_that_show_nothing_are_not_a_panel():
    figure = Figure()
    axes = figure.subplots(1, 2)
    axes[1].plot([1], [2])
    assert len(read_figure(figure)[0]) == 1


@pytest.mark.parametrize("shown", [True, False])
def test_axes_without_a_frame_are_read_if_lines_or_bars_are_drawn_in_them(shown):
    figure = Figure()
    lines, bars, rules = figure.subplots(1, 3)
    lines.plot([1, 2], [3, 4])
    bars.bar([1], [2])
    rules.vlines([1], 0, 2)
    for axis in (lines, bars, rules):
        axis.set(xlim=(0, 3), ylim=(0, 5))
        if not shown:
            axis.set_axis_off()
    kinds = [[mark["mark"] for mark in panel.marks] for panel in read_figure(figure)[0]]
    assert kinds == [["line", "line"], ["bar"], ["rule"]][: 3 if shown else 2]


def test_a_text_with_a_power_is_plain():
    figure = Figure()
    axis = figure.subplots()
    axis.plot([1], [2])
    axis.set_xlabel(r"$10^{-3}$ s")
    assert read_figure(figure)[0][0].xlabel == "10⁻³ s"


def test_labels_of_an_axis_belong_to_its_values():
    """Each visible value must have its own label even if the labels are numbers and the first value is out of view."""
    axis = Figure().subplots()
    axis.plot([0, 1, 2, 3], [1, 2, 3, 4])
    axis.set_xticks(range(4), np.array([10.0, 20.5, 30.0, 40.0]))
    axis.set_xlim(0.5, 3.5)
    (panel,), _ = read_figure(axis.figure)
    assert panel.ticks["x"] == {1.0: "20.5", 2.0: "30.0", 3.0: "40.0"}


@pytest.mark.parametrize(
    ("labels", "places"), [(["0.1", "0.14", ""], ["0.1", "0.117", "0.17"]), (["T6", "T1", "T1+"], ["T6", "T6", "T1+"])]
)
def test_a_pointer_shows_a_number_between_the_ticks_of_an_axis_of_numbers(labels, places):
    axis = Figure().subplots()
    axis.plot([0.1, 0.117, 0.17], [1, 2, 3])
    axis.set_xticks([0.1, 0.14, 0.17], labels)
    (panel,) = charts(axis.figure)["panels"]
    shown = [row["at"] for row in panel["data"]["values"]]
    assert shown == places


def test_a_grey_entry_of_the_legend_explains_dashes():
    figure = Figure()
    axis = figure.subplots()
    axis.plot([1, 2], [3, 4], color="#004c8c", label="EPCM")
    axis.plot([1, 2], [5, 6], color="#004c8c", linestyle="--")
    axis.plot([1, 2], [7, 8], color="#e8702a", linestyle="--", label="PCM")
    axis.legend(handles=[*axis.lines[::2], Line2D([], [], color="#808080", linestyle="--", label="a head start")])
    panels, series = read_figure(figure)
    assert [mark["series"] for mark in panels[0].marks[::2]] == ["EPCM", "EPCM, a head start", "PCM"]
    assert series["EPCM"].dash == (1, 0) and series["EPCM, a head start"].dash != (1, 0)


@pytest.mark.parametrize(("labels", "upright"), [(["P 16/2", "E 64/51"] * 4, True), (list("abcdefgh"), False)])
def test_names_of_bars_are_upright_where_they_do_not_fit(labels, upright):
    figure = Figure()
    axis = figure.subplots()
    axis.bar(range(8), range(1, 9))
    axis.set_xticks(range(8), labels)
    drawn = charts(figure)["panels"][0]["layer"][0]["encoding"]["x"]["axis"]
    assert (drawn.get("labelAngle") == -90) == upright


@pytest.mark.parametrize(("number", "height"), [(3, 260), (70, 980)])
def test_a_panel_is_as_high_as_its_names_need(number, height):
    figure = Figure()
    axis = figure.subplots()
    axis.barh(range(number), range(1, number + 1))
    axis.set_yticks(range(number), [f"case {name}" for name in range(number)])
    assert charts(figure)["panels"][0]["height"] == height


@pytest.mark.parametrize("kind", ["plot", "bar", "vlines", "step"])
def test_a_specification_is_drawn_by_vega_lite(kind):
    figure = Figure()
    axis = figure.subplots()
    {
        "plot": lambda: axis.plot([1, 2], [3, 4], label="a"),
        "bar": lambda: axis.bar([1, 2], [3, 4], label="a"),
        "vlines": lambda: axis.vlines([1, 2], 0, [3, 4], label="a"),
        "step": lambda: axis.step([1, 2], [3, 4], label="a"),
    }[kind]()
    axis.legend()
    (panel,) = charts(figure)["panels"]
    json.dumps(panel, allow_nan=False)
    svg = vl_convert.vegalite_to_svg(panel | {"width": 200})
    assert svg.startswith("<svg") and panel["description"].endswith("of a")
