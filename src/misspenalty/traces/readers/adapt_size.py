"""Web requests with sizes: traces of AdaptSize (Berger, Sitaraman & Harchol-Balter, NSDI 2017), LRB and webcachesim.

A line ``time object bytes``. An object requested with another size is a different object. The unit of time is not part
of the format, so times are ignored. Three numbers per line could be many things, so the format has to be named.
"""

from misspenalty.errors import InputError
from misspenalty.traces.reader import Format, Requests, register
from misspenalty.traces.text import Lines

LINES = Lines(b"uuu", ("time", "object", "bytes"), open_ended=True)
MAX_OBJECT, MAX_BYTES = 1 << 32, 1 << 32  # both go into one address


def read(path, block_bytes):
    """Yield `Requests`; an address holds the object's number and its size."""
    for _, number, size in LINES.columns(path):
        for what, values, limit in (("object", number, MAX_OBJECT), ("size", size, MAX_BYTES)):
            if values.size and values.max() >= limit:
                raise InputError(f"{what} {int(values.max())} is out of range", path=path, expected=f"below {limit}")
        yield Requests((number.view("u8") << 32) | size.view("u8"), None, None, None, size)


register(Format("adapt_size", "text: time object bytes", read, lambda name, head: False, 4096))
