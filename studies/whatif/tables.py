"""Compute the what-if's tables: summarise the cells, the crossovers and the parameters of all conclusions."""

import pandas as pd

from misspenalty.io.documents import read_yaml
from misspenalty_studies.whatif import epcm, hac, mq, sarc, vlog

CONCLUSIONS = {module.Conclusion.study: module.Conclusion for module in (hac, mq, epcm, vlog, sarc)}


def gathered(tables):
    """Concatenate the tables of all conclusions.

    Parameters
    ----------
    tables : dict of str to DataFrame
        By study.

    Returns
    -------
    DataFrame
        All rows, with an additional column ``conclusion``.
    """
    return pd.concat([table.assign(conclusion=study) for study, table in tables.items()], ignore_index=True)


def summary(tables):
    """Summarise which conclusions still hold, by year and device.

    Parameters
    ----------
    tables : dict of str to DataFrame
        By study, from `misspenalty_studies.whatif.runs.cells`.

    Returns
    -------
    DataFrame
        ``conclusion, year, device, device_us, cases, cases_holding`` (number of cases in which the conclusion holds),
        ``cases_saturated`` (number of cases in which the device is saturated, which do not affect the verdict),
        ``gain_low_pct, gain_high_pct`` (over the other cases), ``verdict`` and ``robust``. The verdict is
        ``saturated`` if there are no other cases; otherwise it is ``holds`` if the conclusion holds in all of them,
        ``partly`` if it holds in some, and ``reversed`` if it holds in none. `robust` says whether every case has the
        same verdict at both ends of each parameter's range.
    """
    rows = []
    for study, table in tables.items():
        limit = CONCLUSIONS[study].threshold_pct
        for (year, device), part in table.groupby(["year", "device"], sort=False):
            low, high = (part[name] >= limit for name in ("lowest_pct", "highest_pct"))
            holding, decided = int(part["holds"].sum()), int(part["gain_pct"].notna().sum())
            verdict = {decided: "holds", 0: "reversed"}.get(holding, "partly") if decided else "saturated"
            rows.append(
                {
                    "conclusion": study,
                    "year": year,
                    "device": device,
                    "device_us": part["device_us"].iloc[0],
                    "cases": len(part),
                    "cases_holding": holding,
                    "cases_saturated": len(part) - decided,
                    "gain_low_pct": part["gain_pct"].min(),
                    "gain_high_pct": part["gain_pct"].max(),
                    "verdict": verdict,
                    "robust": bool((low == high).all()),
                }
            )
    return pd.DataFrame(rows)


def crossovers(tables, overheads):
    """Return the device times at which conclusions reverse.

    Parameters
    ----------
    tables : dict of str to DataFrame
        By study, from `misspenalty_studies.whatif.runs.crossovers`.
    overheads : DataFrame
        From `misspenalty_studies.whatif.hac.overheads`.

    Returns
    -------
    DataFrame
        ``conclusion, threshold, year, case, device_us, pays``.
    """
    found = gathered(tables)
    found["threshold"] = found["gain_pct"].map("gain of {:g} %".format)
    more = overheads.assign(
        conclusion="hac",
        threshold="replacement and conversion take as long as the fetch",
        pays=["above" if us else "always" for us in overheads["device_us"]],
    )
    columns = ["conclusion", "threshold", "year", "case", "device_us", "pays"]
    return pd.concat([found[columns], more[columns]], ignore_index=True)


def parameters(machines):
    """List the parameters of all machines, with value, unit, status, source and range.

    Parameters
    ----------
    machines : path-like
        ``machine.yaml``.

    Returns
    -------
    DataFrame
        ``belongs_to, parameter, value, unit, status, source, reason, lowest, highest``.
    """
    rows = []

    def walk(of, entry):
        for name, value in entry.items():
            if isinstance(value, dict) and "value" in value:
                low, high = value["vary"]
                rest = {key: value.get(key, "") for key in ("value", "unit", "status", "source", "reason")}
                rows.append({"belongs_to": of, "parameter": name, **rest, "lowest": low, "highest": high})
            elif isinstance(value, dict):
                walk(f"{of} {name}".strip(), value)

    walk("", read_yaml(machines))
    return pd.DataFrame(rows)
