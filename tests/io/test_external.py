"""Registered external files are found, verified and downloaded, and messages say what is wrong with a file."""

import contextlib
import errno
import gzip
import hashlib
import http.server
import io
import sys
import tarfile
import threading
import types
from pathlib import Path

import pytest
import yaml

from misspenalty.errors import InputError
from misspenalty.io import external

CONTENT = bytes(range(256)) * 500
SHA256 = hashlib.sha256(CONTENT).hexdigest()
ENTRY = {
    "studies": ["classics"],
    "repository": "someone/traces",
    "commit": "0" * 40,
    "path": "a/b.gz",
    "bytes": len(CONTENT),
    "sha256": SHA256,
    "licence": "none",
    "citation": "A paper",
}


@pytest.fixture
def register(tmp_path):
    """Return ``register(mirror=…, **changes)``, which makes a register of one file, ``traces/one.gz``."""

    def make(mirror=None, **changes):
        path = tmp_path / "external.yaml"
        path.write_text(yaml.safe_dump({"traces/one.gz": ENTRY | changes}))
        return external.open_register(path, mirror=mirror)

    return make


@pytest.fixture(autouse=True)
def no_mirror(monkeypatch):
    monkeypatch.delenv(external.MIRROR, raising=False)


def put(folder, content=CONTENT):
    path = folder / "traces" / "one.gz"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    return path


def test_a_file_that_is_nowhere_is_missing(register):
    assert register().find("traces/one.gz") is None
    assert register().missing("classics") == ["traces/one.gz"]
    assert register().missing("kvcache") == []


def test_the_mirror_comes_before_the_downloads(register, tmp_path):
    downloaded = put(tmp_path / "external")
    assert register().find("traces/one.gz") == downloaded
    mirrored = put(tmp_path / "mirror")
    assert register(mirror=tmp_path / "mirror").find("traces/one.gz") == mirrored


def test_the_environment_names_a_mirror(register, tmp_path, monkeypatch):
    mirrored = put(tmp_path / "mirror")
    monkeypatch.setenv(external.MIRROR, str(tmp_path / "mirror"))
    assert register().find("traces/one.gz") == mirrored


def test_a_changed_file_is_refused(register, tmp_path):
    put(tmp_path / "mirror", CONTENT[:-1])
    with pytest.raises(InputError, match=f"one.gz: differs from the registered file; expected sha256 {SHA256}"):
        register(mirror=tmp_path / "mirror").find("traces/one.gz")


def test_a_copy_that_cannot_be_opened_is_named(register, tmp_path, monkeypatch):
    def refuse(path):
        raise PermissionError(errno.EACCES, "Permission denied")

    put(tmp_path / "mirror")
    monkeypatch.setattr(external, "_open", refuse)
    with pytest.raises(InputError, match=r"one\.gz: cannot be read: .*Permission denied; delete it"):
        register(mirror=tmp_path / "mirror").find("traces/one.gz")


def test_a_mirror_that_is_not_there_is_an_error(register, tmp_path):
    with pytest.raises(InputError, match="mirror of external data is not a folder"):
        register(mirror=tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("key", "value"), [("sha256", "abc"), ("commit", "main"), ("licence", ""), ("bytes", 0), ("colour", "red")]
)
def test_an_impossible_entry_is_named(register, key, value):
    with pytest.raises(InputError, match=rf"external.yaml: traces/one.gz.{key}: "):
        register(**{key: value})


def test_an_unregistered_file_is_an_error(register):
    with pytest.raises(InputError, match=r"no external file 'two\.gz' is registered; expected traces/one\.gz"):
        register().find("two.gz")


@pytest.mark.parametrize(
    ("studies", "status"), [(["classics"], 0), ([], 2), (["classic"], 2), (["classics", "epcm"], 2)]
)
def test_studies_are_fetched_by_name(register, tmp_path, monkeypatch, capsys, studies, status):
    """Only the named studies' files must be fetched; here the register has files of one study."""
    path, opened = put(tmp_path / "mirror"), register(mirror=tmp_path / "mirror")
    monkeypatch.setattr(external, "open_register", lambda: opened)
    assert external.main(studies) == status
    out, err = capsys.readouterr()
    assert out == (f"{path}\n" if status == 0 else "")
    assert ("expected classics" in err) == (status == 2)


@pytest.fixture
def server():
    """Start a server that serves `CONTENT` at ``server.url``, compressed if that is accepted, and honours ranges.

    ``server.ranges`` records the ranges.
    """

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked = self.headers.get("Range")
            first = int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0
            self.server.ranges.append(asked)
            content, packed = self.server.content, "gzip" in self.headers.get("Accept-Encoding", "")
            part = (gzip.compress(content) if packed else content)[first:]
            self.send_response(206 if asked else 200 if self.path == "/one.gz" else 404)
            self.send_header("Content-Length", str(len(part)))
            if packed:
                self.send_header("Content-Encoding", "gzip")
            self.end_headers()
            self.wfile.write(part)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as served:
        served.ranges, served.content = [], CONTENT
        served.url = f"http://127.0.0.1:{served.server_port}/one.gz"
        thread = threading.Thread(target=served.serve_forever, daemon=True)
        thread.start()
        yield served
        served.shutdown()


def test_a_download_is_verified_and_whole(server, tmp_path):
    path = external.download(server.url, SHA256, tmp_path / "traces" / "one.gz")
    assert path.read_bytes() == CONTENT
    assert [entry.name for entry in path.parent.iterdir()] == ["one.gz"]


def test_an_interrupted_download_is_resumed(server, tmp_path):
    (tmp_path / "one.gz.part").write_bytes(CONTENT[:1000])
    assert external.download(server.url, SHA256, tmp_path / "one.gz").read_bytes() == CONTENT
    assert server.ranges == ["bytes=1000-"]


def test_a_partial_download_may_be_kept_elsewhere(server, tmp_path):
    partial = tmp_path / "kept" / "one.part"
    partial.parent.mkdir()
    partial.write_bytes(CONTENT[:1000])
    assert external.download(server.url, SHA256, tmp_path / "new" / "one.gz", partial).read_bytes() == CONTENT
    assert server.ranges == ["bytes=1000-"] and not partial.exists()


def test_a_download_that_differs_leaves_nothing(server, tmp_path):
    with pytest.raises(InputError, match="differs from the registered file"):
        external.download(server.url, "0" * 64, tmp_path / "one.gz")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("sum_", [SHA256, "0" * 64])
def test_an_archive_is_packed_and_verified(server, tmp_path, monkeypatch, sum_):
    """The function that `pack` names must get the unpacked folder, and the file that it makes must be verified."""
    packer = types.ModuleType("packer")
    packer.join = lambda folder, path: path.write_bytes(b"".join(p.read_bytes() for p in sorted(folder.iterdir())))
    monkeypatch.setitem(sys.modules, "packer", packer)
    with tarfile.open(tmp_path / "all.tar.gz", "w:gz") as archive:
        for name, content in (("a", CONTENT[:100]), ("b", CONTENT[100:])):
            member = tarfile.TarInfo(f"repository-1/data/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    server.content = (tmp_path / "all.tar.gz").read_bytes()
    entry = types.SimpleNamespace(url=server.url, path="data", pack="packer.join", sha256=sum_)
    path = tmp_path / "traces" / "one"
    if sum_ == SHA256:
        assert external.packed(entry, path) == path and path.read_bytes() == CONTENT
    else:
        with pytest.raises(
            InputError, match=r"differs from the registered file.*the files have changed at their source"
        ):
            external.packed(entry, path)
    assert [found.name for found in path.parent.iterdir()] == ["one"] * (sum_ == SHA256)


def test_an_address_without_a_file_is_told_by_its_status(server, tmp_path):
    with pytest.raises(InputError, match=r"cannot be downloaded.*404"):
        external.download(f"{server.url}.old", SHA256, tmp_path / "one.gz")
    assert list(tmp_path.iterdir()) == []


def test_an_address_out_of_reach_is_explained(tmp_path):
    with pytest.raises(InputError, match=f"cannot be downloaded.*try again.*{external.MIRROR}"):
        external.download("http://127.0.0.1:9/one.gz", SHA256, tmp_path / "one.gz")


def test_an_impossible_address_is_not_reported_as_a_changed_file(tmp_path):
    with pytest.raises(InputError, match=r"cannot be downloaded: .*invalid"):
        external.download("http://*.invalid/one.gz", SHA256, tmp_path / "one.gz")


@pytest.fixture
def many(tmp_path, monkeypatch):
    """Return a register of four files; `addresses` maps each of them to its address."""
    addresses = {}
    monkeypatch.setattr(external.ExternalFile, "url", property(lambda entry: addresses[entry.path]))
    entries = {f"traces/{name}": ENTRY | {"path": name} for name in ("one", "two", "three", "shipped")}
    entries["traces/shipped"]["shipped"] = "data/raw/here"
    (tmp_path / "external.yaml").write_text(yaml.safe_dump(entries, sort_keys=False))
    register = external.open_register(tmp_path / "external.yaml")
    return types.SimpleNamespace(register=register, addresses=addresses)


def test_all_files_are_fetched_but_those_shipped_or_here(many, server, tmp_path):
    (tmp_path / "external" / "traces").mkdir(parents=True)
    (tmp_path / "external" / "traces" / "two").write_bytes(CONTENT)
    many.addresses |= dict.fromkeys(("one", "three"), server.url)
    told = []
    assert external.fetch_all(many.register, told.append) == {}
    assert [text.partition(",")[0] for text in told] == [
        "fetching registered file 1 of 2: traces/one",
        "fetching registered file 2 of 2: traces/three",
    ]
    assert many.register.missing("classics") == ["traces/shipped"]


def test_a_host_out_of_reach_is_asked_once_and_the_rest_is_fetched(many, server):
    many.addresses |= {"one": "http://localhost:9/one", "two": "http://localhost:9/two", "three": server.url}
    told = []
    failed = external.fetch_all(many.register, told.append)
    assert list(failed) == ["traces/one", "traces/two"] and failed["traces/two"] == "localhost cannot be reached"
    assert len(told) == 2, "the second file of that host is not tried"
    assert many.register.find("traces/three") is not None


def test_a_file_that_is_gone_says_nothing_about_the_others_of_its_host(many, server):
    many.addresses |= {"one": f"{server.url}.old", "two": server.url, "three": server.url}
    failed = external.fetch_all(many.register)
    assert list(failed) == ["traces/one"] and "404" in failed["traces/one"]


def test_an_interrupted_archive_is_resumed_and_a_broken_one_starts_again(server, tmp_path):
    entry = types.SimpleNamespace(url=server.url, path="data", pack="os.link", sha256=SHA256)
    (tmp_path / "one.tar.gz.part").write_bytes(CONTENT[:1000])
    for asked in ("bytes=1000-", None):
        with pytest.raises(InputError, match="cannot be unpacked"):
            external.packed(entry, tmp_path / "one")
        assert server.ranges[-1] == asked and list(tmp_path.iterdir()) == []


def test_the_shipped_register_fits_the_reference_traces(shared_traces):
    register = external.open_register(Path(__file__).parents[2] / "data" / "external.yaml", mirror=shared_traces)
    assert register.missing("classics") == []
    for name in register.of_study("classics"):
        entry = register.files[name]
        assert register.find(name).stat().st_size == entry.bytes


@pytest.mark.parametrize("filtered", [True, False] if sys.version_info < (3, 12) else [True])
def test_an_archive_writes_nothing_outside_its_folder(tmp_path, monkeypatch, filtered):
    if not filtered:  # as in Python before 3.11.4
        monkeypatch.delattr(tarfile, "data_filter", raising=False)
    archive, folder = tmp_path / "packed.tar.gz", tmp_path / "folder"
    folder.mkdir()
    with tarfile.open(archive, "w:gz") as packed:
        for name in ("inside/a", "../outside"):
            member = tarfile.TarInfo(name)
            member.size = 1
            packed.addfile(member, io.BytesIO(b"x"))
    with contextlib.suppress(tarfile.TarError):  # the filter refuses the archive
        external._unpack(archive, folder)
    assert (folder / "inside" / "a").read_bytes() == b"x"
    assert not (tmp_path / "outside").exists()
