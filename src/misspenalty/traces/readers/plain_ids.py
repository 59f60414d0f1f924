"""Read plain binary block or object numbers, one after another: 4 or 8 bytes each, in either byte order.

Such a file does not identify itself, so the user has to name the format. For numbers as text, see `lirs`. Caffeine's
simulator calls the big-endian ones ``cache2k`` (4 bytes), ``corda`` and ``scarab`` (8 bytes, signed), and users can use
these names too.
"""

import functools

import numpy as np

from misspenalty.traces.reader import Format, Requests, records, register


def read(path, block_bytes, dtype):
    """Yield `Requests`; the block size is only recorded."""
    for ids in records(path, dtype):
        yield Requests(ids.astype(np.uint64))


PLAIN = {"u32le": "<u4", "u32be": ">u4", "u64le": "<u8", "u64be": ">u8"}
CAFFEINE = {"cache2k": ">u4", "corda": ">u8", "scarab": ">u8"}
for name, code in (PLAIN | CAFFEINE).items():
    order = "little" if code[0] == "<" else "big"
    register(
        Format(
            name,
            f"binary: block numbers of {code[2]} bytes, {order}-endian",
            functools.partial(read, dtype=np.dtype(code)),
            lambda name, head: False,
            4096,
            assumes_block=True,
        )
    )
