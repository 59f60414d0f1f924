"""Record what the tables of the SARC study show for each statement of the paper."""

import itertools

import pandas as pd
import xarray as xr

from misspenalty_studies.common.claims.ledger import load_calibration, read_ledger
from misspenalty_studies.common.claims.numbers import below
from misspenalty_studies.common.claims.tables import Table, cross

POLICIES = ("lru_top", "lru_bottom", "sarc")
LOADS = {
    "cache_insensitive": (1136, 5682, 9091, 10227, 10795, 11364),
    "cache_sensitive": (2500, 12500, 20000, 22500, 23750, 25000),
}
SHORT = {"cache_insensitive": "ci", "cache_sensitive": "cs"}  # in claim ids
UPPER = {"cache_insensitive": (10227, 10795, 11364), "cache_sensitive": (12500, 20000, 22500, 23750, 25000)}
_KEYS = ("config", "scaled_iops", "policy")
_ROWS = tuple(row for config in LOADS for row in cross(config=(config,), scaled_iops=LOADS[config], policy=POLICIES))
TABLES = {
    "fig6": Table(_KEYS, ("response_ms", "power", "stage_rate"), _ROWS, by_seed=True),
    "internals": Table(_KEYS, ("hit_ratio", "seq_share"), _ROWS),
    "table2": Table(_KEYS, ("read_ms", "write_ms"), _ROWS, by_seed=True),
}


def claims(record, tables):
    """Record every claim of the ledger whose id begins with ``sarc``."""
    table2, fig6 = (_by_policy(tables[item]) for item in ("table2", "fig6"))
    for config, short in SHORT.items():
        _configuration(record, short, table2[config], fig6[config], list(UPPER[config]))

    insensitive, sensitive = (fig6[config]["response_ms"] for config in LOADS)
    pair = ["lru_top", "lru_bottom"]
    record.order("sarc.fig6.bottom_beats_top.cs", sensitive[pair])
    record.order("sarc.fig6.top_beats_bottom.ci", insensitive[pair][1:])
    low, high = insensitive.iloc[-1], sensitive.iloc[-1]
    worst = below(low[["lru_top", "sarc"]], low["lru_bottom"]).min()
    worst *= below(high[["lru_bottom", "sarc"]], high["lru_top"]).min()
    record.holds("sarc.fig6.no_lru_works_in_both", worst)

    wins = 0
    for side, config in itertools.product(("read_ms", "write_ms"), LOADS):
        ms = table2[config][side]
        wins += (1 - below(ms[pair].min(axis="columns", skipna=False), ms["sarc"])).sum(skipna=False)
    record.bound("sarc.table2.sarc_vs_better", wins)

    for config, short in SHORT.items():
        run = loads_run(tables["table2"], config)
        record.value(f"sarc.setup.loads.{short}", run)
        record.value(f"sarc.setup.load_fractions.{short}", 100 * run / run.max())
    highest = {config: loads_run(tables["fig6"], config).max() for config in LOADS}
    record.order("sarc.fig6.saturation", highest)
    record.value("sarc.fig6.peak_load_ratio", highest["cache_sensitive"] / highest["cache_insensitive"], neutral=1)
    _inside(record, tables["internals"].to_xarray())
    record.no_table("sarc.setup.samples", "sarc.setup.discard", "sarc.setup.self_tuning")


def _by_policy(frame):
    """Return a table by configuration: for each column, the loads of the configuration (rows) and the three
    policies."""
    wide = frame.unstack("policy")
    return {
        config: {column: wide.loc[config][column].loc[list(loads), list(POLICIES)] for column in frame}
        for config, loads in LOADS.items()
    }


def _configuration(record, short, table2, fig6, upper):
    """Record the claims on one configuration, from its part of the tables, see `_by_policy`."""
    peak = {side: table2[f"{side}_ms"].iloc[-1] for side in ("read", "write")}
    for side in peak:
        ms = table2[f"{side}_ms"]
        for policy in POLICIES:
            record.trend(f"sarc.table2.trend.load.{short}.{policy}.{side}", ms[policy])
        for load, at in ms.iterrows():
            for policy in POLICIES:
                record.value(f"sarc.table2.{short}.{int(load)}.{policy}.{side}", at[policy])
            record.order(f"sarc.table2.best.{short}.{int(load)}.{side}", at)
            record.order(f"sarc.table2.top_vs_bottom.{short}.{int(load)}.{side}", at[["lru_top", "lru_bottom"]])
        for policy in ("lru_top", "lru_bottom"):
            shorter = 100 * (1 - peak[side]["sarc"] / peak[side][policy])
            record.value(f"sarc.peak.reduction.{short}.{side}.{policy}", shorter, neutral=0)

    response = fig6["response_ms"].iloc[-1]
    for policy in POLICIES:
        record.value(f"sarc.peak.overall.{short}.{policy}", response[policy])
    for policy in ("lru_top", "lru_bottom"):
        ratio = response[policy] / response["sarc"]
        record.value(f"sarc.peak.overall.ratio.{short}.{policy}", ratio, neutral=1)
    record.order(f"sarc.peak.overall.order.{short}", response)
    record.equal(f"sarc.peak.overall_is_mix.{short}", response, 0.4 * peak["read"] + 0.6 * peak["write"])
    record.order(f"sarc.fig6.power.{short}", fig6["power"].iloc[-1])
    record.order(f"sarc.fig6.sarc_wins.{short}", fig6["response_ms"].loc[upper])
    record.order(f"sarc.fig6.fewer_stages.{short}", fig6["stage_rate"])
    write, stages = (xr.DataArray(part) for part in (table2["write_ms"], fig6["stage_rate"]))
    record.rises_with(f"sarc.fig6.write_side_effect.{short}", write, stages, within="scaled_iops")


def _inside(record, internals):
    """Record the explanations that the paper gives in words.

    Hit ratios are averaged over loads and policies, shares of the cache over loads alone. The hits that random data
    gain from more cache are measured at the lowest load.
    """
    hits, shares, gains = {}, [], {}
    for config, loads in LOADS.items():
        here = internals.sel(config=config, scaled_iops=list(loads), policy=list(POLICIES))
        hits[config] = here.hit_ratio.mean(skipna=False)
        random = 1 - here.seq_share.mean("scaled_iops", skipna=False)  # after the warm-up the cache is full
        shares.append(random.sel(policy=["lru_top", "lru_bottom"]))
        rest = here.isel(scaled_iops=0)  # the lowest load, where hardly any prefetched track is evicted unread
        more = rest.sel(policy="lru_bottom") - rest.sel(policy="lru_top")
        gains[config] = -more.hit_ratio / more.seq_share  # read hits gained per share of the cache that SEQ loses
    record.order("sarc.fig6.hit_ratio", hits)
    record.order("sarc.fig6.random_utility", gains)
    record.order("sarc.fig6.space_split", xr.concat(shares, "config"), "policy")


def loads_run(frame, config):
    """Return the loads of a configuration in ascending order; NaN for a load without a complete row."""
    rows = frame.xs(config)
    loads = rows.index.get_level_values("scaled_iops").to_series(index=rows.index)
    return loads.where(rows.notna().all(axis=1)).groupby(level="scaled_iops").max()


def logged(fit, ledger, calibration):
    """Return the result of the fit as notes on the claims whose published values were its targets.

    Parameters
    ----------
    fit : DataFrame
        From `misspenalty_studies.sarc.fit.summary`.
    ledger, calibration : path-like
        ``studies/sarc/ledger.yaml``, ``data/calibration.yaml``.

    Returns
    -------
    DataFrame
        ``id, note``.
    """
    ids, fits = {claim.id for claim in read_ledger(ledger)}, load_calibration(calibration)
    rows = []
    for _, found in fit.groupby("step", sort=False):
        names = ", ".join(f"{name} {value:g}" for name, value in zip(found["parameter"], found["value"], strict=True))
        note = f"a target of the fit of {names}; mean factor off {found['mean_factor'].iloc[0]:.3f}"
        for one in fits:
            for cell in one.published if one.parameter in set(found["parameter"]) else ():
                where, side = cell["where"], cell["column"].removesuffix("_ms")
                id = f"sarc.table2.{SHORT[where['config']]}.{where['scaled_iops']}.{where['policy']}.{side}"
                rows += [(id, note)] if id in ids and (id, note) not in rows else []
    notes = pd.DataFrame(rows, columns=["id", "note"])
    return notes.groupby("id", sort=False, as_index=False).agg("; ".join)
