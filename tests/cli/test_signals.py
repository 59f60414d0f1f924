"""Signals end the command with one line, and leave neither partial outputs nor temporary files."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from misspenalty import open_trace, signals
from misspenalty.io.files import temporary_folder

LINES = {
    signal.SIGINT: "misspenalty: interrupted; no output was left half-written\n",
    signal.SIGTERM: "misspenalty: stopped by SIGTERM; no output was left half-written\n",
    signal.SIGHUP: "misspenalty: stopped by SIGHUP; no output was left half-written\n",
}
SIGNALS = pytest.mark.parametrize("number", LINES, ids=lambda number: number.name)
SCRIPT, MODULE = [str(Path(sys.executable).with_name("misspenalty"))], [sys.executable, "-m", "misspenalty"]


class Run:
    """A command that reads its trace from a pipe and has its own folder of temporary files."""

    def __init__(self, command, folder):
        self.temporary, self.output = folder / "temporary", folder / "output"
        self.temporary.mkdir()
        self.output.mkdir()
        arguments = ["trace", "convert", "-", str(self.output / "made"), "--format", "spc"]
        environment = os.environ | {"TMPDIR": str(self.temporary)}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [*command, *arguments], stdin=pipe, stdout=pipe, stderr=pipe, env=environment, text=True
        )

    def wait_until(self, reached):
        """Wait until `reached()`; the process must not have ended before."""
        end = time.monotonic() + 120
        while not reached():
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < end
            time.sleep(0.001)

    def is_importing(self):
        """Return whether the process has loaded NumPy."""
        return "numpy" in Path(f"/proc/{self.process.pid}/maps").read_text()

    def stop(self, number):
        """Send a signal; return exit status, standard output, standard error, and the files that are left behind."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=120)
        return self.process.returncode, out, err, [*self.temporary.iterdir(), *self.output.iterdir()]


@pytest.mark.parametrize(("command", "number"), [*((SCRIPT, number) for number in LINES), (MODULE, signal.SIGTERM)])
def test_a_signal_during_imports(command, number, tmp_path):
    run = Run(command, tmp_path)
    run.wait_until(run.is_importing)
    assert run.stop(number) == (128 + number, "", LINES[number], [])


@SIGNALS
def test_a_signal_while_a_pipe_is_copied(number, tmp_path):
    run = Run(MODULE, tmp_path)
    run.process.stdin.write("0,8,4096,R,0.0\n" * 200_000)
    run.wait_until(lambda: any(run.temporary.iterdir()))
    assert run.stop(number) == (128 + number, "", LINES[number], [])


@pytest.mark.parametrize(("number", "after_s"), list(zip(LINES, [0.0, 0.01, 0.1], strict=True)))
def test_a_signal_while_a_trace_is_compiled(number, after_s, tmp_path):
    """A signal while the trace is compiled must leave a whole trace or none; the pipe is closed before the signal."""
    run = Run(MODULE, tmp_path)
    run.process.stdin.write("".join(f"0,{8 * (n * 7919 % 100_003)},4096,R,{n}.0\n" for n in range(300_000)))
    run.process.stdin.close()
    run.process.stdin = None
    run.wait_until(lambda: any(run.temporary.glob("*/*")))
    time.sleep(after_s)
    status, _, err, left = run.stop(number)
    # In the last case, Python is exiting.
    assert (status, err) in [(0, ""), (128 + number, LINES[number]), (-number, "")]
    assert [path.name for path in left] == ["made"] if status == 0 else not {path.name for path in left} - {"made"}
    for made in left:
        assert len(open_trace(made)) == 300_000


CONVERT = """
import os, shutil, signal, sys, tempfile, threading
from pathlib import Path
trace, output, where, first, second = sys.argv[1:]
sys.argv = ["misspenalty", "trace", "convert", trace, output]
from misspenalty import signals
from misspenalty.cli import main as module
from misspenalty.io import files

def send(*numbers):
    for number in numbers:
        os.kill(os.getpid(), getattr(signal, number))

def before(function, *numbers):
    def sends(*arguments, **options):
        if threading.current_thread() is threading.main_thread():
            send(*numbers)
        return function(*arguments, **options)
    return sends

def after(function, *numbers):
    def sends(*arguments, **options):
        made = function(*arguments, **options)
        send(*numbers)
        return made
    return sends

if where == "begin":
    module.signals.stop_at_signals = after(signals.stop_at_signals, first, second)
elif where == "guard":
    module._closed = before(module._closed, first, second)
elif where == "made":
    tempfile.mkdtemp = after(tempfile.mkdtemp, first, second)
elif where == "removed":
    shutil.rmtree = before(shutil.rmtree, first, second)
elif where == "published":
    files._exchange = os.replace = before(os.replace, first, second)
elif where == "both":
    files._sync, shutil.rmtree = before(files._sync, first), before(shutil.rmtree, second)
sys.exit(module.main())
"""


@pytest.mark.parametrize(
    ("where", "number", "second"),
    [
        *((where, signal.SIGINT, signal.SIGTERM) for where in ("begin", "made", "published")),
        *((where, signal.SIGHUP, signal.SIGINT) for where in ("guard", "removed", "both")),
    ],
)
def test_two_signals_at_a_critical_moment_leave_nothing_behind(where, number, second, tmp_path):
    """Two signals at a critical moment, such as just after a temporary folder is made, must leave nothing behind."""
    (tmp_path / "trace.spc").write_text("".join(f"0,{8 * n},4096,R,{n}.0\n" for n in range(9)))
    (tmp_path / "temporary").mkdir()
    (tmp_path / "output").mkdir()
    arguments = [tmp_path / "trace.spc", tmp_path / "output" / "made", where, number.name, second.name]
    environment = os.environ | {"TMPDIR": str(tmp_path / "temporary")}
    done = subprocess.run(
        [sys.executable, "-c", CONVERT, *arguments], capture_output=True, text=True, env=environment, timeout=120
    )
    # Either signal may be handled first.
    assert done.stderr == {128 + each: LINES[each] for each in (number, second)}[done.returncode]
    assert not [*(tmp_path / "temporary").iterdir(), *(tmp_path / "output").glob(".*")]
    for made in (tmp_path / "output").iterdir():
        assert len(open_trace(made)) == 9


def test_a_signal_that_comes_later_is_not_ignored(monkeypatch):
    """A later signal must raise again, because an exception that is raised in a callback is lost."""
    monkeypatch.setattr(signals, "_since", None)
    with pytest.raises(KeyboardInterrupt):
        signals._stop(signal.SIGINT, None)
    signals._stop(signal.SIGTERM, None)
    monkeypatch.setattr(signals, "_since", time.monotonic() - signals.PATIENCE)
    with pytest.raises(signals.Stopped):
        signals._stop(signal.SIGTERM, None)


def test_what_is_ignored_stays_ignored():
    """A signal that is ignored when the command starts, as SIGHUP is under nohup, must stay ignored."""
    code = (
        "import signal, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN); sys.argv = ['misspenalty', '--version'];"
        "from misspenalty.cli.main import main\n"
        "assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN and callable(signal.getsignal(signal.SIGTERM))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_program_that_imports_the_package_keeps_its_handlers():
    code = (
        "import signal, misspenalty; assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL;"
        "assert signal.getsignal(signal.SIGINT) is signal.default_int_handler"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_a_killed_process_left_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    with temporary_folder() as mine:
        (mine / "file").write_text("in use")
        left = mine.with_name(mine.name.replace(str(os.getpid()), str(gone.pid)))
        left.mkdir()
        with temporary_folder():
            assert not left.exists()
        assert (mine / "file").read_text() == "in use"
    assert not list(tmp_path.iterdir())
