"""Declare the parameters of the kvcache study's machines, the keys of ``machine.yaml``."""

from dataclasses import dataclass

from misspenalty_studies.common.machine import MachineParameters, declared


@dataclass(frozen=True)
class KvCacheMachine(MachineParameters):
    """Parameters of the kvcache study's machines, in the units that their declarations state."""

    statuses = ("stated", "derived", "secondary", "assumed")

    layers: int = declared("layers", "Layers of the model", ge=1)
    model_dim: int = declared("elements", "Width of the model", ge=1)
    attention_factor: float = declared(
        "operations", "Operations of attention per layer, pair of tokens and element of the width", gt=0
    )
    linear_factor: float = declared(
        "operations", "Operations of everything else per layer, token and square of the width", gt=0
    )
    query_heads_per_kv_head: int = declared("heads", "Query heads that share one head of keys and values", ge=1)
    element_bytes: float = declared("bytes", "Bytes of a key or value element", gt=0)
    gpus: int = declared("GPUs", "GPUs of a server, one instance of the model", ge=1)
    a800_tflops: float = declared("10^12 operations/s", "Throughput of an A800", gt=0)
    h800_tflops: float = declared("10^12 operations/s", "Throughput of an H800", gt=0)
    utilisation: float = declared(
        "share of the throughput", "Share of the throughput that a prefill reaches", gt=0, le=1
    )
    host_to_device_gb_s: float = declared(
        "10^9 bytes/s", "Bandwidth from a server's memory to all its GPUs together", gt=0
    )
    network_gb_s: float = declared("10^9 bytes/s", "Bandwidth of a server's network", gt=0)
    ssd_gb_s: float = declared("10^9 bytes/s", "Read bandwidth of a server's flash drive", gt=0)
    ssd_gb: float = declared("10^9 bytes", "Capacity of a server's flash drive", gt=0)
    gpu_memory_gb: float = declared("10^9 bytes", "Memory of a GPU", gt=0)
    weights_gb: float = declared("10^9 bytes", "Memory that the weights of the model take in a server", gt=0)
    node_tokens: int = declared("tokens", "Tokens whose keys and values fit in a server's memory", ge=1)
    nodes: int = declared("servers", "Prefill servers", ge=1)
