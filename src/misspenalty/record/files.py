"""Record the file activity of a command and its descendants as an SPC trace: reads, writes and first touches of pages.

Each file, identified by its inode, is a unit; a request covers the bytes that were read or written. The command runs as
a child of a process that bpftrace follows (the gate). The builds of the EPCM study were recorded with the same probe.
Files with equal inode numbers on two file systems are taken for one file.
"""

import json
import os
import platform
import select
import signal
import stat
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from misspenalty.io.files import atomic_path, open_output, temporary_folder, write_csv
from misspenalty.record import tracer
from misspenalty.record.tracer import CaptureError

PROBED = ("filemap/mm_filemap_fault", "raw_syscalls/sys_exit", "sched/sched_process_fork")
PAGE, SECTOR = 4096, 512
READS, WRITES = {0, 17, 19}, {1, 18, 20}  # read pread64 readv, write pwrite64 writev
POSITIONED = {17, 18}
SETTINGS = {"BPFTRACE_STRLEN": "128", "BPFTRACE_MAP_KEYS_MAX": "65536"}
ATTACH_TRIES = 60
# The gate runs one command at a time as its child, and writes the command's exit status to a separate descriptor.
GATE = """
import json, os, subprocess, sys
answers = os.fdopen(int(sys.argv[1]), "w")
for line in sys.stdin:
    order = json.loads(line)
    try:
        done = subprocess.run(order["command"], stdin=subprocess.DEVNULL, **order["as"])
        status = done.returncode
    except OSError as error:
        print(f"misspenalty: {order['command'][0]}: {error.strerror}", file=sys.stderr)
        status = 127
    print(status, file=answers, flush=True)
"""


@dataclass(frozen=True)
class Access:
    """One read, write or touch of a file; `time` is in ns, `offset` and `size` are in bytes."""

    time: int
    inode: int
    offset: int
    size: int
    write: bool


def parse(lines, source):
    """Parse the probe's lines into accesses and the names of files.

    Parameters
    ----------
    lines : iterable of str
        See ``probes/files.bt``.
    source : str
        Name of the recording, for messages.

    Returns
    -------
    accesses : list of Access
        The reads and writes of regular files that moved at least one byte, and the first touches of mapped pages, in
        time order.
    names : dict of int to str
        The name by which each inode was last opened.

    Raises
    ------
    CaptureError
        A line is malformed, or events were lost.
    """
    accesses, names = [], {}
    for at, line in tracer.printed(lines, source):
        kind, _, rest = line.partition(" ")
        if kind not in ("T", "P", "O"):
            continue
        try:
            if kind == "T":
                accesses += _call([int(field) for field in rest.split()])
            elif kind == "P":
                _, time_, _, inode, page = map(int, rest.split())
                accesses.append(Access(time_, inode, page * PAGE, PAGE, False))
            else:
                fields = rest.rstrip("\n").split(" ", 14)
                names[int(fields[12])] = fields[14] if len(fields) > 14 else ""
        except (ValueError, IndexError):
            raise CaptureError(f"{at}: {line.strip()[:80]!r} is not a line of the probe") from None
    accesses.sort(key=lambda access: access.time)
    return accesses, names


def _call(fields):
    """Return a list of the access that a system call made, or an empty list if it moved no byte of a regular file."""
    _, call, _, end, _, _, result, _, _, _, offset, mode, inode, _, position = fields
    if call not in READS | WRITES or result <= 0 or not stat.S_ISREG(mode):
        return []
    start = offset if call in POSITIONED else position - result
    return [Access(end, inode, max(start, 0), result, call in WRITES)]


def spc_lines(accesses):
    """Write accesses as lines of an SPC trace: ``ASU,LBA,size,opcode,timestamp``.

    A unit is a file, numbered in order of first use. Requests begin at a sector's start; writes end at a sector's end.

    Yields
    ------
    str

    Examples
    --------
    >>> list(spc_lines([Access(5, 99, 600, 1000, False), Access(2_000_005, 7, 0, 10, True)]))
    ['0,1,1088,R,0.000000000', '1,0,512,W,0.002000000']
    """
    units = {}
    for access in accesses:
        first = access.offset // SECTOR
        unit = units.setdefault(access.inode, len(units))
        last = -(-(access.offset + access.size) // SECTOR)
        whole = (last - first) * SECTOR if access.write else access.offset + access.size - first * SECTOR
        size = max(whole, SECTOR if access.write else 1)
        since = access.time - accesses[0].time
        yield f"{unit},{first},{size},{'W' if access.write else 'R'},{since // 10**9}.{since % 10**9:09}"


def names_table(accesses, names):
    """Make a table of the units, which are files: ``unit, inode, name, requests, bytes``."""
    frame = pd.DataFrame([(access.inode, access.size) for access in accesses], columns=["inode", "bytes"])
    table = frame.groupby("inode", sort=False)["bytes"].agg(["size", "sum"]).reset_index()
    table.columns = ["inode", "requests", "bytes"]
    table.insert(0, "unit", range(len(table)))
    table.insert(2, "name", [names.get(inode, "") for inode in table["inode"]])
    return table


class Gate:
    """A process whose children are recorded: it runs one command at a time, with its output on standard error."""

    def __init__(self):
        reading, writing = os.pipe()
        self.process = subprocess.Popen(
            [sys.executable, "-c", GATE, str(writing)],
            stdin=subprocess.PIPE,
            stdout=sys.__stderr__,  # our own standard output shows the result of the recording
            pass_fds=[writing],
            text=True,
            start_new_session=True,
        )
        os.close(writing)
        self.answers = os.fdopen(reading)

    def begin(self, command, **options):
        """Start a command in the gate, with these options of `subprocess.run`."""
        print(json.dumps({"command": command, "as": options}), file=self.process.stdin, flush=True)

    def status(self):
        """Wait for the end of the command, and return its exit status."""
        answer = self.answers.readline()
        if not answer:
            raise CaptureError("the process that runs the command was killed")
        return int(answer)

    def close(self):
        """End the gate and whatever it is running."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self.process.poll() is None:
                os.killpg(self.process.pid, number)
                try:
                    self.process.wait(timeout=5)
                except subprocess.TimeoutExpired:
                    continue
        self.process.stdin.close()
        self.answers.close()


class _Running:
    """The command that the gate is running, which is polled like a process."""

    def __init__(self, gate):
        self.gate, self.answer = gate, None

    def poll(self):
        if self.answer is None and select.select([self.gate.answers], [], [], 0)[0]:
            self.answer = self.gate.status()
        return self.answer


def _attached(gate, lines, probe, log):
    """Run ``true`` until the tracer sees its events; return the position in `lines` where the recording begins."""
    for _ in range(ATTACH_TRIES):
        size = lines.stat().st_size
        gate.begin(["true"])
        gate.status()
        time.sleep(1)
        if probe.poll() is not None:
            raise tracer.stopped(log)
        seen = {line[:1] for line in lines.read_bytes()[size:].decode(errors="replace").splitlines()}
        if {"F", "E", "X"} <= seen:
            return lines.stat().st_size
    raise CaptureError(f"bpftrace did not see a test command in {ATTACH_TRIES} tries, one per second")


def record(command, output, *, names=None, seconds=None, ring_pages=16384, told=print):
    """Record a command until it ends, for some seconds, or until Ctrl-C.

    Parameters
    ----------
    command : sequence of str
        The command. Under sudo, it runs as the user who called sudo.
    output : path-like
        SPC trace, written atomically; compressed if its suffix says so.
    names : path-like, optional
        CSV file to write, a table of the files that were used.
    seconds, ring_pages, told
        As in `misspenalty.record.postgres.record`.

    Returns
    -------
    dict
        ``output, ended, status`` (of the command), ``reads, writes, files, megabytes, seconds``.

    Raises
    ------
    CaptureError
        The machine cannot record, no command is given, bpftrace fails or loses events, or the command uses no files.
    """
    tracer.check(*PROBED)
    if platform.machine() != "x86_64":  # the probe knows system calls by their numbers
        raise CaptureError(
            f"the probe knows the system calls of x86-64, not those of {platform.machine()}: record the requests to the"
            " disk with misspenalty record block"
        )
    if not command:
        raise CaptureError("no command to record; expected, for example, misspenalty record files OUTPUT -- make")
    gate = Gate()
    try:
        with temporary_folder() as work:
            lines, log = Path(work, "events.txt"), Path(work, "bpftrace.log")
            settings = SETTINGS | {"BPFTRACE_PERF_RB_PAGES": str(ring_pages)}
            options = {"attach": 0, "buffering": "line", "settings": settings}
            with tracer.tracing("files.bt", gate.process.pid, lines, log, **options) as probe:
                begin = _attached(gate, lines, probe, log)
                told(f"recording {' '.join(command)}; Ctrl-C ends it")
                gate.begin(list(command), **_caller())
                running = _Running(gate)
                why, when = tracer.ended(probe, log, seconds, running)
                if why != "command":
                    gate.close()
            with lines.open(errors="replace") as stream:
                stream.seek(begin)
                accesses, known = parse(stream, str(output))
        accesses = [access for access in accesses if access.time <= when]
    finally:
        gate.close()
    if not accesses:
        status = f"exit status {running.answer}" if running.answer is not None else "stopped before its end"
        raise CaptureError(f"{command[0]} read and wrote no files ({status})")
    with atomic_path(output) as partial, open_output(partial) as stream:
        for line in spc_lines(accesses):
            stream.write(f"{line}\n".encode())
    if names is not None:
        write_csv(names_table(accesses, known), names)
    writes = sum(access.write for access in accesses)
    return {
        "output": str(output),
        "ended": why,
        "status": running.answer,
        "reads": len(accesses) - writes,
        "writes": writes,
        "files": len({access.inode for access in accesses}),
        "megabytes": round(sum(access.size for access in accesses) / 2**20, 3),
        "seconds": round((accesses[-1].time - accesses[0].time) / 1e9, 3),
    }


def _caller():
    """Return options of `subprocess` that run a command as the user who called sudo; without sudo, no options."""
    user, group = os.environ.get("SUDO_UID"), os.environ.get("SUDO_GID")
    if not (user and group and user.isdecimal() and group.isdecimal()):
        return {}
    return {"user": int(user), "group": int(group), "extra_groups": []}
