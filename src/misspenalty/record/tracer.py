"""Start bpftrace on the package's probes, and stop it after a pause for its buffers to drain."""

import contextlib
import ctypes
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

from misspenalty.errors import MissPenaltyError

PROBES = Path(__file__).parent / "probes"
TRACEFS = ("/sys/kernel/tracing", "/sys/kernel/debug/tracing")
ATTACH_SECONDS = 5
DRAIN_SECONDS = 3  # time for the buffers to drain when a recording ends
STARTED = ("Attaching", "Attached")  # first word of the line that bpftrace, older or newer, writes when it starts
PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of prctl
SINCE = {"filemap/mm_filemap_fault": "6.12"}  # trace point that older kernels lack -> the first Linux that has it
RENAMED = {  # environment variable of bpftrace -> its name since bpftrace 0.20, which ignores the old one
    "BPFTRACE_STRLEN": "BPFTRACE_MAX_STRLEN",
    "BPFTRACE_MAP_KEYS_MAX": "BPFTRACE_MAX_MAP_KEYS",
}


class CaptureError(MissPenaltyError):
    """Error of a recording that cannot start or continue; the message says why and, where possible, what to do."""


def check(*events):
    """Raise `CaptureError` unless this machine can record.

    Parameters
    ----------
    *events : str
        Trace points that the probe needs, such as ``syscalls/sys_enter_pread64``.
    """
    if os.geteuid() != 0:
        raise CaptureError("recording requires root privileges, as bpftrace does: run it with sudo")
    if shutil.which("bpftrace") is None:
        raise CaptureError("bpftrace is missing: apt-get install bpftrace, or dnf install bpftrace")
    roots = [Path(root) for root in TRACEFS if Path(root, "events").is_dir()]
    if not roots:
        raise CaptureError("the kernel's trace points are not available: mount -t tracefs none /sys/kernel/tracing")
    for event in events:
        if not any((root / "events" / event).is_dir() for root in roots):
            since = f" (Linux {SINCE[event]} or newer)" if event in SINCE else ""
            raise CaptureError(f"this kernel has no trace point {event}: record on a newer kernel{since}")


def now():
    """Return the time of the clock that the probes use, ns; this clock keeps running while the machine is suspended."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def printed(lines, source):
    """Yield each line that a probe printed, with its place for messages; leave out blank lines and bpftrace's first.

    Raises
    ------
    CaptureError
        Events were lost; the message names `source`, the recording, and the line.

    Examples
    --------
    >>> list(printed(["Attaching 2 probes...", "", "R 1 0 8192 5"], "x"))
    [('x, line 3', 'R 1 0 8192 5')]
    """
    for number, line in enumerate(lines, 1):
        at, first = f"{source}, line {number}", (line.split(maxsplit=1) or [""])[0]
        if first == "Lost":
            raise CaptureError(f"{at}: bpftrace lost events; record again with a larger --ring-pages")
        if first not in ("", *STARTED):
            yield at, line


def start(probe, argument, output, log, *, buffering="full", settings=None):
    """Start bpftrace on a probe.

    The terminal's Ctrl-C does not reach bpftrace; if this process ends, bpftrace is killed.

    Parameters
    ----------
    probe : str
        Name of a file in `PROBES`.
    argument : int
        The probe's ``$1``.
    output, log : path-like
        Files for the probe's lines, and for bpftrace's messages.
    buffering : str
        Buffering of the output; see bpftrace's option ``-B``.
    settings : mapping of str to str
        Environment variables for bpftrace, by their names before bpftrace 0.20.

    Returns
    -------
    subprocess.Popen
    """
    command = ["bpftrace", "-B", buffering, str(PROBES / probe), str(argument)]
    given = dict(settings or {})
    given |= {RENAMED[name]: value for name, value in given.items() if name in RENAMED}
    library = ctypes.CDLL(None)
    with open(output, "w") as lines, open(log, "w") as said:
        return subprocess.Popen(
            command,
            env=os.environ | given,
            stdin=subprocess.DEVNULL,
            stdout=lines,
            stderr=said,
            start_new_session=True,
            preexec_fn=lambda: library.prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL),
        )


def stop(tracer, log, seconds=120):
    """End bpftrace in an orderly way, so that everything it saw is written.

    Raises
    ------
    CaptureError
        bpftrace has stopped by itself, does not end, or has lost events, as newer versions write to `log`.
    """
    if tracer.poll() is not None:
        raise stopped(log)
    tracer.send_signal(signal.SIGINT)
    try:
        tracer.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        tracer.kill()
        raise CaptureError(f"bpftrace did not finish within {seconds} s; repeat the recording") from None
    if re.search(r"^Lost \d+ events", Path(log).read_text(errors="replace"), re.MULTILINE):
        raise CaptureError("bpftrace lost events; record again with a larger --ring-pages")


def stopped(log):
    """Return the error to raise if bpftrace stopped by itself, with the end of its messages."""
    return CaptureError(f"bpftrace stopped by itself: {Path(log).read_text(errors='replace').strip()[-800:]}")


@contextlib.contextmanager
def tracing(probe, argument, output, log, *, attach=ATTACH_SECONDS, drain=DRAIN_SECONDS, **options):
    """Run bpftrace on a probe: give it `attach` seconds to attach, yield its process, wait `drain` seconds for its
    buffers to drain, and stop it.

    See `start` for the parameters and `stop` for the errors.
    """
    tracer = start(probe, argument, output, log, **options)
    try:
        time.sleep(attach)
        yield tracer
        time.sleep(drain)
    except BaseException:
        tracer.kill()
        raise
    stop(tracer, log)


def ended(tracer, log, seconds=None, process=None, pause=0.2):
    """Wait until a recording is over: after some seconds, when a process ends, or at Ctrl-C or SIGTERM.

    Returns
    -------
    why : str
        ``time``, ``command`` or ``interrupted``.
    when : int
        Time of the end, from `now`; anything recorded later belongs to the tracer's shutdown.

    Raises
    ------
    CaptureError
        bpftrace has stopped by itself.
    """
    begin = time.monotonic()
    before = {number: signal.signal(number, signal.default_int_handler) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        while True:
            if tracer.poll() is not None:
                raise stopped(log)
            if process is not None and process.poll() is not None:
                return "command", now()
            if seconds is not None and time.monotonic() - begin >= seconds:
                return "time", now()
            time.sleep(pause)
    except KeyboardInterrupt:
        return "interrupted", now()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
