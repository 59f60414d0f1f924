"""Declare the closed-loop storage server's parameters: processors, messages and disks of the MQ paper's testbed."""

from dataclasses import dataclass
from typing import Literal

from misspenalty.errors import ParameterError
from misspenalty_studies.common.machine import MachineParameters, declared


@dataclass(frozen=True)
class StorageServerTestbed(MachineParameters):
    """Parameters of `misspenalty_studies.mq.storage_server.server`, in the units that their names end in.

    `database_cpu_us` is None until it is fitted. The model computes in ns; it takes some of its times from the
    members whose names end in ``_ns``.
    """

    terminals: int = declared("processes", "Database processes that run transactions in a closed loop", ge=1, le=100000)
    think_time_us: float = declared("us", "Time between a process's transactions", ge=0)
    database_cpus: int = declared(
        "processors", "Processors of the database's PC, one FCFS queue for all", ge=1, le=1024
    )
    database_cpu_us: float | None = declared(
        "us per transaction", "Database processor time of a transaction, spread evenly over its reads", ge=0
    )
    message_latency_us: float = declared("us", "One-way latency of a message", ge=0)
    interrupt_us: float = declared(
        "us", "Processor time per interrupt, from a message or from a disk that has finished", ge=0
    )
    network_mb_per_s: float = declared("10^6 bytes/s", "Bandwidth of the database's link, each way", gt=0)
    block_bytes: int = declared("bytes", "Size of a block", ge=1)
    storage_servers: int = declared(
        "PCs", "PCs of the storage server, one processor each; disk d belongs to PC d modulo their number", ge=1, le=256
    )
    server_request_us: float = declared("us", "Storage server processor time per request, beyond interrupts", ge=0)
    disks: int = declared("disks", "Data disks, one FCFS queue per disk", ge=1, le=256)
    disk_access_ms: float = declared("ms", "Positioning time of a random access", ge=0, le=1000)
    disk_mb_per_s: float = declared("10^6 bytes/s", "Transfer rate of a disk", gt=0)
    disk_time: Literal["constant", "exponential"] = declared(
        "distribution", "Distribution of a disk's service time about its mean"
    )
    stripe_blocks: int = declared("blocks", "Consecutive blocks on one disk before the next disk follows", ge=1)
    write_through: bool = declared("boolean", "Whether written blocks go to disk")
    warm_up_share: float = declared(
        "share of the references", "Share of the references at the head of the trace that is not timed", ge=0, lt=1
    )

    @property
    def request_ns(self):
        """Storage server processor time per request, including its interrupt."""
        return round(1000 * (self.server_request_us + self.interrupt_us))

    @property
    def transfer_ns(self):
        """Time to send one block over the database's link."""
        return round(1000 * self.block_bytes / self.network_mb_per_s)

    @property
    def reply_ns(self):
        """Time from the end of a reply's transfer until the database continues: message latency and interrupt."""
        return round(1000 * (self.message_latency_us + self.interrupt_us))

    @property
    def disk_ns(self):
        """Mean service time of a disk."""
        return round(1_000_000 * self.disk_access_ms + 1000 * self.block_bytes / self.disk_mb_per_s)

    def burst_ns(self, reads_per_transaction):
        """Return the database processor time after each read.

        Raises
        ------
        ParameterError
            `database_cpu_us` is not fitted yet.
        """
        if self.database_cpu_us is None:
            raise ParameterError("database_cpu_us has no value; fit it first, or set it with replace()")
        return round(1000 * self.database_cpu_us / reads_per_transaction)
