"""Compute the SARC study's tables: response times over load with three cache policies, and internals that explain them.

Paper: B. S. Gill, D. S. Modha, "SARC: Sequential Prefetching in Adaptive Replacement Cache", USENIX ATC 2005,
section V. A run follows the load schedule of a configuration, starting with an empty cache: a warm-up, then six
phases of rising load. The point of a phase is the mean of its one-minute averages without the first three, as in the
paper; a table's values are means of points over the seeds.
"""

import numpy as np
import pandas as pd

from misspenalty_studies.common.statistics import half_widths
from misspenalty_studies.sarc.runs import CONFIGS, KEYS, MEASURES, OPERATIONS, PAPERS, load_shark, points

READ_SHARE = 0.4  # share of reads among SPC-1's requests, rounded


def over_seeds(table, columns):
    """Return means over the seeds, each with the half width of its confidence interval.

    Parameters
    ----------
    table : DataFrame
        From `points`.
    columns : sequence of str
        Columns to average.

    Returns
    -------
    DataFrame
        ``config, scaled_iops, policy``; `columns`, and for each of them ``<column>_ci95``, the half width of the 95 %
        interval (Student), NaN for a single seed; ``seeds``, their number.
    """
    groups = table.groupby(KEYS, sort=False)
    result = groups[list(columns)].mean()
    return result.join([half_widths(groups, columns), groups.size().rename("seeds")]).reset_index()


def table2(table):
    """Return read and write response times (the paper's Table II).

    Parameters
    ----------
    table : DataFrame
        From `points`.

    Returns
    -------
    DataFrame
        ``config, scaled_iops, policy, read_ms, write_ms, read_ms_ci95, write_ms_ci95, seeds``.
    """
    return over_seeds(table, ["read_ms", "write_ms"])


def fig6(table):
    """Return response time, power and tracks staged over throughput (the paper's Figure 6).

    Parameters
    ----------
    table : DataFrame
        From `points`.

    Returns
    -------
    DataFrame
        ``config, scaled_iops, policy, response_ms``, ``power`` (throughput over response), ``stage_rate`` (tracks per
        second at full size), the half widths of ``response_ms`` and ``stage_rate``, ``seeds``.
    """
    result = over_seeds(table, ["response_ms", "stage_rate"])
    result.insert(4, "power", result["scaled_iops"] / result["response_ms"])
    return result


def each_seed(table):
    """Return the numbers of `table2` and `fig6` for each seed, from `points`.

    Returns
    -------
    dict of str to DataFrame
        ``table2_by_seed, fig6_by_seed``, both with a column ``seed``.
    """
    keys = [*KEYS, "seed"]
    times = table[[*keys, "response_ms", "stage_rate"]].copy()
    times.insert(5, "power", times["scaled_iops"] / times["response_ms"])
    return {"table2_by_seed": table[[*keys, "read_ms", "write_ms"]].copy(), "fig6_by_seed": times}


def internals(table):
    """Return internals that explain the response times, by point: hit ratios, list sizes, the ratio, drives.

    Parameters
    ----------
    table : DataFrame
        From `points`.

    Returns
    -------
    DataFrame
        ``config, scaled_iops, policy`` and means over the seeds of the `MEASURES` that `table2` and `fig6` do not have.
    """
    names = [name for name in MEASURES if name not in ("read_ms", "write_ms", "response_ms", "stage_rate")]
    return table.groupby(KEYS, sort=False)[names].mean().reset_index()


def budget(internals_table, fig6_table, published):
    """Count drive operations per request by purpose, and the number that the published response would allow.

    A policy's own six points relate responses to rates of operations; the rate for the published response, divided by
    the load, gives the number of operations per request that the drives could do.

    Parameters
    ----------
    internals_table, fig6_table : DataFrame
        From `internals` and `fig6`.
    published : DataFrame
        ``config, scaled_iops, policy, read_ms, write_ms``.

    Returns
    -------
    DataFrame
        ``config, scaled_iops, policy, demand_reads, prefetch_reads, destage_reads, destage_writes, destages,
        operations`` (per request), ``response_ms``, ``published_ms`` (the mix of the published read and write) and
        ``needed_operations`` (per request; NaN where the published response lies outside the range of the model's
        responses for the policy).
    """
    names = {f"{name}_per_request": name for name in (*OPERATIONS, "destages", "operations")}
    table = internals_table[[*KEYS, *names]].rename(columns=names)
    table = _with_published(table.merge(fig6_table[[*KEYS, "response_ms"]], on=KEYS), published)
    parts = []
    for _, part in table.groupby(["config", "policy"], sort=False):
        curve = pd.Series((part["operations"] * part["scaled_iops"]).to_numpy(), part["response_ms"]).sort_index()
        rate = np.interp(np.log(part["published_ms"]), np.log(curve.index), curve, left=np.nan, right=np.nan)
        parts.append(part.assign(needed_operations=rate / part["scaled_iops"]))
    return pd.concat(parts).sort_index()


def _with_published(table, published):
    """Add a column ``published_ms``, the mix of the published read and write responses."""
    said = published.set_index(KEYS)
    mix = READ_SHARE * said["read_ms"] + (1 - READ_SHARE) * said["write_ms"]
    return table.merge(mix.rename("published_ms").reset_index(), on=KEYS, how="left")


def load_axis(fig6_table, published, fit):
    """Express the distance between the published and the model's responses as a difference in load.

    Near saturation, a few percent of load change a response by seconds, so a factor between responses says little
    there. The fit determines the load factor only within a range; a published point whose shift in load lies within
    this range cannot be distinguished from the model's.

    Parameters
    ----------
    fig6_table : DataFrame
        From `fig6`.
    published : DataFrame
        The paper's Table II.
    fit : DataFrame
        From `misspenalty_studies.sarc.fit.summary`.

    Returns
    -------
    DataFrame
        ``config, scaled_iops, policy, response_ms, response_ms_ci95``; ``low_ms, high_ms``: the model's response at the
        ends of the load factor's range in `fit`, ``within_low`` and ``within_high``; ``published_ms``;
        ``load_shift_pct``: how much more load the model needs for the published response; ``low_pct, high_pct``: how
        much more load these load factors mean; ``within``: whether the shift lies between the two. Between and beyond a
        policy's six points, the logarithm of the response is taken to be linear in that of the load.
    """
    known = fit.set_index("parameter").loc["load_factor"]
    low, high = known["within_low"] / known["value"], known["within_high"] / known["value"]
    table = _with_published(fig6_table[[*KEYS, "response_ms", "response_ms_ci95"]], published)
    parts = []
    for _, part in table.groupby(["config", "policy"], sort=False):
        part = part.sort_values("scaled_iops")
        load, ms = np.log(part["scaled_iops"]).to_numpy(), np.log(part["response_ms"]).to_numpy()
        needed = _along(np.log(part["published_ms"]).to_numpy(), ms, load)
        part = part.assign(
            low_ms=np.exp(_along(load + np.log(low), load, ms)),
            high_ms=np.exp(_along(load + np.log(high), load, ms)),
            load_shift_pct=100 * (np.exp(needed - load) - 1),
            low_pct=100 * (low - 1),
            high_pct=100 * (high - 1),
        )
        parts.append(part.assign(within=part["load_shift_pct"].between(part["low_pct"], part["high_pct"])))
    return pd.concat(parts, ignore_index=True)


def _along(at, x, y):
    """Return values at `at` of the polyline through points in rising order of x, extrapolated beyond both ends."""
    place = np.clip(np.searchsorted(x, at) - 1, 0, len(x) - 2)
    return y[place] + (at - x[place]) * (y[place + 1] - y[place]) / (x[place + 1] - x[place])


def components(table):
    """Return mean response by component.

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


def peaks(fig6_table, table2_table):
    """Return the overall response at the highest load, and the percentages by which SARC shortens responses there.

    Parameters
    ----------
    fig6_table, table2_table : DataFrame
        From `fig6` and `table2`.

    Returns
    -------
    DataFrame
        ``config, policy, quantity`` (overall_response of the policy; read_response_reduction and
        write_response_reduction of SARC relative to the policy), ``value, unit``.
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


def from_runs(runs, seed, machine, values, published, fit):
    """Compute the tables from runs of the load schedules.

    Parameters
    ----------
    runs : DataFrame
        From `misspenalty_studies.sarc.runs.schedules`, of the paper's policies.
    seed : int
        Seed whose runs are shown over time, as in the paper's Figure 6 (right) and Figures 7 and 8.
    machine : path-like
        ``machine.yaml``.
    values : dict
        Values of the machine's parameters that differ from the file's.
    published : DataFrame
        The paper's Table II.
    fit : DataFrame
        From `misspenalty_studies.sarc.fit.summary`.

    Returns
    -------
    dict of str to DataFrame
        ``table2, fig6, table2_by_seed, fig6_by_seed, load_axis, peaks, by_minute, internals, disk_operations`` and
        ``components``.
    """
    discarded = load_shark(machine, values=values)[0].discarded_minutes
    runs = _by_config(runs)
    measured = points(runs, discarded)
    found = {"table2": table2(measured), "fig6": fig6(measured)} | each_seed(measured)
    found["load_axis"] = load_axis(found["fig6"], published, fit)
    found["peaks"] = peaks(found["fig6"], found["table2"])
    columns = ["config", "policy", "minute", "phase", "scaled_iops", "stage_rate", "seq_share", "ratio", "response_ms"]
    found["by_minute"] = runs.loc[runs["seed"] == seed, columns]
    found |= {"internals": internals(measured), "components": components(measured)}
    found["disk_operations"] = budget(found["internals"], found["fig6"], published)
    return found


def other_policies(runs, beyond, seed, machine, values):
    """Compute the table of further policies next to the paper's, from runs of the load schedules.

    Parameters
    ----------
    runs, seed, machine, values
        As in `from_runs`; of `runs`, only those with this seed are used.
    beyond : DataFrame
        Runs of the further policies; without rows if there are none.

    Returns
    -------
    DataFrame
        ``config, scaled_iops, policy, read_ms, write_ms, response_ms, stage_rate, hit_ratio``.
    """
    discarded = load_shark(machine, values=values)[0].discarded_minutes
    runs = _by_config(runs)
    runs = runs[runs["seed"] == seed]
    table = points(runs if beyond.empty else pd.concat([runs, beyond], ignore_index=True), discarded)
    return table[[*KEYS, "read_ms", "write_ms", "response_ms", "stage_rate", "hit_ratio"]]


def _by_config(runs):
    return pd.concat([runs[runs["config"] == config] for config in CONFIGS], ignore_index=True)
