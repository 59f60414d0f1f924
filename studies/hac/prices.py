"""Price the HAC study's runs: operations are priced for a processor, and fetches are replayed on the page server.

Paper: M. Castro, A. Adya, B. Liskov, A. C. Myers, "HAC: Hybrid Adaptive Caching for Distributed Storage Systems", SOSP
1997, section 4.4. Miss penalty = fetch time + replacement overhead + conversion overhead, as means per fetch. One cost,
the number of instructions that it takes to install an object, is fitted to one published share; all others are the
testbed's.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from misspenalty.errors import ParameterError
from misspenalty_studies.hac.object_server.object_client import REPLACEMENT, Prices, load_testbed
from misspenalty_studies.hac.object_server.page_server import COMPONENTS, PageServer, Stream
from misspenalty_studies.hac.runs import hot_iterations


class Penalty(NamedTuple):
    """Mean times and counts per fetch.

    With several clients, `us` has no ``total``, `visible_us` is NaN, and `run_hit_pct` is `hit_pct`.

    Attributes
    ----------
    us : dict of str to float
        Fetch time by component (``client, server, disk, network``), ``fetch``, replacement by component,
        ``replacement``, ``conversion``, and ``total``: the miss penalty, measured as clock time minus hit time.
    fetches : float
        Fetches of one iteration.
    counts : dict of str to float
        Mean of each count per fetch.
    hit_pct, run_hit_pct : float
        Hit rate of the server's page cache in the iterations averaged, and in all iterations up to the last of these.
    visible_us : float
        Replacement that is not hidden behind the wait for the reply.
    hit_s : float
        Time of the traversal itself in one iteration.
    """

    us: dict
    fetches: float
    counts: dict
    hit_pct: float
    run_hit_pct: float
    visible_us: float
    hit_s: float


class Costs(NamedTuple):
    """Parameters for pricing a run.

    Attributes
    ----------
    testbed : ObjectServerTestbed
        The testbed, with `install_instructions` set.
    pages : int
        Pages of the database.
    seed : int
        Seed of the random parts: the server's hits if their share is given, and the pages' places unless they are
        contiguous.
    """

    testbed: object
    pages: int
    seed: int


def load_fitted(machine, fit):
    """Load the testbed with its fitted cost.

    Parameters
    ----------
    machine : path-like
        ``machine.yaml``.
    fit : path-like or DataFrame
        The table of `misspenalty_studies.hac.tables.fit`.
    """
    found = fit if isinstance(fit, pd.DataFrame) else pd.read_csv(fit)
    return load_testbed(machine).with_values(install_instructions=float(found["value"].iloc[0]))


def priced(fetches, cache_mb, costs, processor=None):
    """Price the client's work in every row of a run's fetches.

    Parameters
    ----------
    fetches : DataFrame
        `TraversalRun.fetches`.
    cache_mb : float
    costs : Costs
    processor : Processor, optional

    Returns
    -------
    DataFrame
        Times in ns, float: replacement by component, ``replacement, conversion, hit``.
    """
    prices, size = Prices(costs.testbed, processor), cache_mb * 2**20
    table = prices.replacement(fetches, size)
    table["replacement"] = table[list(REPLACEMENT)].sum(axis=1)
    table["conversion"] = prices.conversion(fetches, size)
    table["hit"] = prices.hit_time(fetches, size).sum(axis=1)
    return table


def penalty(fetches, cache_mb, costs, *, cold=False, processor=None, rate=None, hit_share=None, clients=1, times=None):
    """Compute the mean miss penalty of a run's hot iterations, or of its cold iteration.

    Parameters
    ----------
    fetches, cache_mb, costs, processor
        As in `priced`.
    cold : bool
    rate, hit_share
        As in `PageServer`.
    clients : int
        Number of clients that run the same program, each starting at a different point of its hot iterations. With
        several clients, times are means over each client's fetches up to the point where the next client began;
        together these cover all fetches, some more than once if their number is not a multiple of `clients`. At the
        start, the fetches that one client makes before its hot iterations warm the server's cache, as with one client;
        the drive's own cache starts empty.
    times : DataFrame, optional
        The result of `priced` for these fetches, costs and processor, if it was computed before.

    Returns
    -------
    Penalty

    Raises
    ------
    ParameterError
        No page is fetched in the iterations averaged.
    """
    iterations = int(fetches["iteration"].max()) + 1
    wanted = [0] if cold else list(hot_iterations(iterations))
    until = fetches["iteration"] <= wanted[-1]
    used = fetches[until].reset_index(drop=True)
    times = priced(used, cache_mb, costs, processor) if times is None else times[until].reset_index(drop=True)
    fetch = used["page"].to_numpy() > 0
    chosen = used["iteration"].isin(wanted).to_numpy()
    if not (fetch & chosen).any():
        raise ParameterError(f"no page is fetched in these iterations with {cache_mb:g} MB; choose a smaller cache")
    generator = np.random.default_rng(costs.seed)
    server = PageServer(costs.testbed, costs.pages, rate=rate, hit_share=hit_share, generator=generator)
    register = round(Prices(costs.testbed, processor).client_page_ns())
    ours = chosen[fetch]
    if clients == 1:
        outcome = server.run([_stream(used, times, fetch, register)])[0]
        ns, hit, begun = outcome.ns[ours], outcome.hit[ours], outcome.begun
        run_hit = 100 * outcome.hit.mean()
    else:
        streams = _shifted(used[chosen], times[chosen], register, clients)
        enough = -(-len(streams[0].page) // clients)
        outcomes = server.run(streams, used["page"].to_numpy()[fetch & ~chosen], enough)
        ns = np.concatenate([one.ns[:enough] for one in outcomes])
        hit = np.concatenate([one.hit[:enough] for one in outcomes])
        begun, run_hit = None, 100 * hit.mean()
    return _means(used, times, fetch, chosen, ns, hit, run_hit, begun, ours, len(wanted))


def _stream(used, times, fetch, register):
    """Return the stream of one client that runs its iterations one after another and replaces in the foreground."""
    work = (times["hit"] + times["conversion"] + times["replacement"]).to_numpy()
    group = np.cumsum(fetch)  # number of the fetch before a row's work; rows with page 0 are not fetches
    before = np.bincount(group, weights=work, minlength=fetch.sum() + 1)
    return Stream(used["page"].to_numpy()[fetch], np.rint(before).astype(np.int64), register)


def _shifted(used, times, register, clients):
    """Return a stream of the same hot fetches for each client, each with a different starting point.

    After the last fetch, a client does the work that follows it and continues with the first fetch.
    """
    fetch = used["page"].to_numpy() > 0
    stream = _stream(used, times, fetch, register)
    n = len(stream.page)
    streams = []
    for at in (client * n // clients for client in range(clients)):
        before = stream.before[:n].copy()
        before[0] += stream.before[n] if at else 0
        streams.append(Stream(np.roll(stream.page, -at), np.append(np.roll(before, -at), 0), register))
    return streams


def _means(used, times, fetch, chosen, ns, hit, run_hit, begun, ours, iterations):
    rows = fetch & chosen
    number = rows.sum()
    us = {name: value / 1000 for name, value in zip(COMPONENTS, ns.mean(0), strict=True)}
    us["fetch"] = ns.sum() / len(ns) / 1000
    spent = times[chosen].sum() / number / 1000
    us |= {name: spent[name] for name in (*REPLACEMENT, "replacement", "conversion")}
    hit_s = times.loc[chosen, "hit"].sum() / iterations / 1e9
    wait = ns.sum(1) - ns[:, COMPONENTS.index("client")]
    visible = np.nan
    if begun is not None:
        first = np.flatnonzero(ours)[0]
        last = np.flatnonzero(ours)[-1] + 1
        lead = times.loc[chosen & ~fetch, "hit"].sum() - times.loc[chosen & ~fetch, "hit"].iloc[0]
        us["total"] = (begun[last] - begun[first] - times.loc[rows, "hit"].sum() - lead) / number / 1000
        visible = np.maximum(times.loc[rows, "replacement"].to_numpy() - wait, 0).mean() / 1000
    counts = used[chosen].drop(columns=["iteration", "page"]).sum() / number
    return Penalty(us, number / iterations, counts.to_dict(), 100 * hit.mean(), run_hit, visible, hit_s)


def client_us(fetches, cache_mb, costs, processor=None):
    """Price replacement, by component and in total, and conversion in the hot iterations, in us per fetch; no fetches
    are simulated."""
    wanted = list(hot_iterations(int(fetches["iteration"].max()) + 1))
    used = fetches[fetches["iteration"].isin(wanted)].reset_index(drop=True)
    spent = priced(used, cache_mb, costs, processor).sum() / (used["page"] > 0).sum() / 1000
    return {name: spent[name] for name in (*REPLACEMENT, "replacement", "conversion")}
