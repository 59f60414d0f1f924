"""Simulate files and random updates on four systems: the virtual-log paper's Figures 6, 7, 8, 10 and 11.

Paper: R. Y. Wang, T. E. Anderson, D. A. Patterson, OSDI 1999, sections 5.1 (1500 files of 1 KB), 5.2 (a file of 10 MB),
5.3 (random updates against utilisation) and 5.5 (updates in bursts). A system is a file system, ``ufs`` or ``lfs``,
on a disk, ``regular`` or ``vld``.
"""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd

from misspenalty_studies.vlog.file_systems.disk_client import BLOCK, BLOCK_SECTORS
from misspenalty_studies.vlog.file_systems.lfs import Lfs
from misspenalty_studies.vlog.file_systems.ufs import DIRECT, POINTERS_A_BLOCK, Ufs, UfsLayout
from misspenalty_studies.vlog.runs import _file_blocks, random_updates, steady_log
from misspenalty_studies.vlog.virtual_log.log import capacity, physical_blocks, update_in_place, virtual_log

SYSTEMS = tuple(itertools.product(("ufs", "lfs"), ("regular", "vld")))
SETTLING = 3  # random overwrites per live block of the log-structured disk before measuring, on average


def client(platform, file_system, disk):
    """Make a new file system on a new disk of a platform."""
    blocks, host = capacity(platform.kind), platform.host
    if disk == "vld":
        store = virtual_log(platform.kind, blocks, search_ns=host.search_ns, record_ns=host.record_ns)
    else:
        store = update_in_place(platform.kind)
    return {"ufs": Ufs, "lfs": Lfs}[file_system](store, host, blocks)


def fig6(platform, files):
    """Time the creation of small files, their reading after memory was emptied, and their deletion (Figure 6).

    Returns
    -------
    DataFrame
        ``platform, file_system, disk, phase, files_per_s``.
    """
    return _by_phase(platform, "files_per_s", files * 1e9, lambda one: one.small_files(files))


def fig7(platform, size, seed):
    """Time writing and reading a large file, in order and at random (Figure 7).

    Parameters
    ----------
    platform : Platform
    size : int
        Length of the file, bytes, which is rounded down to whole blocks.
    seed : int

    Returns
    -------
    DataFrame
        ``platform, file_system, disk, phase, mb_per_s`` (10^6 bytes).
    """
    size -= size % BLOCK
    return _by_phase(platform, "mb_per_s", size * 1e3, lambda one: one.large_file(size, seed))


def _by_phase(platform, column, amount, phases):
    """Return the rates of all systems in each phase: `amount` divided by the phase's time, which `phases` returns for a
    file system."""
    rows = [
        {**_key(platform, *system), "phase": phase, column: amount / ns}
        for system in SYSTEMS
        for phase, ns in phases(client(platform, *system)).items()
    ]
    return pd.DataFrame(rows)


def _key(platform, file_system, disk):
    return {"platform": platform.label, "file_system": file_system, "disk": disk}


def fig8(platform, utilisations, workload):
    """Measure the latency of random updates against utilisation (Figure 8): UFS in place, UFS on the virtual log, LFS.

    Returns
    -------
    DataFrame
        ``platform, file_system, disk, utilisation_pct, latency_ms``; no row where the file does not fit.
    """
    rows = []
    for used in utilisations:
        load = replace(workload, utilisation=used)
        found = {
            ("ufs", "regular"): _total(platform, "update_in_place", load),
            ("ufs", "vld"): _total(platform, "virtual_log", load),
            ("lfs", "regular"): lfs_latency_ms(platform, load),
        }
        rows += [
            {**_key(platform, *system), "utilisation_pct": 100 * used, "latency_ms": ms}
            for system, ms in found.items()
            if ms is not None
        ]
    return pd.DataFrame(rows)


def _total(platform, system, workload):
    """Return the latency in ms, or None if the file does not fit."""
    return random_updates(platform, system, workload)["total"] if fits(platform, system, workload) else None


def fits(platform, system, workload):
    """Return whether the disk has room for the file, with UFS's metadata or the virtual log's free space."""
    files = _file_blocks(platform, workload)
    if system == "virtual_log":
        return files + workload.inode <= capacity(platform.kind)
    indirect = -(-max(0, files - DIRECT) // POINTERS_A_BLOCK)
    return files + indirect <= UfsLayout(physical_blocks(platform.kind)).used.count(0)


def settled_lfs(platform, workload, rng):
    """Return a log-structured disk with a file in steady state (None if the file does not fit), and the number of the
    file's blocks."""
    blocks = physical_blocks(platform.kind)
    live = int(workload.utilisation * blocks)
    lfs = Lfs(update_in_place(platform.kind), platform.host, blocks)
    if live > lfs.room:
        return None, live
    lfs.lay_out(live)
    for block in rng.integers(0, live, SETTLING * live).tolist():
        lfs.write(block)
    return lfs, live


def lfs_latency_ms(platform, workload):
    """Return the mean latency of a random update through the buffer, with segment writes and cleaning; None if the file
    does not fit."""
    rng = np.random.default_rng(workload.seed)
    lfs, live = settled_lfs(platform, workload, rng)
    if lfs is None:
        return None
    begin = lfs.now
    for block in rng.integers(0, live, workload.updates).tolist():
        lfs.write(block)
    return (lfs.now - begin) / workload.updates / 1e6


def bursts(platform, file_system, burst_kb, idle_ms, workload):
    """Measure the latency of random updates in bursts with pauses between them (Figure 10: LFS; Figure 11: the virtual
    log).

    LFS writes its buffer at the end of each burst; the cleaner or the compactor runs in the pause. The first half of
    the bursts brings the system to a steady state.

    Parameters
    ----------
    platform : Platform
    file_system : {"ufs", "lfs"}
        UFS on the virtual log, or LFS on a regular disk.
    burst_kb : list of int
    idle_ms : list of float
    workload : Updates
        Its ``updates`` are measured, rounded up to whole bursts, at least two.

    Returns
    -------
    DataFrame
        ``platform, file_system, disk, burst_kb, idle_ms, latency_ms`` of a 4 KB update.
    """
    measure = {"ufs": _log_bursts, "lfs": _lfs_bursts}[file_system]
    disk = {"ufs": "vld", "lfs": "regular"}[file_system]
    rows = []
    for size, idle in itertools.product(burst_kb, idle_ms):
        length = max(1, size * 1024 // BLOCK)
        number = max(2, -(-workload.updates // length))
        ms = measure(platform, workload, length, number, round(1e6 * idle)) / (number * length) / 1e6
        rows.append({**_key(platform, file_system, disk), "burst_kb": size, "idle_ms": idle, "latency_ms": ms})
    return pd.DataFrame(rows)


def _log_bursts(platform, workload, length, number, idle):
    rng = np.random.default_rng(workload.seed)
    store, host = steady_log(platform, workload, rng), platform.host
    before = np.array([host.write_ns(BLOCK) + host.request_ns(BLOCK)], np.int64)
    count, spent = np.full(length, BLOCK_SECTORS, np.int64), 0
    for burst in range(2 * number):
        sector = rng.integers(0, store.blocks, length) * BLOCK_SECTORS
        begin = store.now
        store.replay(sector, count, before, 0)
        spent += (store.now - begin) * (burst >= number)
        due = store.now + idle
        late = store.rest(due) - due  # a burst may have to wait until a block and its map sector are written
        spent += late * (number <= burst + 1 < 2 * number)
    return spent


def _lfs_bursts(platform, workload, length, number, idle):
    rng = np.random.default_rng(workload.seed)
    lfs, live = settled_lfs(platform, workload, rng)
    spent = 0
    for burst in range(2 * number):
        begin = lfs.now
        for block in rng.integers(0, live, length).tolist():
            lfs.write(block)
        lfs.flush_all()
        spent += (lfs.now - begin) * (burst >= number)
        due = lfs.now + idle
        lfs.pause(idle)
        spent += (max(lfs.now, due) - due) * (number <= burst + 1 < 2 * number)
    return spent
