"""The captures of file activity agree with their fact sheet; their reader does not accept damaged files."""

import functools
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

import misspenalty
from misspenalty.errors import InputError
from misspenalty.traces import builds

ROOT = Path(__file__).parents[2]
RAW = ROOT / "data" / "raw" / "builds"
PROGRAM = ROOT / "data" / "capture" / "builds" / "builds.py"
FACTS = yaml.safe_load((RAW / "captures.yaml").read_text())
LARGEST = 10_000_000  # limit of one file, in bytes
CODE = {kind: code for code, kind in enumerate(builds.KINDS)}
ELSEWHERE = ("/work", "/var/tmp", "/root", "/home", "/build")  # folders of a recording machine, and of the jail


@functools.cache
def opened(name):
    """Return a capture, which is read only once."""
    return builds.read(RAW, name)


@pytest.fixture(scope="module", params=FACTS)
def capture(request):
    """Return a capture and its facts."""
    return opened(request.param), FACTS[request.param]


# what the fact sheet says --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FACTS)
def test_bytes_are_those_of_the_fact_sheet(name):
    assert FACTS[name]["sha256"].keys() == FACTS[name]["bytes"].keys() == FACTS[name]["rows"].keys()
    for file, digest in FACTS[name]["sha256"].items():
        content = (RAW / file).read_bytes()
        assert len(content) == FACTS[name]["bytes"][file] <= LARGEST
        assert hashlib.sha256(content).hexdigest() == digest


def test_counts_are_those_of_the_fact_sheet(capture):
    found, facts = capture
    assert [len(found.events), len(found.files), len(found.processes)] == list(facts["rows"].values())
    assert sorted(facts["runs"]["training"] + facts["runs"]["measured"]) == found.runs
    assert len(facts["runs"]["training"]) == (60 if found.name == "andrew_gnu" else 3)
    assert len(facts["runs"]["measured"]) >= 5
    assert found.processes.groupby("run").size().tolist() == facts["processes_per_run"]
    measured = found.events[found.events["run"].isin(facts["runs"]["measured"])]
    kinds = measured["kind"].value_counts().drop("fault")
    assert kinds[kinds > 0].to_dict() == facts["events_of_measured_runs"]
    touched = found.events.loc[found.events["kind"] == "fault", "length"].sum() // builds.PAGE_BYTES
    assert touched == facts["pages_touched"]


def test_the_folder_has_no_other_files():
    said = {file for facts in FACTS.values() for file in facts["sha256"]}
    assert {path.name for path in RAW.iterdir()} == said | {"README.md", "captures.yaml"}


# invariants ----------------------------------------------------------------------------------------------------------


def test_forks_and_waits_describe_the_tree_of_processes(capture):
    found, _ = capture
    processes = found.processes
    roots = processes[processes["parent"] < 0]
    assert (roots.groupby("run").size() == roots.groupby("run")["step"].nunique()).all()
    assert (roots["status"] == 0).all(), "every recorded command succeeded"
    forked = found.events[found.events["kind"] == "fork"]
    children = processes[processes["parent"] >= 0]
    assert set(zip(forked["run"], forked["other"], forked["process"], strict=True)) == set(
        zip(children["run"], children["process"], children["parent"], strict=True)
    )
    waited = found.events[found.events["kind"] == "wait"]
    assert not waited.duplicated(["run", "other"]).any()
    assert not found.events[found.events["kind"] == "exit"].duplicated(["run", "process"]).any()
    assert (found.events["kind"] == "exit").sum() == len(processes)


def test_every_read_and_write_is_of_a_file_that_an_open_preceded(capture):
    found, _ = capture
    events = found.events
    begun = events[events["kind"].isin(["open", "create"]) & (events["error"] == 0)]
    first = begun.groupby(["run", "file"])["time_us"].min()
    moved = events[events["kind"].isin(["read", "write", "close", "mmap"])]
    begun = first.reindex(pd.MultiIndex.from_frame(moved[["run", "file"]])).to_numpy()
    assert not np.isnan(begun).any()
    assert (moved["time_us"].to_numpy() >= begun).all()


def test_pages_are_touched_in_programs_executed_or_files_mapped_before(capture):
    found, _ = capture
    events = found.events
    mapped = events[events["kind"].isin(["exec", "interp", "mmap"])]
    first = mapped.groupby(["run", "file"])["time_us"].min()
    touched = events[events["kind"] == "fault"]
    begun = first.reindex(pd.MultiIndex.from_frame(touched[["run", "file"]])).to_numpy()
    assert not np.isnan(begun).any()
    assert (touched["time_us"].to_numpy() >= begun).all()


def test_transfers_lie_within_what_was_asked_for(capture):
    found, _ = capture
    reads = found.events[found.events["kind"] == "read"]
    assert (reads["length"] <= reads["asked"]).all()
    end = found.events[found.events["kind"].isin(["read", "write"])].eval("offset + length")
    assert end.max() < 1 << 32


def test_processor_times_add_up(capture):
    found, _ = capture
    used = found.events.groupby(["run", "process"])[["compute_us", "system_us"]].sum().sum(axis=1)
    told = found.processes.set_index(["run", "process"])["cpu_us"]
    assert (used == told.reindex(used.index)).all()
    assert told.sum() > found.processes["plain_us"].sum(), "recording costs time"
    corrected = found.events["gap_ns"].sum() / 1000 + found.events["system_us"].sum()
    assert corrected == pytest.approx(found.processes["plain_us"].sum(), rel=0.15)
    assert (found.events["gap_ns"] >= 0).all()
    assert (found.events["gap_ns"] <= 1000 * found.events["compute_us"]).all()


def test_paths_are_of_the_source_tree_or_the_system(capture):
    found, _ = capture
    paths = pd.concat([found.files["path"], found.files["normal_path"]])
    assert not paths.str.startswith(ELSEWHERE).any()
    absolute = paths[paths.str.startswith("/")]
    assert absolute.str.match(r"/(usr|bin|sbin|lib|lib64|etc|tmp|opt|proc|dev|$)").all()


def test_what_is_not_temporary_has_the_same_name_in_every_run_of_its_kind(capture):
    found, facts = capture
    files = found.files
    assert files.loc[files["temporary"], "size"].eq(-1).all()
    named = files.loc[~files["temporary"], ["path", "normal_path"]]
    assert (named["path"] == named["normal_path"]).all()
    made = found.events[found.events["kind"] == "create"]
    names = files["normal_path"].to_numpy()[made["file"]]
    sets = {run: frozenset(names[made["run"] == run]) for run in found.runs}
    for runs in facts["runs"].values():
        assert len({sets[run] for run in runs}) == 1


def test_runs_of_a_kind_make_the_same_calls(capture):
    found, facts = capture
    names = found.files["normal_path"].to_numpy()
    calls = found.events[(found.events["kind"] != "fault") & (found.events["file"] >= 0)]
    calls = calls.assign(name=names[calls["file"]])[["run", "kind", "name", "offset", "length"]]
    assert len(facts["runs"]["measured"]) > 1
    for runs in facts["runs"].values():
        counts = [calls[calls["run"] == run].groupby(["kind", "name"], observed=True).size() for run in runs]
        for other in counts[1:]:
            unlike = counts[0].sub(other, fill_value=0).abs().sum()
            assert unlike <= 0.001 * counts[0].sum()


# the workloads are those of the study --------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "preprocessor"), [("andrew", "cpp"), ("andrew_gnu", "sdcpp")])
def test_andrew_compiles_17_files_and_links_2_libraries_and_1_program(name, preprocessor):
    found = opened(name)
    run = found.processes[found.processes["run"] == 4]
    programs = run["program"].str.extract(r"([^-/]+)$")[0].value_counts()
    assert {name: programs[name] for name in (preprocessor, "ccom", "as", "ld.bfd", "ar", "ranlib")} == {
        preprocessor: 17, "ccom": 17, "as": 17, "ld.bfd": 1, "ar": 2, "ranlib": 2
    }  # fmt: skip
    events = found.events[found.events["run"] == 4]
    names = found.files["path"].to_numpy()

    def end(name, kind):
        """Return the farthest byte of a file that was written or read."""
        moved = events[(events["kind"] == kind) & (names[events["file"]] == name)]
        return (moved["offset"] + moved["length"]).max()

    objects = [n for n in names[events.loc[events["kind"] == "create", "file"]] if n.endswith(".o")]
    assert len(objects) == 17
    assert all(end(name, "write") == end(name, "read") for name in objects), "all objects are read again"
    mapped = names[events.loc[events["kind"] == "mmap", "file"].unique()]
    assert not any("plugin" in name for name in mapped)


def test_gnus_preprocessor_reads_a_header_whole_and_a_guarded_one_once():
    found = opened("andrew_gnu")
    run = found.processes[(found.processes["run"] == 4) & found.processes["program"].str.endswith("cpp")]
    events = found.events[(found.events["run"] == 4) & found.events["process"].isin(run["process"])]
    names = found.files["path"].to_numpy()
    reads = events[(events["kind"] == "read") & np.array([name.endswith(".h") for name in names])[events["file"]]]
    sizes = found.files["size"].to_numpy()[reads["file"]]
    whole = reads["length"].to_numpy() == sizes
    assert (whole | (reads["length"] == 0)).all()
    per_compile = reads[whole].groupby(["process", "file"]).size()
    again = {names[file].rsplit("/", 1)[-1] for _, file in per_compile[per_compile > 1].index}
    assert again == {"alltypes.h"}  # musl's headers include this list repeatedly, by design


def test_glimpse_reads_more_than_the_papers_memory_and_hardly_any_file_twice_whole():
    found = opened("glimpse")
    events = found.events[found.events["run"] == found.runs[-1]]
    names = found.files["path"].to_numpy()
    reads = events[(events["kind"] == "read") & np.array([name.startswith("doc/") for name in names])[events["file"]]]
    ends = reads.groupby("file").apply(lambda group: (group["offset"] + group["length"]).max(), include_groups=False)
    assert ends.sum() > 256 << 20
    assert reads["length"].sum() < 1.5 * ends.sum()


def test_ld_reads_every_object_and_runs_about_50_commands():
    found = opened("ld")
    run = found.processes[found.processes["run"] == 4]
    assert 45 <= len(run) <= 55
    events = found.events[found.events["run"] == 4]
    names = found.files.loc[events.loc[events["kind"] == "read", "file"].unique(), "path"]
    objects = [name for name in names if name.endswith(".o") and not name.endswith("all.o")]
    assert 150 <= len(objects) <= 200


def test_ssh_measures_rebuilds_of_patched_versions():
    found, facts = opened("ssh"), FACTS["ssh"]
    steps = found.processes.groupby("run")["step"].nunique()
    assert steps[facts["runs"]["training"]].eq(1).all()
    assert steps[facts["runs"]["measured"]].eq(8).all()
    compiled = found.processes["program"].str.endswith("ccom").groupby(found.processes["run"]).sum()
    assert compiled[facts["runs"]["training"]].gt(200).all()
    patched = found.processes["program"].str.endswith("/patch").groupby(found.processes["run"]).sum()
    assert patched[facts["runs"]["measured"]].eq(23).all()
    assert patched[facts["runs"]["training"]].eq(0).all()


# the capture program ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mirror", [None, "", " "])
def test_a_capture_without_a_mirror_stops_before_it_makes_anything(tmp_path, mirror):
    environment = {name: value for name, value in os.environ.items() if name != "DEBIAN_MIRROR"}
    environment |= {} if mirror is None else {"DEBIAN_MIRROR": mirror}
    command = [sys.executable, str(PROGRAM), "prepare", "andrew", "--work", str(tmp_path / "work")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 2
    assert "DEBIAN_MIRROR names no mirror of Debian: set it" in done.stderr
    assert not (tmp_path / "work").exists()


def test_the_capture_program_says_what_it_can_record():
    done = subprocess.run([sys.executable, str(PROGRAM), "capture", "x"], capture_output=True, text=True)
    assert done.returncode == 2
    assert all(name in done.stderr for name in FACTS)


def test_all_skips_existing_captures(tmp_path):
    shutil.copy(RAW / "captures.yaml", tmp_path)
    for name in FACTS:
        (tmp_path / f"{name}.parquet").touch()
    command = [sys.executable, str(PROGRAM), "all", "--work", str(tmp_path / "work"), "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [f"{name}: already exists" for name in FACTS]
    (tmp_path / "ssh.parquet").unlink()
    elsewhere = {name: value for name, value in os.environ.items() if name != "DEBIAN_MIRROR"}
    assert subprocess.run(command, env=elsewhere, capture_output=True).returncode == 2, "facts alone are not a capture"


# the reader ----------------------------------------------------------------------------------------------------------


def small():
    """Return the three tables of a capture of one run: a shell starts a process that reads a file."""
    rows = [  # time, process, kind, file, offset, length, asked, other, error, compute, system
        (0, 0, "exec", 0, 0, 9000, 0, -1, 0, 0, 50),
        (60, 0, "fault", 0, 0, 8192, 0, -1, 0, 40, 0),
        (80, 0, "fork", -1, 0, 0, 0, 1, 0, 20, 5),
        (90, 1, "open", 1, 0, 100, 0, 1, 0, 30, 5),
        (100, 1, "read", 1, 0, 100, 4096, -1, 0, 16, 2),
        (110, 1, "exit", -1, 0, 0, 0, 0, 0, 100, 0),
        (120, 0, "wait", -1, 0, 0, 0, 1, 0, 15, 3),
        (130, 0, "exit", -1, 0, 0, 0, 0, 0, 25, 2),
    ]
    names = [name for name in builds.EVENT_COLUMNS if name != "run"]
    events = pd.DataFrame(rows, columns=names)
    events.insert(0, "run", 1)
    files = pd.DataFrame({"path": ["/usr/bin/sh", "a.c"], "normal_path": ["/usr/bin/sh", "a.c"], "temporary": False,
                          "folder": False, "size": [9000, 100]})  # fmt: skip
    processes = pd.DataFrame({"run": 1, "process": [0, 1], "parent": [-1, 0], "step": 0, "program": "/usr/bin/sh",
                              "start_us": [0, 85], "end_us": [130, 110], "cpu_us": [160, 153], "plain_us": [100, 500],
                              "status": 0})  # fmt: skip
    return {"events": events, "files": files, "processes": processes}


def written(folder, tables):
    for part, table in tables.items():
        suffix = "" if part == "events" else f"_{part}"
        pq.write_table(pa.Table.from_pandas(table, preserve_index=False), folder / f"small{suffix}.parquet")
    return folder / "small.parquet"


def test_gaps_give_up_the_cost_of_recording_until_they_add_up_to_the_plain_time(tmp_path):
    found = builds.read(written(tmp_path, small()))
    # Process 0 has gaps of 0, 40, 20, 15 and 25 us with 1, 2, 1, 1 and 1 lines; its calls leave 40 of its 100 us to the
    # gaps. With a cost of c per line: 40-2c + 20-c + 15-c + 25-c = 40. Process 1 used less time than without recording,
    # so nothing is subtracted.
    assert found.events["gap_ns"].tolist() == [0, 16000, 8000, 30000, 16000, 100000, 3000, 13000]


def test_gaps_below_the_cost_become_zero(tmp_path):
    tables = small()
    tables["processes"]["plain_us"] = [75, 500]
    found = builds.read(written(tmp_path, tables))
    # 15 us are left: 40-2c + 20-c + 15-c + 25-c = 15 gives c = 17, above the gap of 15, so 40-2c + 20-c + 25-c = 15
    assert found.events["gap_ns"].tolist() == [0, 5000, 2500, 30000, 16000, 100000, 0, 7500]


def test_gaps_of_a_run_do_not_depend_on_other_runs(tmp_path):
    tables = small()
    once = builds.read(written(tmp_path, tables)).events["gap_ns"].tolist()
    for part in ("events", "processes"):
        tables[part] = pd.concat([tables[part], tables[part].assign(run=2)], ignore_index=True)
    assert builds.read(written(tmp_path, tables)).events["gap_ns"].tolist() == 2 * once


def test_identifiers_take_four_bytes_and_quantities_eight(tmp_path):
    events = builds.read(written(tmp_path, small())).events
    wide = {"time_us", "offset", "length", "asked", "compute_us", "system_us", "gap_ns"}
    assert {name for name, dtype in events.dtypes.items() if dtype == np.int64} == wide
    assert {name for name, dtype in events.dtypes.items() if dtype == np.int32} == builds.NARROW & set(events.columns)


def test_a_capture_opens_as_a_trace_of_pages(tmp_path):
    trace = misspenalty.open_trace(written(tmp_path, small()))
    assert (trace.format, trace.block_bytes, trace.blocks, len(trace), trace.reads) == ("files", 4096, 3, 3, 3)


def test_calls_that_moved_nothing_are_not_requests(tmp_path):
    tables = small()
    tables["events"].loc[4, "length"] = 0
    trace = misspenalty.open_trace(written(tmp_path, tables))
    assert trace.address[trace.ids].tolist() == [0, 1]


def test_runs_of_a_capture_follow_one_another(tmp_path):
    """The second run begins 1 us after the first run's last event; events that failed or moved nothing are left out."""
    tables = small()
    tables["events"].loc[4, "kind"] = "write"
    both = {part: pd.concat([t, t.assign(run=2)], ignore_index=True) for part, t in tables.items() if part != "files"}
    both["events"].loc[1, "error"] = 2
    trace = misspenalty.open_trace(written(tmp_path, tables | both))
    assert (trace.time - trace.time[0]).tolist() == [1000 * us for us in (0, 91, 91, 131)]
    assert trace.address[trace.ids].tolist() == [1 << 47, 0, 1, 1 << 47]  # a file's blocks are kept apart
    assert trace.write.tolist() == [True, False, False, True]


def set_to(part, column, row, value):
    """Return a function that changes one cell."""

    def change(tables):
        tables[part].loc[row, column] = value

    return change


def retype(part, column, dtype):
    """Return a function that changes one column's type."""

    def change(tables):
        tables[part][column] = tables[part][column].astype(dtype)

    return change


DAMAGE = {
    "file": (set_to("events", "file", 3, 2), "row 4 refers to an unknown file"),
    "no file": (set_to("events", "file", 3, -1), "row 4 names no file"),
    "process": (set_to("events", "process", 4, 2), "row 5 belongs to a process that is not in its run"),
    "run": (set_to("events", "run", 7, 2), "row 8 belongs to a process that is not in its run"),
    "earlier run": (set_to("events", "run", 7, 0), "row 8 has a lower run number"),
    "time": (set_to("events", "time_us", 7, 5), "row 8 begins before"),
    "kind": (set_to("events", "kind", 3, "mail"), "of kind 'mail'"),
    "child": (set_to("events", "other", 2, 7), "row 3 refers to a process that is not in its run"),
    "own child": (
        set_to("events", "other", 6, 0),
        "row 7 refers to a process that is not a child of the event's process",
    ),
    "page": (set_to("events", "offset", 1, 17), "row 2 does not touch whole pages"),
    "no page": (set_to("events", "length", 1, 0), "row 2 does not touch whole pages"),
    "length": (set_to("events", "length", 4, -1), "row 5 has an invalid length"),
    "offset": (set_to("events", "offset", 4, 1 << 60), "row 5 has an invalid offset"),
    "compute": (set_to("events", "compute_us", 4, 1 << 50), "row 5 has an invalid compute_us"),
    "wide number": (set_to("events", "file", 3, 1 << 40), "column file holds a number beyond 32 bits"),
    "no number": (retype("events", "offset", float), "column offset is of type double"),
    "text for number": (retype("events", "length", str), "column length is of type"),
    "truth for text": (retype("files", "path", bool), "column path is of type"),
    "no truth": (retype("files", "temporary", int), "column temporary is of type"),
    "null": (set_to("processes", "program", 1, None), "column program lacks a value"),
    "same path": (set_to("files", "path", 1, "/usr/bin/sh"), "row 2 repeats a path"),
    "size": (set_to("files", "size", 1, -2), "row 2 has an invalid size"),
    "number": (set_to("processes", "process", 1, 5), "row 2 is not the next process"),
    "parent": (set_to("processes", "parent", 0, 0), "row 1 has a parent that is not an earlier process"),
    "end": (set_to("processes", "end_us", 1, 3), "row 2 ends before it begins"),
    "plain": (set_to("processes", "plain_us", 1, -3), "row 2 has an invalid plain_us"),
}


@pytest.mark.parametrize("change, message", DAMAGE.values(), ids=DAMAGE.keys())
def test_damage_is_told_with_its_place(tmp_path, change, message):
    tables = small()
    change(tables)
    with pytest.raises(InputError, match=message):
        builds.read(written(tmp_path, tables))


@pytest.mark.parametrize("part", ["events", "files", "processes"])
def test_missing_files_columns_rows_and_bytes_are_reported(tmp_path, part):
    path = written(tmp_path, small())
    victim = path if part == "events" else path.with_name(f"small_{part}.parquet")
    whole = victim.read_bytes()
    victim.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=f"{victim.name}: cannot be read as Parquet"):
        builds.read(path)
    victim.unlink()
    with pytest.raises(InputError, match=f"{victim.name}: no such file"):
        builds.read(path)
    table = small()[part]
    table.iloc[:0].to_parquet(victim)
    with pytest.raises(InputError, match=rf"contains no {part}|of type null|names no|does not have|unknown file"):
        builds.read(path)
    table.drop(columns=table.columns[0]).to_parquet(victim)
    with pytest.raises(InputError, match=f"no column {table.columns[0]}"):
        builds.read(path)
    table = pa.Table.from_pandas(table, preserve_index=False)
    pq.write_table(table.append_column(table.column_names[0], table.column(0)), victim)
    with pytest.raises(InputError, match=f"two columns {table.column_names[0]}"):
        builds.read(path)


def test_the_command_line_says_what_a_capture_holds(tmp_path, capsys):
    from misspenalty.cli.main import main

    path = written(tmp_path, small())
    assert main(["trace", "info", str(path), "--json"]) == 0
    assert '"format": "files"' in capsys.readouterr().out
    assert main(["trace", "info", str(path.with_name("small_files.parquet"))]) == 2
    shutil.copy(path, tmp_path / "alone.parquet")
    assert main(["trace", "info", str(tmp_path / "alone.parquet")]) == 2
    assert "alone_files.parquet: no such file; a capture is three files in one folder" in capsys.readouterr().err
