"""Simulate prefill servers behind a scheduler; each has its own cache, or all share one.

R. Qin et al., FAST 2025, sections 4.1, 5.3.2 and Figure 5. A server prefills one request at a time, in the order of
arrival. Caches are LRU (3.2.1). Where the paper does not say, these readings were fixed before the first run:

- *aware* sends a request to the server with the lowest predicted time to first token: the rest of its queue, loading
  the reused prefix, and the prefill of the remaining tokens. *balanced* sends it to the server with the shortest queue,
  *random* to a random server. On ties, the server that has received the least work so far gets the request.
- *local*: each server has a cache for `node_tokens` tokens, from which it loads at host-to-device bandwidth. *shared*:
  one cache as large as all of these together, from which a server loads over the network. *gpu*: each server has a
  cache in the GPU memory that the weights leave free, and loading costs nothing. *none*: no reuse.
- The prefix that a request can reuse is looked up when it arrives, and its blocks are in the cache from then on.
"""

import numpy as np
import pandas as pd

from misspenalty.io.threads import map_in_threads
from misspenalty.policies.registry import find_policy
from misspenalty_studies.common.machine import load_machine
from misspenalty_studies.kvcache import cost
from misspenalty_studies.kvcache.machine import KvCacheMachine
from misspenalty_studies.kvcache.runs import load_workload
from misspenalty_studies.kvcache.settings import KvcacheSettings

CACHES = ("none", "gpu", "local", "shared")
ROUTINGS = ("aware", "balanced", "random")


class _Server:
    """One prefill server: its cache, the time at which it becomes free, and the work that it has received."""

    def __init__(self, cache):
        self.cache, self.free_s, self.work_s = cache, 0.0, 0.0

    def prefix(self, blocks):
        """Count the leading blocks of a prompt that the server's cache holds."""
        if self.cache is None:
            return 0
        return next((i for i, block in enumerate(blocks) if block not in self.cache.stack), len(blocks))


def serve(workload, machine, cache, routing, seed=1):
    """Send every request of a trace to a server at its time of arrival.

    Parameters
    ----------
    workload : misspenalty_studies.kvcache.runs.PromptTrace
    machine : namespace
        Values of ``studies/kvcache/machine.yaml``.
    cache : {"none", "gpu", "local", "shared"}
    routing : {"aware", "balanced", "random"}
    seed : int
        Seed of random routing.

    Returns
    -------
    DataFrame
        One row per request: ``prefix_blocks, prefix_tokens, prefill_s, load_s, ttft_s`` (from its arrival on).
    """
    prompts = workload.prompts
    servers = _servers(workload, machine, cache)
    prefill, load = _prices(machine, prompts, cache)
    chosen = np.random.default_rng(seed).integers(machine.nodes, size=len(prompts))
    lists = np.split(prompts.blocks, np.cumsum(prompts.count)[:-1])
    rows = []
    for number, (blocks, now) in enumerate(zip(lists, prompts.time / 1e9, strict=True)):
        blocks, tokens = blocks.tolist(), int(prompts.input_tokens[number])
        if routing == "random":
            server = servers[chosen[number]]
        elif routing == "balanced":
            server = min(servers, key=lambda one: (max(one.free_s, now), one.work_s))
        else:
            server = _fastest(servers, blocks, now, lambda length, n=number: prefill(n, length) + load(n, length))
        length = server.prefix(blocks)
        parts = prefill(number, length), load(number, length)
        server.free_s = max(server.free_s, now) + sum(parts)
        server.work_s += sum(parts)
        reused = min(length * prompts.block_tokens, tokens)
        rows.append((length, reused, *parts, server.free_s - now))
        if server.cache is not None:
            for block in blocks:
                server.cache.access(block)
    return pd.DataFrame(rows, columns=["prefix_blocks", "prefix_tokens", "prefill_s", "load_s", "ttft_s"])


def _servers(workload, machine, cache):
    lru = find_policy("lru").reference
    if cache == "shared":
        shared = lru(workload.capacity(machine.nodes * machine.node_tokens))
        return [_Server(shared) for _ in range(machine.nodes)]
    tokens = {"none": None, "local": machine.node_tokens, "gpu": cost.gpu_cache_tokens(machine)}[cache]
    return [_Server(None if tokens is None else lru(workload.capacity(tokens))) for _ in range(machine.nodes)]


def _prices(machine, prompts, cache):
    """Return two functions that compute the seconds of a request's prefill and of loading, from the number of the
    request and the number of its leading blocks that are in the cache."""
    whole = cost.prefill_s(machine, prompts.input_tokens)
    most = int(prompts.count.max())
    saved = cost.prefill_s(machine, np.arange(most + 1) * prompts.block_tokens)
    loads = {"local": "dram", "shared": "remote"}.get(cache)

    def prefill(number, length):
        return max(float(whole[number] - saved[length]), 0.0)

    def load(number, length):
        tokens = min(length * prompts.block_tokens, int(prompts.input_tokens[number]))  # the last block may be partial
        return float(cost.load_s(machine, tokens, loads)) if loads else 0.0

    return prefill, load


def _fastest(servers, blocks, now, service):
    """Return the server with the lowest predicted time to first token."""
    known = {}  # service times by cache, so that a shared cache is searched only once

    def predicted(server):
        key = id(server.cache)
        if key not in known:
            known[key] = service(server.prefix(blocks))
        return max(server.free_s, now) + known[key], server.work_s

    return min(servers, key=predicted)


def clusters(trace, machine, settings, threads=1):
    """Serve the trace with every cache under every routing (a workflow job).

    Parameters
    ----------
    trace, machine, settings, threads
        Same as in `misspenalty_studies.kvcache.runs.two_levels`.

    Returns
    -------
    DataFrame
        One row per cache, routing and part of the trace: ``workload, cache, routing, part``; ``hit_pct,
        block_hit_pct, request_hit_pct``, the shares of the input tokens, of the block references and, as a mean over
        the requests, of a request's tokens that are in reused prefixes; ``prefill_s, load_s, ttft_s`` (means),
        ``p99_ttft_s``.
    """
    settings = KvcacheSettings.model_validate(settings)
    workload = load_workload(trace, settings)
    return cluster_table(workload, load_machine(machine, KvCacheMachine).testbed, settings.seed, threads)


def cluster_table(workload, machine, seed, threads=1):
    """Return the table of `clusters` for a workload and a machine."""
    points = [(cache, routing) for cache in CACHES for routing in ROUTINGS]
    served = map_in_threads(lambda point: serve(workload, machine, *point, seed=seed), points, threads)
    rows = []
    for (cache, routing), requests in zip(points, served, strict=True):
        for part, which in workload.parts.items():
            some, tokens = requests.iloc[which], workload.prompts.input_tokens[which]
            rows.append(
                {
                    "workload": workload.name,
                    "cache": cache,
                    "routing": routing,
                    "part": part,
                    "hit_pct": 100 * some["prefix_tokens"].sum() / tokens.sum(),
                    "block_hit_pct": 100 * some["prefix_blocks"].sum() / workload.prompts.count[which].sum(),
                    "request_hit_pct": 100 * (some["prefix_tokens"] / tokens).mean(),
                    "prefill_s": some["prefill_s"].mean(),
                    "load_s": some["load_s"].mean(),
                    "ttft_s": some["ttft_s"].mean(),
                    "p99_ttft_s": some["ttft_s"].quantile(0.99),
                }
            )
    return pd.DataFrame(rows)
