"""Read tables: text with one request per line, described by a dialect, by its header, or by its user.

The format ``csv`` is a table that its header and the user's options describe. Every YAML file of
`misspenalty.traces.dialects` describes a format, too; the same options change its description.
"""

import collections
import functools

from misspenalty.errors import InputError, ParameterError, check_choice
from misspenalty.traces.compression import open_stream, read_some
from misspenalty.traces.dialects import dialects
from misspenalty.traces.doubts import mixed_hosts
from misspenalty.traces.foreign import packed
from misspenalty.traces.layout import resolve
from misspenalty.traces.lines import batches, with_newlines, without_mark
from misspenalty.traces.reader import PARQUET, Format, register
from misspenalty.traces.rows import Rows, check_lifetimes, remedy_of
from misspenalty.traces.table import OPTIONS, Table
from misspenalty.traces.vocabulary import PLACES

TIMES_TO_LIVE = ("expire", "expiry")  # names of columns
HEAD = 1 << 16  # bytes that hold the header and the first rows


def read(path, block_bytes, table=Table(), actions=(), action=None, **options):  # noqa: B008, frozen
    """Yield `Requests` of blocks of `block_bytes`; return the `Reading`.

    Parameters
    ----------
    path : Path
    block_bytes : int
    table : Table
        The description, before the options of the user are applied.
    actions : tuple of str
        Values of the column with the role ``action``, the default first.
    action : str, optional
        The value that marks a request; by default the first of `actions`.
    **options
        As in `misspenalty.traces.table.OPTIONS`.
    """
    if action is not None:
        check_choice("action", action, actions)
    table = table.changed(**options)
    for name in ("separator", "header", "comment") if table.pattern else ("skip",):
        if options.get(name) is not None:
            why = "next to a pattern (skip=… leaves out lines)" if table.pattern else "without a pattern (pattern=…)"
            raise ParameterError(f"{name} would have no effect {why}; leave out --{name} ({name}=…)")
    head = _head(path)
    form = resolve(table, head, path)
    rows = Rows(form.table, block_bytes, path, action or next(iter(actions), None))
    seen = collections.Counter()
    check_lifetimes(form.table, form.roles, path)
    yield from rows.ordered(_requests(path, form, rows, seen))
    kind = "comment line" if form.table.separator else "other line"
    for what, count in ((kind, seen["skipped"]), ("repeated header line", seen["repeated"])):
        if count:
            rows.skipped[f"{what}{'s' * (count > 1)}"] = count
    columns = form.columns
    if form.header_lines and not seen["rows"]:
        raise InputError("contains no requests, only a header", path=path)
    used = {place for places in form.roles.values() for place in places}
    unused = [name for place, name in enumerate(form.names) if place not in used and name not in form.ignored]
    lives = [f"times to live ({name}) ignored" for name in unused if name.lower() in TIMES_TO_LIVE]
    hosts = [note] if (note := mixed_hosts(table, head)) else []
    return rows.reading(columns, form.ignored, (*form.notes, *hosts, *lives, *rows.notes(columns)))


def _head(path):
    """Return the beginning of a file, with lines ending in newlines."""
    with open_stream(path) as stream:
        head = read_some(stream, HEAD, path)
    return with_newlines(without_mark(head, path))


def _requests(path, form, rows, seen):
    for batch in batches(path, form):
        seen.update(rows=batch.rows, skipped=batch.skipped, repeated=batch.repeated)
        rows.padded |= batch.padded
        rows.exponents |= batch.exponents
        columns = {role: [batch.columns[place] for place in places] for role, places in form.roles.items()}

        def fault(row, role, place, what, batch=batch):
            return batch.error(row, form.roles[role][place], what, remedy_of(role))

        yield from rows.requests(columns, fault)
        if batch.rest is not None:
            raise batch.rest


def sniff(name, head):
    """Return whether the file names a column that gives the place of a request, and fits no dialect.

    A file whose first two lines fit a dialect has an odd line further on, which the dialect's reader names.
    """
    if head.startswith(PARQUET) or packed(head):
        return False
    try:
        form = resolve(Table(), with_newlines(without_mark(head[:HEAD])), doubted=False)
    except (InputError, ParameterError):
        return False
    known, first = dialects().values(), b"".join(head.splitlines(keepends=True)[:2])
    return form.named and not any(dialect.fits(name, part) for dialect in known for part in (head, first))


def format_of(dialect):
    """Return the `Format` of a `Dialect`; the options of the format change the dialect's description."""
    options = OPTIONS
    if dialect.actions:
        known = ", ".join(dialect.actions)
        options = OPTIONS | {"action": f"which lines are requests: one of {known} (default {dialect.actions[0]})"}
    return Format(
        dialect.name,
        dialect.summary,
        functools.partial(read, table=dialect.table, actions=dialect.actions),
        dialect.fits,
        dialect.block_bytes,
        options,
        assumes_block=dialect.assumes_block,
        actions=dialect.actions,
        source=dialect.source,
        example=dialect.example,
        doubt=(lambda path: mixed_hosts(dialect.table, _head(path))) if dialect.table.hosts else None,
    )


register(
    Format(
        "csv",
        "text: a table whose header or --columns names " + " or ".join(PLACES),
        read,
        sniff,
        4096,
        OPTIONS,
        source="columns in any order, separated by commas, tabs, semicolons, bars or blanks",
        example="time,op,key,size\n0.5,read,k7,4096",
    )
)
for _dialect in dialects().values():
    register(format_of(_dialect))
