"""Generate concurrent sequential streams at a constant rate, SPC-2-like: large reads, open loop, seeded.

Each stream has its own section of the space and reads it in order, starting at a random place and wrapping around. The
stream sends a read every ``read_kb / mb_per_s``, starting at a random moment, like video on demand.

Sources: the SPC-2 benchmark's video on demand, from published descriptions of its specification: streams that only
read, 256 KB at a time. The default of a hundred concurrent streams is that of B. S. Gill, L. A. D. Bathen, "AMP", FAST
2007, section IV, which paces them by a pause after each answer; the length of the pause is not legible.
Deviations and decisions: SPC-2 lets a stream have up to eight reads in progress; here each read is sent when it is due.
We do not know SPC-2's rate per stream, so `mb_per_s` is a parameter.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from misspenalty.errors import ParameterError, check_number, check_whole
from misspenalty.traces.spc1 import BLOCK, LATEST, SLICE, check_length, write_slices


@dataclass(frozen=True)
class Streams:
    """Parameters of the generator.

    Attributes
    ----------
    space_bytes : int
        Total of all sections.
    streams : int
        Number of streams.
    read_kb : int
        Length of a read, a multiple of 4 KB.
    mb_per_s : float
        Rate of each stream, 10**6 bytes per second.
    seed : int
        Seed of the place and time at which each stream begins, 0 to 2**64 - 1.

    Raises
    ------
    ParameterError
        A value is invalid, or a section would be smaller than a read.

    Examples
    --------
    >>> first = Streams(1 << 30, streams=3, mb_per_s=2, seed=1).requests(0, 10**9)
    >>> len(first["time"]), sorted(set(first["stream"].tolist())), set(first["blocks"].tolist())
    (23, [0, 1, 2], {64})
    """

    space_bytes: int
    streams: int = 100
    read_kb: int = 256
    mb_per_s: float = 0.5
    seed: int = 0

    def __post_init__(self):
        check_whole("streams: streams", self.streams, 1, 1 << 20)
        check_whole("streams: read_kb", self.read_kb, 4, 1 << 16)
        if self.read_kb % 4:
            raise ParameterError(f"streams: read_kb is {self.read_kb}; expected a multiple of 4")
        check_whole("streams: space_bytes", self.space_bytes, self.streams * self.read_kb * 1024, 1 << 62)
        check_number("streams: mb_per_s", self.mb_per_s, 1e-6, 1e6)
        check_whole("streams: seed", self.seed, 0, (1 << 64) - 1)

    @property
    def read_blocks(self):
        """Blocks of 4 KB per read."""
        return self.read_kb * 1024 // BLOCK

    @property
    def section_reads(self):
        """Reads per section."""
        return self.space_bytes // self.streams // (self.read_kb * 1024)

    @property
    def blocks(self):
        """Blocks of 4 KB in all sections."""
        return self.streams * self.section_reads * self.read_blocks

    @property
    def interval_ns(self):
        """Time from one read of a stream to its next, ns."""
        return max(round(self.read_kb * 1024 * 1000 / self.mb_per_s), 1)

    @cached_property
    def _begins(self):
        """Time at which each stream sends its first read, ns, and the number of that read in the stream's section."""
        rng = np.random.default_rng(self.seed)
        return rng.integers(0, self.interval_ns, self.streams), rng.integers(0, self.section_reads, self.streams)

    def requests(self, begin, end):
        """Return the reads that arrive from `begin` (included) to `end` (excluded), ns.

        Returns
        -------
        dict of str to array, shape (reads,)
            In order of ``time`` (int64, ns): ``block`` (int64, first block of 4 KB), ``blocks`` (int32), ``stream``
            (int64), ``write`` (uint8) and ``asu`` (uint8), both 0.
        """
        phase, place = self._begins
        order = np.argsort(phase, kind="stable")
        turns = np.arange(max(begin, 0) // self.interval_ns, max(end, 0) // self.interval_ns + 1)[:, None]
        time = turns * self.interval_ns + phase[order]
        read = order * self.section_reads + (place[order] + turns) % self.section_reads
        wanted = (time >= begin) & (time < end)
        number = int(wanted.sum())
        return {
            "time": time[wanted],
            "block": read[wanted] * self.read_blocks,
            "blocks": np.full(number, self.read_blocks, np.int32),
            "stream": np.broadcast_to(order, time.shape)[wanted],
            "write": np.zeros(number, np.uint8),
            "asu": np.zeros(number, np.uint8),
        }


def write_spc(workload, path, count=None, seconds=None):
    """Write the streams as an SPC trace, compressed according to the suffix of `path` (.gz, .xz, .bz2, .zst).

    Parameters
    ----------
    workload : Streams
    path : path-like
        File to write, atomically.
    count : int, optional
        Number of reads; give either `count` or `seconds`.
    seconds : float, optional
        Length of the workload: all reads that arrive before this time.

    Returns
    -------
    dict
        ``requests, reads, bytes, seconds`` (to the last arrival).

    Raises
    ------
    ParameterError
        A value is invalid, not exactly one of `count` and `seconds` is given, or there is no read within `seconds`.
    InputError
        The file cannot be written.
    """
    check_length("streams", count, seconds)
    end = int(seconds * 1e9) if count is None else (count // workload.streams + 1) * workload.interval_ns
    if end > LATEST:
        raise ParameterError(f"streams: {count} requests take more than {LATEST / 1e9:g} s")
    none = f"no read arrives within {seconds} s; choose more seconds or a higher rate"
    return write_slices(_slices(workload, end, count), path, none)


def _slices(workload, end, left):
    """Yield tables of the reads before `end`, ns, with at most `left` reads in total (None: no limit)."""
    step = max(SLICE // workload.streams, 1) * workload.interval_ns
    for begin in range(0, end, step):
        table = workload.requests(begin, min(begin + step, end))
        if left is not None:
            table = {name: column[:left] for name, column in table.items()}
            left -= table["time"].size
        if table["time"].size:
            yield table
