"""Number the devices that rows of a table name."""

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from misspenalty.traces.table import MOST_DEVICES
from misspenalty.traces.values import BadValueError, flat, is_text, texts


class DeviceNumbers:
    """Numbers for devices: a device named by a small free number gets that number, any other the smallest free one."""

    def __init__(self) -> None:
        self.numbers: dict[tuple[str, ...], int] = {}
        self.used: set[int] = set()
        self.free = 0  # lowest number that may be free

    def number(self, columns: list[pa.Array]) -> np.ndarray:
        """Return the number of each row, int64; several columns together name a device."""
        coded = []
        for column in columns:
            column = flat(column)
            coded.append(pc.dictionary_encode(column if is_text(column) else column.cast(pa.string())))
        names = [texts(each.dictionary) for each in coded]
        rows = np.stack([each.indices.to_numpy(zero_copy_only=False).astype(np.int64) for each in coded], 1)
        if not len(rows):
            return np.empty(0, np.int64)
        key = rows[:, 0]
        for place in range(1, rows.shape[1]):
            key = key * len(names[place]) + rows[:, place]
        _, first, which = np.unique(key, return_index=True, return_inverse=True)
        numbers = np.empty(len(first), np.int64)
        for place in np.argsort(first):
            name = tuple(names[column][code].strip() for column, code in enumerate(rows[first[place]]))
            if not all(name):
                raise BadValueError(int(first[place]), "a device is missing")
            numbers[place] = self._of(name, int(first[place]))
        return numbers[which.ravel()]

    def _of(self, name: tuple[str, ...], row: int) -> int:
        if name not in self.numbers:
            text = name[0]
            number = int(text) if len(name) == 1 and re.fullmatch(r"\d{1,5}", text) else MOST_DEVICES
            if number >= MOST_DEVICES or number in self.used:
                while self.free in self.used:
                    self.free += 1
                number = self.free
            if number >= MOST_DEVICES:
                raise BadValueError(
                    row,
                    f"more than {MOST_DEVICES} devices",
                    "fewer, or spaces of addresses: --columns space=… (columns=…)",
                )
            self.numbers[name] = number
            self.used.add(number)
        return self.numbers[name]
