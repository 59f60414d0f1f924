"""Measure the events per second of each predictor, learning and predicting, and the bytes that it remembers.

`build` is made by a fixed rule: a run of 1,500 opens and execs over 300 files, of which some occur in every step of the
build and most in only a few. The run is repeated with one event in fifty replaced, in the way recorded builds repeat.
`recorded` consists of the opens and execs of the captures in data/raw/builds, one after another, repeated; `zipf` is
the trace of the policies' benchmark, which has no pattern at all. One thread runs; times are CPU times of the thread,
and the median of the repeats counts.

    python benchmarks/prefetch.py
    python benchmarks/prefetch.py --events 200000 --repeat 1 --csv out.csv
"""

import argparse
import statistics
import time
from pathlib import Path

import numpy as np
import pandas as pd
from policies import zipf_trace

from misspenalty.io.files import write_csv
from misspenalty.prefetch.predictors.registry import find_predictor
from misspenalty.traces import builds

TARGET = 2.0  # M events/s
RAW = Path(__file__).parents[1] / "data" / "raw" / "builds"
ZIPF = 200_000  # maximum events of `zipf`: the unlimited model searches as many children as there were following files
PREDICTORS = {
    "last_successor": ("last_successor", {}),
    "fmocm, order 2": ("fmocm", {}),
    "pcm 64/2": ("pcm", {}),
    "pcm 64/4": ("pcm", {"order": 4}),
    "epcm 16/12": ("epcm", {"partition": 16, "order": 12}),
    "epcm 64/45": ("epcm", {}),
    "epcm 64/45, at most 8 files": ("epcm", {"most": 8}),
}


def build(events, seed=9):
    """Generate the opens and execs of a build that is run again and again."""
    rng = np.random.default_rng(seed)
    run = np.minimum(rng.geometric(0.02, 1500), 300) - 1
    ids = np.tile(run, events // run.size + 1)[:events]
    return np.where(rng.random(events) < 0.02, rng.integers(0, 300, events), ids)


def measure(ids, name, parameters, repeat):
    """Return a predictor's M events/s, files predicted after an event, and bytes learnt."""
    definition = find_predictor(name)
    ids = np.ascontiguousarray(ids, np.uint32)
    rank, number = np.empty((2, ids.size), np.uint32)
    rates = []
    for _ in range(repeat):
        kernel = definition.kernel(int(ids.max()) + 1, **definition.check(parameters))
        begin = time.thread_time()
        kernel.feed(ids, rank, number)
        rates.append(ids.size / (time.thread_time() - begin) / 1e6)
    return statistics.median(rates), number.mean(), kernel.memory


def recorded(events):
    """Return the opens and execs of the recorded workloads, one after another, repeated."""
    parts, files = [], 0
    for path in sorted(RAW.glob("*_files.parquet")):
        capture = builds.read(RAW, path.name.removesuffix("_files.parquet"))
        calls = capture.events
        seen = calls["kind"].isin(["exec", "open", "create"]) & (calls["error"] == 0) & (calls["file"] >= 0)
        parts.append(calls.loc[seen, "file"].to_numpy() + files)
        files += len(capture.files)
    return np.resize(np.concatenate(parts), events)


def workloads(events):
    """Yield the name and the ids of each workload."""
    yield "build", build(events)
    yield "recorded", recorded(events)
    yield "zipf", np.unique(zipf_trace(min(events, ZIPF)), return_inverse=True)[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=2_000_000, help="length of each workload (default 2,000,000)")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each, of which the median counts (default 3)")
    parser.add_argument("--csv", type=Path, metavar="OUT", help="also write the table there")
    args = parser.parse_args()
    rows = []
    for workload, ids in workloads(args.events):
        for label, (name, parameters) in PREDICTORS.items():
            rate, files, memory = measure(ids, name, parameters, args.repeat)
            rows.append((workload, label, rate, TARGET, files, memory))
            print(
                f"{workload:9} {label:28} {rate:8.2f} M events/s  {files:6.2f} files  {memory:>12,} bytes", flush=True
            )
    if args.csv:
        columns = ["workload", "predictor", "m_events_per_s", "target", "files_per_event", "memory_bytes"]
        write_csv(pd.DataFrame(rows, columns=columns), args.csv)


if __name__ == "__main__":
    main()
