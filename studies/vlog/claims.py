"""Record what the tables of the virtual-log study show for each statement of the paper."""

import itertools

import pandas as pd

from misspenalty_studies.common.claims.tables import Table, cross
from misspenalty_studies.vlog import conditions, runs

PLATFORMS, PARTS, SYSTEMS = list(conditions.PLATFORMS), list(runs.COMPONENTS), list(runs.SYSTEMS)
TABLES = {
    "table2": Table(("platform",), ("speedup",), cross(platform=PLATFORMS)),
    "fig9": Table(
        ("platform", "system", "component"),
        ("ms",),
        cross(platform=PLATFORMS, system=SYSTEMS, component=[*PARTS, "total"]),
    ),
}


def claims(record, tables):
    """Record every claim of the ledger whose id begins with ``vlog``."""
    speedup = tables["table2"].speedup.to_xarray().sel(platform=PLATFORMS)
    ms = tables["fig9"].ms.to_xarray().sel(platform=PLATFORMS, system=SYSTEMS)
    parts = ms.sel(component=PARTS)
    whole, locate = parts.sum("component", skipna=False), ms.sel(component="locate")
    old, new = whole.sel(system="update_in_place"), whole.sel(system="virtual_log")
    hp, seagate, ultra = PLATFORMS

    record.order("vlog.table2.order", speedup, "platform")
    record.trend("vlog.table2.trend", speedup)
    record.order("vlog.table2.new_disk", speedup.sel(platform=[hp, seagate]), "platform")
    record.order("vlog.table2.new_host", speedup.sel(platform=[seagate, ultra]), "platform")
    record.bound("vlog.table2.almost_ten", speedup.sel(platform=ultra), neutral=1)
    for platform in PLATFORMS:
        at = {"platform": platform}
        record.bound(f"vlog.table2.faster.{platform}", speedup.sel(at))
        record.equal(f"vlog.consistency.{platform}", speedup.sel(at), (old / new).sel(at))
        record.order(f"vlog.fig9.locate_reduced.{platform}", locate.sel(at), "system")
        located = locate.sel(at).sel(system="update_in_place") / locate.sel(at).sel(system="virtual_log")
        record.compared(f"vlog.fig9.below_model.{platform}", (old / new).sel(at), "<", located)
    for platform in (hp, seagate):
        record.order(f"vlog.fig9.low_gain.{platform}", speedup.sel(platform=[platform, ultra]), "platform")

    record.equal("vlog.fig9.components", ms.sel(component="total"), whole)
    greatest = parts.max("component", skipna=False) / whole
    share = (locate / whole).sel(system="update_in_place")
    transfer = share + (ms.sel(component="transfer") / whole).sel(system="update_in_place")
    record.trend("vlog.fig9.uip_mechanical_trend", share, report={"with transfer": transfer})
    record.trend(
        "vlog.fig9.vl_balanced",
        greatest.sel(system="virtual_log", platform=[seagate, ultra]),
        report=_evenness(parts.sel(system="virtual_log", platform=[seagate, ultra])),
    )
    record.trend("vlog.fig9.rides_bandwidth", new)
    old_ultra, log_seagate = (
        parts.sel(platform=ultra, system="update_in_place"),
        parts.sel(platform=seagate, system="virtual_log"),
    )
    record.order("vlog.fig9.uip_mechanical_dominant", old_ultra, "component")
    record.order("vlog.fig9.vl_host_limited", log_seagate, "component")
    record.order("vlog.fig9.vl_balance_vs_uip", greatest.sel(platform=ultra), "system")
    steps = {
        system: pd.Series(
            [
                float(whole.sel(platform=a, system=system) / whole.sel(platform=b, system=system))
                for a, b in itertools.pairwise(PLATFORMS)
            ]
        )
        for system in SYSTEMS
    }
    record.order("vlog.fig9.uip_slower_gain", steps)
    record.no_table("vlog.fig9.simulator_share", "vlog.setup.utilisation")


def _evenness(parts):
    """Return the entropy and the variance of the components' shares by platform, as two other measures of balance."""
    shares = (parts / parts.sum("component", skipna=False)).transpose("platform", "component")
    found = conditions.balance(shares.to_numpy())
    platforms = shares.platform.to_numpy()
    return {
        f"{name} of the shares, which {way} if they are better balanced": pd.Series(found[name], platforms)
        for name, way in (("entropy", "grows"), ("variance", "falls"))
    }


def logged(latencies, platforms, utilisation):
    """Return notes with the values obtained for claims that no table decides.

    Parameters
    ----------
    latencies : DataFrame
        The table of Figure 9.
    platforms : iterable of str
        Platforms that were run.
    utilisation : float
        Share of the disk's blocks that the file occupies.

    Returns
    -------
    DataFrame
        ``id`` of the claim, ``note``.
    """
    notes = {
        "vlog.setup.utilisation": f"obtained: {100 * utilisation:g} % of the disk's 4 KB blocks belong to the file, "
        f"{100 * (utilisation + runs.DF_RESERVE):g} % with the reserve that df counts as used, on "
        + ", ".join(platforms),
        "vlog.fig9.simulator_share": "does not apply: our simulator does not run within the measured path, so no "
        f"time of its own enters 'other' ({_other(latencies)})",
    }
    return pd.DataFrame({"id": notes.keys(), "note": notes.values()})


def _other(latencies):
    part = latencies[(latencies["component"] == "other") & (latencies["system"] == "virtual_log")]
    return ", ".join(f"{row.platform} {row.ms:.2f} ms" for row in part.itertuples())
