"""Test the parts of the drill on a workflow of two jobs: it accepts undamaged results and finds damaged ones."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import drill
import pytest

ROOT = Path(__file__).parents[2]
SNAKEFILE = """
rule all:
    input: "results/a.csv", "results/b.csv"
rule first:
    output: "results/a.csv"
    shell: "echo half > {output}; sleep 1; echo whole > {output}"
rule second:
    input: "results/a.csv"
    output: "results/b.csv"
    shell: "sleep 1; cp {input} {output}"
"""


@pytest.fixture
def folders(tmp_path, monkeypatch):
    script = ROOT / "workflow" / "scripts" / "reproduce.py"
    monkeypatch.setattr(drill, "COMMAND", (sys.executable, str(script), "--cores"))
    made = [tmp_path / name for name in ("whole", "killed")]
    for folder in made:
        (folder / "paper" / "supplement").mkdir(parents=True)
        (folder / "results").mkdir()
        (folder / "Snakefile").write_text(SNAKEFILE)
    return made


def test_a_killed_run_ends_with_the_same_bytes(folders):
    whole, killed = folders
    drill.finish(whole, 1)
    assert drill.finished(whole) == ["first", "second", "all"]
    known = {name: {digest} for name, digest in drill.digests(whole).items()}
    rows = drill.kill_often(killed, 1, 3, 2, 1.0, 3, known)
    assert not any(row["wrong"] or row["bytes_lost"] for row in rows)
    assert [row["kill"] for row in rows] == [1, 2, 3]
    assert [row["finished"] for row in rows] == sorted(row["finished"] for row in rows)
    drill.finish(killed, 1)
    assert drill.compare(whole, killed) == []
    assert (killed / "results" / "b.csv").read_text() == "whole\n"
    assert drill.idle(killed, 1)
    assert drill.kill_often(killed, 1, 3, 2, 1e6, 1, known) == []  # the run ended by itself


def test_a_kill_waits_for_its_number_of_jobs(folders):
    killed = folders[1]
    with drill.started(killed, 1) as process:
        drill.wait_for(process, killed, 1, 0.0)
        assert drill.kill(process)
    assert drill.finished(killed) == ["first"]
    assert drill.under_way(killed) in ([], ["results/b.csv"])


SMALL = """
def digests(folder):
    return {}
def small_tree(folder):
    (folder / "workflow" / "scripts").mkdir(parents=True)
    (folder / "workflow" / "scripts" / "reproduce.py").write_text(%r)
    return folder
"""
ENDLESS = "import os, sys, time; open(%r, 'w').write(f'{os.getpid()} '); time.sleep(100)"


def test_a_stopped_drill_leaves_no_run_behind(tmp_path):
    noted = tmp_path / "run"
    (tmp_path / "small.py").write_text(SMALL % (ENDLESS % str(noted)))
    command = [sys.executable, str(ROOT / "tools" / "qa" / "drill.py"), "--writers", "0"]
    with subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(tmp_path), "TMPDIR": str(tmp_path)}) as process:
        deadline = time.monotonic() + 60
        while not (noted.exists() and noted.read_text().endswith(" ")):
            assert time.monotonic() < deadline and process.poll() is None
            time.sleep(0.02)
        process.terminate()
        assert process.wait(20) == 128 + signal.SIGTERM
    with pytest.raises(ProcessLookupError):
        os.kill(int(noted.read_text()), 0)
    assert list(tmp_path.glob("drill-*")) == []


def test_killed_writers_leave_one_of_two_contents(tmp_path):
    rows = drill.kill_writers(tmp_path, 2, 0.3, seed=1)
    assert len(rows) == 2 * len(drill.WRITERS)
    assert not any(row["wrong"] for row in rows)


def test_the_drill_notices_a_writer_that_overwrites_in_place(tmp_path, monkeypatch):
    def write(path, version):
        path.write_bytes(b"%d" % version)
        while drill.os.getpid() != parent:
            path.write_bytes(b"half")

    parent = drill.os.getpid()
    monkeypatch.setattr(drill, "WRITERS", {"x": write})
    rows = drill.kill_writers(tmp_path, 3, 0.5, seed=1)
    assert any(row["wrong"] for row in rows)


def test_every_fault_is_named(folders):
    whole, killed = folders
    for folder, text in ((whole, "one"), (killed, "other")):
        (folder / "results" / "a.csv").write_text("same")
        (folder / "results" / "b.csv").write_text(text)
    (whole / "results" / "c.csv").write_text("more")
    (killed / "results" / "d.csv").write_text("more")
    (killed / "results" / ".a.csv.partial-1").write_text("half")
    assert drill.compare(whole, killed) == [
        "results/c.csv is lost",
        "results/d.csv does not exist in the undisturbed run",
        "results/b.csv differs",
        "results/.a.csv.partial-1 is left over",
    ]


def test_files_that_a_kill_damaged_or_lost_are_counted(folders):
    known = {f"results/{name}.csv": {"whole"} for name in "abc"}
    now = {"results/a.csv": "whole", "results/b.csv": "whole"}
    assert drill.damage(now, known, {"results/a.csv": 7}, []) == ([], 0)
    hidden = folders[0] / "results" / ".c-7.partial.csv"
    hidden.write_text("half")
    found = drill.digests(folders[0])
    assert drill.damage(now | found, known, {}, []) == (["results/.c-7.partial.csv"], 0)
    assert drill.damage(now | found, known, {}, drill.unfinished(folders[0])) == ([], 0)
    now, had = {"results/a.csv": "half"}, {"results/a.csv": 7, "results/b.csv": 5}
    assert drill.damage(now, known, had, []) == (["results/a.csv"], 12)
    assert drill.damage(now, known, had, ["results/a.csv"]) == ([], 5)


def test_a_failing_run_is_reported(folders):
    (folders[0] / "Snakefile").write_text(SNAKEFILE.replace("sleep 1; cp", "false; cp"))
    with pytest.raises(RuntimeError, match="The run stopped"):
        drill.finish(folders[0], 1)


def test_a_drill_may_kill_nothing(monkeypatch):
    monkeypatch.setattr("sys.argv", ["drill.py", "--kills", "0", "--writers", "0"])
    assert drill.main() == 0
