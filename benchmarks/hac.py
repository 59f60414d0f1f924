"""Time the object caches on this machine: speed, and the miss penalty measured around the real operations.

Speed: generating OO7's medium database, and hot traversals in a cache that holds everything, HAC next to CLOCK on
pages, which stamps its frames instead: CPU times, medians of the repeats, alternating.

Penalty: hot traversals at the cache sizes of the paper's Figure 9, with timers around registering a page, scanning the
stack, computing usage, compacting, and installing and swizzling. Medians per fetch.
Hit time: what each mechanism adds to a hot traversal (`misspenalty_studies.hac.measured`), per object read.
These differ from run to run, and are kept separate from the study's tables, which convert counts to time on the paper's
machines.

    python benchmarks/hac.py
    python benchmarks/hac.py --repeat 3 --csv results/bench/hac.csv
"""

import argparse
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

from misspenalty.io.files import write_csv
from misspenalty_studies.hac import measured as hac_measured
from misspenalty_studies.hac.objects import oo7
from misspenalty_studies.hac.objects.cache import HAC, Clock
from misspenalty_studies.hac.objects.traversals import Program

POINTS_MB = {"T6": 0.16, "T1-": 5, "T1": 12, "T1+": 20}
HOLDS_ALL_MB = 30  # hot T1 and T6, as in the paper's Table 3
MB = 2**20


def cpu(task):
    """Call a task; return its CPU seconds and its result."""
    begin = time.process_time()
    result = task()
    return time.process_time() - begin, result


def generation(parameters, repeat):
    """Generate a database; return rows with the time it takes, and the database."""
    times, data = zip(
        *(cpu(lambda: oo7.generate(parameters, np.random.default_rng(1))) for _ in range(repeat)), strict=True
    )
    return [("generate the database", "s", statistics.median(times))], data[0]


def hot(data, repeat, names=("T1", "T6")):
    """Time hot traversals in a cache that holds everything, and return the rows."""
    programs = {system.name: Program(system(data, HOLDS_ALL_MB * MB), data) for system in (HAC, Clock)}
    rows = []
    for name in names:
        for program in programs.values():
            program.run(name)  # cold
        times = {system: [] for system in programs}
        for _ in range(repeat):
            for system, program in programs.items():
                times[system].append(cpu(lambda program=program, name=name: program.run(name))[0])
        medians = {system: statistics.median(values) for system, values in times.items()}
        rows += [(f"hot {name}, {system}", "s", value) for system, value in medians.items()]
        rows.append((f"hot {name}, hac over clock", "ratio", medians["hac"] / medians["clock"]))
    return rows


def measured(data, points_mb, cache_mb):
    """Yield rows for the operations in a fetch, and for hit time line by line."""
    for one in hac_measured.penalty(data, points_mb).itertuples():
        yield f"{one.traversal}, {one.cache_mb:g} MB: {one.operation}", "us a fetch", one.us
    for one in hac_measured.hit_time(data, cache_mb).itertuples():
        yield f"hot {one.traversal}, {one.cache_mb:g} MB: {one.line}", "ns per read", 1e9 * one.seconds / one.accesses


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--small", action="store_true", help="OO7's small database and small caches, for a try")
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args(arguments)
    rows, data = generation(oo7.SMALL if options.small else oo7.MEDIUM, options.repeat)
    rows += hot(data, options.repeat)
    points_mb = {name: size / 10 if options.small and name != "T6" else size for name, size in POINTS_MB.items()}
    rows += measured(data, points_mb, HOLDS_ALL_MB)
    table = pd.DataFrame(rows, columns=["measure", "unit", "value"])
    print(table.to_string(index=False, float_format="{:.4g}".format))
    if options.csv:
        write_csv(table, options.csv)


if __name__ == "__main__":
    sys.exit(main())
