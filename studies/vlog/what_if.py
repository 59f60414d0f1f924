"""Simulate the virtual-log paper's random updates on a disk of 2015 and on flash, with a host of 2015.

The updates are like those of Table 2 (`misspenalty_studies.vlog.runs`), but of a file that takes more of the blocks and
after a shorter warm-up. No published number is involved, and no claim is judged.

On flash nothing is located: the drive chooses where to write anyway, and keeps its own map. An update in place is one
write to the drive. The virtual log inside the drive costs the same write plus that of the map sector. The latter is
internal, so it needs neither a command nor the interface; it goes to one of the sectors after the file, which hold the
map. The logical address of a copy makes no difference to a log-structured drive, so blocks and map sectors keep theirs;
older copies become garbage at once, as if the virtual log told the drive what it no longer needs.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from misspenalty import disks
from misspenalty.errors import ParameterError
from misspenalty_studies.vlog import runs as vlog
from misspenalty_studies.vlog.file_systems.disk_client import BLOCK, SECTOR
from misspenalty_studies.vlog.file_systems.hosts import Host
from misspenalty_studies.vlog.virtual_log.log import BLOCK_SECTORS, ENTRIES_A_SECTOR

COMPONENTS = ("overhead", "transfer", "locate", "wait", "other")
CHUNK = 100_000  # updates handed to the drive at a time
OWN_WRITE = 2  # the kind of a write that the drive makes itself, which needs neither a command nor the interface


@dataclass(frozen=True)
class FlashPlatform:
    """A host with a slice of a flash drive.

    Attributes
    ----------
    label : str
    host : Host
    kind : FlashDescription
        The slice.
    """

    label: str
    host: Host
    kind: object


def make_platforms(entries, hosts):
    """Build platforms from the configuration.

    Parameters
    ----------
    entries : dict of str to dict
        Label -> ``host, drive`` and ``cylinders`` of a disk, or ``blocks`` of flash (erase blocks per plane) and, if
        different from the drive's, ``write_units`` of its buffer.
    hosts : Hosts

    Returns
    -------
    dict of str to vlog.Platform or FlashPlatform

    Raises
    ------
    ParameterError
        A disk has no ``cylinders`` or flash no ``blocks``, both are given, the drive has fewer, or there is no such
        host.
    InputError
        There is no such drive.
    """
    return {label: _platform(label, entry, hosts) for label, entry in entries.items()}


def _platform(label, entry, hosts):
    kind = disks.load(entry["drive"])
    size = "blocks" if kind.data["kind"] == "flash" else "cylinders"
    if size not in entry or {"blocks": "cylinders", "cylinders": "blocks"}[size] in entry:
        raise ParameterError(f"{label}: {entry['drive']} is of kind {kind.data['kind']}; give its size in {size} only")
    if size == "cylinders":
        return vlog.make_platforms({label: entry}, hosts)[label]
    kind = kind.slice(entry["blocks"])
    if "write_units" in entry:
        kind = kind.replace({"cache.write_units": entry["write_units"]})
    return FlashPlatform(label, hosts[entry["host"]], kind)


def what_if(platforms, workload):
    """Simulate the mean latency of an update by component, for both systems.

    Parameters
    ----------
    platforms : dict of str to vlog.Platform or FlashPlatform
    workload : vlog.Updates
        In steady state; on flash its `warm_up` is in addition to the first writing of the file.

    Returns
    -------
    DataFrame
        ``platform, system``; ``overhead_us`` (commands), ``transfer_us``, ``locate_us``, ``wait_us`` (for room in the
        buffer, and for dies busy with older writes), ``other_us`` (host) and their sum ``total_us``; ``written_kb``,
        the data that an update writes to the medium, including garbage collection and padding.
    """
    rows = []
    for platform in platforms.values():
        updates = flash_updates if isinstance(platform, FlashPlatform) else disk_updates
        for system in vlog.SYSTEMS:
            parts = updates(platform, system, workload)
            named = {f"{name}_us": parts[name] for name in (*COMPONENTS, "total")}
            rows.append({"platform": platform.label, "system": system, **named, "written_kb": parts["written_kb"]})
    return pd.DataFrame(rows)


def disk_updates(platform, system, workload):
    """Simulate the mean latency of an update on a disk, us by component, and ``written_kb``."""
    ms = vlog.random_updates(platform, system, workload)
    parts = {name: 1000 * ms["scsi_overhead" if name == "overhead" else name] for name in COMPONENTS if name != "wait"}
    map_kb = SECTOR / 1024 if system == "virtual_log" else 0
    return {**parts, "wait": 0.0, "total": 1000 * ms["total"], "written_kb": BLOCK / 1024 + map_kb}


def flash_blocks(platform, workload):
    """Return the number of blocks of the file on a flash drive.

    Raises
    ------
    ParameterError
        The drive does not map blocks of 4 KB, or the file does not fit together with the virtual log's map.
    """
    kind = platform.kind
    if kind.unit_sectors != BLOCK_SECTORS:
        raise ParameterError(
            f"{kind.name} maps units of {kind.unit_sectors} sectors; expected {BLOCK_SECTORS}, the sectors of a block"
        )
    files = int(workload.utilisation * kind.units)
    sectors = -(-files // ENTRIES_A_SECTOR)
    if files < 1 or files + -(-sectors // BLOCK_SECTORS) > kind.units:
        raise ParameterError(
            f"{platform.label}: a file of {files} blocks and its map do not fit on a drive of {kind.units} blocks"
        )
    return files


def flash_updates(platform, system, workload):
    """Simulate updates on flash; return their mean latency in us by component, and the KB written per update
    (``written_kb``).
    """
    kind, host, mapped = platform.kind, platform.host, system == "virtual_log"
    files = flash_blocks(platform, workload)
    drive, rng = kind.drive(), np.random.default_rng(workload.seed)
    _write(drive, np.arange(files), files, host, mapped)
    left = round(workload.warm_up * kind.units)
    while left > 0:
        _write(drive, rng.integers(0, files, min(left, CHUNK)), files, host, mapped)
        left -= CHUNK
    begin, programs = drive.now, drive.programs
    spent = _write(drive, rng.integers(0, files, workload.updates), files, host, mapped)
    parts = {name: ns / workload.updates / 1000 for name, ns in spent.items()}
    page_kb = kind.settings["page_units"] * BLOCK / 1024
    written = (drive.programs - programs) * page_kb / workload.updates
    return {**parts, "total": (drive.now - begin) / workload.updates / 1000, "written_kb": written}


def _write(drive, blocks, files, host, mapped):
    """Update blocks one after another; return the time by component, ns."""
    lbn, count = blocks.astype(np.int64) * BLOCK_SECTORS, np.full(len(blocks), BLOCK_SECTORS, np.int32)
    write, before = np.ones(len(blocks), np.uint8), np.full(len(blocks), host.write_ns(BLOCK) + host.request_ns(BLOCK))
    if mapped:
        pieces = files * BLOCK_SECTORS + blocks // ENTRIES_A_SECTOR
        lbn, count = np.column_stack([lbn, pieces]).ravel(), np.column_stack([count, np.ones_like(count)]).ravel()
        write = np.column_stack([write, np.full_like(write, OWN_WRITE)]).ravel()
        before = np.column_stack([before, np.full_like(before, host.record_ns)]).ravel()
    # `one_by_one` waits after a request, so the delay before a request is passed with the preceding one.
    records = drive.one_by_one(lbn, count, write, np.roll(before, -1).astype(np.int64))
    return {
        "overhead": int(records["overhead"].sum()),
        "transfer": int(records["transfer"].sum() + records["bus"].sum()),
        "locate": 0,
        "wait": int(records["cache"].sum()),
        "other": int(before.sum()),
    }
