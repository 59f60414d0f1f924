"""From a folder of results to tables of verdicts, the calibration record, the summary and its place in a page."""

from pathlib import Path

import pandas as pd
import pytest

from misspenalty.claims import (
    format_summary,
    judge,
    load_calibration,
    load_ledger,
    read_tables,
    summary,
    update_between_markers,
    write_claims,
)
from misspenalty.errors import InputError

ROOT = Path(__file__).parents[2]
LEDGER = ROOT / "data" / "published" / "claims.yaml"


def table4(**cells):
    """Table 4 from ``mq128=19.85`` and the like."""
    rows = [(int(name[-3:]), name[:-3], value) for name, value in cells.items()]
    return {"mq_table4": pd.DataFrame(rows, columns=["cache_mb", "policy", "hit_ratio_pct"])}


def test_a_variant_reads_only_its_own_tables(tmp_path):
    path = tmp_path / "table4_64mb.csv"
    table4(mq128=20, lru128=5)["mq_table4"].to_csv(path, index=False)
    assert set(read_tables({"mq_table4": path})) == {"mq_table4"}
    with pytest.raises(InputError, match="mq_tabel4"):
        read_tables({"mq_tabel4": path})
    with pytest.raises(InputError, match="not a CSV table"):
        read_tables({"mq_table4": tmp_path / "absent.csv"})
    out = tmp_path / "claims_64mb.csv"
    frame = write_claims({"mq_table4": path}, LEDGER, out, basis="fitted", variant=True)
    assert len(frame) == 367
    assert set(frame["basis"]) == {"fitted"}
    rows = frame.set_index("id")
    assert rows.loc["mq.table4.mq.128", "verdict"] == "reproduced"
    assert rows.loc["mq.fig7.baseline", "note"].startswith("mq_fig7 is not part of this variant")
    first = out.read_bytes()
    write_claims({"mq_table4": path}, LEDGER, out, basis="fitted", variant=True)
    assert out.read_bytes() == first
    again = pd.read_csv(out, dtype=str, keep_default_na=False)
    pd.testing.assert_frame_equal(again, frame, check_dtype=False)


def test_a_calibration_names_cells_that_exist(tmp_path):
    fits = load_calibration(ROOT / "data" / "calibration.yaml")
    assert {"database_cpu_us", "install_instructions"} <= {fit.parameter for fit in fits}
    text = (ROOT / "data" / "calibration.yaml").read_text()
    bad = tmp_path / "calibration.yaml"
    schema = ROOT / "data" / "calibration.schema.yaml"
    bad.write_text(text.replace("{cache_mb: 256, policy: lru}", "{cache_mb: 256}"))
    with pytest.raises(InputError, match="database_cpu_us: mq_fig7, normalized_rate is not one cell"):
        load_calibration(bad, schema)
    bad.write_text(text.replace("unit: us\n", "unit: us\n  value: 17\n", 1))
    with pytest.raises(InputError, match=r"entry database_cpu_us.*'value' was unexpected"):
        load_calibration(bad, schema)


def test_summary_counts_every_claim():
    frame = judge(load_ledger(LEDGER), table4(mq128=19.85))
    counts = summary(frame)
    assert list(counts["study"]) == ["mq", "sarc", "hac", "epcm", "vlog", "all"]
    assert list(counts["claims"]) == [51, 178, 77, 30, 31, 367]
    assert counts.loc[0, "reproduced"] == 1
    assert counts.loc[5, "not_testable"] == 366
    lines = format_summary(frame).splitlines()
    assert lines[0] == "| study | claims | reproduced | direction | not reproduced | not testable |"
    assert lines[2] == "| mq    |     51 |          1 |         0 |              0 |           50 |"
    assert len({len(line) for line in lines}) == 1


def test_text_between_markers_is_replaced_and_nothing_else(tmp_path):
    page = tmp_path / "README.md"
    page.write_text("before\n<!-- claims:start -->\nold\n<!-- claims:end -->\nafter\n")
    assert update_between_markers(page, "claims", "| new |\n")
    expected = "before\n<!-- claims:start -->\n| new |\n<!-- claims:end -->\nafter\n"
    assert page.read_text() == expected
    stamp = page.stat().st_mtime_ns
    assert not update_between_markers(page, "claims", "| new |")
    assert page.stat().st_mtime_ns == stamp
    assert list(tmp_path.iterdir()) == [page]


@pytest.mark.parametrize(
    ("text", "message"),
    [("nothing", "stands 0 times"), ("<!-- claims:end --><!-- claims:start -->", "stands before"),
     ("<!-- claims:start --><!-- claims:start --><!-- claims:end -->", "stands 2 times")],
)  # fmt: skip
def test_markers_that_are_missing_or_crossed_are_an_error(tmp_path, text, message):
    page = tmp_path / "README.md"
    page.write_text(text)
    with pytest.raises(InputError, match=message):
        update_between_markers(page, "claims", "x")
    assert page.read_text() == text
