"""Number the devices that the rows of a table name."""

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from misspenalty.traces.table import MOST_DEVICES
from misspenalty.traces.values import BadValueError, flat, is_text, texts


class DeviceNumbers:
    """Numbers of devices.

    A device that a single column identifies by a number below `MOST_DEVICES` keeps this number if no other device has
    it; any other device gets the smallest free number.
    """

    def __init__(self) -> None:
        self.numbers: dict[tuple[str, ...], int] = {}
        self.used: set[int] = set()
        self.free = 0  # lowest number that may be free

    def number(self, columns: list[pa.Array]) -> np.ndarray:
        """Return the device number of each row, int64; several columns together name a device."""
        rows, names = _numbered(columns[0])
        for column in columns[1:]:
            own, further = _numbered(column)
            coded = pc.dictionary_encode(pa.array(rows * len(further) + own))
            pairs = [divmod(pair, len(further)) for pair in coded.dictionary.to_pylist()]
            rows, names = _indices(coded), [names[one] + further[other] for one, other in pairs]
        return np.array([self._of(name, rows, place) for place, name in enumerate(names)], np.int64)[rows]

    def _of(self, name: tuple[str, ...], rows: np.ndarray, place: int) -> int:
        if not all(name):
            raise BadValueError(_first(rows, place), "a device is missing")
        if name not in self.numbers:
            text = name[0]
            number = int(text) if len(name) == 1 and re.fullmatch(r"\d{1,5}", text) else MOST_DEVICES
            if number >= MOST_DEVICES or number in self.used:
                while self.free in self.used:
                    self.free += 1
                number = self.free
            if number >= MOST_DEVICES:
                raise BadValueError(
                    _first(rows, place),
                    f"more than {MOST_DEVICES} devices",
                    "fewer, or spaces of addresses: --columns space=… (columns=…)",
                )
            self.numbers[name] = number
            self.used.add(number)
        return self.numbers[name]


def _numbered(column: pa.Array) -> tuple[np.ndarray, list[tuple[str, ...]]]:
    """Return the number of each row's name, in the order in which the names first occur, and the names."""
    column = flat(column)
    # Arrow cannot encode decimals of 32 or 64 bits.
    coded = pc.dictionary_encode(column.cast(pa.string()) if pa.types.is_decimal(column.type) else column)
    known = coded.dictionary
    names = texts(known if is_text(known) or pa.types.is_binary(known.type) else known.cast(pa.string()))
    return _indices(coded), [(name.strip(),) for name in names]


def _indices(coded: pa.DictionaryArray) -> np.ndarray:
    indices: np.ndarray = coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return indices


def _first(rows: np.ndarray, place: int) -> int:
    return int(np.flatnonzero(rows == place)[0])
