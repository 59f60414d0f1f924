"""Test digests, benchmark files and the manifest."""

import hashlib
import json
import platform
import subprocess
import time

import pytest

from misspenalty.errors import InputError
from misspenalty_studies.common.reporting import jobs, provenance

HEADER = "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"


@pytest.fixture
def package(tmp_path):
    """Make a package with a module and two folders of sources."""
    root = tmp_path / "package"
    for name, text in {
        "__init__.py": "",
        "simulation.py": "x = 1",
        "policies/lru.py": "a",
        "policies/_lru.pyx": "b",
        "policies/_list.pxd": "c",
        "traces/_text.h": "d",
        "traces/notes.txt": "not a source",
    }.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.mark.parametrize("name", ["policies/_lru.pyx", "policies/_list.pxd", "traces/_text.h", "simulation.py"])
def test_any_edit_changes_the_digest(package, name):
    before = provenance.Sources({"misspenalty": package}).digest()
    assert before == provenance.Sources({"misspenalty": package}).digest()
    (package / name).write_text("edited")
    assert provenance.Sources({"misspenalty": package}).digest() != before


def test_a_module_sees_only_its_own_edits(package):
    names = ("misspenalty.policies.lru", "misspenalty.policies._lru", "misspenalty.simulation.f")
    before = {name: provenance.Sources({"misspenalty": package}).digest(name) for name in names}
    assert len(set(before.values())) == 3
    (package / "policies" / "_lru.pyx").write_text("edited")
    after = {name: provenance.Sources({"misspenalty": package}).digest(name) for name in names}
    assert {name for name in names if before[name] != after[name]} == {"misspenalty.policies._lru"}
    both = provenance.Sources({"misspenalty": package}).digest(*names[:2])
    assert both == provenance.Sources({"misspenalty": package}).digest(names[1], names[0], names[0])
    assert both not in after.values()


def test_renaming_and_moving_text_between_files_changes_the_digest(package):
    before = provenance.Sources({"misspenalty": package}).digest()
    (package / "policies" / "lru.py").rename(package / "policies" / "mru.py")
    renamed = provenance.Sources({"misspenalty": package}).digest()
    (package / "policies" / "_list.pxd").write_text("")
    (package / "policies" / "_lru.pyx").write_text("cb")
    assert len({before, renamed, provenance.Sources({"misspenalty": package}).digest()}) == 3


def test_files_that_are_not_sources_do_not_count(package):
    before = provenance.Sources({"misspenalty": package}).digest()
    (package / "traces" / "notes.txt").write_text("edited")
    (package / "traces" / "__pycache__").mkdir()
    (package / "traces" / "__pycache__" / "x.pyc").write_bytes(b"\0")
    assert provenance.Sources({"misspenalty": package}).digest() == before


def test_the_running_package_has_a_digest():
    sources = provenance.Sources()
    assert sources.digest("misspenalty.traces") != sources.digest("misspenalty.disks.drive")
    assert len(sources.digest()) == 64


def test_files_and_folders_are_described(tmp_path):
    (tmp_path / "a").mkdir()
    content = bytes(range(256)) * 5000
    (tmp_path / "a" / "big.bin").write_bytes(content)
    (tmp_path / "a" / "empty").write_bytes(b"")
    described = provenance.describe_files(["a"], tmp_path)
    assert described == {
        "a/big.bin": {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()},
        "a/empty": {"bytes": 0, "sha256": hashlib.sha256(b"").hexdigest()},
    }
    assert provenance.describe_files([tmp_path / "a" / "empty"], tmp_path).keys() == {"a/empty"}
    with pytest.raises(InputError, match="nothing: no such file"):
        provenance.describe_files(["nothing"], tmp_path)


@pytest.mark.parametrize(
    ("text", "wall", "cpu", "peak"),
    [
        (HEADER + "12.5\t0:00:12\t100.5\t200\t90\t95\t1\t2\t99.0\t12.4\n", 12.5, 12.4, 100.5),
        (HEADER + "0.2\t0:00:00\t-\t-\t-\t-\t-\t-\t0.00\t0\n", 0.2, 0, None),
        (HEADER + "0.2\t0:00:00\tNA\tNA\tNA\tNA\tNA\tNA\tNA\tNA\n", 0.2, None, None),
        (HEADER + "1\t\t10\t\t\t\t\t\t\t\n2\t\t30\t\t\t\t\t\t\t\n3\t\t20\t\t\t\t\t\t\t\n", 6, None, 30),
        (HEADER + "nan\t\tinf\t\t\t\t\t\t\t\n", None, None, None),
        (HEADER + "-1\t\t-5\t\t\t\t\t\t\t\n", None, None, None),
        (HEADER + "4", 4, None, None),
        (HEADER, None, None, None),
        ("", None, None, None),
        ("\x00\x01garbled", None, None, None),
        ("a\tb\n1\t2\n", None, None, None),
    ],
)
def test_a_benchmark_file_gives_the_times_and_the_peak_that_it_has(tmp_path, text, wall, cpu, peak):
    path = tmp_path / "job.tsv"
    path.write_text(text)
    assert provenance.read_benchmark(path) == {"wall_s": wall, "cpu_s": cpu, "peak_rss_mb": peak}


def test_what_a_job_states_in_its_log_takes_precedence_over_samples(tmp_path):
    path, log = tmp_path / "benchmarks" / "mq" / "a.tsv", tmp_path / "logs" / "mq" / "a.log"
    for file in (path, log):
        file.parent.mkdir(parents=True)
    sampled = {"wall_s": 40.0, "cpu_s": 15.5, "peak_rss_mb": 300.0}
    path.write_text(HEADER + "40\t0:00:40\t300\t-\t-\t-\t-\t-\t99.0\t15.5\n")
    assert provenance.read_benchmark(path) == sampled
    log.write_text("x" * 5000 + "\n39.25 s of CPU time, 812 MB of memory\n")
    assert provenance.read_benchmark(path) == {"wall_s": 40.0, "cpu_s": 39.25, "peak_rss_mb": 812.0}
    log.write_text("39.25 s of CPU time, 812 MB of memory\nbut a later run was killed here\n")
    assert provenance.read_benchmark(path) == sampled


def test_what_a_job_writes_at_the_end_of_its_log_is_read_back(tmp_path):
    with jobs.logged(tmp_path / "job.log"):
        begun = time.process_time()
        while time.process_time() < begun + 0.3:
            pass
    found = provenance._spent(tmp_path / "job.log")
    assert set(found) == {"cpu_s", "peak_rss_mb"} and found["cpu_s"] >= 0.3 and found["peak_rss_mb"] > 10


def test_a_benchmark_file_that_is_missing_or_not_text_yields_no_values(tmp_path):
    nothing = {"wall_s": None, "cpu_s": None, "peak_rss_mb": None}
    assert provenance.read_benchmark(tmp_path / "none.tsv") == nothing
    (tmp_path / "binary.tsv").write_bytes(bytes(range(256)) * 10)
    assert provenance.read_benchmark(tmp_path / "binary.tsv") == nothing


def test_benchmarks_are_named_by_rule_and_wildcards(tmp_path):
    (tmp_path / "replay" / "128mb").mkdir(parents=True)
    (tmp_path / "replay" / "128mb" / "lru.tsv").write_text(HEADER + "1\t\t5\n")
    (tmp_path / "claims.tsv").write_text(HEADER + "2\t\t9\n")
    assert provenance.read_benchmarks(tmp_path) == {
        "claims": {"wall_s": 2.0, "cpu_s": None, "peak_rss_mb": 9.0},
        "replay/128mb/lru": {"wall_s": 1.0, "cpu_s": None, "peak_rss_mb": 5.0},
    }
    assert provenance.read_benchmarks(tmp_path / "none") == {}


def test_manifest(tmp_path):
    (tmp_path / "in.csv").write_text("a\n")
    (tmp_path / "out.csv").write_text("b\n")
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "a.tsv").write_text(HEADER + "2\t\t7\n")
    (tmp_path / "bench" / "b.tsv").write_text(HEADER + "3\t\t-\n")
    (tmp_path / "bench" / "c.tsv").write_text("")
    manifest = provenance.build_manifest(
        ["in.csv"], ["out.csv"], seeds={"mq": 7}, benchmarks=tmp_path / "bench", root=tmp_path
    )
    assert manifest["inputs"].keys() == {"in.csv"}
    assert manifest["outputs"]["out.csv"]["bytes"] == 2
    assert manifest["total"] == {"wall_s": 5.0, "peak_rss_mb": 7.0}
    assert manifest["jobs"].keys() == {"a", "b", "c"}
    assert manifest["seeds"] == {"mq": 7}
    assert manifest["git"] is None
    assert manifest["sources"] == provenance.Sources().digest()
    assert manifest["versions"]["python"] == platform.python_version()
    assert platform.node() not in json.dumps(manifest["platform"]).split('"')
    path = tmp_path / "manifest.json"
    provenance.write_manifest(manifest, path)
    first = path.read_bytes()
    assert json.loads(first) == manifest
    assert list(json.loads(first)) == sorted(manifest)
    provenance.write_manifest(dict(reversed(manifest.items())), path)
    assert path.read_bytes() == first
    assert not list(tmp_path.glob(".*"))


def test_git_commit_is_that_of_the_checkout_and_of_no_other(tmp_path):
    def git(*arguments):
        identity = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
        subprocess.run(["git", "-C", str(tmp_path), *identity, *arguments], check=True, capture_output=True)

    assert provenance.git_commit(tmp_path) is None
    git("init", "-q")
    assert provenance.git_commit(tmp_path) is None  # no commit yet
    (tmp_path / "a").write_text("1")
    git("add", "a")
    git("commit", "-q", "-m", "one")
    found = provenance.git_commit(tmp_path)
    assert len(found["commit"]) == 40
    assert found["modified"] is False
    (tmp_path / "a").write_text("2")
    assert provenance.git_commit(tmp_path) == found | {"modified": True}
    unpacked = tmp_path / "unpacked"  # a tarball unpacked inside somebody else's checkout
    unpacked.mkdir()
    assert provenance.git_commit(unpacked) is None
    (tmp_path / ".git" / "index").write_text("damaged")
    assert provenance.git_commit(tmp_path) is None  # whether files differ is unknown
