"""Compare HAC with whole-page caching (FPC): compute traversal times for other processors, networks and devices.

Counts of fetches and times on the testbed are read from `results/hac`. Hit time, replacement, conversion and the
processor's part of a fetch scale with the processor; a page crosses the year's network and is read from the device.
"""

import math

import pandas as pd

from misspenalty_studies.whatif.machines import load
from misspenalty_studies.whatif.runs import any_device, tried

SERVER_US = ("client", "server")  # processor times of a fetch


class Conclusion:
    """The elapsed time that HAC with foreground replacement (HAC-FG) saves over FPC in hot traversals, as a gain in %.

    Parameters
    ----------
    elapsed : DataFrame
        ``results/hac/elapsed.csv``.
    parts : DataFrame
        ``results/hac/fig11.csv``: the time of a fetch by component.
    """

    name, study, threshold_pct = "HAC", "hac", 1.0

    def __init__(self, elapsed, parts):
        hot = elapsed[(elapsed["run"] == "hot") & elapsed["system"].isin(["hac-fg", "fpc"])]
        self.counts = {(row.traversal, row.system): row for row in hot.itertuples()}
        self.parts = parts.set_index(["traversal", "component"])["us"].to_dict()
        self.cases = tuple(dict.fromkeys(hot["traversal"]))

    def measures(self, machines, era, device, case):
        """Compute the times of a traversal with the two caches.

        Returns
        -------
        dict
            ``gain_pct``, the percentage by which HAC shortens the traversal; ``fetch_us``; ``overhead_us``, HAC's time
            for replacement and conversion per fetch; and ``overhead_share``, its ratio to ``fetch_us``.
        """
        faster = machines.faster(self.study, era)
        server = sum(self.parts[case, part] for part in SERVER_US) / faster
        network = era.fetch_us if device.name != "remote_memory" else 0.0
        fetch = server + network + device.read_us
        seconds = {}
        for system in ("hac-fg", "fpc"):
            row = self.counts[case, system]
            own = (row.hit_s + row.replacement_s + row.conversion_s) / faster
            seconds[system] = own + row.fetches * fetch / 1e6
        row = self.counts[case, "hac-fg"]
        own = (row.replacement_s + row.conversion_s) / faster
        overhead = 1e6 * own / row.fetches if row.fetches else math.nan
        return {
            "gain_pct": 100 * (1 - seconds["hac-fg"] / seconds["fpc"]),
            "fetch_us": fetch,
            "overhead_us": overhead,
            "overhead_share": overhead / fetch,
        }

    def checks(self):
        """Return triples of a quantity, its archived value and its computed value, on the testbed."""
        rows = []
        for case in self.cases:
            row = self.counts[case, "hac-fg"]
            fetch = sum(self.parts[case, part] for part in ("client", "server", "disk", "network"))
            rows.append((f"{case}, fetches of HAC, s", row.fetch_s, row.fetches * fetch / 1e6))
        return rows


def overheads(conclusion, machines):
    """Find the device times at which HAC's replacement and conversion take as long as a fetch.

    Returns
    -------
    DataFrame
        ``year, case, overhead_us``; ``device_us``, 0 if processors and network alone take longer than the overhead.
    """
    rows = []
    for year, era in machines.eras.items():
        for case in conclusion.cases:
            found = conclusion.measures(machines, era, any_device(0.0), case)
            rest = found["overhead_us"] - found["fetch_us"]
            rows.append({"year": year, "case": case, "overhead_us": found["overhead_us"], "device_us": max(rest, 0.0)})
    return pd.DataFrame(rows)


def job(machines, elapsed, parts):
    """Evaluate HAC on all machines (a workflow job).

    Parameters
    ----------
    machines, elapsed, parts : path-like
        ``machine.yaml``, ``results/hac/elapsed.csv`` and ``fig11.csv``.

    Returns
    -------
    dict of str to DataFrame
        See `misspenalty_studies.whatif.runs.tried`, and ``hac_overheads``.
    """
    found, conclusion = load(machines), Conclusion(pd.read_csv(elapsed), pd.read_csv(parts))
    return tried(conclusion, found) | {"hac_overheads": overheads(conclusion, found)}
