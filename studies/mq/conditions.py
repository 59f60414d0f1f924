"""Compute the MQ study's Table 4 and Figure 7 under readings other than the judged one.

The readings vary how the storage cache treats a write, how large the first level is, when MQ looks up its history, over
which capture the first level is calibrated, and the parameters of Figure 7's model for which ``machine.yaml`` lists
other values. Each of these is varied alone, except that the rules for writes are combined with every first level.
"""

import pandas as pd

import misspenalty
from misspenalty_studies.mq.first_level import calibrate
from misspenalty_studies.mq.runs import behind, replay

COLUMNS = ["cache_mb", "policy", "hit_ratio_pct"]
TESTBED = {  # parameter -> its text, and the factor that converts its values to the text's unit
    "terminals": ("{} terminals", 1),
    "think_time_us": ("a think time of {} ms", 1e-3),
    "database_cpus": ("{} database processors", 1),
    "database_cpu_us": ("{} ms of database processor time per transaction", 1e-3),
    "server_request_us": ("{} us of storage server time per request", 1),
    "disk_access_ms": ("a mean disk access of {} ms", 1),
    "disk_time": ("{} disk times", 1),
    "stripe_blocks": ("stripes of {} blocks", 1),
    "write_through": ("writes that never reach the disks", 1),
    "warm_up_share": ("a warm-up of {} % of the run", 100),
}
RULES = {"ignore": "writes ignored by the storage cache", "refresh": "writes refresh cached blocks but load none"}


def under_conditions(
    replays, first_levels, long, shorter, sensitivity, rates, table4, fig7, cache_mb, threshold_mb, threads=1
):
    """Compute Table 4 and Figure 7, each under the conditions for which it is simulated (a workflow job).

    Parameters
    ----------
    replays, first_levels, sensitivity, rates : path-like
        Tables with the judged capture's replays, the first levels that `calibrate` tabulated, and the results when
        MQ's own parameters and the testbed's are varied one at a time.
    long : path-like
        Compiled capture over which the first levels are simulated.
    shorter : path-like or empty list
        Another compiled capture over which the first level's size is also calibrated.
    table4, fig7 : path-like
        The results behind the calibrated first level.
    cache_mb : sequence of float
        Sizes of Table 4.
    threshold_mb : float
        As in `misspenalty_studies.mq.first_level.distances`.
    threads : int
        Number of concurrent replays.

    Returns
    -------
    dict of str to DataFrame
        ``table4, fig7``, each with a column ``condition``.
    """
    replays, levels, sensitivity = (pd.read_csv(path) for path in (replays, first_levels, sensitivity))
    calibrated = f"{level_of(levels.loc[levels['chosen'], 'first_level_mb'].iloc[0])}, calibrated on Table 3"
    parts = [pd.read_csv(table4)[[*COLUMNS, "timed_hit_ratio_pct"]].assign(condition=calibrated)]
    judged = replays[replays["policy"].isin(["mq", "lru"]) & replays["cache_mb"].isin(cache_mb)]
    for mode, text in RULES.items():
        parts.append(judged.loc[judged["writes"] == mode, COLUMNS].assign(condition=text))
    lru = judged[(judged["policy"] == "lru") & (judged["writes"] == "count")][COLUMNS]
    recalled = sensitivity[(sensitivity["parameter"] == "recall_first") & (sensitivity["value"] == 1)]
    recalled = pd.concat([recalled.assign(policy="mq")[COLUMNS], lru])
    parts.append(recalled.assign(condition="MQ consults Qout before it evicts"))
    for mb, part in levels[~levels["chosen"]].groupby("first_level_mb"):
        parts.append(part[COLUMNS].assign(condition=level_of(mb)))
    if shorter:
        parts.append(over_another(misspenalty.open_trace(shorter), levels, threshold_mb, cache_mb))
    parts += with_rules(misspenalty.open_trace(long), levels, cache_mb, threads)
    bars = [pd.read_csv(fig7).assign(condition=calibrated), of_the_testbed(pd.read_csv(rates))]
    return {item: pd.concat(each, ignore_index=True) for item, each in (("table4", parts), ("fig7", bars))}


def level_of(mb):
    """Describe a first level in words."""
    return f"LRU first level of {mb} MB"


def over_another(trace, levels, threshold_mb, cache_mb):
    """Compute Table 4 behind a first level calibrated over another capture, using all read misses of that level.

    Parameters
    ----------
    trace : Trace
    levels : DataFrame
        Table from `calibrate`, which has the target and the range of sizes.
    threshold_mb, cache_mb
        As in `calibrate`.

    Returns
    -------
    DataFrame
        ``cache_mb, policy, hit_ratio_pct, condition``.

    Raises
    ------
    ParameterError
        The size is not between the smallest and the largest of `levels`.
    """
    span = levels["first_level_mb"].min(), levels["first_level_mb"].max()
    remedy = "add smaller or larger sizes to mq.calibrated.shown_mb, or leave out mq.calibrated.shorter"
    stream, table = calibrate(trace, levels["target_pct"].iloc[0], span, threshold_mb, cache_mb, (), remedy=remedy)
    found = level_of(table["first_level_mb"].iloc[0])
    words = f"{found}, calibrated on Table 3 over another capture of {stream.reads / 1e6:.1f} million reads"
    return table[COLUMNS].assign(condition=words)


def with_rules(trace, levels, cache_mb, threads):
    """Compute Table 4 behind every first level under other rules for writes.

    Parameters
    ----------
    trace : Trace
        Capture over which the first levels are simulated.
    levels : DataFrame
        Table from `calibrate`.
    cache_mb : sequence of float
    threads : int

    Returns
    -------
    list of DataFrame
        ``cache_mb, policy, hit_ratio_pct, condition``.
    """
    parts = []
    for mb, reads in levels[["first_level_mb", "reads"]].drop_duplicates().itertuples(index=False):
        stream = behind(trace, mb, reads)
        tables = [replay(stream, name, cache_mb, writes=tuple(RULES), threads=threads) for name in ("mq", "lru")]
        for mode, part in pd.concat(tables).groupby("writes"):
            parts.append(part[COLUMNS].assign(condition=f"{level_of(mb)}; {RULES[mode]}"))
    return parts


def of_the_testbed(rates):
    """Return Figure 7 under each change of one of the testbed's parameters.

    Parameters
    ----------
    rates : DataFrame
        From `misspenalty_studies.mq.rates.fig7_sensitivity`.

    Returns
    -------
    DataFrame
        ``cache_mb, policy, normalized_rate, condition``.
    """
    varied = rates[rates["parameter"] != "none"]
    words = [testbed_of(*one) for one in varied[["parameter", "value"]].itertuples(index=False)]
    return varied[["cache_mb", "policy", "normalized_rate"]].assign(condition=words)


def testbed_of(parameter, value):
    """Describe a changed value of Figure 7's testbed in words.

    >>> testbed_of("think_time_us", "10000")
    'Figure 7 with a think time of 10 ms'
    """
    words, unit = TESTBED.get(parameter, (f"{parameter} {{}}", 1))
    written = str(value) if unit == 1 else f"{float(value) * unit:g}"
    return f"Figure 7 with {words.format(written)}"
