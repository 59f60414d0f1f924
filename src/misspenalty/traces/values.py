"""Convert the values of columns for a trace: keys, whole numbers, times in ns, operations, devices.

Each function takes an Arrow array of any type that a table or a Parquet file may have, and raises `BadValueError` with
the row of a value that it cannot convert.
"""

import datetime
import decimal
import fnmatch
import functools
import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from misspenalty.traces._hash import hash_texts
from misspenalty.traces.splitmix import GOLDEN, mix
from misspenalty.traces.table import DEVICE_SHIFT, MOST_DEVICES, OPERATIONS, TIME_UNITS, likely_meaning
from misspenalty.traces.unknown_sizes import UNKNOWN

NULLS = ("NULL", "null", "NaN", "nan", "None", "\\N")
CODES = {"read": 0, "write": 1, "both": 2, "ignore": 3, "delete": 4}
LARGEST = np.uint64(0x7FFFFFFFFFFFFFFF)
DIGITS = {2: 11, 4: 24, 8: 53}  # binary digits of a floating-point number, by its bytes
LONGEST = 64  # maximum number of characters of a number
MOST_SHOWN = 8  # operations in a message
LEAVE_OUT = ", or leave the column out with --columns ignore=… (columns=…)"


class BadValueError(ValueError):
    """A value that a column cannot have.

    Parameters
    ----------
    row : int
        Place of the value in its column.
    what : str
        What is wrong.
    expected : str
    """

    def __init__(self, row: int, what: str = "", expected: str = "") -> None:
        super().__init__(f"{what}; expected {expected}" if expected else what)
        self.row = row


class TextKeysError(Exception):
    """A column of keys, taken for numbers, has a key that is not a whole number: it has to be read again, as text."""


def flat(column: pa.Array) -> pa.Array:
    """Return a column without a dictionary; raise a `BadValueError` if a value is missing."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if column.null_count:
        raise BadValueError(int(pc.index(column.is_null(), True).as_py()), "a value is missing")
    if pa.types.is_large_string(column.type) or pa.types.is_string_view(column.type):
        column = column.cast(pa.string())
    return column


def is_text(column: pa.Array) -> bool:
    """Return whether a column holds text, either plain or encoded by a dictionary."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def texts(column: pa.Array) -> list[str]:
    """Return a column as Python strings."""
    return [each.decode("utf-8", "backslashreplace") for each in flat(column).cast(pa.binary()).to_pylist()]


def whole(column: pa.Array, *, hexadecimal: bool = False, wrap: bool = False) -> np.ndarray:
    """Return the whole numbers of a column as int64, or as uint64 if one is above 2**63 - 1.

    In the latter case, numbers below 0 are taken modulo 2**64 if `wrap` is true, and refused otherwise.

    Examples
    --------
    >>> whole(pa.array(["4096.0", "1e3", "+7"])).tolist(), whole(pa.array(["0x1F"]), hexadecimal=True).tolist()
    ([4096, 1000, 7], [31])
    """
    column = flat(column)
    kind = column.type
    if pa.types.is_boolean(kind):
        return column.to_numpy(zero_copy_only=False).astype(np.int64)
    if pa.types.is_integer(kind):
        values = column.to_numpy(zero_copy_only=False)
        if kind == pa.uint64() and values.size and values.max() > LARGEST:
            return values
        return values.astype(np.int64)
    if pa.types.is_floating(kind):
        values = column.to_numpy(zero_copy_only=False)
        bits = DIGITS[values.dtype.itemsize]
        odd = np.flatnonzero(~np.isfinite(values) | (values != np.rint(values)) | (np.abs(values) > 2.0**bits))
        if odd.size:
            value = float(values[odd[0]])
            if value.is_integer():
                expected = f"integers, text, or floating-point numbers up to 2**{bits}, which are exact"
                raise BadValueError(int(odd[0]), f"{value} may have lost digits", expected)
            raise BadValueError(int(odd[0]), f"{value} is not a whole number")
        return values.astype(np.int64)
    if pa.types.is_decimal(kind):
        return _of_decimals(column, wrap)
    if not pa.types.is_string(kind):
        raise BadValueError(0, f"the column is of type {kind}", "whole numbers")
    return _numbers([_whole(text, row, hexadecimal) for row, text in enumerate(texts(column))], wrap)


def _numbers(made: list[int], wrap: bool) -> np.ndarray:
    """Return numbers as int64, or as uint64 if one is above 2**63 - 1; numbers below 0 then wrap or are refused."""
    if not made or max(made) <= LARGEST:
        return np.array(made, np.int64)
    if min(made) < 0 and not wrap:
        raise BadValueError(made.index(min(made)), f"{min(made)} is out of range", "0 to 2**64 - 1")
    return np.array([value % (1 << 64) for value in made], np.uint64)


def _of_decimals(column: pa.Array, wrap: bool) -> np.ndarray:
    if column.type.bit_width != 128:
        return whole(_written(column), wrap=wrap)
    words = np.frombuffer(column.buffers()[1], np.int64)[2 * column.offset : 2 * (column.offset + len(column))]
    low, high = words[0::2], words[1::2]
    if column.type.scale == 0 and np.array_equal(high, low >> 63):
        return low.copy()
    for target in (pa.int64(), pa.uint64()):
        try:
            return pc.cast(column, target).to_numpy(zero_copy_only=False)
        except pa.ArrowInvalid:
            continue
    return whole(_written(column), wrap=wrap)


def _written(column: pa.Array) -> pa.Array:
    """Return decimals as texts."""
    return pa.array([str(value) for value in column.to_pylist()], pa.string())


def _whole(text: str, row: int, hexadecimal: bool) -> int:
    if hexadecimal:
        if not re.fullmatch(r"\s*(0[xX])?[0-9a-fA-F]{1,16}\s*", text):
            raise BadValueError(row)
        return int(text, 16)
    value = _decimal(text, row)
    number = int(value)
    if number != value or not -(1 << 63) <= number < 1 << 64:
        raise BadValueError(row)
    return number


def _decimal(text: str, row: int) -> decimal.Decimal:
    """Return the number in a text of at most `LONGEST` characters; its absolute value must be below 10**`LONGEST`."""
    try:
        written = text.strip()  # Python accepts digits of any script, and underscores between them
        plain = len(text) <= LONGEST and written.isascii() and "_" not in written
        value = decimal.Decimal(written if plain else "")
    except ArithmeticError as error:
        raise BadValueError(row) from error
    if not value.is_finite():
        raise BadValueError(row)
    if value.adjusted() >= LONGEST:  # `int` takes hours for 1e999999999
        raise BadValueError(row, f"{text.strip()} is out of range")
    return value


def keys(column: pa.Array, how: str) -> np.ndarray:
    """Return the keys of a column as uint64: the numbers (modulo 2**64 if below 0), or the hashes of texts.

    Parameters
    ----------
    column : pyarrow.Array
    how : {"auto", "number", "text", "hex", "words"}

    Raises
    ------
    TextKeysError
        With ``auto``, a key is not a whole number.
    BadValueError
        A key is missing, or is not written as `how` says.
    """
    column = flat(column)
    if how in ("text", "words") or (how == "auto" and pa.types.is_binary(column.type)):
        made = _hashes(column if is_text(column) or pa.types.is_binary(column.type) else column.cast(pa.string()))
        if how == "words":
            _check_nulls(made, column)
        return made
    try:
        values = whole(column, hexadecimal=how == "hex", wrap=True)
    except BadValueError as error:
        if how == "auto" and (is_text(column) or pa.types.is_decimal(column.type)):
            if is_text(column) and any(not text for text in texts(column.slice(error.row, 1))):
                raise BadValueError(error.row, "a key is missing") from error
            raise TextKeysError from error
        raise
    return values.view(np.uint64)


def _check_nulls(hashes: np.ndarray, column: pa.Array) -> None:
    """Raise a `BadValueError` if a key is a word that programs write for a missing value."""
    for null in _hashes(pa.array(NULLS)):
        if (rows := np.flatnonzero(hashes == null)).size:
            word = str(column[int(rows[0])])
            expected = f"a key; --key text (key=…) accepts {word}"
            raise BadValueError(int(rows[0]), f"{word} may be a missing key", expected)


def _hashes(column: pa.Array) -> np.ndarray:
    if not len(column):
        return np.empty(0, np.uint64)
    empty = pc.equal(pc.binary_length(column), 0)
    if pc.any(empty).as_py():
        raise BadValueError(int(pc.index(empty, True).as_py()), "a key is missing")
    offsets = np.frombuffer(column.buffers()[1], np.int32)[column.offset : column.offset + len(column) + 1]
    return hash_texts(offsets, np.frombuffer(column.buffers()[2] or b"", np.uint8))


def mixed(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Combine pairs of numbers into one, uint64: the second if the first is 0, both side by side if they are small,
    otherwise a hash.

    Examples
    --------
    >>> mixed(np.uint64([0, 1]), np.uint64([7, 7])).tolist() == [7, 1 << 47 | 7]
    True
    """
    small = (first < np.uint64(MOST_DEVICES)) & (second < np.uint64(1 << DEVICE_SHIFT))
    hashed = mix((first + np.uint64(1)) * np.uint64(GOLDEN) ^ second)
    return np.where(first == 0, second, np.where(small, first << np.uint64(DEVICE_SHIFT) | second, hashed))


def within(spaces: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Return the addresses of blocks, uint64, given the keys of their spaces and their numbers within them.

    Each space begins at the hash of its key, so that two blocks of different spaces are as unlikely to have the same
    address as two keys are to have the same hash.

    Examples
    --------
    >>> addresses = within(np.uint64([1, 1, 2]), np.uint64([0, 1, 1]))
    >>> int(addresses[1] - addresses[0]), bool(addresses[2] == addresses[1])
    (1, False)
    """
    return mix(spaces * np.uint64(GOLDEN)) + numbers


def joined(columns: list[pa.Array]) -> pa.Array:
    """Return texts of several columns, such as dates and times of day, with a space between them.

    Examples
    --------
    >>> joined([pa.array(["2024-05-31"]), pa.array(["12:00"])]).to_pylist()
    ['2024-05-31 12:00']
    """
    return pc.binary_join_element_wise(*(flat(column).cast(pa.string()) for column in columns), " ")


def times(column: pa.Array, unit: str) -> tuple[np.ndarray, int]:
    """Return the times of a column as int64, and their unit in ns; exact, except that fractions of a ns are dropped.

    Parameters
    ----------
    column : pyarrow.Array
        Numbers, timestamps, dates or texts.
    unit : str
        A key of `TIME_UNITS`, ``iso``, or a format of `datetime.strptime`.

    Raises
    ------
    BadValueError
        A time is missing, is not written as `unit` says, or does not fit in 64 bits.

    Examples
    --------
    >>> times(pa.array([5], pa.int32()), "s"), times(pa.array(["0.1234567891"]), "s")
    ((array([5]), 1000000000), (array([123456789]), 1))
    """
    column = flat(column)
    kind = column.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind) or pa.types.is_time(kind) or pa.types.is_duration(kind):
        return _of_timestamps(column)
    if unit not in TIME_UNITS:
        if pa.types.is_integer(kind):  # a date without separators, such as 20160201164604
            column, kind = column.cast(pa.string()), pa.string()
        if not pa.types.is_string(kind):
            expected = f"times as text or whole numbers ({unit}), or timestamps"
            raise BadValueError(0, f"the column is of type {kind}", expected)
        return _of_texts(texts(column), unit), 1
    power = TIME_UNITS[unit]
    if pa.types.is_integer(kind):
        values = whole(column)
        if values.dtype == np.uint64:
            odd = int(np.argmax(values))
            raise BadValueError(odd, f"time {int(values[odd])} is out of range", "below 2**63")
        return values, 10**power
    if pa.types.is_floating(kind):
        values = column.to_numpy(zero_copy_only=False)
        odd = np.flatnonzero(~np.isfinite(values))
        if odd.size:
            raise BadValueError(int(odd[0]), f"time {values[odd[0]]}", "a finite number")
        bits = DIGITS[values.dtype.itemsize]
        odd = np.flatnonzero(np.abs(values) > 2.0**bits) if bits < DIGITS[8] else odd
        if odd.size:
            expected = f"integers, text, 64-bit numbers, or times up to 2**{bits}"
            raise BadValueError(int(odd[0]), f"time {float(values[odd[0]])} may have lost digits", expected)
        if (values == np.rint(values)).all() and (np.abs(values) < 2.0**62).all():
            return values.astype(np.int64), 10**power
        return _checked([int(decimal.Decimal(repr(float(value))).scaleb(power)) for value in values], unit), 1
    if pa.types.is_decimal(kind) and kind.bit_width != 128:
        return times(_written(column), unit)
    if pa.types.is_decimal(kind):
        scaled = pc.cast(column, pa.decimal128(38, power), safe=False)
        words = np.frombuffer(scaled.buffers()[1], np.int64)[2 * scaled.offset : 2 * (scaled.offset + len(scaled))]
        odd = np.flatnonzero(words[1::2] != words[0::2] >> 63)
        if odd.size:
            raise BadValueError(
                int(odd[0]), f"time {column[int(odd[0])]} is out of range", f"within 2**63 ns of 0, in {unit}"
            )
        return words[0::2].copy(), 1
    if not pa.types.is_string(kind):
        raise BadValueError(0, f"the column is of type {kind}", "numbers, timestamps or text")
    return _checked([int(_decimal(text, row).scaleb(power)) for row, text in enumerate(texts(column))], unit), 1


def _checked(made: list[int], unit: str) -> np.ndarray:
    odd = next((row for row, value in enumerate(made) if not -(1 << 63) <= value < 1 << 63), None)
    if odd is not None:
        raise BadValueError(
            odd, f"time {made[odd] // 10 ** TIME_UNITS[unit]} is out of range", f"within 2**63 ns of 0, in {unit}"
        )
    return np.array(made, np.int64)


def _of_timestamps(column: pa.Array) -> tuple[np.ndarray, int]:
    kind = column.type
    if pa.types.is_date(kind):
        column = column.cast(pa.timestamp("ms"))
    elif pa.types.is_time(kind):
        column = column.cast(pa.int64() if kind.bit_width == 64 else pa.int32())
        return times(column, kind.unit)
    unit = column.type.unit
    return times(column.cast(pa.int64()), unit)


def _of_texts(column: list[str], unit: str) -> np.ndarray:
    made = []
    for row, text in enumerate(column):
        try:
            made.append(_iso(text) if unit == "iso" else _formatted(text, unit))
        except (ValueError, OverflowError) as error:
            expected = "ISO 8601, 2024-05-31T12:00:00.5" if unit == "iso" else unit
            if isinstance(error, OverflowError):
                expected = "a time from 1677-09-22 to 2262-04-11"
            raise BadValueError(row, f"time {text[:40]!r}", expected) from error
    return np.array(made, np.int64)


START = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def _ns(moment: datetime.datetime) -> int:
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.UTC)
    return (moment - START) // datetime.timedelta(microseconds=1) * 1000


@functools.lru_cache(1 << 16)
def _formatted(text: str, form: str) -> int:
    before, _, part = text.rpartition(".")
    if form.endswith(".%f") and re.fullmatch("[0-9]{1,6}", part):  # most texts differ only in the fraction
        return _checked_ns(_moment(before, form.removesuffix(".%f")) + int(part.ljust(9, "0")))
    return _moment(text, form)


@functools.lru_cache(1 << 12)
def _moment(text: str, form: str) -> int:
    return _checked_ns(_ns(datetime.datetime.strptime(text, form)))


@functools.lru_cache(1 << 16)
def _iso(text: str) -> int:
    """Return an ISO 8601 time in ns since 1970, or a time of day in ns since midnight, without digits below a ns."""
    text = f"1970-01-01 {text}" if re.match(r"\d\d:\d\d:\d\d", text) else text
    match = re.fullmatch(r"(.*?\d:\d\d:\d\d)[.,](\d{1,30})(.*)", text)
    if match is None:
        return _checked_ns(_ns(datetime.datetime.fromisoformat(text.removesuffix(" UTC"))))
    rest = match[3].strip().replace("UTC", "+00:00")
    return _checked_ns(_ns(datetime.datetime.fromisoformat(match[1] + rest)) + int(match[2][:9].ljust(9, "0")))


def _checked_ns(ns: int) -> int:
    if not -(1 << 63) <= ns < 1 << 63:
        raise OverflowError("the time does not fit into 64 bits")
    return ns


def operations(
    column: pa.Array,
    known: dict[str, str],
    counts: dict[str, tuple[str, int]],
    usual: dict[str, str],
    needed: bool = False,
) -> np.ndarray:
    """Return the codes of the operations of a column, uint8 as in `CODES`.

    Parameters
    ----------
    column : pyarrow.Array
    known : dict of str to str
        Maps operations to meanings; ``*`` stands for any text. The first match decides, exact names before patterns.
    counts : dict of str to (str, int)
        Maps operations to their meanings and numbers of rows so far; updated.
    usual : dict of str to str
        As `known`, for operations that `known` does not match.
    needed : bool
        Whether the column cannot be left out, because the format uses it.

    Raises
    ------
    BadValueError
        The meaning of an operation is not known.
    """
    if not is_text(column):
        kind = column.type
        column = (column.cast(pa.int8()) if pa.types.is_boolean(kind) else column).cast(pa.string())
    if column.null_count:
        column = pc.fill_null(column if pa.types.is_string(column.type) else column.cast(pa.string()), "")
    coded = column if pa.types.is_dictionary(column.type) else pc.dictionary_encode(column)
    names = [name.strip() for name in texts(coded.dictionary)] if len(coded.dictionary) else []
    index = coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    meanings = [meaning_of(name, known) or meaning_of(name, usual) for name in names]
    present = np.bincount(index, minlength=len(names))
    for place, (name, meaning) in enumerate(zip(names, meanings, strict=True)):
        if meaning is None and present[place]:
            unknown = [each for each, what, many in zip(names, meanings, present, strict=True) if many and what is None]
            raise BadValueError(
                int(np.argmax(index == place)),
                f"operation {name!r}",
                _expected_operations(unknown, known, usual) + ("" if needed else LEAVE_OUT),
            )
        if meaning is not None and present[place]:
            counts[name] = (meaning, counts.get(name, (meaning, 0))[1] + int(present[place]))
    return np.array([CODES[meaning or "ignore"] for meaning in meanings], np.uint8)[index]


def _expected_operations(unknown: list[str], known: dict[str, str], usual: dict[str, str]) -> str:
    """Return which operations are expected instead of unknown ones, and what to do about the unknown ones."""
    words = known if usual is OPERATIONS else known | usual
    shown = [f"{name or 'blank'} ({what})" for name, what in words.items()][:MOST_SHOWN]
    shown += ["…"] * (len(words) > MOST_SHOWN) + ["R or W, read or write, get or set"] * (usual is OPERATIONS)
    named = ",".join(f"{name}={likely_meaning(name, unknown)}" for name in unknown[:MOST_SHOWN])
    named += ",…" * (len(unknown) > MOST_SHOWN)
    it_means = "it means" if len(unknown) == 1 else "they mean"
    return f"{', '.join(shown)}; say what {it_means} with --operations {named} (or write, or ignore; operations=…)"


def meaning_of(name: str, known: dict[str, str]) -> str | None:
    """Return the meaning of an operation, or None if it is not known.

    Examples
    --------
    >>> meaning_of("get", {"GET": "read"}), meaning_of("REST.PUT.OBJECT", {"*.PUT.*": "write"}), meaning_of("x", {})
    ('read', 'write', None)
    """
    if name in known:
        return known[name]
    lower = {each.lower(): meaning for each, meaning in known.items()}
    if name.lower() in lower:
        return lower[name.lower()]
    return next(
        (meaning for form, meaning in known.items() if "*" in form and fnmatch.fnmatchcase(name.lower(), form.lower())),
        None,
    )


def sizes(column: pa.Array) -> np.ndarray:
    """Return sizes of objects, -1 (unknown) where a row holds nothing or a dash.

    Examples
    --------
    >>> sizes(pa.array(["7", "-", ""])).tolist(), sizes(pa.array([7, None])).tolist()
    ([7, -1, -1], [7, -1])
    """
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if is_text(column):
        column = pc.ascii_trim_whitespace(column.cast(pa.string()))
        for nothing in ("-", ""):
            column = pc.if_else(pc.equal(column, nothing), pa.scalar(None, pa.string()), column)
    if not column.null_count:
        return whole(column)
    made, known = np.full(len(column), UNKNOWN, np.int64), column.is_valid()
    rows = np.flatnonzero(known.to_numpy(zero_copy_only=False))
    if rows.size:
        try:
            made[rows] = whole(column.filter(known))
        except BadValueError as error:
            error.row = int(rows[error.row])
            raise
    return made
