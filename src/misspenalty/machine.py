"""The papers' machines: their parameters, each with value, unit, status and source, read from ``data/machines``."""

from dataclasses import dataclass, fields

import pandas as pd

from misspenalty.errors import ParameterError
from misspenalty.io.documents import read_checked


@dataclass(frozen=True)
class Testbed:
    """Parameters of `misspenalty.systems.storage_server.server`, in the units their names end in.

    ``mq_testbed.schema.yaml`` describes each; `database_cpu_us` is None until it is fitted. Properties that end in
    ``_ns`` are what the model counts in.
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
        """Storage server processor time of a request, its interrupt included."""
        return round(1000 * (self.server_request_us + self.interrupt_us))

    @property
    def transfer_ns(self):
        """One block over the database's link."""
        return round(1000 * self.block_bytes / self.network_mb_per_s)

    @property
    def reply_ns(self):
        """From the end of a reply's transfer until the database goes on: message latency and interrupt."""
        return round(1000 * (self.message_latency_us + self.interrupt_us))

    @property
    def disk_ns(self):
        """Mean service time of a disk."""
        return round(1_000_000 * self.disk_access_ms + 1000 * self.block_bytes / self.disk_mb_per_s)

    def burst_ns(self, reads_per_transaction):
        """Database processor time after each read.

        Raises
        ------
        ParameterError
            `database_cpu_us` is not fitted yet.
        """
        if self.database_cpu_us is None:
            raise ParameterError("database_cpu_us has no value: fit it first, or replace() it")
        return round(1000 * self.database_cpu_us / reads_per_transaction)


@dataclass(frozen=True)
class Machine:
    """A testbed and where its parameters come from.

    Attributes
    ----------
    testbed : Testbed
        Or another dataclass of parameters.
    entries : dict of str to dict
        What the file says of each parameter: ``value, unit, status, source`` and, where given, ``reason, vary,
        vary_factors``.
    """

    testbed: object
    entries: dict

    def variations(self, testbed):
        """(parameter, value) of the sensitivity runs around `testbed`, in the file's order, its own values left out."""
        listed = []
        for name, entry in self.entries.items():
            own = getattr(testbed, name)
            values = list(entry.get("vary", ()))
            if own is not None:
                values += [own * factor for factor in entry.get("vary_factors", ())]
            listed += [(name, value) for value in dict.fromkeys(values) if value != own]
        return listed

    def table(self):
        """The parameters as a table: ``parameter, value, unit, status, source, reason``."""
        columns = ["value", "unit", "status", "source", "reason"]
        rows = [
            {"parameter": name} | {key: entry.get(key, "") for key in columns} for name, entry in self.entries.items()
        ]
        return pd.DataFrame(rows, columns=["parameter", *columns])


def load_machine(path, schema=None, kind=Testbed):
    """Read and check the parameters of a machine.

    Parameters
    ----------
    path : path-like
        ``mq_testbed.yaml``.
    schema : path-like, optional
        Its JSON Schema; by default ``<name>.schema.yaml`` beside it.
    kind : dataclass
        What the values become; its fields are the file's keys, and further ones that have defaults.

    Returns
    -------
    Machine

    Raises
    ------
    InputError
        The file is missing or malformed, or a key is missing, unknown or has an impossible value.
    """
    entries = read_entries(path, schema)
    values = {field.name: entries[field.name]["value"] for field in fields(kind) if field.name in entries}
    return Machine(kind(**values), entries)


def read_entries(path, schema=None):
    """Read and check a file of parameters, each with value, unit, status and source.

    Parameters and errors are those of `load_machine`.

    Returns
    -------
    dict of str to dict
    """
    entries = read_checked(path, schema, "the parameters of a testbed")
    return entries
