"""Hosts of the virtual-log study: what a write costs them, read from ``data/machines/vlog_hosts.yaml``."""

from dataclasses import dataclass, replace

import pandas as pd

from misspenalty.errors import ParameterError
from misspenalty.io.documents import read_checked


@dataclass(frozen=True)
class Host:
    """One host; the parameters are those of the file, the properties and methods price counts in ns.

    ``vlog_hosts.schema.yaml`` describes each parameter.
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
        """Time of so many instructions of the kernel."""
        return round(1000 * instructions / (self.clock_mhz * self.instructions_per_clock))

    def copy_ns(self, size):
        """Time to copy so many bytes."""
        return round(1000 * size / self.copy_mb_per_s)

    def write_ns(self, size):
        """File system and copy, for one write of an application."""
        return self.ns(self.file_system) + self.copy_ns(size)

    def request_ns(self, size):
        """One request to the disk of so many bytes."""
        return self.ns(self.request + self.request_byte * size)

    @property
    def search_ns(self):
        """The virtual log's look at one track."""
        return self.ns(self.search)

    @property
    def record_ns(self):
        """The virtual log's map sector."""
        return self.ns(self.record)

    def scaled(self, factor):
        """The same host with all its times multiplied; 0 is allowed."""
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
    entries : dict
        The file's content.
    """

    hosts: dict
    entries: dict

    def __getitem__(self, label):
        if label not in self.hosts:
            raise ParameterError(f"no host called {label!r}; expected {', '.join(self.hosts)}")
        return self.hosts[label]

    def variations(self, label):
        """(parameter, value, host) of the sensitivity runs around one host."""
        rows = [("paths", key) for key in PATHS] + [("own", key) for key in OWN]
        return [
            (key, value, replace(self[label], **{key: value}))
            for kind, key in rows
            for value in self._entry(kind, label, key).get("vary", ())
        ]

    def _entry(self, kind, label, key):
        return self.entries["paths"][key] if kind == "paths" else self.entries["hosts"][label][key]

    def table(self):
        """The parameters as a table: ``host, parameter, value, unit, status, source, reason``."""
        columns = ["value", "unit", "status", "source", "reason"]
        named = [("both", key, entry) for key, entry in self.entries["paths"].items()]
        for label, host in self.entries["hosts"].items():
            named += [(label, key, host[key]) for key in OWN]
        rows = [{"host": h, "parameter": k} | {c: entry.get(c, "") for c in columns} for h, k, entry in named]
        return pd.DataFrame(rows, columns=["host", "parameter", *columns])


def load_hosts(path, schema=None):
    """Read and check the hosts.

    Parameters
    ----------
    path : path-like
        ``vlog_hosts.yaml``.
    schema : path-like, optional
        Its JSON Schema; by default ``<name>.schema.yaml`` beside it.

    Returns
    -------
    Hosts

    Raises
    ------
    InputError
        The file is missing or malformed, or a key is missing, unknown or has an impossible value.
    """
    entries = read_checked(path, schema, "the hosts' parameters")
    paths = {key: entries["paths"][key]["value"] for key in PATHS}
    hosts = {
        label: Host(label, host["name"], **{key: host[key]["value"] for key in OWN}, **paths)
        for label, host in entries["hosts"].items()
    }
    return Hosts(hosts, entries)
