"""Prompts of a language-model service as block references: the JSON lines of the Mooncake project.

One reference per hash, in prompt order, all at the prompt's arrival; reads only. See `misspenalty.traces.prompts`. The
block size is only recorded: 512 tokens of LLaMA3-70B, whose key-value cache takes 327,680 bytes per token.
"""

import numpy as np

from misspenalty.traces.prompts import BLOCK_TOKENS, read_prompts
from misspenalty.traces.reader import Format, Requests, register

TOKEN_BYTES = 327_680


def read(path, block_bytes):
    """Yield one batch of `Requests`; the block size is only recorded."""
    prompts = read_prompts(path)
    yield Requests(prompts.blocks, None, None, np.repeat(prompts.time, prompts.count))


def sniff(name, head):
    """Whether the content begins with an object that has the keys of a prompt."""
    return head.lstrip()[:1] == b"{" and b'"hash_ids"' in head and b'"timestamp"' in head


register(
    Format(
        "mooncake",
        "JSON lines: timestamp, input_length, output_length, hash_ids",
        read,
        sniff,
        BLOCK_TOKENS * TOKEN_BYTES,
    )
)
