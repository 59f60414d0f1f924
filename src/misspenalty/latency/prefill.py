"""Compute the time to first token of prompts: the cached prefix is loaded, and the rest is computed.

R. Qin et al., "Mooncake: Trading More Storage for Less Computation", FAST 2025, section 2.2 and Table 1: a prefill of n
tokens takes ``l (a n² d + b n d²)`` operations, and reusing a prefix of p tokens saves the operations that a prefill of
p tokens takes; the keys and values of p tokens have ``p l (2 d / g) s`` bytes. Computing starts when loading has ended.
The model leaves out queues, overlap of loading with computing, and the step that generates the first token.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from misspenalty.errors import ParameterError, check_positive, check_whole, did_you_mean, listed
from misspenalty.io.later import pd
from misspenalty.policies.registry import find_policy
from misspenalty.replay.cache_size import CacheSize
from misspenalty.replay.prefix import hit_tokens, prefix_hits, prefix_sizes
from misspenalty.traces.prompts import Prompts, as_prompts

# These are the bandwidths of the slowest link from each place of a cache to the GPUs, 10**9 bytes/s (Table 1; for the
# flash drive, its maker's data sheet).
PLACES = {"dram": 128.0, "remote": 100.0, "ssd": 6.5}


@dataclass(frozen=True)
class Server:
    """A model and the GPUs that serve it; by default those of Table 1, LLaMA3-70B on eight A800 GPUs.

    Attributes
    ----------
    layers, width : int
        Size of the model: l and d.
    attention, linear : float
        Coefficients of the operations per layer: a and b.
    shared_heads : float
        Query heads per head of keys and values: g.
    element_bytes : float
        Bytes of one element of the keys and values: s.
    tflops : float
        10**12 operations per second, of all GPUs together.

    Examples
    --------
    >>> Server().token_bytes, round(float(Server().prefill_s(8192)), 2)
    (327680.0, 0.46)
    """

    layers: int = 80
    width: int = 8192
    attention: float = 4
    linear: float = 22
    shared_heads: float = 8
    element_bytes: float = 2
    tflops: float = 8 * 312

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            check_positive(f"server: {name}", value)

    @property
    def token_bytes(self) -> float:
        """Bytes of the keys and values of a token."""
        return self.layers * 2 * self.width / self.shared_heads * self.element_bytes

    def prefill_s(self, tokens: int | np.ndarray, reused: int | np.ndarray = 0) -> np.ndarray:
        """Return the time to compute prompts whose first `reused` tokens are in the cache, s."""
        whole, saved = (self.layers * (self.attention * n**2 * self.width + self.linear * n * self.width**2)
                        for n in (np.asarray(tokens, float), np.asarray(reused, float)))  # fmt: skip
        return np.asarray((whole - saved) / (self.tflops * 1e12))

    def load_s(self, tokens: int | np.ndarray, gb_s: float) -> np.ndarray:
        """Return the time to load the keys and values of `tokens` tokens, s; `gb_s` is the bandwidth, 10**9 bytes/s."""
        return np.asarray(tokens) * self.token_bytes / (gb_s * 1e9)


def bandwidth(place: str) -> float:
    """Return a bandwidth, given as a place (``dram``, ``remote``, ``ssd``) or as ``25GB/s``, in 10**9 bytes/s.

    Raises
    ------
    ParameterError
        The place is unknown, or the bandwidth is not above 0 or in bits (``Gb/s``).

    Examples
    --------
    >>> bandwidth("ssd"), bandwidth("25 GB/s")
    (6.5, 25.0)
    """
    name = place.strip().lower() if isinstance(place, str) else ""
    if match := re.fullmatch(r"(\d{1,12}(?:\.\d{1,12})?)\s*gb/s", name):
        name, gb_s = "", float(match[1])
        if "Gb" in place:
            raise ParameterError(f"{place!r} is in bits; write it in bytes, {gb_s / 8:g}GB/s")
        if gb_s > 0:
            return gb_s
    if name not in PLACES:
        raise ParameterError(
            f"{place!r} is not a place for a cache of prompts{did_you_mean(name, PLACES)}; expected"
            f" {', '.join(PLACES)}, or a bandwidth above 0, such as 25GB/s"
        )
    return PLACES[name]


def time_to_first_token(
    prompts: Prompts | str | os.PathLike[str],
    policy: str | Sequence[str],
    cache_blocks: CacheSize | Iterable[CacheSize],
    place: str | Sequence[str] = "dram",
    *,
    server: Server | None = None,
    tail_first: bool = True,
    warm_up: int = 0,
) -> pd.DataFrame:
    """Serve prompts one at a time with prefix caches, and compute their times to first token.

    Parameters
    ----------
    prompts, policy, cache_blocks, tail_first, warm_up
        As in `misspenalty.replay.prefix.prefix_hit_ratio_curve`.
    place : str or sequence of str
        Where the cache is; see `bandwidth`.
    server : Server, optional
        Model and GPUs; by default those of Table 1.

    Returns
    -------
    DataFrame
        One row per policy, size and place: ``policy, cache_blocks, device, requests`` (prompts), ``token_hit_ratio``;
        the means ``prefill_us, load_us, mean_us`` (time to first token) and the quantiles ``median_us, p99_us`` of the
        time to first token; ``saved_ratio``, the share of the mean time without a cache that the cache saves;
        ``slower``, the number of prompts whose prefix takes longer to load than to compute.

    Raises
    ------
    InputError, ParameterError
        As in `prefix_hit_ratio_curve`, or no place is given, a place is unknown, or the server is invalid.

    Examples
    --------
    >>> asked = Prompts(None, np.array([1024, 1536]), np.zeros(2), np.array([2, 3]), np.array([1, 2, 1, 2, 3]), 512)
    >>> time_to_first_token(asked, "lru", 4)[["requests", "token_hit_ratio"]].values.tolist()
    [[2.0, 0.4]]
    """
    asked = as_prompts(prompts)
    server = Server() if server is None else server
    if not isinstance(server, Server):
        raise ParameterError(f"server is {server!r}; expected a Server")
    policies, places = listed(policy), {name: bandwidth(name) for name in listed(place)}
    if not (policies and places):
        raise ParameterError(f"no {'place' if policies else 'policy'} given")
    warm_up = check_whole("warm_up", warm_up, 0, len(asked) - 1)
    size_of = round(server.token_bytes)
    sizes = prefix_sizes(asked, cache_blocks, size_of).sizes
    tokens, rows = np.asarray(asked.input_tokens)[warm_up:], []
    whole = server.prefill_s(tokens)
    for name in policies:
        for size in sizes:
            prefix = prefix_hits(asked, name, size, tail_first=tail_first, token_bytes=size_of)
            reused = hit_tokens(asked, prefix)[warm_up:]
            computing = server.prefill_s(tokens, reused)
            for device, gb_s in places.items():
                loading = server.load_s(reused, gb_s)
                total = computing + loading
                rows.append(
                    {
                        "policy": find_policy(name).name,
                        "cache_blocks": size,
                        "device": device,
                        "requests": len(tokens),
                        "token_hit_ratio": reused.sum() / tokens.sum(),
                        "mean_us": total.mean() * 1e6,
                        "median_us": np.median(total) * 1e6,
                        "p99_us": np.quantile(total, 0.99) * 1e6,
                        "saved_ratio": 1 - total.mean() / whole.mean(),
                        "prefill_us": computing.mean() * 1e6,
                        "load_us": loading.mean() * 1e6,
                        "slower": int(np.count_nonzero(loading > whole - computing)),
                    }
                )
    return pd.DataFrame(rows)
