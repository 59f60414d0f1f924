"""Declare the parameters of HAC's testbed and its unit costs, the keys of ``machine.yaml``."""

from dataclasses import dataclass
from typing import Literal

from misspenalty_studies.common.machine import MachineParameters, declared


@dataclass(frozen=True)
class HacMachine(MachineParameters):
    """Parameters of HAC's testbed and unit costs, in the units that their names end in."""

    statuses = ("stated", "derived", "recollected", "assumed", "fitted")

    client_mhz: float = declared("MHz", "Clock of the client's processor", gt=0)
    client_cpi: float = declared("cycles", "Cycles per instruction while nothing waits for memory", gt=0)
    client_l2_kb: float = declared("KB", "Second-level cache of the client", gt=0)
    client_l2_ns: float = declared("ns", "Access time of a line in the second-level cache", gt=0)
    client_memory_ns: float = declared("ns", "Access time of a line in memory", gt=0)
    ppro_mhz: float = declared("MHz", "Clock of the second client's processor", gt=0)
    ppro_cpi: float = declared("cycles", "Same as client_cpi, for the second client", gt=0)
    ppro_l2_kb: float = declared("KB", "Same as client_l2_kb, for the second client", gt=0)
    ppro_l2_ns: float = declared("ns", "Same as client_l2_ns, for the second client", gt=0)
    ppro_memory_ns: float = declared("ns", "Same as client_memory_ns, for the second client", gt=0)
    ppro_larger_l2_kb: float = declared("KB", "Second-level cache in the projection to a larger cache", gt=0)
    line_bytes: int = declared("bytes", "Cache line", ge=1)
    network_mbit_per_s: float = declared("10^6 bits/s", "Rate of the network", gt=0)
    packet_bytes: int = declared("bytes", "Largest payload of a packet", ge=1)
    packet_overhead_bytes: int = declared("bytes", "Bytes of a packet on the wire in addition to its payload", ge=1)
    packet_us: float = declared("us", "Processor time to send or receive a packet", ge=0)
    request_bytes: int = declared("bytes", "Payload of a fetch request", ge=1)
    slower_mbit_per_s: float = declared("10^6 bits/s", "Rate of the slower network", gt=0)
    faster_mbit_per_s: float = declared("10^6 bits/s", "Rate of the faster network", gt=0)
    server_page_us: float = declared("us", "Server's processor time for a fetch, excluding packets and disk", ge=0)
    server_cache_mb: float = declared("MB", "Server's page cache, LRU", gt=0)
    mob_mb: float = declared("MB", "Server's modified object buffer", gt=0)
    drive: str = declared("drive", "Drive of the server, a name of data/drives", pattern="^[a-z0-9_]+$")
    database_at: float = declared("share of the drive", "Where on the drive the first page is", ge=0, le=0.9)
    page_order: Literal["contiguous", "shuffled", "scattered"] = declared(
        "placement", "How pages are arranged on the drive"
    )
    shared_clients: int = declared("clients", "Clients of the shared server", ge=1, le=64)
    client_page_instructions: float = declared("instructions", "Registering a page in the client cache", ge=0)
    install_instructions: float | None = declared("instructions", "Installing an object", ge=0)
    swizzle_instructions: float = declared("instructions", "Swizzling a reference", ge=0)
    scan_frame_instructions: float = declared("instructions", "Usage computation, per frame", ge=0)
    scan_object_instructions: float = declared("instructions", "Usage computation, per object", ge=0)
    look_instructions: float = declared("instructions", "Examination of a frame by a secondary pointer", ge=0)
    choose_instructions: float = declared("instructions", "Choosing a victim", ge=0)
    compact_frame_instructions: float = declared("instructions", "Compaction, per victim", ge=0)
    drop_instructions: float = declared("instructions", "Passing over a copy that is dropped", ge=0)
    discard_instructions: float = declared("instructions", "Discarding an object", ge=0)
    release_instructions: float = declared(
        "instructions", "Lowering the count of one reference of a discarded object", ge=0
    )
    free_entry_instructions: float = declared("instructions", "Freeing a table entry", ge=0)
    retain_instructions: float = declared("instructions", "Retaining an object, without the copy", ge=0)
    move_word_instructions: float = declared("instructions", "Copying 8 bytes", ge=0)
    stack_word_instructions: float = declared("instructions", "Scanning a word of the stack", ge=0)
    activation_words: int = declared("words", "Size of an activation record", ge=4, le=4096)
    method_instructions: float = declared("instructions", "Hit time - the traversal itself, for each object read", ge=0)
    exception_instructions: float = declared("instructions", "Hit time - exception code", ge=0)
    concurrency_instructions: float = declared("instructions", "Hit time - concurrency-control checks", ge=0)
    usage_instructions: float = declared("instructions", "Hit time - usage statistics", ge=0)
    residency_instructions: float = declared("instructions", "Hit time - residency checks", ge=0)
    swizzle_check_instructions: float = declared("instructions", "Hit time - swizzling checks", ge=0)
    indirection_instructions: float = declared(
        "instructions", "Hit time - indirection, in addition to the entry's cache line", ge=0
    )
    fault_us: float = declared("us", "QuickStore's page fault", ge=0)
    map_entry_instructions: float = declared("instructions", "QuickStore, per entry of a mapping object", ge=0)
    correct_pointer_instructions: float = declared("instructions", "QuickStore, per pointer corrected", ge=0)
