"""Compute the HAC study's further tables: hit time, elapsed time, updates, server, dynamic traversal, sensitivity."""

from functools import partial
from itertools import product

import pandas as pd

from misspenalty.errors import ParameterError
from misspenalty_studies.hac.object_server.object_client import HIT, Prices
from misspenalty_studies.hac.object_server.page_server import message_ns
from misspenalty_studies.hac.objects.traversals import STATIC, Program
from misspenalty_studies.hac.prices import client_us, penalty
from misspenalty_studies.hac.runs import MB, database, fewest_misses, intervals, make_cache, run, run_dynamic
from misspenalty_studies.hac.tables import at_size

IN_A_FETCH = (
    "client_cpi", "network_mbit_per_s", "packet_us", "request_bytes", "server_page_us", "server_cache_mb", "drive",
    "database_at", "page_order", "client_page_instructions",
)  # fmt: skip
NOT_AT_THE_POINTS = (  # values of other machines and other tables, which do not enter the prices at Figure 9's points
    "ppro_cpi", "ppro_l2_ns", "ppro_memory_ns", "ppro_larger_l2_kb", "slower_mbit_per_s", "faster_mbit_per_s",
    "shared_clients", "activation_words", "method_instructions", "exception_instructions", "concurrency_instructions",
    "usage_instructions", "residency_instructions", "swizzle_check_instructions", "indirection_instructions",
    "fault_us", "map_entry_instructions", "correct_pointer_instructions",
)  # fmt: skip


def hit_time(data, cache_mb, costs):
    """Price the hit time of hot traversals in a cache that holds everything, by the lines of the paper's Table 3.

    Returns
    -------
    DataFrame
        See `priced_hits`.
    """
    return priced_hits({name: without_misses(data, name, cache_mb) for name in ("T1", "T6")}, cache_mb, costs.testbed)


def without_misses(data, traversal, cache_mb):
    """Count the operations of a hot traversal with HAC in a cache that holds everything.

    Raises
    ------
    ParameterError
        The traversal still misses.
    """
    fetches = run(data, "hac", traversal, cache_mb, 3).fetches
    hot = fetches[fetches["iteration"] == 1]
    if (hot["page"] > 0).any():
        raise ParameterError(
            f"{traversal} still misses with {cache_mb:g} MB; choose a larger cache: hit time excludes misses"
        )
    return hot


def priced_hits(counts, cache_mb, testbed):
    """Price hot traversals line by line.

    Parameters
    ----------
    counts : dict of str to DataFrame
        From `without_misses`, by traversal.
    cache_mb : float
    testbed : ObjectServerTestbed

    Returns
    -------
    DataFrame
        ``traversal, cache_mb, line, seconds, accesses``; line ``traversal`` is the program without the system.
    """
    rows = []
    for name, hot in counts.items():
        times = Prices(testbed).hit_time(hot, cache_mb * MB).sum() / 1e9
        rows += [(name, cache_mb, line, times[line], int(hot["accesses"].sum())) for line in HIT]
    return pd.DataFrame(rows, columns=["traversal", "cache_mb", "line", "seconds", "accesses"])


def elapsed(data, sweeps, points_mb, costs, iterations):
    """Compute the elapsed time of HAC and page caching at the points of Figure 9.

    ``hac`` does replacement while it waits for a fetch, ``hac-fg`` in the foreground; ``fpc-no`` is ``fpc`` without
    replacement and conversion.

    Returns
    -------
    DataFrame
        ``traversal, cache_mb, run`` (cold, hot), ``system, fetches, elapsed_s, hit_s, fetch_s, replacement_s,
        conversion_s``.
    """
    rows, record = [], costs.testbed.record
    for name in STATIC:
        size = points_mb[name]
        logs = {"hac": at_size(sweeps[name], size), "fpc": run(data, "fpc", name, size, iterations, **record).fetches}
        for (which, fetches), cold in product(logs.items(), (True, False)):
            one = penalty(fetches, size, costs, cold=cold)
            share = one.fetches / 1e6
            for system in (which, "hac-fg" if which == "hac" else "fpc-no"):
                replacement = {"hac": one.visible_us, "fpc-no": 0.0}.get(system, one.us["replacement"])
                parts = [one.us["fetch"], replacement, 0.0 if system == "fpc-no" else one.us["conversion"]]
                seconds = [share * part for part in parts]
                total = one.hit_s + sum(seconds)
                kind = "cold" if cold else "hot"
                rows.append((name, size, kind, system, one.fetches, total, one.hit_s, *seconds))
    columns = ["traversal", "cache_mb", "run", "system", "fetches", "elapsed_s", "hit_s", "fetch_s", "replacement_s",
               "conversion_s"]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


def updates(data, cache_mb, costs):
    """Run T1, T2a and T2b cold, each in one transaction, and count the objects that their commits ship to the modified
    object buffer.

    Returns
    -------
    DataFrame
        ``traversal, cache_mb, fetches, read_objects`` (distinct objects installed), ``modified_objects, shipped_mb,
        buffer_filled`` (in multiples of the modified object buffer), ``run_s, commit_s, elapsed_s``, and ``over_t1``,
        the elapsed time as a multiple of T1's.
    """
    rows, testbed = [], costs.testbed
    for name in ("T1", "T2a", "T2b"):
        cache = make_cache(data, "hac", cache_mb, writable=True, **testbed.record)
        program = Program(cache, data)
        program.run(name)
        fetches = intervals(*cache.log()).assign(iteration=0)
        shipped, modified = cache.commit()
        one = penalty(fetches, cache_mb, costs, cold=True)
        processor, wire = message_ns(testbed, shipped) if shipped else (0, 0)
        waiting = one.us["fetch"] + one.us["conversion"] + one.visible_us
        run_s, commit_s = one.hit_s + one.fetches * waiting / 1e6, (processor + wire) / 1e9
        first = rows[0][-2] if rows else run_s
        read = int(run(data, "fpc", name, 2 * data.pages.nbytes / MB, 1).fetches["installed"].sum())
        filled = shipped / MB / testbed["mob_mb"]
        total = run_s + commit_s
        rows.append(
            (name, cache_mb, one.fetches, read, modified, shipped / MB, filled, run_s, commit_s, total, total / first)
        )
    columns = ["traversal", "cache_mb", "fetches", "read_objects", "modified_objects", "shipped_mb", "buffer_filled",
               "run_s", "commit_s", "elapsed_s", "over_t1"]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


def server(sweeps, points_mb, costs, server_mb):
    """Compute the server's hit rate and the time of a disk read for several server cache sizes and orders of the pages
    on the drive.

    Returns
    -------
    DataFrame
        ``server_cache_mb, page_order, traversal, hit_pct`` (hot), ``run_hit_pct`` (cold and hot together), ``reads`` of
        a hot iteration, ``read_ms`` (missing where there are none), ``disk_over_fetch_pct``.
    """
    rows = []
    for size, order, name in product(server_mb, ("contiguous", "shuffled", "scattered"), STATIC):
        testbed = costs.testbed.with_values(server_cache_mb=size, page_order=order)
        fetches = at_size(sweeps[name], points_mb[name])
        one = penalty(fetches, points_mb[name], costs._replace(testbed=testbed))
        reads = (1 - one.hit_pct / 100) * one.fetches
        read_ms = one.us["disk"] * one.fetches / reads / 1000 if reads else None
        share = 100 * one.us["disk"] / one.us["fetch"]
        rows.append((size, order, name, one.hit_pct, one.run_hit_pct, reads, read_ms, share))
    columns = ["server_cache_mb", "page_order", "traversal", "hit_pct", "run_hit_pct", "reads", "read_ms",
               "disk_over_fetch_pct"]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


def dynamic(data, seed, systems, sizes_mb, settings, shares, best):
    """Count the misses of a dynamic traversal; `data` has two modules. The columns are those of `hac.runs.sweep`,
    without hot misses.

    `best` maps a size to a list with the best split of the dual buffer. For a size that it lacks, all `shares` are
    tried, and the best one is added.
    """
    rows = []
    for system, size in product(systems, sizes_mb):
        found = fewest_misses(
            partial(run_dynamic, data, system, size, settings, seed),
            best.get(size, shares) if system == "gom" else [None],
            lambda fetches: int((fetches["page"] > 0).sum()),
        )
        if found is not None:
            count, share, memory = found
            if system == "gom":
                best[size] = [share]
            rows.append(("dynamic", system, size, memory[0] / MB, memory[1] / MB, share, count))
    columns = ["traversal", "system", "cache_mb", "frames_mb", "table_mb", "share", "cold_misses"]
    return pd.DataFrame(rows, columns=columns)


def cost_sensitivity(sweeps, points_mb, costs):
    """Compute replacement and conversion as shares of the fetch time at the points of Figure 9, varying the testbed's
    values one at a time without refitting.

    The fetch time is simulated again only for the values in `IN_A_FETCH`: other values could change it only by changing
    how much the drive reads ahead while the client works.

    Returns
    -------
    DataFrame
        ``kind, parameter, value, traversal, misses, replacement_pct, conversion_pct, stack_pct``; the first row
        of each traversal, with parameter ``none``, is the study's own.
    """
    rows = []
    for name in STATIC:
        fetches = at_size(sweeps[name], points_mb[name])
        base = penalty(fetches, points_mb[name], costs)
        rows.append(_shares("cost", "none", "", name, base))
        for parameter, value in costs.testbed.variations():
            if parameter in NOT_AT_THE_POINTS:
                continue
            varied = costs._replace(testbed=costs.testbed.with_values(**{parameter: value}))
            if parameter in IN_A_FETCH:
                found = penalty(fetches, points_mb[name], varied)
            else:
                found = base._replace(us=base.us | client_us(fetches, points_mb[name], varied))
            rows.append(_shares("cost", parameter, value, name, found))
    return _as_table(rows)


def algorithm_sensitivity(data, traversal, cache_mb, costs, iterations, settings):
    """Compute the shares of `cost_sensitivity`, varying HAC's recollected parameters one at a time over the values in
    `settings`."""
    rows = []
    for parameter, values in {"none": [""], **settings}.items():
        for value in values:
            chosen = {} if parameter == "none" else {parameter: value}
            rows += _varied(data, traversal, cache_mb, costs, iterations, ("algorithm", parameter, value), **chosen)
    return _as_table(rows)


def layout_sensitivity(traversal, cache_mb, costs, iterations, layouts):
    """Compute the shares of `cost_sensitivity` for other databases; `layouts` maps each name to its seed and sizes."""
    rows = []
    for name, sizes in layouts.items():
        data = database(**sizes)
        own = costs._replace(pages=len(data.pages))
        rows += _varied(data, traversal, cache_mb, own, iterations, ("layout", "layout", name))
    return _as_table(rows)


def _varied(data, traversal, cache_mb, costs, iterations, key, **chosen):
    """Return a list with the row of one run; an empty list if the cache is too small, or there are no hot misses."""
    try:
        fetches = run(data, "hac", traversal, cache_mb, iterations, **costs.testbed.record | chosen).fetches
        return [_shares(*key, traversal, penalty(fetches, cache_mb, costs))]
    except ParameterError:
        return []


def _shares(kind, parameter, value, traversal, one):
    us = one.us
    text = value if isinstance(value, str) else f"{value:g}"
    return (
        kind, parameter, text, traversal, one.fetches, 100 * us["replacement"] / us["fetch"],
        100 * us["conversion"] / us["fetch"], 100 * us["stack_scanning"] / us["replacement"],
    )  # fmt: skip


def _as_table(rows):
    columns = ["kind", "parameter", "value", "traversal", "misses", "replacement_pct", "conversion_pct", "stack_pct"]
    return pd.DataFrame(rows, columns=columns)
