"""Find the unit of a trace's times, which is stated or guessed from the first time."""

import re

from misspenalty.errors import ParameterError
from misspenalty.traces.table import TIME_UNITS, Table
from misspenalty.traces.vocabulary import TIMES

# The first of these numbers that a time reaches decides its unit; smaller times are in seconds. Units of 100 ns are
# those of Windows, which counts from 1601; its times are recognised from 1951 to 2049.
EPOCH = ((1.415e17, "ns"), (1.105e17, "100ns"), (1e17, "ns"), (1e14, "us"), (1e11, "ms"))
YEAR = 31_556_952 * 1_000_000_000  # ns
FIRST_YEAR, LAST_YEAR = 1990, 2100  # times from the start of the first year to that of the last are plausible
COMPACT = (  # dates written without separators between their parts, and their format
    (re.compile(r"(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])([01]\d|2[0-3])[0-5]\d[0-5]\d"), "%Y%m%d%H%M%S"),
    (re.compile(r"\d{8}T\d{6}Z"), "%Y%m%dT%H%M%SZ"),
    (re.compile(r"\d{8}T\d{6}"), "%Y%m%dT%H%M%S"),
)


def stated_unit(table: Table, role: str) -> str:
    """Return the unit of times that the user or else the role states; an empty text if neither states one.

    Raises
    ------
    ParameterError
        The user states two units.
    """
    unit = TIMES[role] or ""
    if table.time_unit not in ("", unit) and unit and role in table.columns:
        raise ParameterError(
            f"{role} in columns and time_unit={table.time_unit} state two units of times; leave one out"
        )
    return table.time_unit or unit


def compact_date(first: str) -> str:
    """Return the format of a date without separators between its parts; an empty text if `first` is not such a date.

    Examples
    --------
    >>> compact_date("20160201164604"), compact_date("20160201996604"), compact_date("20240531T120000Z")
    ('%Y%m%d%H%M%S', '', '%Y%m%dT%H%M%SZ')
    """
    return next((form for pattern, form in COMPACT if pattern.fullmatch(first)), "")


def epoch_unit(first: float) -> str:
    """Return the unit of a time since the epoch, judged by the magnitude of its number; seconds if this is small.

    Examples
    --------
    >>> epoch_unit(1.7e12), epoch_unit(12.5)
    ('ms', 's')
    """
    return next((unit for least, unit in EPOCH if abs(first) >= least), "s")


def year_of(ns: int, unit: str) -> int:
    """Return the year of a time since 1970, or since 1601 if its unit is 100 ns.

    Examples
    --------
    >>> year_of(1_577_808_144 * 10**9, "s"), year_of(1_577_808_144 * 100, "100ns")
    (2019, 1601)
    """
    return (1601 if unit == "100ns" else 1970) + ns // YEAR


def unit_since_epoch(ns: int, unit: str) -> str | None:
    """Return the unit that puts a time between 1990 and 2100, or None; `ns` is the time as it was read in `unit`.

    Examples
    --------
    >>> unit_since_epoch(1_577_808_144_000, "us"), unit_since_epoch(0, "us")
    ('s', None)
    """
    number = ns // 10 ** TIME_UNITS[unit]
    return next(
        (each for each, power in TIME_UNITS.items() if FIRST_YEAR <= year_of(number * 10**power, each) < LAST_YEAR),
        None,
    )
