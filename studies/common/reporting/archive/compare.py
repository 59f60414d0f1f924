"""Compare two versions of a result: tables cell by cell, pictures pixel by pixel, other files byte by byte."""

import csv
import io
import itertools
import math
import re
import struct
from fractions import Fraction
from pathlib import Path

import matplotlib.image
import numpy as np

TOLERANCE = 1e-9  # relative difference
INTEGER = re.compile(r"[+-]?\d{1,400}", re.ASCII)
NUMBER = re.compile(r"[+-]?(\d{1,400}(\.\d{0,400})?|\.\d{1,400})(e[+-]?\d{1,3})?", re.ASCII | re.IGNORECASE)
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"


def compare_contents(name, archived, here, tolerance=TOLERANCE):
    """Compare two versions of a file's content.

    Parameters
    ----------
    name : str
        Name of the file; its suffix decides what is compared: cells (.csv), pixels (.png), otherwise bytes.
    archived, here : bytes
    tolerance : float, optional
        Relative difference up to which two numbers in a table are equal, unless both are written as integers.

    Returns
    -------
    verdict : {"equal", "numerically equal", "different"}
    detail : str
        A text that says by how much the two differ; empty if they are equal.

    Examples
    --------
    >>> compare_contents("a.csv", b"x\\n1.0\\n", b"x\\n1.00\\n")
    ('numerically equal', 'largest relative difference 0')
    >>> compare_contents("a.csv", b"x\\nNA\\n", b"x\\nnull\\n")[0]
    'different'
    """
    if archived == here:
        return "equal", ""
    try:
        if Path(name).suffix == ".csv":
            return _compare_tables(_read(archived), _read(here), tolerance)
        if Path(name).suffix == ".png":
            return "different", _compare_pictures(archived, here)
    except Exception:  # Pillow's errors for damaged pictures have many types
        pass  # content that does not match the suffix is compared byte by byte
    common = min(len(archived), len(here))
    unequal = np.frombuffer(archived, "u1", common) != np.frombuffer(here, "u1", common)
    return "different", (
        f"{len(archived)} bytes archived, {len(here)} here; {int(unequal.sum())} of the first {common} differ"
    )


def _read(content):
    """Return the rows of a table with all cells as text, because parsing numbers could change them."""
    return list(csv.reader(io.StringIO(content.decode("utf-8"), newline=""), strict=True))


def _compare_tables(archived, here, tolerance):
    columns, first = (rows[0] if rows else [] for rows in (archived, here))
    if columns != first:
        only = sorted(set(columns) ^ set(first)) or "their order"
        return "different", f"columns differ: {only}"
    if len(archived) != len(here):
        return "different", f"{len(archived) - 1} rows archived, {len(here) - 1} here"
    found, largest = {}, 0
    for one, other in zip(archived[1:], here[1:], strict=True):
        for place, (a, b) in enumerate(itertools.zip_longest(one, other)):
            away = _difference(a, b)
            largest = max(largest, away)
            if away > tolerance:
                column = columns[place] if place < len(columns) else f"column {place + 1}"
                number, *most = found.get(column, (0, -1, None, None))
                found[column] = (number + 1, *(most if most[0] >= away else (away, a, b)))
    if found:
        return "different", "; ".join(
            f"{column}: {number} of {len(here) - 1} values differ, most {a!r} and here {b!r} (relative {away:.3g})"
            for column, (number, away, a, b) in found.items()
        )
    return "numerically equal", f"largest relative difference {largest:.3g}"


def _difference(one, other):
    """Return the relative difference of two cells; infinite if they are different words or integers, or one is
    missing."""
    if one == other:
        return 0.0
    if one is None or other is None or not (NUMBER.fullmatch(one) and NUMBER.fullmatch(other)):
        return math.inf
    first, second = Fraction(one), Fraction(other)
    if first != second and INTEGER.fullmatch(one) and INTEGER.fullmatch(other):
        return math.inf
    return float(abs(first - second) / (max(abs(first), abs(second)) or 1))


def _compare_pictures(archived, here):
    # Compare the sizes before decoding, because a small file may claim to be a picture that fills the memory.
    size, size_here = _picture_size(archived), _picture_size(here)
    if size != size_here:
        return "{}×{} pixels archived, {}×{} here".format(*size, *size_here)
    one, other = (matplotlib.image.imread(io.BytesIO(content)) for content in (archived, here))
    if one.shape != other.shape:
        channels = (picture.size // (size[0] * size[1]) for picture in (one, other))
        return "{} channels archived, {} here".format(*channels)
    unequal = (one != other).reshape(*one.shape[:2], -1).any(axis=2)
    return f"{unequal.mean():.2%} of the pixels differ, by up to {np.abs(one - other).max():.3g} of full scale"


def _picture_size(content):
    """Return the width and height that the header of a PNG file states."""
    if not content.startswith(PNG):
        raise ValueError("not a PNG file")
    return struct.unpack_from(">II", content, len(PNG))
