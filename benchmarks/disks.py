"""Measure simulated drives: requests per second, and how close service times come to measured ones.

`speed` serves random requests on one thread, one at a time and through each queue discipline, for two numbers of
requests; the cost per request should be the same. DiskSim 4.0 simulates 20,000 to 54,000 requests per second on a
current machine.

`demerit` compares six measured drives with DiskSim 4.0, and shows the effect of each departure from DiskSim's reading
of its parameters (`misspenalty.disks.disksim.decisions`) alone. A matrix of drives and departures follows, with the
demerits without and with the departure. It includes drives that meet the condition of a departure but are read without
it. The departure ``buffer`` is compared with DiskSim's own reading, and each of the others is added alone to
``buffer``. The last table leaves out one drive at a time: it has the mean change in the demerit over the other drives
that meet the condition, and the change on the drive that is left out.

    python benchmarks/disks.py speed --csv out.csv
    python benchmarks/disks.py demerit --csv out.csv
"""

import argparse
import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from policies import timed

from misspenalty import disks
from misspenalty.disks.drive._replay import as_they_arrive, one_by_one
from misspenalty.disks.drive.description import DECISIONS
from misspenalty.disks.requests import read_requests, replay
from misspenalty.io.files import write_csv

ROOT = Path(__file__).parents[1]
TRACES = Path(os.environ.get("MISSPENALTY_SHARED_TRACES", ROOT / "data" / "external")) / "drives"
DRIVES = ("cheetah9lp", "hp97560", "ultrastar_146z10")
DISKSIM = (20_000, 54_000)  # lowest and highest number of requests per second, depending on the drive
DEMERITS = {  # DiskSim 4.0's demerits, ms, published with the traces
    "hp_c2247a": 0.090, "hp_c3323a": 0.306, "dec_rz26": 0.340, "atlas_III": 0.378, "cheetah9LP": 0.107,
    "ibm18es": 0.135,
}  # fmt: skip
BUFFER = "buffer"  # the departure that does not change any of a drive's values
UNSUPPORTED = "not held: "  # marks a departure that a description lacks, although the drive meets the condition for it
LOAD, DEPTH = 0.95, 64  # share of the time that a drive is busy; number of requests that its scheduler sees


def requests(kind, n):
    """Draw random requests of 1 to 32 blocks, a third of them writes, and the gaps between them."""
    rng = np.random.default_rng(1)
    lbn, count = rng.integers(0, kind.blocks - 32, n), rng.integers(1, 33, n).astype(np.int32)
    return lbn, count, (rng.random(n) < 1 / 3).astype(np.uint8), rng.exponential(1, n)


def speed(n, repeat):
    """Yield one row per drive and discipline: requests per second of `n` requests, and how the cost grew from n / 4."""
    for name in DRIVES:
        kind = disks.load(name)
        for way in ("service only", *disks.SCHEDULERS):
            seconds = {}
            for size in (n // 4, n):
                lbn, count, write, gaps = requests(kind, size)
                if way == "service only":
                    none = np.zeros(size, np.int64)
                    play = lambda a=(lbn, count, write, none): one_by_one(kind.drive(), *a, False)  # noqa: E731, B023
                else:
                    mean = mean_service(kind, way, lbn, count, write)
                    times = np.cumsum(gaps * mean / LOAD).astype(np.int64)
                    play = lambda a=(times, lbn, count, write): as_they_arrive(kind.drive(way, DEPTH), *a)  # noqa: E731, B023
                seconds[size], _ = timed(play, repeat)
            rate = n / seconds[n]
            yield {
                "drive": name,
                "way": way,
                "requests": n,
                "requests_per_second": rate,
                "over_disksim": rate / DISKSIM[1],
                "cost_growth": seconds[n] / seconds[n // 4] / 4,
            }


def mean_service(kind, way, lbn, count, write, sample=20_000):
    """Return the mean time of a request, ns, while others are always waiting."""
    part = slice(0, min(sample, len(lbn)))
    none = np.zeros(len(lbn[part]), np.int64)
    records = as_they_arrive(kind.drive(way, 4), none, lbn[part], count[part], write[part])
    return (records["done"] - records["start"]).mean()


def compare_with_measured():
    """Yield one row per drive and reading of its description: means and demerit, ms."""
    for name, theirs in DEMERITS.items():
        asked, kind = read_requests(TRACES / f"{name}.trace"), disks.load(name.lower())
        decisions = sorted({entry["decision"] for entry in kind.decisions().values()})
        values = [name for name in DECISIONS if name != BUFFER]
        base = kind.as_disksim(*values)
        readings = {"as we read it": kind, "as DiskSim reads it": kind.as_disksim(), f"{BUFFER} alone": base}
        if len(decisions) > 1:
            for one in decisions:
                readings[f"{one} alone"] = kind.as_disksim(*(other for other in values if other != one))
        for one, change in unsupported(base, decisions):
            readings[f"{UNSUPPORTED}{one} alone"] = base.replace(change)
        for reading, variant in readings.items():
            row = {"reading": reading, "decisions": " ".join(decisions), "disksim_demerit_ms": theirs}
            yield replay(variant, asked).row() | row


def unsupported(base, decisions):
    """Yield the name and changes of each departure that the drive lacks, although it meets the condition."""
    literal = base.data
    if literal["cache"]["read_ahead"] == "next_track" and "sequential_ahead" not in decisions:
        yield "sequential_ahead", {"cache.ahead_when": "sequential", "cache.read_ahead": "segment"}
    if literal["mechanics"]["write_settle_ms"] < 0 and "write_settle" not in decisions:
        yield "write_settle", {"mechanics.write_settle_ms": 0}


def alone(row):
    """Return the only departure in a row's reading; None if the reading has several departures or none."""
    if row.reading == "as we read it":
        return row.decisions if row.decisions in DECISIONS else None
    return row.reading.removeprefix(UNSUPPORTED).removesuffix(" alone") if row.reading.endswith(" alone") else None


def matrix(table):
    """Yield one row per drive and departure whose condition it meets, with the demerits without and with the departure.

    ``held`` is True if our description of the drive has the departure.
    """
    out = {reading: rows.set_index("drive")["demerit_ms"] for reading, rows in table.groupby("reading")}
    for row in table.itertuples():
        if (departure := alone(row)) is not None:
            yield {
                "drive": row.drive,
                "departure": departure,
                "out_ms": out["as DiskSim reads it" if departure == BUFFER else f"{BUFFER} alone"][row.drive],
                "in_ms": row.demerit_ms,
                "held": not row.reading.startswith(UNSUPPORTED),
            }


def left_out(table):
    """Yield one row per departure and measured drive that meets its condition: the changes in the demerit, ms.

    `others_ms` is the mean over the other drives, on which the choice would be based; `left_out_ms` is the effect of
    that choice on the drive left out. Without other drives there is no basis for a choice.
    """
    changes = {}
    for cell in matrix(table):
        changes.setdefault(cell["departure"], {})[cell["drive"]] = cell["in_ms"] - cell["out_ms"]
    for departure, by_drive in changes.items():
        for drive, change in by_drive.items():
            others = [other for name, other in by_drive.items() if name != drive]
            mean = sum(others) / len(others) if others else float("nan")
            yield {"departure": departure, "drive": drive, "others_ms": mean, "left_out_ms": change}


def main():
    """Measure the speed or the demerits, print the tables and write them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=["speed", "demerit"])
    parser.add_argument("--requests", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--csv")
    options = parser.parse_args()
    if options.what == "demerit":
        if not TRACES.is_dir():
            sys.exit(f"{TRACES} is missing: set MISSPENALTY_SHARED_TRACES to the folder that holds drives/*.trace")
        table = pd.DataFrame(compare_with_measured())
        print(table.drop(columns=["requests", "decisions"]).round(3).to_string(index=False))
        departures = pd.DataFrame(matrix(table))
        print(f"\n{departures.round(3).to_string(index=False)}")
        print(f"\n{pd.DataFrame(left_out(table)).round(3).to_string(index=False)}")
    else:
        table = pd.DataFrame(speed(options.requests, options.repeat))
        print(table.round(2).to_string(index=False))
    if options.csv:
        write_csv(table, options.csv)
        if options.what == "demerit":
            write_csv(departures, Path(options.csv).with_name("departures.csv"))


if __name__ == "__main__":
    main()
