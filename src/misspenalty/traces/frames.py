"""Turn tables of typed columns into requests: Parquet files, and data frames and Arrow tables in memory.

Roles, names and options are those of tables of text (`misspenalty.traces.readers.tables`). A column of times may hold
timestamps; columns without a role are not used.
"""

import dataclasses
import decimal
import numbers
from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from misspenalty.errors import InputError, ParameterError
from misspenalty.traces._compile import Interner
from misspenalty.traces.columns import object_sizes
from misspenalty.traces.layout import LOOKED_AT, understood
from misspenalty.traces.reader import Requests
from misspenalty.traces.reading import Reading, check_heeded
from misspenalty.traces.rows import Rows, check_lifetimes, remedy_of
from misspenalty.traces.source import Source, expand
from misspenalty.traces.table import OF_TEXT, Table
from misspenalty.traces.time_units import compact_date, epoch_unit, stated_unit, unit_since_epoch
from misspenalty.traces.unknown_sizes import UNKNOWN, filled, notes_never
from misspenalty.traces.values import TextKeysError, is_text
from misspenalty.traces.vocabulary import EXCLUSIVE, PLACES, TIMES, Roles, meaning

BATCH = 1 << 20  # number of rows read at a time
FINE = ("s", "ms", "us", "ns")  # NumPy's units of time that Arrow has
COARSE = ("Y", "M", "W", "D", "h", "m")  # NumPy's other units of a second or more


def read_columns(
    first: pa.Table,
    batches: Callable[[list[str]], Iterable[pa.RecordBatch]],
    table: Table,
    block_bytes: int,
    path: Path | None,
    usual: str = "",
) -> Generator[Requests, None, Reading]:
    """Yield the `Requests` of typed columns; return the `Reading`.

    Parameters
    ----------
    first : pyarrow.Table
        The first rows of all columns.
    batches : callable
        ``batches(names)`` returns all rows of these columns, a batch at a time.
    table : Table
    block_bytes : int
    path : Path, optional
        For messages.
    usual : str
        Unit of times that are whole numbers, if no name or option states one; that of times with fractions is guessed
        from the first.
    """
    names, shown = tuple(first.column_names), [_shown(column) for column in first.columns]
    form = understood(table, names, shown, path, timed=lambda table, roles: _timed(table, roles, first, usual, path))
    used = [names[place] for places in form.roles.values() for place in places]
    if twice := [name for name in used if names.count(name) > 1]:
        remedy = "give every column that is read a name of its own"
        raise InputError(f"several columns are called {twice[0]!r}", path=path, remedy=remedy)
    _check_types(first, used, path)
    rows = Rows(form.table, block_bytes, path)
    check_lifetimes(form.table, form.roles, path)
    yield from rows.ordered(iter(_requests(names, form.roles, batches, rows, path)))
    columns = form.columns
    return rows.reading(columns, form.ignored, (*form.notes, *rows.notes(columns)))


def _check_types(first: pa.Table, used: Sequence[str], path: Path | None) -> None:
    """Raise an `InputError` if a column that is read holds, say, lists instead of single values."""
    for name in used:
        kind = first.schema.field(name).type
        single = not (pa.types.is_nested(kind) or pa.types.is_run_end_encoded(kind) or pa.types.is_interval(kind))
        if not single or (isinstance(kind, pa.BaseExtensionType) and kind.extension_name != "arrow.uuid"):
            raise InputError(f"column {name} is of type {kind}", path=path, expected="numbers, text, dates or times")


def _shown(column: pa.ChunkedArray) -> list[str]:
    """Return a column's values as text; an empty list for dates and times, some of which Python cannot represent."""
    return [] if pa.types.is_temporal(column.type) else [str(value) for value in column.to_pylist()]


def _timed(table: Table, roles: Roles, first: pa.Table, usual: str, path: Path | None) -> tuple[Table, tuple[str, ...]]:
    """Return `table` with the unit of the column of times, and notes if it was guessed."""
    role = next((role for role in TIMES if role in roles), None)
    if role is None:
        return table, ()
    column = first.column(roles[role][0])
    unit = stated_unit(table, role)
    several = len(roles[role]) > 1  # several columns, such as a date and a time of day, are joined as texts
    temporal = pa.types.is_temporal(column.type) and not several
    if temporal and table.time_unit:
        name = first.column_names[roles[role][0]]
        raise InputError(
            f"column {name} is of type {column.type}, which has its own unit, so that time_unit would have no effect",
            path=path,
            remedy="leave out --time-unit (time_unit=…)",
        )
    if unit or temporal:
        return dataclasses.replace(table, time_unit=unit or "s"), ()
    if is_text(column) or several:
        return dataclasses.replace(table, time_unit="iso"), ("times taken as ISO 8601 (--time-unit)",)
    value = column[0].as_py() if len(column) else None
    date = compact_date(str(value))
    fractional = (pa.types.is_floating(column.type) or pa.types.is_decimal(column.type)) and not all(
        float(time).is_integer() for time in column.drop_null().to_pylist()
    )
    if usual and not date and not fractional:
        other = unit_since_epoch(int(value), usual) if isinstance(value, numbers.Real) else None
        doubt = f"times taken as {usual}; are they in {other}? (time_unit={other})"
        return dataclasses.replace(table, time_unit=usual), (doubt,) if other not in (None, usual) else ()
    unit = date or epoch_unit(float(value) if isinstance(value, numbers.Real | decimal.Decimal) else 0.0)
    return dataclasses.replace(table, time_unit=unit), (f"times taken as {unit} (--time-unit)",)


def _requests(
    names: Sequence[str],
    roles: Roles,
    batches: Callable[[list[str]], Iterable[pa.RecordBatch]],
    rows: Rows,
    path: Path | None,
) -> Iterable[Requests]:
    before = 0
    places = sorted({place for each in roles.values() for place in each})
    for batch in batches([names[place] for place in places]):
        columns = {role: [_bytes_alike(batch[names[place]]) for place in each] for role, each in roles.items()}

        def fault(
            row: int, role: str, place: int, what: str, before: int = before, batch: pa.RecordBatch = batch
        ) -> InputError:
            name = names[roles[role][place]]
            said = what or f"{str(batch[name][row])[:40]!r} is malformed"
            return InputError(
                f"row {before + row + 1}, column {name}: {said}", path=path, remedy=None if what else remedy_of(role)
            )

        yield from rows.requests(columns, fault)
        before += len(batch)


def _bytes_alike(column: pa.Array) -> pa.Array:
    """Return a column of UUIDs, or of bytes in another layout, as plain bytes; any other column as it is."""
    column = column.storage if isinstance(column.type, pa.BaseExtensionType) else column
    kind = column.type
    layouts = pa.types.is_fixed_size_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind)
    return column.cast(pa.binary()) if layouts else column


def as_arrow(source: Any, named: Collection[str] = ()) -> pa.Table:
    """Return a pandas or polars frame, a Series with a name, an Arrow table or batch, a dict of columns or an array of
    records as an Arrow table.

    Parameters
    ----------
    source : object
    named : collection of str
        Names of columns that are read whatever their roles.

    Raises
    ------
    ParameterError
        `source` is none of these, a column has values of several types or numbers that need more than 64 bits, or
        columns differ in length.
    """
    try:
        if isinstance(source, pa.RecordBatch):
            return pa.Table.from_batches([source])
        if isinstance(source, pa.Table):
            return source
        if isinstance(source, np.ndarray) and source.dtype.names:
            source = {name: source[name] for name in source.dtype.names}
        if isinstance(source, dict):
            return pa.table({str(name): _array(column) for name, column in source.items()})
        if hasattr(source, "to_arrow"):
            return source.to_arrow()
        return _of_pandas(source, named)
    except OverflowError as error:
        raise ParameterError(f"the numbers of a column need more than 64 bits ({error}); give them as text") from error
    except (pa.ArrowException, TypeError, ValueError, AttributeError) as error:
        raise ParameterError(
            f"the table cannot be used ({error}); expected a pandas or polars frame, a Series with a name, an Arrow"
            " table, an array of records, or a dict of columns of one length"
        ) from error


def _array(column: Any) -> pa.Array:
    """Return a column as an Arrow array, which is unsigned if a whole number is above 2**63 - 1."""
    dtype: Any = getattr(column, "dtype", None)
    if _swapped(dtype):
        column = column.astype(dtype.newbyteorder("="))
    if isinstance(dtype, np.dtype) and dtype.kind in "mM":
        unit, step = np.datetime_data(dtype)
        if unit in COARSE or (unit in FINE and step > 1):  # Arrow would mistake steps of 10 ms for steps of 1 ms
            column = column.astype(f"{dtype.kind}8[{'s' if unit in COARSE else unit}]")
    try:
        return pa.array(column)
    except OverflowError:
        return pa.array(column, pa.uint64())


def _swapped(dtype: Any) -> bool:
    """Return whether a type of numbers has the byte order of other machines, which Arrow does not read."""
    return isinstance(dtype, np.dtype) and not dtype.isnative


def _of_pandas(frame: Any, named: Collection[str]) -> pa.Table:
    """Return a pandas frame, or a Series with a name, as an Arrow table.

    A level of the index with a name is a column unless another column has its name or role, and in any case if it is
    among the names in `named`. One that Arrow cannot hold is left out if its name implies no role. An unnamed level of
    timestamps is called ``time``.
    """
    if not hasattr(frame, "columns") and getattr(frame, "name", None) is not None:
        frame = frame.to_frame()
    swapped = [place for place, dtype in enumerate(frame.dtypes) if _swapped(dtype)]
    frame = frame.copy(deep=False) if swapped else frame
    for place in swapped:
        frame.isetitem(place, frame.iloc[:, place].astype(frame.dtypes.iloc[place].newbyteorder("=")))
    made = pa.Table.from_pandas(frame, preserve_index=False)
    columns = dict(zip(made.column_names, made.columns, strict=True))
    taken = {_kind(name) for name in columns}
    for place, name in enumerate(frame.index.names):
        moments = getattr(frame.index.get_level_values(place).dtype, "kind", "") == "M"
        name = "time" if name is None and moments else name
        new = name is not None and str(name) not in columns
        if new and (str(name) in named or _kind(str(name)) not in taken):
            try:
                columns[str(name)] = _array(frame.index.get_level_values(place))
            except (pa.ArrowException, OverflowError):
                if str(name) in named or meaning(str(name)):
                    raise
    return pa.table(columns)


def _kind(name: str) -> tuple[str, ...]:
    """Return the group of mutually exclusive roles that contains the role implied by a column's name.

    If the name implies none, return a group made from the name.
    """
    role = (meaning(name) or (f"column {name}",))[0]
    return next((group for group in (PLACES, *EXCLUSIVE) if role in group), (role,))


def references(source: Any, block_bytes: int, **options: Any) -> dict[str, Any]:
    """Return the columns and the reading of the trace that a table holds, by their names in `misspenalty.Trace`.

    The parameters are those of `misspenalty.Trace.from_table`.
    """
    if odd := next((each for each in options if each in OF_TEXT), None):
        raise ParameterError(f"{odd} applies only to text files, not to tables in memory; leave it out")
    table = Table().changed(**options)
    rows = as_arrow(source, [name for names in table.columns.values() for name in names])
    try:
        found = _references(table, rows, block_bytes)
    except TextKeysError:
        found = _references(dataclasses.replace(table, key="words"), rows, block_bytes)
    check_heeded(found["reading"], options, None)
    return found


def _references(table: Table, rows: pa.Table, block_bytes: int) -> dict[str, Any]:
    first = rows.slice(0, LOOKED_AT)
    source = Source(
        iter(read_columns(first, lambda names: rows.select(names).to_batches(BATCH), table, block_bytes, None, "ns"))
    )
    interner, count = Interner(), 0
    parts: list[tuple[np.ndarray | None, ...]] = []
    for requests in source:
        count += len(requests.start)
        for start, write, time in expand(requests):
            parts.append((interner.ids(np.ascontiguousarray(start)), write, time, requests.size))
    if not count:
        raise ParameterError("the table has no rows with requests")
    ids, write, time, size = (
        None if column[0] is None else np.concatenate(column)
        for column in zip(*parts, strict=True)  # type: ignore[arg-type]
    )
    never = 0
    if size is not None and size.min() == UNKNOWN:
        size, never = filled(ids, size)
    own, changing = object_sizes(ids, size)
    reading = source.reading or Reading()
    reading = dataclasses.replace(
        reading, format="table", block_bytes=block_bytes, rows=count, reads=len(ids) - source.writes,
        writes=source.writes, size_changes=0 if own is None else int(np.count_nonzero(own[ids] != size)),
        earlier=reading.earlier + source.earlier, notes=(*reading.notes, *notes_never(never)),
    )  # fmt: skip
    return {"ids": ids, "write": write, "time": time, "address": interner.addresses_by_id(), "object_bytes": own,
            "request_bytes": changing, "reading": reading}  # fmt: skip
