"""Parquet files with one row per request, whose columns are those of a table.

The same roles, names and options as those of text (`misspenalty.traces.readers.tables`). A column of times may be a
timestamp, operations may be text, numbers whose meaning ``operations`` gives, or booleans. Columns without a role are
not read.
"""

import dataclasses

import pyarrow as pa

from misspenalty.errors import InputError
from misspenalty.traces.reader import Format, register
from misspenalty.traces.readers import capture, files
from misspenalty.traces.rows import Rows, in_order_of_time
from misspenalty.traces.table import OPTIONS, Table
from misspenalty.traces.vocabulary import IGNORE, PLACES, TIMES, assign

BATCH = 1 << 20  # rows decoded at a time
OF_TEXT = ("separator", "header", "comment", "pattern", "skip")


def read(path, block_bytes, **options):
    """Yield `Requests` of blocks of `block_bytes`; return the `Reading`."""
    import pyarrow.parquet as pq  # costs more than opening a small trace

    table = Table().changed(**options)
    try:
        with pq.ParquetFile(path) as parquet:
            names = parquet.schema_arrow.names
            roles = assign(names, table.columns, path, None)
            table, notes = _timed(table, roles, parquet.schema_arrow)
            table = dataclasses.replace(table, separator="")
            rows = Rows(table, block_bytes, path)
            found = _requests(parquet, roles, rows, path)
            yield from in_order_of_time(found, rows) if table.order == "time" else found
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # the last for a column's name
        raise InputError(
            f"cannot be read as Parquet ({error})", path=path, remedy="the file may be truncated: fetch it again"
        ) from error
    used = {place for places in roles.values() for place in places}
    dropped = {part for column in table.columns.get(IGNORE, ()) for part in (column, *column.split("+"))}
    ignored = tuple(name for place, name in enumerate(names) if place not in used and name not in dropped)
    return rows.reading(
        {role: " + ".join(names[at] for at in places) for role, places in roles.items()}, ignored, notes
    )


def _timed(table, roles, schema):
    """`table` with the unit of the column of times, and notes if it was guessed."""
    role = next((role for role in TIMES if role in roles), None)
    if role is None:
        return table, ()
    kind = schema.field(roles[role][0]).type
    unit = TIMES[role] or table.time_unit
    if unit or pa.types.is_temporal(kind):
        return dataclasses.replace(table, time_unit=unit or "s"), ()
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return dataclasses.replace(table, time_unit="iso"), ("times taken as ISO 8601 (--time-unit)",)
    return dataclasses.replace(table, time_unit="s"), ("times taken as s (--time-unit)",)


def _requests(parquet, roles, rows, path):
    before = 0
    names = parquet.schema_arrow.names
    places = sorted({place for each in roles.values() for place in each})
    for batch in parquet.iter_batches(BATCH, columns=[names[place] for place in places]):
        columns = {role: [batch[names[place]] for place in each] for role, each in roles.items()}

        def fault(row, role, place, what, before=before):
            name = names[roles[role][place]]
            return InputError(f"row {before + row + 1}, column {name}: {what or 'a value is malformed'}", path=path)

        yield rows.requests(columns, fault)
        before += len(batch)


def sniff(name, head):
    """Whether it is Parquet, but none of the other Parquet formats."""
    return head.startswith(capture.MAGIC) and not files.sniff(name, head) and not capture.sniff(name, head)


register(
    Format(
        "parquet",
        "Parquet: columns with " + " or ".join(PLACES),
        read,
        sniff,
        4096,
        {name: what for name, what in OPTIONS.items() if name not in OF_TEXT},
        source="columns in any order, of any type that holds what is meant",
    )
)
