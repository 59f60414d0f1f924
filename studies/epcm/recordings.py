"""Compare recordings of Andrew by the facts that the paper prints about its own workload.

Which recording is used was decided by only three of these facts: the number of read calls of a run, how many of them
miss in a cold cache, and how long before the use of a file the last-successor model predicts it correctly. No fit uses
them. The study's results from each recording follow, so that the reader sees how much the choice matters.
"""

import pandas as pd

from misspenalty_studies.epcm.runs import simulate
from misspenalty_studies.epcm.tables import fig7, leads

MODELS = ("last_successor", "pcm", "epcm")


def published(baselines, reductions, benchmark="andrew"):
    """Return the paper's printed values, by the quantities of `facts`.

    Parameters
    ----------
    baselines, reductions : DataFrame
        ``studies/epcm/published/baselines.csv`` and ``reductions.csv``.
    benchmark : str

    Returns
    -------
    dict of str to float
        Last successor and PCM have the same reduction, as the paper makes one statement about both. The two lead times
        also have the same value, as the paper prints only one and does not say which of the two it means.
    """
    base = baselines[baselines["benchmark"] == benchmark].set_index(["caches", "quantity"])["value"]
    less = reductions[reductions["benchmark"] == benchmark].set_index(["model", "quantity"])["value"]
    lead, others = less["last_successor", "lead_time"], less["last_successor or pcm", "io_reduction"]
    return {
        "read_calls": base["any", "read_calls"],
        "cold_misses": base["cold", "misses"],
        "compute_s": base["cold", "compute"],
        "right_lead_ms": lead,
        "fetched_lead_ms": lead,
        "cold_wait_s": base["cold", "elapsed"] - base["cold", "compute"],
        "cold_elapsed_s": base["cold", "elapsed"],
        "cold_read_us": base["cold", "read_latency"],
        "hot_read_us": base["hot", "read_latency"],
        "last_successor_removed_pct": others,
        "pcm_removed_pct": others,
        "epcm_removed_pct": less["epcm", "io_reduction"],
    }


def facts(name, study, bars, published):
    """Compute facts of one recording, and the study's results from it.

    Parameters
    ----------
    name : str
        Name of the recording.
    study : Study
    bars : list of Setting
        Bars of Figure 7.
    published : dict of str to float
        Published values by quantity.

    Returns
    -------
    DataFrame
        ``recording, quantity, value, published``, means over the measured runs. For the cold run: ``read_calls,
        cold_misses`` and ``compute_s`` (fitted). For last successor: ``right_lead_ms`` (from a correct prediction to
        the open or exec that it predicted, over all correct predictions) and ``fetched_lead_ms`` (from the start of a
        prefetch to the first use of its data, over correct predictions that had anything to fetch). Then the waits and
        latencies, and the I/O wait removed by each model's best bar, ``*_removed_pct``.
    """
    runs = simulate(study, bars)
    figure = fig7(runs)
    table, lead = figure.set_index("model"), leads(runs).set_index("model")
    cold = runs[runs["model"] == "cold"].mean(numeric_only=True)
    found = {
        "read_calls": cold["read_calls"],
        "cold_misses": cold["miss"],
        "compute_s": table.loc["cold", "compute_s"],
        "right_lead_ms": lead.loc["last_successor", "first_predicted_lead_ms"],
        "fetched_lead_ms": lead.loc["last_successor", "correct_lead_ms"],
        "cold_wait_s": table.loc["cold", "io_wait_s"],
        "cold_elapsed_s": table.loc["cold", "elapsed_s"],
        "cold_read_us": table.loc["cold", "read_latency_us"],
        "hot_read_us": table.loc["hot", "read_latency_us"],
    }
    best = figure.groupby("model")["io_reduction_pct"].max()
    found |= {f"{model}_removed_pct": best[model] for model in MODELS}
    return pd.DataFrame([(name, *item, published[item[0]]) for item in found.items()], columns=COLUMNS)


COLUMNS = ["recording", "quantity", "value", "published"]
