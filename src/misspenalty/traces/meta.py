"""Write the description of a compiled trace, ``meta.json``: checksums, and everything except the columns themselves."""

import dataclasses
import json
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from misspenalty.traces.columns import COLUMNS
from misspenalty.traces.reading import Reading

META = "meta.json"
VERSION = 4


@dataclass(frozen=True)
class RequestSizes:
    """Lengths of the requests that a trace was compiled from, in blocks.

    Attributes
    ----------
    requests : int
    median, p95, largest : int
        Blocks per request.
    octaves : tuple of int
        Numbers of requests of 1, 2, 3 to 4, 5 to 8, … blocks; empty if an older version, which did not count them,
        compiled the trace.
    """

    requests: int
    median: int
    p95: int
    largest: int
    octaves: tuple[int, ...] = ()


def write_meta(
    folder: Path,
    references: int,
    blocks: int,
    block_bytes: int,
    name: str,
    format: str,
    sizes: RequestSizes | None,
    reading: Reading | None = None,
    *,
    checksums: bool = True,
) -> None:
    """Write the description of a compiled trace, which is everything except its columns, with a checksum of the
    description and, if `checksums` is true, those of the columns.
    """
    meta: dict[str, Any] = {
        "version": VERSION,
        "references": references,
        "blocks": blocks,
        "block_bytes": block_bytes,
        "name": name,
        "format": format,
        "columns": {
            name: checksum(np.memmap(folder / name, np.uint8, "r")) if checksums else None
            for name in COLUMNS
            if (folder / name).exists()
        },
    }
    if sizes is not None:
        meta["sizes"] = dataclasses.asdict(sizes)
    if reading is not None:
        meta["reading"] = reading.to_dict()
    meta["checksum"] = meta_checksum(meta)
    (folder / META).write_text(json.dumps(meta, indent=1, sort_keys=True) + "\n")


def meta_checksum(meta: dict[str, Any]) -> str:
    """Return the CRC-32 of a description without the checksum that it contains."""
    rest = {key: value for key, value in meta.items() if key != "checksum"}
    return f"{zlib.crc32(json.dumps(rest, sort_keys=True).encode()):08x}"


def checksum(column: np.ndarray) -> str:
    """Return the CRC-32 of a column's bytes."""
    return f"{zlib.crc32(np.ascontiguousarray(column).data):08x}"
