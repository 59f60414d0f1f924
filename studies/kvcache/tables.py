"""Compute the tidy tables of the kvcache study from its replays."""

import pandas as pd

from misspenalty_studies.common.machine import load_machine
from misspenalty_studies.kvcache import cost
from misspenalty_studies.kvcache.machine import KvCacheMachine

NODE_TOKENS = 3_000_000  # tokens in the paper's 1 TB of memory
LARGE_TOKENS = 50_000_000
LONG_TOKENS = 128 * 1024
PREFIX_TOKENS = 8192


def table2(workload):
    """Return the facts about the whole trace, for comparison with the paper's Table 2; see
    `misspenalty_studies.kvcache.runs.single`."""
    return workload[workload["part"] == "all"].drop(columns="part")


def hits(hits):
    """Compute the hit ratios of a single cache.

    Parameters
    ----------
    hits : DataFrame
        See `misspenalty_studies.kvcache.runs.single`.

    Returns
    -------
    DataFrame
        One row per policy, size and part: ``workload, policy, cache_tokens, cache_blocks, part``; ``hit_pct``, the
        share of the input tokens in prefixes found in the cache, ``possible_pct``, the same in an unlimited cache, and
        ``share_of_possible_pct``; ``block_hit_pct, prefix_block_pct, possible_block_pct``, shares of the block
        references; ``in_prefix_pct``, the share of the block hits that are in such prefixes; ``request_hit_pct,
        possible_request_pct``, means over the requests.
    """
    made = hits[["workload", "policy", "cache_tokens", "cache_blocks", "part"]].copy()
    made["hit_pct"] = 100 * hits["prefix_tokens"] / hits["input_tokens"]
    made["possible_pct"] = 100 * hits["possible_tokens"] / hits["input_tokens"]
    made["share_of_possible_pct"] = 100 * hits["prefix_tokens"] / hits["possible_tokens"]
    made["block_hit_pct"] = 100 * hits["hit_blocks"] / hits["references"]
    made["prefix_block_pct"] = 100 * hits["prefix_blocks"] / hits["references"]
    made["possible_block_pct"] = 100 * hits["possible_blocks"] / hits["references"]
    made["in_prefix_pct"] = 100 * hits["prefix_blocks"] / hits["hit_blocks"]
    made["request_hit_pct"] = 100 * hits["request_share"]
    made["possible_request_pct"] = 100 * hits["possible_share"]
    return made.sort_values("part", kind="stable")


def fig9(hits):
    """Return LRU's hits on the whole trace, for comparison with the paper's Figure 9: ``workload, cache_tokens,
    hit_pct, possible_pct, share_of_possible_pct``.

    Parameters
    ----------
    hits : DataFrame
        From `hits`.
    """
    rows = hits[(hits["policy"] == "lru") & (hits["part"] == "all")]
    return rows[["workload", "cache_tokens", "hit_pct", "possible_pct", "share_of_possible_pct"]]


def table1(hits):
    """Return LRU's and LFU's hits on the whole trace, for comparison with Table 1 of the report that preceded the paper
    (arXiv 2407.00079): ``workload, policy, cache_blocks, hit_pct``.

    Parameters
    ----------
    hits : DataFrame
        From `hits`.
    """
    rows = hits[hits["policy"].isin(["lru", "lfu"]) & (hits["part"] == "all")]
    return rows[["workload", "policy", "cache_blocks", "hit_pct"]].drop_duplicates(["policy", "cache_blocks"])


def fig10(cluster):
    """Return the cluster's results on the whole trace, for comparison with the paper's Figures 5, 8 and 10.

    Parameters
    ----------
    cluster : DataFrame
        See `misspenalty_studies.kvcache.cluster.clusters`.
    """
    rows = cluster[cluster["part"] == "all"]
    return rows[["workload", "cache", "routing", "hit_pct", "prefill_s", "load_s", "ttft_s", "p99_ttft_s"]]


def second_level(levels):
    """Compute the hit ratios of a second level.

    Parameters
    ----------
    levels : DataFrame
        See `misspenalty_studies.kvcache.runs.two_levels`.

    Returns
    -------
    DataFrame
        One row per first level, policy, second level and part: ``workload, first_tokens, policy, second_tokens, part,
        references`` (that reach the second level), ``block_hit_pct`` (the percentage of these that hit);
        ``first_hit_pct`` and ``hit_pct``, the shares of the input tokens in prefixes found in the first level alone,
        and in the two levels together.
    """
    made = levels[["workload", "first_tokens", "policy", "second_tokens", "part", "references"]].copy()
    made["block_hit_pct"] = 100 * levels["hit_blocks"] / levels["references"]
    made["first_hit_pct"] = 100 * levels["first_prefix_tokens"] / levels["input_tokens"]
    made["hit_pct"] = 100 * levels["prefix_tokens"] / levels["input_tokens"]
    return made.sort_values("part", kind="stable")


def ttft(times):
    """Compare times to first token with those without a second level.

    Parameters
    ----------
    times : DataFrame
        See `misspenalty_studies.kvcache.runs.two_levels`.

    Returns
    -------
    DataFrame
        The same rows, sorted by part and kind, with two more columns: ``saved_pct``, the percentage by which a second
        level reduces the mean time to first token; and ``loading_pays_pct``, the percentage of the requests that load
        anything for which loading is faster than prefill.
    """
    keys = ["first_tokens", "part"]
    base = times[times["policy"] == "none"].set_index(keys)["ttft_s"]
    without = base.loc[pd.MultiIndex.from_frame(times[keys])].to_numpy()
    made = times.assign(
        saved_pct=100 * (1 - times["ttft_s"] / without),
        loading_pays_pct=100 * (1 - times["slower"] / times["loading"].where(times["loading"] > 0)),
    )
    return made.sort_values(["part", "kind"], kind="stable")


def costs(machine):
    """Compute the sizes, times and bandwidths that follow from the paper's formulas and parameters.

    Parameters
    ----------
    machine : path-like
        ``studies/kvcache/machine.yaml``.

    Returns
    -------
    DataFrame
        ``quantity, value, unit``.
    """
    machine = load_machine(machine, KvCacheMachine).testbed
    per_token = cost.token_bytes(machine)
    rows = [
        ("token_cache", per_token / 1024, "KB"),
        ("cache_of_3m_tokens", NODE_TOKENS * per_token / 1e12, "TB"),
        ("cache_of_128k_tokens", LONG_TOKENS * per_token / 1024**3, "GB"),
        ("nodes_for_50m_tokens", LARGE_TOKENS / machine.node_tokens, "nodes"),
        ("least_bandwidth_a800", cost.least_gb_s(machine, PREFIX_TOKENS, machine.a800_tflops), "GB/s"),
        ("least_bandwidth_h800", cost.least_gb_s(machine, PREFIX_TOKENS, machine.h800_tflops), "GB/s"),
        ("gpu_cache", cost.gpu_cache_tokens(machine), "tokens"),
        ("flash_drive_cache", machine.ssd_gb * 1e9 / per_token, "tokens"),
        ("prefill_of_8k_tokens", float(cost.prefill_s(machine, PREFIX_TOKENS)), "s"),
        *((f"load_of_8k_tokens_{kind}", float(cost.load_s(machine, PREFIX_TOKENS, kind)), "s") for kind in cost.KINDS),
    ]
    return pd.DataFrame(rows, columns=["quantity", "value", "unit"])
