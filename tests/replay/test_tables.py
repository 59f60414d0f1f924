"""Tables of results draw themselves, and are plain frames in every other respect."""

import numpy as np
import pandas as pd
import pytest

from misspenalty import InputError, Trace, byte_hit_ratio_curve, hit_ratio_curve, penalty
from misspenalty.cli.main import main
from misspenalty.plotting import curve

BLOCKS = Trace.from_blocks([1, 2, 1, 3, 1], name="mine")
OBJECTS = Trace.from_blocks([1, 2, 1, 3, 1], object_bytes=[10, 20, 10, 99, 10])


@pytest.mark.parametrize(
    ("table", "label"),
    [
        (hit_ratio_curve(BLOCKS, ["lru", "opt"], [1, 2]), "Hit ratio (%)"),
        (hit_ratio_curve(BLOCKS, "lru"), "Hit ratio (%)"),
        (hit_ratio_curve(OBJECTS, ["lru", "gdsf"], ["30B", "80B"]), "Hit ratio (%)"),
        (byte_hit_ratio_curve(OBJECTS, ["lru", "opt"], [30, 80]), "Hit ratio (%)"),
        (penalty(BLOCKS, "lru", [1, 2], "5ms", interval="1ms"), "Mean response time (ms)"),
    ],
)
def test_a_table_draws_what_it_shows(table, label):
    figure = table.plot()
    assert any(label.lower() in text.lower() for text in (figure.axes[0].get_ylabel(), *map(str, figure.texts)))
    assert len(figure.axes[0].lines) >= table["policy"].nunique()


@pytest.mark.parametrize(("writes", "warm_up"), [(5, 0), (0, 4)])
def test_response_times_that_are_0_or_unknown_are_drawn(writes, warm_up):
    """In one case all references are writes, which do not count; in the other, only the last one counts, and it
    hits."""
    trace = Trace.from_blocks([1, 2, 1, 3, 1], write=[place < writes for place in range(5)])
    figure = penalty(trace, "lru", [3, 4], "5ms", interval="1s", warm_up=warm_up).plot()
    assert figure.axes[0].get_ylim() == (0, 1)


@pytest.mark.parametrize(
    ("trace", "sizes", "label"),
    [
        (BLOCKS, [1, 2], "Cache size"),
        (OBJECTS, ["30B", "80B"], "Cache size"),
        (OBJECTS, [1, 2], "Cache size (objects)"),
    ],
)
def test_an_axis_says_what_sizes_count(trace, sizes, label):
    for table in (hit_ratio_curve(trace, "lru", sizes), penalty(trace, "lru", sizes, "5ms")):
        assert table.plot().axes[0].get_xlabel() == label


@pytest.mark.parametrize("kind", [np.int32, "Int32", "int64[pyarrow]", np.uint16])
def test_sizes_of_any_type_are_drawn(kind):
    """Sizes must not overflow the type of the column: in 32 bits, 20,000 blocks of 1 MB would be -503,316,480 bytes."""
    table = pd.DataFrame({"policy": "lru", "cache_blocks": [20_000, 40_000], "hit_ratio": [0.25, 0.5]})
    made = table.astype({"cache_blocks": kind}).assign(hit_ratio=table["hit_ratio"].astype("Float32"))
    line = curve.hit_ratio(made, 1 << 20).axes[0].lines[0]
    assert (line.get_xdata().tolist(), line.get_ydata().tolist()) == ([20_000 << 20, 40_000 << 20], [25, 50])


def test_ratios_that_are_missing_are_drawn():
    table = hit_ratio_curve(Trace.from_blocks([1, 2], write=[True, True]), "lru", [1, 2])
    assert curve.hit_ratio(table.convert_dtypes()).axes[0].get_ylim() == (0, 100)


def test_sizes_in_blocks_are_drawn_next_to_others_in_bytes():
    table = pd.concat([hit_ratio_curve(BLOCKS, "lru", [1, 2]), byte_hit_ratio_curve(BLOCKS, "fifo", ["4KB", "8KB"])])
    lines = curve.hit_ratio(table, 4096).axes[0].lines
    assert [line.get_xdata().tolist() for line in lines] == [[4096, 8192]] * 2
    with pytest.raises(InputError, match="some rows have sizes in blocks, others in bytes; give block_bytes"):
        curve.hit_ratio(table)
    alone = curve.hit_ratio(table[table["policy"] == "lru"]).axes[0].lines  # the column of bytes is there, but empty
    assert [line.get_xdata().tolist() for line in alone] == [[1, 2]]


def test_it_is_a_frame_for_everything_else():
    table = hit_ratio_curve(BLOCKS, "lru", [1, 2])
    plain = pd.DataFrame(table)
    assert table.equals(plain) and plain.equals(table) and not table.equals(plain[:1])
    assert type(table[table["hits"] > 0]) is type(pd.concat([table, table])) is pd.DataFrame
    for drawn in (table.plot(x="cache_blocks", y="hits"), table.plot.line(x="cache_blocks", y="hits")):
        assert drawn.lines[0].get_ydata().tolist() == table["hits"].tolist()


def test_every_size_is_a_number_of_objects(tmp_path, capsys):
    (path := tmp_path / "web.csv").write_text("key,size\na,100\nb,300\na,100\n")
    assert main(["curve", str(path), "--size", "all"]) == 2
    assert "those of web.csv differ in size; name sizes in bytes" in capsys.readouterr().err
    assert main(["curve", str(path), "--size", "all", "--by-objects"]) == 0
    told = capsys.readouterr().out
    assert "objects" in told and "blocks" not in told.split("knees")[1].replace("further block", "")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--sample", "0.5"], "a sample needs blocks of one size; leave out sample, or give sizes in objects"),
        (["--prefetch", "sequential"], "a prefetcher needs blocks of one size; leave out prefetch"),
        (["--policy", "mq"], "policy 'mq' is not defined for objects of different sizes"),
        (["--policy", "{mine}"], "policy 'Mine' is not defined for objects of different sizes"),
    ],
)
def test_what_has_no_meaning_in_bytes_is_refused(tmp_path, capsys, options, message):
    (path := tmp_path / "web.csv").write_text("key,size\na,100\nb,300\na,100\n")
    (mine := tmp_path / "mine.py").write_text(
        "class Mine:\n    def __init__(self, capacity): pass\n    def access(self, block): return False\n"
    )
    assert main(["curve", str(path), "--size", "1KB", *(each.format(mine=mine) for each in options)]) == 2
    assert message in capsys.readouterr().err
