"""Captures of a database's data-file reads and writes: Parquet, one row a block of 8 KB.

Columns: ``time_ms`` since the capture began, ``relation`` (table or index), ``block`` within the relation, ``write``.
"""

import numpy as np
import pyarrow as pa

from misspenalty.errors import InputError
from misspenalty.traces.reader import Format, Requests, register

COLUMNS = ("time_ms", "relation", "block", "write")
BATCH = 1 << 20  # rows decoded at a time


def read(path, block_bytes):
    """Yield `Requests`; a relation's number, in order of appearance, stands above its 32-bit block number."""
    import pyarrow.parquet as pq  # costs more than opening a small trace

    relations = {}
    try:
        with pq.ParquetFile(path, read_dictionary=["relation"]) as parquet:
            missing = [name for name in COLUMNS if name not in parquet.schema_arrow.names]
            if missing:
                raise InputError(f"no column {', '.join(missing)}", path=path, expected=f"columns {', '.join(COLUMNS)}")
            for batch in parquet.iter_batches(BATCH, columns=list(COLUMNS)):
                yield _requests(batch, relations, path)
    except (pa.ArrowException, OSError) as error:
        raise InputError(
            f"cannot be read as Parquet ({error})", path=path, remedy="the file may be truncated: fetch it again"
        ) from error


def _requests(batch, relations, path):
    if any(column.null_count for column in batch.columns):
        raise InputError("a row lacks a value", path=path, expected=f"no nulls in {', '.join(COLUMNS)}")
    relation = batch["relation"]
    names = relation.dictionary.to_pylist()
    codes = np.array([relations.setdefault(name, len(relations)) for name in names], np.uint64)
    number = codes[relation.indices.to_numpy()]
    block = batch["block"].to_numpy().astype(np.uint64)
    if block.size and block.max() >> 32:
        raise InputError(f"block {block.max()} is impossible", path=path, expected="below 2**32")
    time = batch["time_ms"].to_numpy().astype(np.int64) * 1_000_000
    return Requests(number << np.uint64(32) | block, None, batch["write"].to_numpy(zero_copy_only=False), time)


register(
    Format(
        "capture", "Parquet: time_ms, relation, block, write", read, lambda name, head: head.startswith(b"PAR1"), 8192
    )
)
