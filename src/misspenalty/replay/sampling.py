"""Sample a trace's blocks by their hashed addresses, with all the references to them.

C. A. Waldspurger, N. Park, A. Garthwaite, I. Ahmad, "Efficient MRC construction with SHARDS", FAST 2015, section 3:
blocks whose hashed address falls below a threshold are kept. The same hash splits the sample into eight parts, from
which the error bar is computed (the paper has no error bar); see `error_bar`.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from misspenalty.errors import ParameterError, check_whole
from misspenalty.traces._stack import sampled
from misspenalty.traces.selection import NONE
from misspenalty.traces.splitmix import GOLDEN, MASK, mix
from misspenalty.traces.trace import Trace

SLICE = 1 << 20  # number of references that are sampled at a time
PARTS = 8  # number of parts of a sample, from whose spread the standard error is computed
GROUP = 5  # number of low bits in which the addresses of a group differ; a group is sampled as a whole


def check_sample(sample: Any, seed: Any) -> tuple[float, int]:
    """Return the share of the blocks and the seed, or raise a `ParameterError` if one is invalid."""
    if not isinstance(sample, float | np.floating) or not 0 < sample < 1:
        raise ParameterError(f"sample is {sample!r}; expected a share of the blocks above 0 and below 1, such as 0.01")
    return float(sample), check_seed(seed)


def check_seed(seed: Any) -> int:
    """Return `sample_seed` as an int, or raise a `ParameterError` if it is invalid."""
    return check_whole("sample_seed", seed, 0, (1 << 64) - 1)


FEWEST = 20  # smallest number of sampled blocks for which a cache must have room


def check_sampled_sizes(sizes: Any, rate: float) -> None:
    """Raise a `ParameterError` if a cache has room for so few sampled blocks that its hit ratio is noise."""
    smallest = min(sizes, default=None)
    if smallest is not None and smallest * rate < FEWEST:
        digit = 10.0 ** (math.floor(math.log10(FEWEST / smallest)) - 2)  # value of the third significant digit
        least = math.ceil(FEWEST / smallest / digit) * digit
        remedy = f"use a sample of at least {least:g}" if least < 1 else "leave out sample"
        raise ParameterError(
            f"a cache of {smallest} blocks would hold {smallest * rate:.3g} blocks of a sample of {rate:g}, fewer than"
            f" {FEWEST}; {remedy}, or name larger caches"
        )


def scaled(blocks: Any, rate: float) -> Any:
    """Return the size of a cache for a sample: 1 + (blocks - 1) * rate, rounded to a whole number.

    Examples
    --------
    >>> int(scaled(1001, 0.1)), scaled(np.array([1, 5, 11]), 0.1).tolist()
    (101, [1, 1, 2])
    """
    return (1 + np.rint((np.asarray(blocks, np.int64) - 1) * rate)).astype(np.int64)


def estimated(misses: Any, rate: float, requests: int) -> Any:
    """Estimate the hit ratio of all requests from a sample's misses; too many misses give an estimate below 0.

    If the sample has fewer or more references than its share, the difference is counted as hits (SHARDS-adj), because
    it comes from the few blocks with the most references; so only the sample's misses are needed.
    """
    return 1 - misses / rate / max(requests, 1)


def error_bar(whole: Any, parts: Any, at_own_rate: Any) -> Any:
    """Compute the error bar of a sample's hit ratios from the results of `estimated` for the sample and its parts.

    It is the standard error from the spread of the parts, which covers the choice of the blocks, widened by two
    differences: from the sample to the mean of the parts, and from the sample to the same sample in a cache scaled by
    the share of the blocks that it actually contains. On most traces both are small. The first is large where the hit
    ratio of a small cache on few blocks differs from that of a large one on many: at the cliff of a loop, or for LFU
    among many blocks that are used once. The second is large where a loop barely fits or barely fails to fit: a sample
    that has slightly too many or too few blocks then falls on the other side of the cliff.

    Parameters
    ----------
    whole : float or array of float, shape (sizes,)
    parts : array of float, shape (8,) or (8, sizes)
    at_own_rate : float or array of float, shape (sizes,)
        As `whole`, but for a cache scaled by the share of the blocks that the sample actually contains.

    Examples
    --------
    >>> float(error_bar(0.5, [0.5] * 8, 0.5)), round(float(error_bar(0.5, [0.4, 0.5] * 4, 0.5)), 3)
    (0.0, 0.053)
    >>> float(error_bar(0.75, [0.75] * 8, 0.5))
    0.25
    """
    parts = np.asarray(parts)
    spread = np.hypot(parts.std(axis=0, ddof=1) / PARTS**0.5, parts.mean(axis=0) - whole)
    return np.hypot(spread, np.asarray(at_own_rate) - whole)


def check_counted(references: int, rate: float, requests: int) -> None:
    """Raise a `ParameterError` if no counted request is in the sample, since every hit ratio would be 1."""
    if requests and not references:
        raise ParameterError(
            f"sample {rate:g} has none of the {requests} references that are counted; choose a larger share, another "
            f"sample_seed, or a shorter warm_up"
        )


@dataclass(frozen=True)
class Choice:
    """The blocks of a sample, and the part, one of eight, to which each belongs.

    Attributes
    ----------
    rate : float
        Share of the blocks.
    numbers : uint32, shape (blocks,)
        Number of each block within the sample plus 1; 0 for a block outside the sample.
    part_of : uint8, shape (sampled blocks,)
        Part of each sampled block.
    number_in_part : uint32, shape (sampled blocks,)
        Number of each block within its part.
    """

    rate: float
    numbers: np.ndarray
    part_of: np.ndarray
    number_in_part: np.ndarray

    @property
    def own_rate(self) -> float:
        """Share of the blocks that the sample actually contains, which by chance differs slightly from `rate`."""
        return self.part_of.size / self.numbers.size


def choose(address: np.ndarray, rate: float, seed: int, together: int = 0) -> Choice:
    """Choose a sample of the blocks at these addresses.

    Parameters
    ----------
    address : uint64, shape (blocks,)
    rate : float
    seed : int
    together : int
        Number of low bits of an address that the hash ignores, which keeps neighbours together.

    Raises
    ------
    ParameterError
        The sample would be empty.

    Examples
    --------
    >>> chosen = choose(np.arange(1000, dtype=np.uint64), 0.1, seed=1)
    >>> len(chosen.part_of), int(np.count_nonzero(chosen.numbers))
    (85, 85)
    """
    threshold = int(rate * (1 << 64))
    numbers, kept, count = np.zeros(address.size, np.uint32), [], 0
    for part in _slices(address.size):
        x = _hashed(address[part] >> np.uint64(together), seed)
        chosen = x < np.uint64(threshold)
        kept.append(x[chosen])
        numbers[part][chosen] = np.arange(count + 1, count + 1 + kept[-1].size)
        count += kept[-1].size
    if not count:
        raise ParameterError(f"sample {rate:g} contains none of {address.size} blocks; choose a larger share")
    x = np.concatenate(kept)
    part_of = np.minimum(x // np.uint64(max(threshold // PARTS, 1)), PARTS - 1).astype(np.uint8)
    number_in_part = np.empty(part_of.size, np.uint32)
    for number in range(PARTS):
        own = part_of == number
        number_in_part[own] = np.arange(np.count_nonzero(own))
    return Choice(rate, numbers, part_of, number_in_part)


def _hashed(address: np.ndarray, seed: int) -> np.ndarray:
    """Hash each address to 64 bits (splitmix64)."""
    return mix(address + np.uint64((seed + 1) * GOLDEN & MASK))


@dataclass(frozen=True)
class Piece:
    """The references to some of a trace's blocks.

    Attributes
    ----------
    trace : Trace
        The references to these blocks only.
    rate : float
        Share of the blocks of the whole trace.
    warm_up : int
        References at the start of `trace` that are not counted.
    """

    trace: Trace
    rate: float
    warm_up: int


@dataclass(frozen=True)
class Sample:
    """A sample of a trace, and the eight parts it is split into.

    Attributes
    ----------
    whole : Piece
    parts : list of Piece
    own_rate : float
        Share of the blocks that `whole` actually contains.
    """

    whole: Piece
    parts: list[Piece]
    own_rate: float

    @classmethod
    def of(cls, trace: Trace, choice: Choice, warm_up: int = 0) -> "Sample":
        """Take the chosen blocks of a trace with their references, and split them into parts.

        Parameters
        ----------
        trace : Trace
        choice : Choice
        warm_up : int
            References at the start of the whole trace that are not counted.
        """
        chosen = [_taken(trace, part, choice.numbers) for part in _slices(len(trace))]
        ids, write = (np.concatenate(column) for column in zip(*chosen, strict=True))
        early = sum(int(np.count_nonzero(choice.numbers[trace.ids[part]])) for part in _slices(warm_up))
        whole = Piece(_trace(trace, ids, write, trace.address[choice.numbers > 0]), choice.rate, early)
        return cls(whole, [_part(whole, choice, number) for number in range(PARTS)], choice.own_rate)


def _part(whole: Piece, choice: Choice, number: int) -> Piece:
    own = choice.part_of[whole.trace.ids] == number
    ids = choice.number_in_part[whole.trace.ids[own]]
    write = None if whole.trace.write is None else whole.trace.write[own]
    address = whole.trace.address[choice.part_of == number]
    early = int(np.count_nonzero(own[: whole.warm_up]))
    return Piece(_trace(whole.trace, ids, write, address), choice.rate / PARTS, early)


def _slices(end: int) -> list[slice]:
    return [slice(begin, min(begin + SLICE, end)) for begin in range(0, end, SLICE)]


def _taken(trace: Trace, part: slice, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a part's references to sampled blocks, as numbers within the sample, and which of them are writes."""
    ids, write = np.empty(SLICE, np.uint32), np.empty(SLICE, np.uint8)
    mask = NONE if trace.write is None else np.ascontiguousarray(trace.write[part]).view(np.uint8)
    n = sampled(trace.ids[part], numbers, mask, ids, write)
    return ids[:n].copy(), write[:n].astype(bool)


def _trace(of: Trace, ids: np.ndarray, write: np.ndarray | None, address: np.ndarray) -> Trace:
    written = None if of.write is None else write
    return Trace(ids, written, None, np.ascontiguousarray(address), of.block_bytes, of.name, of.format)
