"""Read the prompts of a language-model service as lists of hashed blocks, as the Mooncake project releases them.

Sources: R. Qin et al., "Mooncake: Trading More Storage for Less Computation", FAST 2025, and the README of its traces.
Each line is a JSON object: ``timestamp`` (ms, never falling), ``input_length`` and ``output_length`` (tokens),
``hash_ids`` (one number per block of the prompt). A block's hash covers its own tokens and all earlier ones, so equal
numbers mean an equal prefix. Further keys are ignored. These files do not state the size of a block: it is inferred
from the lengths, or given. Other services (Qwen-Bailian) release the same keys with times in seconds and blocks of
another size; sessions of agents come without times. KVCache.AI's simulator (kvcache-simulator) adds ``block_size``
(tokens) to each line, and needs no ``output_length``. A format ``lcp``, in which requests would state the length of a
common prefix instead of hashes, is not read, because we found no public definition of it.
"""

import decimal
import functools
import json
import os
from dataclasses import dataclass
from os import PathLike

import numpy as np

from misspenalty.errors import InputError, ParameterError, check_choice, check_whole
from misspenalty.traces.columns import same_columns, unmasked
from misspenalty.traces.compression import check_path
from misspenalty.traces.lines import chunks
from misspenalty.traces.reader import LONGEST_TIME
from misspenalty.traces.time_units import unit_since_epoch

BLOCK_TOKENS = 512  # block size of the released traces
KEYS = ("timestamp", "input_length", "output_length", "hash_ids")
EXPECTED = (
    "a JSON object with input_length, hash_ids, perhaps output_length; timestamp and block_size on all lines or none"
)
UNITS = {"ms": 1_000_000, "s": 1_000_000_000}  # units of timestamps, ns
MAX_TOKENS = 1 << 32
MAX_BLOCK = 1 << 20  # tokens
MAX_HASH = (1 << 64) - 1
MAX_LINE_BYTES = 1 << 26
EXACT = 1 << 53  # a float can hold every whole number below this one


def _whole(name, values):
    """Return a column as an array, after checking that it holds whole numbers; all but hashes become int64."""
    given = unmasked(values, f"prompts: {name}")
    hashes, kind = name == "blocks", given.dtype.kind
    if given.ndim == 1 and (kind in "iu" or not given.size):
        return given if hashes and kind in "iu" else given.astype(np.int64)
    few = given.ndim == 1 and kind == "f" and not hashes and bool((abs(given) < EXACT).all())
    if not few or not bool((given == given.astype(np.int64)).all()):
        raise ParameterError(
            f"prompts: {name} is of type {given.dtype} and shape {given.shape}; expected one whole number per entry"
        )
    return given.astype(np.int64)


@dataclass(frozen=True, eq=False)
class Prompts:
    """Requests to a language-model service, in order of arrival.

    Attributes
    ----------
    time : int64, shape (n,), or None
        Arrival times, ns since the first; None if the trace has no times.
    input_tokens, output_tokens : int64, shape (n,)
    count : int64, shape (n,)
        Number of blocks of each prompt.
    blocks : uint64, shape (sum of `count`,)
        Hashes of the blocks of all prompts, one prompt after another.
    block_tokens : int
        Tokens per block; the last block of a prompt may be partial.
    unit : str
        Unit of the timestamps in the file; empty if the prompts are not from a file, or the file has no timestamps.
    fractions : int
        Number of timestamps with a fraction.
    sizes : tuple of int
        Smallest and largest number of tokens per block that explain the numbers of blocks, if none is stated and they
        leave open which power of two it is.

    Raises
    ------
    ParameterError
        The columns differ in length or hold values other than whole numbers, a number of input tokens or blocks is
        below 0, or `count` does not add up to the number of blocks.
    """

    time: np.ndarray
    input_tokens: np.ndarray
    output_tokens: np.ndarray
    count: np.ndarray
    blocks: np.ndarray
    block_tokens: int
    unit: str = ""
    fractions: int = 0
    sizes: tuple[int, ...] = ()

    def __post_init__(self):
        for name in ("time", "input_tokens", "output_tokens", "count", "blocks"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _whole(name, getattr(self, name)))
        columns = [self.input_tokens, self.output_tokens, self.count, *([] if self.time is None else [self.time])]
        if len({len(column) for column in columns}) > 1:
            raise ParameterError(
                f"prompts: the columns have {', '.join(str(len(column)) for column in columns)} entries; expected"
                " one entry per prompt in input_tokens, output_tokens, count and, if there are times, time"
            )
        if len(self) and min(self.count.min(), self.input_tokens.min()) < 0:
            raise ParameterError("prompts: count or input_tokens has a number below 0; expected 0 or more")
        if (total := int(self.count.sum())) != len(self.blocks):
            raise ParameterError(f"prompts: count adds up to {total} blocks; expected {len(self.blocks)}, all of them")

    def __eq__(self, other):
        """Return whether another object has the same prompts."""
        return same_columns(self, other) if isinstance(other, Prompts) else NotImplemented

    def __len__(self):
        return len(self.count)

    def covered(self):
        """Return the tokens per block, shape (sum of `count`,): `block_tokens`, or fewer in a prompt's last block."""
        ends = np.cumsum(self.count)
        place = np.arange(len(self.blocks)) - np.repeat(ends - self.count, self.count)
        left = np.repeat(self.input_tokens, self.count) - place * self.block_tokens
        return np.clip(left, 0, self.block_tokens)


def as_prompts(source: "Prompts | str | PathLike[str]") -> Prompts:
    """Return `source` if it is `Prompts`; otherwise read the file at this path with `read_prompts`.

    Raises
    ------
    ParameterError
        `source` is neither prompts nor a path.
    InputError
        As in `read_prompts`.
    """
    if isinstance(source, Prompts):
        return source
    return read_prompts(source)


def soundness(prompts: "Prompts | str | PathLike[str]") -> dict[str, float]:
    """Check whether the hashes of a trace identify prefixes, so that each block always follows the same block.

    Returns
    -------
    dict
        Numbers of ``prompts``, ``references`` and distinct ``blocks``; ``broken_chains``: references whose preceding
        block differs from that of the first reference to the same block; ``repeated``: references to a block that
        occurs earlier in the same prompt; ``repeat_hits``: references to a block that an earlier prompt contained,
        which hit in an unlimited cache of blocks; ``unservable_share``: the share of these hits that come, in their
        prompt, after a block that no earlier prompt contained, so that no prefix cache serves them.

    Examples
    --------
    >>> asked = Prompts(None, np.array([1024, 1024]), np.zeros(2), np.array([2, 2]), np.array([1, 2, 9, 2]), 512)
    >>> found = soundness(asked)
    >>> found["broken_chains"], found["unservable_share"]
    (1, 1.0)
    """
    asked = as_prompts(prompts)
    count = np.asarray(asked.count)
    distinct, first, ids = np.unique(np.asarray(asked.blocks, np.uint64), return_index=True, return_inverse=True)
    owner, start = np.repeat(np.arange(len(count)), count), np.repeat(np.cumsum(count) - count, count)
    place = np.arange(len(ids))
    previous = np.where(place > start, np.concatenate([[-1], ids[:-1]]), -1)
    known = owner[first[ids]] < owner  # whether an earlier prompt contained the block
    behind = known & (np.maximum.accumulate(np.where(known, -1, place)) >= start)
    hits = int(known.sum())
    return {
        "prompts": len(count),
        "references": len(ids),
        "blocks": len(distinct),
        "broken_chains": int((previous != previous[first[ids]]).sum()),
        "repeated": len(ids) - len(np.unique(owner * len(distinct) + ids)),
        "repeat_hits": hits,
        "unservable_share": float(behind.sum() / hits) if hits else 0.0,
    }


def read_prompts(path: str | PathLike[str], unit: str | None = None, block_tokens: int | None = None) -> Prompts:
    """Read a whole trace.

    Parameters
    ----------
    path : path
        The file, compressed or not, as for `misspenalty.open_trace`.
    unit : {"ms", "s"}, optional
        Unit of the timestamps; by default seconds if most of them have a fraction or the first is one since 1970,
        otherwise milliseconds.
    block_tokens : int, optional
        Tokens per block; by default the ``block_size`` of the lines, or a size that fits the lengths of all prompts.

    Returns
    -------
    Prompts

    Raises
    ------
    InputError
        A line is not a JSON object with the required keys, has an invalid value, is earlier than the line before, has
        a timestamp although the first line has none, lacks one although the first has one, states another
        ``block_size`` than `block_tokens` or the lines before, or has a number of hashes that no block size explains or
        that differs by more than one from the number that the block size requires; the message names the line. The
        error is also raised if the file cannot be read or has no hashes, if its last timestamp is out of range, or if
        `unit` is given and the file has no timestamps.
    ParameterError
        `path` is not a path, or `unit` or `block_tokens` is invalid.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "mine.jsonl")
    ...     _ = file.write_text(
    ...         '{"timestamp": 0, "input_length": 700, "output_length": 5, "hash_ids": [0, 1]}\\n'
    ...         '{"timestamp": 9, "input_length": 520, "output_length": 1, "hash_ids": [0, 2]}\\n'
    ...     )
    ...     prompts = read_prompts(file)
    >>> prompts.block_tokens, prompts.covered().tolist()
    (512, [512, 188, 512, 8])
    """
    path = check_path(path)
    if os.path.isdir(path):
        raise InputError(
            "is a folder", path=path, expected="a file of prompts, one JSON object per line",
            remedy="a compiled trace does not have the prompts, only their blocks: name the file that it was made from",
        )  # fmt: skip
    if unit is not None:
        check_choice("unit", unit, UNITS)
    if block_tokens is not None:
        block_tokens = check_whole("block_tokens", block_tokens, 1, MAX_BLOCK)
    times, inputs, outputs, counts, hashes = [], [], [], [], []
    low, high = 1, MAX_TOKENS  # smallest and largest block size that fit all lines so far
    asked, told = block_tokens, None
    for number, line in _lines(path):
        fault = functools.partial(InputError, path=path, line=number)
        time, tokens, output, ids, own = _request(line, unit or "ms", fault)
        if times and own != told:
            what = "block_size is missing" if own is None else f"block_size is {own}"
            expected = f"{told or 'none'}, as on the lines before"
            raise fault(what, expected=expected, remedy="split the trace by block size")
        told = own
        if asked and own and own != asked:
            raise fault(f"block_size is {own}, not {asked}", remedy="leave out --block-tokens (block_tokens=…)")
        block_tokens = asked or own
        if times and (time is None) != (times[0] is None):
            what = "timestamp is missing" if time is None else "has a timestamp"
            raise fault(what, expected="times on all lines, or on none, as on the first")
        if times and time is not None and time < times[-1]:
            what, remedy = f"timestamp {time} comes after {times[-1]}", "sort the lines by timestamp"
            raise fault(what, expected="times that never fall", remedy=remedy)
        hashed = f"{len(ids)} hash_ids for {tokens} input tokens"
        if block_tokens:
            whole = -(-tokens // block_tokens)
            if abs(len(ids) - whole) > 1:
                expected = f"{whole}, or one more or less, in blocks of {block_tokens} tokens"
                other = "set --block-tokens (block_tokens=…) to the trace's actual block size, or leave it out"
                raise fault(hashed, expected=expected, remedy=other if asked else "the line may be damaged")
            least, most = 1, MAX_TOKENS
        else:
            least, most = _sizes(tokens, len(ids))
        if max(low, least) > min(high, most):
            size = f"of {low} to {high} tokens, as on the lines before" if times else "of any size"
            raise fault(hashed, expected=f"one per block {size}", remedy="the line may be damaged")
        low, high = max(low, least), min(high, most)
        times.append(time)
        inputs.append(tokens)
        outputs.append(output)
        counts.append(len(ids))
        hashes.extend(ids)
    if not hashes:
        what = "no line has a number in hash_ids" if times else "contains no requests"
        raise InputError(what, path=path, expected=EXPECTED)
    timed = times[0] is not None
    if unit and not timed:
        raise InputError(
            "has no timestamps", path=path, expected=f"times in {unit}", remedy="leave out --unit (unit=…)"
        )
    fractions = sum(time != int(time) for time in times) if timed else 0
    since_1970 = timed and unit_since_epoch(int(times[0]) * UNITS["ms"], "ms") == "s"
    unit = unit or ("s" if since_1970 or 2 * fractions > len(times) else "ms")
    return Prompts(
        _since_first(times, unit, path) if timed else None,
        np.array(inputs, np.int64),
        np.array(outputs, np.int64),
        np.array(counts, np.int64),
        np.array(hashes, np.uint64),
        block_tokens or _block_tokens(low, high),
        unit if timed else "",
        fractions,
        (low, high) if not block_tokens and 2 << (low - 1).bit_length() <= high else (),
    )


def _since_first(times, unit, path):
    """Return times in ns since the first."""
    if times[-1] > LONGEST_TIME // UNITS[unit]:
        expected = f"at most {LONGEST_TIME // UNITS[unit]} {unit}"
        raise InputError(f"timestamp {times[-1]} is out of range", path=path, expected=expected)
    if any(isinstance(time, float) for time in times):
        times = [decimal.Decimal(repr(time)) for time in times]  # differences of floats since 1970 are not exact
    return np.array([round((time - times[0]) * UNITS[unit]) for time in times], np.int64)


def _lines(path):
    """Yield the number and text of every line that is not blank."""
    for text, before in chunks(path, EXPECTED, MAX_LINE_BYTES):
        for number, line in enumerate(text.split(b"\n"), before + 1):
            if line.strip():
                yield number, line


def _request(line, unit, fault):
    """Return time, input and output tokens, hashes and tokens per block; the first and last are None if not stated.

    ``fault(what, expected=…)`` returns the error about the line.
    """
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError) as error:  # a UnicodeDecodeError is a ValueError
        raise fault(f"not JSON ({error})", expected=EXPECTED) from error
    if not isinstance(entry, dict):
        raise fault(f"a JSON {type(entry).__name__}", expected=EXPECTED)
    for key in ("input_length", "hash_ids"):
        if key not in entry:
            raise fault(f"{key} is missing", expected=EXPECTED)
    time, tokens, output, ids = (entry.get(key, 0 if key == "output_length" else None) for key in KEYS)
    own, limit = entry.get("block_size"), LONGEST_TIME // UNITS[unit]
    if own is not None and (not _is_whole(own) or not 1 <= own <= MAX_BLOCK):
        raise fault(f"block_size is {own!r}", expected=f"a whole number of tokens from 1 to {MAX_BLOCK}")
    if "timestamp" in entry and (not (_is_whole(time) or isinstance(time, float)) or not 0 <= time <= limit):
        raise fault(f"timestamp is {time!r}", expected=f"a number from 0 to {limit}, {unit}")
    for key, value, least in (("input_length", tokens, 1), ("output_length", output, 0)):
        if not _is_whole(value) or not least <= value < MAX_TOKENS:
            raise fault(f"{key} is {value!r}", expected=f"a whole number from {least} to {MAX_TOKENS - 1}, tokens")
    if not isinstance(ids, list) or not all(_is_whole(value) and 0 <= value <= MAX_HASH for value in ids):
        raise fault("hash_ids is not a list of hashes", expected=f"a list of whole numbers from 0 to {MAX_HASH}")
    return time, tokens, output, ids, own


def _is_whole(value):
    return isinstance(value, int) and not isinstance(value, bool)


def _sizes(tokens, count):
    """Return the smallest and largest block size at which a prompt has this many hashes, whether or not its partial
    last block is hashed."""
    return tokens // (count + 1) + 1, MAX_TOKENS if count < 2 else (tokens - 1) // (count - 1)


def _block_tokens(low, high):
    """Return a block size from `low` to `high`: that of the released traces if it fits, else the largest power of two
    that fits, else `high`."""
    if low <= BLOCK_TOKENS <= high:
        return BLOCK_TOKENS
    power = 1 << (high.bit_length() - 1)
    return power if low <= power else high
