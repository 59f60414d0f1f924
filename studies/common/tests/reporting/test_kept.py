"""Test which archived tables are kept: those with the recorded content, made from the same code, settings, files."""

import pytest

from misspenalty.errors import ParameterError
from misspenalty_studies.common.plan import Plan
from misspenalty_studies.common.reporting.kept import SWITCH, fitting, keeping, kept_table, made_from, read_from
from misspenalty_studies.common.reporting.provenance import Sources

KEPT = ("results/mq/conditions.csv", "results/whatif/summary.csv", "results/whatif/crossovers.csv")
CONFIG = {"mq": {"cache_mb": [128]}, "sarc": {"seeds": [1]}, "captures": {"a": "raw.csv"}, "mirror": None}


@pytest.fixture(scope="module")
def sources():
    return Sources()


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout with one kept table of one study and two of another."""
    monkeypatch.chdir(tmp_path)
    for name in ("raw.csv", "machine.yaml", *KEPT):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{name}\n")
    return tmp_path


@pytest.fixture
def plans(sources):
    """Two studies, of which the second reads a result of the first, and one more."""
    mq, whatif, sarc = (Plan(name, sources) for name in ("mq", "whatif", "sarc"))
    mq.simulation("mq_replay", "mq.runs.replay_policies", inputs={"trace": "raw.csv"}, outputs="fig7")
    mq.conditions = ["fig7"]
    inputs = {"machines": "machine.yaml", "recorded": "results/mq/fig7.csv"}
    whatif.simulation("whatif_mq", "whatif.mq.job", inputs=inputs, outputs="runs/mq")
    for name in ("summary", "crossovers"):
        whatif.table(f"whatif.tables.{name}", part="kept", tables=["results/whatif/runs/mq.csv"])
    return {"mq": mq, "whatif": whatif, "sarc": sarc}


def files(plans):
    return {name: [path for paths in plans[name].kept().values() for path in paths] for name in ("mq", "whatif")}


def record(plans, config=CONFIG):
    """Write `results/kept.csv` as a run would."""
    made = {name: made_from(name, plans, config) for name in files(plans)}
    table = kept_table([path for paths in files(plans).values() for path in paths], made)
    table.to_csv("results/kept.csv", index=False)


def fit(plans, config=CONFIG, **more):
    return fitting(files(plans), lambda study: made_from(study, plans, config, **more))


def test_tables_fit_until_something_changes_that_they_are_made_from(checkout, plans, sources):
    record(plans)
    assert fit(plans) == ["mq", "whatif"]
    assert fit(plans, CONFIG | {"mirror": "/copies", "traces": "a.tsv", "sarc": {"seeds": [2]}}) == ["mq", "whatif"]
    assert fit(plans, CONFIG | {"mq": {"cache_mb": [64]}}) == []  # the what-if reads the other study's results
    assert fit(plans, CONFIG | {"captures": {"a": "b.csv"}}) == []
    assert fit(plans, codes=["judge"]) == []
    assert fit(plans, files=["raw.csv"]) == ["mq", "whatif"]  # the first study reads it anyway
    assert fit(plans, files=["results/mq/conditions.csv"]) == []
    (checkout / "machine.yaml").write_text("edited\n")
    assert fit(plans) == ["mq"]
    (checkout / "machine.yaml").unlink()
    assert fit(plans) == ["mq"]
    (checkout / "machine.yaml").write_text("machine.yaml\n")
    assert fit(plans) == ["mq", "whatif"]
    (checkout / "raw.csv").write_text("edited\n")
    assert fit(plans) == []  # the first study reads it
    (checkout / "raw.csv").write_text("raw.csv\n")
    plans["whatif"].table("whatif.tables.parameters", machines="machine.yaml")
    assert fit(plans) == ["mq", "whatif"]  # the same code
    plans["whatif"].table("sarc.tables.from_runs", "other", runs="raw.csv")
    assert fit(plans) == ["mq"]


def test_tables_do_not_fit_if_the_code_of_a_job_was_edited(checkout, plans):
    record(plans)
    for job in (plans["whatif"].tables[0]["job"], plans["whatif"].simulations[0].job):
        before = job["code"]
        job["code"] = "edited"
        assert fit(plans) == ["mq"]
        job["code"] = before
    plans["mq"].simulations[0].job["code"] = "edited"
    assert fit(plans) == []  # the what-if reads the other study's results


def test_results_are_read_directly_or_indirectly(plans):
    plans["mq"].read.append("results/sarc/fit.csv")
    assert read_from("whatif", plans) == ["mq", "sarc", "whatif"]


def test_all_tables_of_a_study_must_be_made_from_the_same(checkout, plans):
    record(plans)
    path = checkout / "results" / "kept.csv"
    text = path.read_text()
    path.write_text(f"{text[:-2]}x\n")  # the last digit of the last digest
    assert fit(plans) == ["mq"]


@pytest.mark.parametrize(("switch", "kept"), [("", True), ("yes", True), ("no", False)])
def test_the_switch_decides_whether_tables_are_kept(monkeypatch, switch, kept):
    monkeypatch.setenv(SWITCH, switch)
    assert keeping() is kept


def test_another_value_of_the_switch_is_refused(monkeypatch):
    monkeypatch.setenv(SWITCH, "0")
    with pytest.raises(ParameterError, match="MISSPENALTY_KEEP=0: give yes"):
        keeping()


def test_a_table_that_was_changed_or_deleted_does_not_fit(checkout, plans):
    record(plans)
    path = checkout / "results" / "mq" / "conditions.csv"
    path.write_text("changed\n")
    assert fit(plans) == ["whatif"]
    path.unlink()
    assert fit(plans) == ["whatif"]


@pytest.mark.parametrize("content", [None, b"", b"study,file\nmq,x\n", b"\xff\xfe", b"study,file,sha256,made_from\n"])
def test_without_a_record_nothing_fits(checkout, plans, content):
    if content is not None:
        (checkout / "results" / "kept.csv").write_bytes(content)
    assert fit(plans) == []
