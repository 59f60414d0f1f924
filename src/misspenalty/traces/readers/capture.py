"""Read captures of a database's data-file reads and writes: Parquet, one row per access to a block of 8 KB.

Columns: ``time_ms`` since the capture began, ``relation`` (table or index), ``block`` within the relation, ``write``.
"""

import numpy as np
import pyarrow as pa

from misspenalty.errors import InputError
from misspenalty.traces.reader import PARQUET, Format, Requests, open_parquet, register

MILLISECOND = 1_000_000  # ns
BATCH = 1 << 20  # rows decoded at a time


def _is_text(column):
    values = column.value_type if pa.types.is_dictionary(column) else column
    return pa.types.is_string(values) or pa.types.is_large_string(values)


# Map each column to a description of its contents, and a check of its type.
COLUMNS = {
    "time_ms": ("integers", pa.types.is_integer),
    "relation": ("text", _is_text),
    "block": ("integers", pa.types.is_integer),
    "write": ("booleans", pa.types.is_boolean),
}


def read(path, block_bytes):
    """Yield `Requests`; the upper 32 bits of an address number the relation, the lower 32 the block within it."""
    relations = {}
    with open_parquet(path, COLUMNS) as parquet:
        for name, (what, fits) in COLUMNS.items():
            if not fits(kind := parquet.schema_arrow.field(name).type):
                raise InputError(f"column {name} is of type {kind}", path=path, expected=what)
    with open_parquet(path, read_dictionary=["relation"]) as parquet:
        for batch in parquet.iter_batches(BATCH, columns=list(COLUMNS)):
            yield _requests(batch, relations, path)


def _numbers(batch, name, limit, path):
    """Return a column of integers; raise an `InputError` if one is below 0 or not below `limit`."""
    values = batch[name].to_numpy()
    if values.size and (values.min() < 0 or int(values.max()) >= limit):
        odd = values.min() if values.min() < 0 else values.max()
        raise InputError(f"{name} {odd} is out of range", path=path, expected=f"0 to {limit - 1}")
    return values


def _requests(batch, relations, path):
    if any(column.null_count for column in batch.columns):
        raise InputError("a row lacks a value", path=path, expected=f"no nulls in {', '.join(COLUMNS)}")
    relation = batch["relation"].dictionary_encode()  # most captures are already in this form
    names = relation.dictionary.to_pylist()
    codes = np.array([relations.setdefault(name, len(relations)) for name in names], np.uint64)
    number = codes[relation.indices.to_numpy()]
    block = _numbers(batch, "block", 1 << 32, path).astype(np.uint64)
    time = _numbers(batch, "time_ms", (1 << 63) // MILLISECOND, path).astype(np.int64) * MILLISECOND
    return Requests(number << np.uint64(32) | block, None, batch["write"].to_numpy(zero_copy_only=False), time)


def sniff(name, head):
    """Return whether the footer names all columns."""
    return head.startswith(PARQUET) and all(column.encode() in head for column in COLUMNS)


register(Format("capture", "Parquet: time_ms, relation, block, write", read, sniff, 8192))
