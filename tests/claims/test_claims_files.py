"""From a folder of results to tables of verdicts, the calibration record, the summary."""

from datetime import date
from pathlib import Path

import pandas as pd
import pytest
import yaml

from misspenalty.claims import MISSED, judge, load_calibration, load_ledger
from misspenalty.claims.report import format_summary, summary
from misspenalty.errors import InputError
from misspenalty.studies.claims import STUDIES, table_files, write_claims

ROOT = Path(__file__).parents[2]
PRINTED_AGAINST_PRINTED = {"kvcache.s531.nodes"}  # no run of ours enters them, so that no condition can change them
LEDGER = load_ledger(ROOT / "data" / "published" / "claims.yaml")


def table4(folder, suffix="", **cells):
    """Table 4 from ``mq128=19.85`` and the like, in a folder of results."""
    rows = [(int(name[-3:]), name[:-3], value) for name, value in cells.items()]
    frame = pd.DataFrame(rows, columns=["cache_mb", "policy", "hit_ratio_pct"])
    (folder / "mq").mkdir(exist_ok=True)
    frame.to_csv(folder / "mq" / f"table4{suffix}.csv", index=False)
    return frame


@pytest.mark.parametrize(("variant", "basis"), [("", "predicted"), ("_calibrated", "calibrated")])
def test_the_archived_results_give_the_archived_verdicts(tmp_path, variant, basis):
    out = tmp_path / f"claims{variant}.csv"
    frame = write_claims(ROOT / "results", out, data=ROOT / "data", variant=variant, basis=basis)
    assert out.read_bytes() == (ROOT / "results" / out.name).read_bytes()
    again = pd.read_csv(out, dtype=str, keep_default_na=False)
    pd.testing.assert_frame_equal(again, frame, check_dtype=False)


def test_statements_of_this_project_have_the_day_they_were_made(tmp_path):
    own = [claim for claim in LEDGER if claim.status == "own"]
    assert own and all(date.fromisoformat(claim.stated_on) for claim in own)
    assert not any(claim.stated_on for claim in LEDGER if claim.status != "own")
    verdicts = write_claims(ROOT / "results", tmp_path / "claims.csv", data=ROOT / "data").set_index("id")
    assert "stated on 2026-11-23" in verdicts.loc["kvcache.own.once", "note"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"status": "own"}, "'stated_on' is a required property"),
        ({"stated_on": "2026-11-23"}, "does not allow '2026-11-23'"),
        ({"status": "own", "stated_on": "soon"}, "'soon' does not match"),
    ],
)
def test_a_day_without_an_own_statement_or_the_other_way_round_is_an_error(tmp_path, change, words):
    entry = yaml.safe_load((ROOT / "data/published/claims.yaml").read_text())[0] | change
    (tmp_path / "claims.yaml").write_text(yaml.safe_dump([entry]))
    with pytest.raises(InputError, match=words):
        load_ledger(tmp_path / "claims.yaml", ROOT / "data/published/claims.schema.yaml")


def test_every_table_that_claims_read_is_archived():
    paths = [*table_files().values(), *table_files("_calibrated", studies=["mq"]).values()]
    assert len(paths) > 30
    for path in paths:
        assert (ROOT / "results" / path).is_file(), path


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """The archived tables, judged."""
    return write_claims(ROOT / "results", tmp_path_factory.mktemp("judged") / "claims.csv", data=ROOT / "data")


def test_each_archived_claim_that_is_missed_has_its_measured_conditions(judged):
    missed = judged[judged["verdict"].isin(MISSED)].set_index("id")
    alone = missed.index.isin(PRINTED_AGAINST_PRINTED)
    assert missed.loc[alone, "note"].str.contains("does not follow from the printed numbers").all()
    for study, rows in missed[~alone].groupby("study"):
        tried = pd.read_csv(ROOT / "results" / study / "conditions.csv")
        assert set(rows.index) == set(tried["claim"])
        for claim, part in tried.groupby("claim"):
            holds = part.loc[part["verdict"] == "reproduced", "condition"]
            words = f"comes out with {holds.iloc[0]}" if len(holds) else f"under none of {len(part)} conditions tried"
            assert rows.loc[claim, "note"].endswith(words)
            assert part["condition"].is_unique


def test_what_is_made_of_fitted_cells_counts_as_fitted(judged):
    basis = judged.set_index("id")["basis"]
    for claim in (
        "hac.fig9.conversion_over_fetch.t1", "hac.fig9.dominated",  # the target itself
        "hac.proj.ppro_conversion.t1", "hac.proj.ppro_order.t1", "hac.proj.slower_network",  # quotients and sums
        "sarc.fig6.power.cs", "epcm.fig8.shift",
    ):  # fmt: skip
        assert basis[claim] == "fitted", claim
    # an object's layout was chosen by recollected values, and decides what a page holds
    assert basis["hac.proj.ppro_conversion.t1minus"] == basis["hac.fig9.replacement_over_fetch.t1"] == "calibrated"
    assert set(judged.loc[judged["study"] == "hac", "basis"]) - {"predicted"} == {"calibrated", "fitted", "condition"}
    rest = judged[(judged["study"] == "hac") & (judged["basis"] == "predicted")]
    assert set(rest["verdict"]) == {"not_testable"}


def test_a_variant_reads_only_its_own_tables(tmp_path):
    table4(tmp_path, "_calibrated", mq128=20, lru128=5)
    table4(tmp_path, mq128=1, lru128=1)
    frame = write_claims(tmp_path, data=ROOT / "data", variant="_calibrated", basis="calibrated")
    assert [claim.id for claim in LEDGER] == list(frame["id"])
    assert set(frame["basis"]) == {"calibrated", "condition"}
    rows = frame.set_index("id")
    assert rows.loc["mq.table4.mq.128", "verdict"] == "reproduced"
    assert rows.loc["mq.fig7.baseline", "note"] == "mq_fig7 is not part of this variant"
    assert rows.loc["sarc.setup.loads.ci", "note"] == "sarc_table2 is not part of this variant"
    assert (tmp_path / "claims_calibrated.csv").is_file() and not (tmp_path / "claims.csv").exists()


def test_a_broken_table_is_named_and_nothing_is_written(tmp_path):
    table4(tmp_path, mq128=20)
    (tmp_path / "mq" / "fig7.csv").write_bytes(b"")
    with pytest.raises(InputError, match=r"fig7\.csv: not a CSV table"):
        write_claims(tmp_path, data=ROOT / "data")
    assert not (tmp_path / "claims.csv").exists()


def test_a_calibration_names_cells_that_exist(tmp_path):
    fits = load_calibration(ROOT / "data" / "calibration.yaml")
    assert {"database_cpu_us", "install_instructions"} <= {fit.parameter for fit in fits}
    text = (ROOT / "data" / "calibration.yaml").read_text()
    _, start, text = text.partition("- parameter: database_cpu_us\n")
    text = start + text
    bad = tmp_path / "calibration.yaml"
    schema = ROOT / "data" / "calibration.schema.yaml"
    for wrong in ("column: rate", "table: mq_fig9", "where: {size: 256}"):
        key = wrong.partition(":")[0]
        line = next(line.strip() for line in text.splitlines() if line.strip().lstrip("- ").startswith(f"{key}: "))
        bad.write_text(text.replace(line.lstrip("- "), wrong, 1))
        with pytest.raises(InputError, match="parameter database_cpu_us: there is no cell mq_fig"):
            judge(LEDGER, STUDIES, {}, calibration=load_calibration(bad, schema))
    bad.write_text(text.replace("unit: us\n", "unit: us\n  value: 17\n", 1))
    with pytest.raises(InputError, match=r"entry database_cpu_us.*'value' was unexpected"):
        load_calibration(bad, schema)


def test_summary_counts_every_claim(tmp_path):
    frame = judge(LEDGER, STUDIES, {"mq_table4": table4(tmp_path, mq128=19.85)})
    counts = summary(frame)
    assert list(counts["study"]) == [
        "mq",
        "sarc",
        "hac",
        "epcm",
        "vlog",
        "classics",
        "delayed_hits",
        "kvcache",
        "dispute",
        "all",
    ]
    assert counts["claims"].iloc[-1] == counts["claims"].iloc[:-1].sum() == len(LEDGER)
    assert counts.loc[0, "predicted"] == 1
    assert counts["not_testable"].iloc[-1] == len(LEDGER) - 1 - counts["conditions"].iloc[-1]
    lines = format_summary(frame).splitlines()
    assert [cell.strip() for cell in lines[0].strip("|").split("|")] == [
        "study", "claims", "conditions", "reproduced, predicted", "reproduced, fitted", "direction", "not reproduced",
        "not testable",
    ]  # fmt: skip
    assert [int(cell) for cell in lines[2].strip("|").split("|")[1:]] == [51, 1, 1, 0, 0, 0, 49]
    assert (counts.iloc[:, 2:].sum(axis=1) == counts["claims"]).all()
    assert len({len(line) for line in lines}) == 1


def test_reproduced_claims_are_counted_by_their_basis_and_conditions_apart():
    bases = ["condition", "condition", "predicted", "calibrated", "fitted", "fitted"]
    found = ["reproduced", "not_testable", "reproduced", "reproduced", "reproduced", "direction"]
    frame = pd.DataFrame({"study": "mq", "basis": bases, "verdict": found})
    assert summary(frame).iloc[0].to_dict() == {
        "study": "mq", "claims": 6, "conditions": 2, "predicted": 1, "calibrated": 1, "fitted": 1, "direction": 1,
        "not_reproduced": 0, "not_testable": 0,
    }  # fmt: skip
    assert "reproduced, calibrated" in format_summary(frame)
    assert format_summary(frame[frame["basis"] != "calibrated"]).splitlines() == [
        "| study | claims | conditions | reproduced, predicted | reproduced, fitted | direction | not reproduced |"
        " not testable |",
        "| ----- | -----: | ---------: | --------------------: | -----------------: | --------: | -------------: |"
        " -----------: |",
        "| mq    |      5 |          2 |                     1 |                  1 |         1 |              0 |"
        "            0 |",
        "| all   |      5 |          2 |                     1 |                  1 |         1 |              0 |"
        "            0 |",
    ]
