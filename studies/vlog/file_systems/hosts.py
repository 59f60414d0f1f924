"""Read the hosts of the virtual-log study and their cost per write from ``studies/vlog/machine.yaml``."""

from dataclasses import dataclass, replace
from typing import Annotated

import pandas as pd
from pydantic import Field

from misspenalty.errors import ParameterError
from misspenalty_studies.common.machine import entry_of, read_document, variations
from misspenalty_studies.common.settings import Settings, setting


@dataclass(frozen=True)
class Host:
    """One host with the parameters of the file; its properties and methods convert counts to ns."""

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
        """Time for the virtual log to build a map sector."""
        return self.ns(self.record)

    def scaled(self, factor):
        """Return the same host with all its times multiplied by `factor`, which may be 0."""
        paths = {key: factor * getattr(self, key) for key in PATHS}
        copy = self.copy_mb_per_s / factor if factor else float("inf")
        return replace(self, copy_mb_per_s=copy, **paths)


PATHS = ("file_system", "request", "request_byte", "search", "record")  # in instructions; the same on every host
OWN = ("clock_mhz", "instructions_per_clock", "copy_mb_per_s")  # parameters that differ from host to host


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
        """Return (parameter, value, host) for each sensitivity run, in which one parameter of a host differs."""
        host = self[label]
        listed = variations(self.entries["both"] | self.entries[label], vars(host))
        return [(name, value, replace(host, **{name: value})) for name, value in listed]

    def table(self):
        """Return the parameters as a table: ``host, parameter, value, unit, status, source, reason``."""
        rows = [
            {"host": label, "parameter": name} | vars(entry)
            for label, entries in self.entries.items()
            for name, entry in entries.items()
        ]
        return pd.DataFrame(rows, columns=["host", "parameter", "value", "unit", "status", "source", "reason"])


RULES = {
    "statuses": ("stated", "secondary", "recollected", "assumed"),
    "varied": ("recollected", "assumed"),
}
Work = entry_of(float, **RULES, ge=0)
Rate = entry_of(float, **RULES, gt=0)


class _Paths(Settings):
    """Work of a host per write, in instructions; the same on every host."""

    file_system: Work = setting(what="System call, file system and page cache, per write of the application")
    request: Work = setting(what="Driver, interrupt and wake-up, per request to the disk")
    request_byte: Work = setting(what="Per byte of a request")
    search: Work = setting(what="Virtual log: per track examined in the search for the nearest free place")
    record: Work = setting(what="Virtual log: per map sector")


class _Host(Settings):
    name: Annotated[str, Field(min_length=1)] = setting(what="As printed in tables and figures")
    clock_mhz: Rate = setting(what="Clock of the processor")
    instructions_per_clock: Rate = setting(what="Rate at which kernel code runs")
    copy_mb_per_s: Rate = setting(what="Rate of a copy in memory; the data are copied once from the application")


class _HostsFile(Settings):
    """Hosts of the virtual-log paper, and one of 2015."""

    paths: _Paths
    hosts: Annotated[dict[str, _Host], Field(min_length=1)]


def load_hosts(path):
    """Read and check the hosts.

    Parameters
    ----------
    path : path-like
        ``machine.yaml``.

    Returns
    -------
    Hosts

    Raises
    ------
    InputError
        The file is missing or malformed, or a key is missing, unknown or has an invalid value.
    """
    made, _ = read_document(path, _HostsFile, "the hosts' parameters")
    entries = {"both": {key: getattr(made.paths, key) for key in PATHS}}
    entries |= {label: {key: getattr(host, key) for key in OWN} for label, host in made.hosts.items()}
    hosts = {}
    for label, host in made.hosts.items():
        values = {name: entry.value for name, entry in (entries["both"] | entries[label]).items()}
        hosts[label] = Host(label, host.name, **values)
    return Hosts(hosts, entries)
