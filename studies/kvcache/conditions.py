"""Compute the results under other readings of the paper, and with the machine's parameters varied one at a time."""

from types import SimpleNamespace

import pandas as pd

from misspenalty_studies.common.machine import load_machine
from misspenalty_studies.kvcache import tables
from misspenalty_studies.kvcache.cluster import cluster_table
from misspenalty_studies.kvcache.machine import KvCacheMachine
from misspenalty_studies.kvcache.runs import behind, counts, load_workload, replay
from misspenalty_studies.kvcache.settings import KvcacheSettings

BLOCKS = "hits counted as shares of the block references"
REQUESTS = "hits counted as means over the requests"
BACKWARDS = "prompts referenced from their last block to the first"
COUNTS = "LFU keeps the counts of evicted blocks, of 1,000 times as many as the cache holds"
QUEUE = "requests of servers with caches of their own go to the shortest queue"
RANDOM = "requests of servers with caches of their own go to any server"
PARTS = {
    "stated": "first part of the trace only",
    "all": "whole trace",
}
COMPARED = ("opt", "mq", "lirs", "arc", "lru")
APART = ("h800_tflops", "ssd_gb_s", "ssd_gb")  # parameters of the machine that do not affect a cluster


def sensitivity(trace, machine, settings, threads=1):
    """Compute times to first token as the machine's parameters vary one at a time (a workflow job).

    The second level is as large as a server's memory and is behind the smallest first level of the settings.

    Parameters
    ----------
    trace, machine, settings, threads
        Same as in `misspenalty_studies.kvcache.runs.two_levels`.

    Returns
    -------
    DataFrame
        One row per variation, policy (those of `COMPARED` that the settings have) and kind of second level, over the
        whole trace: ``parameter, value`` (parameter ``none``: nothing is varied), ``policy, kind, ttft_s, saved_pct``
        (compared with no second level). A further row per variation, with policy and kind ``none``, is for the first
        level without a second.
    """
    settings = KvcacheSettings.model_validate(settings)
    workload = load_workload(trace, settings)
    machine = load_machine(machine, KvCacheMachine)
    policies = [policy for policy in COMPARED if policy in settings.policies]
    first = [min(settings.first_level_tokens)]
    parts = []
    for name, value in [("none", None), *machine.variations(machine.testbed)]:
        varied = SimpleNamespace(**(vars(machine.testbed) | ({} if name == "none" else {name: value})))
        times = tables.ttft(behind(workload, varied, first, policies, [varied.node_tokens], threads)["times"])
        rows = times.loc[times["part"] == "all", ["policy", "kind", "ttft_s", "saved_pct"]]
        rows.insert(0, "parameter", name)
        rows.insert(1, "value", value)
        parts.append(rows)
    return pd.concat(parts, ignore_index=True)


def conditions(trace, machine, settings, threads=1):
    """Compute Table 1 and Figures 9 and 10 under other readings of facts that the papers leave open (a workflow job).

    Parameters
    ----------
    trace, machine, settings, threads
        Same as in `misspenalty_studies.kvcache.runs.two_levels`.

    Returns
    -------
    dict of str to DataFrame
        ``table1``, ``fig9`` and ``fig10``, in the form of `misspenalty_studies.kvcache.tables`, with an additional
        column ``condition``.
    """
    settings = KvcacheSettings.model_validate(settings)
    workload = load_workload(trace, settings)
    machine = load_machine(machine, KvCacheMachine)
    forwards = _run(workload, settings, "lru")
    backwards = _run(workload, settings, "lru", backwards=True)
    counted = pd.concat([forwards, _run(workload, settings, "lfu", history=1000)], ignore_index=True)
    figure9 = [
        _measured(forwards, BLOCKS),
        _measured(forwards, REQUESTS),
        tables.fig9(backwards).assign(condition=BACKWARDS),
        _measured(backwards, REQUESTS, BACKWARDS),
    ]
    cluster = cluster_table(workload, machine.testbed, settings.seed, threads)
    figure10 = [
        _counted(cluster, "block_hit_pct", BLOCKS),
        _counted(cluster, "request_hit_pct", REQUESTS),
        tables.fig10(_routed(cluster, "balanced")).assign(condition=QUEUE),
        tables.fig10(_routed(cluster, "random")).assign(condition=RANDOM),
        *_varied_clusters(workload, machine, settings, threads),
    ]
    table1 = tables.table1(counted).assign(condition=COUNTS)
    return {
        "table1": table1,
        "fig9": pd.concat(figure9, ignore_index=True),
        "fig10": pd.concat(figure10, ignore_index=True),
    }


def on_parts(hits, second_level, ttft):
    """Return the tables that decide this project's own statements, but for other parts of the trace (a workflow job).

    Parameters
    ----------
    hits, second_level, ttft : path-like
        Result tables of these names.

    Returns
    -------
    dict of str to DataFrame
        The same tables, with a column ``condition``; the rows of another part replace those of the judged part.
    """
    made = {}
    for item, path in {"hits": hits, "second_level": second_level, "ttft": ttft}.items():
        table = pd.read_csv(path)
        parts = [table[table["part"] == part].assign(part="judged", condition=words) for part, words in PARTS.items()]
        made[item] = pd.concat(parts, ignore_index=True)
    return made


def _run(workload, settings, policy, **options):
    seen = workload.seen_before()
    rows = []
    for tokens in settings.cache_tokens:
        rows += counts(workload, policy, tokens, replay(workload, policy, tokens, **options), seen)
    return tables.hits(pd.DataFrame(rows))


def _measured(hits, measure, *others):
    """Return the table of Figure 9 with the hit rate counted in another way."""
    hit, possible = {
        BLOCKS: ("prefix_block_pct", "possible_block_pct"),
        REQUESTS: ("request_hit_pct", "possible_request_pct"),
    }[measure]
    columns = {"hit_pct": hits[hit], "possible_pct": hits[possible]}
    share = 100 * hits[hit] / hits[possible]
    counted = hits.assign(**columns, share_of_possible_pct=share)
    return tables.fig9(counted).assign(condition="; ".join([measure, *others]))


def _counted(cluster, measure, condition):
    """Return the cluster's hits, counted in another way; its times are left out because they would not change."""
    table = tables.fig10(cluster.assign(hit_pct=cluster[measure]))
    return table[["workload", "cache", "routing", "hit_pct"]].assign(condition=condition)


def _routed(cluster, routing):
    """Return the cluster's results, with aware routing replaced by `routing` where servers have their own caches."""
    own = cluster["cache"].isin(["local", "gpu"])
    kept = cluster[~(own & (cluster["routing"] == "aware"))]
    routed = cluster[own & (cluster["routing"] == routing)].assign(routing="aware")
    return pd.concat([kept, routed], ignore_index=True)


def _varied_clusters(workload, machine, settings, threads):
    for name, value in machine.variations(machine.testbed):
        if name not in APART:
            varied = SimpleNamespace(**(vars(machine.testbed) | {name: value}))
            table = tables.fig10(cluster_table(workload, varied, settings.seed, threads))
            what = "GPU utilisation" if name == "utilisation" else name.replace("_", " ")
            yield table.assign(condition=f"{what} of {value:g}")
