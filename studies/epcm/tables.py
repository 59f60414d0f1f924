"""Compute the EPCM study's tables from its runs."""

import numpy as np
import pandas as pd

from misspenalty_studies.common.statistics import HALF_WIDTH, half_width
from misspenalty_studies.epcm.file_client.client import CALLS, CLASSES, COMPONENTS, PAGE_BYTES
from misspenalty_studies.epcm.runs import BUCKETS, KEYS, WHOLE, definition_of, waited_early

WAITS = [f"{name}_ns" for name in COMPONENTS if name.startswith("wait_")]


def timed(runs):
    """Return runs with times in s and us, next to the times of the same run with cold caches."""
    runs = runs.copy()
    runs["elapsed_s"] = runs[[f"{name}_ns" for name in COMPONENTS]].sum(axis=1) / 1e9
    runs["io_wait_s"] = runs[WAITS].sum(axis=1) / 1e9
    runs["compute_s"] = runs["elapsed_s"] - runs["io_wait_s"]
    runs["read_latency_us"] = runs["read_ns"] / runs["read_calls"].clip(lower=1) / 1000
    run = ["benchmark", "buffer_copy", "run"]
    cold = runs.loc[runs["model"] == "cold", [*run, "elapsed_s", "io_wait_s", "read_latency_us"]]
    return runs.merge(cold, on=run, how="left", suffixes=("", "_cold"), validate="many_to_one")


def fig7(runs):
    """Compute Figure 7: elapsed time and read latency of every setting.

    Parameters
    ----------
    runs : DataFrame
        From `misspenalty_studies.epcm.runs.simulate`, including the cold runs.

    Returns
    -------
    DataFrame
        ``benchmark, model, partition_size, model_order, buffer_copy, elapsed_s, compute_s, io_wait_s,
        elapsed_reduction_s, elapsed_reduction_pct, io_reduction_pct, read_latency_us, read_reduction_pct``, means over
        the measured runs, reductions relative to the cold ones; ``elapsed_s_ci95, elapsed_reduction_s_ci95,
        read_latency_us_ci95``, half widths of their 95 % confidence intervals; ``runs``.
    """
    rows = []
    for key, group in timed(runs).groupby(KEYS, sort=False, dropna=False):
        mean = group.mean(numeric_only=True)
        saved = group["elapsed_s_cold"] - group["elapsed_s"]
        rows.append(
            {
                **dict(zip(KEYS, key, strict=True)),
                "elapsed_s": mean["elapsed_s"],
                "compute_s": mean["compute_s"],
                "io_wait_s": mean["io_wait_s"],
                "elapsed_reduction_s": saved.mean(),
                "elapsed_reduction_pct": 100 * saved.mean() / mean["elapsed_s_cold"],
                "io_reduction_pct": _share(mean["io_wait_s_cold"] - mean["io_wait_s"], mean["io_wait_s_cold"]),
                "read_latency_us": mean["read_latency_us"],
                "read_reduction_pct": _share(
                    mean["read_latency_us_cold"] - mean["read_latency_us"], mean["read_latency_us_cold"]
                ),
                f"elapsed_s{HALF_WIDTH}": half_width(group["elapsed_s"].std(), len(group)),
                f"elapsed_reduction_s{HALF_WIDTH}": half_width(saved.std(), len(group)),
                f"read_latency_us{HALF_WIDTH}": half_width(group["read_latency_us"].std(), len(group)),
                "runs": len(group),
            }
        )
    return _ordered(pd.DataFrame(rows))


def _share(part, whole):
    return 100 * part / whole if whole else 0.0


def _ordered(frame):
    keys = ["benchmark", "model", "partition_size", "model_order", "buffer_copy"]
    return frame.astype(WHOLE)[[*keys, *(name for name in frame.columns if name not in keys)]]


def fig8(runs, benchmark, partition_size, model_order):
    """Compute Figure 8: the distribution of read calls by time in a typical hot run, and in the same run with EPCM.

    The typical run is the hot one with the median read latency (the faster one if two are in the middle).

    Parameters
    ----------
    runs : DataFrame
        From `misspenalty_studies.epcm.runs.simulate`.
    benchmark : str
    partition_size, model_order : int
        Parameters of the EPCM run.

    Returns
    -------
    DataFrame
        ``run, bucket_low_us, bucket_high_us, events``; from the first to the last non-empty bucket.
    """
    runs = timed(runs[runs["buffer_copy"] & (runs["benchmark"] == benchmark)])
    hot = runs[runs["model"] == "hot"].sort_values(["read_latency_us", "run"])
    typical = hot["run"].iloc[(len(hot) - 1) // 2]
    epcm = runs[(runs["model"] == "epcm") & (runs["partition_size"] == partition_size)]
    chosen = {"hot": hot, "epcm": epcm[epcm["model_order"] == model_order]}
    names = [f"us_{1 << place}" for place in range(BUCKETS)]
    counts = {run: frame.loc[frame["run"] == typical, names].iloc[0].astype(int) for run, frame in chosen.items()}
    held = np.flatnonzero(sum(counts.values()))
    rows = [
        (run, (1 << place) // 2 + 1 if place else 0, 1 << place, counts[run].iloc[place])
        for run in chosen
        for place in range(held[0], held[-1] + 1)
    ]
    return pd.DataFrame(rows, columns=["run", "bucket_low_us", "bucket_high_us", "events"])


def classes(runs):
    """Count read calls by class, as means over the measured runs: ``hit, partial, miss, read_calls, miss_pct``."""
    frame = runs.groupby(KEYS, sort=False, dropna=False)[[*CLASSES, "read_calls"]].mean().reset_index()
    frame["miss_pct"] = 100 * frame["miss"] / frame["read_calls"]
    return _ordered(frame)


def components(runs):
    """Split the mean elapsed time of the measured runs into its components, which add up to it: ``component, s``."""
    names = {f"{name}_ns": name for name in COMPONENTS}
    mean = (runs.groupby(KEYS, sort=False, dropna=False)[list(names)].mean() / 1e9).rename(columns=names).reset_index()
    long = mean.melt(KEYS, var_name="component", value_name="s", ignore_index=False)
    return _ordered(long.sort_index(kind="stable").reset_index(drop=True))


def leads(runs):
    """Summarise what the prefetch engine did, for every setting with a predictor.

    Returns
    -------
    DataFrame
        `KEYS`; means over the measured runs of ``prefetches`` (that fetched or copied anything), ``used`` (files
        used afterwards), ``correct`` (correct predictions: used within n events, where n is the rank in the list),
        ``never_used`` (files prefetched that are not opened or executed in the rest of the run), ``pages, pages_used,
        copies_in_reads, copies_ahead``; ``lead_ms`` and ``correct_lead_ms``, the mean time from prefetch to first use;
        ``first_predicted`` (events on the file that had just been predicted first, whether or not any of it was absent)
        and ``first_predicted_lead_ms``, the mean time from that prediction to the event.
    """
    runs = runs[~runs["model"].isin(["cold", "hot"])]
    totals = runs.groupby(KEYS, sort=False, dropna=False).mean(numeric_only=True)
    return _ordered(
        pd.DataFrame(
            {
                "prefetches": totals["files_ahead"],
                "used": totals["leads"],
                "lead_ms": totals["lead_time"] / totals["leads"].where(totals["leads"] > 0) / 1e6,
                "correct": totals["foretold"],
                "correct_lead_ms": totals["foretold_time"] / totals["foretold"].where(totals["foretold"] > 0) / 1e6,
                "never_used": totals["wrong"],
                "first_predicted": totals["right"],
                "first_predicted_lead_ms": totals["right_time"] / totals["right"].where(totals["right"] > 0) / 1e6,
                "pages": totals["pages_ahead"],
                "pages_used": totals["pages_used"],
                "copies_in_reads": totals["copied"],
                "copies_ahead": totals["copied_ahead"],
            }
        ).reset_index()
    )


def accuracy(benchmark, workload, training, measured, settings):
    """Count how often the next open or exec was predicted in the measured runs.

    Parameters
    ----------
    benchmark : str
    workload : FileWorkload
    training, measured : sequence of int
        Numbers of the runs.
    settings : list of Setting
        Baselines and perfect foresight are skipped.

    Returns
    -------
    DataFrame
        ``benchmark, model, partition_size, model_order, events, first_predicted_pct`` (the event's file was the first
        one predicted), ``any_predicted_pct`` (it was among the files predicted), ``files_predicted`` (mean number
        predicted), ``memory_kb``.
    """
    rows = []
    ids = [workload.events(run) for run in (*training, *measured)]
    skip = sum(len(part) for part in ids[: len(training)])
    ids = np.concatenate(ids)
    for setting in settings:
        if setting.model in ("cold", "hot", "foresight"):
            continue
        kernel, parameters = definition_of(setting)
        kernel = kernel(workload.files, **parameters)
        rank, number = np.empty((2, len(ids)), np.uint32)
        kernel.feed(ids, rank, number)
        judged = slice(max(skip, 1), None)
        rows.append(
            {
                "benchmark": benchmark,
                "model": setting.model,
                "partition_size": setting.partition_size,
                "model_order": setting.model_order,
                "events": len(rank[judged]),
                "first_predicted_pct": 100 * (rank[judged] == 1).mean(),
                "any_predicted_pct": 100 * (rank[judged] > 0).mean(),
                "files_predicted": number[judged].mean(),
                "memory_kb": kernel.memory / 1024,
            }
        )
    return pd.DataFrame(rows).astype(WHOLE)


COUNTED = ("exec", "open", "create", "read", "write", "fault", "unlink", "rename", "lookup", "search")
EARLY = (0.05, 0.1, 0.5)  # shares of a run's compute


def workload_facts(study, capture, runs, published):
    """Compute facts of a recorded workload, as means over the measured runs, next to the paper's values.

    Parameters
    ----------
    study : Study
    capture : Capture
        The study's recording, for the names of files and the processes of runs.
    runs : sequence of int
        Number of each of the workload's runs in the recording, which may have more.
    published : DataFrame
        ``benchmark, quantity, value``: what the paper states about its own workloads.

    Returns
    -------
    DataFrame
        ``benchmark, quantity, value, published``; ``published`` is empty if the paper states nothing. Sources and
        objects are the files of the source tree whose names end in .c and .o; their bytes are those up to the last one
        read or written. ``wait_early_<n>_pct``: percentage of the I/O wait of the first measured run, with cold
        caches, that falls within the first n % of the run's compute.
    """
    benchmark, measured = study.benchmark, study.measured
    each = [_run_facts(study.workload.records[run], capture.files) for run in measured]
    facts = {name: float(np.mean([run[name] for run in each])) for name in each[0]}
    numbers = [runs[run] for run in measured]
    facts["processes"] = capture.processes["run"].isin(numbers).sum() / len(measured)
    facts |= {"runs_measured": len(measured), "compute_scale": study.scale}
    facts |= {
        f"wait_early_{share:.0%}".replace("%", "_pct"): 100 * part
        for share, part in zip(EARLY, waited_early(study, EARLY), strict=True)
    }
    frame = pd.DataFrame(
        [(benchmark, name, value) for name, value in facts.items()], columns=["benchmark", "quantity", "value"]
    )
    return frame.merge(
        published.rename(columns={"value": "published"})[["benchmark", "quantity", "published"]], how="left"
    )


def _run_facts(calls, files):
    """Return counts, bytes and seconds of one run."""
    names = files["path"].astype(str)
    own = ~names.str.startswith("/")
    sources, objects = ((own & names.str.endswith(end)).to_numpy() for end in (".c", ".o"))
    kinds = {name: calls[calls["kind"] == CALLS.index(name)] for name in COUNTED}
    read, written = kinds["read"], kinds["write"]
    facts = {f"{name}s" if name != "search" else "searches": len(some) for name, some in kinds.items()}
    pages = _pages(np.concatenate([read, kinds["fault"]]))
    return facts | {
        "mb_read": read["length"].sum() / 2**20,
        "mb_written": written["length"].sum() / 2**20,
        "pages_faulted": int((kinds["fault"]["length"] // PAGE_BYTES).sum()),
        "files_read": len(np.unique(read["path"])),
        "files_used": len(np.unique(pages >> PAGE_BITS)),
        "footprint_mb": len(pages) * PAGE_BYTES / 2**20,
        "sources_read": int(sources[np.unique(read["path"])].sum()),
        "source_kb_read": _extent(read, sources) / 1024,
        "objects_read": int(objects[np.unique(read["path"])].sum()),
        "object_bytes_written": _extent(written, objects),
        "object_bytes_read": _extent(read, objects),
        "largest_written_mb": int((written["offset"] + written["length"]).max(initial=0)) / 2**20,
        "recorded_compute_s": calls["gap"].sum() / 1e9,
    }


PAGE_BITS = 30  # bits of a page's number within its file


def _pages(calls):
    """Return the distinct pages that calls touch, encoded as file number (high bits) and page number."""
    first = calls["offset"] // PAGE_BYTES
    number = np.where(calls["length"] > 0, (calls["offset"] + calls["length"] - 1) // PAGE_BYTES - first + 1, 0)
    behind = np.arange(number.sum()) - np.repeat(np.cumsum(number) - number, number)
    paths = calls["path"].astype(np.int64) << PAGE_BITS
    return np.unique(np.repeat(paths + first, number) + behind)


def _extent(calls, chosen):
    """Return the total bytes from the start of each chosen file up to the last byte that the calls reach."""
    calls = calls[chosen[calls["path"]]]
    paths, at = np.unique(calls["path"], return_inverse=True)
    ends = np.zeros(len(paths), np.int64)
    np.maximum.at(ends, at, calls["offset"] + calls["length"])
    return int(ends.sum())


def from_runs(runs, partition_size, model_order):
    """Compute Figures 7 and 8 and related tables, from the runs of all builds.

    Parameters
    ----------
    runs : DataFrame
        From `misspenalty_studies.epcm.runs.simulate`.
    partition_size, model_order : int
        Parameters of the EPCM run of Figure 8.

    Returns
    -------
    dict of str to DataFrame
        ``fig7, fig8, read_classes, components, lead_times``.
    """
    return {
        "fig7": fig7(runs),
        "fig8": fig8(runs, "andrew", partition_size, model_order),
        "read_classes": classes(runs),
        "components": components(runs),
        "lead_times": leads(runs),
    }
