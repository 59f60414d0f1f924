"""Read captures of file activity: what recorded programs did with files, event by event.

A capture is three Parquet files, ``NAME.parquet`` (events), ``NAME_files.parquet`` and ``NAME_processes.parquet``;
``data/raw/builds/README.md`` describes their columns. `read` checks them and adds ``gap_ns``, the compute time before
each event without the cost of the recording.

Recording an event costs the process about 15 µs, which is part of the gap before its next event. The processor time
that a process takes without recording is known (``plain_us``, measured separately). A constant cost per event is
therefore subtracted from the gaps of a process, none of which becomes negative. The cost is chosen so that gaps and
calls add up to ``plain_us``; it is 0 if the recorded gaps and calls add up to less, and all gaps become 0 if the calls
alone add up to more. A row of several pages counts as one event per page, since the pages were recorded one by one.
"""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from misspenalty.errors import InputError
from misspenalty.io.later import pd
from misspenalty.traces.reader import open_parquet

PAGE_BYTES = 4096
KINDS = ("fork", "exec", "interp", "open", "create", "read", "write", "mmap", "fault", "stat", "list", "truncate",
         "unlink", "rename", "close", "wait", "exit")  # fmt: skip
EVENT_COLUMNS = ("run", "time_us", "process", "kind", "file", "offset", "length", "asked", "other", "error",
                 "compute_us", "system_us")  # fmt: skip
FILE_COLUMNS = ("path", "normal_path", "temporary", "folder", "size")
PROCESS_COLUMNS = ("run", "process", "parent", "step", "program", "start_us", "end_us", "cpu_us", "plain_us", "status")
TEXT, TRUTH = {"kind", "path", "normal_path", "program"}, {"temporary", "folder"}
NARROW = {"run", "process", "parent", "step", "file", "other", "error", "status"}
MOST_ROWS = 50_000_000
MOST_BYTES = 1 << 48  # maximum size of a file, bytes
OF_A_FILE = np.isin(KINDS, ["fork", "wait", "exit"], invert=True)  # by kind: whether an event must name a file


@dataclass(frozen=True, repr=False)
class Capture:
    """One workload's recorded runs.

    Attributes
    ----------
    name : str
        Name of the workload, such as ``andrew``.
    events : DataFrame
        `EVENT_COLUMNS` and ``gap_ns`` (int64), runs one after another, each in time order; ``kind`` is categorical
        with the codes of `KINDS`.
    files : DataFrame
        `FILE_COLUMNS`; an event's ``file`` is the number of a row here.
    processes : DataFrame
        `PROCESS_COLUMNS`; the processes of a run are numbered from 0 without gaps.
    """

    name: str
    events: pd.DataFrame
    files: pd.DataFrame
    processes: pd.DataFrame

    @property
    def runs(self) -> list[int]:
        """The runs' numbers, in order."""
        return sorted(self.processes["run"].unique().tolist())

    def __repr__(self):
        return f"<Capture {self.name}: {len(self.runs)} runs, {len(self.events)} events, {len(self.files)} files>"


def read(path, name=None):
    """Read and check a capture.

    Parameters
    ----------
    path : path-like
        The file of events, or the folder that contains it.
    name : str, optional
        Name of the workload, if `path` is a folder.

    Returns
    -------
    Capture

    Raises
    ------
    InputError
        A file is missing or damaged, or contradicts itself or the others.
    """
    path = Path(path)
    events_path = path / f"{name}.parquet" if name is not None else path
    events = _table(events_path, EVENT_COLUMNS)
    files_path = events_path.with_name(f"{events_path.stem}_files.parquet")
    processes_path = events_path.with_name(f"{events_path.stem}_processes.parquet")
    files = _table(files_path, FILE_COLUMNS)
    processes = _table(processes_path, PROCESS_COLUMNS)
    _check_files(files, files_path)
    first = _check_processes(processes, processes_path)
    events["kind"] = _kinds(events["kind"], events_path)
    row = _check_events(events, files, processes, first, events_path)
    events["gap_ns"] = _gaps(events, row, processes)
    return Capture(events_path.stem, events, files, processes)


def _table(path, columns):
    """Return `columns` of a Parquet file as a frame, reading one column after another.

    Integers have 32 bits in the columns of `NARROW` and 64 bits in others.
    """
    if not os.path.exists(path):
        remedy = "a capture is three files in one folder: name the one with the events, and no pipe"
        raise InputError("no such file", path=path, remedy=remedy)
    try:
        with open_parquet(path, columns, read_dictionary=["kind"] if "kind" in columns else None) as parquet:
            if parquet.metadata.num_rows > MOST_ROWS:
                raise InputError(f"{parquet.metadata.num_rows} rows", path=path, expected=f"at most {MOST_ROWS}")
            return pd.DataFrame({name: _column(parquet.read([name])[name], name, path) for name in columns}, copy=False)
    finally:
        pa.default_memory_pool().release_unused()


def _column(column, name, path):
    if column.null_count:
        raise InputError(f"column {name} lacks a value", path=path, expected="no nulls")
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if name in TEXT:
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            raise InputError(f"column {name} is of type {column.type}", path=path, expected="text")
        return column.to_pandas()
    if name in TRUTH:
        if not pa.types.is_boolean(kind):
            raise InputError(f"column {name} is of type {column.type}", path=path, expected="booleans")
        return column.to_numpy()
    if not pa.types.is_integer(kind):
        raise InputError(f"column {name} is of type {column.type}", path=path, expected="integers")
    values = column.to_numpy()
    if values.dtype == np.uint64 and values.size and values.max() > np.iinfo(np.int64).max:
        raise InputError(f"column {name} holds {values.max()}", path=path, expected="below 2**63")
    if name in NARROW and values.size and not (values.min() >= -(2**31) and values.max() < 2**31):
        raise InputError(f"column {name} holds a number beyond 32 bits", path=path, expected="-2**31 to 2**31 - 1")
    return values.astype(np.int32 if name in NARROW else np.int64)


def _stop(wrong, path, what, expected=None):
    """Raise an `InputError` that names the first row for which `wrong` is true, if there is one."""
    rows = np.flatnonzero(wrong)
    if rows.size:
        raise InputError(f"row {rows[0] + 1} {what}", path=path, expected=expected)


def _check_files(files, path):
    if files.empty:
        raise InputError("contains no files", path=path)
    _stop(files["path"].duplicated(), path, "repeats a path")
    _stop((files["path"] == "") | (files["normal_path"] == ""), path, "has an empty path")
    size = files["size"].to_numpy()
    _stop((size < -1) | (size > MOST_BYTES), path, "has an invalid size", f"-1 to {MOST_BYTES}")


def _check_processes(processes, path):
    """Raise an `InputError` at the first invalid process; return the rows of each run's processes.

    The dict that is returned maps the number of each run to the row of its first process and the row after its last.
    """
    if processes.empty:
        raise InputError("contains no processes", path=path)
    run, number, parent = (processes[name].to_numpy() for name in ("run", "process", "parent"))
    _stop(np.diff(run, prepend=run[0]) < 0, path, "has a lower run number than the row before")
    begins = np.flatnonzero(np.diff(run, prepend=run[0] - 1))
    first = dict(zip(run[begins].tolist(), zip(begins, [*begins[1:], len(run)], strict=True), strict=True))
    expected = np.arange(len(run)) - np.repeat(begins, np.diff([*begins, len(run)]))
    _stop(number != expected, path, "is not the next process of its run", "0, 1, 2, …")
    _stop((parent < -1) | (parent >= number), path, "has a parent that is not an earlier process")
    start, end = processes["start_us"].to_numpy(), processes["end_us"].to_numpy()
    _stop(start < 0, path, "has an invalid start_us", f"0 to {(1 << 63) - 1}")
    _stop(end < start, path, "ends before it begins")
    for name in ("cpu_us", "plain_us", "step", "status"):
        values, limit = processes[name].to_numpy(), 1 << (31 if name in NARROW else 40)
        _stop((values < 0) | (values >= limit), path, f"has an invalid {name}", f"0 to {limit - 1}")
    return first


def _kinds(column, path):
    known = pd.CategoricalDtype(KINDS)
    column = column.astype("category")
    strange = [name for name in column.cat.categories if name not in KINDS]
    if strange and column.isin(strange).any():
        raise InputError(f"an event is of kind {strange[0]!r}", path=path, expected=", ".join(KINDS))
    return column.astype(known)


def _check_events(events, files, processes, first, path):
    """Raise an `InputError` at the first invalid event; return the row of each event's process."""
    if events.empty:
        raise InputError("contains no events", path=path)
    run, time, process = (events[name].to_numpy() for name in ("run", "time_us", "process"))
    kind, file, other = events["kind"].cat.codes.to_numpy(), events["file"].to_numpy(), events["other"].to_numpy()
    steps = np.diff(run, prepend=run[0])
    _stop(steps < 0, path, "has a lower run number than the row before")
    _stop((np.diff(time, prepend=time[0]) < 0) & (steps == 0), path, "begins before the previous row")
    begin, count = np.zeros(len(run), np.int64), np.zeros(len(run), np.int64)
    for number in np.unique(run).tolist():
        low, high = first.get(number, (0, 0))
        begin[run == number], count[run == number] = low, high - low
    _stop((process < 0) | (process >= count), path, "belongs to a process that is not in its run")
    _stop((file < -1) | (file >= len(files)), path, "refers to an unknown file", f"-1 to {len(files) - 1}")
    _stop((file < 0) & OF_A_FILE[kind], path, "names no file, but its kind requires one")
    _stop((kind == KINDS.index("rename")) & ((other < 0) | (other >= len(files))), path, "renames to an unknown file")
    related = (kind == KINDS.index("fork")) | (kind == KINDS.index("wait"))
    _stop(related & ((other < 0) | (other >= count)), path, "refers to a process that is not in its run")
    parents = processes["parent"].to_numpy()[np.where(related, begin + other, 0)]
    _stop(related & (parents != process), path, "refers to a process that is not a child of the event's process")
    limits = {"time_us": 1 << 40, "offset": MOST_BYTES, "length": MOST_BYTES, "asked": MOST_BYTES, "error": 256,
              "compute_us": 1 << 40, "system_us": 1 << 40}  # fmt: skip
    for name, limit in limits.items():
        values = events[name].to_numpy()
        _stop((values < 0) | (values >= limit), path, f"has an invalid {name}", f"0 to {limit - 1}")
    pages = kind == KINDS.index("fault")
    odd = (events["offset"].to_numpy() % PAGE_BYTES != 0) | (events["length"].to_numpy() % PAGE_BYTES != 0)
    _stop(pages & (odd | (events["length"].to_numpy() == 0)), path, "does not touch whole pages")
    return begin + process


def _gaps(events, row, processes):
    """Return the compute time before each event in ns, without the cost of recording."""
    number = len(processes)
    spent = np.bincount(row, events["system_us"], number)
    target = np.maximum(processes["plain_us"].to_numpy() - spent, 0)
    gaps = np.empty(len(row), np.int64)
    for part in _by_run(events["run"].to_numpy()):  # a process belongs to one run; one run at a time saves memory
        gap, length = events["compute_us"].to_numpy()[part], events["length"].to_numpy()[part]
        # The recording has one line per page of a page fault, and one line for any other row.
        faults = events["kind"].cat.codes.to_numpy()[part] == KINDS.index("fault")
        lines = np.where(faults, length // PAGE_BYTES, 1)
        cost = _cost(row[part], gap, lines, target)
        gaps[part] = np.rint(np.maximum(1000.0 * gap - lines * (1000.0 * cost)[row[part]], 0))
    return gaps


def _by_run(run):
    """Return the slices of the events, one per run."""
    begins = (np.flatnonzero(np.diff(run)) + 1).tolist()
    return [slice(*ends) for ends in itertools.pairwise([0, *begins, len(run)])]


def _cost(row, gap, lines, target):
    """Return, per process, the smallest c ≥ 0 with ``sum(max(0, gap - lines * c)) <= target``, µs."""
    share = gap / lines
    order = np.lexsort((-share, row))
    row, share = row[order], share[order]
    begins = np.flatnonzero(np.diff(row, prepend=-1))
    lengths = np.diff([*begins, len(row)])

    def running(values):
        total = np.cumsum(values[order], dtype=np.float64)
        return total - np.repeat(total[begins] - values[order][begins], lengths)

    gaps, weights = running(gap), running(lines)
    ends = np.zeros(len(row), bool)
    ends[begins + lengths - 1] = True
    next_share = np.where(ends, 0, np.roll(share, -1))
    wanted = target[row]
    # If c is the next share, only the gaps up to here exceed 0, and c is at least that if their sum reaches the target.
    reached = np.where(gaps - next_share * weights >= wanted, np.arange(len(row)), len(row))
    at = np.minimum.reduceat(reached, begins)
    cost = np.zeros(len(target))
    found = at < len(row)
    at = at[found]
    cost[row[begins][found]] = np.maximum((gaps[at] - wanted[at]) / weights[at], 0)
    return cost
