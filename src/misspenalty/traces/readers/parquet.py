"""Parquet files with one row per request, whose columns are recognised by name as in `csv`.

The same roles and names, and the option ``columns``; a column ``op`` may be text (R, W, read, write) or boolean. A
column of times may be a timestamp. Columns that are not named are not read.
"""

import numpy as np
import pyarrow as pa

from misspenalty.errors import InputError
from misspenalty.traces.reader import Clock, Devices, Format, register
from misspenalty.traces.readers import capture, csv, files

UNITS = {"time": 1_000_000_000, "time_ms": 1_000_000, "time_us": 1_000, "time_ns": 1}  # ns
BATCH = 1 << 20  # rows decoded at a time


def read(path, block_bytes, columns=None):
    """Yield `Requests` of blocks of `block_bytes`; `columns` as in `csv.layout`."""
    import pyarrow.parquet as pq  # costs more than opening a small trace

    devices, clock = Devices(), None
    try:
        with pq.ParquetFile(path) as parquet:
            roles = csv.roles_of(parquet.schema_arrow.names, columns, path, line=None)
            when = next((role for role in csv.TIMES if role in roles.values()), None)
            clock = Clock(1, path)
            for batch in parquet.iter_batches(BATCH, columns=[parquet.schema_arrow.names[i] for i in roles]):
                named = {role: batch[parquet.schema_arrow.names[i]] for i, role in roles.items()}
                rows = {role: _values(role, column, path) for role, column in named.items()}
                yield csv.requests(rows, when, clock, devices, block_bytes, path)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # the last for a column's name
        raise InputError(
            f"cannot be read as Parquet ({error})", path=path, remedy="the file may be truncated: fetch it again"
        ) from error


def _values(role, column, path):
    """A column as int64, in the units of `csv`."""
    if column.null_count:
        raise InputError(f"column {role}: a row lacks a value", path=path, expected="no nulls")
    kind = column.type
    if role in UNITS and pa.types.is_timestamp(kind):
        return column.cast(pa.timestamp("ns")).to_numpy(zero_copy_only=False).astype(np.int64)
    if pa.types.is_dictionary(kind):
        column, kind = column.dictionary_decode(), column.type.value_type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _text(role, column.to_pylist(), path)
    if not (pa.types.is_integer(kind) or pa.types.is_boolean(kind) or (pa.types.is_floating(kind) and role in UNITS)):
        raise InputError(f"column of {role} is of type {kind}", path=path, expected="integers, text or booleans")
    values = column.to_numpy(zero_copy_only=False)
    if role in UNITS:
        return np.rint(values * UNITS[role]).astype(np.int64)
    if values.size and (int(values.min()) < 0 or int(values.max()) >= 1 << 63):
        raise InputError(
            f"{role} {int(values.min())} to {int(values.max())} is out of range", path=path, expected="0 to 2**63 - 1"
        )
    return values.astype(np.int64)


def _text(role, values, path):
    if role in ("op", "write"):
        known = {"r": 0, "read": 0, "false": 0, "w": 1, "write": 1, "true": 1}
        odd = next((value for value in values if value.lower() not in known), None)
        if odd is not None:
            raise InputError(f"{role} {odd!r}", path=path, expected="R or W, read or write")
        return np.array([known[value.lower()] for value in values], np.int64)
    if role not in ("block", "device"):
        raise InputError(f"column of {role} holds text", path=path, expected="numbers")
    return np.array([csv.hash_of(value.encode()) for value in values], np.int64)


def sniff(name, head):
    """Whether it is Parquet, but none of the other Parquet formats."""
    return head.startswith(capture.MAGIC) and not files.sniff(name, head) and not capture.sniff(name, head)


register(
    Format(
        "parquet",
        "Parquet: columns with " + " or ".join(csv.PLACES),
        read,
        sniff,
        4096,
        {"columns": f"role=column,… with the roles {', '.join(csv.ROLES)} (default: recognised by name)"},
    )
)
