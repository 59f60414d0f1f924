"""Every drive read as DiskSim reads it, request by request next to DiskSim 4.0's own answers to synthetic streams.

The shared reference data hold four streams of 3,000 requests for each of eleven drives. A row says how many of a stream
agree within 1 us, and of those that do not, what they are: ``CAUSES`` in their order, the first that applies. A request
that differs shifts the platter for those behind it, so the first of each run of differing requests names the cause.

    python benchmarks/disksim.py --csv out.csv
"""

import argparse
import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from misspenalty import disks
from misspenalty.io.files import write_csv

ROOT = Path(__file__).parents[1]
FOLDER = Path(os.environ.get("MISSPENALTY_SHARED", ROOT.parent / "shared")) / "disksim_synthetic"
DRIVES = (
    "atlas10k", "atlas_iii", "barracuda", "cheetah4lp", "cheetah9lp", "dec_rz26", "hp_c2247a", "hp_c2490a", "hp_c3323a",
    "ibm18es", "st41601n",
)  # fmt: skip
STREAMS = ("random", "bursts", "sequential", "mixed")
SHARED_SEGMENT = {"cache.own_write_segment": False}
AS_BUILT = {  # what the build behind the answers does whatever these drives' parameters say
    "dec_rz26": SHARED_SEGMENT,
    "hp_c2247a": SHARED_SEGMENT | {"overheads.other_reselect": 0.16249},
    "hp_c3323a": SHARED_SEGMENT,
}
WITHIN_MS = 0.001
CAUSES = {
    "follows": "follows on a request that differs: the platter is elsewhere",
    "append": "at most two requests behind a write that was appended to one on the medium: that build appends no other "
    "one until it is written, and loses a revolution before it",
    "written": "reads what was written before and may still be in the buffer",
    "ahead": "a buffer hit, or a read behind one: read-ahead ended at another block",
    "again": "blocks that were used before, so that the choice of a segment counts",
    "behind_write": "the medium's turn behind a write that is complete in the buffer",
    "other": "none of these",
}


def compared(folder, name, stream):
    """DiskSim's rows of a stream, with our service time as `ours_ms`."""
    with pa.input_stream(str(folder / f"{name}_{stream}.csv.zst"), compression="zstd") as file:
        asked = pd.read_csv(file)
    kind = disks.load(name).as_disksim().replace(AS_BUILT.get(name, {}))
    records = kind.one_by_one(
        asked["lbn"].to_numpy(np.int64),
        asked["blocks"].to_numpy(np.int32),
        (asked["rw"] == "W").to_numpy(np.uint8),
        np.rint(1000 * asked["delay_us"].to_numpy()).astype(np.int64),
    )
    return asked.assign(ours_ms=(records["done"] - records["arrival"]) / 1e6)


def causes(rows):
    """Of each request that differs, the first of `CAUSES` that applies; None for those that agree."""
    first, end = rows["lbn"].to_numpy(), (rows["lbn"] + rows["blocks"]).to_numpy()
    write, cache = (rows["rw"] == "W").to_numpy(), rows["cache"].tolist()
    differs = ((rows["ours_ms"] - rows["service_ms"]).abs() > WITHIN_MS).to_numpy()
    hit = [outcome in ("whole", "partial", "reading") for outcome in cache]
    found = []
    for i, wrong in enumerate(differs):
        before = (first[:i] < end[i]) & (end[:i] > first[i])
        if not wrong:
            cause = None
        elif i and differs[i - 1]:
            cause = "follows"
        elif "append" in cache[max(0, i - 2) : i + 1]:
            cause = "append"
        elif not write[i] and (before & write[:i]).any():
            cause = "written"
        elif hit[i] or (i and hit[i - 1] and not write[i]):
            cause = "ahead"
        elif before.any():
            cause = "again"
        else:
            cause = "behind_write" if i and write[i - 1] else "other"
        found.append(cause)
    return found


def agreement(folder=FOLDER):
    """One row per drive and stream: ``drive, stream, requests, within_1us_pct``, and requests by cause."""
    for name in DRIVES:
        for stream in STREAMS:
            found = causes(compared(folder, name, stream))
            yield {
                "drive": name,
                "stream": stream,
                "requests": len(found),
                "within_1us_pct": 100 * found.count(None) / len(found),
                **{cause: found.count(cause) for cause in CAUSES},
            }


def main():
    """Print the table and write it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--csv")
    options = parser.parse_args()
    if not FOLDER.is_dir():
        sys.exit(f"{FOLDER} is missing: set MISSPENALTY_SHARED to the folder that holds disksim_synthetic")
    table = pd.DataFrame(agreement())
    print(table.round(2).to_string(index=False))
    for cause, words in CAUSES.items():
        print(f"{cause}: {words}")
    if options.csv:
        write_csv(table, options.csv)


if __name__ == "__main__":
    main()
