"""Read Parquet files with one row per request, whose columns are those of a table; see `misspenalty.traces.frames`."""

import pyarrow as pa

from misspenalty.traces.frames import BATCH, read_columns
from misspenalty.traces.layout import LOOKED_AT
from misspenalty.traces.reader import PARQUET, Format, open_parquet, register
from misspenalty.traces.readers import capture, files
from misspenalty.traces.table import OF_TEXT, OPTIONS, Table
from misspenalty.traces.vocabulary import PLACES


def read(path, block_bytes, **options):
    """Yield `Requests` of blocks of `block_bytes`; return the `Reading`."""
    table = Table().changed(**options)
    with open_parquet(path) as parquet:
        first = next(parquet.iter_batches(LOOKED_AT), None)
        first = parquet.schema_arrow.empty_table() if first is None else pa.Table.from_batches([first])

        def batches(names):
            return parquet.iter_batches(BATCH, columns=names)

        return (yield from read_columns(first, batches, table, block_bytes, path))


def sniff(name, head):
    """Return whether the file is Parquet, but in none of the other formats that use Parquet."""
    return head.startswith(PARQUET) and not files.sniff(name, head) and not capture.sniff(name, head)


register(
    Format(
        "parquet",
        "Parquet: columns with " + " or ".join(PLACES),
        read,
        sniff,
        4096,
        {name: what for name, what in OPTIONS.items() if name not in OF_TEXT},
        source="columns in any order, of any type that can hold their values",
    )
)
