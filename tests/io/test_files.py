"""Files appear whole or not at all, even if the writing process is killed; a killed writer's leftovers are removed."""

import bz2
import contextlib
import errno
import gzip
import lzma
import os
import re
import signal
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from misspenalty.errors import InputError
from misspenalty.io import files
from misspenalty.io.files import atomic_path

WRITER = """
import sys, time
from misspenalty.io.files import atomic_path
with atomic_path(sys.argv[1]) as partial:
    partial.mkdir()
    (partial / "a").write_text("new")
    print("begun", flush=True)
    time.sleep(60)
"""


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_replaced_whole_or_kept(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("old")
    with pytest.raises(RuntimeError), atomic_path(path) as partial:
        partial.write_text("half")
        raise RuntimeError
    assert (path.read_text(), names(tmp_path)) == ("old", ["table.csv"])
    with atomic_path(path) as partial:
        partial.write_text("new")
        assert path.read_text() == "old"
        assert partial.suffix == ".csv"
    assert (path.read_text(), names(tmp_path)) == ("new", ["table.csv"])


@pytest.mark.parametrize("exchange", [True, False])
def test_a_folder_is_replaced_with_and_without_a_system_call_for_it(tmp_path, monkeypatch, exchange):
    path = tmp_path / "trace"
    path.mkdir()
    (path / "old").write_text("old")
    if not exchange:
        monkeypatch.setattr(files.ctypes, "CDLL", lambda name: object())
    with atomic_path(path) as partial:
        partial.mkdir()
        (partial / "new").write_text("new")
    assert (names(path), names(tmp_path)) == (["new"], ["trace"])


def test_a_folder_is_published_in_one_step(tmp_path, monkeypatch):
    """One system call must replace the old folder with the new one; `path` must never be moved aside or deleted
    first."""
    path = tmp_path / "trace"
    path.mkdir()
    calls = []
    monkeypatch.setattr(files.os, "replace", lambda *arguments: calls.append(arguments))
    with atomic_path(path) as partial:
        partial.mkdir()
    assert calls == []


def test_a_file_is_published_by_a_rename_after_it_is_synced(tmp_path, monkeypatch):
    order = []
    replace, fsync = os.replace, os.fsync
    monkeypatch.setattr(files.os, "replace", lambda *arguments: (order.append("rename"), replace(*arguments)))
    monkeypatch.setattr(files.os, "fsync", lambda descriptor: (order.append("sync"), fsync(descriptor)))
    with atomic_path(tmp_path / "a.csv") as partial:
        partial.write_text("x")
    assert order == ["sync", "rename", "sync"]


@pytest.mark.parametrize("code", [errno.EINVAL, errno.ENOTSUP, errno.EIO])
def test_a_file_system_that_cannot_sync_folders_is_tolerated_but_a_failing_disk_is_an_error(
    tmp_path, monkeypatch, code
):
    fsync = os.fsync

    def failing(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(code, os.strerror(code))
        fsync(descriptor)

    monkeypatch.setattr(files.os, "fsync", failing)
    failure = pytest.raises(InputError, match=os.strerror(code)) if code == errno.EIO else contextlib.nullcontext()
    with failure, atomic_path(tmp_path / "a.csv") as partial:
        partial.write_text("x")
    assert (tmp_path / "a.csv").read_text() == "x"


def test_a_killed_writer_keeps_the_old_and_the_next_one_cleans_up(tmp_path):
    path = tmp_path / "trace"
    path.mkdir()
    (path / "a").write_text("old")
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout.readline() == "begun\n"
        writer.send_signal(signal.SIGKILL)
    assert (path / "a").read_text() == "old"
    assert len(names(tmp_path)) == 2
    with atomic_path(path) as partial:
        partial.mkdir()
    assert names(tmp_path) == ["trace"]


def test_what_a_running_process_writes_is_left_alone(tmp_path):
    path = tmp_path / "trace"
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout.readline() == "begun\n"
        with atomic_path(path) as partial:
            partial.write_text("mine")
        assert len(names(tmp_path)) == 2
        writer.send_signal(signal.SIGKILL)


def test_threads_that_write_the_same_file_do_not_mix_their_content(tmp_path):
    def write(letter):
        with atomic_path(tmp_path / "a.csv") as partial:
            partial.write_text(letter)
            begun.wait(timeout=60)
            partial.write_text(letter * 9)

    begun = threading.Barrier(2)
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(write, "ab")) == [None, None]
    assert (tmp_path / "a.csv").read_text() in ("a" * 9, "b" * 9)
    assert names(tmp_path) == ["a.csv"]


@pytest.mark.parametrize("code", [errno.EROFS, errno.EFBIG, errno.EDQUOT, errno.EIO, errno.EMFILE])
def test_an_output_that_cannot_be_written_is_named_whatever_the_reason(tmp_path, monkeypatch, code):
    """A read-only file system also refuses to remove the temporary file, which does not exist."""

    def fail(path):
        raise OSError(code, os.strerror(code), str(path))

    monkeypatch.setattr(files.Path, "unlink", fail)
    path = tmp_path / "a.csv"
    named = f"^{re.escape(str(path))}: .*{os.strerror(code)}"
    with pytest.raises(InputError, match=named), atomic_path(path) as partial:
        fail(partial)
    assert names(tmp_path) == []


@pytest.mark.parametrize("target", [None, "pipe", "/proc/self/fd/1"])
def test_a_device_or_a_pipe_is_not_replaced_by_a_file(tmp_path, target):
    """Root may write to /dev, so ``--records /dev/null`` or ``/dev/stdout`` must be refused; otherwise a file would
    replace the device."""
    os.mkfifo(tmp_path / "pipe")
    path = tmp_path / ("pipe" if target is None else "link")
    if target is not None:
        path.symlink_to(target)
    before = names(tmp_path)
    with pytest.raises(InputError, match=r"is a device or a pipe; name a file"), atomic_path(path) as partial:
        partial.write_text("x")
    assert path.is_symlink() == (target is not None)
    assert (tmp_path / "pipe").is_fifo() and names(tmp_path) == before


@pytest.mark.parametrize("path", ["", ".", "..", "/", "x/.."])
def test_a_path_without_a_name_is_not_written(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="without a name of its own; name what to write"), atomic_path(path):
        pass
    assert names(tmp_path) == []


def test_a_name_as_long_as_the_file_system_takes(tmp_path):
    path = tmp_path / ("n" * 251 + ".csv")
    with atomic_path(path) as partial:
        partial.write_text("x")
    assert path.read_text() == "x"
    with pytest.raises(InputError, match="too long"), atomic_path(tmp_path / ("n" * 300 + ".csv")) as partial:
        partial.write_text("x")


@pytest.mark.parametrize(
    ("suffix", "opener"), [(".gz", gzip.open), (".xz", lzma.open), (".bz2", bz2.open), (".txt", open)]
)
def test_an_output_is_compressed_as_its_suffix_says(tmp_path, suffix, opener):
    """The same content must give the same bytes whenever it is written."""
    for name in ("a", "b"):
        with files.open_output(tmp_path / f"{name}{suffix}") as stream:
            stream.write(b"block " * 1000)
    with opener(tmp_path / f"a{suffix}", "rb") as stream:
        assert stream.read() == b"block " * 1000
    first, second = ((tmp_path / f"{name}{suffix}").read_bytes() for name in ("a", "b"))
    assert first == second and (len(first) < 1000 or suffix == ".txt")
    assert suffix != ".gz" or first[4:8] == bytes(4)  # no time stamp


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_an_output_may_have_a_name_that_is_no_text(tmp_path, suffix):
    path = tmp_path / os.fsdecode(b"\xff" + suffix.encode())
    with files.open_output(path) as stream:
        stream.write(b"block")
    assert path.stat().st_size
