"""Test the journal of an unfinished run: its entries, the entries that it drops, and those that survive a kill."""

import hashlib
import json

import pytest

from misspenalty_studies.common.reporting.journal import Journal

MANIFEST = {
    "inputs": {"raw.csv": {"bytes": 1, "sha256": "a"}},
    "outputs": {"results/old.csv": {"bytes": 2, "sha256": "b"}, "results/new.csv": {"bytes": 3, "sha256": "c"}},
}
NOTHING = {"inputs": {}, "outputs": {}}


@pytest.fixture
def journal(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results" / "folder").mkdir(parents=True)
    for name in ("old.csv", "new.csv", "a.csv"):
        (tmp_path / "results" / name).write_text("1\n")
    return Journal(tmp_path / "state" / "journal.jsonl")


def described(text):
    return {"bytes": len(text), "sha256": hashlib.sha256(text.encode()).hexdigest()}


def test_an_empty_journal_holds_nothing_and_writes_nothing(journal):
    journal.drop("results/new.csv")
    journal.end([MANIFEST], supplement=False)
    assert journal.read(supplement=True) == NOTHING
    assert not journal.path.exists()


def test_what_a_job_made_replaces_what_the_manifest_says(journal):
    journal.take_manifest(MANIFEST, supplement=False)
    journal.take_outputs(["results/new.csv", "results/folder", "results/absent.csv", "elsewhere.csv"], supplement=True)
    outputs = {"results/old.csv": {"bytes": 2, "sha256": "b"}, "results/new.csv": described("1\n")}
    assert journal.read(supplement=False) == {"inputs": MANIFEST["inputs"], "outputs": outputs}


def test_a_folder_that_a_job_made_again_is_not_compared_with_the_last_run(journal, tmp_path):
    compiled = {f"results/{name}/ids.npy": {"bytes": 2, "sha256": "b"} for name in ("folder", "folder.old")}
    journal.take_manifest(MANIFEST | {"outputs": compiled}, supplement=False)
    for name in compiled:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("1\n")
    journal.take_outputs(["results/folder"], supplement=False)
    assert list(journal.read(supplement=False)["outputs"]) == ["results/folder.old/ids.npy"]


def test_files_outside_of_results_are_not_outputs(journal, tmp_path):
    (tmp_path / "elsewhere.csv").write_text("1\n")
    journal.take_outputs(["elsewhere.csv", "results/../elsewhere.csv"], supplement=False)
    assert journal.read(supplement=True) == NOTHING
    manifest = {"inputs": {}, "outputs": {"../elsewhere.csv": {"bytes": 1, "sha256": "a"}}}
    journal.take_manifest(manifest, supplement=False)
    assert journal.read(supplement=True) == NOTHING


def test_what_only_the_supplement_needs_is_read_for_it_alone(journal):
    journal.take_outputs(["results/new.csv"], supplement=True)
    assert journal.read(supplement=False) == NOTHING
    assert journal.read(supplement=True)["outputs"] == {"results/new.csv": described("1\n")}


def test_a_dropped_file_is_unknown_until_it_is_made(journal):
    journal.take_manifest(MANIFEST, supplement=False)
    journal.drop("results/new.csv")
    journal.drop("raw.csv")
    assert journal.read(supplement=False) == {
        "inputs": {},
        "outputs": {"results/old.csv": MANIFEST["outputs"]["results/old.csv"]},
    }
    journal.take_outputs(["results/new.csv"], supplement=False)
    assert journal.read(supplement=False)["outputs"]["results/new.csv"] == described("1\n")


@pytest.mark.parametrize("cut", range(1, 140, 6))
def test_a_line_that_a_kill_cut_short_is_left_out(journal, cut):
    journal.take_manifest({"inputs": {}, "outputs": MANIFEST["outputs"]}, supplement=False)
    text = journal.path.read_bytes()
    journal.path.write_bytes(text[:-cut])
    journal.take_outputs(["results/new.csv"], supplement=False)
    found = journal.read(supplement=False)["outputs"]
    assert found["results/new.csv"] == described("1\n")
    assert (
        found.get("results/old.csv", MANIFEST["outputs"]["results/old.csv"]) == MANIFEST["outputs"]["results/old.csv"]
    )


@pytest.mark.parametrize(
    "line", ["[]", "7", "{}", '{"part": "outputs", "name": 5, "supplement": false}', "\udcff", "[" * 9999]
)
def test_lines_that_are_not_entries_are_left_out(journal, line):
    journal.take_outputs(["results/new.csv"], supplement=False)
    with open(journal.path, "a", errors="surrogateescape") as stream:
        stream.write(f"{line}\n")
    assert journal.read(supplement=False) == {"inputs": {}, "outputs": {"results/new.csv": described("1\n")}}


@pytest.mark.parametrize("part", ["outputs", "inputs"])
@pytest.mark.parametrize("entry", [{"name": 5}, {"name": ["a"]}, {"bytes": "x"}, {"sha256": 5}, {"name": "results/\0"}])
def test_entries_of_other_types_are_left_out(journal, part, entry):
    journal.take_outputs(["results/new.csv"], supplement=False)
    whole = {"part": part, "name": "results/a.csv", "supplement": False, "bytes": 1, "sha256": "a"} | entry
    with open(journal.path, "a") as stream:
        stream.write(f"{json.dumps(whole)}\n")
    assert journal.read(supplement=False) == {"inputs": {}, "outputs": {"results/new.csv": described("1\n")}}


def test_a_complete_run_keeps_what_only_the_supplement_needs(journal, tmp_path):
    (tmp_path / "results" / "more.csv").write_text("2\n")
    journal.take_manifest(MANIFEST, supplement=False)
    journal.take_outputs(["results/new.csv", "results/more.csv"], supplement=True)
    journal.end([MANIFEST], supplement=False)
    assert journal.read(supplement=True) == {"inputs": {}, "outputs": {"results/more.csv": described("2\n")}}
    journal.end([MANIFEST], supplement=True)
    assert not journal.path.exists()


def test_files_that_no_manifest_describes_are_forgotten_with_the_run(journal):
    journal.take_outputs(["results/new.csv"], supplement=False)
    journal.end([], supplement=False)
    assert not journal.path.exists()


def test_a_missing_result_is_not_a_change(journal, tmp_path):
    journal.take_outputs(["results/new.csv", "results/old.csv"], supplement=False)
    (tmp_path / "results" / "new.csv").unlink()
    assert journal.read(supplement=False)["outputs"] == {"results/old.csv": described("1\n")}


def test_what_was_dropped_is_not_taken_from_the_manifest(journal):
    journal.drop("raw.csv")
    journal.take_manifest(MANIFEST, supplement=False)
    assert journal.read(supplement=False) == {"inputs": {}, "outputs": MANIFEST["outputs"]}
