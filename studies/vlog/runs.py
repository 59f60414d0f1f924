"""Run the virtual-log study: random synchronous updates on three platforms, in place and through a virtual log.

Paper: R. Y. Wang, T. E. Anderson, D. A. Patterson, "Virtual Log Based File Systems for a Programmable Disk", OSDI 1999,
section 5.4 (Table 2, Figure 9) on the workload of 5.3: one file, random 4 KB blocks of it updated over and over,
synchronously, without a pause, in steady state; the file's size sets the utilisation.

The following choices were made where the paper says nothing or where we could not read it;
`misspenalty_studies.vlog.conditions` tries each of the alternatives. The first, second and last were checked again in
the paper's text on 2026-11-23, which decided them:

* Utilisation is the share of the disk's aligned blocks that the file occupies. The paper's 80 % is what ``df`` shows,
  which counts the reserve of about 12 % as used (section 5.3, Figure 8), so that 68 % of the blocks are live.
* No compactor runs: there is no idle time (section 5.5).
* In place, the file is where UFS puts it, in groups of cylinders. The virtual log starts with the file spread evenly
  over the slice and is warmed up by updates, five per block of the disk.
* An update of an existing block writes the block and nothing else.
* Updates are 4 KB on the UltraSPARC-170 too, as section 5.3 says of all platforms; its file system's blocks are 8 KB,
  so it may have written twice as much.
"""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pandas as pd

from misspenalty import disks
from misspenalty.disks.drive.slices import cut
from misspenalty.errors import ParameterError
from misspenalty_studies.vlog.file_systems.disk_client import BLOCK
from misspenalty_studies.vlog.file_systems.hosts import Host
from misspenalty_studies.vlog.file_systems.ufs import UfsLayout
from misspenalty_studies.vlog.virtual_log.log import (
    BLOCK_SECTORS,
    capacity,
    physical_blocks,
    spread,
    unaligned,
    update_in_place,
    virtual_log,
)

SYSTEMS = ("update_in_place", "virtual_log")
COMPONENTS = {"scsi_overhead": "overhead", "transfer": "transfer", "locate": "locate", "other": "other"}
DF_RESERVE = 0.12  # share of the disk that is held in reserve and that `df` counts as used
INODE_BLOCK = 2  # first inode block of the first cylinder group, after the superblock and the map block
IN_PLACE_WARM_UP = 100  # number of updates, enough for the arm's first position not to matter


@dataclass(frozen=True)
class Platform:
    """A host with a slice of a disk.

    Attributes
    ----------
    label : str
    host : Host
    kind : Description
        The slice.
    drive : str
        Name of the whole drive.
    cylinders : int
    """

    label: str
    host: Host
    kind: object
    drive: str
    cylinders: int

    def changed(self, host_factor=1, **changes):
        """Return the same platform with a scaled host or with some values of its disk changed, as in
        `misspenalty.disks.drive.slices`."""
        host = self.host if host_factor == 1 else self.host.scaled(host_factor)
        kind = _slice(self.drive, self.cylinders, **changes) if changes else self.kind
        return replace(self, host=host, kind=kind)


@cache
def _slice(drive, cylinders, **changes):
    """Return the slice of a drive with some values changed.

    Many runs share a slice, and checking its description takes longer than a short run.
    """
    return cut(disks.load(drive, "disk"), cylinders, **changes)


@dataclass(frozen=True)
class Updates:
    """Updates of a file, and the state of the virtual log before them.

    Attributes
    ----------
    utilisation : float
        Share of the disk's blocks that the file occupies.
    updates : int
        Number of updates measured.
    warm_up : float
        Updates of the virtual log before the measured ones, in multiples of the disk's blocks.
    prepared : {"steady", "fresh", "emptied"}
        State before the updates: after the warm-up; with the file contiguous and the rest of the disk empty; after the
        warm-up and a run of the compactor for as long as it gains space.
    log_map : bool
        Whether map sectors are written.
    reserve : int, optional
        Blocks left free on a track when empty tracks are filled one after another.
    inode : bool
        Whether each update writes the inode's block too.
    aligned : bool
        Whether blocks of the virtual log begin at multiples of 4 KB on their track, or at any sector.
    blocks : int
        4 KB blocks per update.
    jitter : float
        Host times are drawn uniformly from their value plus or minus this share of it; constant host times may lock
        the requests to the rotation.
    seed : int
    """

    utilisation: float = 0.8
    updates: int = 10_000
    warm_up: float = 5
    prepared: str = "steady"
    log_map: bool = True
    reserve: int | None = None
    inode: bool = False
    aligned: bool = True
    blocks: int = 1
    jitter: float = 0.0
    seed: int = 1

    def __post_init__(self):
        if not 0 < self.utilisation < 1 or self.updates < 1 or self.warm_up < 0 or self.blocks < 1:
            raise ParameterError(
                f"{self}: expected a utilisation between 0 and 1, updates and blocks of at least 1, and a warm_up of at"
                " least 0"
            )
        if not 0 <= self.jitter <= 1:
            raise ParameterError(f"jitter is {self.jitter!r}; expected 0 to 1")


def make_platforms(entries, hosts):
    """Build platforms from the configuration.

    Parameters
    ----------
    entries : dict of str to dict
        Label -> ``host, drive, cylinders``.
    hosts : Hosts
    """
    return {
        label: Platform(label, hosts[e["host"]], _slice(e["drive"], e["cylinders"]), e["drive"], e["cylinders"])
        for label, e in entries.items()
    }


def random_updates(platform, system, workload):
    """Simulate the mean latency of an update by component.

    Parameters
    ----------
    platform : Platform
    system : {"update_in_place", "virtual_log"}
    workload : Updates

    Returns
    -------
    dict of str to float
        ms of ``scsi_overhead, transfer, locate, other`` and of ``total``, measured by the clock; for the virtual log
        also ``map_locate`` and ``map_transfer``, the parts that its map sectors take.

    Raises
    ------
    ParameterError
        The file does not fit on the disk, or is shorter than one update.
    """
    rng = np.random.default_rng(workload.seed)
    files = _file_blocks(platform, workload)
    if system == "update_in_place":
        store, warm_up = update_in_place(platform.kind), IN_PLACE_WARM_UP
        address = _in_place(platform, workload, files)
    else:
        store, warm_up = steady_log(platform, workload, rng), 0
        address = np.arange(files + workload.inode, dtype=np.int64)
    spent = _replay(store, platform.host, workload, address, rng, workload.updates + warm_up, warm_up)
    named = {name: spent[part] for name, part in COMPONENTS.items()}
    more = {name: spent[name] for name in ("map_locate", "map_transfer")} if system == "virtual_log" else {}
    return {name: ns / workload.updates / 1e6 for name, ns in {**named, "total": spent["total"], **more}.items()}


def _file_blocks(platform, workload):
    """Return the number of blocks of the file, a multiple of the blocks per update."""
    wanted = int(workload.utilisation * physical_blocks(platform.kind)) - workload.inode
    files = min(wanted, physical_blocks(platform.kind) - 2) // workload.blocks * workload.blocks
    if files < workload.blocks:
        blocks = f"{workload.blocks} block{'s' * (workload.blocks > 1)}"
        raise ParameterError(
            f"at a utilisation of {workload.utilisation}, the file is shorter than an update of {blocks}; choose a"
            " higher utilisation, or a larger disk"
        )
    return files


def _in_place(platform, workload, files):
    """Return the places where UFS puts the file's blocks, followed by the block of its inode if that is written."""
    blocks, _ = UfsLayout(physical_blocks(platform.kind)).file(files)
    return np.array([*blocks, INODE_BLOCK] if workload.inode else blocks, np.int64)


def steady_log(platform, workload, rng):
    """Return a virtual log in the state that the workload specifies."""
    files = _file_blocks(platform, workload) + workload.inode
    most = capacity(platform.kind)
    if files > most:
        raise ParameterError(f"a file of {files} blocks does not fit; the virtual log on this disk has room for {most}")
    host = platform.host
    store = virtual_log(
        platform.kind,
        files,
        aligned=workload.aligned,
        log_map=workload.log_map,
        reserve=workload.reserve,
        search_ns=host.search_ns,
        record_ns=host.record_ns,
        seed=workload.seed,
    )
    fresh = workload.prepared == "fresh"
    physical = physical_blocks(platform.kind)
    place = np.arange(1, files + 1, dtype=np.int32) if fresh else spread(files, physical)
    place = place if workload.aligned else unaligned(place, platform.kind)
    store.lay_out(np.arange(files, dtype=np.int32), place)
    if not fresh:
        updates = round(workload.warm_up * physical / workload.blocks)
        _replay(store, host, workload, np.arange(files, dtype=np.int64), rng, updates, 0)
    if workload.prepared == "emptied":
        store.compact(physical)
    return store


def _replay(store, host, workload, address, rng, updates, warm_up):
    """Update random blocks of the file; return the time of the updates after the warm-up by part, ns."""
    unit = workload.blocks
    files = len(address) - workload.inode
    sector = address[rng.integers(0, files // unit, updates) * unit] * BLOCK_SECTORS
    count = np.full(updates, unit * BLOCK_SECTORS, np.int64)
    size = unit * BLOCK
    before = np.array([host.write_ns(size) + host.request_ns(size)], np.int64)
    if workload.inode:
        inode = np.full(updates, address[-1] * BLOCK_SECTORS, np.int64)
        sector = np.column_stack([sector, inode]).ravel()
        count = np.column_stack([count, np.full(updates, BLOCK_SECTORS)]).ravel()
        before = np.tile([before[0], host.request_ns(BLOCK)], updates)
    if workload.jitter:
        drawn = 1 + workload.jitter * rng.uniform(-1, 1, len(sector))
        before = np.rint(np.broadcast_to(before, len(sector)) * drawn).astype(np.int64)
    return store.replay(sector, count, before, warm_up * (2 if workload.inode else 1))


def fig9(platforms, workload):
    """Simulate the latency by component on every platform, for both systems (Figure 9).

    Returns
    -------
    DataFrame
        ``platform, system, component, ms``; component ``total`` is measured by the clock, and the virtual log's
        ``map_locate`` and ``map_transfer`` are parts of ``locate`` and ``transfer``.
    """
    rows = [
        {"platform": platform.label, "system": system, "component": component, "ms": ms}
        for platform in platforms.values()
        for system in SYSTEMS
        for component, ms in random_updates(platform, system, workload).items()
    ]
    return pd.DataFrame(rows)


def table2(latencies):
    """Compute the speed-up of the virtual log on each platform (Table 2), from the totals of `fig9`.

    Returns
    -------
    DataFrame
        ``platform, speedup, update_in_place_ms, virtual_log_ms``.
    """
    totals = latencies[latencies["component"] == "total"].pivot_table(
        index="platform", columns="system", values="ms", sort=False
    )
    totals = totals.rename(columns=lambda system: f"{system}_ms")[[f"{system}_ms" for system in SYSTEMS]]
    totals.insert(0, "speedup", totals["update_in_place_ms"] / totals["virtual_log_ms"])
    return totals.rename_axis(columns=None).reset_index()
