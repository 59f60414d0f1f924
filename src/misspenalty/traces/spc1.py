"""Generate an SPC-1-like workload: eight streams per business scaling unit (BSU), open loop, seeded.

Three application storage units (ASUs) hold 45, 45 and 10 % of the space, in blocks of 4 KB:

====== ========= ===== ========== ====== ==========================
stream intensity reads pattern    size   region of the unit
====== ========= ===== ========== ====== ==========================
ASU1-1 0.035     50 %  uniform    4 KB   0-100 %
ASU1-2 0.281     50 %  walk       4 KB   15-20 %
ASU1-3 0.070     100 % sequential mix    starts in 20-60 %, run 10 %
ASU1-4 0.210     50 %  walk       4 KB   70-75 %
ASU2-1 0.018     30 %  uniform    4 KB   0-100 %
ASU2-2 0.070     30 %  walk       4 KB   47-52 %
ASU2-3 0.035     100 % sequential mix    starts in 20-60 %, run 10 %
ASU3-1 0.281     0 %   sequential mix    starts in 0-70 %, run 30 %
====== ========= ===== ========== ====== ==========================

Size mix: 4, 8, 16, 32, 64 KB at 40, 24, 20, 8, 8 %. By default, a BSU sends 50 requests per second, with exponential
gaps. Sequential: each request begins where the last one ended; a request that would reach the end of the run begins a
new run, whose start and end are rounded down to 64 KB. Walk (hierarchical reuse random walk): a leaf is eight blocks,
and the leaves of the largest complete binary tree that fits the region are walked; each BSU's tree begins at a random
place that keeps it within the region, rounded down to a multiple of eight blocks. A step climbs to the 2**7 leaves
around the last one, then repeatedly, with probability `climb`, to twice as many, and draws one of these leaves. A read
accesses the block to which the leaf's pointer points, and moves the pointer to the leaf's next block. A write goes to
the first leaf of the aligned group of eight that contains the leaf drawn or, with `round_writes` off, to the leaf
drawn: half the time to a random block of it, otherwise to the block to which its pointer points. With a probability of
15 %, the stream's next write repeats the block.

Sources: B. S. Gill, D. S. Modha, "SARC", USENIX 2005, section IV (spaces, mix and the 50 requests per second; their
"SPC-1 Like" is an early prototype of SPC-1). The rest is not in the paper: intensities, regions, shares, sizes and the
walk follow NetApp's open generator (spc1.c, version 1.4, its "classic" walk); published full-disclosure reports give
the same intensities. Deviations and decisions: instead of a clock per stream, there is one exponential gap per request,
whose BSU is drawn uniformly and whose stream is drawn in proportion to its intensity. This is the same process as all
clocks together (superposed Poisson processes), except that the unit of time is 1 ns here and 0.1 ms in NetApp's
generator. There is one context: all BSUs share the leaves' pointers, as in a conforming run. Another public generator
climbs with a probability of 0.56 and does not round written leaves; `climb` and `round_writes` are parameters.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from misspenalty.errors import ParameterError, check_number, check_whole
from misspenalty.io.files import atomic_path, open_output
from misspenalty.traces._spc1 import FASTEST, LATEST, SLOWEST, Spc1

BLOCK = 4096  # bytes
SHARES = (45, 45, 10)  # shares of the space, %
IOPS_PER_BSU = 50
SMALLEST = 8 * 128 * 20  # minimum blocks of ASU-1 and of ASU-2: 5 % of them have to hold 2**7 leaves
LARGEST = (1 << 32) - 1  # blocks of the three units together
MOST_BSUS = 1 << 20
SLICE = 1 << 18  # requests made at a time
FOREVER = 1 << 62  # ns: upper bound of request times

UNIFORM, WALK, SEQUENTIAL = range(3)


class Stream(NamedTuple):
    """Parameters of one of the streams that every BSU has.

    Attributes
    ----------
    asu : int
        0 to 2.
    intensity : int
        Share of a BSU's requests, thousandths.
    reads : int
        Share of reads among the stream's requests, %.
    pattern : int
        `UNIFORM`, `WALK` or `SEQUENTIAL`.
    first, extent : int
        Start and length of the stream's region, % of the unit. Runs of a sequential stream begin in this region.
    run : int
        Length of a sequential stream's run, % of the unit.
    """

    asu: int
    intensity: int
    reads: int
    pattern: int
    first: int
    extent: int
    run: int = 0


STREAMS = {
    "ASU1-1": Stream(0, 35, 50, UNIFORM, 0, 100),
    "ASU1-2": Stream(0, 281, 50, WALK, 15, 5),
    "ASU1-3": Stream(0, 70, 100, SEQUENTIAL, 20, 40, run=10),
    "ASU1-4": Stream(0, 210, 50, WALK, 70, 5),
    "ASU2-1": Stream(1, 18, 30, UNIFORM, 0, 100),
    "ASU2-2": Stream(1, 70, 30, WALK, 47, 5),
    "ASU2-3": Stream(1, 35, 100, SEQUENTIAL, 20, 40, run=10),
    "ASU3-1": Stream(2, 281, 0, SEQUENTIAL, 0, 70, run=30),
}
SIZE_MIX = {1: 10, 2: 6, 4: 5, 8: 2, 16: 2}  # blocks: parts of 25


@dataclass(frozen=True)
class Workload:
    """Parameters of the generator.

    Attributes
    ----------
    space_bytes : int
        Total of all three units.
    bsus : int
        Business scaling units.
    iops : float, optional
        Requests per second of all BSUs in total; by default 50 per BSU.
    seed : int
        Seed of all draws, 0 to 2**64 - 1.
    climb : float
        Probability that a walk climbs one more level, 0 to 1.
    round_writes : bool
        Whether a walk writes only to the first of every eight leaves, 256 KB apart.

    Raises
    ------
    ParameterError
        A value is invalid, or ASU-1 and ASU-2 would have less than the 80 MB each that the walk needs.
    """

    space_bytes: int
    bsus: int = 1
    iops: float | None = None
    seed: int = 0
    climb: float = 0.44
    round_writes: bool = True

    def __post_init__(self):
        least = -(-SMALLEST * BLOCK * 100 // 45)
        check_whole("spc1: space_bytes", self.space_bytes, least, LARGEST * BLOCK)
        check_whole("spc1: bsus", self.bsus, 1, MOST_BSUS)
        check_whole("spc1: seed", self.seed, 0, (1 << 64) - 1)
        if self.iops is not None:
            check_number("spc1: iops", self.iops, SLOWEST, FASTEST)
        check_number("spc1: climb", self.climb, 0, 1)

    @property
    def blocks(self):
        """Blocks of each unit."""
        return tuple(self.space_bytes * share // (100 * BLOCK) for share in SHARES)

    @property
    def rate(self):
        """Requests per second."""
        return float(IOPS_PER_BSU * self.bsus if self.iops is None else self.iops)

    def start(self):
        """Return a kernel at time 0.

        ``kernel.load(now, bsus, iops)`` changes its load, and `requests` returns its next requests.
        """
        sizes = [blocks for blocks, parts in SIZE_MIX.items() for _ in range(parts)]
        walk = float(self.climb), bool(self.round_writes)
        return Spc1(self.blocks, self.bsus, self.rate, self.seed, *walk, STREAMS.values(), sizes)


def requests(kernel, count, until=FOREVER):
    """Return the next requests.

    Parameters
    ----------
    kernel : Spc1
        A kernel that `Workload.start` returned.
    count : int
        Maximum number of requests.
    until : int
        ns, at most `FOREVER`; requests that arrive then or later are left for the next call.

    Returns
    -------
    dict of str to array, shape (requests,)
        ``time`` (int64, ns), ``block`` (int64, first block of 4 KB in the unit), ``blocks`` (int32), ``bsu`` (uint32),
        ``asu`` (uint8, 0 to 2), ``stream`` (uint8, 0 to 7 in the order of `STREAMS`), ``write`` (uint8).
    """
    columns = {"time": "i8", "block": "i8", "blocks": "i4", "bsu": "u4", "asu": "u1", "stream": "u1", "write": "u1"}
    table = {name: np.empty(count, kind) for name, kind in columns.items()}
    made = kernel.fill(*table.values(), min(until, FOREVER))
    return {name: values[:made] for name, values in table.items()}


def check_length(workload, count, seconds):
    """Raise a `ParameterError` unless exactly one of `count` and `seconds` is given, and valid, for this workload."""
    if (count is None) == (seconds is None):
        raise ParameterError("expected exactly one of requests and seconds")
    if count is None:
        check_number(f"{workload}: seconds", seconds, 1e-9, LATEST / 1e9)
    else:
        check_whole(f"{workload}: requests", count, 1, 1 << 40)


def slices(workload, count=None, seconds=None):
    """Return the workload from its start in slices, each as `requests` returns it, in bounded memory.

    Parameters
    ----------
    workload : Workload
    count : int, optional
        Number of requests; give either `count` or `seconds`.
    seconds : float, optional
        Length of the workload: all requests that arrive before this time.

    Yields
    ------
    dict of str to array

    Raises
    ------
    ParameterError
        `count` or `seconds` is invalid, not exactly one of them is given, or the requests take longer than 10**9 s.
    """
    check_length("spc1", count, seconds)
    if count is None:
        return _slices(workload.start(), FOREVER, int(seconds * 1e9))
    if count / workload.rate > LATEST / 1e9:
        raise ParameterError(
            f"spc1: {count} requests take {count / workload.rate:g} s at {workload.rate:g} per second; "
            f"expected at most {LATEST / 1e9:g} s"
        )
    return _slices(workload.start(), count, FOREVER)


def _slices(kernel, left, until):
    while left > 0:
        table = requests(kernel, min(SLICE, left), until)
        made = table["time"].size
        if made:
            yield table
        if made < SLICE:
            return
        left -= made


def write_spc(workload, path, count=None, seconds=None):
    """Write the workload as an SPC trace, compressed according to the suffix of `path` (.gz, .xz, .bz2, .zst).

    Parameters
    ----------
    workload, count, seconds
        Same as in `slices`.
    path : path-like
        File to write, atomically.

    Returns
    -------
    dict
        ``requests, reads, bytes, seconds`` (to the last arrival).

    Raises
    ------
    ParameterError
        As in `slices`, or there is no request within `seconds`.
    InputError
        The file cannot be written.
    """
    none = f"no request arrives within {seconds} s; choose more seconds or a higher load"
    return write_slices(slices(workload, count, seconds), path, none)


def write_slices(parts, path, none):
    """Write tables of requests as one SPC trace, compressed according to the suffix of `path`.

    Parameters
    ----------
    parts : iterable of dict of str to array
        Tables for `spc_lines`, none of them empty.
    path : path-like
        File to write, atomically.
    none : str
        Error message if there is no table.

    Returns
    -------
    dict
        ``requests, reads, bytes, seconds`` (to the last arrival).

    Raises
    ------
    ParameterError
        There is no table.
    InputError
        The file cannot be written.
    """
    totals, last = np.zeros(3, np.int64), 0
    with atomic_path(path) as partial, open_output(partial) as stream:
        for table in parts:
            stream.write(spc_lines(table))
            totals += table["time"].size, np.count_nonzero(table["write"] == 0), table["blocks"].sum(dtype=np.int64)
            last = int(table["time"][-1])
        if not totals[0]:
            raise ParameterError(none)
    return {"requests": int(totals[0]), "reads": int(totals[1]), "bytes": int(totals[2]) * BLOCK, "seconds": last / 1e9}


def spc_lines(table):
    """Return requests as lines of an SPC trace.

    Parameters
    ----------
    table : dict of str to array
        ``time, block, blocks, asu, write`` as `requests` returns them.

    Returns
    -------
    bytes

    Examples
    --------
    >>> one = {"time": [1_500_000_000], "block": [2], "blocks": [1], "asu": [0], "write": [0]}
    >>> spc_lines({name: np.array(column) for name, column in one.items()})
    b'0,16,4096,R,1.500000000\\n'
    """
    second, rest = np.divmod(table["time"], 10**9)
    fields = [
        pa.array(table["asu"]).cast("string"),
        pa.array(table["block"] * (BLOCK // 512)).cast("string"),
        pa.array(table["blocks"] * BLOCK).cast("string"),
        pa.array(np.where(table["write"], "W", "R")),
        pc.binary_join_element_wise(
            pa.array(second).cast("string"), pc.utf8_lpad(pa.array(rest).cast("string"), 9, "0"), "."
        ),
    ]
    lines = pc.binary_join_element_wise(*fields, ",")
    return ("\n".join(lines.to_pylist()) + "\n").encode()
