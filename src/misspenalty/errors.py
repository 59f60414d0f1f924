"""Define the errors that a user can cause; messages say what is wrong and, where possible, where and what to do."""

import contextlib
import difflib
import math
import numbers
import os
from collections.abc import Iterable
from typing import Any


class MissPenaltyError(ValueError):
    """Base of every error that bad input causes; the command line prints it and exits with status 2."""


class InputError(MissPenaltyError):
    """A file or table that cannot be used.

    Parameters
    ----------
    what : str
        What is wrong.
    path : path-like, optional
        The file at fault.
    line : int, optional
        The line at fault, counted from 1.
    byte : int, optional
        Offset of the fault in the (decompressed) content of a binary file, counted from 0.
    expected : str, optional
        What should have been there.
    remedy : str, optional
        What the user can do about it.

    Examples
    --------
    >>> print(InputError("is empty", path="x.spc", expected="a trace"))
    x.spc: is empty; expected a trace
    """

    def __init__(
        self,
        what: str,
        *,
        path: "str | os.PathLike[str] | None" = None,
        line: int | None = None,
        byte: int | None = None,
        expected: str | None = None,
        remedy: str | None = None,
    ) -> None:
        self.path, self.line, self.byte, self.remedy = path, line, byte, remedy
        self.what = f"{what}; expected {expected}" if expected else what
        place = "" if line is None and byte is None else f", line {line}" if byte is None else f", byte {byte}"
        parts = [f"{path}{place}: {self.what}" if path is not None else self.what]
        if remedy:
            parts.append(remedy)
        super().__init__("; ".join(parts))


class ParameterError(MissPenaltyError):
    """A parameter that does not exist or has an invalid value."""


class MissPenaltyWarning(UserWarning):
    """A result that is correct but easy to misread; the command line prints the warning on standard error."""


def is_number(value: Any) -> bool:
    """Return whether `value` is a real number; a bool does not count as one.

    Nor does NumPy's ``timedelta64``, although NumPy registers it as a number.

    Examples
    --------
    >>> is_number(1.5), is_number(True)
    (True, False)
    """
    return isinstance(value, numbers.Real) and type(value).__name__ not in ("bool", "timedelta64")


def check_whole(what: str, value: Any, least: int, most: int, unit: str = "") -> int:
    """Return `value` as an int, after checking that it is a whole number in range.

    Parameters
    ----------
    what : str
        Name of the value, for the message.
    value : object
    least, most : int
        The range, inclusive.
    unit : str
        Text that follows the value in the message, such as ``" blocks"``.

    Raises
    ------
    ParameterError
        The value is not a whole number, or is out of range.

    Examples
    --------
    >>> check_whole("threads", 3, 1, 8)
    3
    """
    if not (is_number(value) and isinstance(value, numbers.Integral) and least <= int(value) <= most):
        raise ParameterError(f"{what} is {value!r}{unit}; expected a whole number from {least} to {most}")
    return int(value)


def check_number(what: str, value: Any, least: float, most: float) -> None:
    """Raise a `ParameterError` if `value` is not a number from `least` to `most`.

    Examples
    --------
    >>> check_number("share", 0.5, 0, 1)
    """
    if not is_number(value) or not least <= value <= most:
        raise ParameterError(f"{what} is {value!r}; expected a number from {least:g} to {most:g}")


def check_positive(what: str, value: Any) -> float:
    """Return `value` as a float, or raise a `ParameterError` if it is not a finite number above 0.

    Examples
    --------
    >>> check_positive("speed", 2)
    2.0
    """
    number = math.nan
    if is_number(value):
        with contextlib.suppress(OverflowError):
            number = float(value)
    if not 0 < number < math.inf:
        raise ParameterError(f"{what} is {value!r}; expected a finite number above 0")
    return number


def listed(value: Any) -> list[Any]:
    """Return the values of an argument as a list; a single value becomes a list of one.

    Examples
    --------
    >>> listed("lru"), listed(("lru", "arc")), listed(3)
    (['lru'], ['lru', 'arc'], [3])
    """
    single = isinstance(value, str | bytes | os.PathLike | type) or not isinstance(value, Iterable)
    return [value] if single or getattr(value, "shape", None) == () else list(value)


def check_flag(what: str, value: Any) -> bool:
    """Return `value` as a bool, or raise a `ParameterError` if it is not True or False.

    Examples
    --------
    >>> check_flag("progress", True)
    True
    """
    if type(value).__name__ not in ("bool", "bool_"):  # accept NumPy's bool, too
        raise ParameterError(f"{what} is {value!r}; expected True or False")
    return bool(value)


def check_choice(what: str, value: Any, choices: Iterable[str], why: str = "") -> str:
    """Return `value` if it is one of the choices; otherwise raise a `ParameterError` that lists them and ends in `why`.

    Examples
    --------
    >>> check_choice("writes", "count", ["count", "ignore"])
    'count'
    """
    if not isinstance(value, str) or value not in choices:
        raise ParameterError(f"{what} is {value!r}; expected one of {', '.join(choices)}{why}")
    return value


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a question that suggests the known name nearest to `name`, ignoring case; an empty string if none is near.

    Examples
    --------
    >>> did_you_mean("Lruu", ["lru", "arc"]), did_you_mean("xyz", ["lru"])
    (", did you mean 'lru'?", '')
    """
    lower = {each.lower(): each for each in known}
    near = difflib.get_close_matches(name.strip().lower(), lower, 1, 0.6)
    return f", did you mean {lower[near[0]]!r}?" if near else ""
