"""Compute the HAC study's projections to other machines, networks, servers, programs and systems, as in section 4.4.

In each case, one or several of these are replaced, and the points of Figure 9 are priced or run again. Cases that the
paper names without a number (a faster network, many clients) get their numbers from ``studies/hac/machine.yaml``.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from misspenalty_studies.hac.object_server.object_client import Prices
from misspenalty_studies.hac.objects.format import FIRST_PAGE, references_by_page
from misspenalty_studies.hac.prices import client_us
from misspenalty_studies.hac.runs import run
from misspenalty_studies.hac.tables import Point

SERVER_HIT = 0.23  # hit rate of file servers according to Blaze, which section 4.4 assumes (setup, not a result)


class OtherRuns(NamedTuple):
    """Runs and counts of references that the projections need in addition to the runs of Figure 9.

    Attributes
    ----------
    iterative : Point
        HAC's T1 without recursion.
    mapped, cold : Point
        Runs on a cache of whole pages (CLOCK): T6, and a cold T1.
    entries, pointers : int array
        Number of other pages to which each page refers, and number of references on it.
    """

    iterative: Point
    mapped: Point
    cold: Point
    entries: np.ndarray
    pointers: np.ndarray


def other_runs(data, points_mb, iterations, testbed):
    """Perform, on one database, the runs that the projections need in addition to those of Figure 9.

    Parameters
    ----------
    data : Database
    points_mb : dict of str to float
        Cache sizes of Figure 9.
    iterations : int
        Iterations of the traversal without recursion.
    testbed : ObjectServerTestbed

    Returns
    -------
    OtherRuns
    """
    pointers, entries = references_by_page(data)

    def point(system, traversal, size, repeats):
        return Point(run(data, system, traversal, size, repeats, **testbed.record).fetches, size)

    return OtherRuns(
        point("hac", "T1 iterative", points_mb["T1"], iterations),
        point("clock", "T6", points_mb["T6"], 3),
        point("clock", "T1", points_mb["T1"], 1),
        entries,
        pointers,
    )


PENTIUM_PRO = {"pentium_pro": "ppro", "pentium_pro_larger_l2": "ppro_larger_l2"}  # case -> processor


def projections(runs, costs, others, *, brief=False):
    """Compute every case of the projections.

    Parameters
    ----------
    runs : dict of str to Point
        HAC's runs at the points of Figure 9, by traversal.
    costs : Costs
    others : OtherRuns
    brief : bool
        Whether to leave out other networks, several clients and a busy processor.

    Returns
    -------
    DataFrame
        ``case, traversal, quantity, value``.
    """
    rows = _Rows(runs, costs)
    base = rows.everywhere()
    for name, one in base.items():
        rows.add("fig9_point", name, **_counted(one))
        if not brief:  # a processor that is always busy hides no replacement
            rows.add("busy_processor", name, replacement_visible_us=one.us["replacement"])
    _servers(rows, base, brief)
    _processors(rows, base)
    stack = client_us(others.iterative.fetches, others.iterative.cache_mb, costs)["stack_scanning"]
    rows.add("iterative_traversal", "T1", stack_scanning_us=stack)
    _quickstore(rows, others, costs)
    return rows.table()


def processors(runs, costs):
    """Compute those quantities of the Pentium Pro cases that depend on the client alone.

    Parameters
    ----------
    runs, costs
        As in `projections`.

    Returns
    -------
    DataFrame
        ``case, traversal, quantity, value``: replacement and conversion, in per cent of the Alpha's.
    """
    rows = []
    for name, one in runs.items():
        alpha = client_us(one.fetches, one.cache_mb, costs)
        for case, which in PENTIUM_PRO.items():
            found = client_us(one.fetches, one.cache_mb, costs, costs.testbed.processor(which))
            rows += [
                (case, name, f"{part}_over_alpha_pct", 100 * found[part] / alpha[part])
                for part in ("conversion", "replacement")
            ]
    return pd.DataFrame(rows, columns=["case", "traversal", "quantity", "value"])


class _Rows:
    """Collects the rows of the table and keeps the points from which they are computed."""

    def __init__(self, runs, costs):
        self.runs, self.costs, self.found = runs, costs, []

    def add(self, case, traversal, **values):
        self.found += [(case, traversal, quantity, value) for quantity, value in values.items()]

    def everywhere(self, **change):
        """Return the penalties of all traversals; `change` has parameters of `penalty`."""
        return {name: run.penalty(self.costs, **change) for name, run in self.runs.items()}

    def table(self):
        return pd.DataFrame(self.found, columns=["case", "traversal", "quantity", "value"])


def _counted(one):
    c = one.counts
    return {
        "server_cache_hit_pct": one.hit_pct,
        "installed_objects_per_fetch": c["installed"],
        "swizzled_pointers_per_fetch": c["swizzled"],
        "surviving_fraction_of_page": _quotient(c["page_survivors"], c["page_objects"]),
        "whole_page_evictions_pct": _quotient(100 * c["whole_evictions"], c["frames_compacted"]),
        **_ratio(one),
    }


def _quotient(part, whole):
    """Return part / whole; NaN if the whole is 0, for example if the few hot fetches find free frames."""
    return part / whole if whole else np.nan


def _ratio(one):
    return {
        "replacement_plus_conversion_over_fetch_pct": 100
        * (one.us["replacement"] + one.us["conversion"])
        / one.us["fetch"]
    }


def _servers(rows, base, brief):
    """Add the cases of other servers and networks, and one of a faster network with the changes that offset it."""
    testbed = rows.costs.testbed
    slower, faster = testbed["slower_mbit_per_s"], testbed["faster_mbit_per_s"]
    clients = testbed["shared_clients"]
    offsets = {"rate": faster, "hit_share": SERVER_HIT, "clients": clients, "processor": testbed.processor("ppro")}
    cases = {"server_hit_23": {"hit_share": SERVER_HIT}}
    others = {
        "slower_network": {"rate": slower},
        "faster_network": {"rate": faster},
        "shared_server": {"clients": clients},
        "faster_network_and_offsets": offsets,
    }
    for case, change in (cases if brief else cases | others).items():
        for name, one in rows.everywhere(**change).items():
            rows.add(case, name, **_ratio(one), fetch_us=one.us["fetch"])
            if case == "server_hit_23":
                share = 100 * base[name].us["replacement"] / one.us["disk"]
                rows.add(case, name, server_cache_hit_pct=one.hit_pct, replacement_over_disk_pct=share)


def _processors(rows, base):
    testbed = rows.costs.testbed
    for case, which in PENTIUM_PRO.items():
        for name, one in rows.everywhere(processor=testbed.processor(which)).items():
            alpha = base[name].us
            rows.add(
                case,
                name,
                conversion_over_alpha_pct=100 * one.us["conversion"] / alpha["conversion"],
                replacement_over_alpha_pct=100 * one.us["replacement"] / alpha["replacement"],
                **_ratio(one),
            )


def _quickstore(rows, others, costs):
    """Add QuickStore's conversion: for hot T6 with pages at their recorded addresses, and for cold T1 with pages at
    these and at other addresses."""
    prices, cold = Prices(costs.testbed), others.cold.fetches
    in_t6 = _page_conversion(others.mapped.fetches, 1, others.entries, prices)
    rows.add("quickstore_mapped", "T6", conversion_us=in_t6 / 1000)
    pages = cold.loc[cold["page"] > 0, "page"].to_numpy() - FIRST_PAGE
    as_recorded = _page_conversion(cold, 0, others.entries, prices)
    correction = prices.corrected_ns(others.pointers[pages], others.cold.cache_mb * 2**20).mean()
    rows.add("quickstore_mapped", "T1", conversion_us=as_recorded / 1000)
    one = others.cold.penalty(costs, cold=True)
    # QuickStore replaces whole pages and installs nothing, so only fetches, faults and the traversal remain.
    total_s = one.hit_s + one.fetches * (one.us["fetch"] + as_recorded / 1000) / 1e6
    rows.add(
        "quickstore_unmapped",
        "T1",
        conversion_us=(as_recorded + correction) / 1000,
        total_time_increase_pct=100 * one.fetches * correction / 1e9 / total_s,
    )


def _page_conversion(fetches, iteration, entries, prices):
    """Return the mean conversion time, in ns, of a page that is mapped at its recorded address."""
    chosen = fetches.loc[(fetches["page"] > 0) & (fetches["iteration"] == iteration), "page"].to_numpy()
    return prices.mapped_ns(entries[chosen - FIRST_PAGE]).mean()
