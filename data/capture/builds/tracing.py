"""Run commands in the jail as children of a gate process while bpftrace records them.

A recording is a folder with ``events.txt`` (the lines of files.bt), ``plain.txt`` (those of clock.bt), ``files.json``
(the jail's files before each command) and ``recording.json`` (the commands with their processor times, and the versions
of the programs).
"""

import contextlib
import json
import os
import resource
import signal
import subprocess
import threading
import time
from pathlib import Path

from misspenalty.record import tracer
from misspenalty.record.tracer import CaptureError

PROBED = "events/filemap/mm_filemap_fault"
NAME_BYTES = "128"  # limit of a name, because longer ones do not fit on a probe's stack
RING_PAGES = "16384"
PROCESSOR = max(os.sched_getaffinity(0))  # runs all recorded processes, so that one buffer has their events in order


def check_tracing() -> None:
    """Raise `CaptureError` unless this machine can record."""
    if os.geteuid() != 0:
        raise CaptureError("recording needs root: run the command as root")
    for program, package in (("bpftrace", "bpftrace"), ("debootstrap", "debootstrap"), ("cc", "gcc")):
        if not any(os.access(Path(folder, program), os.X_OK) for folder in os.get_exec_path()):
            raise CaptureError(f"{program} is missing: apt-get install {package}")
    if not any(Path(root, PROBED).is_dir() for root in ("/sys/kernel/tracing", "/sys/kernel/debug/tracing")):
        raise CaptureError(
            f"no trace point {PROBED}: use Linux 6.12 or newer, and run mount -t tracefs none /sys/kernel/tracing"
        )


class Gate:
    """A process whose children are recorded: it runs one command in the jail at a time and reports how it ended."""

    def __init__(self, jail, environment: dict[str, str]):
        self.to_gate, self.from_gate = os.pipe(), os.pipe()
        self.output = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            self._serve(jail, environment)
        os.close(self.to_gate[0])
        os.close(self.from_gate[1])
        os.close(self.output[1])
        self.orders = os.fdopen(self.to_gate[1], "w")
        self.answers = os.fdopen(self.from_gate[0])
        self.said: list[bytes] = []
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        while data := os.read(self.output[0], 1 << 16):
            self.said.append(data)

    def _serve(self, jail, environment):
        """Serve orders as the gate process; this function never returns."""
        try:
            os.close(self.to_gate[1])
            os.sched_setaffinity(0, {PROCESSOR})
            with os.fdopen(self.to_gate[0]) as orders, os.fdopen(self.from_gate[1], "w") as answers:
                for line in orders:
                    order = json.loads(line)
                    child = os.fork()
                    if child == 0:
                        enter(jail, order["folder"], self.output[1])
                        os.execve(order["command"][0], order["command"], environment)
                    _, status, used = os.wait4(child, 0)
                    answers.write(json.dumps([os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime]) + "\n")
                    answers.flush()
        finally:
            os._exit(1)

    def run(self, folder: str, command: list[str]) -> float:
        """Run `command` in `folder` of the jail, and return its processor seconds, including its children's.

        Raises
        ------
        CaptureError
            The command fails (the message has the end of its output), or the gate process has ended.
        """
        self.said.clear()
        self.orders.write(json.dumps({"folder": folder, "command": command}) + "\n")
        self.orders.flush()
        answer = self.answers.readline()
        if not answer:
            raise CaptureError("the gate process ended unexpectedly; run the capture again")
        status, seconds = json.loads(answer)
        if status != 0:
            time.sleep(0.2)  # wait for the end of the output
            said = b"".join(self.said).decode(errors="replace")
            raise CaptureError(f"{' '.join(command)}: exit status {status}\n{said[-1500:]}")
        return seconds

    def close(self) -> None:
        os.kill(self.process, signal.SIGKILL)  # closing its pipes may not end it, as another gate may have copies
        self.orders.close()
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.process, 0)


def enter(jail, folder: str, output: int) -> None:
    """Move this process into the jail: set its root folder, its working folder and its descriptors."""
    os.chroot(jail)
    os.chdir(folder)
    null = os.open("/dev/null", os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.closerange(3, 64)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.umask(0o022)


@contextlib.contextmanager
def tracing(program: str, gate: Gate, output: Path):
    """Run bpftrace on the gate's children; yield the byte offset in `output` at which the recorded runs begin."""
    log = output.with_suffix(".log")
    settings = {"BPFTRACE_STRLEN": NAME_BYTES, "BPFTRACE_PERF_RB_PAGES": RING_PAGES, "BPFTRACE_MAP_KEYS_MAX": "65536"}
    options = {"attach": 0, "buffering": "line", "settings": settings}
    with tracer.tracing(program, gate.process, output, log, **options) as probe:
        yield wait_for(probe, gate, output)
    if "Lost" in log.read_text() or "Lost" in output.read_text(errors="replace"):
        raise CaptureError("events were lost; run the capture again with a larger RING_PAGES")


def wait_for(probe: subprocess.Popen, gate: Gate, output: Path) -> int:
    """Run /bin/true until the probe records its fork, exec and exit, or ends; then return the size of `output`."""
    for _ in range(120):
        size = output.stat().st_size
        gate.run("/", ["/bin/true"])
        time.sleep(1)
        seen = output.read_bytes()[size:].splitlines()
        if probe.poll() is not None or {line[:1] for line in seen} >= {b"F", b"E", b"Z"}:
            gate.run("/", ["/bin/true"])  # by now, all probes are attached
            time.sleep(2)
            return output.stat().st_size
    raise CaptureError("bpftrace recorded no process for two minutes; run the capture again")


def snapshot(jail: Path, folders) -> list[tuple]:
    """List the files, folders and links under `folders` of the jail: inode, kind (f, d, l), path, size or target."""
    found = []
    for top in folders:
        for folder, _, names in os.walk(jail / top.lstrip("/")):
            for path in (Path(folder), *(Path(folder, name) for name in names)):
                found.append(described(jail, path))
            for name in os.scandir(folder):
                if name.is_symlink() and name.is_dir():
                    found.append(described(jail, Path(name.path)))
    return found


def described(jail: Path, path: Path) -> tuple:
    """Return one row of a snapshot."""
    inside = "/" + str(path.relative_to(jail)) if path != jail else "/"
    facts = path.lstat()
    if path.is_symlink():
        return facts.st_ino, "l", inside, os.readlink(path)
    return facts.st_ino, "d" if path.is_dir() else "f", inside, facts.st_size
