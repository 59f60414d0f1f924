"""Test figures: equal bytes in every run, figures of incomplete tables, and a clear message for an unusable table."""

import hashlib
import itertools
import re
import subprocess
import sys
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from misspenalty.errors import InputError
from misspenalty.plotting import curve, save_figure, style
from misspenalty_studies.common import overview
from misspenalty_studies.common.reporting.jobs import function_of, read_tables
from misspenalty_studies.common.study import studies
from misspenalty_studies.mq import figures as mq
from misspenalty_studies.mq.published import published_rates

ROOT = Path(__file__).parents[3]
PRINTED4 = pd.read_csv(ROOT / "studies" / "mq" / "published" / "table4.csv")
PRINTED7 = pd.read_csv(ROOT / "studies" / "mq" / "published" / "fig7.csv")
TABLES = {path.stem: pd.read_csv(path) for path in (ROOT / "results" / "mq").glob("*.csv")}


def pair(tables, name):
    return {"128mb": tables[name], "calibrated": tables[f"{name}_calibrated"]}


def verdicts(reproduced):
    rows = ["reproduced"] * reproduced + ["tie", "direction", "not_reproduced", "not_testable"]
    bases = ["fitted", "fitted", *["free"] * (len(rows) - 2)]
    roles = ["claim", "claim", "given", *["claim"] * (len(rows) - 3)]
    table = pd.DataFrame({"role": roles, "form": "number", "verdict": rows, "basis": bases})
    parts = [table.assign(study=study) for study in ("mq", "sarc", "vlog")]
    return pd.concat(
        [*parts, table.assign(study="hac", verdict="not_testable"), table[:1].assign(study="mq", form="comparison")]
    )


TWO_CURVES = pd.DataFrame(
    {"policy": ["lru", "lru", "mq"], "cache_blocks": [200, 100, 100], "hit_ratio": [0.5, 0.25, 0.4]}
)
DRAWN = {
    "table2": lambda t: mq.table2(t["table2"]),
    "table3": lambda t: mq.table3(t["table3"]),
    "table4": lambda t: mq.table4(pair(t, "table4"), PRINTED4),
    "fig2": lambda t: mq.distances(t["fig2"]),
    "fig3": lambda t: mq.distances(t["fig3"]),
    "fig4": lambda t: mq.fig4(t["fig4"]),
    "fig7": lambda t: mq.fig7(pair(t, "fig7"), PRINTED7, [(256, "lru")]),
    "fig7_components": lambda t: mq.fig7_components(t["fig7_components"]),
    "fig7_sensitivity": lambda t: mq.sensitivity(t["fig7_sensitivity"], "normalized_rate", "Rate"),
    "sensitivity": lambda t: mq.sensitivity(t["sensitivity"]),
    "first_level": lambda t: mq.first_level(t["first_level"]),
    "first_level_fit": lambda t: mq.first_level_fit(t["first_level_fit"], t["first_level_claims"], PRINTED4),
    "hit_ratio": lambda t: curve.hit_ratio(TWO_CURVES),
    "hit_ratio_sampled": lambda t: curve.hit_ratio(TWO_CURVES.assign(hit_ratio_error=0.02), 8192),
    "overview": lambda t: overview.overview(
        pair(t, "table4"), PRINTED4, pair(t, "fig7"), PRINTED7, {"128mb": verdicts(9), "calibrated": verdicts(5)}
    ),
}

CURVES = ("hit_ratio", "hit_ratio_sampled")  # figures that the command line draws
DRAW = """
import runpy, sys
test = runpy.run_path(sys.argv[1])
for name in test["CURVES"]:
    test["save_figure"](test["DRAWN"][name](None), sys.argv[2] + "/" + name)
"""


@pytest.mark.parametrize("name", DRAWN)
def test_everything_drawn_lies_within_the_figure(name):
    figure = DRAWN[name](TABLES)
    assert isinstance(figure, Figure)
    with matplotlib.rc_context(style.STYLE):
        figure.draw_without_rendering()
        drawn, page = figure.get_tightbbox(), figure.bbox_inches
    slack = 0.02  # inches
    assert drawn.x0 >= page.x0 - slack and drawn.x1 <= page.x1 + slack
    assert drawn.y0 >= page.y0 - slack and drawn.y1 <= page.y1 + slack


def test_two_processes_write_the_same_bytes(tmp_path):
    """Two processes that hash strings differently must draw the same figure; test_workflow.py tests figures of the
    studies."""
    digests = []
    for seed in ("1", "2"):
        folder = tmp_path / seed
        environment = {"PYTHONPATH": ":".join(filter(None, sys.path)), "HOME": str(tmp_path), "PYTHONHASHSEED": seed}
        command = [sys.executable, "-W", "error", "-c", DRAW, __file__, str(folder)]
        subprocess.run(command, check=True, env=environment)
        digests.append({path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()})
    assert digests[0] == digests[1]
    assert sorted(digests[0]) == sorted(f"{name}.{form}" for name in CURVES for form in ("pdf", "png", "svg"))


def test_the_formats_are_what_they_say_and_hold_no_date(tmp_path):
    pdf, svg, png = save_figure(mq.fig4(TABLES["fig4"]), tmp_path / "deep" / "fig4")
    assert pdf.read_bytes().startswith(b"%PDF") and b"CreationDate" not in pdf.read_bytes()
    assert svg.read_text().count("<svg") == 1 and "dc:date" not in svg.read_text()
    assert png.read_bytes().startswith(b"\x89PNG")
    assert b"/Type3" not in pdf.read_bytes().replace(b" ", b"")  # no Type 3 fonts, so that the text can be searched


def test_an_error_leaves_the_older_figures_as_they_were(tmp_path, monkeypatch):
    stem = tmp_path / "fig4"
    before = {path: path.read_bytes() for path in save_figure(mq.fig4(TABLES["fig4"]), stem)}
    figure = mq.fig4(TABLES["fig4"].head(3))
    savefig = figure.savefig

    def fail_on_png(path, **keywords):
        if keywords["format"] == "png":
            raise RuntimeError("out of ink")
        savefig(path, **keywords)

    monkeypatch.setattr(figure, "savefig", fail_on_png)
    with pytest.raises(RuntimeError, match="out of ink"):
        save_figure(figure, stem)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("odd", ["gif", None, 7])
def test_unknown_format_is_refused(tmp_path, odd):
    with pytest.raises(InputError, match=rf"{odd!r}.*pdf, svg, png"):
        save_figure(mq.fig4(TABLES["fig4"]), tmp_path / "x", formats=[odd])
    assert not list(tmp_path.iterdir())


STACKS = {
    "results/epcm/components": "epcm.figures.components",
    "results/mq/fig7_components": "mq.figures.fig7_components",
    "results/mq/table3": "mq.figures.table3",
    "results/vlog/fig9": "vlog.figures.fig9",
    "results/vlog/what_if": "vlog.figures.what_if",
}


@pytest.mark.parametrize("archived", STACKS)
def test_a_legend_of_stacks_names_the_parts_that_have_a_length_and_no_other(archived):
    draw = function_of(f"misspenalty_studies.{STACKS[archived]}")
    figure = draw(table=read_tables(ROOT / f"{archived}.csv"))
    bars = [bar for axis in figure.axes for bar in axis.patches]
    assert bars and all(bar.get_width() > 0 for bar in bars)
    entries = figure.legends[0].get_patches()
    shown, named = ({(one.get_facecolor(), one.get_hatch()) for one in some} for some in (bars, entries))
    assert named == shown


@pytest.mark.parametrize("name", ["table2", "table3", "table4", "fig7", "fig7_components", "overview"])
def test_a_table_without_a_policy_can_be_drawn(name):
    partial = {key: table[table["policy"] != "mq"] if "policy" in table else table for key, table in TABLES.items()}
    lay_out(DRAWN[name](partial))


@pytest.mark.parametrize("name", ["table4", "fig7", "overview"])
def test_sizes_that_the_paper_does_not_have_get_no_mark(name):
    other = {
        key: table.assign(cache_mb=table["cache_mb"] / 10) if "cache_mb" in table else table
        for key, table in TABLES.items()
    }
    figures = [DRAWN[name](tables) for tables in (TABLES, other)]
    marks = [any(line.get_marker() == "D" for axis in figure.axes for line in axis.lines) for figure in figures]
    assert marks == [True, False]
    lay_out(figures[1])


def test_overview_counts_the_claims_of_every_study_that_was_built_by_form_and_basis():
    numbers, comparisons = DRAWN["overview"](TABLES).axes[-2:]
    labels = [label.get_text() for label in numbers.get_yticklabels()]
    assert labels == ["MQ behind 128 MB", "MQ calibrated", "SARC", "Virtual log"]
    assert [text.get_text() for text in numbers.texts][:6] == ["6", "2", "1", "1", "1", "1"]
    shown = [text.get_text() for text in comparisons.texts]
    assert shown[:2] == ["1", "1"] and shown[-5:] == [*["recordings"] * 2, *["generated"] * 2, "traces"]


def test_the_overview_and_the_documentation_agree_on_where_traces_come_from():
    rows = [line for line in (ROOT / "docs" / "studies.md").read_text().splitlines() if line.startswith("| `")]
    listed = {line.split("`")[1]: line.split("|")[-2] for line in rows}
    missing = {
        name: study.traces
        for name, study in studies().items()
        if study.judged and not all(part in listed[name] for part in study.traces.split(", "))
    }
    assert missing == {}


def test_one_missing_cell_is_not_drawn():
    whole = len(mq.table4({"128mb": TABLES["table4"]}, PRINTED4).axes[0].patches)
    assert len(mq.table4({"128mb": TABLES["table4"].iloc[1:]}, PRINTED4).axes[0].patches) == whole - 1


def lay_out(figure):
    with matplotlib.rc_context(style.STYLE):
        figure.draw_without_rendering()


@pytest.mark.parametrize(
    ("draw", "table", "column"),
    [
        (mq.table2, "table2", "capture"),
        (mq.table3, "table3", "policy"),
        (mq.distances, "fig3", "capture"),
        (mq.fig4, "fig4", "capture"),
        (mq.fig7_components, "fig7_components", "cache_mb"),
        (mq.sensitivity, "sensitivity", "parameter"),
        (mq.first_level, "first_level", "first_level_mb"),
    ],
)
def test_an_unusable_table_is_named(draw, table, column):
    with pytest.raises(InputError, match=f"no column {column}"):
        draw(TABLES[table].drop(columns=column))
    with pytest.raises(InputError, match="no rows"):
        draw(TABLES[table].head(0))


def test_a_missing_table_is_named():
    with pytest.raises(TypeError, match="'table'"):
        mq.fig4(tables=TABLES["fig4"])


def archived(study, *names):
    return [read_tables(ROOT / "results" / study / f"{name}.csv") for name in names]


@pytest.mark.parametrize("name", ["first_level", "fig7_sensitivity"])
def test_lines_by_size_have_the_colour_of_their_policy(name):
    entries = {entry.get_label(): entry for entry in DRAWN[name](TABLES).legends[0].get_lines()}
    sizes, policies = (set(TABLES[name][column]) for column in ("cache_mb", "policy"))
    assert len(entries) == len(sizes) * len(policies)
    for policy in policies:
        own = [entries[f"{style.policy_name(policy)} {mb:g} MB"] for mb in sizes]
        assert {entry.get_color() for entry in own} == {style.policy_line(policy)["color"]}
        assert len({(entry.get_marker(), entry.get_linestyle()) for entry in own}) == len(sizes)


def test_lines_of_the_gains_are_named_by_cache_size():
    (table,) = archived("delayed_hits", "gains")
    figure = function_of("misspenalty_studies.delayed_hits.figures.gains")(table)
    named = {entry.get_color(): entry.get_label() for entry in figure.legends[0].get_lines()}
    assert list(named.values()) == [f"cache of {size:g} %" for size in sorted(set(table["cache_pct"]))]
    assert len(figure.axes) == len(table.groupby(["trace", "policy"]))
    for axis in figure.axes:
        assert {line.get_color() for line in axis.get_lines()[:-1]} == set(named)  # the last is the line at 0


def test_a_line_that_coincides_with_another_is_narrower_and_above_it():
    (table,) = archived("classics", "hit_ratios")
    published = pd.read_csv(ROOT / "studies" / "classics" / "published" / "hit_ratios.csv")
    looping = function_of("misspenalty_studies.classics.figures.looping")(table, published).axes[0]
    lines = {line.get_label(): line for line in looping.get_lines()}
    order = [lines[name] for name in ("LRU", "ARC", "CAR")]
    for below, above in itertools.pairwise(order):
        assert below.get_linewidth() > above.get_linewidth() and below.get_zorder() < above.get_zorder()
    assert {line.get_markeredgecolor() for line in order} == {"none"}


def test_the_values_of_epcms_bars_are_written_where_they_are_too_short_to_be_seen():
    (table,) = archived("epcm", "fig7")
    baselines, reductions = (
        pd.read_csv(ROOT / "studies" / "epcm" / "published" / f"{name}.csv") for name in ("baselines", "reductions")
    )
    axes = function_of("misspenalty_studies.epcm.figures.fig7")(table, baselines, reductions).axes
    texts = {axis.get_title(loc="left"): [text.get_text() for text in axis.texts] for axis in axes}
    assert len(texts["SSH: read calls"]) == len(axes[-1].patches) and texts["GNU ld: read calls"] == []


def test_parameters_of_sensitivities_have_words_and_units():
    costs, hac = archived("hac", "cost_sensitivity", "sensitivity")
    table, orderings = archived("sarc", "sensitivity", "orderings")
    figures = (
        function_of("misspenalty_studies.hac.figures.sensitivity")(costs, hac),
        function_of("misspenalty_studies.sarc.figures.sensitivity")(table, orderings),
    )
    labels = [{label.get_text() for axis in figure.axes for label in axis.get_yticklabels()} for figure in figures]
    assert {"client L2 (KB)", "packet (µs)", "install (instructions)", "scan (frames per fetch)"} <= labels[0]
    assert {"controller = 52.5 µs", "write cache = 1024 MB", "degree = 16 tracks", "load factor = 0.855"} <= labels[1]
    assert not any("_" in label for label in labels[0] | labels[1])


def test_published_rates_follow_from_the_printed_gains():
    rates = published_rates(PRINTED7).set_index(["cache_mb", "policy"])
    printed = rates[~rates["derived"]]["normalized_rate"].to_dict()
    assert printed == {(128, "lru"): 1.0, (128, "mq"): 1.08, (256, "lru"): 1.08}
    derived = rates[rates["derived"]]["normalized_rate"]
    assert derived[256, "mq"] == pytest.approx(1.08 * 1.12)
    assert derived[512, "lru"] == pytest.approx(1.08 * 1.12)  # "similar" to MQ with 256 MB
    assert derived[512, "mq"] == pytest.approx(1.08 * 1.12 * 1.10)


def test_marks_are_at_the_published_values():
    axis = mq.table4({"128mb": TABLES["table4"]}, PRINTED4).axes[0]
    marks = sorted(line.get_ydata()[0] for line in axis.lines if line.get_marker() == "D")
    assert marks == sorted(PRINTED4["hit_ratio_pct"])


def test_every_policy_differs_without_colour():
    looks = [style.policy_line(label) for label in style._POLICIES]
    assert len({(look["marker"], str(look["linestyle"])) for look in looks}) == len(looks)
    weights = np.array([0.299, 0.587, 0.114])
    grey = {name: weights @ matplotlib.colors.to_rgb(style.policy_bar(name)["facecolor"]) for name in ("mq", "lru")}
    assert grey["lru"] - grey["mq"] > 0.4
    assert style.policy_bar("lru")["hatch"] and "hatch" not in style.policy_bar("mq")


def test_policies_without_a_style_of_their_own_differ_in_one_figure():
    labels = ["fifo", "clock", "gdsf", "lhd", "sieve", "random", "lrfu", "slru", "wtinylfu", "s4fifo", "lecar"]
    table = pd.DataFrame({"policy": labels, "cache_blocks": 100, "hit_ratio": 0.5, "device": "5ms", "mean_us": 7.0})
    table = pd.concat([table, table.assign(cache_blocks=200)])
    for figure in (curve.hit_ratio(table), curve.response_time(table)):
        looks = {(line.get_marker(), line.get_linestyle()) for line in figure.axes[0].get_lines()}
        assert len(looks) == len(labels)
    assert style.policy_lines(labels)["s4fifo"] == style.policy_line("s4fifo")
    assert style.policy_lines(["sieve"])["sieve"] == style.policy_line("sieve")


def test_no_result_is_typed_into_a_figure():
    source = "".join(path.read_text() for path in (ROOT / "studies").glob("*/figures*.py"))
    printed = {f"{value:g}" for value in PRINTED4["hit_ratio_pct"]}
    assert printed.isdisjoint(re.findall(r"\d+\.\d+", source))


def test_a_single_size_shows_every_policy_and_its_own_tick():
    table = pd.DataFrame({"policy": ["lru", "opt"], "cache_blocks": 18_688, "device": "5ms", "mean_us": [700.0, 200.0]})
    axes = curve.response_time(table, 512).axes[0]
    assert all(line.get_marker() not in ("", "None") for line in axes.get_lines())
    assert list(axes.get_xticks()) == [18_688 * 512]


def test_a_curve_may_have_its_sizes_in_blocks_and_in_bytes():
    """The tables of `misspenalty.characterize` have both; blocks are missing for objects of different sizes."""
    table = TWO_CURVES.assign(cache_bytes=512 * TWO_CURVES["cache_blocks"])
    for blocks in (table["cache_blocks"], float("nan")):
        lines = curve.hit_ratio(table.assign(cache_blocks=blocks)).axes[0].get_lines()
        assert {size for line in lines for size in line.get_xdata()} == set(table["cache_bytes"])
