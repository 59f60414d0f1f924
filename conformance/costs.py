"""Measure how the differences of cache libraries change hit ratios, and write results/conformance/costs.csv.

    python conformance/costs.py OLTP=OLTP.lis P6=P6.lis               # every library that differs
    python conformance/costs.py OLTP=OLTP.lis --languages python,go   # only these; the rows of the others are kept

A library differs if its row in results/conformance/libraries.json names a first vector that differs. The library and
our kernel of the claimed policy each replay every trace once, from an empty cache. The cache holds 5 % of the blocks of
a trace from the command line; the three long traces of the vectors have a capacity of their own. Sizes that a library
does not offer are left out.
"""

import argparse
import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from run import BUILDS, RESULTS, available, languages

import misspenalty
from misspenalty import conformance
from misspenalty.io.files import atomic_path
from misspenalty.traces import Trace

COSTS = RESULTS.with_name("costs.csv")
SHARE = 0.05  # capacity of the cache as a share of the blocks of a trace
COLUMNS = ["language", "cache", "policy", "trace", "references", "capacity", "definition", "library", "difference"]


def main():
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("traces", nargs="*", metavar="NAME=FILE", type=named, help="traces that Miss Penalty can read")
    parser.add_argument("--languages", default=",".join(BUILDS), type=languages, help="comma-separated (default: all)")
    parser.add_argument("--caches", help="comma-separated; the rows of the others are kept (default: all)")
    options = parser.parse_args()
    differing = [row for row in json.loads(RESULTS.read_text()) if row["first_vector"]]
    if options.caches:
        asked, known = options.caches.split(","), [row["cache"] for row in differing]
        if unknown := [name for name in asked if name not in known]:
            parser.error(
                f"argument --caches: no difference is known of {', '.join(unknown)}; expected some of {','.join(known)}"
            )
        differing = [row for row in differing if row["cache"] in asked]
    with tempfile.TemporaryDirectory() as folder:
        replays = [_replay(name, misspenalty.open_trace(path), folder) for name, path in options.traces]
        replays += [
            _replay(Path(vector.file).stem, Trace.from_blocks(conformance.load_trace(vector)), folder, vector.capacity)
            for vector in conformance.load_suite("lru").long
        ]
        for language, build in available(options.languages):
            command = build()
            for cache in (row for row in differing if row["language"] == language):
                _write([row for replay in replays if (row := cost(command, cache, replay))])


def named(text):
    """Split NAME=FILE into the name and the path, as an argparse type."""
    name, sign, path = text.partition("=")
    if not (name and sign and Path(path).is_file()):
        raise argparse.ArgumentTypeError(f"{text!r}: expected NAME=FILE with a file that exists")
    return name, path


@dataclass(frozen=True)
class Replay:
    """A trace, the size of the cache that replays it, and the file of its blocks, one per line."""

    name: str
    trace: Trace
    capacity: int
    file: Path


def _replay(name, trace, folder, capacity=None):
    file = Path(folder) / f"{name}.txt"
    file.write_text("\n".join(map(str, trace.ids.tolist())), encoding="ascii")
    return Replay(name, trace, capacity or round(SHARE * trace.blocks), file)


def cost(command, cache, replay):
    """Replay a trace through a library's cache and ours; return the row, or None if the library has no such size."""
    arguments = [*command, cache["cache"], str(replay.capacity), f"@{replay.file}"]
    hits = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout.strip()
    if len(hits) != len(replay.trace):
        return None
    library = hits.count("1") / len(hits)
    definition = misspenalty.simulate(replay.trace, cache["policy"], replay.capacity).hit_ratio
    names = [cache["language"], cache["cache"], cache["policy"], replay.name]
    row = [*names, len(hits), replay.capacity, definition, library, library - definition]
    print(*row, flush=True)
    return dict(zip(COLUMNS, row, strict=True))


def _write(rows):
    """Add rows to the table; they replace those of the same caches and traces."""
    keys = ["language", "cache", "trace"]
    table = pd.DataFrame(rows, columns=COLUMNS)
    if COSTS.is_file():
        table = pd.concat([pd.read_csv(COSTS), table]).drop_duplicates(keys, keep="last")
    with atomic_path(COSTS) as path:
        table.sort_values(keys).to_csv(path, index=False, float_format="%.6f")


if __name__ == "__main__":
    main()
