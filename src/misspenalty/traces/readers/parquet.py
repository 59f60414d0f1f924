"""Read Parquet files with one row per request, whose columns are those of a table; see `misspenalty.traces.frames`."""

import pyarrow as pa

from misspenalty.errors import InputError
from misspenalty.traces.frames import BATCH, read_columns
from misspenalty.traces.layout import LOOKED_AT
from misspenalty.traces.reader import Format, register
from misspenalty.traces.readers import capture, files
from misspenalty.traces.table import OF_TEXT, OPTIONS, Table
from misspenalty.traces.vocabulary import PLACES


def read(path, block_bytes, **options):
    """Yield `Requests` of blocks of `block_bytes`; return the `Reading`."""
    import pyarrow.parquet as pq  # costs more than opening a small trace

    table = Table().changed(**options)
    try:
        with pq.ParquetFile(path) as parquet:
            first = next(parquet.iter_batches(LOOKED_AT), None)
            first = parquet.schema_arrow.empty_table() if first is None else pa.Table.from_batches([first])
            return (
                yield from read_columns(
                    first, lambda names: parquet.iter_batches(BATCH, columns=names), table, block_bytes, path
                )
            )
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # UnicodeDecodeError: in a column's name
        raise InputError(
            f"cannot be read as Parquet ({error})", path=path, remedy="the file may be truncated: fetch it again"
        ) from error


def sniff(name, head):
    """Return whether the file is Parquet, but in none of the other formats that use Parquet."""
    return head.startswith(capture.MAGIC) and not files.sniff(name, head) and not capture.sniff(name, head)


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
