"""Run `trace info`, `curve` and `penalty` on traces in many formats, and write docs/transcript.md with pictures.

python tools/transcript.py

Files that are not in the repository are looked for in the folder ``$MISSPENALTY_SHARED_TRACES``, by default
``shared/traces`` next to the repository, and in the folders next to that one. Missing files are left out, and are
listed on the page.
"""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from misspenalty.traces import formats

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("MISSPENALTY_SHARED_TRACES", ROOT.parent / "shared" / "traces")).parent
PAGE = ROOT / "docs" / "transcript.md"
MISSPENALTY = Path(sys.executable).with_name("misspenalty")
CURVE = ("--policy", "lru,arc,mq,s3fifo,opt", "--size")
SMALL = "5%,10%,30%"
PENALTY = ("--policy", "lru,arc,opt", "--size")
DRAWN = "traces/arc/OLTP.lis.zst"


class Case(NamedTuple):
    """A trace file, and the arguments with which the commands read and replay it."""

    format: str
    path: str
    options: tuple[str, ...] = ()
    device: str = "cheetah9lp"
    sizes: str = "1%,5%,10%,30%"
    timed: str = "10%"
    counted: tuple[str, ...] = ()  # options of curve and penalty that state the unit of cache sizes


CASES = (
    Case("arc", DRAWN, timed="1%,5%,10%,30%"),
    Case("lirs", "traces/lirs/sprite.trace.gz"),
    Case("lirs", "traces/lirs/loop.trace.gz"),
    Case("lirs", "dispute/zipf_1.0.xz"),
    Case("spc", "traces/spc/websearch-small.spc", device="dc_p3700"),
    Case("disksim", "traces/disksim/ascii.trace"),
    Case("vscsi", "traces/vscsi/cloudPhysicsIO.vscsi", device="dc_p3700"),
    Case("mooncake", "kvcache/conversation_trace.jsonl", device="20ms"),
    Case("delayed_hits", "delayed/sample.csv", device="5us"),
    Case("address", "extras/address_gzip.trace.gz", device="100ns"),
    Case("address_penalties", "extras/address_penalties_gcc.trace.xz", device="100ns"),
    Case("adapt_size", "extras/adapt_size_request.trace.xz", ("--format", "adapt_size"), counted=("--by-objects",)),
    Case("corda", "extras/corda_trace_vaultservice.gz", ("--format", "corda")),
    Case("scarab", "extras/scarab_scarab-recs.trace.xz", ("--format", "scarab")),
    Case("u32be", "traces/objects/web12.trace.xz", ("--format", "u32be")),
    Case("cache2k", "traces/objects/orm-busy.trace.xz", ("--format", "cache2k")),
    Case("capture", "data/raw/tpcc/16mb.parquet", device="dc_p3700"),
    Case("files", "data/raw/builds/andrew.parquet", device="dc_p3700"),
    Case("csv", "tests/data/formats/requests.csv", sizes=SMALL, counted=("--by-objects",)),
    Case("lcs", "tests/data/formats/v8.lcs.xz", sizes=SMALL, counted=("--by-objects",)),
    Case("blktrace", "tests/data/formats/sdb.blktrace.0", sizes="1,2", timed="1"),
    Case("blkparse", "tests/data/formats/sdb.blkparse", sizes="1,2", timed="1"),
    Case("fio", "tests/data/formats/fio3.log", sizes=SMALL),
)


def found(case):
    """Return the path of a case's file, or None if it is missing."""
    return next((folder / case.path for folder in (ROOT, SHARED) if (folder / case.path).exists()), None)


def asked(*arguments):
    """Run a command with ``--json``, and return its parsed output."""
    done = subprocess.run([MISSPENALTY, *map(str, arguments), "--json"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{shlex.join(map(str, arguments))}: {done.stderr}")
    return json.loads(done.stdout)


def shown(us):
    """Return a time of `us` microseconds as text, with three significant digits and a unit."""
    scale, unit = next(
        (scale, unit) for scale, unit in ((1000, "ms"), (1, "us"), (0.001, "ns")) if us >= scale or scale < 1
    )
    return f"{us / scale:.3g} {unit}"


def rows(case, path):
    """Run the three commands on a case, and yield each command and its result."""
    about = asked("trace", "info", path, *case.options)
    text = f"{about['references']:,} references to {about['blocks']:,} blocks, {about['read_share']:.0%} reads"
    yield ("trace", "info"), text + f", {about['sequential_share']:.0%} sequential"
    plot = ("--plot", PAGE.parent / "transcript_curve.svg") if case.path == DRAWN else ()
    table = asked("curve", path, *case.options, *case.counted, *CURVE, case.sizes, *plot)
    largest = max(row["cache_blocks"] for row in table if row["cache_blocks"] <= max(about["blocks"] * 0.1 + 1, 2))
    at = {row["policy"]: row["hit_ratio"] for row in table if row["cache_blocks"] == largest}
    ratios = ", ".join(f"{name} {ratio:.1%}" for name, ratio in at.items())
    yield ("curve", *CURVE, case.sizes), f"hit ratio with {largest:,} blocks: {ratios}"
    plot = ("--plot", PAGE.parent / "transcript_penalty.svg") if case.path == DRAWN else ()
    asking = (*PENALTY, case.timed, "--device", case.device)
    table = asked("penalty", path, *case.options, *case.counted, *asking, *plot)
    tenth = min((row["cache_blocks"] for row in table), key=lambda size: abs(size - 0.1 * about["blocks"]))
    table = [row for row in table if row["cache_blocks"] == tenth]
    means = ", ".join(f"{row['policy']} {shown(row['mean_us'])}" for row in table)
    yield (
        ("penalty", *asking),
        f"mean: {means} ({table[0]['load']}, {sum(r['delayed_hits'] for r in table):,} delayed hits)",
    )


def page():
    """Return the page's text, after running all cases."""
    lines, missing, shown = [], [], set()
    for case in CASES:
        path = found(case)
        if path is None:
            missing.append(case.path)
            continue
        for (name, *arguments), result in rows(case, path):
            options = (
                [*arguments[:1], case.path, *case.options]
                if name == "trace"
                else [case.path, *case.options, *case.counted, *arguments]
            )
            lines.append(f"| `{case.format}` | `{shlex.join([name, *options])}` | {result} |")
        shown.add(case.format)
        print(f"{case.path}: done", flush=True)
    without = ", ".join(f"`{name}`" for name in sorted(set(formats()) - shown))
    return "\n".join(
        [HEAD, *lines, "", TAIL.format(without=without), *(f"\nNot available: {', '.join(missing)}.",) * bool(missing)]
    )


HEAD = """# Transcript: traces in many formats

This page shows what `misspenalty` reports about files in many formats: what each file holds, and the hit ratios and
mean response times of policies at about a tenth of the footprint. `tools/transcript.py` runs the commands and writes
this page. Files under `data/` and `tests/` are in the repository; the others are public traces that we must not
redistribute.

![Hit ratios on OLTP](transcript_curve.svg)

![Response times on OLTP](transcript_penalty.svg)

These two figures were drawn with `--plot` for the trace OLTP (ARC, FAST 2003), by `curve` and `penalty` as in the
trace's rows below.

| format | command, after `misspenalty` | result |
|---|---|---|"""
TAIL = """Traces without times are replayed by one client (`closed`), which issues a request as soon as the previous one
is answered.

No real file was available for {without}: their readers are tested on lines and records that follow their grammar."""


if __name__ == "__main__":
    text = page()
    PAGE.write_text(text + "\n")
