"""Compare every drive, request by request and under DiskSim's reading, with DiskSim 4.0's answers to synthetic streams.

The reference data hold four streams of 3,000 requests for each of eleven drives. They are looked for in the folder
``disksim_synthetic`` below ``$MISSPENALTY_SHARED``, by default ``data/external``. A row has the percentage of a
stream's requests that agree within 1 us, and counts the others by the first of ``CAUSES`` that applies. A request that
differs changes the position of the platter for the requests after it, so only the first of consecutive differing
requests shows the cause.

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
FOLDER = Path(os.environ.get("MISSPENALTY_SHARED", ROOT / "data" / "external")) / "disksim_synthetic"
DRIVES = (
    "atlas10k", "atlas_iii", "barracuda", "cheetah4lp", "cheetah9lp", "dec_rz26", "hp_c2247a", "hp_c2490a", "hp_c3323a",
    "ibm18es", "st41601n",
)  # fmt: skip
STREAMS = ("random", "bursts", "sequential", "mixed")
WITHIN_MS = 0.001
ROUNDING_MS = 0.005
CAUSES = {
    "follows": "follows a request that differs, so that the platter is elsewhere",
    "rounding": "at most 5 us: DiskSim's sums of rounded times and angles (dm_rottime_g1, dm_rotate_g1, dm_time_dtoi)",
    "append": "a write appended to one on the medium, or one of the two requests after it: its segment has no room for "
    "all blocks, so they cross the bus in pieces (disk_buffer_transfer_size, outbcount)",
    "any_order": "a drive that reads and writes in any order: the sector it begins with on landing within a track "
    "(g1_access_block, g1_convert_atop), and those that read-ahead keeps then (immedstart in disk_buffer_sector_done)",
    "other": "none of these; the cause was not found",
}


def compared(folder, name, stream):
    """Return DiskSim's rows of a stream, with our service time as `ours_ms`."""
    with pa.input_stream(str(folder / f"{name}_{stream}.csv.zst"), compression="zstd") as file:
        asked = pd.read_csv(file)
    kind = disks.load(name).as_disksim()
    records = kind.one_by_one(
        asked["lbn"].to_numpy(np.int64),
        asked["blocks"].to_numpy(np.int32),
        (asked["rw"] == "W").to_numpy(np.uint8),
        np.rint(1000 * asked["delay_us"].to_numpy()).astype(np.int64),
    )
    return asked.assign(ours_ms=(records["done"] - records["arrival"]) / 1e6)


def causes(rows, any_order=False):
    """Return, for each request, the first of `CAUSES` that applies if it differs, and None if it agrees."""
    away = (rows["ours_ms"] - rows["service_ms"]).abs().to_numpy()
    cache, found = rows["cache"].tolist(), []
    for i, ms in enumerate(away):
        if ms <= WITHIN_MS:
            cause = None
        elif i and away[i - 1] > WITHIN_MS:
            cause = "follows"
        elif ms <= ROUNDING_MS:
            cause = "rounding"
        elif "append" in cache[max(0, i - 2) : i + 1]:
            cause = "append"
        else:
            cause = "any_order" if any_order else "other"
        found.append(cause)
    return found


def agreement(folder=FOLDER):
    """Yield one row per drive and stream.

    A row has ``drive, stream, requests, within_1us_pct``, and the number of requests per cause of disagreement.
    """
    for name in DRIVES:
        any_order = disks.load(name).data["cache"]["read_any_order"]
        for stream in STREAMS:
            found = causes(compared(folder, name, stream), any_order)
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
