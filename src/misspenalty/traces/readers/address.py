"""Memory accesses, one per line, as in the traces of UC San Diego's course on computer architecture.

A line ``l|s 0xADDRESS N`` is a load or a store and the number of instructions since the previous access; with two
further numbers, ``hit-penalty miss-penalty``, it is what Caffeine's simulator calls ``address_penalties``; these are
ignored. The keys are whole addresses, not cache lines; the block size is only recorded. There are no times.
"""

import numpy as np

from misspenalty.errors import InputError
from misspenalty.traces._text import parse
from misspenalty.traces.reader import Format, Requests, register
from misspenalty.traces.text import Lines

NAMES = ("l or s", "address", "instructions", "hit penalty", "miss penalty")
PLAIN, PENALTIES = Lines(b"hxu", NAMES[:3]), Lines(b"hxuuu", NAMES)


def _codes():
    """Convert the parser's values for the two letters."""
    columns = np.empty((1, 3), np.int64)
    parse(b"l\ns\n", b"h", 32, False, bytes(256), 32, columns)
    return columns[0, :2]


LOAD, STORE = _codes()


def read(path, block_bytes, lines=PLAIN):
    """Yield `Requests`; the block size is only recorded."""
    done = 0
    for kind, address, *_ in lines.columns(path):
        write = kind == STORE
        odd = np.flatnonzero(~write & (kind != LOAD))
        if odd.size:
            raise InputError(f"access {done + int(odd[0]) + 1} is neither l nor s", path=path, expected="l or s")
        done += kind.size
        yield Requests(address.view("u8"), None, write)


def read_penalties(path, block_bytes):
    """Yield `Requests`; the block size is only recorded."""
    yield from read(path, block_bytes, PENALTIES)


def sniff(name, head, lines=PLAIN):
    """Whether lines begin with l or s and an address with 0x."""
    return head[:2] in (b"l ", b"s ") and head[2:4] == b"0x" and lines.fits(head)


register(Format("address", "text: l|s 0xADDRESS instructions", read, sniff, 64))
register(
    Format(
        "address_penalties",
        "text: l|s 0xADDRESS instructions hit-penalty miss-penalty",
        read_penalties,
        lambda name, head: sniff(name, head, PENALTIES),
        64,
    )
)
