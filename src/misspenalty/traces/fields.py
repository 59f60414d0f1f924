"""Divide a line of a table into its fields."""

import csv
import re


def split(line: str, separator: str, *, quoted_blanks: bool = False) -> list[str] | None:
    r"""Return the fields of a line, without surrounding blanks; None if it is binary data or a quote is not closed.

    Quotes around fields are removed, unless the separator is a blank. If `quoted_blanks` is true, blanks at the ends of
    a quoted field are part of it, as for CSV readers.

    Examples
    --------
    >>> split("1, \"a, b\"", ","), split(" 1   2 ", " "), split("1,\"a", ",")
    (['1', 'a, b'], ['1', '2'], None)
    >>> split("\" a\" , b ", ",", quoted_blanks=True)
    [' a', 'b']
    """
    if separator == " ":
        return line.split()
    if line.count('"') % 2:
        return None
    try:
        fields = next(csv.reader([line], delimiter=separator, skipinitialspace=separator != "\t"), [])
    except csv.Error:  # a line of binary data
        return None
    if quoted_blanks and (' "' in line or '" ' in line or '\t"' in line or '"\t' in line):
        return _with_quoted_blanks(fields, line, separator)
    return [field.strip() for field in fields]


def _with_quoted_blanks(fields: list[str], line: str, separator: str) -> list[str]:
    """Trim the fields of a line that are not quoted; of quoted fields, keep exactly what is between the quotes."""
    blanks = r"[^\S\t]*" if separator == "\t" else r"\s*"
    end = re.escape(separator)
    form = re.compile(rf'{blanks}(?:"(?P<quoted>(?:[^"]|"")*)"{blanks}|[^{end}]*)(?:{end}|$)')
    made, at = [], 0
    for field in fields:
        match = form.match(line, at)
        if match is None:  # a quote in the middle of a field
            return [each.strip() for each in fields]
        quoted = match["quoted"]
        made.append(field.strip() if quoted is None else quoted.replace('""', '"'))
        at = match.end()
    return made
