"""Test the archive of the results: equal files give equal bytes, damage is refused, and every forged file is named."""

import hashlib
import json
import re
import shutil
import stat
import subprocess
import warnings
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misspenalty.errors import InputError
from misspenalty_studies.common.reporting.archive.__main__ import main
from misspenalty_studies.common.reporting.archive.crate import (
    CODE,
    LIST,
    METADATA,
    archived_files,
    describe_code,
    format_json,
    format_list,
    read_citation,
    write_archive,
)
from misspenalty_studies.common.reporting.archive.verify import verify
from misspenalty_studies.common.reporting.provenance import describe_files

ROOT = Path(__file__).parents[4]
TABLE = "results/mq/table4.csv"


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return a folder with a checkout and its archive; tests change only copies of them."""
    folder = tmp_path_factory.mktemp("whole")
    write_archive(folder / "archive.zip", make_checkout(folder / "checkout"))
    return folder


@pytest.fixture
def checkout(whole, tmp_path):
    return shutil.copytree(whole / "checkout", tmp_path / "checkout")


@pytest.fixture
def archive(whole, tmp_path):
    return shutil.copy(whole / "archive.zip", tmp_path / "archive.zip")


def make_checkout(root):
    """Make a checkout with two results, a site, and files that must not be archived."""
    for name in ("CITATION.cff", "LICENSE", "README.md", "Snakefile", "requirements.lock", "config/config.yaml"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    shutil.copytree(ROOT / "workflow", root / "workflow")
    files = {
        "studies/mq/rules.smk": 'include: "inputs.smk"\n',
        "studies/mq/inputs.smk": "MQ = config['mq']\n",
        "results/claims.csv": "claim,verdict\nmq-1,yes\n",
        TABLE: "policy,hit_ratio\nlru,0.25\nmq,0.5\n",
        "results/site/a page.html": "<p>",
        "results/manifest.json": '{"inputs": {}, "outputs": {}}\n',
        "results/traces/a.csv": "x\n",
        "results/mq/runs/b.csv": "x\n",
        "results/mq/.table4.12.partial.csv": "x\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def repack(archive, changes, extra=(), method=zipfile.ZIP_STORED):
    """Rewrite the archive: `changes` maps names to new contents (None removes the file); `extra` are pairs of entry and
    bytes to append."""
    with zipfile.ZipFile(archive) as stored:
        contents = {name: stored.read(name) for name in stored.namelist()} | changes
        date = stored.infolist()[0].date_time
    with zipfile.ZipFile(archive, "w", method) as stored:
        for name, data in sorted(contents.items()):
            if data is not None:
                entry = zipfile.ZipInfo(name, date)
                entry.create_system, entry.external_attr, entry.compress_type = 3, 0o100644 << 16, method
                stored.writestr(entry, data)
        for entry, data in extra:
            stored.writestr(entry, data)


def relist(archive):
    """Update the archive's list of checksums to its contents, as a forger would."""
    with zipfile.ZipFile(archive) as stored:
        contents = {name: stored.read(name) for name in stored.namelist()}
    digests = {name: (len(data), hashlib.sha256(data).hexdigest()) for name, data in contents.items()}
    repack(archive, {LIST: format_list(digests).encode()})


def forged(checkout, folder, changes):
    """Make a consistent archive of a copy of the checkout; `changes` maps files to contents (None removes a file)."""
    copy = folder / "forger"
    shutil.copytree(checkout, copy)
    for name, data in changes.items():
        if data is None:
            (copy / name).unlink()
        else:
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes(data)
    write_archive(folder / "forged.zip", copy)
    return folder / "forged.zip"


def different(archive, checkout):
    """Return the details of the files that `verify` finds different, by name."""
    return {one.name: one.detail for one in verify(archive, checkout) if one.verdict == "different"}


def test_results_site_and_sources_are_archived(checkout):
    names = archived_files(checkout)
    assert {"results/claims.csv", TABLE, "results/site/a page.html", "results/manifest.json"} <= set(names)
    assert {"workflow/Snakefile", "studies/mq/rules.smk", "studies/mq/inputs.smk"} <= set(names)
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


def test_an_archive_of_this_checkout_is_equal_to_it(checkout, archive):
    found = {one.name: one.verdict for one in verify(archive, checkout)}
    assert set(found) == {*archived_files(checkout), METADATA, CODE}
    assert {name for name, verdict in found.items() if verdict != "equal"} == {"results/manifest.json"}


def test_the_list_is_one_for_sha256sum(archive, tmp_path):
    with zipfile.ZipFile(archive) as stored:
        stored.extractall(tmp_path / "unpacked")
    command = ["sha256sum", "--check", "--strict", "--quiet", LIST]
    done = subprocess.run(command, cwd=tmp_path / "unpacked", capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    files = [path for path in (tmp_path / "unpacked").rglob("*") if path.is_file()]
    assert len((tmp_path / "unpacked" / LIST).read_text().splitlines()) == len(files) - 1


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


def test_metadata_name_all_authors(checkout, archive):
    with zipfile.ZipFile(archive) as stored:
        one = {entry["@id"]: entry for entry in json.loads(stored.read(METADATA))["@graph"]}
    assert one["./"]["author"] == one["workflow/Snakefile"]["creator"] == {"@id": "#author-1"}
    path = checkout / "CITATION.cff"
    path.write_text(path.read_text().replace("\nauthors:\n", "\nauthors:\n  - name: First\n"))
    write_archive(archive, checkout)
    with zipfile.ZipFile(archive) as stored:
        two = {entry["@id"]: entry for entry in json.loads(stored.read(METADATA))["@graph"]}
    both = [{"@id": "#author-1"}, {"@id": "#author-2"}]
    assert two["./"]["author"] == two["workflow/Snakefile"]["creator"] == both
    assert two["#author-1"]["name"] == "First" and two["#run"]["agent"] == both[0]


@pytest.mark.parametrize("words", [[], ["verify"], ["nothing"]])
def test_wrong_arguments_are_reported(words, capsys):
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2 and "usage:" in capsys.readouterr().err


def test_no_results_are_reported(checkout):
    (checkout / "results/claims.csv").unlink()
    with pytest.raises(InputError, match=r"claims\.csv: no such file; run `make reproduce` first"):
        archived_files(checkout)


def test_a_changed_file_is_refused_by_name(archive, checkout):
    repack(archive, {TABLE: b"policy,hit_ratio\nlru,0.25\nmq,0.9\n"})
    with pytest.raises(InputError, match=r"results/mq/table4\.csv has sha256 .* damaged or forged"):
        verify(archive, checkout)


def test_a_file_that_is_not_listed_is_refused(archive, checkout):
    repack(archive, {"results/mq/further.csv": b"x\n"})
    with pytest.raises(InputError, match=r"results/mq/further\.csv is not in SHA256SUMS"):
        verify(archive, checkout)


def test_a_missing_file_is_refused(archive, checkout):
    repack(archive, {TABLE: None})
    with pytest.raises(InputError, match=r"results/mq/table4\.csv of SHA256SUMS is missing"):
        verify(archive, checkout)


@pytest.mark.parametrize("text", [None, b"", b"[]", b"\xff\n", b"{}  x\n"])
def test_an_unusable_list_is_refused(archive, checkout, text):
    repack(archive, {LIST: text})
    with pytest.raises(InputError, match=LIST):
        verify(archive, checkout)


def test_a_list_that_repeats_a_line_is_refused(archive, checkout):
    with zipfile.ZipFile(archive) as stored:
        text = stored.read(LIST)
    repack(archive, {LIST: text + text})
    with pytest.raises(InputError, match="SHA256SUMS is not in the format of sha256sum"):
        verify(archive, checkout)


@pytest.mark.parametrize("kept", [0, 10, 0.5, 0.99])
def test_a_truncated_archive_is_refused(archive, checkout, kept):
    content = archive.read_bytes()
    archive.write_bytes(content[: kept if kept in (0, 10) else int(kept * len(content))])
    with pytest.raises(InputError, match=r"archive\.zip: is not a valid zip file"):
        verify(archive, checkout)


def test_a_missing_archive_is_reported(checkout, tmp_path):
    with pytest.raises(InputError, match=r"nowhere\.zip: cannot be read"):
        verify(tmp_path / "nowhere.zip", checkout)


def test_a_file_of_the_checkout_that_cannot_be_read_is_named(archive, checkout, monkeypatch):
    def read_bytes(path, read=Path.read_bytes):
        if path == checkout / TABLE:
            raise PermissionError(13, "Permission denied", str(path))
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    with pytest.raises(InputError, match=r"checkout/\S+: cannot be read \(\[Errno 13\] Permission denied"):
        verify(archive, checkout)


def test_a_flipped_bit_is_refused_by_name(archive, checkout):
    content = bytearray(archive.read_bytes())
    content[content.index(b"lru,0.25")] ^= 1
    archive.write_bytes(content)
    with pytest.raises(InputError, match=r"results/mq/table4\.csv is damaged \(Bad CRC-32"):
        verify(archive, checkout)


@pytest.mark.parametrize(
    "name",
    [
        "/absolute.csv",
        "../outside.csv",
        "results/../../outside.csv",
        "C:/x.csv",
        "a\\..\\..\\x.csv",
        "..",
        "./x",
        "a//b",
        "a/",
        "a\n0 different",
        "\x1b[2Ja",
        "a\u202egpj.csv",
        "\x9b1Ka",
    ],
)
def test_a_path_out_of_the_folder_is_refused(archive, checkout, name):
    """Such a path must be refused: nothing is unpacked here, but other programs may unpack the archive."""
    repack(archive, {name: b"x"})
    relist(archive)
    with pytest.raises(InputError, match=rf"entry {re.escape(repr(name))} has a path"):
        verify(archive, checkout)


@pytest.mark.parametrize("lines", [b"\n", b"\x1b[2J", b"\xe2\x80\xae", b"\r"])
def test_what_a_forged_archive_says_is_shown_as_one_plain_line(archive, checkout, capsys, lines):
    """Line breaks and control characters must be escaped if they come from the archive's list of checksums, its
    description of code or its manifests."""
    code, feigned = json.loads(format_json(describe_code(checkout))), lines.decode() + "0 different"
    forgeries = {
        CODE: format_json(code | {"revision": feigned}),
        "results/manifest.json": json.dumps({"inputs": {}, "outputs": {}, feigned: 1}).encode(),
        "results/manifest_supplement.json": json.dumps({"outputs": {}, "\ud800": 1}).encode(),
    }
    repack(archive, forgeries)
    relist(archive)
    assert main(["--root", str(checkout), "verify", str(archive)]) == 1
    out = capsys.readouterr().out
    assert out.count("\n") == len(verify(archive, checkout)) + 2 and feigned not in out and "0 different" in out
    with zipfile.ZipFile(archive) as stored:
        text = stored.read(LIST)
    repack(archive, {LIST: text + b"0" * 64 + b"  x" + lines.replace(b"\n", b"\x1b") + b"0 different\n"})
    assert main(["--root", str(checkout), "verify", str(archive)]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and err[:-1].isprintable()


def test_entries_that_share_their_bytes_are_refused(archive, checkout):
    """Entries that share their bytes must be refused, because with many of them a megabyte could expand to
    terabytes."""
    data = b"x" * (archive.stat().st_size + 1000)
    repack(archive, {"results/a.csv": data})
    with zipfile.ZipFile(archive, "a") as stored:
        first = stored.getinfo("results/a.csv")
        again = zipfile.ZipInfo("results/b.csv", first.date_time)
        for name in ("create_system", "external_attr", "CRC", "compress_size", "file_size", "header_offset"):
            setattr(again, name, getattr(first, name))
        stored.filelist.append(again)
        stored.NameToInfo[again.filename] = again
        stored._didModify = True
    with pytest.raises(InputError, match=r"entry 'results/b\.csv' shares its bytes"):
        verify(archive, checkout)


@pytest.mark.parametrize("tolerance", ["nan", "inf", "-1", "1", "1e300", "a"])
def test_a_tolerance_that_accepts_every_difference_is_refused(archive, checkout, capsys, tolerance):
    with pytest.raises(SystemExit) as ended:
        main(["--root", str(checkout), "verify", str(archive), f"--tolerance={tolerance}"])
    assert ended.value.code == 2 and "tolerance" in capsys.readouterr().err


def special(name, mode):
    with_mode = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))
    with_mode.create_system, with_mode.external_attr = 3, mode << 16
    return with_mode


@pytest.mark.parametrize("mode", [stat.S_IFLNK | 0o777, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFDIR, stat.S_IFREG | 0o777])
@pytest.mark.parametrize("name", ["results/other", "results/mq/"])
def test_a_link_or_a_folder_with_a_payload_is_refused(archive, checkout, mode, name):
    with zipfile.ZipFile(archive) as stored:
        entry = special(name, mode)
        entry.date_time = stored.infolist()[0].date_time
    repack(archive, {}, extra=[(entry, b"/etc/passwd")])
    told = "has a path" if name.endswith("/") else f"{name} is not in SHA256SUMS"
    with pytest.raises(InputError, match=re.escape(told)):
        verify(archive, checkout)
    with zipfile.ZipFile(archive) as stored:
        digests = {name: (0, hashlib.sha256(stored.read(name)).hexdigest()) for name in stored.namelist()}
    repack(archive, {LIST: format_list(digests).encode(), name: None}, extra=[(entry, b"/etc/passwd")])
    told = "has a path" if name.endswith("/") else r"byte \d+: contains bytes that belong to no file"
    with pytest.raises(InputError, match=told):
        verify(archive, checkout)


@pytest.mark.parametrize("where", ["before", "behind", "comment", "permission"])
def test_bytes_that_belong_to_no_file_are_refused(archive, checkout, where):
    content = archive.read_bytes()
    if where == "before":
        archive.write_bytes(b"payload" + content)
    elif where == "behind":
        archive.write_bytes(content + b"payload")
    elif where == "permission":
        archive.write_bytes(
            content.replace((0o100644 << 16).to_bytes(4, "little"), (0o104755 << 16).to_bytes(4, "little"))
        )
    else:
        with zipfile.ZipFile(archive, "a") as stored:
            stored.comment = b"payload"
    with pytest.raises(InputError, match="contains bytes that belong to no file"):
        verify(archive, checkout)


def test_a_name_used_twice_is_refused(archive, checkout):
    with zipfile.ZipFile(archive) as stored:
        data, entry = stored.read(TABLE), zipfile.ZipInfo(TABLE, stored.infolist()[0].date_time)
    with pytest.warns(UserWarning, match="Duplicate name"):
        repack(archive, {}, extra=[(entry, data)])
    with pytest.raises(InputError, match=r"'results/mq/table4\.csv' occurs twice"):
        verify(archive, checkout)


def test_an_archive_of_another_release_is_reported(archive, checkout):
    citation = checkout / "CITATION.cff"
    released = read_citation(checkout)["date-released"]
    citation.write_text(citation.read_text().replace(str(released), "1999-12-31"))
    with pytest.raises(InputError, match=f"is dated {released}; expected 1999-12-31, the date of the release"):
        verify(archive, checkout)


def test_a_zip_bomb_is_refused_before_it_is_unpacked(archive, checkout):
    repack(archive, {"results/bomb.csv": bytes(64 * 2**20)}, method=zipfile.ZIP_DEFLATED)
    with pytest.raises(InputError, match=r"entry 'CITATION.cff' is compressed or encrypted"):
        verify(archive, checkout)


def test_an_entry_that_lies_about_its_size_is_refused(archive, checkout):
    repack(archive, {"results/bomb.csv": bytes(1000)})
    content = archive.read_bytes()
    archive.write_bytes(content.replace((1000).to_bytes(4, "little") * 2, (8 * 2**20).to_bytes(4, "little") * 2))
    with pytest.raises(
        InputError, match=r"'results/bomb\.csv' states a size of 8388608 bytes but stores 8388608; the archive has"
    ):
        verify(archive, checkout)


@pytest.mark.parametrize(
    "changes",
    [
        {
            "requirements.lock": b"evil==1.0\n",
            "workflow/Snakefile": b"shell('evil')\n",
            "workflow/scripts/further.py": b"evil\n",
            "results/site/a page.html": b"<script>",
            "results/site/further.html": b"<script>",
            "README.md": b"all reproduced\n",
            "config/config.yaml": b"{}\n",
            TABLE: b"policy,hit_ratio\nlru,0.25\nmq,0.9\n",
            "results/mq/further.csv": b"x\n",
            "results/manifest.json": b'{"outputs": {}, "seeds": {"evil": 1}}',
        },
        {TABLE: None, "results/site/a page.html": None, "results/manifest.json": b"[]"},
        {"results/manifest.json": b"[" * 99999},
        {"results/manifest.json": b'{"outputs": [Infinity]}'},
        {"results/manifest.json": b'{"outputs": {"results/mq/table4.csv": {"bytes": 1, "sha256": "0"}}}'},
    ],
    ids=["changed", "removed", "deep", "infinite", "other digest"],
)
def test_a_forgery_with_its_own_checksums_is_different(checkout, tmp_path, changes):
    """The forged archive is internally consistent, so the comparison with the checkout must find each changed file."""
    assert set(different(forged(checkout, tmp_path, changes), checkout)) == set(changes)


def test_a_forged_release_is_different(checkout, tmp_path):
    citation = (checkout / "CITATION.cff").read_bytes()
    release = {"CITATION.cff": citation.replace(b"keywords:\n", b"keywords:\n  - evil\n")}
    archive = forged(checkout, tmp_path, release)
    assert set(different(archive, checkout)) == {"CITATION.cff", METADATA}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"sources": "0" * 64}, "made by sources other than those of this checkout"),
        ({"revision": "swh:1:rev:0"}, None),
        ([], "cannot be used: is a list, not an object"),
        (1, "cannot be used: is a int, not an object"),
        ({"sources": 1}, "cannot be used: an identifier is neither text nor null"),
        ({"more": ""}, "cannot be used: is not a description of code"),
    ],
)
def test_forged_code_is_different(archive, checkout, changes, told):
    """A forged description of the code must be reported as different. A forged commit alone cannot be checked outside
    git, and the report must say so."""
    with zipfile.ZipFile(archive) as stored:
        code = json.loads(stored.read(CODE))
    forged_code = code | changes if isinstance(changes, dict) else changes
    repack(archive, {CODE: format_json(forged_code)})
    relist(archive)
    (found,) = [one for one in verify(archive, checkout) if one.name == CODE]
    if told:
        assert found.verdict == "different" and found.detail.startswith(told)
    else:
        assert found.verdict == "not compared" and "commit swh:1:rev:0, but this is not a git checkout" in found.detail
    assert METADATA in different(archive, checkout)


def test_the_commit_of_a_repository_around_the_checkout_is_not_taken_for_its_own(checkout):
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for arguments in (("init", "-q"), ("commit", "-q", "--allow-empty", "-m", "other")):
        subprocess.run(["git", "-C", str(checkout.parent), *identity, *arguments], check=True, capture_output=True)
    code = describe_code(checkout)
    assert (code["revision"], code["directory"]) == (None, None)
    own = describe_code(checkout.parent)
    assert own["revision"].startswith("swh:1:rev:") and own["directory"].startswith("swh:1:dir:")


def test_git_tracks_every_result_and_no_tracked_result_is_missing(checkout, tmp_path, capsys):
    for arguments in (("init", "-q"), ("add", "--force", "results/claims.csv", TABLE)):
        subprocess.run(["git", "-C", str(checkout), *arguments], check=True, capture_output=True)
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", "-C", str(checkout), *identity, "commit", "-q", "-m", "a"], check=True, capture_output=True)
    write = ["--root", str(checkout), "write", "--out", str(tmp_path / "out")]
    assert main(write) == 0
    stray = checkout / "results/mq/é.csv"
    stray.write_text("x\n1\n")
    assert main(write) == 2
    assert "é.csv: is neither in git nor in the manifest of a run; delete it" in capsys.readouterr().err
    outputs = describe_files(["results/mq/é.csv"], checkout)
    (checkout / "results/manifest.json").write_text(json.dumps({"inputs": {}, "outputs": outputs}))
    assert main(write) == 0
    stray.unlink()
    (checkout / "results/manifest.json").unlink()
    (checkout / TABLE).unlink()
    assert main(write) == 2
    assert f"{TABLE}: is missing, although git tracks it; `git checkout {TABLE}` restores it" in capsys.readouterr().err


def test_the_commit_is_compared_in_a_git_checkout(archive, checkout, monkeypatch):
    here = describe_code(checkout) | {"revision": "swh:1:rev:1", "directory": "swh:1:dir:1"}
    monkeypatch.setattr("misspenalty_studies.common.reporting.archive.crate.describe_code", lambda root: here)
    assert "this checkout is at swh:1:rev:1" in different(archive, checkout)[CODE]
    write_archive(archive, checkout)
    assert different(archive, checkout) == {}


@pytest.mark.parametrize(
    "text", [b"", b"[]", b'{"@graph": [{"@type": "File", "contentSize": Infinity}]}', b"[" * 99999]
)
def test_forged_metadata_are_different(archive, checkout, text):
    repack(archive, {METADATA: text})
    relist(archive)
    assert set(different(archive, checkout)) == {METADATA}


@pytest.mark.parametrize("name", [METADATA, CODE, "workflow/Snakefile", "requirements.lock", "LICENSE"])
def test_what_every_archive_has_may_not_be_missing(archive, checkout, name):
    repack(archive, {name: None})
    relist(archive)
    assert "is not in the archive" in different(archive, checkout)[name]


def test_a_manifest_is_compared_as_far_as_runs_agree(checkout, tmp_path):
    def manifest(**changes):
        described = describe_files([TABLE], checkout)
        return json.dumps(
            {"inputs": {}, "outputs": described, "seeds": {"a": 1}, "total": {"wall_s": 1}} | changes
        ).encode()

    def verdict(text):
        (found,) = [one for one in verify(forged(checkout, tmp_path, {name: text}), checkout) if one.name == name]
        shutil.rmtree(tmp_path / "forger")
        return found.verdict, found.detail

    name = "results/manifest.json"
    (checkout / name).write_bytes(manifest())
    assert verdict(manifest(total={"wall_s": 9}))[0] == "not compared"
    assert verdict(manifest(seeds={"a": 2}, more=1)) == ("different", "differs from this checkout's in: more, seeds")
    told = verdict(manifest(outputs={TABLE: {"bytes": 1, "sha256": "2f"}}))[1]
    assert f"lists {TABLE} with 1 bytes, sha256 2f; the archive has {(checkout / TABLE).stat().st_size} bytes" in told
    assert verdict(None)[0] == "not compared"
    text = (checkout / name).read_bytes()
    (checkout / name).write_text("[]")
    broken = "this checkout's cannot be used (is a list, not an object): `make reproduce` writes it again"
    assert verdict(text) == ("different", broken)
    assert verdict(b"[]") == ("different", "cannot be used (ValueError: is a list, not an object)")
    (checkout / name).unlink()
    assert verdict(text) == ("not compared", "this checkout has none: `make reproduce` writes it")


@settings(max_examples=300)
@given(st.data())
def test_any_changed_byte_of_an_archive_is_found(whole, data):
    """Hypothesis changes a byte of the zip file; `verify` must refuse every such archive."""
    changed = bytearray((whole / "archive.zip").read_bytes())
    changed[data.draw(st.integers(0, len(changed) - 1))] ^= data.draw(st.integers(1, 255))
    (whole / "changed.zip").write_bytes(changed)
    with warnings.catch_warnings(), pytest.raises(InputError):
        warnings.simplefilter("ignore")
        verify(whole / "changed.zip", whole / "checkout")


@pytest.mark.parametrize(
    "change", [("title", "titel"), ("date-released: ", "date-released: x"), ("version", "versions"), ("  - ", "  - - ")]
)
def test_a_citation_that_cannot_be_used_is_reported(archive, checkout, change, capsys):
    path = checkout / "CITATION.cff"
    path.write_text(path.read_text().replace(*change))
    for command in (["write", "--out", str(checkout)], ["verify", str(archive)]):
        assert main(["--root", str(checkout), *command]) == 2
        assert re.search(r"CITATION\.cff.*: (cannot be used|not YAML)", capsys.readouterr().err)
    path.unlink()
    assert main(["--root", str(checkout), "verify", str(archive)]) == 2
    assert "CITATION.cff: no such file; expected the root of a checkout" in capsys.readouterr().err


def test_the_commands(checkout, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["--root", str(checkout), "write", "--out", str(out)]) == 0
    (path,) = out.iterdir()
    assert path.name == "misspenalty-results-1.0.0.zip"
    assert main(["--root", str(checkout), "verify", str(path)]) == 0
    assert f"{len(archived_files(checkout)) + 1} equal, 0 numerically equal, 1 not compared, 0 different" in (
        capsys.readouterr().out
    )
    (checkout / TABLE).unlink()
    (checkout / "results/mq/new.csv").write_text("x\n1\n")
    assert main(["--root", str(checkout), "verify", str(path)]) == 1
    told = capsys.readouterr().out
    assert f"{TABLE}: is missing in this checkout: `make supplement` makes it" in told
    assert "results/mq/new.csv: is not in the archive" in told
    *_, one, other, counts = told.splitlines()  # the differences come last, where a reader looks
    assert one.startswith("different ") and other.startswith("different ") and counts.endswith("2 different")
    described = {TABLE: {"bytes": 1, "sha256": ""}}
    (checkout / "results/manifest.json").write_text(json.dumps({"inputs": {}, "outputs": described}))
    assert main(["--root", str(checkout), "write", "--out", str(out)]) == 2
    assert f"{TABLE}: is missing, although the last run wrote it" in capsys.readouterr().err
    (checkout / TABLE).write_text("x\n")
    assert main(["--root", str(checkout), "write", "--out", str(out)]) == 2
    assert f"{TABLE}: is not what the last run wrote" in capsys.readouterr().err
    path.write_bytes(b"PK")
    assert main(["--root", str(checkout), "verify", str(path)]) == 2
    assert "is not a valid zip file" in capsys.readouterr().err
