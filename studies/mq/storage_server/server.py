"""Simulate a database in front of a storage server with a large cache, in a closed loop.

Paper: Y. Zhou, J. F. Philbin, K. Li, "The Multi-Queue replacement algorithm for second level buffer caches", USENIX
ATC 2001, "Implementation" (the machine) and "Results" (Figure 7: the transaction rate, normalised).

`terminals` database processes run one transaction after another. A transaction consists of consecutive reads, each of
which takes these steps:

1. a request message to the storage server (constant latency),
2. the processor of the server that owns the block's disk (FCFS; an interrupt and the request's handling),
3. on a cache miss, the block's disk (FCFS) and an interrupt at the same processor when the disk has finished,
4. the database's incoming link (FCFS, one block), the message latency and an interrupt,
5. a burst of database processor time (FCFS, one queue for all processors).

The blocks read come from a real trace, and so do the writes. The database's writer sends the writes over the outgoing
link to the server's processor and the disk. No process waits until a write is on disk, but reads share the disks with
writes. There are two ways to decide whether the cache has a block:

- Priced (`run`): the paper's simulation. The trace has been replayed beforehand, without timing; one cursor runs over
  it, and the terminal whose request reaches the servers next takes the next read with its outcome. Writes that the
  cursor passes are sent at that moment.
- Live (`run_live`): the paper's implementation. The policy runs in the servers. A terminal that begins a transaction
  takes the next part of the trace, up to its number of reads, and works through it while the others work through
  theirs. The cache is accessed when a read's request or a written block reaches the servers. The timing thus decides
  the order in which the cache sees the references, and the hits in turn affect the timing. A terminal sends the writes
  before its next read together with that read's request, on one connection that keeps their order, because a database
  writes a dirty frame before it reads another block into that frame. The request queues behind the writes
  (``network_queue``), so no read overtakes a write of its own stretch. With a single terminal the cache therefore sees
  exactly the trace's order.

Where the paper states nothing, ``studies/mq/machine.yaml`` states the value assumed, and why. Log disks are left out,
as in the paper. In a priced run, the cache follows the trace's order even where the timing would reorder two requests.
In a live run, a block is in the cache as soon as a request for it has missed, so a second request hits although the
disk is still busy. In both, transactions are formed by counting reads, since a trace does not name the process behind
each reference.
"""

from dataclasses import dataclass

import numpy as np

from misspenalty.errors import ParameterError
from misspenalty.policies import find_policy
from misspenalty.replay.simulation import make_kernel
from misspenalty.traces.quantities import LATEST
from misspenalty_studies.mq.storage_server._storage_server import Server

HIT, MISS, WRITE = 0, 1, 2  # outcome of a reference
COMPONENTS = (
    "database_queue",
    "database_cpu",
    "network_queue",
    "network",
    "server_queue",
    "server_cpu",
    "disk_queue",
    "disk",
)
STATIONS = ("database_cpu", "server_cpu", "disk", "link_in", "link_out")
CREDIT = 1 << 20  # one read, in the fixed-point numbers that spread a fractional number of reads over transactions
LONGEST_ACCESS = 0xFFFFFFFF  # longest disk service time that the kernel can represent, ns


@dataclass(frozen=True)
class ClosedLoopResult:
    """Results of a run, from the end of the warm-up until the first terminal ran out of reads.

    A read or transaction is counted when its terminal requests the next block.

    Attributes
    ----------
    transactions, hits, misses : int
        Transactions and reads completed.
    writes : int
        Written blocks that were sent.
    elapsed_ns : int
        Length of the measurement.
    hit_ns, miss_ns, transaction_ns : dict of str to int
        Time that hits, misses and transactions (all their reads) spent in each of `COMPONENTS`; the think time
        between transactions is not included.
    utilisation : dict of str to float
        Mean over the servers of each of `STATIONS`, a fraction.
    """

    transactions: int
    hits: int
    misses: int
    writes: int
    elapsed_ns: int
    hit_ns: dict
    miss_ns: dict
    transaction_ns: dict
    utilisation: dict

    @property
    def reads(self):
        """Reads completed."""
        return self.hits + self.misses

    @property
    def rate_per_s(self):
        """Transactions per second."""
        return self.transactions * 1e9 / self.elapsed_ns

    def access_time_shares(self):
        """Return the shares of hits and misses in the time that all reads spend outside the database, ``{"hit": …,
        "miss": …}``."""
        spent = {
            name: sum(ns for component, ns in part.items() if not component.startswith("database"))
            for name, part in (("hit", self.hit_ns), ("miss", self.miss_ns))
        }
        return {name: ns / max(sum(spent.values()), 1) for name, ns in spent.items()}

    def row(self):
        """Return the counts, the rate, mean latencies in us and utilisations as a flat dict."""
        return {
            "transactions": self.transactions,
            "hits": self.hits,
            "misses": self.misses,
            "writes": self.writes,
            "elapsed_ns": self.elapsed_ns,
            "rate_per_s": self.rate_per_s,
            "hit_us": sum(self.hit_ns.values()) / 1000 / max(self.hits, 1),
            "miss_us": sum(self.miss_ns.values()) / 1000 / max(self.misses, 1),
            "transaction_us": sum(self.transaction_ns.values()) / 1000 / max(self.transactions, 1),
            **{f"utilisation_{name}": value for name, value in self.utilisation.items()},
        }


@dataclass(frozen=True)
class LiveResult(ClosedLoopResult):
    """Results of a run in which a live cache decided which reads hit.

    Attributes
    ----------
    trace_reads, trace_hits : int
        Reads and hits of the whole trace, including the warm-up, as `misspenalty.simulate` counts them.
    """

    trace_reads: int
    trace_hits: int

    @property
    def hit_ratio(self):
        """Hits over reads of the whole trace, a fraction; NaN if nothing was read."""
        return self.trace_hits / self.trace_reads if self.trace_reads else float("nan")


def outcomes(hits, write):
    """Return the outcome of each reference, for `run`.

    Parameters
    ----------
    hits : bool, shape (n,)
        From `misspenalty.simulate`.
    write : bool, shape (n,) or None
        The trace's column that marks the writes; None if all references are reads.

    Returns
    -------
    uint8, shape (n,)
        `HIT`, `MISS` or `WRITE`.
    """
    missed = np.logical_not(hits).view(np.uint8)
    return missed if write is None else np.where(write, np.uint8(WRITE), missed)


def disks_of(trace, testbed):
    """Return the disk of each reference, uint8, shape (n,): `stripe_blocks` consecutive addresses are on one disk, and
    the following ones are on the next disk."""
    disk = trace.address // np.uint64(testbed.stripe_blocks) % np.uint64(testbed.disks)
    return disk.astype(np.uint8)[trace.ids]


def run(outcome, disk, testbed, reads_per_transaction, generator=None):
    """Run a trace in a closed loop, given the outcome of each reference; the GIL is released meanwhile.

    Parameters
    ----------
    outcome : uint8, shape (n,)
        `HIT`, `MISS` or `WRITE` of each reference, in the trace's order.
    disk : uint8, shape (n,)
        Disk of each reference, below ``testbed.disks``.
    testbed : StorageServerTestbed
    reads_per_transaction : float
        Mean number of reads per transaction, from 1 to 1 000 000; it is rounded to a multiple of 2**-20. The reads are
        spread evenly over the transactions.
    generator : numpy.random.Generator, optional
        Draws the disks' service times where ``testbed.disk_time`` is exponential.

    Returns
    -------
    ClosedLoopResult

    Raises
    ------
    ParameterError
        The arrays differ in shape or are empty, a value is invalid, the processor time is not fitted, the disks' times
        are exponential but there is no `generator`, the testbed's times are too long for the clock, or the trace is too
        short to complete a transaction after the warm-up.
    """
    outcome, disk = _check(outcome, disk, testbed, reads_per_transaction)
    server = _server(testbed, reads_per_transaction, len(outcome))
    server.run(outcome, disk, disk_times(testbed, len(outcome), generator), _warm_up(outcome, testbed))
    return ClosedLoopResult(**_collect(server, testbed, len(outcome)))


def run_live(trace, policy, cache_blocks, testbed, reads_per_transaction, generator=None, *, hits=None, **parameters):
    """Run a trace in a closed loop with the cache live in the servers; the GIL is released meanwhile.

    Every reference is served, including those that are left when the measurement ends.

    Parameters
    ----------
    trace : Trace
    policy : str
        Name of an online policy; see `misspenalty.policies`.
    cache_blocks : int
        Cache size, blocks.
    testbed, reads_per_transaction, generator
        Same as in `run`.
    hits : bool array, shape (len(trace),), optional
        Filled with whether each read found its block; False for writes.
    **parameters
        Parameters of the policy.

    Returns
    -------
    LiveResult

    Raises
    ------
    ParameterError
        The policy is offline; or as in `run` and `misspenalty.simulate`.
    """
    if find_policy(policy).offline:
        raise ParameterError(f"{policy} looks into the future, which a live cache cannot do; expected an online policy")
    cache = make_kernel(trace, policy, cache_blocks, **parameters)
    outcome = outcomes(np.ones(len(trace), bool), trace.write)  # mark the writes; the kernel decides which reads hit
    outcome, disk = _check(outcome, disks_of(trace, testbed), testbed, reads_per_transaction)
    server = _server(testbed, reads_per_transaction, len(trace))
    times = disk_times(testbed, len(trace), generator)
    server.run_live(cache, trace.ids, outcome, disk, times, _warm_up(outcome, testbed))
    found = outcome == HIT
    if hits is not None:
        hits[:] = found
    counts = {"trace_reads": int(np.count_nonzero(outcome != WRITE)), "trace_hits": int(np.count_nonzero(found))}
    return LiveResult(**_collect(server, testbed, len(trace)), **counts)


def _server(testbed, reads_per_transaction, references):
    times = {  # ns
        "message": round(1000 * testbed.message_latency_us),
        "request": testbed.request_ns,
        "interrupt": round(1000 * testbed.interrupt_us),
        "transfer": testbed.transfer_ns,
        "reply": testbed.reply_ns,
        "burst": testbed.burst_ns(reads_per_transaction),
        "think": round(1000 * testbed.think_time_us),
    }
    alone = sum(times.values()) + times["transfer"] + testbed.disk_ns  # mean time of a reference that overlaps no other
    if references * alone > LATEST:
        raise ParameterError(
            f"{references} references of {alone} ns exceed the range of the clock; shorten the testbed's times "
            f"({', '.join(f'{name} {ns} ns' for name, ns in times.items())})"
        )
    return Server(
        testbed.terminals,
        testbed.database_cpus,
        testbed.storage_servers,
        testbed.disks,
        reads=round(CREDIT * reads_per_transaction),
        write_through=testbed.write_through,
        **times,
    )


def _warm_up(outcome, testbed):
    return int(testbed.warm_up_share * len(outcome))


def disk_times(testbed, references, generator=None):
    """Return the service times of the disks in ns; uint32, shape (1,) if constant, else drawn, shape (references,).

    Raises
    ------
    ParameterError
        `generator` is missing although the distribution needs one, or the mean time is longer than `LONGEST_ACCESS`.
    """
    if testbed.disk_ns > LONGEST_ACCESS:
        raise ParameterError(f"a disk access takes {testbed.disk_ns} ns; expected at most {LONGEST_ACCESS}")
    if testbed.disk_time == "constant":
        return np.array([testbed.disk_ns], np.uint32)
    if generator is None:
        raise ParameterError("disk_time is exponential, so the times are drawn at random; pass a seeded generator")
    drawn = generator.standard_exponential(references, np.float32) * np.float32(testbed.disk_ns)
    return np.minimum(drawn, np.float32(LONGEST_ACCESS - 255)).astype(np.uint32)


def _check(outcome, disk, testbed, reads_per_transaction):
    outcome, disk = np.ascontiguousarray(outcome, np.uint8), np.ascontiguousarray(disk, np.uint8)
    if outcome.ndim != 1 or outcome.shape != disk.shape or not outcome.size:
        raise ParameterError(f"outcome has shape {outcome.shape}, disk {disk.shape}; expected one value per reference")
    if outcome.max() > WRITE or disk.max() >= testbed.disks:
        raise ParameterError(
            f"outcomes reach {outcome.max()} and disks {disk.max()}; expected at most {WRITE} and {testbed.disks - 1}"
        )
    if not 1 <= reads_per_transaction <= 1_000_000:
        raise ParameterError(f"reads_per_transaction is {reads_per_transaction!r}; expected 1 to 1000000")
    return outcome, disk


def _collect(server, testbed, references):
    """Return the fields of a `ClosedLoopResult`."""
    if not server.transactions or server.end == server.begin:
        raise ParameterError(f"no transaction was completed in {references} references; use a longer trace")
    (hits, misses), elapsed = server.reads, server.end - server.begin
    spent = [dict(zip(COMPONENTS, map(int, row), strict=True)) for row in server.spent]
    numbers = (testbed.database_cpus, testbed.storage_servers, testbed.disks, 1, 1)
    utilisation = {
        name: done / number / elapsed for name, done, number in zip(STATIONS, server.done, numbers, strict=True)
    }
    return {
        "transactions": server.transactions,
        "hits": hits,
        "misses": misses,
        "writes": server.writes,
        "elapsed_ns": elapsed,
        **dict(zip(("hit_ns", "miss_ns", "transaction_ns"), spent, strict=True)),
        "utilisation": utilisation,
    }
