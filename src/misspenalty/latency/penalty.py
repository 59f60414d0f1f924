"""Simulate the response time of a trace through cache, queue and device.

A request that finds its block in the cache is a *hit*. A request whose block is neither cached nor being fetched is a
*miss*: it sends a fetch to the device. A request whose block is being fetched is a *delayed hit*: it waits for the rest
of that fetch. A block enters the cache, and the policy sees it, when its fetch completes; all requests that waited
count as one use. This is the step model of `misspenalty.latency.steps` in continuous time. At equal times, a fetch
completes before a request arrives.

- **Load.** A trace with times is replayed at those times (open loop), `speed` times as fast, or with a fixed `interval`
  between requests; a time earlier than the preceding one counts as equal to it. Times that begin before 0, or end too
  late to be timed, are counted from the first request. With `clients` the times are not used: each client takes the
  next request of the trace as soon as its previous one has been served and it has thought for `think` (closed loop). A
  trace without times is replayed by one client, unless `interval` or `clients` says otherwise.
- **Requests** are references to one block. A request of the trace that spans several blocks becomes one request per
  block, all at the same time, and each block has its own fetch.
- **Writes** are absorbed by the cache and never count: with ``writes="count"``, the default, a written block enters the
  cache at once, without a fetch, as in `misspenalty.simulate`, unless it is already being fetched. Writing back is
  assumed to happen while the device is idle; with `write_through` each write also goes to the device when it arrives,
  and reads queue behind it. ``"ignore"`` leaves writes out. (``"only"`` has no meaning here, as no request would wait.)
- **Devices.** A device with a fixed time serves any number of requests at once; its time counts as overhead. A disk
  serves one at a time, chosen by its scheduler. On a flash drive requests overlap on different dies; waiting for a die
  counts as queueing.
- **Sizes.** In a trace of objects of different sizes, each fetch transfers the bytes requested, rounded up to sectors.
  In a cache of bytes (`misspenalty.policies.sized`), each object takes up its own bytes; an object whose change of size
  makes a request miss is fetched again. A fixed time does not depend on the size. Objects are packed on the drive in
  order of address, each with room for its largest size.
- **Addresses.** A block is stored on the drive at its address in the trace. If the highest address lies beyond the
  drive, the distinct blocks are packed without gaps, in order of address; if even these do not fit, the drive is
  rejected.
- **Policies.** All policies of the registry that do not look into the future can be timed, as well as ``opt`` and
  ``opt_bypass``. Classes with ``access`` and ``__contains__`` can be timed, too, but slowly. A cache of bytes accepts
  only policies that are defined for sizes, and classes with ``access(block, size)``. ``opt`` evicts the block whose
  next reference is farthest away in the trace; ``opt_bypass`` does not insert the fetched block if its own next
  reference is the farthest. These rules aim at the most hits, not at the least waiting.
"""

from __future__ import annotations

import functools
import inspect
import itertools

import numpy as np

from misspenalty import disks
from misspenalty.errors import ParameterError, check_choice, check_flag, check_positive, check_whole, listed
from misspenalty.io.later import pd
from misspenalty.io.threads import check_threads, in_threads
from misspenalty.latency._replay_timed import Foresight, PythonCache, Replay, following
from misspenalty.latency.placement import find_target
from misspenalty.policies.python_policy import Adapter
from misspenalty.policies.registry import find_policies, settings_of
from misspenalty.policies.sized import check_changes, find_sized
from misspenalty.replay.by_bytes import first_sizes
from misspenalty.replay.cache_size import block_bytes_of, cache_sizes, check_size_changes
from misspenalty.replay.result import warn_if_better_than_opt
from misspenalty.traces.compiled import as_trace
from misspenalty.traces.quantities import LATEST, parse_time
from misspenalty.traces.selection import MOST_REFERENCES, check

COMPONENTS = ("hit", "delayed", *disks.COMPONENTS)
PERCENTILES = (50, 95, 99)
WRITES = ("count", "ignore")
FORESIGHT = ("opt", "opt_bypass")
MAX_REQUESTS = 2**31 - 1
MAX_CLIENTS = 1 << 20


def penalty(
    trace,
    policy,
    cache_blocks,
    device,
    *,
    unit: str | None = None,
    size_changes: str = "replace",
    clients: int | None = None,
    think: str = "0us",
    speed: float = 1.0,
    interval: str | None = None,
    scheduler: str | None = None,
    hit_time: str = "0us",
    writes: str = "count",
    write_through: bool = False,
    warm_up: int = 0,
    threads: int | None = None,
    **parameters,
) -> pd.DataFrame:
    """Replay a trace through caches in front of devices, and measure how long requests wait and for what.

    `misspenalty.latency.penalty` describes the model: load, writes, devices and addresses.

    Parameters
    ----------
    trace : Trace, path-like, array of integers or table
        As in `misspenalty.simulate`.
    policy : str or type, or a sequence of them
        Names of policies (see `misspenalty.policies`), or classes with ``access(block)``, or ``access(block, size)`` in
        caches of bytes, and ``__contains__(block)``.
    cache_blocks : int, float or str, or a sequence of these
        Cache sizes, as in `misspenalty.simulate`.
    device : str, path, Description or FlashDescription, or a sequence of these
        A drive's name or description (see `misspenalty.disks.load`), or a fixed time with its unit, such as ``"5ms"``.
    unit : {"bytes", "objects"}, optional
        As in `misspenalty.simulate`.
    size_changes : {"replace", "keep", "new"}
        As in `misspenalty.simulate`.
    clients : int, optional
        Replay in a closed loop of this many clients.
    think : str
        Time from the end of a client's request to its next one, such as ``"1ms"``.
    speed : float
        Factor by which requests arrive faster than in the trace, or than with `interval`.
    interval : str, optional
        Time between requests, in place of the trace's own times.
    scheduler : {"fcfs", "sstf", "look", "clook", "sptf"}, optional
        Order of a disk's queue; by default, first come, first served. Other devices have no such queue.
    hit_time : str
        Time that each request takes in the cache, whether it hits or misses.
    writes : {"count", "ignore"}
        How writes are treated. With ``"count"``, they update the cache but never count as requests; with
        ``"ignore"``, they are left out.
    write_through : bool
        Whether writes also go to the device; an error with ``writes="ignore"``.
    warm_up : int
        References at the start of the trace that are not counted.
    threads : int, optional
        Number of replays in parallel; by default one per processor. The result does not depend on it.
    **parameters
        The policy's parameters. With several policies, each takes those that it has.

    Returns
    -------
    DataFrame
        One row per policy, size and device, in this order: ``policy, cache_blocks, device, load, layout, requests,
        hits, delayed_hits, misses, mean_us, p50_us, p95_us, p99_us`` (nearest rank), and the mean's components,
        microseconds per request: ``hit_us, delayed_us, queue_us, overhead_us, seek_us, rotation_us, switch_us,
        transfer_us, bus_us, cache_us``. For caches of bytes, ``cache_bytes`` replaces ``cache_blocks``. ``load``
        is ``open`` or ``closed``; ``layout`` is ``address``, ``packed``, or ``none`` for a fixed time.

    Raises
    ------
    ParameterError
        A policy, parameter, size, time or combination is invalid, or the trace does not fit on the drive.
    InputError
        The trace cannot be read, there is no such drive, or its description is invalid.

    Examples
    --------
    Block 7 is requested every millisecond, and a fetch takes 2.5 ms: a miss, two delayed hits, a hit.

    >>> import numpy as np
    >>> import misspenalty
    >>> ids, address = np.zeros(4, np.uint32), np.array([7], np.uint64)
    >>> trace = misspenalty.Trace(ids, None, np.arange(4) * 1_000_000, address, 4096, "example", "none")
    >>> row = misspenalty.penalty(trace, "lru", 1, "2.5ms").iloc[0]
    >>> int(row.misses), int(row.delayed_hits), int(row.hits), float(row.mean_us)
    (1, 2, 1, 1125.0)
    """
    trace = as_trace(trace)
    check_choice("writes", writes, WRITES, ": writes have no response time")
    warm_up = check(trace, writes, warm_up)
    write_through = check_flag("write_through", write_through)
    if write_through and writes == "ignore":
        raise ParameterError(
            "write_through sends writes to the device, but writes is 'ignore', which leaves them out; set writes to"
            " count, or leave out write_through"
        )
    if len(trace) > MAX_REQUESTS:
        raise ParameterError(f"{trace.name} has {len(trace)} references; at most {MAX_REQUESTS} can be timed")
    given, policies, devices = cache_sizes(trace, cache_blocks, unit), listed(policy), listed(device)
    check_size_changes(size_changes, given.in_bytes)
    if not (policies and devices):
        raise ParameterError(f"no {'device' if policies else 'policy'} given")
    policies = find_policies(policies)
    settings = _settings(policies, parameters, size_changes if given.in_bytes else None)
    if scheduler is not None:
        check_choice("scheduler", scheduler, disks.SCHEDULERS)
    load = _load(trace, clients, think, speed, interval)
    part = _selected(trace, writes, warm_up)
    future = following(part["ids"], trace.blocks) if any(p.name in FORESIGHT for p in policies) else None
    targets = [find_target(device, trace, scheduler) for device in devices]
    if scheduler is not None and not any(target.queued for target in targets):
        named = ", ".join(target.name for target in targets)
        raise ParameterError(
            f"scheduler is {scheduler!r}, but only a disk has a queue to order, not {named}; name a disk, or leave"
            " out scheduler"
        )
    transfers = [target.transfers(trace, part["kept"]) for target in targets]
    asked = None if trace.request_bytes is None else trace.bytes_of(part["kept"])
    hit_ns = parse_time(hit_time, "hit_time")

    def run(policy, own, size, place, advance):
        target = targets[place]
        cache = _cache(policy, size, trace, own, size_changes if given.in_bytes else None)
        replay = Replay(cache, target.make(), target.lbn, target.sectors, hit_ns, write_through)
        ahead = future if policy.name in FORESIGHT else np.empty(0, np.int64)
        arrival = load["arrival"][part["kept"]]
        try:
            counts, latency = replay.run(part["ids"], part["write"], arrival, ahead, part["warm_up"], load["clients"],
                                         load["think"], advance, asked, transfers[place])  # fmt: skip
        except OverflowError as error:
            raise ParameterError(
                f"{policy.name}, {size} {'bytes' if given.in_bytes else 'blocks'}, {target.name}: {error}, which is"
                f" {LATEST / 1e9 / 86400 / 365:.0f} years; shorten the think time, choose a faster device, or replay a"
                " shorter trace"
            ) from error
        if isinstance(cache, PythonCache):
            cache.policy.check_size()
        latency = np.asarray(latency)
        row = {"policy": policy.name, "cache_bytes" if given.in_bytes else "cache_blocks": size, "device": target.name}
        row |= {"load": load["name"], "layout": target.layout}
        return row | _row(counts, latency[latency >= 0], hit_ns)

    chosen = itertools.product(zip(policies, settings, strict=True), given.sizes, range(len(targets)))
    jobs = [functools.partial(run, policy, own, size, place) for (policy, own), size, place in chosen]
    rows = in_threads(jobs, lambda references: None, check_threads(threads))
    if not given.in_bytes:
        warn_if_better_than_opt(rows)
    from misspenalty.replay.tables import drawn  # this import loads pandas

    return drawn(pd.DataFrame(rows), "response_time", trace)


def _settings(policies, parameters, size_changes):
    """Return the parameters that each policy has, after checking that all can be timed; arguments as in `_cache`."""
    in_bytes = size_changes is not None
    for each in policies:
        if each.offline and each.name not in FORESIGHT:
            known = " and ".join(FORESIGHT)
            raise ParameterError(f"{each.name} looks into the future; of such policies only {known} can be timed")
        if each.name in FORESIGHT and in_bytes:
            raise ParameterError(
                f"{each.name} cannot be timed with objects of different sizes; leave it out, or count"
                " objects (give sizes such as 1000, or set the unit to objects)"
            )
    known = inspect.signature(penalty).parameters
    if in_bytes:
        sized = [find_sized(each) for each in policies]
        check_changes(sized, size_changes)
        settings = settings_of(sized, parameters, " for objects of different sizes", known)
    else:
        settings = settings_of(policies, parameters, known=known)
    for each in policies:
        if each.kernel is None and not hasattr(each.reference, "__contains__"):
            raise ParameterError(
                f"policy {each.name} has no `__contains__`, which response times need; give the class a method"
                " __contains__(self, block) that returns whether the block is in the cache, without referencing it"
            )
    return settings


def _cache(policy, size, trace, parameters, size_changes):
    """Make a cache under a policy: of blocks, or of bytes if `size_changes` is set."""
    if size_changes is not None:
        cache = find_sized(policy).cache(size, first_sizes(trace), size_changes, parameters, trace.address)
    elif policy.name in FORESIGHT:
        return Foresight(size, trace.blocks, policy.name == "opt_bypass")
    else:
        cache = policy.cache(size, trace.address, parameters, block_bytes=block_bytes_of(trace))
    if isinstance(cache, Adapter):
        return PythonCache(min(size, MOST_REFERENCES), trace.blocks, cache)
    return cache


def _load(trace, clients, think, speed, interval):
    """Return the arrival times of all references, ns, or the clients and their think time."""
    pause, speed = parse_time(think, "think"), check_positive("speed", speed)
    if clients is not None and (interval is not None or speed != 1):
        raise ParameterError(
            "clients: a closed loop has neither interval nor speed; leave out clients, or interval and speed"
        )
    if clients is not None:
        clients = check_whole("clients", clients, 1, MAX_CLIENTS)
    closed = clients is not None or (interval is None and trace.time is None)
    if clients is None and closed and speed != 1:
        raise ParameterError(
            f"speed is {speed:g}, but {trace.name} has no times, and one client replays it; set interval, or leave out"
            " speed"
        )
    if pause and not closed:
        raise ParameterError(f"think is {think}; only the clients of a closed loop think: set clients")
    if closed:
        return {"name": "closed", "arrival": np.zeros(len(trace), np.int64), "clients": clients or 1, "think": pause}
    if interval is None:
        arrival = np.maximum.accumulate(trace.time)
        first, last = int(arrival[0]), int(arrival[-1])
        if first < 0 or max(last, last / speed) > LATEST:
            arrival, last = (arrival - first).view(np.uint64), last - first  # can be up to 2**64 - 1 ns
    else:
        step = parse_time(interval, "interval")
        arrival, last = np.arange(len(trace), dtype=float) * step, (len(trace) - 1) * step
    last /= speed
    if last > LATEST:
        raise ParameterError(
            f"{trace.name}: the last request arrives after {last / 1e9:.3g} s; at most {LATEST // 10**9} s can be"
            " timed: raise the speed, shorten the interval, or set clients"
        )
    if speed != 1:
        arrival = np.rint(arrival / speed)
    return {"name": "open", "arrival": arrival.astype(np.int64), "clients": 0, "think": 0}


def _selected(trace, writes, warm_up):
    """Select the references that reach the cache, and count those that belong to the warm-up."""
    none = np.empty(0, np.uint8)
    if trace.write is None or writes == "count":
        write = none if trace.write is None else np.asarray(trace.write).view(np.uint8)
        return {"ids": trace.ids, "write": write, "kept": slice(None), "warm_up": warm_up}
    kept = ~np.asarray(trace.write)
    return {"ids": trace.ids[kept], "write": none, "kept": kept, "warm_up": int(np.count_nonzero(kept[:warm_up]))}


def _row(counts, latency, hit_ns):
    """Return the counts, quantiles and components of the requests that count."""
    n = len(latency)
    shares = {"hit": n * hit_ns} | {part: counts[part] for part in COMPONENTS[1:]}
    mean = {"mean_us": sum(shares.values()) / n / 1000 if n else np.nan}
    at = {f"p{share}_us": np.nan for share in PERCENTILES}
    if n:
        ranks = [-(-n * share // 100) - 1 for share in PERCENTILES]
        at = dict(zip(at, (np.partition(latency, ranks)[ranks] / 1000).tolist(), strict=True))
    parts = {f"{part}_us": value / n / 1000 if n else np.nan for part, value in shares.items()}
    return {"requests": n} | {name: counts[name] for name in ("hits", "delayed_hits", "misses")} | mean | at | parts
