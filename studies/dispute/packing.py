"""Pack the 7,749 result files of the S3-FIFO paper into one CSV, with every number as printed."""

import re
from pathlib import Path

from misspenalty.errors import InputError
from misspenalty_studies.dispute.published import POLICIES

RATIOS = ("0.001", "0.003", "0.01", "0.03", "0.1", "0.2", "0.4", "0.8")  # shares of the objects of a trace
LINE = re.compile(r"\S+ (\S+) cache size +(\d+), (\d+) req, miss ratio (\d\.\d+), byte miss ratio \d\.\d+")


def pack(folder, out):
    """Write the results in a folder as one table.

    Parameters
    ----------
    folder : path-like
        ``result/cachesim`` of the repository: ``<data set>/<trace>.txt``, one line per algorithm and cache size. Its
        folder ``all``, which repeats the same files, is left out.
    out : path-like
        The CSV: ``dataset, trace, requests, size_ratio, cache_objects`` and one column per algorithm of `POLICIES`
        with its miss ratio, empty where it was not run. A trace's sizes correspond to the last of `RATIOS`, because
        small traces lack the smallest sizes. If several lines have the same algorithm and size, the last one is used,
        as in the authors' script.

    Raises
    ------
    InputError
        A file has no FIFO results, or more sizes than `RATIOS`.
    """
    rows = [",".join(("dataset", "trace", "requests", "size_ratio", "cache_objects", *POLICIES))]
    datasets = sorted(path for path in Path(folder).iterdir() if path.is_dir() and path.name != "all")
    for dataset in datasets:
        for path in sorted(dataset.glob("*.txt"), key=lambda path: path.name):
            rows += _rows(dataset.name, path)
    Path(out).write_text("\n".join(rows) + "\n", encoding="ascii")


def _rows(dataset, path):
    cells, requests = {}, None
    for line in path.read_text(encoding="ascii").splitlines():
        if found := LINE.search(line):
            algorithm, size, requests, ratio = found.groups()
            cells.setdefault(int(size), {})[algorithm] = ratio
    sizes = sorted(size for size, row in cells.items() if "FIFO" in row)
    if not 0 < len(sizes) <= len(RATIOS):
        raise InputError(f"has {len(sizes)} cache sizes with a FIFO result", path=path, expected=f"1 to {len(RATIOS)}")
    for ratio, size in zip(RATIOS[len(RATIOS) - len(sizes) :], sizes, strict=True):
        values = (cells[size].get(algorithm, "") for algorithm in POLICIES)
        yield ",".join((dataset, path.name.removesuffix(".txt"), requests, ratio, str(size), *values))
