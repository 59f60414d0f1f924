"""Test the comparison of files with their recorded digests."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest
import yaml

from misspenalty.errors import InputError
from misspenalty_studies.common.reporting.provenance import describe_files
from misspenalty_studies.common.reporting.recorded import changed_files, check_recorded, read_manifest, recorded_digest

ROOT = Path(__file__).parents[4]
RAW = [
    path
    for path in sorted((ROOT / "data" / "raw").glob("*/*"))
    if path.suffix in (".parquet", ".csv", ".xz", ".jsonl", ".zst", ".gz")
]


def test_every_raw_file_has_a_recorded_digest_which_it_matches():
    assert len(RAW) > 20
    assert {path for path in RAW if recorded_digest(path) is None} == set()
    check_recorded(RAW)


@pytest.mark.parametrize(
    "name", ["delayed_hits/sample.csv", "builds/ld_files.parquet", "kvcache/conversation.jsonl.xz"]
)
def test_a_changed_capture_is_refused(tmp_path, name):
    raw = ROOT / "data" / "raw" / name
    shutil.copy(raw, tmp_path)
    shutil.copy(raw.with_name("captures.yaml"), tmp_path)
    path = tmp_path / raw.name
    check_recorded([path, tmp_path / "captures.yaml"])
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(
        InputError, match=rf"{raw.name}: has sha256 \w+; expected {recorded_digest(raw)}, which captures"
    ):
        check_recorded([path])


@pytest.mark.parametrize(
    "facts", [None, {}, [], "text", {"a.csv": None}, {"a.csv": {"bytes": 1}}, {"b.csv": {"sha256": "0"}}]
)
def test_what_is_not_recorded_is_not_checked(tmp_path, facts):
    (tmp_path / "a.csv").write_text("x\n")
    if facts is not None:
        (tmp_path / "captures.yaml").write_text(yaml.safe_dump(facts))
    assert recorded_digest(tmp_path / "a.csv") is None
    check_recorded([tmp_path / "a.csv"])


def test_facts_are_listed_by_file_or_by_workload(tmp_path):
    digest = hashlib.sha256(b"x").hexdigest()
    facts = {"a.csv": {"sha256": digest}, "work": {"sha256": {"b.csv": "1", "c.csv": digest}}}
    (tmp_path / "captures.yaml").write_text(yaml.safe_dump(facts))
    for name in ("a.csv", "b.csv", "c.csv"):
        (tmp_path / name).write_text("x")
    assert [recorded_digest(tmp_path / name) for name in ("a.csv", "b.csv", "c.csv")] == [digest, "1", digest]
    check_recorded([tmp_path / "a.csv", tmp_path / "c.csv"])
    with pytest.raises(InputError, match=r"b\.csv"):
        check_recorded([tmp_path / "a.csv", tmp_path / "b.csv"])


def test_changed_files_are_named(tmp_path):
    for name in ("a", "b", "c", "d/e"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("12")
    described = describe_files(["a", "b", "c", "d"], tmp_path)
    assert changed_files(described, tmp_path) == []
    (tmp_path / "a").write_text("21")
    (tmp_path / "b").write_text("123")
    (tmp_path / "c").unlink()
    shutil.rmtree(tmp_path / "d")
    (tmp_path / "d").touch()
    assert changed_files(described, tmp_path) == ["a", "b", "c", "d/e"]
    (tmp_path / "c").mkdir()
    assert changed_files({"c": described["c"]}, tmp_path) == ["c"]
    assert changed_files({"/dev/zero": {"bytes": 0, "sha256": ""}}, tmp_path) == ["/dev/zero"]  # not a file


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"inputs": {}}', '{"inputs": {}, "outputs": []}', "[" * 99999]
    + [json.dumps({"inputs": {}, "outputs": {"results/a": one}}) for one in (1, {"bytes": 1}, {"sha256": ""}, None)]
    + [
        json.dumps({"inputs": {}, "outputs": {name: {"bytes": 1, "sha256": ""}}})
        for name in ("a", "/results/a", "results/../a", "results//a", "results/a\0", "")
    ],
)
def test_an_unusable_manifest_is_refused(tmp_path, text):
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(InputError, match=r"manifest\.json: is not the manifest of a run .*; delete it"):
        read_manifest(tmp_path / "manifest.json")


def test_a_manifest_is_read(tmp_path):
    assert read_manifest(tmp_path / "manifest.json") is None
    (tmp_path / "manifest.json").write_text(
        json.dumps({"inputs": {}, "outputs": {"results/a": {"bytes": 1, "sha256": "2"}}})
    )
    assert read_manifest(tmp_path / "manifest.json")["outputs"]["results/a"] == {"bytes": 1, "sha256": "2"}
