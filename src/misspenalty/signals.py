"""When a signal stops the command `misspenalty`, print one line and leave no half-written output.

`misspenalty/__init__.py` imports this module first. Until everything is imported, no file is open and a signal ends
the process at once; after that, a signal raises an exception, so that the run ends and removes its temporary files.
Further signals are ignored while the run is ending (see `PATIENCE`). A program that imports the package keeps its own
handlers.
"""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

NAMES = ("misspenalty", "misspenalty.exe")
PATIENCE = 5  # seconds within which a run should end after a signal; a signal after that time raises an exception again
SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


_since: float | None = None  # time at which a signal last raised an exception; None if none has


class Stopped(SystemExit):
    """Exception for any signal but that of Ctrl-C; its exit status is 128 plus the signal's number, as in a shell."""


def is_command() -> bool:
    """Return whether this process is the command, run as ``misspenalty`` or ``python -m misspenalty``.

    Examples
    --------
    >>> is_command()
    False
    """
    program = os.path.basename(sys.argv[0]) if sys.argv else ""
    if program != "-m":
        return program in NAMES
    words = sys.orig_argv
    return words[words.index("-m") + 1 : words.index("-m") + 2] == ["misspenalty"]


def _handle(handler: Callable[[int, FrameType | None], Any]) -> None:
    """Install `handler` for the signals that would end the process, except those that are ignored, as under nohup."""
    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, handler)


def _say(number: int) -> None:
    why = "interrupted" if number == signal.SIGINT else f"stopped by {signal.Signals(number).name}"
    with contextlib.suppress(OSError):  # standard error may be closed
        os.write(2, f"misspenalty: {why}; no output was left half-written\n".encode())


def _leave(number: int, frame: FrameType | None) -> None:
    if _is_ending():
        return
    _say(number)
    os._exit(128 + number)


def _is_ending() -> bool:
    return _since is not None and time.monotonic() - _since < PATIENCE


def _stop(number: int, frame: FrameType | None) -> None:
    global _since
    if _is_ending():
        return
    _since = time.monotonic()
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise Stopped(128 + number)


def stop_at_signals() -> None:
    """Make signals raise `KeyboardInterrupt` or `Stopped` from now on."""
    _handle(_stop)


def leave_at_signals() -> None:
    """Make signals end the process at once from now on."""
    _handle(_leave)


def say_stopped(error: BaseException) -> int:
    """Print the line for a `KeyboardInterrupt` or `Stopped`, and return the exit status.

    Examples
    --------
    >>> say_stopped(Stopped(143))
    143
    """
    status = int(error.code) if isinstance(error, Stopped) and error.code else 128 + signal.SIGINT
    _say(status - 128)
    return status


if is_command():
    leave_at_signals()
