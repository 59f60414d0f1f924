"""The SARC study: response times over load behind three caches, and what goes on inside.

Paper: B. S. Gill, D. S. Modha, "SARC: Sequential Prefetching in Adaptive Replacement Cache", USENIX ATC 2005,
section V. A run goes through the load schedule of a configuration from an empty cache on: a warm-up, then six phases in
rising order. A point of a phase is the mean of its one-minute averages without the first three, as in the paper; a
value of a table is the mean of its points over the seeds.
"""

import pandas as pd

from misspenalty.errors import ParameterError
from misspenalty.studies.sarc.runs import LOADS, PAPERS, Run
from misspenalty.studies.statistics import half_width

WARM_UP = 0  # phase
CONFIDENCE = 0.95
KEYS = ["config", "scaled_iops", "policy"]
MEASURES = [
    "read_ms",
    "write_ms",
    "response_ms",
    "stage_rate",
    "hit_ratio",
    "seq_share",
    "ratio",
    "sequential_misses_per_s",
    "utilisation",
    "write_cache_fill",
    "operations_per_request",
]


def simulate(shark, config, policy, seed, loads=None):
    """One run through a load schedule, minute by minute.

    Parameters
    ----------
    shark : Shark
        With its fitted values.
    config : {"cache_sensitive", "cache_insensitive"}
    policy : str
        Any online policy.
    seed : int
        Of the workload.
    loads : sequence of float, optional
        Load points, scaled IOPS; by default the configuration's six, in rising order.

    Returns
    -------
    DataFrame
        One row a minute: ``config, policy, seed, divisor, phase`` (0 = warm-up), ``scaled_iops, minute`` (since the
        start) and ``phase_minute`` (from 0); the columns of `MEASURES` (``stage_rate``: tracks a second, times the
        scale); mean time of a read and of a write by component, ms (``read_seek_ms`` …); ``backlog``.
    """
    loads = LOADS[config] if loads is None else tuple(loads)
    peak = max(LOADS[config][-1], *loads)
    run = Run(shark, config, policy, seed, peak)
    warm = (WARM_UP, shark.warm_up_share * peak, shark.warm_up_minutes)
    schedule = [warm, *((phase, load, shark.phase_minutes) for phase, load in enumerate(loads, 1))]
    rows, misses, minute = [], 0, 0
    for phase, load, minutes in schedule:
        if minutes:
            run.load(load)
        for phase_minute in range(minutes):
            row = _row(run, run.minute(), misses)
            misses += row.pop("sequential_misses")
            minute += 1
            keys = {"config": config, "policy": policy, "seed": seed, "divisor": shark.divisor, "phase": phase}
            rows.append(keys | {"scaled_iops": load, "minute": minute, "phase_minute": phase_minute} | row)
    return pd.DataFrame(rows)


def _row(run, interval, misses_before):
    counts, state, flat = interval.counts, interval.state, interval.row()
    requests = max(counts["reads"] + counts["writes"], 1)
    operations = counts["stage_reads"] + counts["destage_reads"] + counts["destage_writes"]
    misses = state["sequential_misses"] - misses_before
    return {
        "read_ms": interval.read_ms,
        "write_ms": interval.write_ms,
        "response_ms": interval.response_ms,
        "stage_rate": sum(interval.staged.values()) * run.shark.divisor / interval.seconds,
        "hit_ratio": counts["read_hits"] / max(counts["reads"], 1),
        "seq_share": state["seq_pages"] / run.cache_pages,
        "ratio": state["ratio"],
        "sequential_misses_per_s": misses * run.shark.divisor / interval.seconds,
        "utilisation": interval.utilisation,
        "write_cache_fill": state["dirty_pages"] / run.write_cache_pages,
        "operations_per_request": operations / requests,
        "sequential_misses": misses,
        "backlog": state["backlog"],
        **{name: flat[name] for name in flat if name.startswith(("read_", "write_")) and name.endswith("_ms")},
    }


def points(minutes, discarded):
    """Measured points: means of one-minute averages.

    Parameters
    ----------
    minutes : DataFrame
        From `simulate`, of any number of runs.
    discarded : int
        Minutes at the head of each phase that are left out.

    Returns
    -------
    DataFrame
        One row a run and phase: ``config, scaled_iops, policy, seed, divisor``, `MEASURES` and the components;
        ``backlog`` at the phase's end.

    Raises
    ------
    ParameterError
        Nothing is left of a phase.
    """
    measured = minutes[(minutes["phase"] != WARM_UP) & (minutes["phase_minute"] >= discarded)]
    if measured.empty:
        raise ParameterError(f"no minute is left of phases without their first {discarded}")
    runs = [*KEYS, "seed", "divisor"]
    columns = [name for name in minutes if name in MEASURES or name.endswith("_ms")]
    groups = measured.groupby(runs, sort=False)
    table = groups[list(dict.fromkeys([*MEASURES, *columns]))].mean()
    table["backlog"] = groups["backlog"].last()
    return table.reset_index()


def over_seeds(table, columns):
    """Means over the seeds, each with the half width of its confidence interval.

    Parameters
    ----------
    table : DataFrame
        From `points`.
    columns : sequence of str
        What to average.

    Returns
    -------
    DataFrame
        ``config, scaled_iops, policy``, `columns`, and for each ``<column>_ci``: half width of the 95 % interval
        (Student), NaN for a single seed; ``seeds``.
    """
    groups = table.groupby(KEYS, sort=False)
    result = groups[list(columns)].mean()
    number = groups.size()
    for column in columns:
        result[f"{column}_ci"] = half_width(groups[column].std(ddof=1), number, CONFIDENCE)
    result["seeds"] = number
    return result.reset_index()


def table2(table):
    """Read and write response times (the paper's Table II).

    Parameters
    ----------
    table : DataFrame
        From `points`.

    Returns
    -------
    DataFrame
        ``config, scaled_iops, policy, read_ms, write_ms, read_ms_ci, write_ms_ci, seeds``.
    """
    return over_seeds(table, ["read_ms", "write_ms"])


def fig6(table):
    """Response time, power and tracks staged over throughput (the paper's Figure 6).

    Parameters
    ----------
    table : DataFrame
        From `points`.

    Returns
    -------
    DataFrame
        ``config, scaled_iops, policy, response_ms``, ``power`` (throughput over response), ``stage_rate`` (tracks a
        second at full size), the half widths of the first and the last, ``seeds``.
    """
    result = over_seeds(table, ["response_ms", "stage_rate"])
    result.insert(4, "power", result["scaled_iops"] / result["response_ms"])
    return result


def internals(table):
    """What explains the response times: hit ratios, list sizes, the ratio, drives, by point.

    Parameters
    ----------
    table : DataFrame
        From `points`.

    Returns
    -------
    DataFrame
        ``config, scaled_iops, policy`` and means over the seeds of the other `MEASURES`.
    """
    names = [name for name in MEASURES if name not in ("read_ms", "write_ms", "response_ms", "stage_rate")]
    return table.groupby(KEYS, sort=False)[names].mean().reset_index()


def beyond(table):
    """Response times of further policies beside the paper's.

    Parameters
    ----------
    table : DataFrame
        From `points`, of one seed.

    Returns
    -------
    DataFrame
        ``config, scaled_iops, policy, read_ms, write_ms, response_ms, stage_rate, hit_ratio``.
    """
    return table[[*KEYS, "read_ms", "write_ms", "response_ms", "stage_rate", "hit_ratio"]]


def components(table):
    """Mean response by component.

    Parameters
    ----------
    table : DataFrame
        From `points`.

    Returns
    -------
    DataFrame
        ``config, scaled_iops, policy, request`` (read or write), ``component, ms``.
    """
    parts = {}
    for name in table:
        side, _, component = name.removesuffix("_ms").partition("_")
        if name.endswith("_ms") and side in ("read", "write") and component:
            parts[name] = (side, component)
    means = table.groupby(KEYS, sort=False)[list(parts)].mean().reset_index()
    long = means.melt(KEYS, var_name="name", value_name="ms")
    long["request"], long["component"] = zip(*long["name"].map(parts), strict=True)
    return long[[*KEYS, "request", "component", "ms"]]


def over_time(minutes):
    """The columns of `simulate` that the paper plots over time (its Figures 6, right, 7 and 8).

    Returns
    -------
    DataFrame
        ``config, policy, minute, phase, scaled_iops, stage_rate, seq_share, ratio, response_ms``.
    """
    columns = ["config", "policy", "minute", "phase", "scaled_iops", "stage_rate", "seq_share", "ratio", "response_ms"]
    return minutes[columns]


def peaks(fig6_table, table2_table):
    """Overall response at the highest load, and by how much SARC reduces response times.

    Parameters
    ----------
    fig6_table, table2_table : DataFrame
        From `fig6` and `table2`.

    Returns
    -------
    DataFrame
        ``config, policy, quantity`` (overall_response, read_response_reduction, write_response_reduction, against
        `policy`), ``value, unit``.
    """
    rows = []
    for config, part in table2_table.groupby("config", sort=False):
        peak = part["scaled_iops"].max()
        overall = fig6_table[(fig6_table["config"] == config) & (fig6_table["scaled_iops"] == peak)]
        overall = overall.set_index("policy")["response_ms"]
        rows += [(config, policy, "overall_response", ms, "ms") for policy, ms in overall.items() if policy in PAPERS]
        at_peak = part[part["scaled_iops"] == peak].set_index("policy")
        for side in ("read", "write"):
            for policy in PAPERS[:2]:
                reduction = 100 * (1 - at_peak.loc["sarc", f"{side}_ms"] / at_peak.loc[policy, f"{side}_ms"])
                rows.append((config, policy, f"{side}_response_reduction", reduction, "percent"))
    return pd.DataFrame(rows, columns=["config", "policy", "quantity", "value", "unit"])
