"""Test how a folder of results becomes tables of verdicts, and test the calibration record and the summary."""

import re
from datetime import date
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
import yaml
from ledgers import LEDGER

from misspenalty.errors import InputError
from misspenalty_studies.common.claims.conditions import MISSED
from misspenalty_studies.common.claims.ledger import load_calibration, read_ledger
from misspenalty_studies.common.claims.report import COLUMNS, judge
from misspenalty_studies.common.claims.summary import agreement, format_summary, summary
from misspenalty_studies.common.judge import STUDIES, headlines, table_files, write_claims

ROOT = Path(__file__).parents[4]
NOT_VARIED = {  # claims about traces that no table under other conditions covers
    "dispute.rules.wtinylfu",
    "dispute.sieve.arc",
}
MQ = [claim for claim in LEDGER if claim.study == "mq"]


def table4(folder, suffix="", **cells):
    """Write Table 4 into a folder of results, from cells such as ``mq128=19.85``."""
    rows = [(int(name[-3:]), name[:-3], value) for name, value in cells.items()]
    frame = pd.DataFrame(rows, columns=["cache_mb", "policy", "hit_ratio_pct"])
    (folder / "mq").mkdir(exist_ok=True)
    frame.to_csv(folder / "mq" / f"table4{suffix}.csv", index=False)
    return frame


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """Judge the archived tables, and return the verdicts and the folder with the files that were written."""
    folder = tmp_path_factory.mktemp("judged")
    frame = write_claims(ROOT / "results", folder / "claims.csv", root=ROOT)
    return SimpleNamespace(frame=frame, folder=folder)


def test_the_archived_results_give_the_archived_verdicts(judged, tmp_path):
    for name in ("claims", "agreement", "forecasts"):
        assert (judged.folder / f"{name}.csv").read_bytes() == (ROOT / "results" / f"{name}.csv").read_bytes()
    again = pd.read_csv(judged.folder / "claims.csv", dtype=str, keep_default_na=False)
    pd.testing.assert_frame_equal(again, judged.frame[COLUMNS], check_dtype=False)
    out = tmp_path / "claims_calibrated.csv"
    write_claims(ROOT / "results", out, root=ROOT, variant="_calibrated")
    assert out.read_bytes() == (ROOT / "results" / out.name).read_bytes()
    assert list(tmp_path.iterdir()) == [out]


def test_statements_of_this_project_have_the_date_on_which_they_were_made():
    own = [claim for claim in LEDGER if claim.status == "own"]
    assert own and all(date.fromisoformat(claim.stated_on) for claim in own)
    assert not any(claim.stated_on for claim in LEDGER if claim.status != "own")
    told = pd.read_csv(ROOT / "results" / "forecasts.csv")
    assert set(told["id"]) == {claim.id for claim in LEDGER if claim.role == "forecast"}
    assert told["stated_on"].eq("2026-11-23").all() and told["stated_in"].eq("20176eb").all()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"status": "own", "role": "forecast", "stated_in": "20176eb"}, "the key stated_on is missing"),
        ({"stated_on": "2026-11-23"}, "does not allow '2026-11-23'"),
        ({"status": "own", "role": "forecast", "stated_in": "20176eb", "stated_on": "soon"}, "'soon' does not match"),
    ],
)
def test_an_own_statement_and_its_date_require_each_other(tmp_path, change, words):
    entry = yaml.safe_load((ROOT / "studies/mq/ledger.yaml").read_text())[0] | change
    path = tmp_path / "mq" / "ledger.yaml"
    path.parent.mkdir()
    path.write_text(yaml.safe_dump([entry]))
    with pytest.raises(InputError, match=words):
        read_ledger(path)


def test_every_table_that_claims_read_is_archived():
    paths = [*table_files().values(), *table_files("_calibrated", studies=["mq", "hac"]).values()]
    assert len(paths) > 30
    for path in paths:
        assert (ROOT / "results" / path).is_file(), path


def test_each_archived_claim_that_is_missed_has_its_measured_conditions(judged):
    judged = judged.frame
    missed = judged[judged["verdict"].isin(MISSED) & (judged["role"] != "given")].set_index("id")
    assert set(missed.index) >= NOT_VARIED
    for study, rows in missed[~missed.index.isin(NOT_VARIED)].groupby("study"):
        tried = pd.read_csv(ROOT / "results" / study / "conditions.csv")
        lost = tried[tried["judged"] == "reproduced"]
        assert lost["verdict"].isin(MISSED).all()
        assert set(judged.set_index("id")["verdict"].reindex(lost["claim"])) <= {"reproduced"}
        assert set(rows.index) == set(tried["claim"]) - set(lost["claim"])
        for _, part in tried.groupby("claim"):
            assert part["condition"].is_unique


def test_the_basis_follows_the_record_of_fits(judged):
    judged = judged.frame
    basis = judged[judged["verdict"] != "not_testable"].set_index("id")["basis"]
    for claim in (
        "hac.fig9.conversion_over_fetch.t1", "hac.fig9.dominated",  # claims on the fitted values themselves
        "hac.proj.ppro_conversion.t1", "hac.proj.slower_network",  # quotients and sums of fitted values
        "sarc.fig6.power.cs", "epcm.fig8.shift",
    ):  # fmt: skip
        assert basis[claim] == "fitted", claim
    fits = load_calibration(ROOT / "data" / "calibration.yaml")
    driven = {(fit.study, drive["table"]) for fit in fits for drive in fit.drives}
    for study in ("sarc", "hac", "epcm"):  # each of their tables depends on a fitted or chosen parameter
        names = {name.removesuffix("_calibrated") for of, name in driven if of == study}
        assert {f"{study}_{item}" for item in STUDIES[study].TABLES} == names
        assert set(basis[basis.index.str.startswith(f"{study}.")]) == {"calibrated", "fitted"}
    for study in set(STUDIES) - {study for study, _ in driven}:
        assert set(basis[basis.index.str.startswith(f"{study}.")]) == {"free"}
    assert basis["mq.table4.mq.128"] == "free" and basis["mq.fig7.gain.512"] == "fitted"
    assert basis["mq.table4.sim_vs_impl"] == "calibrated"  # the processor time affects the timed run
    variant = pd.read_csv(ROOT / "results" / "claims_calibrated.csv", keep_default_na=False)
    assert set(variant.loc[variant["verdict"] != "not_testable", "basis"]) == {"calibrated", "fitted"}


def test_without_a_record_of_fits_everything_is_free():
    table4 = pd.read_csv(ROOT / "results" / "mq" / "table4.csv")
    frame = judge(MQ, {"mq": STUDIES["mq"]}, {"mq_table4": table4})
    assert set(frame["basis"]) == {"free", ""}


def test_a_variant_reads_only_its_own_tables(tmp_path):
    table4(tmp_path, "_calibrated", mq128=20, lru128=5)
    table4(tmp_path, mq128=1, lru128=1)
    frame = write_claims(tmp_path, root=ROOT, variant="_calibrated")
    assert [claim.id for claim in MQ] == list(frame["id"])
    assert set(frame["basis"]) == {"calibrated", ""}
    rows = frame.set_index("id")
    assert rows.loc["mq.table4.mq.128", "verdict"] == "reproduced"
    assert rows.loc["mq.fig7.baseline", "note"] == "mq_fig7 is not part of this variant"
    assert (tmp_path / "claims_calibrated.csv").is_file() and not (tmp_path / "claims.csv").exists()


def test_a_broken_table_is_named_and_nothing_is_written(tmp_path):
    table4(tmp_path, mq128=20)
    (tmp_path / "mq" / "fig7.csv").write_bytes(b"")
    with pytest.raises(InputError, match=r"fig7\.csv: not a CSV table"):
        write_claims(tmp_path, root=ROOT)
    assert not (tmp_path / "claims.csv").exists()


def test_a_calibration_names_cells_that_exist(tmp_path):
    fits = load_calibration(ROOT / "data" / "calibration.yaml")
    assert {"database_cpu_us", "install_instructions"} <= {fit.parameter for fit in fits}
    text = (ROOT / "data" / "calibration.yaml").read_text()
    _, start, text = text.partition("- parameter: database_cpu_us\n")
    text = start + text.partition("- parameter: ")[0]
    bad = tmp_path / "calibration.yaml"
    for wrong in ("column: rate", "table: mq_fig9", "where: {size: 256}"):
        key = wrong.partition(":")[0]
        line = next(line.strip() for line in text.splitlines() if line.strip().lstrip("- ").startswith(f"{key}: "))
        bad.write_text(text.replace(line.lstrip("- "), wrong, 1))
        with pytest.raises(InputError, match="parameter database_cpu_us: there is no cell mq_fig"):
            judge(MQ, {"mq": STUDIES["mq"]}, {}, calibration=load_calibration(bad))
    bad.write_text(text.replace("unit: us\n", "unit: us\n  value: 17\n", 1))
    with pytest.raises(InputError, match=r"calibration.yaml: entry database_cpu_us\.value: Extra inputs are not"):
        load_calibration(bad)


@pytest.mark.parametrize(
    ("line", "wrong", "message"),
    [
        ("      value: 28.8\n", "", r"first_level_mb\.published\.0\.value: Field required"),
        ("      value: 28.8\n", "      value: much\n", r"first_level_mb\.published\.0\.value"),
        ("      where: {chosen: true}\n", "      where: {}\n", r"first_level_mb\.published\.0\.where"),
        ("  range: [4, 128]\n", "  range: [4]\n", r"first_level_mb\.range"),
        ("  study: mq\n", "  study: whatif\n", r"first_level_mb\.study: .*'whatif' is not a study with claims"),
        ("  basis: calibrated\n", "  basis: guessed\n", r"first_level_mb\.basis"),
        ("  sensitivity: results/mq", "  sensitivity: results", r"first_level_mb\.sensitivity"),
        ("- parameter: first_level_mb\n", "- parameter: 7\n", r"entry 7\.parameter"),
    ],
)
def test_a_malformed_calibration_is_named(tmp_path, line, wrong, message):
    bad = tmp_path / "calibration.yaml"
    text = (ROOT / "data" / "calibration.yaml").read_text()
    assert line in text
    bad.write_text(text.replace(line, wrong, 1))
    with pytest.raises(InputError, match=rf"calibration\.yaml: .*{message}.*Fit has every key"):
        load_calibration(bad)


def test_a_calibration_is_a_list(tmp_path):
    bad = tmp_path / "calibration.yaml"
    bad.write_text("parameter: first_level_mb\n")
    with pytest.raises(InputError, match="is not a list"):
        load_calibration(bad)


def test_totals_count_statements_of_papers_only(judged):
    judged = judged.frame
    counts = summary(judged)
    assert list(counts["study"]) == [*STUDIES, "all"]
    claims = {claim.id for claim in LEDGER if claim.role == "claim"}
    assert counts["claims"].iloc[-1] == counts["claims"].iloc[:-1].sum() == len(claims) < len(LEDGER)
    cells = [column for column in counts if column.endswith("_of")]
    assert (counts[cells].sum(axis=1) + counts["not_testable"] == counts["claims"]).all()
    reproduced = counts[[column.removesuffix("_of") for column in cells]].sum(axis=1)
    told = counts[["tie", "direction", "not_reproduced", "not_testable"]].sum(axis=1)
    assert (reproduced + told == counts["claims"]).all()
    scrambled = judged.assign(verdict=judged["verdict"].where(judged["role"] == "claim", "reproduced"))
    pd.testing.assert_frame_equal(summary(scrambled), counts)


def test_the_headline_gives_counts_and_totals_by_form_and_basis():
    rows = [
        ("claim", "number", "free", "reproduced"),
        ("claim", "number", "free", "direction"),
        ("claim", "number", "fitted", "reproduced"),
        ("claim", "comparison", "calibrated", "tie"),
        ("claim", "comparison", "", "not_testable"),
        ("derived", "number", "free", "reproduced"),
        ("given", "comparison", "free", "reproduced"),
    ]
    frame = pd.DataFrame(rows, columns=["role", "form", "basis", "verdict"]).assign(study="mq")
    assert (
        format_summary(frame, {"mq": "recomputed"})
        == """\
| study | numbers, free | numbers, calibrated | numbers, fitted | comparisons, free | comparisons, calibrated | comparisons, fitted | tie | not testable | results    |
| ----- | ------------: | ------------------: | --------------: | ----------------: | ----------------------: | ------------------: | --: | -----------: | ---------- |
| mq    |        1 of 2 |                   – |          1 of 1 |                 – |                  0 of 1 |                   – |   1 |            1 | recomputed |
| all   |        1 of 2 |                   – |          1 of 1 |                 – |                  0 of 1 |                   – |   1 |            1 |            |"""  # noqa: E501
    )


def test_agreement_counts_points_and_those_that_agree(judged):
    judged = judged.frame
    table = agreement(judged).set_index("id")
    assert table.loc["dispute.rules.wtinylfu", ["points", "agreeing", "verdict"]].tolist() == [8, 6, "not_reproduced"]
    assert table.loc["classics.program.cs.lirs", ["points", "agreeing"]].tolist() == [16, 16]
    assert (table["agreeing"] <= table["points"]).all() and (table["points"] > 0).all()
    assert not set(table.index) & {claim.id for claim in LEDGER if claim.role == "claim"}


def test_every_headline_rests_on_verdicts_that_are_archived(judged):
    judged = judged.frame
    variant = pd.read_csv(ROOT / "results" / "claims_calibrated.csv", keep_default_na=False)
    found = headlines(judged, variant)
    assert set(found) == set(STUDIES)
    numbers = [text for text in found.values() if re.search(r"\d", re.sub("S3-FIFO|Table 3", "", text))]
    assert numbers == [] and not [text for text in found.values() if "says otherwise" in text]
    other = judged.assign(verdict=judged["verdict"].where(judged["id"] != "vlog.table2.order", "not_reproduced"))
    assert headlines(other, variant)["vlog"].endswith("(This run says otherwise: `vlog.table2.order` not_reproduced.)")
