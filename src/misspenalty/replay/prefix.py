"""Prefix caches of prompts: a block counts as a hit only if all blocks before it in its prompt are in the cache, too.

A request is served from the contiguous prefix of its prompt that the cache holds when it arrives; what follows the
first block that is missing has to be computed again, even if later blocks are in the cache. Then all blocks of the
prompt are used, the last one first, so that in an order of recency a chain loses its tail before its head, as in
serving systems. Blocks of one prompt are never hits of each other.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from misspenalty.errors import ParameterError, check_flag, check_whole
from misspenalty.policies.registry import Definition, find_policy
from misspenalty.replay.cache_size import CacheSize, cache_sizes
from misspenalty.replay.threads import check_threads, in_threads
from misspenalty.traces.prompts import Prompts, read_prompts
from misspenalty.traces.trace import Trace

COLUMNS = (
    "policy", "cache_blocks", "prompts", "requests", "block_hits", "hits", "hit_ratio", "possible_hits",
    "requested_tokens", "hit_tokens", "token_hit_ratio",
)  # fmt: skip


def prefix_hit_ratio_curve(
    prompts: "Prompts | str | os.PathLike[str]",
    policy: str | Sequence[str],
    cache_blocks: CacheSize | Iterable[CacheSize],
    *,
    tail_first: bool = True,
    warm_up: int = 0,
    token_bytes: int = 327_680,
    threads: int | None = None,
) -> pd.DataFrame:
    """Replay prompts through prefix caches.

    Parameters
    ----------
    prompts : Prompts or path-like
        A trace of prompts, or the path of one.
    policy : str or sequence of str
        Names of compiled policies that do not look into the future.
    cache_blocks : int, float or str, or a sequence of these
        Cache sizes, as in `misspenalty.simulate`.
    tail_first : bool
        Whether the blocks of a prompt are used from the last one to the first; otherwise from the first to the last.
    warm_up : int
        Prompts at the start that fill the cache and are not counted.
    token_bytes : int
        Bytes of a token in the cache, for sizes in bytes; by default those of LLaMA3-70B.
    threads : int, optional
        As in `misspenalty.hit_ratio_curve`.

    Returns
    -------
    DataFrame
        One row per policy and size: ``policy, cache_blocks, prompts, requests`` (block references), ``block_hits`` (of
        blocks in the cache, wherever in the prompt), ``hits`` (of those, in a contiguous prefix), ``hit_ratio``,
        ``possible_hits`` (of an unlimited cache), ``requested_tokens, hit_tokens, token_hit_ratio``, the last three for
        contiguous prefixes.

    Raises
    ------
    InputError
        The trace cannot be read.
    ParameterError
        A policy looks into the future, looks at neighbours or exists only in Python, or a size is invalid.

    Examples
    --------
    Block 3 is in the cache, but block 9, which comes before it, is not.

    >>> asked = Prompts(None, np.array([1536, 1536]), np.zeros(2), np.array([3, 3]), np.array([1, 2, 3, 9, 2, 3]), 512)
    >>> prefix_hit_ratio_curve(asked, "lru", 4)[["block_hits", "hits"]].values.tolist()
    [[2, 0]]
    """
    check_flag("tail_first", tail_first)
    definitions = [find_policy(name) for name in ([policy] if isinstance(policy, str) else policy)]
    for definition in definitions:
        if definition.offline or definition.spatial or definition.kernel is None:
            raise ParameterError(
                f"{definition.name} cannot be a prefix cache; choose a compiled policy that looks neither into the"
                " future nor at neighbours, such as lru"
            )
    asked = prompts if isinstance(prompts, Prompts) else read_prompts(prompts)
    trace = Trace.from_blocks(np.asarray(asked.blocks, np.uint64), block_bytes=asked.block_tokens * token_bytes)
    sizes = cache_sizes(trace, cache_blocks).sizes
    check_whole("warm_up", warm_up, 0, len(asked) - 1)
    ends = np.cumsum(asked.count)
    parts = [trace.ids[end - count : end] for end, count in zip(ends.tolist(), asked.count.tolist(), strict=True)]
    order = slice(None, None, -1) if tail_first else slice(None)
    uses = [np.ascontiguousarray(ids[order]) for ids in parts]
    tokens = np.asarray(asked.input_tokens)
    requests = np.asarray(asked.count)[warm_up:]
    possible = _possible(parts, trace.blocks, warm_up)

    def one(definition: Definition, size: int) -> Callable[[Callable[[int], Any]], dict[str, Any]]:
        def run(advance: Callable[[int], Any]) -> dict[str, Any]:
            kernel = definition.cache(size, trace.address, {})
            outcome = np.empty(max(map(len, parts)), np.uint8)
            found, any_hits = np.zeros(len(parts), np.int64), 0
            for number, (ids, used) in enumerate(zip(parts, uses, strict=True)):
                held = [block in kernel for block in ids.tolist()]
                found[number] = held.index(False) if False in held else len(held)
                any_hits += sum(held) if number >= warm_up else 0
                kernel.replay(used, outcome)
            advance(len(trace))
            counted, length, hits = slice(warm_up, None), int(requests.sum()), int(found[warm_up:].sum())
            served = int(np.minimum(found * asked.block_tokens, tokens)[counted].sum())
            total = int(tokens[counted].sum())
            values = (
                definition.name, size, len(parts) - warm_up, length, any_hits, hits, hits / length, possible, total,
                served, served / total,
            )  # fmt: skip
            return dict(zip(COLUMNS, values, strict=True))

        return run

    jobs = [one(definition, size) for definition in definitions for size in sizes]
    return pd.DataFrame(in_threads(jobs, lambda references: None, check_threads(threads)))


def _possible(parts: list[np.ndarray], blocks: int, warm_up: int) -> int:
    """Blocks in contiguous prefixes that an earlier prompt had."""
    seen, found = np.zeros(blocks, bool), 0
    for number, ids in enumerate(parts):
        known = seen[ids]
        if number >= warm_up:
            found += len(ids) if known.all() else int(known.argmin())
        seen[ids] = True
    return found


def soundness(prompts: "Prompts | str | os.PathLike[str]") -> dict[str, float]:
    """Whether the hashes of a trace are those of a prefix cache: each block always has the same one before it.

    Returns
    -------
    dict
        ``prompts, references, blocks``; ``broken_chains``: references to a block whose predecessor in the prompt is
        not the one of its first reference; ``repeated``: references to a block that occurs earlier in the same prompt;
        ``repeat_hits``: references to a block that an earlier prompt had, the hits of an unlimited cache of blocks;
        ``unservable_share``: of these, those behind a block that no earlier prompt had, which no prefix cache serves.

    Examples
    --------
    >>> asked = Prompts(None, np.array([1024, 1024]), np.zeros(2), np.array([2, 2]), np.array([1, 2, 9, 2]), 512)
    >>> found = soundness(asked)
    >>> found["broken_chains"], found["unservable_share"]
    (1, 1.0)
    """
    asked = prompts if isinstance(prompts, Prompts) else read_prompts(prompts)
    blocks = np.asarray(asked.blocks, np.uint64).tolist()
    before: dict[int, int | None] = {}
    seen: set[int] = set()
    broken = repeated = hits = behind = place = 0
    for count in asked.count.tolist():
        own, previous, prefix = blocks[place : place + count], None, True
        for position, block in enumerate(own):
            broken += before.setdefault(block, previous) != previous
            repeated += block in own[:position] if len(set(own)) < count else 0
            known = block in seen
            prefix = prefix and known
            hits, behind = hits + known, behind + (known and not prefix)
            previous = block
        seen.update(own)
        place += count
    return {
        "prompts": len(asked),
        "references": len(blocks),
        "blocks": len(before),
        "broken_chains": broken,
        "repeated": repeated,
        "repeat_hits": hits,
        "unservable_share": behind / hits if hits else 0.0,
    }
