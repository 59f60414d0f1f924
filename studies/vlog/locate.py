"""Measure how long it takes to locate a free sector: the virtual-log paper's Figures 1 and 2, models next to simulated
disks.

Paper: R. Y. Wang, T. E. Anderson, D. A. Patterson, OSDI 1999, sections 2.1 to 2.3. Simulated waits follow from the
mechanics of a slice and start at any moment, so half a sector is added to the models, which count from a sector's
boundary.
"""

import math

import numpy as np
import pandas as pd

from misspenalty.disks.drive.slices import uniform
from misspenalty_studies.vlog.virtual_log import eager_models as models
from misspenalty_studies.vlog.virtual_log._eager import FreeSpace
from misspenalty_studies.vlog.virtual_log.log import BLOCK_SECTORS

PATTERNS = 25  # free-space patterns per point


def fig1(name, kind, utilisations, trials, seed):
    """Measure the time to locate a free sector, and a free 4 KB block, against utilisation (Figure 1).

    Parameters
    ----------
    name : str
        Name of the drive in the table.
    kind : Description
        A slice.
    utilisations : list of float
    trials : int
        Arm positions per point, spread over `PATTERNS` random patterns of free sectors (blocks).
    seed : int

    Returns
    -------
    DataFrame
        ``drive, utilisation_pct``, ``track_model_us, cylinder_model_us``, ``simulated_us`` over the whole slice,
        ``block_simulated_us`` where whole aligned blocks are free or in use. Patterns in which nothing is free are left
        out of the simulated means, which are NaN if there is no other pattern.
    """
    tracks, heads, n = uniform(kind)
    sector_us = kind.mechanics.revolution_ns / n / 1000
    switch = kind.data["mechanics"]["head_switch_ms"] * 1000 / sector_us
    rng, rows = np.random.default_rng(seed), []
    for used in utilisations:
        waits = {1: [], BLOCK_SECTORS: []}
        for _ in range(PATTERNS):
            arm = rng.integers(0, tracks, -(-trials // PATTERNS)).astype(np.int32)
            now = rng.integers(0, 10**12, len(arm))
            for unit in waits:
                free = np.repeat(rng.random((tracks, n // unit)) >= used, unit, axis=1)
                space = FreeSpace(kind.mechanics, heads, unit, free)
                found = space.waits(arm, now, unit > 1)
                waits[unit].append(found[found >= 0])
        rows.append(
            {
                "drive": name,
                "utilisation_pct": 100 * used,
                "track_model_us": sector_us * (models.track_skip(n, 1 - used) + 0.5),
                "cylinder_model_us": sector_us * (models.cylinder_skip(n, 1 - used, heads, switch) + 0.5),
                "simulated_us": _mean_us(waits[1]),
                "block_simulated_us": _mean_us(waits[BLOCK_SECTORS]),
            }
        )
    return pd.DataFrame(rows)


def _mean_us(waits):
    """Return the mean of waits in ns, in us; NaN if there is none."""
    found = np.concatenate(waits)
    return found.mean() / 1000 if len(found) else math.nan


def fig2(name, kind, reserves, trials, seed):
    """Measure the mean time to locate a free sector when empty tracks are filled one after another (Figure 2).

    Parameters
    ----------
    name, kind, seed
        As in `fig1`.
    reserves : list of float
        Shares of a track left free when the arm moves on.
    trials : int
        Tracks filled per point.

    Returns
    -------
    DataFrame
        ``drive, reserve_pct, random_model_us`` (free sectors in random places), ``model_us`` (with the paper's
        correction), ``simulated_us``.
    """
    _, heads, n = uniform(kind)
    sector_ns = kind.mechanics.revolution_ns / n
    switch = 1e6 * kind.data["mechanics"]["head_switch_ms"]
    rng, rows = np.random.default_rng(seed), []
    for m in sorted({min(n - 1, round(share * n)) for share in reserves}):
        waited = 0
        for _ in range(trials):
            space = FreeSpace(kind.mechanics, heads, 1, np.ones((heads, n), bool))
            waited += space.fill(0, rng.integers(0, 10**12, n - m)).sum() / trials
        half = sector_ns / 2000
        rows.append(
            {
                "drive": name,
                "reserve_pct": 100 * m / n,
                "random_model_us": models.compactor_ns(n, m, switch, sector_ns, crowded=False) / 1000 + half,
                "model_us": models.compactor_ns(n, m, switch, sector_ns) / 1000 + half,
                "simulated_us": (switch + waited) / (n - m) / 1000,
            }
        )
    return pd.DataFrame(rows)
