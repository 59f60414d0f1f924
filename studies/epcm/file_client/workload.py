"""Prepare recorded calls for the file client: files placed on disk, calls as records, events for the predictor."""

from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from posixpath import dirname

import numpy as np
import pandas as pd

from misspenalty.errors import InputError
from misspenalty.traces.builds import KINDS
from misspenalty_studies.epcm.file_client.client import CALL, CALLS, PAGE_BYTES, SECTOR_BYTES
from misspenalty_studies.epcm.file_client.placement import PAGE_SECTORS, place

MOST_BYTES = 2**40  # largest size of a file


@dataclass
class FileWorkload:
    """Calls that the client replays, and the place of their files on disk.

    Attributes
    ----------
    lba, sectors : int64 arrays
        First sector and number of sectors of each entry: pages of the files, then blocks of metadata.
    metadata : int
        Index of the first block of metadata among the entries.
    first, pages : int64 arrays, shape (paths,)
        First entry of each file, and number of entries.
    walk_at, walks : int64 and int32 arrays
        Blocks of metadata on the walk to path p: ``walks[walk_at[p]:walk_at[p + 1]]``, its inode last.
    files : int
        Number of files that the predictor distinguishes.
    records : list of structured arrays
        Calls of each run, dtype `CALL`, compute times as recorded.
    sizes : list of int64 arrays, shape (paths,)
        Size of each file when the run starts; -1 = does not exist.
    known : list of int32 arrays, shape (files,)
        Path under which each of the predictor's files was last seen before the run; -1 = never.
    layout : tuple
        Input of the placement: the files' paths, their largest sizes, whether each file is made in the runs, and the
        order of placement; see `misspenalty_studies.epcm.file_client.placement.place`.
    """

    lba: np.ndarray
    sectors: np.ndarray
    metadata: int
    first: np.ndarray
    pages: np.ndarray
    walk_at: np.ndarray
    walks: np.ndarray
    files: int
    records: list = field(repr=False)
    sizes: list = field(repr=False)
    known: list = field(repr=False)
    layout: tuple = field(repr=False)

    def run(self, number):
        """Return the calls of a run, as recorded."""
        return self.records[number]

    def placed(self, sectors, block_kb, generator):
        """Return the same calls on another disk; parameters as in `make_workload`."""
        return replace(self, **_placed(*self.layout, sectors, block_kb, generator))

    def events(self, number):
        """Return the predictor's number of each event's file in a run, as a uint32 array."""
        file = self.run(number)["file"]
        return np.ascontiguousarray(file[file >= 0], np.uint32)


def make_workload(
    paths, initial, records, *, sizes=None, known=None, files=None, sectors, block_kb, generator, order="names"
):
    """Make a workload from calls.

    Parameters
    ----------
    paths : sequence of str
        Absolute, or relative to the source tree.
    initial : array-like of int, shape (paths,)
        Bytes of each file before the first run; -1 = does not exist.
    records : list of structured arrays
        Calls of each run, dtype `CALL`. `path` is a path's number, -1 for a compute record; `file` is the predictor's
        number of the file, -1 = the predictor does not see the call.
    sizes, known : lists of arrays, optional
        Same as in `FileWorkload`; by default the initial sizes, and each path is a file of its own.
    files : int, optional
        Number of files that the predictor distinguishes; by default the number of paths.
    sectors : int
        Sectors of the disk.
    block_kb : int
        Block size of the file system.
    generator : numpy.random.Generator
        Places the directories.
    order : str
        Order on disk of the files that existed before: ``names``, or ``opened``, as they are first opened in the runs.

    Returns
    -------
    FileWorkload

    Raises
    ------
    InputError
        There are no paths or no runs, the initial sizes do not match the paths, or a call has an unknown kind, path or
        file, or invalid numbers.
    ParameterError
        The disk is too small.
    """
    number = len(paths)
    initial = np.asarray(initial, np.int64)
    files = number if files is None else files
    if not number or len(initial) != number or not records:
        raise InputError(
            f"{number} paths, {len(initial)} sizes and {len(records)} runs; expected at least one path and run, and one"
            " size per path"
        )
    for run, calls in enumerate(records):
        _check(calls, run, number, files)
    rank = _first_opened(records, number) if order == "opened" else np.zeros(number, np.int64)
    layout = paths, _most_bytes(initial, records), initial < 0, rank
    return FileWorkload(
        **_placed(*layout, sectors, block_kb, generator),
        files=files,
        records=[np.ascontiguousarray(calls) for calls in records],
        sizes=[initial] * len(records) if sizes is None else sizes,
        known=[np.arange(number, dtype=np.int32)] * len(records) if known is None else known,
        layout=layout,
    )


def _first_opened(records, number):
    """Return the place of each path in the order of first opens over all runs; paths never opened come last."""
    rank = np.full(number, number, np.int64)
    opened = np.concatenate([calls["path"][calls["kind"] == CALLS.index("open")] for calls in records])
    paths, at = np.unique(opened, return_index=True)
    rank[paths[np.argsort(at)]] = np.arange(len(paths))
    return rank


def _placed(paths, most, made, rank, sectors, block_kb, generator):
    """Return the fields of a workload that say where its files are."""
    pages = -(-most // PAGE_BYTES)
    stretches, blocks, walks = place(paths, most, made, rank, sectors, 1024 * block_kb, generator)
    first = np.concatenate([[0], np.cumsum(pages)])
    lba = np.concatenate([_page_sectors(*file) for file in zip(stretches, pages, strict=True)])
    taken = np.full(first[-1], PAGE_SECTORS, np.int64)
    held = pages > 0
    granule = 2 * block_kb
    last = -(-(most[held] - PAGE_BYTES * (pages[held] - 1)) // SECTOR_BYTES)
    taken[first[1:][held] - 1] = np.minimum(-(-last // granule) * granule, PAGE_SECTORS)
    return {
        "lba": np.concatenate([lba, blocks]),
        "sectors": np.concatenate([taken, np.full(len(blocks), granule, np.int64)]),
        "metadata": int(first[-1]),
        "first": first[:-1].astype(np.int64),
        "pages": pages.astype(np.int64),
        "walk_at": np.cumsum([0, *(len(walk) for walk in walks)], dtype=np.int64),
        "walks": np.array([first[-1] + block for walk in walks for block in walk], np.int32),
    }


def _page_sectors(stretches, pages):
    """Return the first sector of each page of a file."""
    if len(stretches) == 1:
        return stretches[0][0] + PAGE_SECTORS * np.arange(pages)
    return np.concatenate([np.arange(first, first + sectors, PAGE_SECTORS) for first, sectors in stretches])[:pages]


def _check(calls, run, paths, files):
    """Raise an `InputError` that names an invalid call, if there is one."""
    kind, path = calls["kind"], calls["path"]
    moves = np.isin(kind, [CALLS.index(name) for name in ("read", "write", "fault", "truncate")])
    named = kind == CALLS.index("rename")
    bad = (
        ((kind < 0) | (kind >= len(CALLS)), "has an unknown kind"),
        ((path < np.where(kind == 0, -1, 0)) | (path >= paths), "has an unknown path"),
        ((calls["file"] < -1) | (calls["file"] >= files), "is on a file that the predictor does not know"),
        ((calls["file"] >= 0) & (path < 0), "is seen by the predictor but has no path"),
        ((calls["gap"] < 0) | (calls["gap"] > 2**50), "follows an invalid compute time"),
        ((calls["offset"] < 0) | (calls["length"] < 0) | (calls["asked"] < 0), "has negative numbers"),
        (np.maximum(calls["length"], np.where(moves, calls["offset"], 0)) > MOST_BYTES, "reaches beyond 1 TB"),
        (named & (calls["asked"] >= paths), "renames to an unknown path"),
    )
    for wrong, what in bad:
        if wrong.any():
            raise InputError(f"run {run + 1}, call {int(np.flatnonzero(wrong)[0]) + 1} {what}")


def _most_bytes(initial, records):
    """Return the largest size that each file reaches; paths that a rename connects get the same size."""
    most = np.maximum(initial, 0)
    group = np.arange(len(initial))
    for calls in records:
        kind = calls["kind"]
        moves = np.isin(kind, [CALLS.index(name) for name in ("read", "write", "fault")]) & (calls["length"] > 0)
        whole = np.isin(kind, [CALLS.index(name) for name in ("exec", "interpreter", "open")])
        np.maximum.at(most, calls["path"][moves], (calls["offset"] + calls["length"])[moves])
        np.maximum.at(most, calls["path"][whole], calls["length"][whole])
        renames = calls[kind == CALLS.index("rename")]
        for pair in np.unique(np.stack([renames["path"], renames["asked"]], axis=1), axis=0):
            group[group == group[pair[1]]] = group[pair[0]]
    shared = np.zeros_like(most)
    np.maximum.at(shared, group, most)
    return shared[group]


def prepare(
    capture, *, sectors, block_kb, generator, runs=None, temporaries="inode", programs=1.0, order="names",
    passes="recorded",
):  # fmt: skip
    """Turn a recorded capture into a workload.

    Parameters
    ----------
    capture : Capture
        From `misspenalty.traces.builds.read`.
    sectors, block_kb, generator, order
        Same as in `make_workload`.
    runs : sequence of int, optional
        Runs to take, by their numbers in the capture, in order; by default all.
    temporaries : str
        How the predictor identifies a file: ``inode``, by its inode, so that a temporary file is the same as an earlier
        one whose inode it reuses, see `Inodes`; ``recorded``, by its path, so that a file with a random name is new
        each time; ``normal``, by its path, with a random name replaced by one that is the same in every run;
        ``dropped``, by its path, and calls on a file with a random name are not events.
    programs : float
        Size of programs and libraries as a share of the recorded size: the pages touched in them, and those that the
        engine prefetches, are mapped proportionally onto that share. 1 = as recorded.
    passes : str
        ``recorded``, or ``last``: if a run opens a file exactly twice, the first opening and the reads between
        the two are left out; the compute before each call that is left out remains.

    Returns
    -------
    FileWorkload

    Raises
    ------
    InputError
        The capture has no such run, or invalid calls.
    ParameterError
        The disk is too small.
    """
    events, files = capture.events, capture.files
    paths = [str(path) for path in files["path"]]
    initial = np.asarray(files["size"], np.int64).copy()
    kinds = _codes(events["kind"])
    numbers = np.asarray(events["run"])
    runs = np.unique(numbers).tolist() if runs is None else list(runs)
    columns = {name: np.asarray(events[name]) for name in COLUMNS}
    wrong = np.flatnonzero((columns["file"] < -1) | (columns["file"] >= len(paths)))
    if len(wrong):
        raise InputError(
            f"event {wrong[0] + 1} refers to file {columns['file'][wrong[0]]}",
            expected=f"one below {len(paths)}, the number of files in the capture, or -1 for none",
        )
    program = _programs(kinds, columns, len(paths))
    folders = np.flatnonzero(np.asarray(files["folder"], bool))
    records = []
    for run in runs:
        chosen = np.flatnonzero(numbers == run)
        if not len(chosen):
            raise InputError(f"the capture has no run {run}; it has {', '.join(map(str, np.unique(numbers)))}")
        records.append(_calls(kinds[chosen], {name: column[chosen] for name, column in columns.items()}, folders))
    if passes == "last":
        records = [_last_pass(calls) for calls in records]
    if programs < 1:
        for calls in records:
            _fold(calls, program, programs)
        initial[program] = np.ceil(initial[program] * programs)
    if temporaries == "inode":
        inodes, identity = Inodes(paths, initial), np.arange(len(paths))
        for calls in records:
            calls["file"] = inodes.of_run(calls)
        files_told_apart = inodes.number
    else:
        identity, files_told_apart = _identity(files, temporaries)
        for calls in records:
            seen = np.isin(calls["kind"], SEEN) & (calls["path"] >= 0)
            calls["file"] = np.where(seen, identity[calls["path"]], -1)
    sizes, known = [], []
    size, last = initial, np.full(files_told_apart, -1, np.int32)
    there = np.flatnonzero((identity >= 0) & (initial >= 0))
    last[identity[there]] = there
    for calls in records:
        size = _sizes_at_start(calls, size, initial)
        sizes.append(size)
        known.append(last.copy())
        last[calls["file"][calls["file"] >= 0]] = calls["path"][calls["file"] >= 0]
    return make_workload(
        paths, initial, records, sizes=sizes, known=known, files=files_told_apart, sectors=sectors, block_kb=block_kb,
        generator=generator, order=order,
    )  # fmt: skip


SEEN = [CALLS.index(name) for name in ("exec", "open", "create")]  # calls that the predictor sees
UNLINK, RENAME = CALLS.index("unlink"), CALLS.index("rename")


class Inodes:
    """Inode numbers of files as they are made and removed.

    As in `ext2_new_inode` of Linux 2.2, a new file takes the lowest free inode of its directory's group, a removed
    file frees its inode, and a renamed file keeps its inode. Here each directory has its own group, whose lowest inodes
    belong to the files that existed before the first run. Files made by a run are removed before the next run.

    Parameters
    ----------
    paths : sequence of str
    initial : int64 array, shape (paths,)
        Bytes of each file before the first run; -1 = does not exist.

    Examples
    --------
    >>> calls = np.zeros(3, CALL)
    >>> calls["kind"], calls["path"] = [CALLS.index(kind) for kind in ("create", "unlink", "create")], [1, 1, 2]
    >>> Inodes(["/tmp/x", "/tmp/cc1.s", "/tmp/cc2.s"], np.array([9, -1, -1])).of_run(calls).tolist()
    [3, -1, 3]
    """

    def __init__(self, paths, initial):
        self.folders = [dirname(path) for path in paths]
        self.initial = {int(path): int(path) for path in np.flatnonzero(np.asarray(initial) >= 0)}
        self.number = len(paths)  # number of inodes; a file that existed before has its path's number
        self.made = {}  # inodes of new files in any run, by directory, lowest first
        self.home = {}  # inode -> its directory

    def of_run(self, calls):
        """Return the inode of each exec, open and create of a run, -1 for the other calls; int32 array."""
        held, free, used = dict(self.initial), {}, {}
        found = np.full(len(calls), -1, np.int32)
        named = np.isin(calls["kind"], [*SEEN, UNLINK, RENAME]) & (calls["path"] >= 0)
        for at in np.flatnonzero(named).tolist():
            kind, path = int(calls["kind"][at]), int(calls["path"][at])
            if kind == UNLINK:
                self._release(held.pop(path, None), free)
                continue
            if path not in held:
                held[path] = self._take(path, free, used)
            if kind == RENAME:
                target = int(calls["asked"][at])
                if target != path:
                    self._release(held.pop(target, None), free)
                    held[target] = held.pop(path)
            else:
                found[at] = held[path]
        return found

    def _release(self, inode, free):
        if inode is not None:
            folder = self.home[inode] if inode in self.home else self.folders[inode]
            heappush(free.setdefault(folder, []), inode)

    def _take(self, path, free, used):
        folder = self.folders[path]
        if free.get(folder):
            return heappop(free[folder])
        made, number = self.made.setdefault(folder, []), used.get(folder, 0)
        if number == len(made):
            made.append(self.number)
            self.home[self.number] = folder
            self.number += 1
        used[folder] = number + 1
        return made[number]


COLUMNS = ("file", "offset", "length", "asked", "other", "error", "gap_ns", "system_us")
TAKEN_FOR = {
    "exec": "exec", "interp": "interpreter", "open": "open", "create": "create", "read": "read", "write": "write",
    "fault": "fault", "stat": "lookup", "list": "lookup", "truncate": "truncate", "unlink": "unlink",
    "rename": "rename",
}  # fmt: skip
CALL_OF = np.array([CALLS.index(TAKEN_FOR.get(name, "compute")) for name in KINDS])  # recorded kind -> call
TRUNCATED, EXECUTABLE, NOT_THERE = 8, 4, 2


def _codes(kinds):
    """Return the indices of recorded kinds in `KINDS`.

    Raises
    ------
    InputError
        A kind is not among them.
    """
    codes = pd.Categorical(kinds, categories=KINDS).codes
    if (codes < 0).any():
        raise InputError(
            f"event {int(np.argmin(codes)) + 1} has the unknown kind {np.asarray(kinds)[np.argmin(codes)]!r}"
        )
    return codes


def _programs(kinds, columns, number):
    """Return which files are programs or libraries, that is, executed or mapped as executable."""
    mapped = (kinds == KINDS.index("mmap")) & (columns["other"] >= 0) & (columns["other"] & EXECUTABLE > 0)
    run = np.isin(kinds, [KINDS.index("exec"), KINDS.index("interp")]) & (columns["error"] == 0)
    program = np.zeros(number, bool)
    named = columns["file"][(mapped | run) & (columns["file"] >= 0)]
    program[named] = True
    return program


def _calls(kinds, columns, folders):
    """Return the calls of a run. The gap before a call is the recorded compute and system time since the start of the
    previous call, except the system time of reads, which the model computes."""
    failed = columns["error"] != 0
    kind = CALL_OF[kinds]
    opened = kind == CALLS.index("open")
    kind[opened & (columns["other"] >= 0) & (columns["other"].astype(np.int64) & TRUNCATED > 0)] = CALLS.index("create")
    kind[opened & np.isin(columns["file"], folders)] = CALLS.index("lookup")
    walked = np.isin(kind, [CALLS.index(name) for name in ("exec", "interpreter", "open", "create", "lookup")])
    kind[failed] = np.where(walked[failed], CALLS.index("lookup"), 0)
    kind[failed & walked & (columns["error"] == NOT_THERE)] = CALLS.index("search")
    kind[columns["file"] < 0] = 0
    own = np.where(kind == CALLS.index("read"), 0, columns["system_us"].astype(np.int64))
    gap = np.cumsum(columns["gap_ns"].astype(np.int64) + 1000 * np.concatenate([[0], own[:-1]]))
    kept = np.flatnonzero(kind)
    calls = np.zeros(len(kept) + 1, CALL)
    calls["gap"] = np.diff(np.concatenate([[0], gap[kept], [gap[-1] + 1000 * own[-1] if len(gap) else 0]]))
    calls["path"] = calls["file"] = -1
    for name in ("offset", "length", "asked"):
        calls[name][:-1] = columns[name][kept].astype(np.int64)
    calls["kind"][:-1], calls["path"][:-1] = kind[kept], columns["file"][kept]
    renames = calls["kind"][:-1] == CALLS.index("rename")
    calls["asked"][:-1][renames] = columns["other"][kept][renames]
    cut = calls["kind"][:-1] == CALLS.index("truncate")
    calls["offset"][:-1][cut] = np.maximum(columns["offset"][kept], columns["length"][kept]).astype(np.int64)[cut]
    return calls


def _fold(calls, program, share):
    """Map the pages touched in programs proportionally onto a share of their size."""
    folded = (calls["path"] >= 0) & program[calls["path"]]
    whole = folded & np.isin(calls["kind"], [CALLS.index(name) for name in ("exec", "interpreter", "open")])
    calls["length"][whole] = np.ceil(calls["length"][whole] * share)
    faults = folded & (calls["kind"] == CALLS.index("fault"))
    page = np.floor(calls["offset"][faults] * share / PAGE_BYTES)
    end = np.ceil((calls["offset"][faults] + calls["length"][faults]) * share / PAGE_BYTES)
    calls["offset"][faults] = page * PAGE_BYTES
    calls["length"][faults] = np.maximum(end - page, 1) * PAGE_BYTES


def _last_pass(calls):
    """Leave out the first opening of each file that is opened exactly twice, and its reads between the two openings."""
    opened = np.flatnonzero(calls["kind"] == CALLS.index("open"))
    paths, first, count = np.unique(calls["path"][opened], return_index=True, return_counts=True)
    second = len(opened) - 1 - np.unique(calls["path"][opened][::-1], return_index=True)[1]
    begin = np.full(max(calls["path"].max(), 0) + 1, len(calls))
    end = np.zeros_like(begin)
    twice = count == 2
    begin[paths[twice]], end[paths[twice]] = opened[first[twice]], opened[second[twice]]
    at = np.flatnonzero(np.isin(calls["kind"], [CALLS.index("open"), CALLS.index("read")]))
    gone = at[(begin[calls["path"][at]] <= at) & (at < end[calls["path"][at]])]
    kept = np.delete(np.arange(len(calls)), gone)
    left = calls[kept].copy()
    left["gap"] = np.diff(np.concatenate([[0], np.cumsum(calls["gap"])[kept]]))
    return left


def _identity(files, temporaries):
    """Return the predictor's file for each path, -1 = none, and the number of files."""
    temporary = np.asarray(files["temporary"], bool)
    number = np.arange(len(temporary))
    if temporaries == "recorded":
        return number, len(number)
    if temporaries == "dropped":
        return np.where(temporary, -1, number), len(number)
    names, identity = np.unique(np.asarray(files["normal_path"]).astype(str), return_inverse=True)
    return identity, len(names)


def _sizes_at_start(calls, before, initial):
    """Return the size of each file at the beginning of a run.

    If the run's first call on a file is an exec, an interpreter's open or an open, this is the size recorded with that
    call. Otherwise it is the size in `before`, or -1 if the file did not exist before the first run.
    """
    size = np.where(initial < 0, -1, before)
    named = np.flatnonzero(calls["path"] >= 0)
    paths, at = np.unique(calls["path"][named], return_index=True)
    first = calls[named[at]]
    whole = np.isin(first["kind"], [CALLS.index(name) for name in ("exec", "interpreter", "open")])
    size[paths[whole]] = first["length"][whole]
    return size
