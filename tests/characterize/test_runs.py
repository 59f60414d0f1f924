"""The trace of a row is fetched, selected, replayed and drawn on a page, with the library's results."""

import functools
import hashlib
import http.server
import threading
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

import misspenalty
from misspenalty.characterize import figures, page, runs
from misspenalty.errors import InputError
from misspenalty.replay import characteristics
from misspenalty.traces.parts import select

TRACE = Path(__file__).parents[1] / "data" / "tpcc_small.parquet"
SUM = hashlib.sha256(TRACE.read_bytes()).hexdigest()
ROW = {"name": "mine", "source": str(TRACE), "sha256": SUM, "selection": "first=20000", "warm_up": "10%"}


@pytest.fixture(scope="module")
def made():
    return runs.tables(str(TRACE), ROW)


def test_tables_equal_what_the_library_says(made):
    trace = select(misspenalty.open_trace(TRACE), "first=20000")
    assert list(made) == list(runs.TABLES)
    row = made["curves"].query("policy == 'arc'").iloc[4]
    alone = misspenalty.simulate(trace, "arc", int(row["cache_blocks"]), warm_up=2000)
    assert (row["hits"], row["requests"]) == (alone.hits, alone.requests)
    timed = made["penalty"].query("policy == 'mq'").iloc[1]
    again = misspenalty.penalty(trace, "mq", int(timed["cache_blocks"]), "5ms", warm_up=2000).iloc[0]
    assert timed["mean_us"] == again["mean_us"]
    for name in ("over_time", "runs"):
        assert made[name]["references"].sum() == len(trace)
    assert made["over_time"]["new_blocks"].sum() == trace.blocks == made["over_time"]["footprint_blocks"].iloc[-1]
    assert made["request_sizes"].empty  # the requests of a selection are not known
    assert made["reuse"]["references"].sum() == len(trace) - trace.blocks
    assert made["frequency"]["cumulative_share"].iloc[-1] == pytest.approx(1)


def test_objects_of_different_sizes_are_replayed_by_bytes(tmp_path):
    rng = np.random.default_rng(4)
    keys = rng.zipf(1.3, 4000) % 200
    sizes = rng.integers(100, 5000, 200)[keys]
    lines = "".join(f"{t},{key},{size}\n" for t, (key, size) in enumerate(zip(keys, sizes, strict=True)))
    (tmp_path / "web.csv").write_text("time,key,size\n" + lines)
    made = runs.tables(str(tmp_path / "web.csv"), {"name": "web", "source": "web.csv"})
    trace = misspenalty.open_trace(tmp_path / "web.csv")
    row = made["curves"].query("policy == 'gdsf'").iloc[5]
    assert row["cache_bytes"] == round(0.3 * trace.footprint_bytes)
    assert row["hits"] == misspenalty.simulate(trace, "gdsf", f"{int(row['cache_bytes'])}B").hits
    timed = made["penalty"].query("policy == 'lru'").iloc[1]
    again = misspenalty.penalty(trace, "lru", f"{int(timed['cache_bytes'])}B", "5ms").iloc[0]
    assert timed["mean_us"] == again["mean_us"]
    assert (made["best"]["hit_ratio"] <= made["best"]["opt"]).all()
    for name, table in made.items():
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    page.draw(tmp_path, tmp_path / "web.pdf")
    assert (tmp_path / "web.pdf").read_bytes().startswith(b"%PDF")
    assert made["over_time"]["footprint_bytes"].iloc[-1] == trace.footprint_bytes
    shown = figures.profile(*(made[name] for name in runs.TABLES[1:6]), 4096, objects=True).axes
    assert [axis.get_title(loc="left") for axis in shown[1:4:2]] == ["Sizes of requested objects", "Reuse distances"]
    assert shown[3].get_xlabel() == "LRU cache of (objects)"


def labels_that_overlap(figure):
    """Return the pairs of texts that overlap, and the texts that extend beyond the left or right edge of the figure."""
    FigureCanvasAgg(figure).draw()
    hidden = set()  # labels beyond the ends of an axis are not drawn
    for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        low, high = sorted(axis.get_view_interval())
        ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
        hidden |= {label for tick in ticks if not low <= tick.get_loc() <= high for label in (tick.label1, tick.label2)}
    shown = [
        text for text in figure.findobj(Text) if text.get_text().strip() and text.get_visible() and text not in hidden
    ]
    boxes = [(text.get_text(), text.get_window_extent().padded(-1)) for text in shown]
    outside = [text for text, box in boxes if box.x0 < 0 or box.x1 > figure.bbox.x1]
    return [(a, b) for (a, one), (b, other) in combinations(boxes, 2) if one.overlaps(other)] + outside


@pytest.fixture(scope="module")
def prompts():
    path = TRACE.with_name("prompts_small.jsonl")
    return runs.tables(str(path), {"name": "prompts", "source": str(path), "selection": "first=3000"})


@pytest.mark.parametrize("name", ["made", "prompts"])
def test_no_label_overlaps_another_and_no_legend_a_line(name, request):
    tables = request.getfixturevalue(name)
    profile = [tables[each] for each in ("over_time", "request_sizes", "runs", "reuse", "frequency")]
    drawn = [figures.profile(*profile, 8192), figures.curves(tables["curves"]), figures.penalty(tables["penalty"])]
    assert [labels_that_overlap(figure) for figure in drawn] == [[], [], []]
    for figure in drawn[1:]:
        assert not figure.legends[0].get_window_extent().overlaps(figure.axes[0].get_window_extent())


@pytest.mark.parametrize(
    "time, end, drawn",
    [([0, 30, 90, 150], 2.5, [0.04, 0.02, 0.02]), ([7] * 4, 4, [100, 100, 0]), (None, 4, [100, 100, 0])],
)
def test_every_window_is_drawn_to_its_end(time, end, drawn):
    """Each window must be drawn to its end: windows of 50 s on an axis in minutes or, if the times do not differ,
    windows of two, one and one references."""
    trace = misspenalty.Trace.from_blocks(
        [1, 2, 1, 3], write=[False, False, False, True], time=None if time is None else np.array(time) * 10**9
    )
    empty = characteristics.request_sizes(trace)
    rest = (characteristics.runs(trace), characteristics.reuse_distances(trace), characteristics.frequencies(trace))
    table = characteristics.over_time(trace, 3)
    rate, *_, working_set = figures.profile(table, empty, *rest, 4096).axes
    (steps,) = rate.get_lines()
    footprint, window = working_set.get_lines()
    for line in (steps, footprint, window):
        assert (line.get_xdata()[0], line.get_xdata()[-1]) == (0, pytest.approx(end))
    assert footprint.get_ydata().tolist() == [0, *table["footprint_bytes"]]
    assert window.get_ydata().tolist() == [*table["working_set_bytes"], table["working_set_bytes"].iloc[-1]]
    assert steps.get_ydata().tolist() == pytest.approx([*drawn, drawn[-1]])
    assert ("no times that differ" in rate.get_title(loc="left")) == ("start_s" not in table)


def test_curves_in_colour_look_different():
    best = ["clock", "fifo", "gdsf", "lhd", "sieve"]  # no style is assigned to these
    table = pd.DataFrame(
        {"policy": [*best, "random"], "offline": False, "cache_bytes": 4096, "hit_ratio": [0.5] * 5 + [0]}
    )
    lines = {line.get_label(): line for line in figures.curves(table).axes[0].get_lines()}
    assert len({(lines[name.upper()].get_marker(), lines[name.upper()].get_linestyle()) for name in best}) == len(best)


def test_sizes_on_an_axis_are_round(made):
    figure = figures.profile(
        *(made[each] for each in ("over_time", "request_sizes", "runs", "reuse", "frequency")), 8192
    )
    FigureCanvasAgg(figure).draw()
    ticks = [text.get_text() for text in figure.axes[5].get_yticklabels()]
    assert ticks[1:5] == ["0", "20 MB", "40 MB", "60 MB"]


def test_the_best_has_the_most_hits_of_those_that_do_not_look_ahead(made):
    assert len(made["best"])
    for _, row in made["best"].iterrows():
        group = made["curves"].query("cache_blocks == @row.cache_blocks and not offline")
        assert row["hit_ratio"] == group["hit_ratio"].max() and row["hit_ratio"] <= row["opt"]
        assert row["ties"] == (group["hits"] == group["hits"].max()).sum() - 1


def test_page_and_data_set(made, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    for name, table in made.items():
        table.to_csv(folder / f"{name}.csv", index=False)
    page.draw(folder, folder / "mine.pdf")
    assert (folder / "mine.pdf").read_bytes().startswith(b"%PDF")
    assert {path.name for path in folder.glob("*.svg")} == {"profile.svg", "curves.svg", "penalty.svg"}
    facts = page.read_profile(folder / "profile.csv")
    assert facts["references"] == 20000 and facts["device"] == "5ms"
    runs.gather([str(folder)], str(tmp_path / "all"))
    curves = pd.read_parquet(tmp_path / "all" / "curves")
    assert set(curves["trace"]) == {"mine"} and len(curves) == len(made["curves"])


@pytest.mark.parametrize(("load", "loop", "told"), [("as traced", "open", True), ("clients=16", "closed", False)])
def test_the_page_calls_a_device_overloaded_only_in_an_open_loop(made, tmp_path, load, loop, told):
    made["profile"].to_csv(tmp_path / "profile.csv", index=False)
    facts = page.read_profile(tmp_path / "profile.csv") | {"load": load}
    times = made["penalty"].assign(load=loop, queue_us=0.95 * made["penalty"]["mean_us"])
    assert ("overloaded" in page.contents(facts, made["best"], times)["note"]) == told


def test_a_page_of_writes_has_no_hit_ratio(tmp_path):
    made = runs.tables(str(TRACE), ROW | {"selection": "writes,first=500", "warm_up": ""})
    for name, table in made.items():
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    facts, best = page.read_profile(tmp_path / "profile.csv"), pd.read_csv(tmp_path / "best.csv")
    content = page.contents(facts, best, made["penalty"])
    assert [row[2:] for row in content["best"]["rows"]] == [[""] * 7] * len(best)
    assert "only reads are counted" in content["note"]
    for axes in (figures.curves(made["curves"]).axes[0], figures.penalty(made["penalty"]).axes[0]):
        assert [text.get_text() for text in axes.texts] == [figures.UNCOUNTED]
        assert axes.has_data() is False and not [*axes.get_xticks(), *axes.get_yticks()]


def test_a_page_says_that_objects_are_packed_because_each_has_a_size_of_its_own(made, tmp_path):
    made["profile"].to_csv(tmp_path / "profile.csv", index=False)
    facts, times = page.read_profile(tmp_path / "profile.csv"), made["penalty"].assign(layout="packed")
    assert "Blocks are packed on the drive" in page.contents(facts, made["best"], times)["note"]
    note = page.contents(facts, made["best"].assign(cache_blocks=np.nan), times)["note"]
    assert "Objects are packed on the drive in order of address, each with room" in note and "beyond" not in note


def test_a_data_set_has_the_columns_of_every_trace(tmp_path):
    untimed = pd.DataFrame({"window": [0, 1], "fastest": np.nan})
    timed = pd.DataFrame({"window": [0, 1], "fastest": "arc", "start_s": [0, 0.5]})
    for name, table in (("a", untimed), ("b", timed), ("c", untimed[:0])):
        (tmp_path / name).mkdir()
        for each in runs.TABLES:
            table.to_csv(tmp_path / name / f"{each}.csv", index=False)
    runs.gather([str(tmp_path / name) for name in "abc"], str(tmp_path / "all"))
    found = pd.read_parquet(tmp_path / "all" / "over_time")
    assert found["trace"].tolist() == ["a", "a", "b", "b"] and found["window"].tolist() == [0, 1, 0, 1]
    assert found["fastest"].isna().tolist() == found["start_s"].isna().tolist() == [True, True, False, False]
    assert found["start_s"].iloc[3] == 0.5


def test_a_data_set_needs_a_trace(tmp_path):
    with pytest.raises(InputError, match="no tables to gather; add a row to the table of traces"):
        runs.gather([], str(tmp_path / "all"))


def test_a_trace_called_na_keeps_its_name_in_a_data_set(tmp_path):
    (tmp_path / "NA").mkdir()
    for each in runs.TABLES:
        pd.DataFrame({"what": ["name", "seconds"], "value": ["NA", ""]}).to_csv(
            tmp_path / "NA" / f"{each}.csv", index=False
        )
    runs.gather([str(tmp_path / "NA")], str(tmp_path / "all"))
    found = pd.read_parquet(tmp_path / "all" / "profile")["value"]
    assert found.iloc[0] == "NA" and found.isna().tolist() == [False, True]


def test_a_size_has_the_same_share_in_curves_and_in_response_times():
    trace = misspenalty.Trace.from_blocks(range(100))
    curves, times = (runs.sizes_at(trace, shares) for shares in (runs.SHARES, runs.TIMED))
    assert curves[1] == times[1] == 0.01


def test_a_changed_file_is_refused():
    with pytest.raises(InputError, match="differs from the registered file"):
        runs.open_row(str(TRACE), ROW | {"sha256": "0" * 64})


def test_a_compiled_trace_has_no_checksum_to_compare(tmp_path):
    misspenalty.open_trace(TRACE).save(tmp_path / "mine.trace")
    row = ROW | {"source": "mine.trace", "format": "", "warm_up": "", "selection": ""}
    assert len(runs.open_row(str(tmp_path / "mine.trace"), row | {"sha256": ""})[0]) > 0
    with pytest.raises(InputError, match=r"\.trace: a compiled trace has no sha256 of its own; leave the cell sha"):
        runs.open_row(str(tmp_path / "mine.trace"), row | {"sha256": "0" * 64})


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


@pytest.fixture
def address():
    handler = functools.partial(Quiet, directory=str(TRACE.parent))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/{TRACE.name}"
        server.shutdown()


def test_an_address_is_downloaded_and_verified(address, tmp_path):
    row = ROW | {"source": address}
    assert runs.fetch("mine", row, str(tmp_path / "raw")).read_bytes() == TRACE.read_bytes()
    assert len(runs.open_row(str(tmp_path / "raw"), row)[0]) == 20000
    with pytest.raises(InputError, match="differs from the registered file"):
        runs.fetch("mine", row | {"sha256": "1" * 64}, str(tmp_path / "other"))


def test_an_interrupted_download_is_kept_outside_the_folder_that_snakemake_deletes(tmp_path, monkeypatch):
    kept = []
    monkeypatch.setattr(runs, "download", lambda url, sha256, path, partial: kept.append((path, partial)))
    runs.fetch("mine", ROW | {"source": "https://nowhere.invalid/x.parquet"}, str(tmp_path / "raw" / "mine"))
    assert kept == [(tmp_path / "raw" / "mine" / "x.parquet", f"{tmp_path}/raw/mine.x.parquet.part")]


def test_a_mirror_takes_the_place_of_an_address(tmp_path):
    copy = tmp_path / "mirror" / "mine" / "x.parquet"
    copy.parent.mkdir(parents=True)
    copy.write_bytes(TRACE.read_bytes())
    row = ROW | {"source": "https://nowhere.invalid/x.parquet"}
    assert runs.fetch("mine", row, str(tmp_path / "raw"), str(tmp_path / "mirror")).name == "x.parquet"
