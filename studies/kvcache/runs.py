"""Replay the kvcache study's prompts through one cache, and through a first and a second level.

These readings were fixed before the first run:

- Every block of a prompt is a reference, in prompt order; misses are loaded. In the middle of a prompt a policy may
  evict a later block of the same prompt.
- A *block hit* is any hit. Reuse needs a *contiguous prefix*: the blocks before the first block that is in neither
  level.
- The first level is LRU and sees all references. The second sees only the first level's misses, loads them too, and
  does not learn what the first level evicts (the inclusive setting of the MQ paper, USENIX 2001).
- A part of the trace consists of whole requests. Caches start empty and run through both parts: *stated*, on which this
  project's own statements were based, and *judged*, on which they are decided. A paper's claims are judged on *all*.
- The paper does not define its hit rate. Its caches are measured in tokens and serve prefixes, so the hit rate here is
  the share of the input tokens in contiguous prefixes found in the cache. Shares of block references, and means over
  requests of the share of each prompt, are listed next to it.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from misspenalty import Trace, simulate
from misspenalty.io.threads import map_in_threads
from misspenalty.traces.prompts import read_prompts
from misspenalty_studies.common.machine import load_machine
from misspenalty_studies.kvcache import cost
from misspenalty_studies.kvcache.machine import KvCacheMachine
from misspenalty_studies.kvcache.settings import KvcacheSettings


@dataclass(frozen=True)
class PromptTrace:
    """A trace of prompts, ready to replay.

    Attributes
    ----------
    name : str
    prompts : Prompts
    trace : Trace
        The prompts' block references.
    parts : dict of str to slice
        Part -> the numbers of its requests.
    """

    name: str
    prompts: object
    trace: Trace
    parts: dict

    def blocks_of(self, part):
        """Return the slice of the references that belong to the requests of a part."""
        requests = self.parts[part]
        ends = np.append(0, np.cumsum(self.prompts.count))
        return slice(ends[requests.start], ends[requests.stop])

    def capacity(self, tokens):
        """Return the number of whole blocks in a cache of `tokens` tokens, at least one."""
        return max(int(tokens) // self.prompts.block_tokens, 1)

    def prefix_blocks(self, hits):
        """Count the leading blocks of each prompt that are hits; return an array of shape (requests,)."""
        count = self.prompts.count
        starts = np.cumsum(count) - count
        place = np.arange(len(hits)) - np.repeat(starts, count)
        length = np.zeros(len(count), np.int64)
        some = count > 0
        first_miss = np.where(hits, np.repeat(count, count), place)
        length[some] = np.minimum.reduceat(first_miss, starts[some])
        return length

    def prefix_tokens(self, hits):
        """Count the tokens in the leading blocks of each prompt that are hits; return an array of shape (requests,)."""
        return np.minimum(self.prefix_blocks(hits) * self.prompts.block_tokens, self.prompts.input_tokens)

    def seen_before(self):
        """Mark references to blocks that were referenced before, that is, the hits of an unlimited cache."""
        ids = np.asarray(self.trace.ids)
        seen = np.ones(len(ids), bool)
        seen[np.unique(ids, return_index=True)[1]] = False
        return seen


def load_workload(path, settings):
    """Read a trace of prompts.

    Parameters
    ----------
    path : path-like
    settings : KvcacheSettings

    Returns
    -------
    PromptTrace

    Raises
    ------
    InputError
        As in `misspenalty.traces.prompts.read_prompts`; it also rejects a trace without timestamps if their unit is
        given.
    """
    path = Path(path)
    prompts = read_prompts(path, settings.timestamps, settings.block_tokens)
    name = path.name.split(".")[0].removesuffix("_trace")
    count = len(prompts)
    stated = min(round(settings.stated_share * count), count - 1)
    parts = {"all": slice(0, count), "stated": slice(0, stated), "judged": slice(stated, count)}
    if not stated:
        del parts["stated"]
    return PromptTrace(name, prompts, Trace.from_blocks(prompts.blocks, name=name), parts)


def replay(workload, policy, tokens, backwards=False, **parameters):
    """Return whether each reference hits in one cache; with `backwards`, prompts are referenced from their last
    block to the first."""
    hits = np.zeros(len(workload.trace), bool)
    if not backwards:
        simulate(workload.trace, policy, workload.capacity(tokens), hits=hits, **parameters)
        return hits
    count = workload.prompts.count
    ends = np.cumsum(count)
    order = np.repeat(2 * ends - count - 1, count) - np.arange(len(hits))
    turned = Trace.from_blocks(workload.prompts.blocks[order])
    simulate(turned, policy, workload.capacity(tokens), hits=hits, **parameters)
    return hits[order]  # the permutation is its own inverse


def single(trace, settings, threads=1):
    """Replay every policy and size of a single cache (a workflow job).

    Parameters
    ----------
    trace : path-like
    settings : dict
        Block ``kvcache`` of the configuration.
    threads : int

    Returns
    -------
    dict of str to DataFrame
        ``workload``: one row of facts per part; ``hits``: one row per policy, size and part: ``workload, policy,
        cache_tokens, cache_blocks, part, references, hit_blocks, prefix_blocks, possible_blocks`` (in an unlimited
        cache), ``input_tokens, prefix_tokens, possible_tokens, request_share, possible_share``. The last two are means
        over the requests: the share of a request's tokens that is in a contiguous prefix found in this cache, and in an
        unlimited one.
    """
    settings = KvcacheSettings.model_validate(settings)
    workload = load_workload(trace, settings)
    unlimited = workload.seen_before()
    points = [(policy, tokens) for policy in settings.policies for tokens in settings.cache_tokens]

    def counted(point):
        return counts(workload, *point, replay(workload, *point), unlimited)

    rows = [row for table in map_in_threads(counted, points, threads) for row in table]
    return {"workload": _facts(workload), "hits": pd.DataFrame(rows)}


def _facts(workload):
    rows = []
    for part, requests in workload.parts.items():
        prompts, blocks = workload.prompts, workload.trace.ids[workload.blocks_of(part)]
        tokens, times = prompts.input_tokens[requests], prompts.time[requests]
        rows.append(
            {
                "workload": workload.name,
                "part": part,
                "requests": len(tokens),
                "references": len(blocks),
                "blocks": len(np.unique(blocks)),
                "blocks_used_once_pct": 100 * np.mean(np.unique(blocks, return_counts=True)[1] == 1),
                "block_tokens": prompts.block_tokens,
                "mean_input_tokens": tokens.mean(),
                "max_input_tokens": tokens.max(),
                "mean_output_tokens": prompts.output_tokens[requests].mean(),
                "span_s": (times[-1] - times[0]) / 1e9,
            }
        )
    return pd.DataFrame(rows)


def counts(workload, policy, tokens, hits, unlimited):
    """Return the rows of `single` for one run, one row per part; `unlimited` marks the hits of an unlimited cache."""
    prefix_blocks, prefix_tokens = workload.prefix_blocks(hits), workload.prefix_tokens(hits)
    possible = workload.prefix_tokens(unlimited)
    rows = []
    for part, requests in workload.parts.items():
        blocks = workload.blocks_of(part)
        length = workload.prompts.input_tokens[requests]
        rows.append(
            {
                "workload": workload.name,
                "policy": policy,
                "cache_tokens": tokens,
                "cache_blocks": workload.capacity(tokens),
                "part": part,
                "references": blocks.stop - blocks.start,
                "hit_blocks": np.count_nonzero(hits[blocks]),
                "prefix_blocks": prefix_blocks[requests].sum(),
                "possible_blocks": np.count_nonzero(unlimited[blocks]),
                "input_tokens": length.sum(),
                "prefix_tokens": prefix_tokens[requests].sum(),
                "possible_tokens": possible[requests].sum(),
                "request_share": (prefix_tokens[requests] / length).mean(),
                "possible_share": (possible[requests] / length).mean(),
            }
        )
    return rows


def two_levels(trace, machine, settings, threads=1):
    """Replay every policy and size of a second level, behind each first level (a workflow job).

    Parameters
    ----------
    trace : path-like
    machine : path-like
        ``studies/kvcache/machine.yaml``.
    settings : dict
    threads : int

    Returns
    -------
    dict of str to DataFrame
        ``levels``: one row per first level, policy, size and part: ``workload, first_tokens, policy, second_tokens,
        part, references`` (that reach the second level), ``hit_blocks`` (the number of these that hit),
        ``input_tokens, first_prefix_tokens`` (with the first level alone), ``prefix_tokens`` (with both).

        ``times``: the same keys and, per kind of second level, the time to first token in seconds: ``kind, prefill_s,
        load_s, ttft_s`` (means), ``median_ttft_s, p99_ttft_s``; ``loading``, the number of requests that load anything,
        and ``slower``, the number of these for which loading is not faster than prefill. Further rows, with policy
        ``none``, are for a first level without a second.
    """
    settings = KvcacheSettings.model_validate(settings)
    workload = load_workload(trace, settings)
    sizes = settings.first_level_tokens, settings.policies, settings.second_level_tokens
    return behind(workload, load_machine(machine, KvCacheMachine).testbed, *sizes, threads)


def behind(workload, machine, first_levels, policies, second_levels, threads=1):
    """Return the tables of `two_levels` for a workload, a machine's values and the combinations to run."""
    points = []
    for first_tokens in first_levels:
        first = replay(workload, "lru", first_tokens)
        stream = Trace.from_blocks(workload.prompts.blocks[~first])
        points.append((first_tokens, first, None, "none", 0))
        points += [(first_tokens, first, stream, policy, tokens) for policy in policies for tokens in second_levels]
    rows = map_in_threads(lambda point: _two_levels(workload, machine, *point), points, threads)
    levels = [row for one, _ in rows for row in one]
    times = [row for _, one in rows for row in one]
    return {"levels": pd.DataFrame(levels), "times": pd.DataFrame(times)}


def _two_levels(workload, machine, first_tokens, first, stream, policy, second_tokens):
    either = first.copy()
    if stream is not None:
        hits = np.zeros(len(stream), bool)
        simulate(stream, policy, workload.capacity(second_tokens), hits=hits)
        either[~first] = hits
    tokens = workload.prompts.input_tokens
    prefix, own = workload.prefix_tokens(either), workload.prefix_tokens(first)
    loaded = _loaded_tokens(workload, first, either)
    levels, times = [], []
    for part, requests in workload.parts.items():
        blocks = workload.blocks_of(part)
        key = {
            "workload": workload.name,
            "first_tokens": first_tokens,
            "policy": policy,
            "second_tokens": second_tokens,
            "part": part,
        }
        if policy != "none":
            reaching = ~first[blocks]
            levels.append(
                key
                | {
                    "references": np.count_nonzero(reaching),
                    "hit_blocks": np.count_nonzero(either[blocks] & reaching),
                    "input_tokens": tokens[requests].sum(),
                    "first_prefix_tokens": own[requests].sum(),
                    "prefix_tokens": prefix[requests].sum(),
                }
            )
        for kind in cost.KINDS if policy != "none" else ("none",):
            times.append(key | _times(machine, *(each[requests] for each in (tokens, own, prefix, loaded)), kind))
    return levels, times


def _loaded_tokens(workload, first, either):
    """Count the tokens of each prompt's reused prefix that the second level has to deliver."""
    prompts = workload.prompts
    count = prompts.count
    place = np.arange(len(first)) - np.repeat(np.cumsum(count) - count, count)
    in_prefix = place < np.repeat(workload.prefix_blocks(either), count)
    request = np.repeat(np.arange(len(prompts)), count)
    return np.bincount(request, prompts.covered() * (in_prefix & ~first), len(prompts))


def _times(machine, tokens, own, prefix, loaded, kind):
    """Compute the time to first token of requests that are served alone; see `cost`. Without loading, they would reuse
    only the `own` tokens of the prefix that the first level holds."""
    prefill = cost.prefill_s(machine, tokens, prefix)
    load = cost.load_s(machine, loaded, kind) if kind != "none" else np.zeros(len(tokens))
    some = loaded > 0
    saved = cost.prefill_s(machine, prefix, own)
    total = prefill + load
    return {
        "kind": kind,
        "prefill_s": prefill.mean(),
        "load_s": load.mean(),
        "ttft_s": total.mean(),
        "median_ttft_s": np.median(total),
        "p99_ttft_s": np.quantile(total, 0.99),
        "loading": np.count_nonzero(some),
        "slower": np.count_nonzero(load[some] >= saved[some]),
    }
