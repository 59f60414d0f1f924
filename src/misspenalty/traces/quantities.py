"""Parse times and sizes as users write them: ``5ms``, ``10m``, ``512MB``, ``5%``."""

import re

from misspenalty.errors import ParameterError

MINUTE = 60 * 1_000_000_000  # ns
UNITS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000, "m": MINUTE, "min": MINUTE}
UNITS |= {"\u00b5s": 1_000, "\u03bcs": 1_000, "h": 60 * MINUTE, "d": 24 * 60 * MINUTE}  # micro sign, Greek mu
BYTES = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
LATEST = 1 << 59  # 18 years, ns
TIME = re.compile(rf"\s*([0-9]{{1,12}}(?:\.[0-9]{{1,12}})?)\s*({'|'.join(sorted(UNITS, key=len, reverse=True))})\s*")


def is_time(text: object) -> bool:
    """Return whether `text` is a number with a unit of time.

    Examples
    --------
    >>> is_time("5ms"), is_time("5%")
    (True, False)
    """
    return isinstance(text, str) and TIME.fullmatch(text.lower()) is not None


def parse_time(text: object, what: str = "time") -> int:
    """Return a time with its unit (``5ms``, ``1.5s``, ``10m``, ``2h``) in whole ns.

    Raises
    ------
    ParameterError
        The text is not a time, or the time is 2**59 ns (18 years) or longer.

    Examples
    --------
    >>> parse_time("2.5ms"), parse_time("1m") == 60 * parse_time("1s")
    (2500000, True)
    """
    match = TIME.fullmatch(str(text).lower())
    ns = round(float(match[1]) * UNITS[match[2]]) if match else LATEST
    if ns >= LATEST:
        expected = "less than 2**59 ns (18 years)" if match else "a time such as 5ms, 200us, 1.5s or 10m"
        raise ParameterError(f"{what} is {text!r}; expected {expected}")
    return ns


def share_of(percent: str, whole: int) -> int:
    """Return `percent` per cent of `whole`, rounded to a whole number; halves are rounded up.

    Examples
    --------
    >>> share_of("50", 45), share_of("70", 45), share_of("0.7", 500)
    (23, 32, 4)
    """
    digits, _, decimals = percent.partition(".")
    unit = 100 * 10 ** len(decimals)  # use whole numbers, as the float 0.7 * 45 is below 31.5
    return (2 * int(digits + decimals) * whole + unit) // (2 * unit)


def parse_size(text: str, block_bytes: int, blocks: int | None = None, counted: str = "block") -> int:
    """Return a cache size in blocks.

    ``65536`` is in blocks, ``512MB`` in bytes (1 MB = 2**20 bytes), and ``5%`` is a share of the footprint, `blocks`,
    rounded as `share_of` does.
    `counted` is the word for a block in messages: ``block``, ``object`` or ``byte``.

    Raises
    ------
    ParameterError
        The text is not a size, is smaller than a block, or is a share of more than 100 %.

    Examples
    --------
    >>> parse_size("65536", 8192), parse_size("512MB", 8192), parse_size("2.5%", 8192, 1000)
    (65536, 65536, 25)
    """
    if blocks is not None and (share := re.fullmatch(r"\s*([0-9]{1,4}(?:\.[0-9]{1,9})?)\s*%\s*", text)):
        size = share_of(share[1], blocks)
        if size < 1:
            raise ParameterError(
                f"{text!r} is less than one of the {blocks} {counted}s of the footprint; choose a larger share"
            )
        if float(share[1]) > 100:
            raise ParameterError(
                f"{text!r} is more than the footprint of {blocks} {counted}s, which is 100%; name a larger cache in"
                f" {'blocks or bytes' if counted == 'block' else f'{counted}s'}"
            )
        return size
    share_too = " or a share of the footprint (5%)" if blocks is not None else ""
    number, unit = _quantity(text, f"{counted}s (65536)", share_too, bytes_too=counted != "object")
    size = int(number) if unit is None else _bytes(number, unit) // block_bytes
    if size < 1:
        of = f" of {block_bytes} byte{'s' * (block_bytes != 1)}" if counted == "block" else ""
        raise ParameterError(f"{text!r} is less than one {counted}{of}; choose a larger size")
    return size


def parse_bytes(text: str, what: str, further: str = "") -> int:
    """Return a size such as ``8192`` or ``8KB`` in bytes; messages use `what` as its name, and add `further` to what is
    expected.

    Raises
    ------
    ParameterError
        The text is not a size, or is smaller than a byte.
    """
    number, unit = _quantity(text, "bytes (8192)", further, name=f"{what} ")
    size = int(number) if unit is None else _bytes(number, unit)
    if size < 1:
        raise ParameterError(f"{what} is {text!r}; expected at least 1 byte")
    return size


def _bytes(number: str, unit: int) -> int:
    return int(float(number) * unit) if "." in number else int(number) * unit  # exact beyond 2**53


def _quantity(
    text: str, plain: str, further: str = "", *, name: str = "", bytes_too: bool = True
) -> tuple[str, int | None]:
    """Return the digits of a size, and its unit in bytes (or None); the other arguments are parts of messages."""
    match = re.fullmatch(r"\s*([0-9]{1,18}(?:\.[0-9]{1,18})?)\s*([bkmgt]?)(?:i?b)?\s*", text.lower())
    unit = "" if match is None else text.lower().strip()[len(match[1]) :].strip()
    if match is None or (not unit and "." in match[1]):
        with_unit = " or bytes with a unit (512MB, 8KB, 1.5GB)" if bytes_too else ""
        raise ParameterError(f"{name}{text!r} is not a size; expected {plain}{with_unit}{further}")
    return match[1], BYTES[match[2]] if unit else None
