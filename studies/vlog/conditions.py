"""Vary what Table 2 and Figure 9 depend on: conditions that widen the gap, host costs, values that no paper states.

With the drives as described, writes to the nearest free block and a map sector for every update, the speed-up in steady
state stays below the printed one. `gap` tries the conditions that could explain it, one by one and together; none is
chosen for the judged tables, and `conditions` tabulates them for `conditions.csv`. `host_range` and `sensitivity` show
over which range the stated orders hold, and `limits` shows how much time a speed-up leaves for locating.
"""

import itertools
from dataclasses import replace

import pandas as pd
from scipy.special import entr

from misspenalty.errors import ParameterError
from misspenalty_studies.vlog.runs import COMPONENTS, DF_RESERVE, SYSTEMS, random_updates
from misspenalty_studies.vlog.virtual_log.log import BLOCK_SECTORS

FIRST_UPDATES = 500  # number of updates measured under conditions whose prepared state does not last longer

CONDITIONS = {
    "live_80pct": "80 % of the blocks live, not counting the reserve",
    "no_map_sector": "no map sector written",
    "short_head_switch": "head switch of 1.6 ms (HP) and 0.195 ms (Seagate)",
    "contiguous_file": "file laid out contiguously on an empty disk (first 500 updates)",
    "emptied_tracks": "tracks emptied by the compactor before the run (first 500 updates)",
    "filled_singly": "emptied tracks filled one at a time, a fifth left free (first 500 updates)",
    "host_half": "host takes half the time",
    "host_quarter": "host takes a quarter of the time",
    "host_free": "host takes no time",
    "inode_written": "inode block written with every update",
    "unaligned_blocks": "4 KB blocks begin at any sector",
    "updates_8kb": "updates of 8 KB on the UltraSPARC-170, whose file system has such blocks",
}
HOSTS = {"host_half": 0.5, "host_quarter": 0.25, "host_free": 0}
JOINT = (  # every combination has at most one condition from each group
    ("no_map_sector",),
    ("short_head_switch",),
    ("contiguous_file", "emptied_tracks", "filled_singly"),
    tuple(HOSTS),
    ("unaligned_blocks",),
    ("updates_8kb",),
)
SPEEDUPS = (2, 5, 10)
WORKLOADS = [("utilisation", 0.5), ("utilisation", 0.8), ("utilisation", 0.9), ("jitter", 0.2), ("jitter", 1.0)]
OUTCOMES = ("widening", "near_ten", "overheads", "host_limited", "balanced", "balanced_entropy", "balanced_variance")
PLATFORMS = ("sparc10_hp", "sparc10_seagate", "ultra170_seagate")


def explored():
    """Return every set of conditions that `gap` tries, as tuples of names: none, each alone, then combinations by size.

    Examples
    --------
    >>> explored()[0], explored()[-1]
    ((), ('no_map_sector', 'short_head_switch', 'filled_singly', 'host_free', 'unaligned_blocks', 'updates_8kb'))
    """
    joint = [tuple(filter(None, chosen)) for chosen in itertools.product(*((None, *group) for group in JOINT))]
    joint = sorted((chosen for chosen in joint if len(chosen) > 1), key=len)
    return [(), *((name,) for name in CONDITIONS), *joint]


def apply(conditions, platform, workload):
    """Return a platform and workload under one of the sets of conditions in `explored`."""
    first = {"updates": FIRST_UPDATES}
    loads = {
        "live_80pct": {"utilisation": workload.utilisation + DF_RESERVE},
        "no_map_sector": {"log_map": False},
        "contiguous_file": {"prepared": "fresh", **first},
        "emptied_tracks": {"prepared": "emptied", **first},
        "filled_singly": {"prepared": "emptied", **first, "reserve": per_track(platform) // 5},
        "inode_written": {"inode": True},
        "unaligned_blocks": {"aligned": False},
        "updates_8kb": {"blocks": 2 if platform.label == PLATFORMS[-1] else workload.blocks},
    }
    changes = {}
    if "short_head_switch" in conditions:
        changes["head_switch_ms"] = short_switch_ms(platform.kind)
    for condition in conditions:
        if condition in HOSTS:
            changes["host_factor"] = HOSTS[condition]
        workload = replace(workload, **loads.get(condition, {}))
    return platform.changed(**changes), workload


def short_switch_ms(kind):
    """Return the alternative head-switch time that a drive's description lists.

    Raises
    ------
    ParameterError
        The description lists none.
    """
    source = kind.source("mechanics.head_switch_ms") or {}
    if not source.get("vary"):
        raise ParameterError(
            f"drive {kind.name}: the condition short_head_switch needs another head-switch time; "
            "give one as `vary` of `mechanics.head_switch_ms` under `sources`"
        )
    return source["vary"][0]


def per_track(platform):
    """Return the number of 4 KB blocks on a track."""
    return platform.kind.data["geometry"]["zones"][0]["sectors"] // BLOCK_SECTORS


def gap(platform, workload, seeds=1):
    """Compute the speed-ups of a platform under each set of conditions in `explored`.

    Parameters
    ----------
    platform : Platform
    workload : Updates
    seeds : int
        Number of runs to average, since the result of a short run depends on the state that its warm-up leaves.

    Returns
    -------
    DataFrame
        ``platform, conditions`` (joined by ``+``, or ``none``), ``conditions_changed`` (their number), ``speedup,
        update_in_place_ms, virtual_log_ms``; the components of the virtual log's latency, ``scsi_overhead_ms,
        transfer_ms, locate_ms, other_ms, map_locate_ms``; and the first four of these for the update in place, prefixed
        with ``in_place_``.
    """
    known, rows = {}, []
    for conditions in explored():
        old, new = (_mean(known, conditions, platform, system, workload, seeds) for system in SYSTEMS)
        rows.append(
            {
                "platform": platform.label,
                "conditions": "+".join(conditions) or "none",
                "conditions_changed": len(conditions),
                "speedup": old["total"] / new["total"],
                "update_in_place_ms": old["total"],
                "virtual_log_ms": new["total"],
                **{f"{name}_ms": new[name] for name in (*COMPONENTS, "map_locate")},
                **{f"in_place_{name}_ms": old[name] for name in COMPONENTS},
            }
        )
    return pd.DataFrame(rows)


def _mean(known, conditions, platform, system, workload, seeds):
    """Return the mean over seeds of the results of `random_updates`; `known` caches these means."""
    key = system, _of_effect(conditions, platform, system)
    if key not in known:
        changed, load = apply(key[1], platform, workload)
        runs = [random_updates(changed, system, replace(load, seed=load.seed + i)) for i in range(seeds)]
        known[key] = pd.DataFrame(runs).mean()
    return known[key]


def _of_effect(conditions, platform, system):
    """Return the conditions that change a run of a system.

    For an update in place, conditions on the virtual log's tracks only shorten the run, so one name represents them
    all.
    """
    chosen = [name for name in conditions if name != "updates_8kb" or platform.label == PLATFORMS[-1]]
    if system == "update_in_place":
        chosen = [name for name in chosen if name not in ("no_map_sector", "unaligned_blocks")]
        chosen = ["contiguous_file" if name in ("emptied_tracks", "filled_singly") else name for name in chosen]
    return tuple(chosen)


def conditions(table):
    """Return Table 2 and Figure 9, to be judged, under each single condition and each set that `deciding` returns.

    Returns
    -------
    dict of str to DataFrame
        ``table2`` and ``fig9``, with the condition in words.
    """
    table = table[(table["conditions_changed"] == 1) | table["conditions"].isin(deciding(judged(table)))]
    words = table["conditions"].map(lambda names: "; ".join(CONDITIONS[name] for name in names.split("+")))
    parts = []
    for system, before in zip(SYSTEMS, ("in_place_", ""), strict=True):
        for component in (*COMPONENTS, "total"):
            column = f"{system}_ms" if component == "total" else f"{before}{component}_ms"
            values = {"system": system, "component": component, "ms": table[column], "condition": words}
            parts.append(table[["platform"]].assign(**values))
    return {
        "table2": table[["platform", "speedup", "update_in_place_ms", "virtual_log_ms"]].assign(condition=words),
        "fig9": pd.concat(parts).sort_index(kind="stable"),
    }


def deciding(outcomes):
    """Find the sets of conditions under which some outcome differs from its value under every proper subset tried.

    Parameters
    ----------
    outcomes : DataFrame
        From `judged`.

    Returns
    -------
    list of str
        Values of ``conditions``, in order.

    Examples
    --------
    >>> rows = [("none", 0, False), ("fresh", 1, False), ("no_map+fresh", 2, True), ("no_map+fresh+8kb", 3, True)]
    >>> columns = ["conditions", "conditions_changed", "near_ten"]
    >>> deciding(pd.DataFrame(rows, columns=columns))
    ['no_map+fresh']
    """
    columns = [name for name in OUTCOMES if name in outcomes]
    known = {
        frozenset(row["conditions"].split("+")) - {"none"}: [row[name] for name in columns]
        for _, row in outcomes.iterrows()
    }
    found = []
    for names, own in known.items():
        smaller = [other for parts, other in known.items() if parts < names]
        if smaller and any(all(one[place] != value for one in smaller) for place, value in enumerate(own)):
            found.append(names)
    order = {frozenset(text.split("+")): text for text in outcomes["conditions"]}
    return [order[names] for names in found]


def limits(latencies):
    """Compute how long a write of the virtual log may take for a speed-up, and how much of that is left for locating.

    Parameters
    ----------
    latencies : DataFrame
        From `misspenalty_studies.vlog.runs.fig9`.

    Returns
    -------
    DataFrame
        ``platform, speedup``; ``write_ms``, the time of a write at this speed-up (that of the update in place divided
        by the speed-up); ``command_ms, transfer_ms, host_ms``, the parts of the virtual log's write as simulated;
        ``left_ms``, what remains for locating a block and a map sector. If this is below 0, no placement achieves the
        speed-up.
    """
    wide = latencies.pivot_table(index="platform", columns=["system", "component"], values="ms", sort=False)
    rows = []
    for platform, row in wide.iterrows():
        for speedup in SPEEDUPS:
            write = row["update_in_place", "total"] / speedup
            parts = [row["virtual_log", part] for part in ("scsi_overhead", "transfer", "other")]
            names = ("command_ms", "transfer_ms", "host_ms")
            rows.append(
                {"platform": platform, "speedup": speedup, "write_ms": write}
                | dict(zip(names, parts, strict=True))
                | {"left_ms": write - sum(parts)}
            )
    return pd.DataFrame(rows)


def judged(table):
    """Return whether the claims that depend most on the conditions would hold under each; no claim is judged here.

    Parameters
    ----------
    table : DataFrame
        From `gap`, for all three platforms.

    Returns
    -------
    DataFrame
        ``conditions, conditions_changed``, the speed-ups by platform, and columns that say whether a claim would hold:
        ``widening``, each platform's speed-up is larger than that of the platform before; ``near_ten``, the last
        platform's speed-up is at least 9 and below 10; ``overheads``, on the HP disk, the command and the host's work
        together take longer than locating and transfer; ``host_limited``, with the new disk and the old host, "other"
        is the largest component; ``balanced``, the largest component's share falls with the new host;
        ``balanced_entropy``, the shares' entropy grows with the new host; ``balanced_variance``, the shares' variance
        falls with the new host.
    """
    parts = [f"{name}_ms" for name in COMPONENTS]
    shares = table[parts].div(table[parts].sum(axis=1), axis=0)
    table = table.assign(**balance(shares.to_numpy()), largest=table[parts].idxmax(axis=1))
    table["overheads"] = table["scsi_overhead_ms"] + table["other_ms"] > table["locate_ms"] + table["transfer_ms"]
    rows = []
    for (number, conditions), part in table.groupby(["conditions_changed", "conditions"], sort=False):
        part = part.set_index("platform")
        hp, old_host, new_host = (part.loc[label] for label in PLATFORMS)
        rows.append(
            {
                "conditions": conditions,
                "conditions_changed": number,
                **{f"speedup_{label}": part.loc[label, "speedup"] for label in PLATFORMS},
                "widening": hp["speedup"] < old_host["speedup"] < new_host["speedup"],
                "near_ten": 9 <= new_host["speedup"] < 10,
                "overheads": hp["overheads"],
                "host_limited": old_host["largest"] == "other_ms",
                "balanced": new_host["share"] < old_host["share"],
                "balanced_entropy": new_host["entropy"] > old_host["entropy"],
                "balanced_variance": new_host["variance"] < old_host["variance"],
            }
        )
    return pd.DataFrame(rows)


def balance(shares):
    """Return three measures of how evenly a time is divided.

    Parameters
    ----------
    shares : array of shape (n, parts)
        Each row adds up to 1.

    Returns
    -------
    dict of str to array of shape (n,)
        The more even the division, the smaller ``share`` (the largest) and ``variance``, and the larger ``entropy``.

    Examples
    --------
    >>> import numpy as np
    >>> {name: found.round(3).tolist() for name, found in balance(np.array([[0.5, 0.5], [1.0, 0.0]])).items()}
    {'share': [0.5, 1.0], 'variance': [0.0, 0.25], 'entropy': [0.693, 0.0]}
    """
    return {"share": shares.max(axis=1), "variance": shares.var(axis=1), "entropy": entr(shares).sum(axis=1)}


def host_range(platforms, workload, factors):
    """Compute speed-ups and the virtual log's largest component with all host times multiplied by each factor.

    Returns
    -------
    DataFrame
        ``factor, platform, speedup, other_ms, locate_ms, total_ms, largest`` (component of the virtual log),
        ``largest_pct`` of its total, ``in_place_locate_pct`` of the total in place.
    """
    rows = []
    for factor, platform in itertools.product(factors, platforms.values()):
        rows.append({"factor": factor, **_row(platform.changed(host_factor=factor), workload)})
    return pd.DataFrame(rows)


def sensitivity(platforms, workload, hosts):
    """Compute the columns of `host_range` for each alternative of a value that no paper states, one at a time.

    The alternatives of hosts and drives are listed next to their values, under ``vary`` in the hosts' file and in the
    drives' descriptions; seek times are also halved and doubled. Those of the workload are `WORKLOADS`. A drive's
    ``almost_hits`` is left out, because it changes reads only.

    Returns
    -------
    DataFrame
        ``parameter, value, platform`` and the columns of `host_range`; parameter ``none`` is the unvaried run.
    """
    rows = [{"parameter": "none", "value": 0.0, **_row(platform, workload)} for platform in platforms.values()]
    for platform in platforms.values():
        on_hosts = hosts.variations(platform.host.label)
        varied = [(name, value, replace(platform, host=host), workload) for name, value, host in on_hosts]
        for name, value in drive_variations(platform):
            varied.append((name, value, platform.changed(**{name: value}), workload))
        varied += [(name, value, platform, replace(workload, **{name: value})) for name, value in WORKLOADS]
        rows += [{"parameter": name, "value": value, **_row(*case)} for name, value, *case in varied]
    return pd.DataFrame(rows)


_VARIED = {  # value of a drive's description -> the change of `Platform.changed` that replaces it
    "mechanics.head_switch_ms": "head_switch_ms",
    "overheads": "overhead_ms",
    "geometry.zones": "track_skew",
    "mechanics.rpm": "rpm",
    "cache.write_behind": "write_behind",
}


def drive_variations(platform):
    """Yield (change, value) for the alternatives in a drive's description, then for half and twice its seek times."""
    for key, change in _VARIED.items():
        for value in (platform.kind.source(key) or {}).get("vary", ()):
            yield change, float(value)
    yield from (("seek_factor", factor) for factor in (0.5, 2))


def _row(platform, workload):
    old, new = (random_updates(platform, system, workload) for system in SYSTEMS)
    parts = {name: new[name] for name in COMPONENTS}
    largest = max(parts, key=parts.get)
    return {
        "platform": platform.label,
        "speedup": old["total"] / new["total"],
        "other_ms": new["other"],
        "locate_ms": new["locate"],
        "total_ms": new["total"],
        "largest": largest,
        "largest_pct": 100 * parts[largest] / new["total"],
        "in_place_locate_pct": 100 * old["locate"] / old["total"],
    }
