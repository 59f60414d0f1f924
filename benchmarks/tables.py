"""Time reading a table of ten million rows, next to pyarrow's CSV reader alone.

A row has a time, an operation, an address and a size. There are three files: one with commas, whose columns are all
used; the same file with only its address used; and one with tabs. For each file, the result has a row per step, with
the CPU seconds of one process and the ns per row. In the steps, pyarrow splits and converts the columns on one thread;
our reader makes requests; their blocks are numbered; and `open_trace` compiles a trace. The rest of the time of
`open_trace` is mostly spent on writing.

    python benchmarks/tables.py --csv out.csv                  # two minutes, 1 GB in TMPDIR
    python benchmarks/tables.py --rows 1000000
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.csv as pa_csv
from policies import timed

from misspenalty import open_trace
from misspenalty.io.files import write_csv
from misspenalty.traces import formats
from misspenalty.traces._compile import Interner
from misspenalty.traces.source import expand

FILES = {
    "comma": (",", ("time_us", "op", "offset", "size"), {}),
    "comma, address only": (",", ("time_us", "op", "offset", "size"), {"columns": "ignore=time_us+op+size"}),
    "tab": ("\t", ("time_us", "op", "offset", "size"), {}),
}
CHUNK = 1 << 18  # rows written at a time


def generate(path, rows, separator, names, seed=3):
    """Write a table that refers to a tenth as many blocks as it has rows, with a Zipf-like popularity."""
    rng = np.random.default_rng(seed)
    with open(path, "w", encoding="ascii") as file:
        file.write(separator.join(names) + "\n")
        for begin in range(0, rows, CHUNK):
            count = min(CHUNK, rows - begin)
            block = (rng.random(count) ** 3 * rows / 10).astype(np.int64)
            write = rng.random(count) < 0.3
            lines = (
                separator.join((str(number), "W" if wrote else "R", str(4096 * at), "4096"))
                for number, wrote, at in zip(range(begin, begin + count), write.tolist(), block.tolist(), strict=True)
            )
            file.write("\n".join(lines) + "\n")


def measure(path, separator, names, options):
    """Measure the CPU seconds of each step."""
    used = ["offset"] if options else list(names)

    def divide():
        reader = pa_csv.open_csv(
            path,
            pa_csv.ReadOptions(use_threads=False),
            pa_csv.ParseOptions(delimiter=separator),
            pa_csv.ConvertOptions(include_columns=used),
        )
        return sum(batch.num_rows for batch in reader)

    found = {"pyarrow alone": timed(divide)[0]}
    form = formats()["csv"]
    found["reader, to requests"], batches = timed(lambda: list(form.read(path, 4096, **options)))
    interner = Interner()
    found["numbering the blocks"] = timed(
        lambda: [interner.ids(np.ascontiguousarray(start)) for each in batches for start, _, _ in expand(each)]
    )[0]
    found["open_trace"] = timed(lambda: open_trace(path, "csv", **options))[0]
    parts = found["reader, to requests"] + found["numbering the blocks"]
    found["the rest of open_trace"] = found["open_trace"] - parts
    return found


def main():
    """Measure, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--csv", type=Path)
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (separator, names, options) in FILES.items():
            path = Path(folder, "table.csv")
            generate(path, arguments.rows, separator, names)
            for step, seconds in measure(path, separator, names, options).items():
                ns = round(1e9 * seconds / arguments.rows, 1)
                rows.append({"file": name, "rows": arguments.rows, "step": step, "cpu_s": seconds, "ns_per_row": ns})
    table = pd.DataFrame(rows).round({"cpu_s": 3})
    print(table.to_string(index=False))
    if arguments.csv:
        write_csv(table, arguments.csv)


if __name__ == "__main__":
    main()
