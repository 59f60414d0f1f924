"""Simulate a first level of any size over a capture taken behind a smaller one, and calibrate its size on Table 3.

The paper's Table 3 gives the temporal distance of the re-accesses that reach the storage server: 28.8 % of them are
closer than 64 k references. No claim tests that share. Behind PostgreSQL's buffers of the paper's size, 128 MB, the
share is lower, so these buffers absorb more than the paper's first level did. Here the first level is LRU, which
according to the paper is similar to Oracle's replacement. It is simulated over the references that pass a much smaller
buffer, and its size is the one whose share is closest to 28.8 %. Distances are counted in accesses to the server's
cache, both reads and writes, as section 3.1 defines them.

The first level writes back, as a database's buffer does: a write makes a block dirty, and the block is written when it
leaves. Until 2026-11-26 every write of the smaller buffer was passed on at once, even if the simulated level held the
block, which no real buffer of that size does. On that day a test of write-back was written down, before it was run: in
the real capture behind 128 MB, 16.9 % of the re-accesses are short. Behind a simulated level of 128 MB, the share has
to be closer to that than the 14.4 % of the stream without write-back, and within 1.5 points of it; otherwise the old
stream stays in use. The size is then chosen by the rule above, over the same range, regardless of the verdicts that
follow. Dirty blocks that a database writes before they leave, at checkpoints, are not modelled.

The paper does not say how its cache treats a write, and the size depends on it: if only reads count as accesses, the
same stream's re-accesses are closer, and the size found is larger. A rule was written down on 2026-11-24, before any of
this was run: the judged reading remains the one that section 3.1 implies (writes are accesses) unless three printed
facts that no claim tests all favour another one. They are Table 2's eight known hit ratios as a whole, LRU's misses
closer than the cache size (Table 3: none), and the share of first reads (Tables 1 and 3: 12 %). The share of first
reads does not favour another reading: it is above 12 % in either case, and higher if only reads count as accesses.
`misspenalty_studies.mq.conditions` tries the other readings.
"""

import numpy as np
import pandas as pd

from misspenalty.errors import ParameterError
from misspenalty.io.threads import map_in_threads
from misspenalty.traces.distances import previous_use
from misspenalty_studies.common.claims.conditions import under_conditions as judge_under
from misspenalty_studies.common.claims.ledger import read_ledger
from misspenalty_studies.mq import claims as mq_claims
from misspenalty_studies.mq.runs import behind, blocks_of, replay


def distances(trace, threshold_mb):
    """Compute the share of a trace's re-accesses that are short, and the share of its reads that are first reads.

    Parameters
    ----------
    trace : Trace
    threshold_mb : float
        Size of a cache, MB; a distance is short if it is less than the number of blocks in this cache.

    Returns
    -------
    dict of str to float
        ``short_share_pct``: percentage of short distances among the reads of blocks accessed before;
        ``first_reads_pct``: percentage of all reads whose block was not accessed before; ``short_of_reads_pct,
        first_of_reads_pct``: the same percentages if only reads count as accesses.

    Raises
    ------
    ParameterError
        The trace has no reads.
    """
    if not trace.reads:
        raise ParameterError(f"{trace.name}: the trace has no reads whose distances could be counted")
    read = slice(None) if trace.write is None else ~trace.write

    def shares(distance):
        again = distance[distance > 0]
        short = 100 * np.count_nonzero(again < blocks_of(trace, threshold_mb)) / max(again.size, 1)
        return short, 100 * (1 - again.size / distance.size)

    found = {}
    found["short_share_pct"], found["first_reads_pct"] = shares(previous_use(trace.ids, trace.blocks)[read])
    alone = previous_use(np.ascontiguousarray(trace.ids[read]), trace.blocks)
    found["short_of_reads_pct"], found["first_of_reads_pct"] = shares(alone)
    return found


RANGE = "change the range of first_level_mb in data/calibration.yaml"  # remedy if the size is outside the range


def calibrate(trace, target_pct, span_mb, threshold_mb, cache_mb, shown_mb, reads=None, threads=1, remedy=RANGE):
    """Determine the first-level size, in whole MB, whose share of short re-accesses is closest to a published one.

    The share falls as the first level grows, so the size is found by bisection.

    Parameters
    ----------
    trace : Trace
        Stream behind a first level smaller than any that is tried.
    target_pct : float
        The published share.
    span_mb : (int, int)
        Smallest and largest size.
    threshold_mb : float
        As in `distances`.
    cache_mb : sequence of float
        Storage caches whose hit ratios are tabulated.
    shown_mb : sequence of int
        First-level sizes that are tabulated next to the one found.
    reads : int, optional
        Length of every stream, in reads: the temporal distance of re-accesses and the number of blocks read for the
        first time depend on it. By default, a stream has all read misses of its first level.
    threads : int, optional
        Number of first levels that are tabulated concurrently.
    remedy : str
        What the error about `span_mb` advises.

    Returns
    -------
    stream : Trace
        The stream behind the first level found.
    table : DataFrame
        One row per first level, storage cache and policy: ``first_level_mb, chosen, target_pct``, the shares of
        `distances`, ``reads``, ``cache_mb, policy, hit_ratio_pct``; writes are accesses.

    Raises
    ------
    ParameterError
        The published share is not between the shares with the smallest and the largest size; or as in
        `misspenalty_studies.mq.runs.behind`.
    """
    found = {}

    def share(mb):
        if mb not in found:
            found[mb] = distances(behind(trace, mb, reads), threshold_mb)
        return found[mb]["short_share_pct"]

    low, high = map(int, span_mb)
    if not share(low) >= target_pct >= share(high):
        raise ParameterError(
            f"behind a first level of {low} to {high} MB, {share(high):.1f} to {share(low):.1f} % of the re-accesses"
            f" are short, but the published share is {target_pct:g} %; {remedy}"
        )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if share(middle) >= target_pct else (low, middle)
    chosen = min((low, high), key=lambda mb: abs(share(mb) - target_pct))

    def rows(mb):  # the stream takes a hundred megabytes, so it is not kept
        stream = behind(trace, mb, reads)
        shares = found[mb] if mb in found else distances(stream, threshold_mb)
        level = {"first_level_mb": mb, "chosen": mb == chosen, "target_pct": target_pct, **shares}
        tables = [replay(stream, policy, cache_mb, writes=("count",)) for policy in ("mq", "lru")]
        table = pd.concat(tables, ignore_index=True)[["cache_mb", "policy", "hit_ratio_pct"]]
        return pd.DataFrame([level | {"reads": stream.reads}] * len(table)).join(table)

    shown = sorted({*map(int, shown_mb), chosen})
    table = pd.concat(map_in_threads(rows, shown, threads), ignore_index=True)
    return behind(trace, chosen, reads), table


def claims_over_size(levels, ledger):
    """Count the verdicts on the ledger's entries about Table 4's hit ratios behind first levels of several sizes.

    Parameters
    ----------
    levels : DataFrame
        Table from `calibrate`.
    ledger : path-like
        ``studies/mq/ledger.yaml``.

    Returns
    -------
    DataFrame
        ``first_level_mb, chosen, short_share_pct``; ``judged``, the number of entries of the ledger decided by hit
        ratios alone; ``reproduced, direction``, the number of these entries with each of these two verdicts.
    """
    claims = read_ledger(ledger)
    table = levels.rename(columns={"first_level_mb": "condition"})
    verdicts = judge_under(
        claims, "mq", mq_claims, dict.fromkeys((claim.id for claim in claims), "direction"), {"table4": table}
    )
    counts = verdicts.groupby(["condition", "verdict"]).size().unstack(fill_value=0)
    sizes = levels.drop_duplicates("first_level_mb").set_index("first_level_mb")[["chosen", "short_share_pct"]]
    counts.index = counts.index.astype(int)
    columns = {name: counts.get(name, 0) for name in ("reproduced", "direction")}
    return sizes.assign(judged=counts.sum(axis=1), **columns).reset_index()
