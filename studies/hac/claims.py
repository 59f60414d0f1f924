"""Record what the tables of the HAC study show for each statement of the paper."""

import numpy as np
import pandas as pd
import xarray as xr

from misspenalty_studies.common.claims.numbers import below
from misspenalty_studies.common.claims.tables import Table, cross

POINT = {"T6": 0.16, "T1-": 5, "T1": 12, "T1+": 20}  # client cache of Figure 9, MB
TRAVERSALS = list(POINT)
ID = {"T6": "t6", "T1-": "t1minus", "T1": "t1", "T1+": "t1plus"}
LINES = ("traversal", "exception", "concurrency", "usage", "residency", "swizzling", "indirection")  # lines of Table 3
RATIO = "replacement_plus_conversion_over_fetch_pct"
QUANTITIES = {  # quantities of the projections, by case
    "fig9_point": (
        "server_cache_hit_pct",
        "installed_objects_per_fetch",
        "swizzled_pointers_per_fetch",
        "surviving_fraction_of_page",
        "whole_page_evictions_pct",
    ),
    "busy_processor": ("replacement_visible_us",),
    "server_hit_23": ("server_cache_hit_pct", "replacement_over_disk_pct"),
    "slower_network": (RATIO,),
    "faster_network": (RATIO,),
    "faster_network_and_offsets": (RATIO,),
    "shared_server": ("fetch_us",),
    "pentium_pro": ("conversion_over_alpha_pct", "replacement_over_alpha_pct"),
    "pentium_pro_larger_l2": ("replacement_over_alpha_pct",),
}
# The paper prints these cases for only two traversals; some claims read every traversal that the table has.
NAMED = dict.fromkeys(("server_hit_23", "pentium_pro", "pentium_pro_larger_l2"), ("T1-", "T1"))
TABLES = {
    "projections": Table(
        ("case", "traversal", "quantity"),
        ("value",),
        (
            {"case": "iterative_traversal", "traversal": "T1", "quantity": "stack_scanning_us"},
            *(
                row
                for case, quantities in QUANTITIES.items()
                for row in cross(case=(case,), traversal=NAMED.get(case, TRAVERSALS), quantity=quantities)
            ),
        ),
        by_seed=True,
    ),
    "fig11": Table(
        ("traversal", "component"),
        ("us",),
        cross(traversal=TRAVERSALS, component=("client", "server", "disk", "network")),
        by_seed=True,
    ),
    "fig10": Table(
        ("traversal", "component"),
        ("us",),
        cross(traversal=TRAVERSALS, component=("usage_computation", "compaction", "stack_scanning")),
        by_seed=True,
    ),
    "fig9": Table(
        ("traversal", "cache_mb", "component"),
        ("us",),
        tuple(
            {"traversal": traversal, "cache_mb": mb, "component": component}
            for traversal, mb in POINT.items()
            for component in ("fetch", "replacement", "conversion", "total")
        ),
        by_seed=True,
    ),
    "hit_time": Table(("traversal", "line"), ("seconds",), cross(traversal=("T1", "T6"), line=LINES)),
}


def claims(record, tables):
    """Record every claim of the ledger whose id begins with ``hac``."""
    sweep = tables["fig9"].us
    at_point = [POINT[traversal] == mb for traversal, mb, _ in sweep.index]
    fig9, fig10, fig11 = (
        times.unstack("component").loc[TRAVERSALS]
        for times in (sweep[at_point].droplevel("cache_mb"), tables["fig10"].us, tables["fig11"].us)
    )
    fetch, replacement, conversion = (fig9[part] for part in ("fetch", "replacement", "conversion"))
    _penalties(record, sweep, fig9, fetch, replacement, conversion)
    _parts(record, fig10, fig11, fetch, replacement + conversion)
    _projections(record, tables["projections"].value, fig10, fetch, replacement, conversion)
    _hit_time(record, tables["hit_time"].seconds)
    record.no_table("hac.setup.client", "hac.setup.ppro", "hac.setup.single_client", "hac.setup.hot_static")
    # For these claims, the paper cites another paper's measurements on another machine.
    record.no_table(*(f"hac.proj.quickstore_{name}" for name in ("mapping", "unmapped", "cold_t1")))


def _curve(sweep, traversal):
    """Return the replacement overhead over the sizes swept; omit the paper's size if hot iterations fetch almost
    nothing there."""
    curve = sweep.xs((traversal, "replacement"), level=("traversal", "component"))
    return curve.dropna() if curve.count() > 1 else curve


def _penalties(record, sweep, fig9, fetch, replacement, conversion):
    """Record Figure 9: the parts of the miss penalty at the four points."""
    share = 100 * conversion / fetch
    for traversal, id in ID.items():
        record.peak(f"hac.fig9.max_point.{id}", _curve(sweep, traversal))
        record.value(f"hac.fig9.replacement_over_fetch.{id}", (100 * replacement / fetch)[traversal], neutral=100)
        both = fig9.loc[traversal, ["replacement", "fetch"]]
        record.order(f"hac.fig9.replacement_below_fetch.{id}", both)
        if traversal != "T1+":
            record.value(f"hac.fig9.conversion_over_fetch.{id}", share[traversal], neutral=100)
            three = fig9.loc[traversal, ["conversion", "replacement", "fetch"]]
            record.order(f"hac.fig9.conversion_smallest.{id}", three)
    record.bound("hac.fig9.conversion_over_fetch.t1plus", share["T1+"])
    record.bound("hac.fig9.conversion_low", share[:3])
    smaller = np.minimum(replacement, fetch)
    record.compared("hac.fig9.conversion_not_smallest.t1plus", conversion["T1+"], ">", smaller["T1+"])
    record.equal("hac.fig9.identity", fig9["total"], fetch + replacement + conversion)
    record.bound("hac.fig9.background_free", replacement, limit=fetch)
    record.trend("hac.fig9.conversion_trend", conversion)
    record.trend("hac.fig9.replacement_ratio_trend", replacement / fetch)
    record.order("hac.fig9.fetch_t1plus_below_t1", fetch[["T1+", "T1"]])


def _parts(record, fig10, fig11, fetch, overhead):
    """Record Figures 10 and 11: the parts of replacement and of a fetch."""
    stack, disk = fig10["stack_scanning"], fig11["disk"]
    replaced, fetched = (parts.sum(axis="columns", skipna=False) for parts in (fig10, fig11))
    far, near = fig11["network"] + disk, fig11["client"] + fig11["server"]
    for traversal, id in ID.items():
        record.order(f"hac.fig10.stack_scanning_small.{id}", fig10.loc[traversal])
        percent = {"network and disk, % of the fetch": (100 * far / fetched)[traversal]}
        record.compared(f"hac.fig11.net_disk_dominate.{id}", far[traversal], ">", near[traversal], report=percent)
        share = {"disk, share of the fetch": (disk / fetched)[traversal]}
        record.order(f"hac.fig11.disk_small.{id}", fig11.loc[traversal, ["disk", "network"]], report=share)
    record.trend("hac.fig10.total_trend", replaced[:3])
    record.trend("hac.fig10.compaction_trend", fig10["compaction"][:3])
    record.order("hac.fig10.total_exception", replaced[["T1+", "T1"]])
    record.value("hac.fig10.stack_scanning_share.t1", (100 * stack / replaced)["T1"])
    record.order("hac.fig10.stack_scanning_highest.t1", stack / replaced)
    record.equal("hac.fig11.sum", fetched, fetch)
    record.value("hac.fig11.disk_share.t1", (100 * disk / fetched)["T1"])
    record.bound("hac.fig9.dominated", 100 * far / (fetch + overhead))


def _projections(record, values, fig10, fetch, replacement, conversion):
    """Record section 4.4: the paper's projections to other processors, networks and servers."""

    def over_traversals(case, quantity):
        found = values.xs((case, quantity), level=("case", "quantity"))
        return found.reindex([traversal for traversal in TRAVERSALS if traversal in found.index])

    ratio = 100 * (replacement + conversion) / fetch
    record.compared("hac.proj.slower_network", over_traversals("slower_network", RATIO), "<", ratio)
    record.compared("hac.proj.faster_network", over_traversals("faster_network", RATIO), ">", ratio)
    record.bound("hac.proj.offset", over_traversals("faster_network_and_offsets", RATIO), limit=ratio)
    cases = values.xs(RATIO, level="quantity")
    cases = cases[cases.index.get_level_values("case") != "fig9_point"]
    lower = below(cases.to_xarray(), ratio.to_xarray())
    each = [lower.sel(case=case).sel(traversal=list(cases[case].index)).min(skipna=False) for case in lower.case.values]
    record.compared("hac.proj.most_configurations", xr.concat(each, "case").mean(skipna=False), ">", 0.5)
    record.compared("hac.proj.shared_server", over_traversals("shared_server", "fetch_us"), ">", fetch)
    visible = over_traversals("busy_processor", "replacement_visible_us")
    record.bound("hac.fig9.background_bound", visible, limit=(0, replacement))

    def at_point(quantity):
        return over_traversals("fig9_point", quantity)

    record.trend("hac.proj.installed_per_page", at_point("installed_objects_per_fetch"))
    record.trend("hac.proj.swizzled_per_page", at_point("swizzled_pointers_per_fetch"))
    record.trend("hac.proj.surviving_fraction", at_point("surviving_fraction_of_page")[:3])
    whole = at_point("whole_page_evictions_pct")[["T1", "T1+"]]
    record.order("hac.proj.whole_page_evictions", whole)
    record.order("hac.proj.server_hit_lowest", at_point("server_cache_hit_pct"))
    record.value("hac.proj.server_hit.t1", at_point("server_cache_hit_pct")["T1"])
    record.value("hac.proj.real_hit_rate", over_traversals("server_hit_23", "server_cache_hit_pct"))

    iterative = values["iterative_traversal", "T1", "stack_scanning_us"]
    recursive = fig10.at["T1", "stack_scanning"]
    record.compared("hac.proj.stack_other_applications", iterative, "<", recursive)

    alpha = ["conversion_over_alpha_pct", "replacement_over_alpha_pct"]
    newer = xr.concat(
        [over_traversals("pentium_pro", quantity).to_xarray() for quantity in alpha], pd.Index(alpha, name="quantity")
    )
    record.bound("hac.proj.newer_machines", newer.transpose("traversal", "quantity"))
    disk = over_traversals("server_hit_23", "replacement_over_disk_pct")
    larger = over_traversals("pentium_pro_larger_l2", alpha[1])
    named = list(NAMED["pentium_pro"])
    record.compared("hac.proj.larger_l2", larger[named], "<", newer.sel(traversal=named, quantity=alpha[1]))
    for traversal in ("T1-", "T1"):
        at, id = {"traversal": traversal}, ID[traversal]
        part = {name: newer.sel(at).sel(quantity=f"{name}_over_alpha_pct") for name in ("conversion", "replacement")}
        record.value(f"hac.proj.replacement_over_disk.{id}", disk[traversal], neutral=100)
        record.value(f"hac.proj.ppro_conversion.{id}", part["conversion"], neutral=100)
        record.value(f"hac.proj.ppro_replacement.{id}", part["replacement"], neutral=100)
        record.order(f"hac.proj.ppro_order.{id}", part)


def _hit_time(record, seconds):
    """Record Table 3: the time of hot traversals without misses, line by line; T6 is printed in milliseconds."""
    for traversal, units in (("T1", 1), ("T6", 1000)):
        times = units * seconds[traversal]
        for line in LINES:
            record.value(f"hac.table3.{line}.{ID[traversal]}", times[line])
        record.value(f"hac.table3.total.{ID[traversal]}", times[list(LINES)].sum(skipna=False))


def logged(server, fit):
    """Return notes: checks of claims that no table decides, the fit, and T1's hit rate over all iterations.

    Parameters
    ----------
    server : DataFrame
        From `misspenalty_studies.hac.further.server`.
    fit : DataFrame
        From `misspenalty_studies.hac.tables.fit`.

    Returns
    -------
    DataFrame
        ``id`` of the claim, ``note``.
    """
    row = fit.iloc[0]
    hits = server[server["server_cache_mb"] == server["server_cache_mb"].max()].set_index("traversal").loc[["T1"]]
    notes = {
        "hac.setup.client": "checked: studies/hac/machine.yaml, client_mhz",
        "hac.setup.ppro": "checked: studies/hac/machine.yaml, ppro_mhz and ppro_l2_kb",
        "hac.setup.single_client": "checked: one client, except in the projection to a shared server",
        "hac.setup.hot_static": "checked: hot iterations of the static traversals",
        "hac.fig9.conversion_over_fetch.t1": f"fit: {row['reached']:.4f} % for {row['target']:g} % at "
        f"{row['value']:.1f} instructions per object installed",
        "hac.proj.server_hit.t1": "obtained over cold and hot iterations together: "
        f"{hits.loc['T1', 'run_hit_pct'].iloc[0]:.1f} %",
    }
    return pd.DataFrame({"id": notes.keys(), "note": notes.values()})


def logged_calibrated(server, fit):
    """Return the results of the calibrated variant's fits, as notes on the claims whose published values are the
    fits' targets.

    Parameters
    ----------
    server, fit : DataFrame
        ``server_fit`` and ``fit`` of `misspenalty_studies.hac.calibrated.calibrated`.

    Returns
    -------
    DataFrame
        ``id`` of the claim, ``note``.
    """
    row, size = fit.iloc[0], server[server["chosen"]].iloc[0]
    notes = {
        "hac.fig9.conversion_over_fetch.t1": f"fit: {row['reached']:.4f} % for {row['target']:g} % at "
        f"{row['value']:.1f} instructions per object installed",
        "hac.proj.server_hit.t1": f"fit: {size['hit_pct']:.1f} % for {size['target_pct']:g} % with a server's cache of "
        f"{size['server_cache_mb']:g} MB",
    }
    return pd.DataFrame({"id": notes.keys(), "note": notes.values()})
