"""Make the tables of one trace: profile, curves of all policies, response times, and the best policy at each size."""

import hashlib
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from misspenalty.characterize.rows import TraceRow, parse_load
from misspenalty.errors import InputError
from misspenalty.io.external import MIRROR, download, open_register
from misspenalty.io.files import atomic_path
from misspenalty.latency.penalty import penalty
from misspenalty.policies import known_policies
from misspenalty.policies.sized import SIZED
from misspenalty.replay import characteristics
from misspenalty.replay.byte_bounds import NAMES
from misspenalty.replay.cache_size import block_bytes_of
from misspenalty.replay.profile import profile
from misspenalty.replay.simulation import hit_ratio_curve
from misspenalty.traces import open_trace
from misspenalty.traces.parts import select, warm_up
from misspenalty.traces.quantities import parse_bytes
from misspenalty.traces.trace import Trace

SHARES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 0.6, 1.0)  # cache sizes of the curves, as shares of the footprint
TIMED = (0.01, 0.1, 0.3)  # cache sizes of the response times, as shares of the footprint
TABLES = ("profile", "over_time", "request_sizes", "runs", "reuse", "frequency", "curves", "penalty", "best")


def fetch(name: str, row: Mapping[str, Any], folder: str, mirror: str | None = None) -> Path:
    """Get and verify the raw file of a row whose source is not a path: copy it from the mirror, or download it.

    An interrupted download is resumed. What has arrived is kept next to the folder, because Snakemake deletes the
    folder of a job that did not finish.

    Raises
    ------
    InputError
        The file is not registered, cannot be downloaded, or does not have the digest that the row or register states.
    """
    entry, mirror = TraceRow.model_validate(row), mirror or os.environ.get(MIRROR)
    target = Path(folder) / entry.file_name
    if entry.external is not None:
        register = open_register("data/external.yaml", mirror=mirror)
        return _copied(register.fetch(entry.external), target, entry.file_name)
    copy = Path(mirror) / name / entry.file_name if mirror else None
    if copy is not None and copy.is_file():
        _check_sum(copy, entry.sha256)
        return _copied(copy, target, entry.file_name)
    return download(entry.source, entry.sha256, target, f"{folder}.{entry.file_name}.part")


def _copied(source: Path, target: Path, file_name: str) -> Path:
    """Copy a file under its registered name, and return the new path; a compressed copy keeps its extra suffix."""
    target = target.with_name(file_name + source.name[len(file_name) :])
    with atomic_path(target) as partial:
        shutil.copyfile(source, partial)
    return target


def _check_sum(path: Path, sha256: str) -> None:
    if path.is_dir():
        raise InputError("a compiled trace has no sha256 of its own", path=path, remedy="leave the cell sha256 empty")
    with open(path, "rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if sha256 and found != sha256:
        raise InputError("differs from the registered file", path=path, expected=f"sha256 {sha256}, not {found}")


def open_row(path: str, row: Mapping[str, Any]) -> tuple[Trace, int, TraceRow]:
    """Open the trace that a row selects from its raw file.

    Return the trace, the number of references that warm up the caches, and the checked row.

    Parameters
    ----------
    path : str
        The raw file, or the folder into which `fetch` put it.
    row : mapping
        The cells; see `misspenalty.characterize.rows.TraceRow`.
    """
    entry = TraceRow.model_validate(row)
    file = Path(path)
    if entry.is_url or entry.external:
        file = next(iter(sorted(file.iterdir())))
    elif entry.sha256:
        _check_sum(file, entry.sha256)
    size = parse_bytes(entry.block_size, "block size") if entry.block_size else None
    trace = select(open_trace(file, entry.format or None, size, **entry.options), entry.selection or "all")
    return *warm_up(trace, entry.warm_up or 0), entry


def tables(raw: str, row: Mapping[str, Any], threads: int = 1) -> dict[str, pd.DataFrame]:
    """Make every table of a trace.

    Parameters
    ----------
    raw : str
        The raw file; see `open_row`.
    row : mapping
    threads : int
        Number of caches replayed in parallel.

    Returns
    -------
    dict of str to DataFrame
        One table for each name in `TABLES`.
    """
    trace, warm, entry = open_row(raw, row)
    curves = all_curves(trace, warm, threads)
    times = response_times(trace, entry.device, warm, threads, parse_load(entry.load))
    settings = {"selection": entry.selection or "all", "device": entry.device, "load": entry.load or "as traced"}
    summary = profile(trace) | {"warm_up": warm} | settings
    made = {
        "profile": pd.DataFrame({"what": list(summary), "value": [str(value) for value in summary.values()]}),
        "over_time": characteristics.over_time(trace),
        "request_sizes": characteristics.request_sizes(trace),
        "runs": characteristics.runs(trace),
        "reuse": characteristics.reuse_distances(trace),
        "frequency": characteristics.frequencies(trace),
        "curves": curves,
        "penalty": times,
        "best": best(curves, times),
    }
    return {name: made[name] for name in TABLES}


def sizes_at(trace: Trace, shares: tuple[float, ...]) -> dict[int, float]:
    """Map each cache size to the largest share of the footprint that is rounded to it, in ascending order.

    Sizes are in blocks, or in bytes for objects of different sizes.
    """
    whole = trace.blocks if block_bytes_of(trace) else trace.footprint_bytes
    return {max(int(share * whole + 0.5), 1): share for share in shares}


def _with_share(table: pd.DataFrame, trace: Trace, sizes: dict[int, float]) -> pd.DataFrame:
    """Put ``cache_blocks, cache_share, cache_bytes`` after column 0; for sizes in bytes, ``cache_blocks`` is NaN."""
    block = block_bytes_of(trace)
    size = table.pop("cache_blocks" if block else "cache_bytes")
    table.insert(1, "cache_blocks", size if block else np.nan)
    table.insert(2, "cache_share", size.map(sizes))
    table.insert(3, "cache_bytes", size * (block or 1))
    return table


def all_curves(trace: Trace, warm: int, threads: int) -> pd.DataFrame:
    """Return the hit ratios of every compiled policy at the sizes of `SHARES`.

    The table is that of `hit_ratio_curve`, with the columns ``cache_blocks, cache_share, cache_bytes`` for the size and
    a further column ``offline``. For objects of different sizes, it has every policy that supports them, with sizes in
    bytes, and the bounds of OPT.
    """
    in_bytes = block_bytes_of(trace) is None
    known = {name: policy for name, policy in known_policies().items() if policy.kernel is not None}
    names = [*SIZED, "opt"] if in_bytes else list(known)
    sizes = sizes_at(trace, SHARES)
    unit = "bytes" if in_bytes else None
    table = hit_ratio_curve(trace, names, sorted(sizes), unit=unit, warm_up=warm, threads=threads)
    offline = [name in NAMES or known[name].offline for name in table["policy"]]
    return _with_share(table, trace, sizes).assign(offline=offline)


def response_times(trace: Trace, device: str, warm: int, threads: int, load: Mapping[str, Any]) -> pd.DataFrame:
    """Simulate response times at the sizes of `TIMED`, as `penalty` does, for each compiled online policy and OPT.

    For objects of different sizes, simulate every policy that supports them. The table is that of `penalty`, with
    the columns ``cache_blocks, cache_share, cache_bytes`` for the size.
    """
    in_bytes = block_bytes_of(trace) is None
    timed = [name for name, p in known_policies().items() if p.kernel and (not p.offline or name == "opt")]
    sizes = sizes_at(trace, TIMED)
    unit = "bytes" if in_bytes else None
    names = list(SIZED) if in_bytes else timed
    table = penalty(trace, names, sorted(sizes), device, unit=unit, warm_up=warm, threads=threads, **load)
    return _with_share(table, trace, sizes)


def best(curves: pd.DataFrame, times: pd.DataFrame) -> pd.DataFrame:
    """Find the best online policy at each size.

    Returns
    -------
    DataFrame
        One row per size: ``cache_blocks, cache_share, cache_bytes``; ``policy``, the online policy with the most hits
        (the first by name if ``ties`` others have as many); its ``hit_ratio``; ``lru`` and ``opt``, the hit ratios of
        these two (for objects of different sizes, ``opt`` is an upper bound); ``of_gap``, the share of the gap between
        LRU and OPT that ``policy`` closes, NaN if OPT has no more hits than LRU; ``fastest``, the online policy with
        the shortest mean response time; ``mean_us``, this time; and ``mean_us_most_hits``, the mean response time of
        ``policy``. The last three are missing if no response times are known at this size.
    """
    rows = []
    for size, group in curves.groupby("cache_bytes", sort=True):
        ratio = group.set_index("policy")["hit_ratio"]
        most = ratio["opt"] if "opt" in ratio else ratio["opt_at_most"]
        online = group[~group["offline"]].sort_values(["hits", "policy"], ascending=[False, True])
        first = online.iloc[0]
        gap = most - ratio["lru"]
        row = {
            "cache_blocks": first["cache_blocks"],
            "cache_share": first["cache_share"],
            "cache_bytes": size,
            "policy": first["policy"],
            "ties": int((online["hits"] == first["hits"]).sum()) - 1,
            "hit_ratio": first["hit_ratio"],
            "lru": ratio["lru"],
            "opt": most,
            "of_gap": (first["hit_ratio"] - ratio["lru"]) / gap if gap > 0 else np.nan,
        }
        rows.append(row | _fastest(times[times["cache_bytes"] == size], first["policy"]))
    return pd.DataFrame(rows)


def _fastest(times: pd.DataFrame, most_hits: str) -> dict[str, Any]:
    online = times[times["policy"] != "opt"].sort_values(["mean_us", "policy"])
    if online.empty or online["mean_us"].isna().all():
        return {"fastest": None, "mean_us": np.nan, "mean_us_most_hits": np.nan}
    mean = online.set_index("policy")["mean_us"]
    return {"fastest": mean.index[0], "mean_us": mean.iloc[0], "mean_us_most_hits": mean[most_hits]}


def gather(folders: list[str], output: str) -> None:
    """Write all traces' tables as one Parquet data set per table: ``<output>/<table>/trace=<name>/part.parquet``.

    ``pandas.read_parquet("<output>/curves")`` reads one table of all traces, with the column ``trace``. The parts of a
    table have the same columns; columns that the table of a trace lacks are empty there.

    Raises
    ------
    InputError
        There is no trace.
    """
    if not folders:
        raise InputError("there are no tables to gather", remedy="add a row to the table of traces")
    blanks = pyarrow.csv.ConvertOptions(null_values=[""], strings_can_be_null=True)  # keep NA, a valid name of a trace
    with atomic_path(output) as partial:
        for table in TABLES:
            parts = {
                folder.name: pyarrow.csv.read_csv(folder / f"{table}.csv", convert_options=blanks)
                for folder in map(Path, folders)
            }
            columns = pa.unify_schemas([part.schema for part in parts.values()], promote_options="permissive")
            for name, part in parts.items():
                target = partial / table / f"trace={name}"
                target.mkdir(parents=True)
                whole = pa.concat_tables([columns.empty_table(), part], promote_options="permissive")
                pyarrow.parquet.write_table(whole, target / "part.parquet", compression="zstd")
