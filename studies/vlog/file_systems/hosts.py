"""Hosts of the virtual-log study and their cost per write, read from ``studies/vlog/machine.yaml``."""

from dataclasses import dataclass, replace

import pandas as pd

from misspenalty.errors import ParameterError
from misspenalty.io.documents import read_checked
from misspenalty_studies.common.machine import COLUMNS, Parameter, variations


@dataclass(frozen=True)
class Host:
    """One host; its parameters are those of the file, its properties and methods price counts in ns.

    ``machine.schema.yaml`` describes each parameter.
    """

    label: str
    name: str
    clock_mhz: float
    instructions_per_clock: float
    copy_mb_per_s: float
    file_system: float
    request: float
    request_byte: float
    search: float
    record: float

    def ns(self, instructions):
        """Return the time of this number of kernel instructions."""
        return round(1000 * instructions / (self.clock_mhz * self.instructions_per_clock))

    def copy_ns(self, size):
        """Return the time to copy `size` bytes."""
        return round(1000 * size / self.copy_mb_per_s)

    def write_ns(self, size):
        """Return the file-system and copy time of one application write."""
        return self.ns(self.file_system) + self.copy_ns(size)

    def request_ns(self, size):
        """Return the time of one disk request of `size` bytes."""
        return self.ns(self.request + self.request_byte * size)

    @property
    def search_ns(self):
        """Time for the virtual log to examine one track."""
        return self.ns(self.search)

    @property
    def record_ns(self):
        """Time of the virtual log's map sector."""
        return self.ns(self.record)

    def scaled(self, factor):
        """Return the same host with all its times multiplied; 0 is allowed."""
        paths = {key: factor * getattr(self, key) for key in PATHS}
        copy = self.copy_mb_per_s / factor if factor else float("inf")
        return replace(self, copy_mb_per_s=copy, **paths)


PATHS = ("file_system", "request", "request_byte", "search", "record")
OWN = ("clock_mhz", "instructions_per_clock", "copy_mb_per_s")


@dataclass(frozen=True)
class Hosts:
    """All hosts of a file and where their parameters come from.

    Attributes
    ----------
    hosts : dict of str to Host
    entries : dict of str to dict of str to Parameter
        The file's entries for each host's parameters, by its label, and for `PATHS`, which all hosts share, under
        ``both``.
    """

    hosts: dict
    entries: dict

    def __getitem__(self, label):
        if label not in self.hosts:
            raise ParameterError(f"no host called {label!r}; expected {', '.join(self.hosts)}")
        return self.hosts[label]

    def variations(self, label):
        """Return (parameter, value, host) of the sensitivity runs around one host."""
        host = self[label]
        listed = variations(self.entries["both"] | self.entries[label], vars(host))
        return [(name, value, replace(host, **{name: value})) for name, value in listed]

    def table(self):
        """Return the parameters as a table: ``host, parameter, value, unit, status, source, reason``."""
        rows = [
            {"host": label, "parameter": name} | entry.row()
            for label, entries in self.entries.items()
            for name, entry in entries.items()
        ]
        return pd.DataFrame(rows, columns=["host", "parameter", *COLUMNS])


def load_hosts(path, schema=None):
    """Read and check the hosts.

    Parameters
    ----------
    path : path-like
        ``machine.yaml``.
    schema : path-like, optional
        Its JSON Schema; by default ``<name>.schema.yaml`` next to it.

    Returns
    -------
    Hosts

    Raises
    ------
    InputError
        The file is missing or malformed, or a key is missing, unknown or has an invalid value.
    """
    data = read_checked(path, schema, "the hosts' parameters")
    entries = {"both": {key: Parameter(**data["paths"][key]) for key in PATHS}}
    entries |= {label: {key: Parameter(**host[key]) for key in OWN} for label, host in data["hosts"].items()}
    hosts = {}
    for label, host in data["hosts"].items():
        values = {name: entry.value for name, entry in (entries["both"] | entries[label]).items()}
        hosts[label] = Host(label, host["name"], **values)
    return Hosts(hosts, entries)
