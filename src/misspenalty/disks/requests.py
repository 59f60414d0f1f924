"""Replay requests on a drive, and compare simulated service times with measured ones."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from misspenalty.errors import InputError, ParameterError
from misspenalty.traces.columns import same_columns, unmasked
from misspenalty.traces.compression import check_path
from misspenalty.traces.lines import chunks
from misspenalty.traces.spool import spooled

LARGEST = 2**53  # a float represents every whole number up to this one exactly
TYPES = {"lbn": np.int64, "count": np.int32, "write": np.uint8, "delay": np.int64}  # types that the kernels require
FIELDS = "R|W any-word lbn blocks service-us delay-us"


@dataclass(frozen=True, eq=False)
class Requests:
    """Requests in order; each is issued a given delay after the previous one completed.

    Attributes
    ----------
    lbn : array of int64
        First blocks.
    count : array of int32
        Numbers of blocks.
    write : array of uint8
        1 = write.
    delay : array of int64
        Time from this request's completion to the issue of the next one, ns.
    measured : array of float64 or None
        Measured service times, ms.

    Raises
    ------
    ParameterError
        The columns differ in length, a measured time is not finite or is below 0, or another column is not
        one-dimensional, has masked values, or has values that its type cannot hold. Columns of other types are
        converted.
    """

    lbn: np.ndarray
    count: np.ndarray
    write: np.ndarray
    delay: np.ndarray
    measured: np.ndarray | None = None

    def __post_init__(self):
        for name, dtype in TYPES.items():
            given = unmasked(getattr(self, name), name)
            try:
                with np.errstate(invalid="ignore"):
                    made = np.ascontiguousarray(given, dtype)
            except (OverflowError, TypeError, ValueError):
                made = None
            if given.ndim != 1 or made is None or not np.array_equal(made, given):
                raise ParameterError(
                    f"{name} is of type {given.dtype} and shape {given.shape}; expected a one-dimensional"
                    f" array of values that {np.dtype(dtype)} can hold"
                )
            object.__setattr__(self, name, made)
        if len({len(getattr(self, name)) for name in TYPES}) > 1:
            raise ParameterError(f"{', '.join(TYPES)} differ in length; expected one value per request")
        if self.measured is not None:
            object.__setattr__(self, "measured", _times(self.measured, len(self)))

    def __eq__(self, other):
        """Return whether another object has the same requests."""
        return same_columns(self, other) if isinstance(other, Requests) else NotImplemented

    def __len__(self):
        return len(self.lbn)


def _times(measured, number):
    """Return measured service times as float64 after checking them: one per request, finite and not negative."""
    times = unmasked(measured, "measured")
    if times.shape != (number,) or times.dtype.kind not in "iuf" or not (np.isfinite(times) & (times >= 0)).all():
        raise ParameterError(
            f"measured is invalid; expected one time per request, {number} finite numbers of at least 0 ms"
        )
    return np.ascontiguousarray(times, np.float64)


@dataclass(frozen=True)
class Replay:
    """A replay's outcome.

    Attributes
    ----------
    drive : str
        The drive's name.
    simulated, measured : array of float64
        Service times, ms; `measured` is None if the requests have none.
    records : structured array
        One record per request; see `misspenalty.disks.Drive.service`.
    """

    drive: str
    simulated: np.ndarray
    measured: np.ndarray | None
    records: np.ndarray

    def row(self) -> dict[str, Any]:
        """Return the row of `misspenalty disk replay`: ``drive, requests`` and, in ms, both means and the demerit."""
        known = self.measured is not None
        return {
            "drive": self.drive,
            "requests": len(self.simulated),
            "mean_measured_ms": float(np.mean(self.measured)) if known else None,
            "mean_simulated_ms": float(np.mean(self.simulated)),
            "demerit_ms": demerit(self.measured, self.simulated) if known else None,
        }


def demerit(measured: np.ndarray, simulated: np.ndarray) -> float:
    """Compute the root mean square of the horizontal distance between the distributions of two sets of service times.

    This is the demerit figure of Ruemmler and Wilkes (An introduction to disk drive modeling, IEEE Computer 27(3),
    1994). Both sets have one value per request, so the distance at each height is the difference of sorted values.

    Raises
    ------
    ParameterError
        The two differ in length, or are empty.
    """
    if len(measured) != len(simulated) or not len(measured):
        raise ParameterError(
            f"{len(measured)} measured, {len(simulated)} simulated times; expected equally many, at least one"
        )
    return float(np.sqrt(np.mean((np.sort(measured) - np.sort(simulated)) ** 2)))


def replay(kind: Any, requests: Requests) -> Replay:
    """Replay requests one after another on a new drive of a kind.

    Parameters
    ----------
    kind : Description or FlashDescription
        See `misspenalty.disks.load`.
    requests : Requests
        See `read_requests`.

    Raises
    ------
    ParameterError
        There are no requests, one is outside the drive, a delay is negative, or the delays exceed 36 years in total.
    """
    if not len(requests):
        raise ParameterError("there are no requests to replay")
    records = kind.one_by_one(requests.lbn, requests.count, requests.write, requests.delay)
    return Replay(kind.name, (records["done"] - records["start"]) / 1e6, requests.measured, records)


def read_requests(path: str | os.PathLike[str]) -> Requests:
    """Read requests that were timed on a real drive.

    A line holds ``R|W action lbn blocks service_us delay_us``: the action is any word (what the drive's buffer did, if
    known), the service time was measured, and the next request was issued ``delay_us`` after this one completed. This
    is the format of DiskSim's validation traces. Blank lines and lines that begin with ``#`` are skipped. The file may
    be compressed, and ``-`` is standard input, as for a trace.

    Raises
    ------
    InputError
        The file is missing, empty or not text, or a line is invalid.
    """
    lbn, count, write, delay, measured = [], [], [], [], []
    with spooled(check_path(path)) as (file, _):
        for text, before in chunks(file, FIELDS):
            for number, line in enumerate(text.splitlines(), before + 1):
                fields = line.split()
                if not fields or fields[0].startswith(b"#"):
                    continue
                asked = _request(fields)
                if asked is None:
                    shown = line[:80].decode("utf-8", "replace").rstrip()
                    expected = f"{FIELDS}, with at least one block and no number below 0"
                    raise InputError(f"{shown!r}", path=path, line=number, expected=expected)
                for column, value in zip((write, lbn, count, measured, delay), asked, strict=True):
                    column.append(value)
    if not lbn:
        raise InputError("contains no requests", path=path, expected=FIELDS)
    return Requests(lbn, count, write, delay, np.array(measured))


def _request(fields):
    """Parse the fields of a line, and return their values, or None if one is invalid."""
    if len(fields) != 6 or fields[0] not in (b"R", b"W", b"r", b"w") or any(b"_" in field for field in fields[2:]):
        return None
    try:
        lbn, count, service, delay = int(fields[2]), int(fields[3]), float(fields[4]), float(fields[5])
    except ValueError:
        return None
    if not (0 <= lbn < LARGEST and 0 < count < 2**31 and 0 <= service < LARGEST and 0 <= delay < 1e15):
        return None
    return fields[0] in b"Ww", lbn, count, service / 1000, round(delay * 1000)
