"""``misspenalty record`` must refuse what it cannot record and, where bpftrace may run, record a running program."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import misspenalty
from misspenalty.cli.main import main
from misspenalty.record import tracer
from misspenalty.record.files import PROBED, SETTINGS


def missing():
    """Return why nothing can be recorded here, or None."""
    try:
        tracer.check(*PROBED)
    except tracer.CaptureError as error:
        return str(error)
    tried = subprocess.run(["bpftrace", "-e", "BEGIN { exit(); }"], capture_output=True, text=True, timeout=60)
    return None if tried.returncode == 0 else f"bpftrace does not run here: {tried.stderr.strip()[-200:]}"


@pytest.fixture(scope="module")
def live():
    why = missing()
    if why:
        pytest.skip(f"nothing can be recorded here: {why}")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["files", "there.spc", "--", "true"], "exists"),
        (["files", "no/such/x.spc", "--", "true"], "no such folder"),
        (["files", "x.spc", "--names", "./x.spc", "--", "true"], "--names x.spc would replace the trace"),
        (["block", "x.txt", "--seconds", "0"], "expected a number above 0"),
        (["block", "x.txt", "--ring-pages", "3"], "expected a power of two"),
        (["postgres", "x.parquet", "--database", "a", "--seconds", "-1"], "expected a number above 0"),
    ],
)
def test_wrong_arguments_are_refused(tmp_path, monkeypatch, capsys, arguments, said):
    monkeypatch.chdir(tmp_path)
    Path("there.spc").touch()
    assert main(["record", *arguments]) == 2
    assert said in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["there.spc"]


def test_missing_root_or_bpftrace_is_reported(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(tracer.CaptureError, match="sudo"):
        tracer.check()
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(tracer.CaptureError, match="bpftrace is missing"):
        tracer.check()
    monkeypatch.setattr(shutil, "which", lambda name: name)
    monkeypatch.setattr(tracer, "TRACEFS", ("/nowhere",))
    with pytest.raises(tracer.CaptureError, match="mount -t tracefs"):
        tracer.check()


def test_a_kernel_without_a_trace_point_is_refused_with_a_remedy(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(shutil, "which", lambda name: name)
    monkeypatch.setattr(tracer, "TRACEFS", (str(tmp_path),))
    (tmp_path / "events").mkdir()
    with pytest.raises(tracer.CaptureError, match=r"mm_filemap_fault: record on a newer kernel \(Linux 6\.12 or"):
        tracer.check(*PROBED)
    with pytest.raises(tracer.CaptureError, match=r"block_bio_queue: record on a newer kernel$"):
        tracer.check("block/block_bio_queue")


def test_older_and_newer_bpftrace_are_given_the_same_settings(monkeypatch, tmp_path):
    given = {}
    monkeypatch.setattr(subprocess, "Popen", lambda command, **options: given.update(options["env"]))
    tracer.start("files.bt", 1, tmp_path / "lines", tmp_path / "log", settings=SETTINGS)
    assert given["BPFTRACE_STRLEN"] == given["BPFTRACE_MAX_STRLEN"] == "128"
    assert given["BPFTRACE_MAP_KEYS_MAX"] == given["BPFTRACE_MAX_MAP_KEYS"] == "65536"


def test_a_command_is_recorded(live, tmp_path, capfd):
    (tmp_path / "notes.txt").write_bytes(b"x" * 10_000)
    output = tmp_path / "made.spc.zst"
    command = ["sh", "-c", f"dd if={tmp_path}/notes.txt of={tmp_path}/copy.txt bs=4k"]
    assert main(["record", "files", "--json", "--names", str(tmp_path / "names.csv"), str(output), "--", *command]) == 0
    said = json.loads(capfd.readouterr().out)
    assert said["status"] == 0 and said["ended"] == "command" and said["writes"] >= 1
    names = (tmp_path / "names.csv").read_text()
    assert "notes.txt" in names and "copy.txt" in names
    trace = misspenalty.open_trace(output)
    assert trace.reads >= 3 and len(trace) > trace.reads


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_recording_is_whole_or_not_there(live, tmp_path, number):
    """Ctrl-C must end a recording and keep what was recorded until then; a kill must leave nothing."""
    output = tmp_path / "made.spc"
    loop = "while true; do cat /etc/hostname /etc/passwd > /dev/null; sleep 0.1; done"
    command = [sys.executable, "-m", "misspenalty", "record", "files", str(output), "--", "sh", "-c", loop]
    options = {"stderr": subprocess.PIPE, "stdout": subprocess.DEVNULL, "text": True, "cwd": tmp_path}
    with subprocess.Popen(command, **options) as process:
        assert "Ctrl-C ends it" in process.stderr.readline()
        time.sleep(2)
        process.send_signal(number)
        status = process.wait(timeout=60)
    if number == signal.SIGINT:
        assert status == 0 and len(misspenalty.open_trace(output)) > 2
    else:
        assert list(tmp_path.iterdir()) == []
