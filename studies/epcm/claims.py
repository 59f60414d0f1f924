"""Record what the tables of the EPCM study show for each statement of the paper."""

import pandas as pd

from misspenalty_studies.common.claims.numbers import below
from misspenalty_studies.common.claims.tables import Table, cross

MODELS = ("last_successor", "pcm", "epcm")
TABLES = {
    "fig7": Table(
        ("benchmark", "model", "partition_size", "model_order", "buffer_copy"),
        ("elapsed_s", "compute_s", "elapsed_reduction_s", "io_reduction_pct", "read_reduction_pct", "read_latency_us"),
        (
            *cross(benchmark=("andrew",), model=("cold", "hot", *MODELS), buffer_copy=(True,)),
            *cross(benchmark=("glimpse",), model=MODELS, buffer_copy=(True,)),
            *cross(benchmark=("ld", "ssh"), model=("epcm",), buffer_copy=(True,)),
            *cross(benchmark=("andrew",), model=("hot", "epcm"), buffer_copy=(False,)),
        ),
    ),
    "fig8": Table(
        ("run", "bucket_low_us", "bucket_high_us"),
        ("events",),
        tuple(
            {"run": run, "bucket_low_us": low, "bucket_high_us": high}
            for run in ("hot", "epcm")
            for low, high in ((17, 32), (33, 64), (129, 256))
        ),
    ),
}


def largest(values):
    """Return the greatest value over the settings; NaN if one is missing."""
    return values.max(skipna=False)


def smallest(values):
    """Return the smallest value over the settings; NaN if one is missing."""
    return values.min(skipna=False)


def elapsed_share(runs):
    """Return the share of the cold run's elapsed time that runs save, in %."""
    return 100 * runs.elapsed_reduction_s / (runs.elapsed_s + runs.elapsed_reduction_s)


def claims(record, tables):
    """Record every claim of the ledger whose id begins with ``epcm``."""
    runs = tables["fig7"].xs("andrew").reset_index()
    earlier = runs[runs.buffer_copy & runs.model.isin(("last_successor", "pcm"))]
    copied, plain = ({m: g for m, g in runs[runs.buffer_copy == c].groupby("model")} for c in (True, False))
    epcm, hot, cold = copied["epcm"], copied["hot"].iloc[0], copied["cold"].iloc[0]
    wait = cold.elapsed_s - cold.compute_s
    saved = {model: largest(copied[model].elapsed_reduction_s) for model in ("hot", *MODELS)}
    share = largest(elapsed_share(epcm))
    removed, latency = largest(epcm.io_reduction_pct), smallest(epcm.read_latency_us)

    record.bound("epcm.fig6.io_reduction", largest(earlier.io_reduction_pct), neutral=0)
    record.bound("epcm.fig6.read_reduction", largest(earlier.read_reduction_pct), neutral=0)
    record.value("epcm.fig7a.elapsed_reduction_s", saved["epcm"], neutral=0)
    record.value("epcm.fig7a.elapsed_reduction_pct", share, neutral=0)
    record.value("epcm.fig7a.io_latency_cold", wait)
    record.value("epcm.fig7a.io_reduction", removed, neutral=0)
    record.value("epcm.fig7a.elapsed_epcm", smallest(epcm.elapsed_s))
    record.value("epcm.fig7a.residual_io", wait - saved["epcm"])
    record.bound("epcm.fig7a.cold_elapsed", epcm.elapsed_s + epcm.elapsed_reduction_s)
    record.bound("epcm.fig7a.best_possible", largest(pd.Series(saved)), limit=wait, digits_of=cold.elapsed_s)
    times = {"times as large": removed / share}
    record.compared("epcm.fig7a.modest_vs_large", removed, ">", share, report=times)
    others = largest(pd.Series([saved["last_successor"], saved["pcm"]]))
    record.compared("epcm.fig7.epcm_beats_pcm", saved["epcm"], ">", others)

    record.value("epcm.fig7b.read_latency_min", latency)
    record.value("epcm.fig7b.read_reduction", largest(epcm.read_reduction_pct), neutral=0)
    record.value("epcm.fig7b.cold_read_latency", epcm.read_latency_us / (1 - epcm.read_reduction_pct / 100))
    record.value("epcm.fig7b.hot_read_latency", hot.read_latency_us)
    record.value("epcm.fig7b.epcm_over_hot", latency / hot.read_latency_us, neutral=1)
    record.order("epcm.fig7b.epcm_below_hot", {"epcm": latency, "hot": hot.read_latency_us})
    latency24, hot24 = smallest(plain["epcm"].read_latency_us), plain["hot"].read_latency_us.iloc[0]
    record.compared("epcm.fig7b.kernel_24", hot24, "<=", latency24)
    cause = [float(below(latency, hot.read_latency_us)), 1 - float(below(latency24, hot24))]
    record.holds("epcm.fig7b.cause_copy", pd.Series(cause, index=[True, False]))
    record.setting("epcm.fig8.setting", epcm[["partition_size", "model_order"]].where(epcm.io_reduction_pct.notna()))

    _other_workloads(record, tables["fig7"])
    _histogram(record, tables["fig8"].events)
    record.no_table("epcm.fig7.lead_time", "epcm.fig7b.link_phase_reads", "epcm.fig8.copies_hot")
    record.no_table("epcm.fig8.copies_prefetch", "epcm.setup.kernel")


def _other_workloads(record, runs):
    """Record sections 4.3 to 4.5: the largest reductions over the settings of each predictor."""
    best = {}
    for benchmark in ("ld", "glimpse", "ssh"):
        settings = runs.xs((benchmark, "epcm", True), level=("benchmark", "model", "buffer_copy")).reset_index()
        best[f"{benchmark}.elapsed_reduction"] = largest(elapsed_share(settings))
        best[f"{benchmark}.io_reduction"] = largest(settings.io_reduction_pct)
        best[f"{benchmark}.read_reduction"] = largest(settings.read_reduction_pct)
    for model in ("pcm", "last_successor"):
        settings = runs.xs(("glimpse", model, True), level=("benchmark", "model", "buffer_copy"))
        best[f"glimpse.{model}_io_reduction"] = largest(settings.io_reduction_pct)
    for id, value in best.items():
        upper = id in ("ld.io_reduction", "glimpse.read_reduction")
        (record.bound if upper else record.value)(f"epcm.{id}", value, neutral=0)


def _histogram(record, events):
    """Record Figure 8: read calls by latency, in a hot run and with EPCM."""
    hot, epcm = events["hot"], events["epcm"]
    for id, bucket in (("hot_129_256", (129, 256)), ("epcm_17_32", (17, 32)), ("epcm_33_64", (33, 64))):
        record.order(f"epcm.fig8.{id}", {"hot": hot[bucket], "epcm": epcm[bucket]})
    more = epcm - hot
    record.equal("epcm.fig8.balance", more[17, 32] + more[33, 64], -more[129, 256])
    record.equal("epcm.fig8.same_total", hot.sum(skipna=False), epcm.sum(skipna=False))
    low, high = (more.index.get_level_values(level) for level in (0, 1))
    middle, left, arrived = (low + high) / 2, (-more).clip(lower=0), more.clip(lower=0)
    before, after = ((middle * calls).sum(skipna=False) / calls.sum(skipna=False) for calls in (left, arrived))
    record.bound("epcm.fig8.shift", before - after)


def logged(leads, runs, workload, partition_size, model_order):
    """Return notes with the values obtained for claims that no table decides.

    Parameters
    ----------
    leads : DataFrame
        From `misspenalty_studies.epcm.tables.leads`.
    runs : DataFrame
        From `misspenalty_studies.epcm.runs.simulate`, for the workload that is judged.
    workload : DataFrame
        From `misspenalty_studies.epcm.tables.workload_facts`.
    partition_size, model_order : int
        Parameters of the EPCM run of Figure 8.

    Returns
    -------
    DataFrame
        ``id`` of the claim, ``note``.
    """
    mine = leads[(leads["benchmark"] == "andrew") & leads["buffer_copy"]]
    used = {model: group["lead_ms"].max() for model, group in mine.groupby("model")}
    right = {model: group["correct_lead_ms"].max() for model, group in mine.groupby("model")}
    longer = "yes" if right["epcm"] > max(right["pcm"], right["last_successor"]) else "no"
    facts = workload[workload["benchmark"] == "andrew"].set_index("quantity")["value"]
    chosen = (runs["partition_size"] == partition_size) & (runs["model_order"] == model_order)
    epcm = runs[(runs["model"] == "epcm") & chosen & runs["buffer_copy"]].mean(numeric_only=True)
    hot = runs[(runs["model"] == "hot") & runs["buffer_copy"]].mean(numeric_only=True)
    ahead = epcm["copied_ahead"]
    notes = {
        "epcm.fig7.lead_time": "obtained, from the prefetch to the first use of files used when predicted, mean ms: "
        + ", ".join(f"{model} {right[model]:.1f}" for model in ("last_successor", "pcm", "epcm"))
        + f" (best setting of each); EPCM's is the longest: {longer}; of all files used at any time after a prefetch: "
        + ", ".join(f"{model} {used[model]:.0f}" for model in ("last_successor", "pcm", "epcm")),
        "epcm.fig7b.link_phase_reads": f"obtained: {facts['object_bytes_written']:.0f} bytes of object files written, "
        f"{facts['object_bytes_read']:.0f} read back",
        "epcm.fig8.copies_hot": f"obtained: {hot['copied']:.0f} copies in read calls of a hot run",
        "epcm.fig8.copies_prefetch": f"obtained with EPCM {partition_size}/{model_order}: {epcm['copied']:.0f} copies "
        f"in read calls, {ahead:.0f} by the prefetch engine in opens and execs; hot: {hot['copied']:.0f} in read calls",
        "epcm.setup.kernel": "modelled: buffer and page cache, read-ahead, clusters and elevator of Linux 2.2",
    }
    return pd.DataFrame({"id": notes.keys(), "note": notes.values()})
