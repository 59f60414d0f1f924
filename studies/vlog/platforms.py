"""Run the virtual-log study's jobs: everything that is simulated on the platforms."""

import sys
from dataclasses import replace

import pandas as pd

from misspenalty.io.threads import map_in_threads
from misspenalty_studies.vlog import conditions, file_system_runs, locate, runs, what_if
from misspenalty_studies.vlog.file_systems.hosts import load_hosts


def updates(hosts, platforms, workload, threads):
    """Simulate the latency of random updates by component.

    Parameters
    ----------
    hosts : path-like
        ``machine.yaml``.
    platforms : dict of str to dict
        As in `misspenalty_studies.vlog.runs.make_platforms`.
    workload : dict
        Fields of `misspenalty_studies.vlog.runs.Updates`.
    threads : int
        Number of platforms that are simulated in parallel.

    Returns
    -------
    DataFrame
        ``fig9``.
    """
    load, made = runs.Updates(**workload), runs.make_platforms(platforms, load_hosts(hosts))
    tables = map_in_threads(lambda label: runs.fig9({label: made[label]}, load), made, threads)
    return pd.concat(tables, ignore_index=True)


def under_conditions(hosts, platforms, workload, gap_seeds, threads):
    """Simulate the speed-up under conditions that could widen the gap.

    Parameters
    ----------
    hosts, platforms, workload, threads
        As in `updates`.
    gap_seeds : int
        Number of runs averaged per point.

    Returns
    -------
    dict of str to DataFrame
        ``speedup_conditions``; ``table2, fig9``: the judged tables under each condition.
    """
    load, made = runs.Updates(**workload), runs.make_platforms(platforms, load_hosts(hosts))

    def run(platform):
        found = conditions.gap(platform, load, gap_seeds)
        print(f"{platform.label}: done", file=sys.stderr)
        return found

    gaps = pd.concat(map_in_threads(run, made.values(), threads), ignore_index=True)
    return {"speedup_conditions": gaps} | conditions.conditions(gaps)


def _together(parts):
    """Concatenate the tables of several platforms by name."""
    return {name: pd.concat([part[name] for part in parts], ignore_index=True) for name in parts[0]}


def files(
    hosts, platforms, workload, files_on, bursts_on, fig1_utilisations, fig2_reserves, trials, small_files,
    large_file_mb, fig8_utilisations, burst_kb, idle_ms, burst_updates, threads,
):  # fmt: skip
    """Simulate the search for free sectors, small files, a large file, updates against utilisation, and bursts.

    Parameters
    ----------
    hosts, platforms, workload, threads
        As in `updates`.
    files_on, bursts_on : sequence of str
        Platforms of Figures 1, 2 and 6 to 8, and of Figures 10 and 11.
    fig1_utilisations, fig2_reserves, fig8_utilisations : sequence of float
        Points of the figures.
    trials : int
        Arm positions per point of Figure 1; a point of Figure 2 fills a hundredth as many tracks.
    small_files : int
    large_file_mb : float
    burst_kb, idle_ms : sequence of float
        Sizes of bursts, KB, and pauses between bursts, ms.
    burst_updates : int
        Updates per point.

    Returns
    -------
    dict of str to DataFrame
        ``fig1, fig2, fig6, fig7, fig8, fig10, fig11``.
    """
    made, load = runs.make_platforms(platforms, load_hosts(hosts)), runs.Updates(**workload)
    bursty = replace(load, updates=burst_updates)

    def on_platform(label):
        chosen = made[label]
        name, kind = chosen.kind.model, chosen.kind
        found = {
            "fig1": locate.fig1(name, kind, fig1_utilisations, trials, load.seed),
            "fig2": locate.fig2(name, kind, fig2_reserves, max(1, trials // 100), load.seed),
            "fig6": file_system_runs.fig6(chosen, small_files),
            "fig7": file_system_runs.fig7(chosen, int(large_file_mb * 2**20), load.seed),
            "fig8": file_system_runs.fig8(chosen, fig8_utilisations, load),
        }
        print(f"{label}: files", file=sys.stderr)
        return found

    def in_bursts(label):
        systems = {"fig10": "lfs", "fig11": "ufs"}
        chosen = made[label]
        found = {
            figure: file_system_runs.bursts(chosen, system, burst_kb, idle_ms, bursty)
            for figure, system in systems.items()
        }
        print(f"{label}: bursts", file=sys.stderr)
        return found

    cases = [(in_bursts, label) for label in bursts_on] + [(on_platform, label) for label in files_on]
    found = map_in_threads(lambda case: case[0](case[1]), cases, threads)
    tables = _together(found[len(bursts_on) :]) | _together(found[: len(bursts_on)])
    for item in ("fig1", "fig2"):  # no host is involved, so platforms with the same disk have equal rows
        tables[item] = tables[item].drop_duplicates(ignore_index=True)
    return tables


def variations(hosts, platforms, workload, factors):
    """Compute speed-ups and shares as host times are scaled, and as values that no paper states are replaced by their
    alternatives.

    Parameters
    ----------
    hosts, platforms, workload
        As in `updates`.
    factors : sequence of float
        Multiples of all host times.

    Returns
    -------
    dict of str to DataFrame
        ``host_range, sensitivity, hosts``.
    """
    known = load_hosts(hosts)
    made, load = runs.make_platforms(platforms, known), runs.Updates(**workload)
    return {
        "host_range": conditions.host_range(made, load, factors),
        "sensitivity": conditions.sensitivity(made, load, known),
        "hosts": known.table(),
    }


def later(hosts, platforms, workload, threads):
    """Simulate updates like those of Table 2 with both systems on later machines.

    The parameters are those of `updates`, except `platforms`: see `misspenalty_studies.vlog.what_if.make_platforms`.
    """
    load = runs.Updates(**workload)
    made = what_if.make_platforms(platforms, load_hosts(hosts))

    def run(label):
        table = what_if.what_if({label: made[label]}, load)
        print(f"{label}: {len(table)} rows", file=sys.stderr)
        return table

    return pd.concat(map_in_threads(run, made, threads), ignore_index=True)
