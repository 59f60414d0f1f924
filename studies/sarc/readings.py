"""List the SARC study's readings: facts that the paper prints or leaves open, the decisions, and their effects.

A reading is decided from the paper's text; it counts as blind only if it was decided before its result was known. This
module counts the claims that are reproduced with one reading reversed at a time, with three readings (`JOINT`) reversed
together, and with further mechanisms that the paper does not exclude. All runs have short phases and one seed. Where a
reading affects every policy, the load factor is refitted to LRU Top's cache-insensitive rows; as in the fit, a new
factor only moves a run's line along the load axis. The other values stay as fitted. The counts show the effect of a
reading; they are not used to choose a reading.
"""

import itertools
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from misspenalty.io.threads import map_in_threads
from misspenalty_studies.common.claims.decided import Decided
from misspenalty_studies.common.claims.ledger import load_calibration, read_ledger
from misspenalty_studies.sarc import claims, tables
from misspenalty_studies.sarc.distances import factors_by_seed, mean_factor, under_factor
from misspenalty_studies.sarc.fit import LOAD, SIDES, targets_of
from misspenalty_studies.sarc.runs import CONFIGS, LOADS, LRU, PAPERS, fitted_shark, points, simulate

AS_READ = "shorter measurement phases"
REFITTED = "shorter measurement phases, load factor fitted again"
LADDER = (0.09, 0.11, 0.44, 0.56, 0.7, 0.8, 0.87, 0.92, 0.96, 1.0, 1.04, 1.1)  # loads, as shares of the highest
FACTORS = np.arange(0.88, 1.1001, 0.005)  # load factors tried, relative to the fitted one


@dataclass(frozen=True)
class Reading:
    """A decision about the model, and the effect of reversing it.

    Attributes
    ----------
    kind : {"printed", "open", "mechanism"}
        The paper prints the fact, leaves it open (so both sides are shown), or does not mention it.
    fact : str
        What was decided, and the words that decided it.
    decided : str
        Date, or "earlier" if the decision was made before dates were noted.
    blind : bool
        Whether the decision was made before its result was known.
    values : dict of str to object
        Parameters of the machine that reverse the reading.
    policies : tuple of str
        Policies whose cache the reading affects.
    """

    kind: str
    fact: str
    decided: str
    blind: bool
    values: dict = field(hash=False)
    policies: tuple = PAPERS


READINGS = {  # the model with the reading reversed, in words -> the reading
    "no striping by the host": Reading(
        "printed",
        "IV-E: the host stripes narrowly, over four arrays, and the controller does not see it",
        "2026-11-24",
        True,
        {"host_stripe_kb": 0},
    ),
    "host strips of 64 KB": Reading(
        "open",
        "IV-E: narrow striping is friendlier to sequential clients; strips of several MB, as a partition has",
        "2026-11-27",
        False,
        {"host_stripe_kb": 64},
    ),
    "controller as a fixed delay, without a queue": Reading(
        "printed",
        "IV-B: four processors a cluster; they serve requests, and requests queue for them",
        "2026-11-24",
        True,
        {"processor_queue": "none"},
    ),
    "array strips of 32 KB": Reading(
        "open",
        "the strip of the arrays is not printed; 64 KB by the same group's WOW",
        "2026-11-24",
        False,
        {"strip_kb": 32},
    ),
    "host adapter of 100 MB/s": Reading(
        "open",
        "IV-B: the client's two cards are more than sufficient, which 1 Gbit/s would not be",
        "2026-11-24",
        False,
        {"adapter_mb_per_s": 100},
    ),
    "LRU variants with the remedy of Section II-C": Reading(
        "open",
        "III-A describes LRU Top in the words with which II-C describes the fault; II-C states the remedy for SARC",
        "2026-11-26",
        False,
        {"remedy_lru": True},
        LRU,
    ),
    "walks write to every leaf": Reading(
        "open",
        "not in the paper: one public generator of the load rounds the writes of its walks, another does not",
        "2026-11-27",
        True,
        {"round_writes": False},
    ),
    "no cost proportional to the rate in the front end": Reading(
        "open",
        "not in the text; in Table II writes exceed those of an idle controller in proportion to the rate",
        "2026-11-27",
        True,
        {"contention_us": 0},
    ),
    "random misses stage the missing pages": Reading(
        "open", "the unit of staging is not printed; fitted", "2026-11-27", False, {"staging": 0}
    ),
    "random misses stage the rest of the track": Reading(
        "open", "the unit of staging is not printed; fitted", "2026-11-27", False, {"staging": 1}
    ),
    "written tracks cached as random data": Reading(
        "open",
        "II-A makes no difference between reads and writes",
        "earlier",
        True,
        {"writes_sequential": False},
    ),
    "SARC's adaptation counts writes": Reading(
        "open",
        "abstract: the cache is partitioned for read misses",
        "earlier",
        False,
        {"count_writes": True},
        ("sarc",),
    ),
    "parity computed from cached tracks": Reading(
        "mechanism", "nothing is read for a parity that the cache holds", "earlier", True, {"parity_from_cache": True}
    ),
    **{
        f"prefetch groups of {degree} tracks": Reading(
            "open", "II-B: the degree is tunable; fitted", "2026-11-27", False, {"degree": degree}
        )
        for degree in (4, 8, 16)
    },
    "strips destaged one at a time": Reading(
        "mechanism",
        "neighbours that are destaged together share the write of a parity",
        "2026-11-24",
        True,
        {"destage_unit": "strip"},
    ),
    "destaging without a linear ramp": Reading(
        "mechanism",
        "the linear ramp is that of the same group's WOW; without it there are 20 destages above 80 %",
        "2026-11-24",
        True,
        {"destage_low": 0.8, "destage_high": 0.801},
    ),
    "SARC adapts on hits at the bottom of either list": Reading(
        "mechanism",
        "a hit in SEQ's bottom lets SEQ grow whenever a sequential miss came before, LargeRatio being 0",
        "2026-11-24",
        True,
        {"large_ratio": 0},
        ("sarc",),
    ),
}
JOINT = {
    "host strips of 64 KB, LRU variants with the remedy, no cost proportional to the rate": (
        "host strips of 64 KB",
        "LRU variants with the remedy of Section II-C",
        "no cost proportional to the rate in the front end",
    )
}


def under(name):
    """Return the parameter values that a condition changes, by policy.

    Examples
    --------
    >>> under("SARC's adaptation counts writes")
    {'lru_top': {}, 'lru_bottom': {}, 'sarc': {'count_writes': True}}
    """
    parts = [READINGS[part] for part in JOINT.get(name, () if name in (AS_READ, REFITTED) else (name,))]
    return {
        policy: {key: value for part in parts if policy in part.policies for key, value in part.values.items()}
        for policy in PAPERS
    }


def refit(shark, targets, seed):
    """Return the load factor that brings LRU Top's cache-insensitive responses closest to the published ones.

    Parameters
    ----------
    shark : Shark
        Machine with all other values and the phases to run.
    targets : dict
        As in `misspenalty_studies.sarc.distances.factors_by_seed`.
    seed : int

    Returns
    -------
    float
    """
    ((config, policy),) = LOAD
    peak = LOADS[config][-1]
    run = points(simulate(shark, config, policy, seed, [peak * rung for rung in LADDER]), shark.discarded_minutes)
    run = run[["config", "policy", "seed", "scaled_iops", *SIDES]]
    found = {factor: mean_factor(factors_by_seed(under_factor(run, factor), targets)) for factor in FACTORS}
    return float(round(shark.load_factor * min(found, key=found.get), 4))


def under_conditions(machine, fitted, calibration, settings, short, seed, threads):
    """Compute the tables that the claims read, with each reading reversed (a workflow job).

    Parameters
    ----------
    machine, fitted, settings
        As in `misspenalty_studies.sarc.runs.schedules`.
    calibration : path-like
        ``data/calibration.yaml``.
    short : dict
        Lengths of the phases.
    seed : int
    threads : int
        Number of parallel runs.

    Returns
    -------
    dict of str to DataFrame
        ``table2, fig6, internals``, each with a column ``condition``; ``refits``: ``condition, load_factor`` for the
        conditions under which the load factor was fitted again.
    """
    shark, _ = fitted_shark(machine, fitted, settings, short)
    names = (AS_READ, REFITTED, *READINGS, *JOINT)
    sharks = {name: {policy: shark.with_values(values) for policy, values in under(name).items()} for name in names}
    again = {name: sharks[name][LOAD[0][1]] for name in names if name != AS_READ and all_touched(name)}
    targets = targets_of(load_calibration(calibration), "load")
    factors = _each_once(lambda varied: refit(varied, targets, seed), again.values(), threads)
    refits = dict(zip(again, factors, strict=True))
    for name, factor in refits.items():
        values = {"load_factor": factor}
        sharks[name] = {policy: varied.with_values(values) for policy, varied in sharks[name].items()}
    keys = list(itertools.product(names, CONFIGS, PAPERS))
    runs = _each_once(
        lambda case: points(simulate(*case, seed), shark.discarded_minutes),
        [(sharks[name][policy], config, policy) for name, config, policy in keys],
        threads,
    )
    found = {item: [] for item in claims.TABLES}
    for name in names:
        measured = pd.concat([run for key, run in zip(keys, runs, strict=True) if key[0] == name], ignore_index=True)
        for item in found:
            found[item].append(getattr(tables, item)(measured).assign(condition=name))
    result = {item: pd.concat(parts, ignore_index=True) for item, parts in found.items()}
    return result | {"refits": pd.DataFrame(refits.items(), columns=["condition", "load_factor"])}


def _each_once(function, items, threads):
    """Return the result of a function for each item; equal items share one call.

    Items are equal under readings that do not affect a policy, or that set the value that was fitted.
    """
    items = list(items)
    each = list(dict.fromkeys(items))
    made = dict(zip(each, map_in_threads(function, each, threads), strict=True))
    return [made[item] for item in items]


def all_touched(name):
    """Return whether a condition changes every policy, so that the load factor is fitted again under it.

    Examples
    --------
    >>> all_touched("SARC's adaptation counts writes"), all_touched("host adapter of 100 MB/s")
    (False, True)
    """
    return name == REFITTED or all(under(name).values())


def effects(ledger, table2, fig6, internals, refits):
    """Count how many claims are reproduced with each reading reversed (a workflow job).

    Parameters
    ----------
    ledger : path-like
        ``studies/sarc/ledger.yaml``.
    table2, fig6, internals, refits : DataFrame
        From `under_conditions`.

    Returns
    -------
    DataFrame
        ``change`` (the model's behaviour with the reading reversed), ``reading_kind, decided_on, decided_blind, fact``,
        ``load_factor`` (where it was fitted again), ``claims_reproduced`` (entries of the ledger, except given ones)
        and ``claims_gained`` relative to the model with no reading reversed (with its load factor refitted if the row's
        was); ``sarc_over_better_sensitive`` and ``_insensitive``: SARC's response over the better LRU variant's at the
        highest load.
    """
    every = read_ledger(ledger)
    frames = {"table2": table2, "fig6": fig6, "internals": internals}
    rows, again = [], refits.set_index("condition")["load_factor"].to_dict()
    for name in dict.fromkeys(fig6["condition"]):
        own = {
            f"sarc_{item}": frame[frame["condition"] == name].drop(columns="condition")
            for item, frame in frames.items()
        }
        study = Decided("sarc", claims, own, variant=True)
        held = 0
        for claim in every:
            form = study.forms.get(claim.id)
            if form is not None and form.complete() and claim.role != "given":
                held += form.decide(claim).verdict == "reproduced"
        about = READINGS.get(name)
        ahead = {f"sarc_over_better_{c.removeprefix('cache_')}": _ahead(own["sarc_fig6"], c) for c in CONFIGS}
        rows.append(
            {
                "change": name,
                "reading_kind": about.kind if about else "joint",
                "decided_on": about.decided if about else "",
                "decided_blind": about.blind if about else "",
                "fact": about.fact if about else "; ".join(JOINT.get(name, ("as read",))),
                "load_factor": again.get(name, np.nan),
                "claims_reproduced": held,
                **ahead,
            }
        )
    table = pd.DataFrame(rows)
    held = table.set_index("change")["claims_reproduced"]
    base = np.where(table["load_factor"].notna(), held[REFITTED], held[AS_READ])
    table.insert(7, "claims_gained", table["claims_reproduced"] - base)
    return table


def _ahead(fig6, config):
    part = fig6[fig6["config"] == config]
    peak = part[part["scaled_iops"] == part["scaled_iops"].max()].set_index("policy")["response_ms"]
    return peak["sarc"] / peak[list(LRU)].min()
