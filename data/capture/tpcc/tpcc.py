#!/usr/bin/env python3
"""Capture block traces of TPC-C on PostgreSQL: the misses of its buffer cache and its data-file writes.

Each step has a command (load, record, convert, clean); capture records and converts, and all runs everything.
"""

import argparse
import json
import re
import shutil
import signal
import sys
from pathlib import Path

from cluster import Cluster
from converting import convert, refuse_to_overwrite
from loading import load
from recording import Run, record

from misspenalty.record.tracer import CaptureError

# These are the captures of the MQ study, in the order in which they are made on one database: shared_buffers, reads.
STANDARD = {
    "128mb": ("128MB", 7_300_000),
    "16mb": ("16MB", 3_800_000),
    "2mb": ("2MB", 3_000_000),
    "2mb-long": ("2MB", 12_200_000),
}


def main(arguments: list[str] | None = None) -> int:
    """Run one command; return the exit status (2 for an error of the user or the machine, 130 if interrupted)."""
    options = parser().parse_args(arguments)
    try:
        options.action(options)
    except CaptureError as error:
        print(f"tpcc.py: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("tpcc.py: interrupted; server stopped, unfinished files removed", file=sys.stderr)
        return 130
    return 0


def parser() -> argparse.ArgumentParser:
    """Make the parser of the command line, with the options of every command."""
    top = argparse.ArgumentParser(
        prog="tpcc.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = top.add_subparsers(required=True, metavar="command")
    default = "(default: %(default)s)"
    options = {
        "--work": (Path, "/var/tmp/tpcc", "DIR", f"database and recordings, outside the repository {default}"),
        "--warehouses": (number(2), 256, "N", f"scale; 110 MiB of disk each {default}"),
        "--clients": (number(1), 8, "N", f"database sessions {default}"),
        "--warmup": (number(1), 60, "S", f"seconds of running before the window opens {default}"),
        "--ring-pages": (power_of_two, 16384, "N", f"pages of each processor's event buffer {default}"),
        "--shared-buffers": (buffer_size, None, "SIZE", "first-level cache, such as 128MB"),
        "--reads": (number(1), None, "N", "reads in the window, exactly"),
        "--recording": (str, None, "NAME", "name of the recording, a folder in DIR"),
        "--out": (Path, None, "PATH", "Parquet file (of `all`: folder); the facts go to captures.yaml next to it"),
    }

    def command(name: str, action, help: str, *names: str) -> None:
        made = commands.add_parser(name, help=help, description=help)
        made.set_defaults(action=action)
        for option in ("--work", *names):
            kind, value, shown, text = options[option]
            made.add_argument(option, type=kind, default=value, required=value is None, metavar=shown, help=text)

    running = ("--clients", "--warmup", "--ring-pages")
    window = ("--shared-buffers", "--reads")
    command("load", do_load, "make a cluster and load TPC-C", "--warehouses")
    command("record", do_record, "run the transactions and record what they do", *window, *running, "--recording")
    command("convert", do_convert, "cut a recording and write it as Parquet", "--recording", "--out")
    command("capture", do_capture, "record and convert; keep the Parquet file only", *window, *running, "--out")
    command("clean", do_clean, "remove the cluster and all recordings")
    command("all", do_all, "load, make the captures of the MQ study, clean", "--warehouses", *running, "--out")
    return top


def number(least: int):
    """Return an argparse type that accepts integers of at least `least`."""

    def parse(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r}: expected an integer of at least {least}")
        return int(text)

    return parse


def power_of_two(text: str) -> int:
    """Parse a power of two, as an argparse type."""
    value = number(1)(text)
    if value & (value - 1):
        raise argparse.ArgumentTypeError(f"{text!r}: expected a power of two")
    return value


def buffer_size(text: str) -> str:
    """Check, as an argparse type, that a size has a form that PostgreSQL accepts for shared_buffers."""
    if not re.fullmatch(r"[1-9]\d*(kB|MB|GB)", text):
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number with kB, MB or GB, such as 128MB")
    return text


def do_load(options) -> None:
    load(Cluster(options.work), options.warehouses)
    print(f"{options.warehouses} warehouses loaded", flush=True)


def do_record(options) -> None:
    run = Run(options.shared_buffers, options.reads, options.warmup, options.clients, options.ring_pages)
    folder = options.work / "recordings" / options.recording
    print(f"recording {run.reads} reads behind {run.shared_buffers}", flush=True)
    record(Cluster(options.work), run, folder)
    # The database grows with every run, so each recording states how many transactions came before it.
    ledger = options.work / "transactions.json"
    facts = json.loads((folder / "recording.json").read_text())
    facts["transactions_earlier"] = json.loads(ledger.read_text()) if ledger.exists() else 0
    (folder / "recording.json").write_text(json.dumps(facts, indent=1))
    with (folder / "transactions.log").open() as lines:
        ledger.write_text(json.dumps(facts["transactions_earlier"] + sum(1 for _ in lines)))


def do_convert(options) -> None:
    entry = convert(options.work / "recordings" / options.recording, options.out)
    print(
        f"{options.out}: {entry['reads']} reads, {entry['writes']} writes, "
        f"{entry['transactions']['all']} transactions, {entry['whole_run']['seen_percent']} % seen, "
        f"{entry['bytes']} bytes",
        flush=True,
    )


def do_capture(options) -> None:
    refuse_to_overwrite(options.out)
    options.recording = options.out.stem
    do_record(options)
    do_convert(options)
    shutil.rmtree(options.work / "recordings" / options.recording)


def do_clean(options) -> None:
    if (options.work / "cluster" / "postmaster.pid").exists():
        raise CaptureError(f"{options.work}: the server is still running; stop it first")
    for name in ("cluster", "socket", "recordings"):
        if (options.work / name).exists():
            shutil.rmtree(options.work / name)
    for name in ("postgres.log", "transactions.json"):
        (options.work / name).unlink(missing_ok=True)


def do_all(options) -> None:
    folder = options.out
    for name in STANDARD:
        refuse_to_overwrite(folder / f"{name}.parquet")
    do_load(options)
    for name, (options.shared_buffers, options.reads) in STANDARD.items():
        options.out = folder / f"{name}.parquet"
        do_capture(options)
    do_clean(options)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # clean up on SIGTERM as on Ctrl-C
    sys.exit(main())
