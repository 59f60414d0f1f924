"""Measure the writes per second of the virtual-log disk and of its readable reference, and the cost of a recovery.

The disk is the study's slice of the ST19101, four fifths of it in use, updated at random; the reference, which tries
every free place, gets a smaller slice. One thread runs; times are medians of CPU times over the repeats.

    python benchmarks/virtual_log.py
    python benchmarks/virtual_log.py --updates 20000 --repeat 1 --csv out.csv
"""

import argparse
import statistics
import time
from pathlib import Path

import numpy as np
import pandas as pd

from misspenalty import disks
from misspenalty.disks.drive.slices import cut
from misspenalty.io.files import write_csv
from misspenalty_studies.vlog.tests.reference.virtual_log import Reference
from misspenalty_studies.vlog.virtual_log.log import physical_blocks, spread, virtual_log
from misspenalty_studies.vlog.virtual_log.recovery import recover

CYLINDERS, SMALL = 11, 2
REFERENCE_UPDATES = 40


def slices(cylinders, **parameters):
    """Return a slice of a drive, its file's blocks, and a disk with the file on it."""
    kind = cut(disks.load("st19101"), cylinders)
    blocks = int(0.8 * physical_blocks(kind))
    disk = virtual_log(kind, blocks, **parameters)
    disk.lay_out(np.arange(blocks, dtype=np.int32), spread(blocks, physical_blocks(kind)))
    return kind, blocks, disk


def timed(work):
    """Call `work`, and return its CPU seconds."""
    begin = time.thread_time()
    work()
    return time.thread_time() - begin


def updates(cylinders, count):
    """Return the CPU seconds of random updates in steady state."""
    _, blocks, disk = slices(cylinders)
    rng = np.random.default_rng(1)
    sector, size = rng.integers(0, blocks, 6 * blocks + count) * 8, np.full(6 * blocks + count, 8)
    warm, host = 6 * blocks, np.array([100_000])
    disk.replay(sector[:warm], size[:warm], host, 0)
    return timed(lambda: disk.replay(sector[warm:], size[warm:], host, 0))


def reference(count):
    """Return the CPU seconds of random updates of the reference, which does not start in steady state."""
    kind, blocks, _ = slices(SMALL)
    slow = Reference(kind, blocks)
    slow.lay_out(spread(blocks, physical_blocks(kind)).tolist())
    order = np.random.default_rng(1).integers(0, blocks, count).tolist()
    return timed(lambda: [slow.request(slow.now, True, 8 * block, 8) for block in order])


def recoveries():
    """Yield the sectors read and the CPU seconds of a recovery from the tail, and of one by a scan."""
    kind = cut(disks.load("st19101"), CYLINDERS)
    media = np.zeros(kind.blocks * 512, np.uint8)
    _, blocks, disk = slices(CYLINDERS, media=media)
    order = np.random.default_rng(1).integers(0, blocks, 2 * blocks) * 8
    disk.replay(order, np.full(len(order), 8), np.array([0]), 0)
    disk.power_down()
    for way in ("tail", "scan"):
        copy = media.copy()
        copy[:512] *= way == "tail"
        begin = time.thread_time()
        found = recover(copy, blocks)
        yield {"measure": f"recovery, {way}", "value": found.sectors_read, "unit": "sectors read"}
        yield {"measure": f"recovery, {way}", "value": time.thread_time() - begin, "unit": "CPU s"}


def measure(count, repeat):
    """Yield one row per measure."""
    fast = count / statistics.median(updates(CYLINDERS, count) for _ in range(repeat))
    yield {"measure": f"updates, {CYLINDERS} cylinders", "value": fast, "unit": "updates/s"}
    small = count / statistics.median(updates(SMALL, count) for _ in range(repeat))
    slow = REFERENCE_UPDATES / statistics.median(reference(REFERENCE_UPDATES) for _ in range(repeat))
    yield {"measure": f"updates, {SMALL} cylinders, over the reference", "value": small / slow, "unit": "ratio"}
    yield from recoveries()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--updates", type=int, default=200_000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()
    table = pd.DataFrame(measure(options.updates, options.repeat))
    print(table.to_string(index=False))
    if options.csv:
        write_csv(table, options.csv)


if __name__ == "__main__":
    main()
