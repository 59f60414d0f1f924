#!/usr/bin/env python3
"""Record the file activity of four workloads: see README.md in this folder."""

import argparse
import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import yaml
from jail import ENVIRONMENT, TOUCH, Jail
from packing import convert
from tracing import CaptureError, Gate, check_tracing, described, snapshot, tracing
from workloads import WORKLOADS, Workload

SYSTEM = ("/usr", "/etc", "/var/lib", "/capture")  # folders of the jail that no workload changes


def record(jail: Jail, work: Workload, folder: Path) -> None:
    """Record all runs of a workload into `folder`, which must not exist; it is removed again if anything fails."""
    if folder.exists():
        raise CaptureError(f"{folder} already holds a recording: convert or remove it")
    folder.mkdir(parents=True)
    try:
        facts = {"workload": work.name, "started": jail.shell("date -u +%Y-%m-%dT%H:%M:%S+00:00").strip()}
        facts |= {"versions": {**jail.versions(*work.packages), **tracer_version()}}
        facts |= time_runs(jail, work, folder)
        facts |= record_runs(jail, work, folder)
        (folder / "recording.json").write_text(json.dumps(facts, indent=1))
    except BaseException:
        shutil.rmtree(folder)
        raise


def tracer_version() -> dict[str, str]:
    """Return the version that bpftrace reports."""
    said = subprocess.run(["bpftrace", "--version"], capture_output=True, text=True, check=True).stdout
    return {"bpftrace": said.split()[-1].lstrip("v")}


def kinds(work: Workload) -> dict[str, bool]:
    """Map each kind of run to whether it is a training run; if both have the same commands, the only kind is `run`."""
    first, last = work.run(True), work.run(False)
    same = [step.command for step in first] == [step.command for step in last]
    return {"run": False} if same else {"training": True, "measured": False}


def time_runs(jail: Jail, work: Workload, folder: Path) -> dict:
    """Time runs without the file probes, after one untimed run of each kind that warms the caches."""
    gate = Gate(jail.path, ENVIRONMENT)
    seconds: dict[str, list[float]] = {}
    order = []
    try:
        for training in kinds(work).values():
            run(jail, work.run(training), gate)
        with tracing("clock.bt", gate, folder / "plain.txt") as start:
            for kind, training in kinds(work).items():
                for _ in range(work.plain):
                    steps = work.run(training)
                    order.append((kind, len(steps)))
                    seconds.setdefault(kind, []).append(round(sum(run(jail, steps, gate)), 3))
                    print(f"{work.name}: timed a run", flush=True)
    finally:
        gate.close()
    return {"plain_gate": gate.process, "plain_start": start, "plain_runs": order, "plain_cpu_s": seconds}


def record_runs(jail: Jail, work: Workload, folder: Path) -> dict:
    """Record the runs, and take a snapshot of the files before each step."""
    known = kinds(work)
    gate = Gate(jail.path, {**ENVIRONMENT, "LD_PRELOAD": TOUCH})
    system = [described(jail.path, path) for path in sorted(jail.path.iterdir()) if path.is_symlink() or path.is_dir()]
    system += snapshot(jail.path, SYSTEM)
    runs, before = [], []
    try:
        run(jail, work.run(True), gate)  # warm the caches, for touch.so as well
        with tracing("files.bt", gate, folder / "events.txt") as start:
            for training in [True] * work.training + [False] * work.measured:
                kind = "run" if "run" in known else "training" if training else "measured"
                steps = work.run(training)
                before.append([])
                seconds = run(jail, steps, gate, lambda: before[-1].append(snapshot(jail.path, work.watched)))
                told = [
                    {"folder": s.folder, "command": s.command, "cpu_s": t} for s, t in zip(steps, seconds, strict=True)
                ]
                runs.append({"training": training, "kind": kind, "steps": told})
                print(f"{work.name}: recorded run {len(runs)} of {work.training + work.measured}", flush=True)
    finally:
        gate.close()
    (folder / "files.json").write_text(json.dumps({"system": system, "before": before}))
    return {"gate": gate.process, "start": start, "runs": runs}


def run(jail: Jail, steps, gate: Gate, look=lambda: None) -> list[float]:
    """Run all steps of one run as children of `gate`; return the processor seconds of each."""
    seconds = []
    for step in steps:
        if step.before:
            step.before(jail)
        look()
        seconds.append(gate.run(step.folder, step.command))
    return seconds


def main(arguments=None) -> int:
    """Run the command line; return exit status 0, 2 (after printing the error) or 130 (interrupted)."""
    options = parser().parse_args(arguments)
    try:
        options.action(options)
    except CaptureError as error:
        print(f"builds.py: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("builds.py: interrupted; the unfinished recording was removed", file=sys.stderr)
        return 130
    return 0


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    everything = tuple(WORKLOADS)

    def command(name, action, help, *more):
        made = commands.add_parser(name, help=help, description=help)
        made.set_defaults(action=action)
        made.add_argument("--work", type=Path, default=Path("/var/tmp/builds"), metavar="DIR",
                          help="scratch folder (default: %(default)s)")  # fmt: skip
        if "workload" in more:
            made.add_argument("workload", choices=everything, help="what to record")
        if "out" in more:
            made.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="folder of the Parquet files")

    command("prepare", do_prepare, "make the jail and put a workload's sources into it", "workload")
    command("record", do_record, "record a workload's runs", "workload")
    command("convert", do_convert, "write a recording as Parquet", "workload", "out")
    command("capture", do_capture, "prepare, record and convert; then remove the recording", "workload", "out")
    command("all", do_all, "make all captures that --out lacks, one after another, then clean", "out")
    command("clean", do_clean, "remove the jail and all recordings")
    return top


def do_prepare(options) -> None:
    jail = Jail(options.work / "jail")
    jail.make()
    WORKLOADS[options.workload].prepare(jail)


def do_record(options) -> None:
    check_tracing()
    record(Jail(options.work / "jail"), WORKLOADS[options.workload], options.work / "recordings" / options.workload)


def do_convert(options) -> None:
    entry = convert(Jail(options.work / "jail"), options.work / "recordings" / options.workload, options.out)
    print(f"{options.workload}: {entry['rows'][f'{options.workload}.parquet']} events", flush=True)


def do_capture(options) -> None:
    if captured(options):
        raise CaptureError(f"{options.out}: {options.workload} already exists; choose another folder or remove it")
    check_tracing()
    do_prepare(options)
    if not (options.work / "recordings" / options.workload).exists():  # it exists if an earlier conversion failed
        do_record(options)
    do_convert(options)
    shutil.rmtree(options.work / "recordings" / options.workload)


def do_all(options) -> None:
    for options.workload in WORKLOADS:
        if captured(options):
            print(f"{options.workload}: already exists", flush=True)
        else:
            do_capture(options)
    do_clean(options)


def captured(options) -> bool:
    """Tell whether --out holds the workload's capture and its facts, which are written last."""
    facts, events = options.out / "captures.yaml", options.out / f"{options.workload}.parquet"
    return facts.exists() and events.exists() and options.workload in (yaml.safe_load(facts.read_text()) or {})


def do_clean(options) -> None:
    for name in ("jail", "recordings"):
        if (options.work / name).exists():
            shutil.rmtree(options.work / name)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # clean up on SIGTERM as on Ctrl-C
    sys.exit(main())
