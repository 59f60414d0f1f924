"""Print the output of a command, a table or an object, as text, JSON or CSV."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass

from misspenalty.cli.tables import render
from misspenalty.io.later import pd


@dataclass(frozen=True)
class Described:
    """Result of a command: data for JSON and CSV; text, or a function ``text(wide)`` that returns it; and exit status.

    The data may be a function that returns a table; it is called only for JSON and CSV.
    """

    table: pd.DataFrame | dict | Callable[[], pd.DataFrame]
    text: str | Callable[[bool], str]
    status: int = 0


def encodable(value):
    """Return `value`; in a string, escape bytes of file names that are not valid UTF-8, which pandas cannot store."""
    return (
        value.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        if isinstance(value, str)
        else value
    )


def _cell(value):
    """Return a value as a cell of a CSV file: lists and dicts become JSON, which other programs can read."""
    return json.dumps(value) if isinstance(value, dict | list | tuple) else encodable(value)


def _fact(value):
    """Return a value as text for the screen: ``-`` for None, and numbers with at most ten significant digits."""
    return "-" if value is None else f"{value:.10g}" if isinstance(value, float) else value


def say(text, end="\n"):
    """Print a notice or an error on standard error; it is lost if standard error is closed or its disk is full.

    The command continues: its output and its exit status are the same whether or not anyone reads the notice.
    """
    try:
        print(encodable(text), end=end, file=sys.stderr)
    except OSError:
        drop(sys.stderr)


def drop(stream):
    """Discard the rest of a standard stream's output, buffered or not: writing it would fail again, even at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def show(result, options):
    """Print the result of a command (a table, a dict, a `Described`) in the format that its options select."""
    text = result.text if isinstance(result, Described) else None
    if text is not None and not options.json and not options.csv:
        print(encodable(text if isinstance(text, str) else text(options.wide)))
        return
    result = result.table if isinstance(result, Described) else result
    result = result() if callable(result) else result
    if isinstance(result, dict):
        result = {key: _cell(value) if options.csv else encodable(value) for key, value in result.items()}
    frame = result if isinstance(result, pd.DataFrame) else pd.DataFrame([result])
    if options.json:
        rows = [
            {key: None if pd.api.types.is_scalar(value) and pd.isna(value) else value for key, value in row.items()}
            for row in frame.to_dict("records")
        ]
        print(json.dumps(rows if isinstance(result, pd.DataFrame) else rows[0], indent=1))
    elif options.csv:
        frame.to_csv(sys.stdout, index=False, lineterminator="\n")
    elif isinstance(result, dict):
        width = max(map(len, result))
        print("\n".join(f"{key:{width}}  {_fact(value)}" for key, value in result.items()))
    else:
        print(encodable(render(frame, options.wide)))
