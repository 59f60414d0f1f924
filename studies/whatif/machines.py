"""Read the machines of five different years, and their devices, from ``studies/whatif/machine.yaml``.

A device serves cache misses: a disk of `misspenalty.disks`, flash, or another machine's memory over the year's network.
Its times are those of random requests of 8 KB, issued one at a time; `parallel` is the number of requests that it can
serve at once.
"""

from dataclasses import dataclass
from functools import cache
from typing import Annotated, Literal

import numpy as np
from pydantic import AfterValidator, ConfigDict, Field, model_validator

from misspenalty import disks
from misspenalty.disks.requests import Requests, replay
from misspenalty_studies.common.machine import entry_of, read_document
from misspenalty_studies.common.settings import Settings, setting
from misspenalty_studies.hac.object_server.page_server import message_ns

PAGE = 8192
REQUEST = 64  # bytes of a message that requests a page
PACKET, HEADERS = 1460, 78  # payload of an Ethernet packet, and its overhead, bytes
REQUESTS = 2000  # random requests over which a disk's times are averaged
REMOTE = "remote_memory"
NAMES = {"disk": "disk", "sata_ssd": "SATA SSD", "nvme": "NVMe", REMOTE: "remote memory"}
NEAR_ENDLESS = 1024  # requests that a server's memory serves at a time, enough for none to wait


@dataclass(frozen=True)
class Device:
    """A device that serves cache misses.

    Attributes
    ----------
    name : str
        A key of `NAMES`.
    read_us, write_us : float
        Time for 8 KB at a random place.
    parallel : float
        Number of requests that it serves at a time.
    drive : str or None
        Name of a disk's description.
    """

    name: str
    read_us: float
    write_us: float
    parallel: float = 1
    drive: str | None = None


@dataclass(frozen=True)
class Era:
    """The machines of one year.

    Attributes
    ----------
    year : int
    speed : float
        Single-thread speed, in multiples of a PC of 1997.
    network_mbit_per_s, packet_us : float
        Bandwidth of the network, and the processor's time to send or to receive a packet.
    """

    year: int
    speed: float
    network_mbit_per_s: float
    packet_us: float

    def message_us(self, size):
        """Return the time of a message of `size` bytes from a process to one on another machine."""
        network = {
            "network_mbit_per_s": self.network_mbit_per_s,
            "packet_us": self.packet_us,
            "packet_bytes": PACKET,
            "packet_overhead_bytes": HEADERS,
        }
        return sum(message_ns(network, size)) / 1000

    @property
    def fetch_us(self):
        """Time to request a page from another machine and to receive it, without that machine's own work."""
        return self.message_us(REQUEST) + self.message_us(PAGE)

    def remote_memory(self):
        """Return another machine's memory as a device: a page is read or written over the network."""
        return Device(REMOTE, self.fetch_us, self.fetch_us, NEAR_ENDLESS)


@dataclass(frozen=True)
class Machines:
    """The machines of all years.

    Attributes
    ----------
    testbeds : dict of str to float
        Speed of each study's own machine.
    eras : dict of int to Era
        By year.
    devices : dict of int to dict of str to Device
        By year and name, remote memory included.
    entries : dict
        The content of the file, from which `variations` makes machines with other parameters.
    """

    testbeds: dict
    eras: dict
    devices: dict
    entries: dict

    def faster(self, study, era):
        """Return how many times as fast a year's machine is as the study's own testbed."""
        return era.speed / self.testbeds[study]

    def cells(self):
        """Return the pairs (era, device) of all years."""
        return [(self.eras[year], device) for year, devices in self.devices.items() for device in devices.values()]

    def variations(self, study, year, name):
        """Yield the machines with one parameter set to an end of its range, for both ends of every parameter of the
        study's testbed, the year's machine and the device.

        Yields
        ------
        (str, Machines)
            A text that names the parameter and its value, and the changed machines.
        """
        paths = [("testbeds", study), *(("machines", str(year), key) for key in ("speed", "network_mbit_per_s"))]
        paths.append(("machines", str(year), "packet_us"))
        described = self.entries["devices"][str(year)].get(name, {})  # remote memory has no entry in the file
        paths += [("devices", str(year), name, key) for key in described if key != "drive"]
        for path in paths:
            entry = self.entries
            for key in path:
                entry = entry[key]
            for value in entry["vary"]:
                yield f"{path[-1]} {value:g}", from_entries(_with(self.entries, path, value))


def _with(entries, path, value):
    """Return a copy of the entries with another value at a path."""
    if not path:
        return entries | {"value": value}
    return entries | {path[0]: _with(entries[path[0]], path[1:], value)}


def _bounded(entry):
    """Check that `vary` has the lowest and the highest value of an entry, and that its value lies between them."""
    if len(entry.vary) != 2 or not entry.vary[0] <= entry.value <= entry.vary[1]:
        raise ValueError(
            f"vary: {list(entry.vary)}; expected the lowest and the highest value, with {entry.value:g} between"
        )
    return entry


STATUSES = ("stated", "secondary", "derived", "recollected", "assumed")
Entry = Annotated[entry_of(float, statuses=STATUSES, varied=STATUSES, gt=0), AfterValidator(_bounded)]
Parallel = Annotated[entry_of(float, statuses=STATUSES, varied=STATUSES, ge=1), AfterValidator(_bounded)]
Year = Annotated[str, Field(pattern="^(19|20)[0-9][0-9]$")]


class _Testbeds(Settings):
    """Speed of each paper's machine, relative to which processor times are scaled."""

    hac: Entry
    mq: Entry
    epcm: Entry
    vlog: Entry
    sarc: Entry


class _Machine(Settings):
    speed: Entry = setting(what="Of one thread")
    network_mbit_per_s: Entry = setting(what="Between client and server")
    packet_us: Entry = setting(what="Processor time to send or receive a packet")


class _Device(Settings):
    model_config = ConfigDict(validate_default=False)

    drive: str = setting("", what="A disk of data/drives, written through, instead of the other keys")
    read_us: Entry = setting(None, what="Random read of 8 KB")
    write_us: Entry = setting(None, what="Random write of 8 KB, until it survives a power failure")
    parallel: Parallel = setting(None, what="Requests that it serves at the same time")

    @model_validator(mode="after")
    def check(self):
        """Check that the device either names a drive or has all three parameters."""
        if self.model_fields_set not in ({"drive"}, {"read_us", "write_us", "parallel"}):
            raise ValueError("expected either `drive` alone or `read_us`, `write_us` and `parallel`")
        return self


class _MachinesFile(Settings):
    """Machines and devices, by year."""

    testbeds: _Testbeds
    machines: Annotated[dict[Year, _Machine], Field(min_length=1)] = setting(what="By year")
    devices: dict[Year, dict[Literal["disk", "sata_ssd", "nvme"], _Device]] = setting(
        what="By year and name; remote memory is another machine's over the year's network, and has no entry"
    )

    @model_validator(mode="after")
    def check(self):
        """Check that devices belong to machines, and that each year has a disk for the virtual log."""
        unknown = sorted(set(self.devices) - set(self.machines))
        if unknown:
            raise ValueError(f"devices are listed for {unknown[0]}, but machines only for {', '.join(self.machines)}")
        for year in self.machines:
            disk = self.devices.get(year, {}).get("disk")
            if disk is None or not disk.drive:
                raise ValueError(f"{year} has no disk with a `drive`, on which the virtual log could be simulated")
        return self


def load(path):
    """Read and check ``machine.yaml``.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    Machines

    Raises
    ------
    InputError
        The file is missing or malformed; a key is missing, unknown or has an invalid value; a device belongs to a year
        without machines; or a year has no disk with a description.
    """
    return from_entries(read_document(path, _MachinesFile, "the machines of the what-if")[1])


def from_entries(entries):
    """Build machines from a file's entries."""
    eras = {
        int(year): Era(int(year), **{key: entry["value"] for key, entry in parameters.items()})
        for year, parameters in entries["machines"].items()
    }
    devices = {}
    for year, era in eras.items():
        devices[year] = {name: _device(name, entry) for name, entry in entries["devices"][str(year)].items()}
        devices[year][REMOTE] = era.remote_memory()
    testbeds = {study: entry["value"] for study, entry in entries["testbeds"].items()}
    return Machines(testbeds, eras, devices, entries)


def _device(name, entry):
    if "drive" in entry:
        return disk(entry["drive"], name)
    return Device(name, **{key: parameter["value"] for key, parameter in entry.items()})


def disk(drive, name="disk"):
    """Return a disk as a device, with its mean times for random, uncached requests of 8 KB over the whole disk."""
    return Device(name, service_us(drive, False), service_us(drive, True), 1, drive)


@cache
def service_us(drive, write):
    """Simulate random requests of 8 KB, one at a time, and return their mean time in us."""
    kind = disks.load(drive, "disk").replace({"cache.caching": False, "cache.read_ahead": "none"})
    if write:
        kind = kind.replace({"cache.write_behind": False})
    blocks = PAGE // kind.data["geometry"]["sector_bytes"]
    generator = np.random.default_rng(1)
    lbn = generator.integers(0, kind.blocks - blocks, REQUESTS)
    count, delay = np.full(REQUESTS, blocks, np.int32), np.zeros(REQUESTS, np.int64)
    outcome = replay(kind, Requests(lbn, count, np.full(REQUESTS, write, np.uint8), delay))
    return 1000 * float(outcome.simulated.mean())
