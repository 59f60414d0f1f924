"""Compute HAC's calibrated variant: a database whose page usage matches the paper's, and a fitted server cache.

The following was written down on 2026-11-27, before any table of the variant was made. By then, the study's conditions
had already given the verdicts with documents apart and a server's cache of 24, 26 or 30 MB, with the fit of the judged
database, and the hit rates of hot T1 with these caches (82.5, 93.5 and 100 %).

Three facts that the paper does not print are set by values of the paper that few claims read. Documents lie in an area
of their own: of the layouts compared, that one has the recollected size of the database and shares of a page that the
traversals use (``object_layout`` in ``data/calibration.yaml``). Pages are shuffled, as in the judged results
(``page_order``). The server's cache has, among the whole numbers of MB in the range of ``server_cache_mb``, the size at
which the hit rate of hot T1 is nearest to the printed one; claims that read that rate count as fitted. The installation
of an object is then fitted again, to the same share and over the same range as in the judged results. Nothing else
changes.

It would count against the variant if no size had misses within the 15 % that claims are allowed; if the size were at an
end of the range, or the installation at an end of its own; if the claims that it gains were only those that the fits
read; or if it lost as many as it gained. Whatever comes out, the judged results stay those of the other database: the
variant enters no total, and another variant is not tried instead of it. Orders within the noise of the seeds are
ties, as in the judged results.
"""

import pandas as pd

from misspenalty.errors import ParameterError
from misspenalty_studies.common.claims.ledger import load_calibration, read_ledger
from misspenalty_studies.common.claims.report import judge
from misspenalty_studies.hac import claims as hac_claims
from misspenalty_studies.hac import further, projections
from misspenalty_studies.hac.object_server.object_client import load_testbed
from misspenalty_studies.hac.seeds import averages, mean_over_seeds, samples
from misspenalty_studies.hac.tables import FIGURES, KEYS, Point, at_size, figure_tables, fit, runs_at

BY_SEED = (*FIGURES, "projections")


class Variant:
    """The variant's runs, from which its tables are computed for any size of the server's cache.

    Parameters
    ----------
    sweeps : sequence of path-like
        HAC's sweeps on the variant's database, in the order of `STATIC`.
    machine, calibration : path-like
        ``machine.yaml`` and ``data/calibration.yaml``.
    points_mb : dict of str to float
        Traversal -> client cache.
    sizes : dict
        Sizes of the variant's database.
    """

    def __init__(self, sweeps, machine, calibration, points_mb, sizes):
        self.points_mb = points_mb
        fits = {one.parameter: one for one in load_calibration(calibration) if one.study == "hac"}
        self.size, self.install = fits["server_cache_mb"], fits["install_instructions"]
        self.seeds = list(samples(sweeps, load_testbed(machine), sizes))  # the cost of installation is fitted later

    def server_fit(self):
        """Compute the hit rate of hot T1 with each size of the server's cache.

        Returns
        -------
        DataFrame
            ``server_cache_mb, chosen, target_pct, hit_pct, run_hit_pct``, means over seeds, with their intervals.
        """
        (published,) = self.size.published
        low, high = map(int, self.size.range)
        mb = self.points_mb["T1"]
        tables = []
        for one in self.seeds:
            point = Point(at_size(one.sweeps["T1"], mb), mb)
            found = {size: point.penalty(_priced(one.costs, size, 0)) for size in range(low, high + 1)}
            rows = [(size, priced.hit_pct, priced.run_hit_pct) for size, priced in found.items()]
            tables.append(pd.DataFrame(rows, columns=["server_cache_mb", "hit_pct", "run_hit_pct"]))
        return sized(mean_over_seeds(tables, ["server_cache_mb"]), published["value"])

    def installation(self, server_mb):
        """Fit the number of instructions that it takes to install an object, given the size of the server's cache; see
        `misspenalty_studies.hac.tables.fit`."""
        (published,) = self.install.published
        runs = [(one.sweeps["T1"], _priced(one.costs, server_mb)) for one in self.seeds]
        return fit(runs, self.points_mb["T1"], published["value"], *self.install.range)

    def tables(self, server_mb, install, least_share, iterations):
        """Compute Figures 9 to 11 and the projections, as means over seeds and for each seed.

        Parameters
        ----------
        server_mb, install : float
            Size of the server's cache, MB, and number of instructions that it takes to install an object.
        least_share : float
            As in `misspenalty_studies.hac.tables.fig9`.
        iterations : int
            Iterations of the traversal without recursion.

        Returns
        -------
        dict of str to DataFrame
            The tables of `BY_SEED`, and each of them as ``<item>_by_seed``.
        """
        each = []
        for one in self.seeds:
            costs = _priced(one.costs, server_mb, install)
            others = projections.other_runs(one.data, self.points_mb, iterations, costs.testbed)
            projected = projections.projections(runs_at(one.sweeps, self.points_mb), costs, others)
            each.append(figure_tables(one.sweeps, self.points_mb, costs, least_share) | {"projections": projected})
        return averages(each, KEYS, [one.seed for one in self.seeds], BY_SEED)

    def hit_time(self, server_mb, install, hit_time_mb):
        """Price Table 3 on the variant's database, as means over seeds."""
        every = [further.hit_time(s.data, hit_time_mb, _priced(s.costs, server_mb, install)) for s in self.seeds]
        return mean_over_seeds(every, KEYS["hit_time"])


def sized(rates, target_pct):
    """Mark the size of the server's cache whose hit rate is nearest to the printed one.

    Parameters
    ----------
    rates : DataFrame
        ``server_cache_mb, hit_pct`` and other columns, in ascending order of size.
    target_pct : float

    Returns
    -------
    DataFrame
        The same rows with two more columns, ``chosen`` and ``target_pct``.

    Raises
    ------
    ParameterError
        The printed rate is not between the rates of the smallest and the largest size.
    """
    size, hit = rates["server_cache_mb"], rates["hit_pct"]
    if not hit.iloc[0] <= target_pct <= hit.iloc[-1]:
        raise ParameterError(
            f"with a server's cache of {size.iloc[0]:g} to {size.iloc[-1]:g} MB, {hit.iloc[0]:.1f} to "
            f"{hit.iloc[-1]:.1f} % of T1's fetches hit, but the published rate is {target_pct:g} %; change the range "
            "of server_cache_mb in data/calibration.yaml"
        )
    table = rates.copy()
    table.insert(1, "chosen", rates.index == (hit - target_pct).abs().idxmin())
    table.insert(2, "target_pct", target_pct)
    return table


def _priced(costs, server_mb, install=None):
    values = {"server_cache_mb": server_mb} | ({} if install is None else {"install_instructions": install})
    return costs._replace(testbed=costs.testbed.with_values(**values))


def calibrated(sweeps, machine, calibration, points_mb, least_share, iterations, hit_time_mb, sizes):
    """Fit the variant's two parameters and compute its tables (a workflow job).

    Parameters
    ----------
    sweeps, machine, calibration, points_mb, sizes
        As in `Variant`.
    least_share : float
    iterations : int
        As in `Variant.tables`.
    hit_time_mb : float
        Client cache of Table 3.

    Returns
    -------
    dict of str to DataFrame
        ``server_fit, fit, fig9, fig10, fig11, projections, hit_time``, and ``<item>_by_seed`` for each table in
        `BY_SEED`.
    """
    variant = Variant(sweeps, machine, calibration, points_mb, sizes)
    sized = variant.server_fit()
    server_mb = float(sized.loc[sized["chosen"], "server_cache_mb"].iloc[0])
    fitted = variant.installation(server_mb)
    install = float(fitted["value"].iloc[0])
    return {
        "server_fit": sized,
        "fit": fitted,
        **variant.tables(server_mb, install, least_share, iterations),
        "hit_time": variant.hit_time(server_mb, install, hit_time_mb),
    }


def claims_over_size(
    sweeps, machine, calibration, sized, hit_time, claims, ledger, points_mb, least_share, iterations, server_mb, sizes
):
    """Count the claims that the variant gains and loses with several sizes of the server's cache (a workflow job).

    The installation cost is fitted again for each size, and each size is judged by the rules of the variant.

    Parameters
    ----------
    sweeps, machine, calibration, points_mb, least_share, iterations, sizes
        As in `calibrated`.
    sized, hit_time : path-like
        The tables ``server_fit`` and ``hit_time``; the latter does not depend on the server.
    claims : path-like
        ``results/claims.csv``, which has the verdicts on the judged results.
    ledger : path-like
        ``studies/hac/ledger.yaml``.
    server_mb : sequence of float
        Sizes to judge in addition to the chosen one.

    Returns
    -------
    DataFrame
        ``server_cache_mb, chosen, hit_pct, install_instructions, reproduced, tie, gained, lost, net``; only claims are
        counted, not the other entries of the ledger.
    """
    variant, sized = Variant(sweeps, machine, calibration, points_mb, sizes), pd.read_csv(sized)
    chosen = float(sized.loc[sized["chosen"], "server_cache_mb"].iloc[0])
    rates = sized.set_index("server_cache_mb")["hit_pct"]
    judged = pd.read_csv(claims, keep_default_na=False).set_index("id")["verdict"]
    entries, priced, rows = read_ledger(ledger), pd.read_csv(hit_time), []
    for size in sorted({*map(float, server_mb), chosen}):
        install = float(variant.installation(size)["value"].iloc[0])
        tables = variant.tables(size, install, least_share, iterations) | {"hit_time": priced}
        verdicts = judge(entries, {"hac": hac_claims}, {f"hac_{item}": table for item, table in tables.items()})
        verdicts = verdicts[verdicts["role"] == "claim"].set_index("id")["verdict"]
        here, there = verdicts == "reproduced", judged.reindex(verdicts.index) == "reproduced"
        gained, lost = int((here & ~there).sum()), int((there & ~here).sum())
        counts = (int(here.sum()), int((verdicts == "tie").sum()), gained, lost, gained - lost)
        rows.append((size, size == chosen, rates.get(size), install, *counts))
    columns = ["server_cache_mb", "chosen", "hit_pct", "install_instructions"]
    return pd.DataFrame(rows, columns=[*columns, "reproduced", "tie", "gained", "lost", "net"])
