"""List the inputs that are fuzzed: traces, captures, drives, DiskSim's files, requests, libraries' results, YAML.

`targets.py` has the targets that read results.

Seeds are small valid inputs, made here, or files of the repository cut to a few kilobytes.
"""

import functools
import gzip
import io
import lzma
import os
import shutil
import struct
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from misspenalty import open_trace, simulate
from misspenalty.conformance import read_results
from misspenalty.disks import load
from misspenalty.disks.disksim import importer
from misspenalty.disks.requests import read_requests
from misspenalty.io.documents import read_yaml
from misspenalty.traces import formats
from misspenalty.traces.builds import read as read_capture
from misspenalty.traces.dialects import dialects
from misspenalty.traces.meta import META
from misspenalty_studies.common.machine import read_entries
from misspenalty_studies.hac.machine import HacMachine

ROOT = Path(__file__).parents[2]
DRIVES = ROOT / "data" / "drives"


@dataclass(frozen=True)
class Target:
    """A reader, its seeds by file name, and the other files that an input consists of."""

    read: Callable[[Path], None]  # function that reads the input and checks what was accepted
    seeds: Callable[[], dict[str, bytes]]
    whole: Callable[[], dict[str, bytes]] | None = None  # all files of an input, by name


class Layout:
    """A folder with the files of a target's input, one of which changes from execution to execution."""

    def __init__(self, target: Target, folder: Path):
        self.folder, self.whole, self.changed = str(folder), target.whole() if target.whole else {}, ""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name, data in self.whole.items():
            (folder / name).write_bytes(data)

    def put(self, place: str, content: bytes) -> Path:
        """Write an input in which the file `place` has been mutated; return the path to read."""
        if self.changed:  # not written in place, because a reader may have it mapped
            os.unlink(f"{self.folder}/{self.changed}")
            if self.changed in self.whole and self.changed != place:
                self._write(self.changed, self.whole[self.changed])
        if place in self.whole and place != self.changed:
            os.unlink(f"{self.folder}/{place}")
        self._write(place, content)
        self.changed = place
        return Path(self.folder, next(iter(self.whole), place))

    def _write(self, name, data):
        file = os.open(f"{self.folder}/{name}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        os.write(file, data)
        os.close(file)


# --- traces


def check(trace):
    """Check that an accepted trace does not contradict itself, and that a policy can replay it."""
    assert len(trace) == len(trace.ids) > 0
    assert 0 < trace.blocks <= len(trace) and int(trace.ids.max()) == trace.blocks - 1
    assert len(trace.address) == trace.blocks == len(np.unique(trace.address))
    for column in (trace.write, trace.time):
        assert column is None or len(column) == len(trace)
    if len(trace) < 100_000:
        result = simulate(trace, "lru", 3)
        assert 0 <= result.hits <= result.requests <= len(trace)
        assert trace.write is not None or result.misses >= trace.blocks


def read_trace(path, format=None):
    check(open_trace(path, format, most_references=1_000_000))


def read_compiled(path):
    check(open_trace(path.parent))


def vscsi():
    rows = [(1, 4096, 1, 0x28 if n % 3 else 0x2A, 256, 8 * (n % 7), 100 * n) for n in range(20)]
    return b"".join(struct.pack("<IIIHHQQ", *row) for row in rows)


def srt():
    head = b'tracedate\t= "Sat Apr 18 00:00:00 1992";\nmachine = "x";\n\f'
    rows = [[56, 4 << 16 | 1, n, 250_000, 0, 0, 8192, 16 * (n % 5), 0x1C0400, 0, 0, n % 2, 0, 3] for n in range(9)]
    return head + b"".join(struct.pack("<14I", *row) for row in rows)


def parquet(frame, **options):
    stream = io.BytesIO()
    frame.to_parquet(stream, index=False, compression=None, **options)
    return stream.getvalue()


SPC = b"".join(
    b"%d,%d,%d,%s,%d.25,7\n" % (n % 3, 8 * (n % 5), 4096 * (n % 3 + 1), b"RW"[n % 2 :][:1], n) for n in range(24)
)
BLKPARSE = b"".join(
    b"  8,%d    3 %8d     %d.000000000   697  Q  %s %d + 8 [a b]\n" % (n % 2, n, n, (b"W", b"RA")[n % 2], 8 * n)
    for n in range(12)
)
MSR = b"".join(
    b"%d,hm,%d,%s,%d,4096,13\r\n" % (128166372003061629 + n, n % 2, (b"Read", b"Write")[n % 2], 512 * n)
    for n in range(12)
)
PROMPT = b'{"timestamp": %d, "input_length": 1500, "output_length": 20, "hash_ids": [0, 1, %d]}\n'
DIALECTS = {  # the example of each dialect, which has at least one line
    name: functools.partial(lambda text: text.encode() + b"\n", dialect.example) for name, dialect in dialects().items()
}
TRACES = DIALECTS | {
    "arc": lambda: b"".join(b"%d %d 0 %d\n" % (n % 7, n % 3 + 1, n) for n in range(30)),
    "lirs": lambda: b"*\n" + b"".join(b"%d\n" % (n * n % 11) for n in range(40)),
    "spc": lambda: SPC,
    "csv": lambda: (
        b"time,op,offset,size,name\n"
        + b"".join(b"%d.5,%s,%d,512,x\n" % (n, (b"read", b"W")[n % 2], 512 * n) for n in range(12))
    ),
    "disksim": lambda: b"".join(b"%d.5 0 %d 8 %d\n" % (n, 8 * (n % 9), n % 2) for n in range(30)),
    "msr": lambda: MSR,
    "blkparse": lambda: BLKPARSE,
    "vscsi": vscsi,
    "srt": srt,
    "oracleGeneral": lambda: b"".join(struct.pack("<IQIq", n, n % 5, 100, n + 5 if n < 15 else -1) for n in range(20)),
    "mooncake": lambda: b"".join(PROMPT % (n * 1000, n) for n in range(10)),
    "capture": lambda: parquet(
        pd.DataFrame(
            {
                "time_ms": np.arange(20, dtype="u4"),
                "relation": ["a", "b"] * 10,
                "block": np.arange(20, dtype="u4") % 7,
                "write": [True, False] * 10,
            }
        )
    ),
    "adapt_size": lambda: b"".join(b"%d %d %d\n" % (n, n * n % 11, 100 + n * n % 11) for n in range(30)),
    "address": lambda: b"".join(b"%s 0x1ff%02x %d\n" % (b"ls"[n % 2 : n % 2 + 1], n * n % 97, n) for n in range(30)),
    "address_penalties": lambda: b"".join(b"l 0x1ff%02x %d 1 100\n" % (n * n % 97, n) for n in range(30)),
    "delayed_hits": lambda: b"".join(b"%d;%d\n" % (n, n * n % 7) for n in range(30)),
    "fio": lambda: (ROOT / "tests" / "data" / "formats" / "fio3.log").read_bytes(),
    "blktrace": lambda: (ROOT / "tests" / "data" / "formats" / "sdb.blktrace.0").read_bytes(),
    "lcs": lambda: lzma.decompress((ROOT / "tests" / "data" / "formats" / "v1.lcs.xz").read_bytes()),
    "parquet": lambda: parquet(pd.DataFrame({"key": np.arange(20) % 7, "op": ["R", "W"] * 10, "time_us": range(20)})),
    **{
        name: functools.partial(lambda code: (np.arange(40) ** 2 % 23).astype(code).tobytes(), code)
        for name, code in (("cache2k", ">u4"), ("corda", ">u8"), ("scarab", ">u8"))
    },
    **{
        f"u{bits}{order}e": functools.partial(
            lambda code: (np.arange(40) ** 2 % 23).astype(code).tobytes(), f"{'<' if order == 'l' else '>'}u{bits // 8}"
        )
        for bits in (32, 64)
        for order in "lb"
    },
}


@functools.cache
def compiled():
    """Return the files of a compiled trace."""
    with tempfile.TemporaryDirectory() as folder:
        raw, out = Path(folder, "x.spc"), Path(folder, "x.trace")
        raw.write_bytes(SPC)
        open_trace(raw).save(out)
        files = {path.name: path.read_bytes() for path in sorted(out.iterdir())}
    return {META: files.pop(META)} | files


def detected():
    """Return seeds of the formats that are recognised by content, each plain and, if that is allowed, compressed."""
    numbers = ("u32le", "u32be", "u64le", "u64be", "cache2k", "corda", "scarab")
    unnamed = (*numbers, *(name for name, dialect in dialects().items() if dialect.evidence.get("named")))
    plain = {f"seed{number}": make() for number, (name, make) in enumerate(TRACES.items()) if name not in unnamed}
    return plain | {
        f"{name}.gz": gzip.compress(content) for name, content in plain.items() if not content.startswith(b"PAR1")
    }


# --- captures of builds


@functools.cache
def build_files():
    """Return the three files of a capture, cut to the first 60 events and the first 3 processes."""
    tables = {
        end: pd.read_parquet(ROOT / "data" / "raw" / "builds" / f"ld{end}.parquet")
        for end in ("", "_files", "_processes")
    }
    events = tables[""]
    return {
        "x.parquet": parquet(events[(events["run"] == events["run"].iloc[0])].head(60)),
        "x_files.parquet": parquet(tables["_files"]),
        "x_processes.parquet": parquet(tables["_processes"].head(3)),
    }


# --- drives and other documents

SPECS = b"""\
disksim_disk MADE {
   Model = source x.model,   # beside this file
   Bulk sector transfer time = 0.02,
   Number of buffer segments = 2, Segment size (in blks) = 64,
   Buffer continuous read = 1, Enable caching in buffer = 1,
   Read hit over. after read = 0.5, Read miss over. after read = 0.7
}
"""
MODEL = b"""\
dm_disk MADE_model {
   Number of data surfaces = 2, Number of cylinders = 10,
   Layout Model = dm_layout_g1 {
      LBN-to-PBN mapping scheme = 0, Sparing scheme used = 0,
      Zones = [ dm_layout_g1_zone {
         First cylinder number = 0, Last cylinder number = 9, Blocks per track = 40,
         Offset of first block = 0.0, Empty space at zone front = 0,
         Skew for track switch = 8.0, Skew for cylinder switch = 9.0,
         Number of spares = 0, slips = [], defects = [] } ]
   },
   Mechanical Model = dm_mech_g1 {
      Rotation speed (in rpms) = 6000, Seek type = extracted, Full seek curve = x.seek,
      Head switch time = 1.0, Add. write settling delay = 0.5
   }
}
"""
RUNS = MODEL.replace(
    MODEL[MODEL.index(b"dm_layout_g1 {") : MODEL.index(b"   Mechanical")],
    b"""dm_layout_g4 {
      TP = [ 0, 39, 40 ],
      IDX = [
         [ 0, 0, 0.0, 40, 1, 0.25, 200, 5, TRACK, 0, 0, 200, 1, 0.5, 40, 1, 0.25, 200, -5, TRACK, 0, 1 ],
         [ 0, 0, 0.0, 400, 5, 0.5, 400, 5, IDX, 0, 400, 5, 0.5, 300, 5, 0.5, 300, 5, IDX, 0 ] ],
      Slips = [ 170, 1 ], Remaps = [ ]
   },
""",
)
SEEK = b"Seek distances measured: 2\n1, 1.5\n9, 5.5\n"
REQUESTS = b"# made\n" + b"".join(
    b"%s Miss %d 8 %d.5 1000\n" % ((b"R", b"W")[n % 2], 8 * n, 9000 + n) for n in range(20)
)

RESULTS = b'{"library": "made", "version": "1"}\n' + b"".join(
    b'{"id": "lru/%02d", "hits": "0011", "evicted": {"2": [%d, 10]}}\n' % (n, n) for n in range(1, 9)
)


def files(*names):
    return {Path(name).name: (ROOT / name).read_bytes() for name in names}


def read_drive(path):
    description = load(path)
    assert description.name


def read_library(path):
    for result in read_results(path):
        assert result.hits and set(result.hits) <= {"0", "1"}
        assert all(blocks == sorted(blocks) for blocks in (result.evicted or {}).values())


def read_machine(path):
    read_entries(path, HacMachine)


TARGETS = {
    name: Target(functools.partial(read_trace, format=name), functools.partial(lambda make: {"seed": make()}, make))
    for name, make in TRACES.items()
}
TARGETS |= {
    "detected": Target(read_trace, detected),
    "compiled": Target(read_compiled, compiled, compiled),
    "files": Target(read_capture, build_files, build_files),
    "drive": Target(
        read_drive,
        lambda: files("data/drives/hp97560.yaml", "data/drives/cheetah9lp.yaml", "data/drives/dc_p3700.yaml"),
    ),
    "disksim_parameters": Target(
        importer.from_disksim,
        lambda: {"x.diskspecs": SPECS, "x.model": MODEL, "x.seek": SEEK},
        lambda: {"x.diskspecs": SPECS, "x.model": MODEL, "x.seek": SEEK},
    ),
    "disksim_runs": Target(
        importer.from_disksim,
        lambda: {"x.model": RUNS},
        lambda: {"x.diskspecs": SPECS, "x.model": RUNS, "x.seek": SEEK},
    ),
    "disk_requests": Target(read_requests, lambda: {"seed": REQUESTS}),
    "conformance_results": Target(read_library, lambda: {"seed": RESULTS}),
    "machine": Target(read_machine, lambda: files("studies/hac/machine.yaml")),
    "yaml": Target(read_yaml, lambda: files("environment.yml", "CITATION.cff")),
}
missing = set(formats()) - set(TARGETS)
assert not missing, f"formats without seeds: {missing}"
