"""Read prompts of a language-model service as block references: JSON lines of Mooncake, Qwen-Bailian and others.

Each hash is one reference, a read, at the time when its prompt arrives; the references of a prompt are in the order of
its hashes. See `misspenalty.traces.prompts`. The block size is only recorded: it is the number of tokens per block,
from the data or the option ``block_tokens``, times the 327,680 bytes that a token takes in the key-value cache of
LLaMA3-70B.
"""

import re

import numpy as np

from misspenalty.errors import check_whole
from misspenalty.traces.lines import MARK
from misspenalty.traces.prompts import BLOCK_TOKENS, MAX_BLOCK, read_prompts, soundness
from misspenalty.traces.reader import Format, Requests, register
from misspenalty.traces.reading import Reading

TOKEN_BYTES = 327_680


def read(path, block_bytes, block_tokens=None, unit=None):
    """Yield one batch of `Requests`; the block size is only recorded."""
    prompts = read_prompts(path, unit, whole_tokens(block_tokens))
    time = None if prompts.time is None else np.repeat(prompts.time, prompts.count)
    yield Requests(prompts.blocks, None, None, time)
    few = unit is None and prompts.unit == "ms" and 0 < 2 * prompts.fractions <= len(prompts)
    notes = [f"times taken as ms, although {prompts.fractions:,} of {len(prompts):,} have a fraction (--unit)"] * few
    if unit is None and prompts.unit == "s" and 2 * prompts.fractions <= len(prompts):
        notes.append("times taken as s, as they seem to count from 1970 (--unit)")
    if prompts.sizes and block_tokens is None:
        least, most = prompts.sizes
        fitting = f"{least:,} or more" if most > MAX_BLOCK else f"{least:,} to {most:,}"
        notes.append(f"blocks of {prompts.block_tokens:,} tokens, although {fitting} fit (--block-tokens)")
    return Reading(time_unit=prompts.unit, prefixes=soundness(prompts), notes=tuple(notes))


def block_bytes_of(path, block_tokens=None, unit=None):
    """Return the block size of this trace, bytes."""
    return TOKEN_BYTES * (whole_tokens(block_tokens) or read_prompts(path, unit).block_tokens)


def whole_tokens(text):
    """Return the tokens per block that an option states as text or number, or None if it is not given.

    Raises
    ------
    ParameterError
        The value is not a whole number, or is out of range.
    """
    if text is None:
        return None
    return check_whole("block_tokens", int(text) if re.fullmatch("[0-9]{1,9}", str(text)) else text, 1, MAX_BLOCK)


def sniff(name, head):
    """Return whether the content begins with an object that has the keys of a prompt."""
    keys = b'"timestamp"' in head or b'"input_length"' in head
    return head.removeprefix(MARK).lstrip()[:1] == b"{" and b'"hash_ids"' in head and keys


register(
    Format(
        "mooncake",
        "JSON lines: timestamp, input_length, output_length, hash_ids",
        read,
        sniff,
        BLOCK_TOKENS * TOKEN_BYTES,
        {
            "block_tokens": "tokens per block of prompts (default: as stated, or a size that explains the hashes)",
            "unit": "unit of timestamps, ms or s (default: s if most have a fraction or they count from 1970)",
        },
        block_bytes_of,
    )
)
