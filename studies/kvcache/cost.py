"""Compute the costs of tokens: seconds of prefill, bytes of cache, seconds of loading.

R. Qin et al., FAST 2025, section 2.2: a prefill of n tokens takes ``l (a n² d + b n d²)`` operations, reusing a prefix
of p tokens saves the operations of a prefill of p tokens, and the cache of p tokens has ``p l (2 d / gqa) s`` bytes.
Reuse pays if loading takes less time than that prefill (their Equation 2). As in the paper, prefill starts when loading
is finished. Queueing, overlap of loading with computing, and the step that produces the first token are left out.
"""

import numpy as np

from misspenalty.errors import ParameterError

KINDS = ("dram", "remote", "ssd")  # where the second level can be
GB = 1e9  # bytes
TERA = 1e12


def load_gb_s(machine, kind):
    """Return the bandwidth of loading from a kind of second level, in 10^9 bytes/s: that of the slowest link on the way
    to the GPUs.

    Parameters
    ----------
    machine : namespace
        Values of ``studies/kvcache/machine.yaml``.
    kind : {"dram", "remote", "ssd"}
        The server's own memory, another server's memory, the server's own flash drive.
    """
    ways = {"dram": (), "remote": (machine.network_gb_s,), "ssd": (machine.ssd_gb_s,)}
    return min((machine.host_to_device_gb_s, *ways[kind]))


def operations(machine, tokens):
    """Return the number of operations that a prefill of `tokens` tokens takes without reuse (Equation 1)."""
    tokens = np.asarray(tokens, float)
    width = machine.model_dim
    return machine.layers * (machine.attention_factor * tokens**2 * width + machine.linear_factor * tokens * width**2)


def prefill_s(machine, tokens, reused=0):
    """Return the seconds to prefill prompts of `tokens` tokens, the first `reused` of which are in the cache.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> one = SimpleNamespace(
    ...     layers=1, model_dim=1, attention_factor=1, linear_factor=1, gpus=1, a800_tflops=1e-12, utilisation=1
    ... )
    >>> prefill_s(one, [3, 3], [0, 2]).tolist()
    [12.0, 6.0]
    """
    throughput = machine.gpus * machine.a800_tflops * TERA * machine.utilisation
    return (operations(machine, tokens) - operations(machine, reused)) / throughput


def token_bytes(machine):
    """Return the bytes of cache per token."""
    return machine.layers * 2 * machine.model_dim / machine.query_heads_per_kv_head * machine.element_bytes


def load_s(machine, tokens, kind):
    """Return the seconds to load the cache of `tokens` tokens."""
    return np.asarray(tokens) * token_bytes(machine) / (load_gb_s(machine, kind) * GB)


def least_gb_s(machine, prefix, gpu_tflops):
    """Return the bandwidth, in 10^9 bytes/s, above which loading a prefix is faster than its prefill (Equation 2)."""
    seconds = operations(machine, prefix) / (machine.gpus * gpu_tflops * TERA)
    return float(prefix * token_bytes(machine) / seconds / GB)


def gpu_cache_tokens(machine):
    """Return the number of tokens whose cache fits into the GPUs' memory next to the weights.

    Raises
    ------
    ParameterError
        The weights leave no room.
    """
    memory_gb = machine.gpus * machine.gpu_memory_gb
    if memory_gb <= machine.weights_gb:
        raise ParameterError(
            f"weights of {machine.weights_gb:g} GB leave no room in {memory_gb:g} GB of GPU memory; change weights_gb, "
            "gpus or gpu_memory_gb in studies/kvcache/machine.yaml"
        )
    return int((memory_gb - machine.weights_gb) * GB / token_bytes(machine))
