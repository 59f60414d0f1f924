"""Evaluate the five conclusions on all machines and devices and over device times, and find where they reverse.

A conclusion is an object with ``study``, ``cases``, ``threshold_pct``, ``checks()`` and ``measures(machines, era,
device, case)``, which returns ``gain_pct``, the improvement of the paper's proposal over its baseline, in %. A
conclusion **holds** if that gain is at least the threshold, which was fixed before any of these numbers was computed:
5 % for SARC, 1 % otherwise.

For HAC, MQ and SARC, times are computed from the operations counted in the archived tables of their studies and from
the machines' parameters ("priced"); EPCM is replayed and the virtual log simulated, which takes seconds. `checks`
compares values computed in these ways with values that the studies simulated and archived.
"""

import math

import numpy as np
import pandas as pd

from misspenalty_studies.whatif.machines import Device

DEVICE_US = tuple(float(f"{value:.3g}") for value in np.geomspace(1, 50_000, 25))
STEPS = 10  # steps of a bisection, on a logarithmic scale
ANY = "any"  # name of a device that serves one request at a time


def any_device(read_us):
    """Return a device that reads or writes 8 KB in `read_us`, one request at a time."""
    return Device(ANY, read_us, read_us)


def cells(conclusion, machines):
    """Evaluate a conclusion on every machine and device.

    Returns
    -------
    DataFrame
        ``year, device, case, device_us`` (time of a random read of 8 KB), the conclusion's measures, ``lowest_pct,
        highest_pct`` (the extremes of the gain as each parameter is set to the ends of its range, one at a time),
        ``holds``. For a saturated device, the gain and its extremes are NaN.
    """
    rows = []
    for era, device in machines.cells():
        changed = list(machines.variations(conclusion.study, era.year, device.name))
        for case in conclusion.cases:
            found = conclusion.measures(machines, era, device, case)
            key = {"year": era.year, "device": device.name, "case": case, "device_us": device.read_us}
            span = _span(conclusion, changed, era, device, case, found["gain_pct"])
            rows.append(key | found | span | {"holds": bool(found["gain_pct"] >= conclusion.threshold_pct)})
    return pd.DataFrame(rows)


def _span(conclusion, changed, era, device, case, gain):
    """Return the lowest and the highest gain of a cell over machines with one parameter changed."""
    if math.isnan(gain):
        return {"lowest_pct": math.nan, "highest_pct": math.nan}
    gains = [gain]
    for _, other in changed:
        there = other.eras[era.year], other.devices[era.year][device.name]
        gains.append(conclusion.measures(other, *there, case)["gain_pct"])
    return {"lowest_pct": np.nanmin(gains), "highest_pct": np.nanmax(gains)}


def curves(conclusion, machines, device_us=DEVICE_US):
    """Compute the gain as a function of the time of a device that serves one request at a time.

    Returns
    -------
    DataFrame
        ``year, case, device_us, gain_pct``.
    """
    return pd.DataFrame(
        [
            {"year": year, "case": case, "device_us": us, "gain_pct": _gain(conclusion, machines, era, case, us)}
            for year, era in machines.eras.items()
            for case in conclusion.cases
            for us in device_us
        ]
    )


def _gain(conclusion, machines, era, case, device_us):
    return conclusion.measures(machines, era, any_device(device_us), case)["gain_pct"]


def crossovers(conclusion, machines, curve):
    """Find the device times at which a conclusion reverses: its gain crosses its threshold, or zero.

    Parameters
    ----------
    conclusion, machines
    curve : DataFrame
        From `curves`; its points bracket the crossings.

    Returns
    -------
    DataFrame
        ``year, case, gain_pct`` (the threshold, or 0), ``device_us`` (the time at which the gain crosses this level;
        NaN if it never does in the curve's range), and ``pays``, which says whether the gain is at least this level
        ``above`` or ``below`` that time, ``always`` or ``never``. A curve has a row for each crossing, or one row if
        there is no crossing.
    """
    rows = []
    for level in (conclusion.threshold_pct, 0.0):
        for (year, case), part in curve.groupby(["year", "case"], sort=False):
            key = {"year": year, "case": case, "gain_pct": level}
            rows += [key | found for found in _passed(conclusion, machines, part, level)]
    return pd.DataFrame(rows)


def _passed(conclusion, machines, part, level):
    """Find where one curve crosses a level."""
    year, case = part["year"].iloc[0], part["case"].iloc[0]
    over, known = (part["gain_pct"] >= level).to_numpy(), part["gain_pct"].notna().to_numpy()
    times = part["device_us"].to_numpy()

    def above(us):
        return _gain(conclusion, machines, machines.eras[year], case, us) >= level

    found = np.flatnonzero((over[1:] != over[:-1]) & known[1:] & known[:-1])
    if not len(found):
        return [{"device_us": math.nan, "pays": "always" if over[known].any() else "never"}]
    return [
        {"device_us": _bisected(above, times[at], times[at + 1]), "pays": "above" if over[at + 1] else "below"}
        for at in found
    ]


def _bisected(over, low, high):
    """Find where a condition changes between two times, on a logarithmic scale."""
    first = over(low)
    for _ in range(STEPS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if over(middle) == first else (low, middle)
    return float(f"{math.sqrt(low * high):.4g}")


def checks(conclusion):
    """Compare values that the what-if computes with those that the study of a conclusion simulated on the same machine.

    Returns
    -------
    DataFrame
        ``conclusion, quantity, simulated, priced, off_pct``: the study's value, the value computed here, and by how
        many per cent the latter is higher.
    """
    rows = [
        {"conclusion": conclusion.study, "quantity": quantity, "simulated": simulated, "priced": priced,
         "off_pct": 100 * (priced / simulated - 1)}
        for quantity, simulated, priced in conclusion.checks()
    ]  # fmt: skip
    return pd.DataFrame(rows)


def tried(conclusion, machines, device_us=DEVICE_US):
    """Compute all tables of a conclusion.

    Returns
    -------
    dict of str to DataFrame
        ``<study>_cells``, ``_curve``, ``_crossovers`` and ``_checks``.
    """
    curve = curves(conclusion, machines, device_us)
    made = {
        "cells": cells(conclusion, machines),
        "curve": curve,
        "crossovers": crossovers(conclusion, machines, curve),
        "checks": checks(conclusion),
    }
    return {f"{conclusion.study}_{name}": table for name, table in made.items()}
