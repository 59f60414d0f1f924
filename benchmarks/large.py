"""Traces of up to a thousand million requests: time and memory of compiling, replaying and sampling them.

A raw trace of 8 bytes a request is made by a fixed rule, a tenth as many distinct blocks as requests, their addresses
scattered. Each length runs in a process of its own. A row per length and step: requests, distinct blocks, CPU time over
requests, and the peak of the process's own memory: without mapped files, whose pages the system takes back at will.

    python benchmarks/large.py --csv out.csv                       # 10 M and 100 M requests: minutes, 3 GB of disk
    python benchmarks/large.py --requests 1000000000               # by hand: half an hour, 25 GB in TMPDIR
"""

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd

from misspenalty import hit_ratio_curve, open_trace, simulate
from misspenalty.io.files import write_csv

CHUNK = 1 << 20  # requests at a time
SCATTER = np.uint64(0x9E3779B97F4A7C15)  # odd, so that no two blocks meet
POLICIES = ("lru", "s3fifo")


def generate(path, requests, seed=7):
    """Write the trace: a block of rank r is asked for in proportion to 1 / sqrt(r)."""
    generator = np.random.default_rng(seed)
    with open(path, "wb") as file:
        for begin in range(0, requests, CHUNK):
            n = min(CHUNK, requests - begin)
            rank = (requests // 10 * generator.random(n) ** 2).astype(np.uint64)
            (rank * SCATTER >> np.uint64(1)).tofile(file)


class Memory:
    """Peak of the process's own memory within a ``with`` block, MB, looked at every 20 ms."""

    def __enter__(self):
        self.peak, self.done = 0.0, threading.Event()
        self.thread = threading.Thread(target=self._watch)
        self.thread.start()
        return self

    def _watch(self):
        while not self.done.wait(0.02):
            status = Path("/proc/self/status").read_text()
            self.peak = max(self.peak, int(status.split("RssAnon:")[1].split()[0]) / 1024)

    def __exit__(self, *error):
        self.done.set()
        self.thread.join()


def step(name, requests, run):
    """What `run()` returns, and a row about it."""
    with Memory() as memory:
        begin = time.process_time()
        result = run()
        seconds = time.process_time() - begin
    row = {"step": name, "requests": requests, "ns_per_request": seconds / requests * 1e9, "own_mb": memory.peak}
    return result, row


def measure(path, requests):
    """Rows of one length, made in this process."""
    trace, row = step("compile", requests, lambda: open_trace(path, "u64le"))
    rows = [row | {"blocks": trace.blocks}]
    size = trace.blocks // 10
    for policy in POLICIES:
        exact, row = step(f"replay {policy}", requests, lambda policy=policy: simulate(trace, policy, size))
        rows.append(row | {"hit_ratio": exact.hit_ratio})
        table, row = step(
            f"sample 0.01 {policy}",
            requests,
            lambda policy=policy: hit_ratio_curve(trace, policy, [size], sample=0.01, threads=1),
        )
        rows.append(row | {"hit_ratio": table["hit_ratio"][0], "hit_ratio_error": table["hit_ratio_error"][0]})
    return rows


def main():
    """The table, with the growth of the cost from the first length to the last."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, nargs="+", default=[10_000_000, 100_000_000])
    parser.add_argument("--csv")
    parser.add_argument("--one", help=argparse.SUPPRESS)  # this length alone, of this file, as JSON
    options = parser.parse_args()
    if options.one:
        print(pd.DataFrame(measure(options.one, *options.requests)).to_json(orient="records"))
        return
    tables = []
    for requests in options.requests:
        with tempfile.TemporaryDirectory() as folder:
            generate(path := Path(folder, "raw"), requests)
            command = [sys.executable, __file__, "--one", str(path), "--requests", str(requests)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
        tables.append(pd.DataFrame(json.loads(done.stdout)))
        print(tables[-1].to_string(index=False), flush=True)
    table = pd.concat(tables, ignore_index=True)
    cost = table.pivot(index="step", columns="requests", values="ns_per_request")
    growth = (cost.iloc[:, -1] / cost.iloc[:, 0]).round(2)
    print("\ncost per request, last length over first", growth.to_string(), sep="\n")
    if options.csv:
        write_csv(table, options.csv)


if __name__ == "__main__":
    main()
