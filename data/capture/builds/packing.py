"""Convert a recording into three Parquet files and an entry in captures.yaml."""

import dataclasses
import hashlib
import json
import os
import platform
import posixpath
import re
import statistics
import struct
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from decoding import KINDS, PAGE, Decoder, Namespace
from jail import TOUCH, Jail
from tracing import CaptureError
from workloads import WORKLOADS

from misspenalty.record.tracer import STARTED

RANDOM = re.compile(  # names with a random part or a process number, made by compiler drivers, ar and patch
    r"^/tmp/(?:ctm\.|cc)[A-Za-z0-9]{6}(?:\.[a-z]+)?$|(?:^|/)st[A-Za-z0-9]{6}$|\.o[A-Za-z0-9]{6}$|^/tmp/(?:zz\.)?\d+$"
)
EVENTS = pa.schema([
    ("run", pa.uint8()), ("time_us", pa.uint32()), ("process", pa.uint16()),
    ("kind", pa.dictionary(pa.int8(), pa.string())), ("file", pa.int32()), ("offset", pa.uint64()),
    ("length", pa.uint32()), ("asked", pa.uint32()), ("other", pa.int32()), ("error", pa.uint8()),
    ("compute_us", pa.uint32()), ("system_us", pa.uint32()),
])  # fmt: skip
FILES = pa.schema([
    ("path", pa.string()), ("normal_path", pa.string()), ("temporary", pa.bool_()), ("folder", pa.bool_()),
    ("size", pa.int64()),
])  # fmt: skip
PROCESSES = pa.schema([
    ("run", pa.uint8()), ("process", pa.uint16()), ("parent", pa.int32()), ("step", pa.uint16()),
    ("program", pa.string()), ("start_us", pa.uint32()), ("end_us", pa.uint32()), ("cpu_us", pa.uint32()),
    ("plain_us", pa.uint32()), ("status", pa.uint8()),
])  # fmt: skip


def convert(jail: Jail, recording: Path, folder: Path) -> dict:
    """Write the three Parquet files of a recording to `folder`; set and return its entry in captures.yaml.

    Raises
    ------
    CaptureError
        A recorded command failed, or the recording contradicts itself: a process did not end, or a file is unknown.
    """
    facts = json.loads((recording / "recording.json").read_text())
    work = WORKLOADS[facts["workload"]]
    decoded = decode(jail, recording, facts)
    plain = plain_times(recording, facts, decoded)
    files = FileTable(work.tree)
    for run in decoded:
        for event in run.events:
            files.note(run, event)
    folder.mkdir(parents=True, exist_ok=True)
    tables = {
        f"{work.name}.parquet": event_table(decoded, files),
        f"{work.name}_files.parquet": files.table(),
        f"{work.name}_processes.parquet": process_table(decoded, plain, files),
    }
    for name, table in tables.items():
        write(table, folder / name)
    entry = describe(jail, work, facts, decoded, tables, folder)
    enter(folder / "captures.yaml", work.name, entry)
    return entry


def decode(jail: Jail, recording: Path, facts: dict) -> list[Decoder]:
    """Decode the runs of a recording."""
    files = json.loads((recording / "files.json").read_text())
    programs: dict[str, str | None] = {}

    def interpreter(path):
        if path not in programs:
            programs[path] = elf_interpreter(jail.inside(path))
        return programs[path]

    before = iter(files["before"])
    watched = WORKLOADS[facts["workload"]].watched
    gate, runs, names, run = facts["gate"], [], Namespace(files["system"]), None
    steps = [(number, index, step) for number, r in enumerate(facts["runs"]) for index, step in enumerate(r["steps"])]
    coming = iter(steps)
    for line in lines(recording / "events.txt", facts["start"]):
        if line.startswith(f"F {gate} "):
            _, index, step = next(coming)
            if index == 0:
                if run:
                    run.finish()
                snapshots = iter(next(before))
                run = Decoder(names, interpreter, TOUCH)
                runs.append(run)
            names.forget(watched)
            names.add(next(snapshots))
            if index == 0:
                run.sizes = dict(names.sizes)
            _, _, child, time = line.split()
            run.start(int(child), index, step["folder"], int(time))
        else:
            run.line(line)
    run.finish()
    if next(coming, None):
        raise CaptureError(f"{recording}: the tracer saw fewer commands than were run")
    for run in runs:
        if any(process.parent < 0 and process.status for process in run.processes):
            raise CaptureError(f"{recording}: a command failed")
    return runs


def lines(path: Path, start: int):
    """Yield the tracer's lines from byte `start` on, without its messages about itself."""
    with path.open(errors="surrogateescape") as stream:
        stream.seek(start)
        for line in stream:
            line = line.rstrip("\n")
            if line and not line.startswith(STARTED):
                yield line


def elf_interpreter(path: Path) -> str | None:
    """Return the interpreter that an ELF64 program names, or None if it names none."""
    with path.open("rb") as stream:
        head = stream.read(64)
        if head[:5] != b"\x7fELF\x02":
            return None
        at, size, count = struct.unpack_from("<Q", head, 32)[0], *struct.unpack_from("<HH", head, 54)
        stream.seek(at)
        table = stream.read(size * count)
        for entry in range(count):
            kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", table, entry * size)
            if kind == 3:
                stream.seek(offset)
                return stream.read(length).rstrip(b"\0").decode()
    return None


def plain_times(recording: Path, facts: dict, decoded: list[Decoder]) -> list[list[int]]:
    """Return, per run and process, the median processor time (µs) of the same process in the runs with clock.bt.

    Without such runs, return the recorded processor times.
    """
    if not facts["plain_runs"]:
        return [[process.cpu_us for process in run.processes] for run in decoded]
    gate, kinds = facts["plain_gate"], facts["plain_runs"]
    steps, current = [], None
    numbers, base = {}, {}
    for line in lines(recording / "plain.txt", facts["plain_start"]):
        kind, *words = line.split()
        if kind == "F":
            parent, child = int(words[0]), words[1]
            if parent == gate:
                current = []
                steps.append(current)
            numbers[child] = len(current), current, parent == gate
            current.append(0)
            base[child] = 0
        elif kind == "E":
            _, _, root = numbers[words[0]]
            if root and base[words[0]] == 0:
                base[words[0]] = int(words[1])
        elif kind == "Z":
            number, step, _ = numbers[words[0]]
            step[number] = (int(words[1]) - base[words[0]]) // 1000
    # The steps are in the order of the timed runs; `kinds` has the kind and the number of steps of each run.
    timed: dict[str, list[list[int]]] = {}
    rest = iter(steps)
    for kind, count in kinds:
        timed.setdefault(kind, []).append([time for _ in range(count) for time in next(rest)])
    found = []
    for run, fact in zip(decoded, facts["runs"], strict=True):
        same = timed[fact["kind"]]
        if any(len(one) != len(run.processes) for one in same):
            raise CaptureError(
                f"a {fact['kind']} run has {len(run.processes)} processes, but timed runs have {[len(o) for o in same]}"
            )
        found.append([round(statistics.median(times)) for times in zip(*same, strict=True)])
    return found


class FileTable:
    """A table that numbers the files of all runs in order of appearance."""

    def __init__(self, tree: str):
        self.tree = tree.rstrip("/") + "/"
        self.numbers: dict[str, int] = {}
        self.rows: list[list] = []
        self.names: dict[int, Counter] = {}

    def note(self, run, event) -> None:
        """Add the files of an event to the table."""
        for path in (event.path, event.other if isinstance(event.other, str) else None):
            if path is not None and path not in self.numbers:
                self.numbers[path] = len(self.rows)
                shown = self.shown(path)
                temporary = path not in run.sizes and RANDOM.search(path) is not None
                normal = shown
                if temporary:
                    ordinal = self.names.setdefault(id(run), Counter())
                    ordinal["all"] += 1
                    folder, _, name = shown.rpartition("/")
                    normal = f"{folder}/temporary-{ordinal['all']:04d}" + (
                        f".{name.rsplit('.', 1)[1]}" if re.search(r"\.[a-z]$", name) else ""
                    )
                self.rows.append([shown, normal, temporary, path in run.names.folders, run.sizes.get(path, -1)])

    def shown(self, path: str) -> str:
        """Return `path` as it is published: relative to the workload's tree if it is in the tree."""
        if path.startswith(self.tree):
            return path[len(self.tree) :]
        own = self.tree.rstrip("/")
        return {own: ".", posixpath.dirname(own): ".."}.get(path, path)

    def table(self) -> pa.Table:
        return pa.table([list(column) for column in zip(*self.rows, strict=True)], schema=FILES)


def merged(events: list) -> list:
    """Merge faults of adjacent pages that a process touched in ascending order without another event in between."""
    last: dict[int, object] = {}
    kept = []
    for event in events:
        before = last.get(event.process)
        if (
            before is not None and event.kind == before.kind == "fault" and event.path == before.path
            and event.offset == before.offset + before.length
        ):  # fmt: skip
            before.length += PAGE
            before.compute_us += event.compute_us
            before.system_us += event.system_us
            continue
        event = dataclasses.replace(event)
        last[event.process] = event
        kept.append(event)
    return kept


def event_table(decoded: list[Decoder], files: FileTable) -> pa.Table:
    columns: dict[str, list] = {name: [] for name in EVENTS.names}
    for number, run in enumerate(decoded, 1):
        origin = min(process.start for process in run.processes)
        for event in merged(run.events):
            columns["run"].append(number)
            # Store whole ms, because finer digits are noise and would take up half the file.
            columns["time_us"].append((event.time - origin) // 1_000_000 * 1000)
            columns["file"].append(files.numbers.get(event.path, -1))
            columns["other"].append(files.numbers[event.other] if isinstance(event.other, str) else event.other)
            for name in ("process", "kind", "offset", "length", "asked", "error", "compute_us", "system_us"):
                columns[name].append(getattr(event, name))
    kinds = pa.array(KINDS)
    codes = {kind: code for code, kind in enumerate(KINDS)}
    arrays = [
        pa.DictionaryArray.from_arrays(pa.array([codes[kind] for kind in columns["kind"]], pa.int8()), kinds)
        if name == "kind" else pa.array(columns[name], EVENTS.field(name).type)
        for name in EVENTS.names
    ]  # fmt: skip
    return pa.table(arrays, schema=EVENTS)


def process_table(decoded: list[Decoder], plain: list[list[int]], files: FileTable) -> pa.Table:
    rows = []
    for number, (run, times) in enumerate(zip(decoded, plain, strict=True), 1):
        origin = min(process.start for process in run.processes)
        for process, time in zip(run.processes, times, strict=True):
            start, end = ((moment - origin) // 1000 for moment in (process.start, process.end))
            rows.append((number, process.number, process.parent, process.step, files.shown(process.program), start, end,
                         process.cpu_us, time, process.status >> 8 & 255))  # fmt: skip
    columns = zip(zip(*rows, strict=True), PROCESSES, strict=True)
    return pa.table([pa.array(column, field.type) for column, field in columns], schema=PROCESSES)


def write(table: pa.Table, path: Path) -> None:
    """Write a compact table, with pages so long that the compressor can use the similarity of the runs."""
    differences = [name for name in table.schema.names if name == "time_us"]
    spread = [name for name in table.schema.names if name not in ("time_us", "file", "offset", "path", "normal_path")]
    pq.write_table(
        table,
        path,
        compression="zstd",
        compression_level=22,
        row_group_size=1 << 26,
        data_page_size=1 << 29,
        max_rows_per_page=1 << 30,
        use_dictionary=spread,
        column_encoding={name: "DELTA_BINARY_PACKED" for name in differences},
        dictionary_pagesize_limit=1 << 24,
        write_statistics=False,
        store_schema=False,
    )


def describe(jail, work, facts, decoded, tables, folder) -> dict:
    """Return a recording's entry in captures.yaml."""
    names = list(tables)
    measured = [run for run, fact in zip(decoded, facts["runs"], strict=True) if not fact["training"]]
    return {
        "started_utc": facts["started"],
        "runs": {kind: [n for n, run in enumerate(facts["runs"], 1) if run["training"] == (kind == "training")]
                 for kind in ("training", "measured")},
        "steps": [{"folder": step["folder"], "command": step["command"]} for step in facts["runs"][-1]["steps"]],
        "rows": {name: table.num_rows for name, table in tables.items()},
        "processes_per_run": [len(run.processes) for run in decoded],
        "events_of_measured_runs": dict(sorted(Counter(
            event.kind for run in measured for event in run.events if event.kind != "fault").items())),
        "pages_touched": sum(event.kind == "fault" for run in decoded for event in run.events),
        "clock_slips": sum(run.slips for run in decoded),
        "cpu_s": {
            "traced": [round(sum(step["cpu_s"] for step in run["steps"]), 3) for run in facts["runs"]],
            "plain": facts["plain_cpu_s"],
        },
        "bytes": {name: (folder / name).stat().st_size for name in names},
        "sha256": {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names},
        "sources": work.sources,
        "versions": {"linux": platform.release().split("-")[0], **facts["versions"]},
        "machine": {"cores": os.cpu_count(),
                    "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)},
    }  # fmt: skip


def enter(path: Path, name: str, entry: dict) -> None:
    """Set one entry of captures.yaml, and keep the others."""
    known = yaml.safe_load(path.read_text()) if path.exists() else {}
    known[name] = entry
    head = "# Facts of the captures in this folder, entered by data/capture/builds/builds.py.\n"
    path.write_text(head + yaml.safe_dump(known, sort_keys=False, width=120, default_flow_style=None))
