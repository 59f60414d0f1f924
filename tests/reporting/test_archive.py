"""The archive of the results: equal files make equal bytes; what is damaged, forged or harmful is refused by name."""

import json
import shutil
import stat
import zipfile
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest

from misspenalty.errors import InputError
from misspenalty.reporting.archive.__main__ import main
from misspenalty.reporting.archive.crate import METADATA, archived_files, write_archive
from misspenalty.reporting.archive.verify import compare, compare_files, unpack

ROOT = Path(__file__).parents[2]
TABLE = "results/mq/table4.csv"


@pytest.fixture
def checkout(tmp_path):
    """A checkout with two results, a site and files that are not archived."""
    root = tmp_path / "checkout"
    for name in ("CITATION.cff", "LICENSE", "README.md", "Snakefile", "requirements.lock", "config/config.yaml"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    shutil.copytree(ROOT / "workflow", root / "workflow")
    files = {
        "results/claims.csv": "claim,verdict\nmq-1,yes\n",
        TABLE: "policy,hit_ratio\nlru,0.25\nmq,0.5\n",
        "results/site/a page.html": "<p>",
        "results/manifest.json": "{}\n",
        "results/traces/a.csv": "x\n",
        "results/mq/runs/b.csv": "x\n",
        "results/mq/.table4.12.partial.csv": "x\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.fixture
def archive(checkout, tmp_path):
    path = tmp_path / "archive.zip"
    write_archive(path, checkout)
    return path


@pytest.fixture
def empty(tmp_path):
    folder = tmp_path / "outer" / "unpacked"
    folder.mkdir(parents=True)
    return folder


def repack(archive, changes, extra=()):
    """The archive again with other contents: `changes` by name (None takes a file away), `extra` (entry, bytes)."""
    with zipfile.ZipFile(archive) as stored:
        contents = {name: stored.read(name) for name in stored.namelist()} | changes
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as stored:
        for name, data in contents.items():
            if data is not None:
                stored.writestr(name, data)
        for entry, data in extra:
            stored.writestr(entry, data)


def nothing_outside(folder):
    return [path for path in folder.parent.rglob("*") if folder not in (path, *path.parents)] == []


def test_what_is_archived(checkout):
    names = archived_files(checkout)
    assert {"results/claims.csv", TABLE, "results/site/a page.html", "results/manifest.json"} <= set(names)
    assert not [name for name in names if "traces/" in name or "runs/" in name or "partial" in name]


def test_equal_files_make_equal_bytes(checkout, archive, tmp_path):
    copy = tmp_path / "elsewhere"
    shutil.copytree(checkout, copy)
    (copy / TABLE).touch()
    write_archive(tmp_path / "second.zip", copy)
    assert (tmp_path / "second.zip").read_bytes() == archive.read_bytes()
    (copy / TABLE).write_text("policy,hit_ratio\nlru,0.26\nmq,0.5\n")
    write_archive(tmp_path / "third.zip", copy)
    assert (tmp_path / "third.zip").read_bytes() != archive.read_bytes()


def test_round_trip(checkout, archive, empty):
    names = unpack(archive, empty)
    assert "results/site/a page.html" in names
    assert (empty / TABLE).read_bytes() == (checkout / TABLE).read_bytes()
    assert {one.verdict for one in compare(empty, checkout)} == {"equal"}


def test_metadata_is_a_workflow_run_crate(archive):
    with zipfile.ZipFile(archive) as stored:
        graph = {one["@id"]: one for one in json.loads(stored.read(METADATA))["@graph"]}
    assert graph[METADATA]["conformsTo"][0] == {"@id": "https://w3id.org/ro/crate/1.1"}
    root = graph["./"]
    assert {one["@id"].split("/")[-2] for one in root["conformsTo"]} == {"process", "workflow", "workflow-ro-crate"}
    assert root["mainEntity"] == {"@id": "workflow/Snakefile"}
    assert "ComputationalWorkflow" in graph["workflow/Snakefile"]["@type"]
    run = graph[root["mentions"]["@id"]]
    assert run["instrument"] == {"@id": "workflow/Snakefile"}
    assert {"@id": TABLE} in run["result"]


def test_no_results_are_told(checkout):
    (checkout / "results/claims.csv").unlink()
    with pytest.raises(InputError, match=r"claims\.csv: no such file; run `make reproduce` first"):
        archived_files(checkout)


def test_a_changed_file_is_refused_by_name(archive, empty):
    repack(archive, {TABLE: b"policy,hit_ratio\nlru,0.25\nmq,0.9\n"})
    with pytest.raises(InputError, match=r"results/mq/table4\.csv has sha256 .* damaged or forged"):
        unpack(archive, empty)


def test_a_file_that_is_not_listed_is_refused(archive, empty):
    repack(archive, {"results/mq/further.csv": b"x\n"})
    with pytest.raises(InputError, match=r"results/mq/further\.csv is not in the archive's own list"):
        unpack(archive, empty)


def test_a_missing_file_is_refused(archive, empty):
    repack(archive, {TABLE: None})
    with pytest.raises(InputError, match=r"results/mq/table4\.csv is missing"):
        unpack(archive, empty)


@pytest.mark.parametrize("metadata", [None, b"", b"[]", b'{"@graph": [{"@type": "File", "@id": "x"}]}', b"[" * 99999])
def test_an_unusable_list_is_refused(archive, empty, metadata):
    repack(archive, {METADATA: metadata})
    with pytest.raises(InputError, match=METADATA):
        unpack(archive, empty)


@pytest.mark.parametrize("kept", [0, 10, 0.5, 0.99])
def test_a_truncated_archive_is_refused(archive, empty, kept):
    content = archive.read_bytes()
    archive.write_bytes(content[: kept if kept in (0, 10) else int(kept * len(content))])
    with pytest.raises(InputError, match=r"archive\.zip: is not a valid zip file"):
        unpack(archive, empty)


def test_a_flipped_bit_is_refused_by_name(archive, empty):
    content = bytearray(archive.read_bytes())
    content[content.index(b"lru,0.25")] ^= 1
    archive.write_bytes(content)
    with pytest.raises(InputError, match=r"results/mq/table4\.csv is damaged \(Bad CRC-32"):
        unpack(archive, empty)


@pytest.mark.parametrize(
    "name",
    ["/absolute.csv", "../outside.csv", "results/../../outside.csv", "C:/x.csv", "a\\..\\..\\x.csv", "./x", "a//b"],
)
def test_a_path_out_of_the_folder_is_refused_before_anything_is_written(archive, empty, name):
    repack(archive, {}, extra=[(name, b"x")])
    with pytest.raises(InputError, match=r"entry .* has a"):
        unpack(archive, empty)
    assert nothing_outside(empty)
    assert list(empty.iterdir()) == []


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_a_link_is_refused(archive, empty, kind):
    entry = zipfile.ZipInfo("results/link")
    entry.create_system, entry.external_attr = 3, (kind | 0o777) << 16
    repack(archive, {}, extra=[(entry, b"/etc/passwd")])
    with pytest.raises(InputError, match="'results/link' is a link or another special file"):
        unpack(archive, empty)
    assert list(empty.iterdir()) == []


def test_a_name_used_twice_is_refused(archive, empty):
    repack(archive, {}, extra=[(TABLE.upper(), b"x")])
    with pytest.raises(InputError, match="occurs twice"):
        unpack(archive, empty)


def test_a_bomb_is_refused_before_it_goes_off(archive, empty):
    repack(archive, {"results/bomb.csv": bytes(64 * 2**20)})
    with pytest.raises(InputError, match=r"results/bomb\.csv' unpacks to 67108864 bytes"):
        unpack(archive, empty)
    assert list(empty.iterdir()) == []


def test_a_bomb_that_lies_about_its_size_is_stopped(archive, empty):
    """The size that an entry declares limits how much of it is unpacked."""
    repack(archive, {"results/bomb.csv": bytes(8 * 2**20)})
    content = archive.read_bytes()
    archive.write_bytes(content.replace((8 * 2**20).to_bytes(4, "little"), (1000).to_bytes(4, "little")))
    with pytest.raises(InputError, match=r"results/bomb\.csv"):
        unpack(archive, empty)
    assert sum(path.stat().st_size for path in empty.rglob("*") if path.name == "bomb.csv") <= 1000


def test_a_folder_in_use_is_refused(archive, empty):
    (empty / "mine").touch()
    with pytest.raises(InputError, match="is not empty"):
        unpack(archive, empty)


@pytest.mark.parametrize(
    ("here", "verdict", "detail"),
    [
        ("k,x\na,1.0\nb,2.0\n", "equal", ""),
        ("k,x\na,1\nb,2.0000000000004\n", "numerically equal", "largest relative difference 2e-13"),
        ("k,x\na,1.0\nb,2.5\n", "different", "x: 1 of 2 values differ, most 2 and here 2.5 (relative 0.2)"),
        ("k,x\na,1.0\nc,2.0\n", "different", "k: 1 of 2 values differ"),
        ("k,x\na,1.0\nb,\n", "different", "x: 1 of 2 values differ, most 2 and here nan (relative inf)"),
        ("k,x\na,1.0\n", "different", "2 rows archived, 1 here"),
        ("k,y\na,1.0\nb,2.0\n", "different", "columns differ: ['x', 'y']"),
    ],
)
def test_tables_are_compared_by_value(tmp_path, here, verdict, detail):
    (tmp_path / "one.csv").write_text("k,x\na,1.0\nb,2.0\n")
    (tmp_path / "other.csv").write_text(here)
    assert compare_files(tmp_path / "one.csv", tmp_path / "other.csv") == (verdict, detail)


def test_pictures_are_compared_by_pixel(tmp_path):
    picture = np.zeros((10, 10, 3))
    matplotlib.image.imsave(tmp_path / "one.png", picture)
    picture[0, :5] = 1
    matplotlib.image.imsave(tmp_path / "other.png", picture)
    verdict, detail = compare_files(tmp_path / "one.png", tmp_path / "other.png")
    assert (verdict, detail) == ("different", "5.00% of the pixels differ, by up to 1 of full scale")


def test_other_files_are_compared_by_byte(tmp_path):
    (tmp_path / "one.pdf").write_bytes(b"abc")
    (tmp_path / "other.pdf").write_bytes(b"abdd")
    assert compare_files(tmp_path / "one.pdf", tmp_path / "other.pdf")[1] == (
        "3 bytes archived, 4 here; 1 of the first 3 differ"
    )


def test_the_commands(checkout, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["--root", str(checkout), "write", "--out", str(out)]) == 0
    (path,) = out.iterdir()
    assert path.name == "misspenalty-results-0.1.0.zip"
    assert main(["--root", str(checkout), "verify", str(path)]) == 0
    assert "2 equal, 0 numerically equal, 0 different" in capsys.readouterr().out
    (checkout / TABLE).unlink()
    (checkout / "results/mq/new.csv").write_text("x\n1\n")
    assert main(["--root", str(checkout), "verify", str(path)]) == 1
    told = capsys.readouterr().out
    assert f"{TABLE}: is missing in this checkout" in told
    assert "results/mq/new.csv: is not in the archive" in told
    path.write_bytes(b"PK")
    assert main(["--root", str(checkout), "verify", str(path)]) == 2
    assert "is not a valid zip file" in capsys.readouterr().err
