"""Parameters of the closed-loop storage server: processors, messages and disks of the MQ paper's testbed."""

from dataclasses import dataclass

from misspenalty.errors import ParameterError


@dataclass(frozen=True)
class StorageServerTestbed:
    """Parameters of `misspenalty_studies.mq.storage_server.server`, in the units their names end in.

    ``machine.schema.yaml`` describes each; `database_cpu_us` is None until it is fitted. The model computes with the
    properties that end in ``_ns``.
    """

    terminals: int
    think_time_us: float
    database_cpus: int
    database_cpu_us: float | None
    message_latency_us: float
    interrupt_us: float
    network_mb_per_s: float
    block_bytes: int
    storage_servers: int
    server_request_us: float
    disks: int
    disk_access_ms: float
    disk_mb_per_s: float
    disk_time: str
    stripe_blocks: int
    write_through: bool
    warm_up_share: float

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
            raise ParameterError("database_cpu_us has no value; fit it first, or replace() it")
        return round(1000 * self.database_cpu_us / reads_per_transaction)
