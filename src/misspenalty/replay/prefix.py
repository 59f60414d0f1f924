"""Replay prompts through prefix caches: a block is a hit only if all blocks before it in its prompt are cached, too.

A request is served from the contiguous prefix of its prompt that the cache holds when it arrives; everything from the
first missing block on has to be computed again, even if later blocks are in the cache. After that, all blocks of the
prompt are referenced, by default from the last to the first. An LRU cache thus evicts a chain's tail before its head,
as serving systems do. Hits are counted before a prompt's own blocks are referenced, so a block never hits because the
same prompt loaded it.
"""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from misspenalty.errors import ParameterError, check_flag, check_whole, listed
from misspenalty.io.later import pd
from misspenalty.io.threads import check_threads, in_threads
from misspenalty.policies.registry import Definition, find_policy
from misspenalty.replay.cache_size import CacheSize, CacheSizes, cache_sizes
from misspenalty.replay.prefix_opt import OptimalTree
from misspenalty.traces.columns import LARGEST_BLOCK
from misspenalty.traces.prompts import MAX_TOKENS, Prompts, as_prompts
from misspenalty.traces.trace import Trace

COLUMNS = (
    "policy", "cache_blocks", "prompts", "requests", "block_hits", "hits", "hit_ratio", "possible_hits",
    "requested_tokens", "hit_tokens", "token_hit_ratio",
)  # fmt: skip


def prefix_hit_ratio_curve(
    prompts: Prompts | str | os.PathLike[str],
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
        Names of compiled policies that look neither into the future nor at neighbours, or ``opt``; see
        `misspenalty.replay.prefix_opt`.
    cache_blocks : int, float or str, or a sequence of these
        Cache sizes, as in `misspenalty.simulate`.
    tail_first : bool
        Whether the blocks of a prompt are used from the last one to the first; otherwise from the first to the last.
        This has no effect on ``opt``.
    warm_up : int
        Prompts at the start that fill the cache and are not counted.
    token_bytes : int
        Bytes that a token takes in the cache, used for sizes in bytes; by default those of LLaMA3-70B.
    threads : int, optional
        As in `misspenalty.hit_ratio_curve`.

    Returns
    -------
    DataFrame
        One row per policy and size: ``policy, cache_blocks, prompts, requests`` (block references), ``block_hits``
        (references to cached blocks, wherever in the prompt), ``hits`` (those within a contiguous prefix),
        ``hit_ratio``, ``possible_hits`` (hits of an unlimited cache), ``requested_tokens``, and ``hit_tokens,
        token_hit_ratio``, which count contiguous prefixes; the last is NaN if no tokens are requested.

    Raises
    ------
    InputError
        The trace cannot be read.
    ParameterError
        A policy other than ``opt`` looks into the future, looks at neighbours or exists only in Python, the prompts
        after the warm-up have no blocks, or a size or another argument is invalid.

    Examples
    --------
    Block 3 is in the cache, but block 9, which comes before it, is not.

    >>> asked = Prompts(None, np.array([1536, 1536]), np.zeros(2), np.array([3, 3]), np.array([1, 2, 3, 9, 2, 3]), 512)
    >>> prefix_hit_ratio_curve(asked, "lru", 4)[["block_hits", "hits"]].values.tolist()
    [[2, 0]]
    """
    check_flag("tail_first", tail_first)
    asked = as_prompts(prompts)
    definitions = [_prefix_policy(name) for name in listed(policy)]
    if not definitions:
        raise ParameterError("no policy given")
    given = _Replay(asked, token_bytes)
    sizes = given.sizes(cache_blocks).sizes
    warm_up = check_whole("warm_up", warm_up, 0, len(asked) - 1)
    length, possible = int(np.asarray(asked.count)[warm_up:].sum()), given.possible(warm_up)
    if not length:
        raise ParameterError(
            f"a warm-up of {warm_up} prompt{'s' * (warm_up > 1)} leaves only prompts without blocks (hash_ids) to be"
            " counted; choose a shorter one"
        )
    tokens = np.asarray(asked.input_tokens)

    def one(definition: Definition, size: int, advance: Callable[[int], Any]) -> dict[str, Any]:
        prefix, held = given.hits(definition, size, tail_first, advance)
        hits, total = int(prefix[warm_up:].sum()), int(tokens[warm_up:].sum())
        served = int(hit_tokens(asked, prefix)[warm_up:].sum())
        values = (
            definition.name, size, len(asked) - warm_up, length, int(held[warm_up:].sum()), hits, hits / length,
            possible, total, served, served / total if total else float("nan"),
        )  # fmt: skip
        return dict(zip(COLUMNS, values, strict=True))

    jobs = [functools.partial(one, definition, size) for definition, size in itertools.product(definitions, sizes)]
    return pd.DataFrame(in_threads(jobs, lambda references: None, check_threads(threads)))


def prefix_sizes(
    prompts: Prompts, cache_blocks: CacheSize | Iterable[CacheSize], token_bytes: int = 327_680
) -> CacheSizes:
    """Return sizes of prefix caches in blocks, with the text of each as it was given."""
    return _Replay(prompts, token_bytes).sizes(cache_blocks)


def prefix_hits(
    prompts: Prompts, policy: str, cache_blocks: CacheSize, *, tail_first: bool = True, token_bytes: int = 327_680
) -> np.ndarray:
    """Return how many leading blocks of each prompt are in the cache when it arrives, int64, shape (prompts,).

    Parameters
    ----------
    prompts : Prompts
    policy, cache_blocks, tail_first, token_bytes
        As in `prefix_hit_ratio_curve`, but one policy and one size.

    Raises
    ------
    ParameterError
        As in `prefix_hit_ratio_curve`, or several sizes are given.

    Examples
    --------
    >>> asked = Prompts(None, np.array([1024, 1536]), np.zeros(2), np.array([2, 3]), np.array([1, 2, 1, 2, 3]), 512)
    >>> prefix_hits(asked, "lru", 4).tolist()
    [0, 2]
    """
    given = _Replay(prompts, token_bytes)
    check_flag("tail_first", tail_first)
    sizes = given.sizes(cache_blocks).sizes
    if len(sizes) > 1:
        raise ParameterError(f"{len(sizes)} cache sizes given; name one, or use prefix_hit_ratio_curve for several")
    return given.hits(_prefix_policy(policy), sizes[0], tail_first)[0]


def hit_tokens(prompts: Prompts, prefix: np.ndarray) -> np.ndarray:
    """Return how many of each prompt's tokens its first `prefix` blocks hold, int64."""
    tokens: np.ndarray = np.minimum(prefix * prompts.block_tokens, np.asarray(prompts.input_tokens))
    return tokens


def _prefix_policy(name: str) -> Definition:
    definition = find_policy(name)
    if definition.name != "opt" and (definition.offline or definition.spatial or definition.kernel is None):
        raise ParameterError(
            f"{definition.name} cannot be a prefix cache; choose opt, or a compiled policy that looks neither into the"
            " future nor at neighbours, such as lru"
        )
    return definition


class _Kernel:
    """A compiled policy as a prefix cache."""

    def __init__(self, definition: Definition, size: int, address: np.ndarray, longest: int, tail_first: bool) -> None:
        self.kernel, self.outcome = definition.cache(size, address, {}), np.empty(longest, np.uint8)
        self.order = slice(None, None, -1) if tail_first else slice(None)

    def held(self, prompt: Sequence[int]) -> list[bool]:
        return [block in self.kernel for block in prompt]

    def use(self, prompt: np.ndarray) -> None:
        self.kernel.replay(np.ascontiguousarray(prompt[self.order]), self.outcome)


class _Replay:
    """Prompts whose blocks are given by dense ids."""

    def __init__(self, prompts: Prompts, token_bytes: int) -> None:
        self.trace = Trace.from_blocks(np.asarray(prompts.blocks, np.uint64))
        tokens = check_whole("block_tokens", prompts.block_tokens, 1, MAX_TOKENS)
        self.block_bytes = tokens * check_whole("token_bytes", token_bytes, 1, LARGEST_BLOCK)
        ends = np.cumsum(prompts.count)
        self.parts = [
            self.trace.ids[end - count : end]
            for end, count in zip(ends.tolist(), np.asarray(prompts.count).tolist(), strict=True)
        ]

    def sizes(self, cache_blocks: CacheSize | Iterable[CacheSize]) -> CacheSizes:
        """Return sizes of caches, in blocks."""
        return cache_sizes(self.trace, cache_blocks, block_bytes=self.block_bytes)

    def hits(
        self,
        definition: Definition,
        size: int,
        tail_first: bool,
        advance: Callable[[int], Any] = lambda references: None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Count each prompt's blocks that are in the cache: those before the first missing one, and all of them.

        `advance` is called after each prompt with the number of its blocks; if it raises an exception, the replay ends.
        """
        blocks, longest = self.trace.blocks, max(map(len, self.parts))
        cache = (
            OptimalTree(size, self.parts, blocks)
            if definition.name == "opt"
            else _Kernel(definition, size, self.trace.address, longest, tail_first)
        )
        prefix, everywhere = np.zeros(len(self.parts), np.int64), np.zeros(len(self.parts), np.int64)
        for number, ids in enumerate(self.parts):
            held = cache.held(ids.tolist())
            prefix[number] = held.index(False) if False in held else len(held)
            everywhere[number] = sum(held)
            cache.use(ids)
            advance(len(ids))
        return prefix, everywhere

    def possible(self, warm_up: int) -> int:
        """Count the hits of an unlimited cache: the leading blocks of each counted prompt that earlier prompts used."""
        seen, found = np.zeros(self.trace.blocks, bool), 0
        for number, ids in enumerate(self.parts):
            known = seen[ids]
            if number >= warm_up:
                found += len(ids) if known.all() else int(known.argmin())
            seen[ids] = True
        return found
