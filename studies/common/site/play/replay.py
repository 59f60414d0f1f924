"""Open and replay traces in the reader's browser, in Pyodide, as the command line does.

The worker calls `call` with the name of a function here and its arguments as JSON.
"""

import gzip
import json
import re
import sys
import traceback
from array import array
from pathlib import Path

import numpy as np

import misspenalty
import misspenalty.replay.tables  # imported here, because modules imported only by functions are not packed
from misspenalty import disks
from misspenalty.disks.drive.description import Description, Kind
from misspenalty.errors import MissPenaltyError, ParameterError
from misspenalty.policies.sized import SIZED
from misspenalty.replay.cache_size import cache_sizes
from misspenalty.traces.quantities import is_time, parse_bytes
from misspenalty.traces.trace import Trace

TRACES = {}  # opened traces, by the names that the page chose
DRIVES = {}  # drives loaded so far, by name
OFFERED = {"--format", "--block-size"}  # options that the page has for reading a file
MOST_TIMED = 2_000_000  # maximum number of references in a timed replay, because their times take memory and are sorted


def call(function, values):
    """Call a function; return as JSON ``{"value": …}`` with its result, or ``{"error": …}`` with the error message."""
    try:
        return json.dumps({"value": globals()[function](**json.loads(values))})
    except MissPenaltyError as error:
        return json.dumps({"error": str(error)})
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return json.dumps({"error": f"{type(error).__name__}: {error} ({where.name}, line {where.lineno})"})


def open_shipped(name, path, references, blocks, block_bytes, form):
    """Open a trace that comes with the page. Its file holds the ids, whose highest bit marks a write, and then the
    addresses, both in the form that `joined` reads."""
    planes = gzip.decompress(Path(path).read_bytes())
    packed = np.frombuffer(joined(planes[: 4 * references], 4), np.uint32)
    writes = bytes(1 if byte & 128 else 0 for byte in planes[3 * references : 4 * references])
    address = np.frombuffer(joined(planes[4 * references :], 8), np.uint64)
    write = np.frombuffer(writes, np.bool_) if 1 in writes else None
    ids = packed & np.uint32(0x7FFFFFFF) if 1 in writes else packed
    return _keep(name, Trace(ids, write, None, address[:blocks], block_bytes, name, form))


def joined(planes, size):
    """Join numbers of `size` bytes that are stored as all first bytes, then all second bytes, and so on."""
    made, count = bytearray(len(planes)), len(planes) // size
    for byte in range(size):
        made[byte::size] = planes[byte * count : (byte + 1) * count]
    return made


def open_file(name, path, form, block_size):
    """Open the reader's own file, in any format that the command line reads except Parquet."""
    try:
        size = parse_bytes(block_size, "block size") if block_size else None
        return _keep(name, misspenalty.open_trace(path, form or None, size))
    except ImportError as error:
        raise ParameterError(
            f"{Path(path).name}: a Parquet file cannot be read in a browser ({error}); convert it to text, or use the"
            " command line"
        ) from error
    except MissPenaltyError as error:
        lacking = set(re.findall("--[a-z][a-z-]*", str(error))) - OFFERED
        if not lacking:
            raise
        raise ParameterError(
            f"{error}. This page does not offer {', '.join(sorted(lacking))}: use the command line"
        ) from error
    finally:
        Path(path).unlink()


def _keep(name, trace):
    own = [known for known in TRACES if known.startswith("own_")]
    if name.startswith("own_") and own:
        del TRACES[own[0]]
    TRACES[name] = trace
    return {
        "references": len(trace),
        "reads": trace.reads,
        "blocks": trace.blocks,
        "text": repr(trace)[1:-1],
        "has_sizes": trace.object_bytes is not None,
        "has_times": trace.time is not None,
    }


def add_drive(name, path):
    """Read a drive into `DRIVES` from its file: a line of JSON, then arrays in the form that `joined` reads."""
    content = gzip.decompress(Path(path).read_bytes())
    about, _, rest = content.partition(b"\n")
    about, arrays = json.loads(about), []
    if about["data"]["kind"] == "flash":
        DRIVES[name] = disks.FlashDescription(about["data"])
        return
    for size, count, kind in about["arrays"]:
        made, rest = joined(rest[: size * count], size), rest[size * count :]
        arrays.append(array(kind, bytes(made)) if kind else made)
    DRIVES[name] = Packed(about, arrays)


class Packed(Description):
    """A disk drive whose tables were built beforehand."""

    def __init__(self, about, arrays):
        Kind.__init__(self, about["data"], None)
        self.mechanics, self.settings = disks.Mechanics(*arrays, *about["arguments"]), about["settings"]


def plan(trace, policies, sizes, by_bytes, device):
    """Check the settings and return the replays to run: pairs of a policy and a size, in blocks or, with `by_bytes`,
    in bytes."""
    opened = TRACES[trace]
    if not policies:
        raise ParameterError("no policy is chosen")
    if by_bytes and (odd := [policy for policy in policies if policy not in SIZED]):
        raise ParameterError(f"{', '.join(odd)}: not defined for objects of different sizes; use {', '.join(SIZED)}")
    found = cache_sizes(opened, sizes.split(","), "bytes" if by_bytes else "objects").sizes
    if device and len(opened) > MOST_TIMED:
        raise ParameterError(
            f"{len(opened)} references; at most {MOST_TIMED} can be timed in a browser: choose a shorter trace, or use"
            " the command line"
        )
    if device and not is_time(device) and device not in DRIVES:
        raise ParameterError(f"device {device!r}: expected a time such as 5ms, or a drive from the list")
    return [[policy, size] for policy in policies for size in dict.fromkeys(found)]


def replay(trace, policy, size, by_bytes, device, load, amount):
    """Run one replay; return the row of `hit_ratio_curve`, `byte_hit_ratio_curve` or, with a device, `penalty`.

    `load` is ``clients`` or ``interval``, whose value is `amount`, or ``times``, which uses the trace's own times.
    """
    opened = TRACES[trace]
    if device:
        given = {} if load == "times" else {load: _whole(amount) if load == "clients" else amount}
        drive = DRIVES.get(device, device)
        table = misspenalty.penalty(opened, policy, size, drive, unit="objects", threads=1, **given)
    elif by_bytes:
        table = misspenalty.byte_hit_ratio_curve(opened, policy, size, threads=1)
    else:
        table = misspenalty.hit_ratio_curve(opened, policy, size, threads=1)
    (row,) = table.to_dict("records")
    if "hit_ratio" not in row:
        row["hit_ratio"] = row["hits"] / row["requests"] if row["requests"] else None
    return {name: None if value != value else value for name, value in row.items()}  # JSON has no NaN


def _whole(text):
    if not re.fullmatch("[0-9]{1,9}", text.strip()):
        raise ParameterError(f"{text!r} clients; expected a whole number of at most 9 digits")
    return int(text)


def about():
    """Return what the page shows: the policies with their summaries, the formats, the policies that are defined for
    objects of different sizes, and the version of Python."""
    return {
        "policies": [{"name": name, "summary": known.summary} for name, known in misspenalty.policies().items()],
        "formats": list(misspenalty.traces.formats()),
        "sized": list(SIZED),
        "python": sys.version.split()[0],
    }
