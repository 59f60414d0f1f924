"""Turn rows of a table into requests, in the same way for text and for Parquet."""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from misspenalty.errors import InputError, ParameterError
from misspenalty.traces import spelling, unknown_sizes, values
from misspenalty.traces.devices import DeviceNumbers
from misspenalty.traces.lifetimes import DELETE, Lifetimes
from misspenalty.traces.reader import LARGEST_ADDRESS, LARGEST_REQUEST, LONGEST_TIME, Clock, Requests, extents
from misspenalty.traces.reading import Reading, counted
from misspenalty.traces.table import OPERATIONS, SECTOR, TIME_UNITS, TRUTHS, Table
from misspenalty.traces.time_units import LAST_YEAR, unit_since_epoch, year_of
from misspenalty.traces.unknown_sizes import UNKNOWN
from misspenalty.traces.values import BadValueError
from misspenalty.traces.vocabulary import ACTION, SPACE, STATUS, TIMES, Roles

MOST_REPEATS = 1 << 20  # maximum number of requests for one row, and approximate number made at a time
UNCOUNTED = "records with a count of 0"  # counts are those of the column with the role `repeat`
OTHER = {"read": "write", "write": "read"}
UNITS = {"offset": 1, "sector": SECTOR, "size": 1, "sectors": SECTOR, "count": 1, "repeat": 1}  # bytes; 1 for counts
SAID = {"op": OPERATIONS, "write": TRUTHS, "read": {word: OTHER[meaning] for word, meaning in TRUTHS.items()}}
BOTH, IGNORED = values.CODES["both"], values.CODES["ignore"]
ENOUGH = 16  # requests; if fewer are at multiples of 512 sectors, it may be chance
READING = [values.CODES["read"], BOTH]
SECOND = 1_000_000_000  # ns
DAY = 24 * 60 * 60 * SECOND
LONGEST_LIFE = LONGEST_TIME // SECOND // 2  # s
Columns = dict[str, list[pa.Array]]
Fault = Callable[[int, str, int, str], InputError]


class Rows:
    """Converter of the columns of a table, by role, to `Requests`.

    Parameters
    ----------
    table : Table
        The description of the table, with its unit of time.
    block_bytes : int
    path : Path
    action : str, optional
        Value that the column with the role ``action`` must have; other rows are skipped.
    """

    def __init__(self, table: Table, block_bytes: int, path: Path | None, action: str | None = None) -> None:
        if ACTION in table.columns and action is None:
            raise ParameterError(
                f"columns: {ACTION}={table.columns[ACTION][0]} would leave no line out, as this format has no option"
                " action; call the column op, and leave lines out with --operations NAME=ignore (operations=…)"
            )
        self.table, self.block_bytes, self.path, self.action = table, block_bytes, path, action
        self.lives = Lifetimes() if table.lifetimes == "honour" else None
        self.operations = table.operations
        if self.lives is None:
            self.operations = {name: "ignore" if what == "delete" else what for name, what in table.operations.items()}
        self.devices = DeviceNumbers()
        self.clock = Clock(1, path, table.from_start, "--time-unit (time_unit=…) states the unit of the times")
        self.counts: dict[str, tuple[str, int]] = {}
        self.skipped: dict[str, int] = {}
        self.earlier = self.unknown = self.empty = 0
        self.statuses: Counter[str] = Counter()  # numbers of answers that may not be whole objects, by class
        self.began: int | None = None  # first time as it is written, ns
        self.lengths: dict[str, tuple[int, int]] = {}  # role: number of values not divisible by 512, of all
        self.padded = False  # whether a key that is a number begins with a zero
        self.exponents = False  # whether a key or an address is a number with an exponent
        self.ends: set[str] = set()  # has "below" if a key is below 0, "beyond" if a key is above 2**63 - 1
        self.zoned: set[bool] = set()  # whether times state their zone; {False, True} if only some do
        self.midnights = 0  # how often times of day fall by more than half a day
        self.latest: int | None = None  # last time in ISO 8601, ns

    def reading(self, columns: dict[str, str], ignored: tuple[str, ...] = (), notes: tuple[str, ...] = ()) -> Reading:
        """Return the `Reading` of what was read so far; `columns` maps each role to its column's name."""
        addresses = "offset" in columns or "sector" in columns
        length = next((role for role in ("size", "sectors") if role in columns), None)
        size_unit = None if length is None else self.table.size_unit or UNITS[length]
        return Reading(
            columns=columns,
            ignored=ignored,
            separator=self.table.separator,
            time_unit=self.table.time_unit if any(role in columns for role in TIMES) else "",
            address_unit=self._address_unit(columns) if addresses else None,
            size_unit=size_unit,
            devices=len(self.devices.numbers) if "device" in columns else None,
            operations=dict(self.counts),
            skipped=dict(self.skipped),
            earlier=self.earlier,
            sorted=self.table.order == "time",
            notes=notes,
        )

    def _address_unit(self, columns: dict[str, str] | Columns) -> int:
        return self.table.address_unit or (SECTOR if "sector" in columns else 1)

    def requests(self, columns: Columns, fault: Fault) -> Iterator[Requests]:
        """Yield the rows as requests, a bounded number at a time even if rows stand for many requests.

        Parameters
        ----------
        columns : dict of str to list of pyarrow.Array
            Columns by role, all of the same length.
        fault : callable
            ``fault(row, role, place, what)`` returns the error about a value.

        Raises
        ------
        InputError
            A value is missing, malformed or out of range, or the roles of the columns cannot be combined.
        TextKeysError
            A key is not a whole number, and the user did not say how keys are written.
        """
        kept: np.ndarray | None = None
        if ACTION in columns and self.action is not None:
            columns, kept = self._selected(columns)
        if "count" in columns and "block" not in columns:
            raise InputError(
                "a count of blocks next to an address does not say how long a request is", path=self.path,
                expected="a length in bytes or sectors",
                remedy="say which blocks are counted: --columns size=… with --size-unit 4KB, or sectors=… for units of"
                " 512 bytes; ignore=… leaves the column out (--columns, columns=…)",
            )  # fmt: skip
        try:
            role, place = "op", 0
            role = next((name for name in SAID if name in columns), "")
            codes = None
            if role:
                usual = SAID[role] if self.table.usual else {}
                of_format = bool(self.table.example)  # the table is of a dialect, which needs this column
                codes = values.operations(columns[role][0], self.operations, self.counts, usual, of_format)
                if (codes == IGNORED).any():
                    keep = np.flatnonzero(codes != IGNORED)
                    kept, codes = (keep if kept is None else kept[keep]), codes[keep]
                    columns = {name: [each.take(pa.array(keep)) for each in group] for name, group in columns.items()}
            made: dict[str, Any] = {}
            found_nothing = None  # which rows are reads of size 0, if that means an unknown size
            if (
                "count" in columns
                and "block" in columns
                and self.table.key not in ("number", "hex")
                and values.is_text(columns["block"][0])
            ):
                raise InputError(
                    "keys that are text have no neighbours, so a count of blocks means nothing", path=self.path,
                    remedy="repeat=… repeats each reference, ignore=… leaves the column out (--columns, columns=…)",
                )  # fmt: skip
            for role, group in columns.items():
                if role in TIMES and len(group) > 1:
                    group = [values.joined(group)]
                for place, column in enumerate(group):  # noqa: B007, named if it fails
                    value = self._value(role, column, columns)
                    if role == "size" and "zero" in self.table.unknown_sizes:
                        found_nothing = (value == 0) & (True if codes is None else np.isin(codes, READING))
                    if value is not None:
                        made[role] = value if role not in made else self._joined(role, made[role], value)
            role, place = "device", 0
            device = self.devices.number(columns["device"]) if "device" in columns else None
            role = "block" if "block" in made else "offset"
            self._check_ends(made, device)
        except BadValueError as error:
            raise fault(int(kept[error.row]) if kept is not None else error.row, role, place, str(error)) from error
        if "repeat" in made and (never := int(np.count_nonzero(made["repeat"] == 0))):
            self.skipped[UNCOUNTED] = self.skipped.get(UNCOUNTED, 0) + never
        if STATUS in columns and {"block", "size"} <= made.keys():
            answered = False if codes is None else ~np.isin(codes, READING)  # a write's answer is not the object
            made["size"][self._unsent(columns[STATUS][0]) | answered] = UNKNOWN
        if found_nothing is not None:
            made["size"][found_nothing] = UNKNOWN
        if "size" in made:
            asked = (made["size"] == UNKNOWN) & (True if codes is None else codes != values.CODES["delete"])
            self.unknown += int((made.get("repeat", np.int64(1)) * asked).sum())
        if "sector" in made and self.table.separator and self.table.address_unit is None:
            size = made.get("size", made.get("sectors", np.int64(0)))
            odd, all_ = self.lengths.get("sector", (0, 0))
            odd += int(np.count_nonzero((made["sector"] % SECTOR**2 != 0) | (size >= SECTOR**2)))
            self.lengths["sector"] = (odd, all_ + int(np.count_nonzero(made["sector"])))  # 0 tells nothing
        when = next((made[role] for role in TIMES if role in made), None)
        if when is not None and when[0].size and self.began is None:
            self.began = int(when[0][0]) * when[1]
        time = None if when is None else self.clock.since_start(*when)
        write = None if codes is None else codes == values.CODES["write"]
        placed = self._placed(made, device, write, time)
        if self.lives is not None:
            placed = placed._replace(life=self._lives(made, codes, placed))
        yield from _expanded(placed, codes, made.get("repeat"))

    def _lives(self, made: dict[str, Any], codes: np.ndarray | None, placed: Requests) -> np.ndarray:
        """Return how long each row's object lives from that row on, in the form of `Requests.life`."""
        if "block" not in made or placed.count is not None or placed.time is None:
            raise InputError(
                "lifetimes need objects and times", path=self.path, expected="a column of keys and one of times",
                remedy="leave out --lifetimes (lifetimes=…)",
            )  # fmt: skip
        life = np.zeros(len(placed.start), np.int64) if "ttl" not in made else made["ttl"]
        return life if codes is None else np.where(codes == values.CODES["delete"], DELETE, life)

    def ordered(self, batches: Iterator[Requests]) -> Iterator[Requests]:
        """Return the batches in the order that the table states, split by `Lifetimes` if lifetimes are honoured."""
        found = in_order_of_time(batches, self) if self.table.order == "time" else batches
        return found if self.lives is None else self.lives.apart(found)

    def notes(self, columns: dict[str, str]) -> tuple[str, ...]:
        """Return notes on lifetimes, sizes, times and keys; remove an unused column of times to live from `columns`."""
        said = []
        if self.lives is not None:
            said.append(self.lives.note)
        elif (name := columns.pop("ttl", None)) is not None:
            said.append(f"times to live ({name}) ignored (--lifetimes honour)")
        said += unknown_sizes.notes(self.unknown)
        if self.statuses:
            shown = ", ".join(f"{count:,} of {what}" for what, count in sorted(self.statuses.items()))
            said.append(f"answers that may not be whole objects have the bytes sent as their size: {shown}")
        if self.empty:
            said.append(f"{self.empty:,} request{'s' * (self.empty > 1)} of 0 bytes, each taken for one block")
        for name, (what, count) in self.counts.items():
            if name.lower() in self.table.several and what != "ignore":
                said.append(f"only the first argument of {name} is taken for a key ({counted(count, 'requests')})")
        if self.table.assumes_time and any(role in columns for role in TIMES):
            said.append(f"times taken as {self.table.time_unit} (--time-unit)")
        said += self._implausible(columns)
        if self.padded:
            said.append("keys are numbers, so 007, 0x7 and 7 are one key (--key text keeps them apart)")
        if len(self.ends) == 2:
            said.append(
                "keys are below 0 and beyond 2**63, so -1 and 2**64 - 1 are one key (--key text keeps them apart)"
            )
        if len(self.zoned) == 2:
            said.append("times without a zone among others with one, taken as UTC")
        if self.midnights:
            often = f"{self.midnights:,} time{'s' * (self.midnights > 1)}"
            said.append(f"times of day without a date fall {often} by more than 12 hours, as at midnight: add the date")
        if self.exponents:
            what = "keys" if "block" in columns else "addresses"
            said.append(
                f"{what} are written with exponents, which may have lost digits and made different {what} equal"
            )
        return tuple(said)

    def _implausible(self, columns: dict[str, str]) -> list[str]:
        """Return notes on times, offsets and sizes that the format's own unit makes implausible."""
        said = []
        unit = self.table.time_unit
        if self.began is not None and unit in TIME_UNITS:
            year, other = year_of(self.began, unit), unit_since_epoch(self.began, unit)
            if year >= LAST_YEAR or (self.table.example and self.table.epoch and other not in (None, unit)):
                asked = f"are they in {other}? (--time-unit {other})" if other else "set another unit with --time-unit"
                said.append(f"times are read in {unit}, so that they begin in the year {year}; {asked}")
        for role, (odd, all_) in self.lengths.items():
            if role == "sector":
                if not odd and all_ >= ENOUGH:
                    said.append(
                        f"all values of {columns[role]} are multiples of {SECTOR}; are they in bytes?"
                        " (--address-unit bytes)"
                    )
            elif not self.table.whole_sectors and self.table.example and all_ and not odd:
                said.append(
                    f"all values of {columns[role]} are multiples of {SECTOR}; are they, and the addresses, in bytes?"
                    " (--size-unit bytes --address-unit bytes)"
                )
            elif self.table.whole_sectors and 2 * odd > all_:
                option = "--size-unit" if role == "size" else "--address-unit"
                said.append(
                    f"{odd:,} of {all_:,} values of {columns[role]} are not multiples of {SECTOR} bytes; are they in"
                    f" sectors? ({option} sectors)"
                )
        return said

    def _selected(self, columns: Columns) -> tuple[Columns, np.ndarray]:
        """Return the rows of the chosen action, and their places; rows of other actions are counted in `skipped`."""
        coded = pc.dictionary_encode(columns[ACTION][0])
        names, index = values.texts(coded.dictionary), coded.indices.to_numpy(zero_copy_only=False)
        for name, count in zip(names, np.bincount(index, minlength=len(names)).tolist(), strict=True):
            if name != self.action:
                reason = f"lines of action {name}"
                self.skipped[reason] = self.skipped.get(reason, 0) + count
        kept = np.flatnonzero(index == (names.index(self.action) if self.action in names else -1))
        chosen = {role: [each.take(pa.array(kept)) for each in group] for role, group in columns.items()}
        return chosen, kept

    def _unsent(self, column: pa.Array) -> np.ndarray:
        """Return which answers have no body (304); count the others that may not be whole objects: parts (206),
        redirections, errors, and answers without a status."""
        coded = pc.dictionary_encode(pc.fill_null(column.cast(pa.string()), ""))
        index = coded.indices.to_numpy(zero_copy_only=False)
        statuses = [text.strip().removesuffix(".0") for text in values.texts(coded.dictionary)]
        for status, count in zip(statuses, np.bincount(index, minlength=len(statuses)).tolist(), strict=True):
            if status == "206" or (status[:1] in ("3", "4", "5") and status != "304"):
                self.statuses["status " + (status if status == "206" else f"{status[0]}xx")] += count
            elif status and status[:1] not in ("1", "2", "3"):
                self.statuses["no status"] += count
        return np.isin(index, [place for place, status in enumerate(statuses) if status == "304"])

    def _count_midnights(self, when: np.ndarray) -> None:
        """Count how often times of day fall by more than half a day; they are read as times on 1 January 1970."""
        if len(when):
            steps = np.diff(when, prepend=int(when[0]) if self.latest is None else self.latest)
            self.midnights += int(np.count_nonzero((steps < -DAY // 2) & (when >= 0) & (when < DAY)))
            self.latest = int(when[-1])

    def _value(self, role: str, column: pa.Array, columns: Columns) -> Any:
        if role == "block":
            made = values.keys(column, self.table.key)
            if self.table.key == "auto" and values.is_text(column):
                self.padded = self.padded or spelling.is_padded(column)
            if self.table.key in spelling.NUMBERS:
                self.exponents = self.exponents or (values.is_text(column) and spelling.has_exponents(column))
                self.ends |= spelling.ends(column, made) if len(self.ends) < 2 else set()
            return made
        if role == SPACE:
            return values.keys(column, "text")
        if role in TIMES:
            when, ns = values.times(column, self.table.time_unit)
            if self.table.time_unit == "iso" and values.is_text(column):
                self.zoned |= spelling.zones(column)
                self._count_midnights(when)
            return when, ns
        if role == "ttl" and self.lives is not None:
            lives = values.sizes(column)
            if (odd := np.flatnonzero(lives < UNKNOWN)).size:
                expected = "seconds; 0, -1 or nothing if there is no end"
                raise BadValueError(int(odd[0]), f"{int(lives[odd[0]])} is out of range", expected)
            return np.clip(lives, 0, LONGEST_LIFE).astype(np.int64) * SECOND
        if role not in UNITS:
            return None
        address = role in ("offset", "sector")
        blanks = role == "size" and ("blank" in self.table.unknown_sizes or self._of_pattern)
        hexadecimal = self.table.key == "hex" and address
        if address and values.is_text(column) and self.table.key in spelling.NUMBERS:
            self.exponents = self.exponents or spelling.has_exponents(column)
        numbers = values.sizes(column) if blanks else values.whole(column, hexadecimal=hexadecimal)
        chosen = self.table.address_unit if address else self.table.size_unit if role in ("size", "sectors") else None
        unit = chosen or UNITS[role]
        in_bytes = self.table.whole_sectors and chosen is None
        in_sectors = not self.table.whole_sectors and chosen == SECTOR
        if (in_bytes and role in ("offset", "size")) or (in_sectors and role == "size"):
            odd, all_ = self.lengths.get(role, (0, 0))
            self.lengths[role] = (odd + int(np.count_nonzero(numbers % SECTOR)), all_ + len(numbers))
        if role == "offset" and unit == 1 and numbers.dtype == np.uint64 and not {"device", SPACE} & columns.keys():
            return numbers
        limit = 1 << 62
        if address and ("device" in columns or SPACE in columns):
            limit = LARGEST_ADDRESS
        elif role in ("size", "sectors") and "block" not in columns:
            limit = LARGEST_REQUEST
        elif role == "repeat":
            limit = MOST_REPEATS
        most, signed = max(limit // unit, 1), numbers.astype(np.int64)
        odd = np.flatnonzero((numbers >= most) | (signed < (UNKNOWN if blanks else 0)))
        if odd.size:
            expected = f"0 to {most - 1}"
            if address and numbers[odd[0]] < 0 and self.table.separator:  # Arrow reads 0xFFFFFFFFFFFFFFFF as -1
                expected += "; --key hex (key=…) reads hexadecimal numbers from 2**63 on"
            raise BadValueError(int(odd[0]), f"{int(numbers[odd[0]])} is out of range", expected)
        made = signed * unit
        if blanks:
            made[signed == UNKNOWN] = UNKNOWN
        return made

    @property
    def _of_pattern(self) -> bool:
        """Whether a format's pattern divides the lines; they may then lack a size, or hold a dash in its place."""
        return bool(self.table.example and self.table.pattern)

    @staticmethod
    def _check_ends(made: dict[str, Any], device: np.ndarray | None) -> None:
        """Refuse a range of bytes or blocks that passes the largest number of 64 bits: its end would wrap around."""
        place, length, unit = ("block", "count", "block") if "block" in made else ("offset", "size", "byte")
        if device is not None or SPACE in made or place not in made or length not in made:
            return
        start, size = made[place].view(np.uint64), made[length]
        last = np.maximum(size - 1, 0) if unit == "block" else size
        odd = np.flatnonzero(start + last.view(np.uint64) < start)
        if odd.size:
            at = int(odd[0])
            many = int(size[at])
            raise BadValueError(at, f"{many} {unit}{'s' * (many != 1)} from {int(start[at])} on", "an end below 2**64")

    @staticmethod
    def _joined(role: str, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        if role == "size":
            return np.where((first == UNKNOWN) | (second == UNKNOWN), UNKNOWN, first + second)
        return values.mixed(second + np.uint64(1), first)

    def _placed(
        self, made: dict[str, Any], device: np.ndarray | None, write: np.ndarray | None, time: np.ndarray | None
    ) -> Requests:
        size = made.get("size", made.get("sectors"))
        if SPACE in made and ("block" in made or device is not None):
            raise InputError(
                f"requests have both a {'device' if device is not None else 'key'} and a space", path=self.path,
                expected="addresses within one space",
                remedy="device=… keeps keys apart; columns that are joined with + make up one space or one device"
                " (--columns, columns=…)",
            )  # fmt: skip
        if "block" in made:
            key = made["block"]
            if device is not None:
                key = values.mixed(device.view(np.uint64), key)
            return Requests(key, made.get("count"), write, time, size if "count" not in made else None)
        start = made["offset"] if "offset" in made else made["sector"]
        size = np.ones(len(start), np.int64) if size is None else size
        self.empty += int(np.count_nonzero(size == 0))
        if device is None:
            start, size = start.view(np.uint64), np.maximum(size, 1).view(np.uint64)  # addresses of up to 64 bits
            first = start // np.uint64(self.block_bytes)
            last = np.maximum(start + size - np.uint64(1), start) // np.uint64(self.block_bytes)
            count = (last - first).view(np.int64) + 1
            return Requests(values.within(made[SPACE], first) if SPACE in made else first, count, write, time)
        return extents(device, start, size, write, time, self.block_bytes, self.path)


def _expanded(requests: Requests, codes: np.ndarray | None, repeat: np.ndarray | None) -> Iterator[Requests]:
    """Yield the requests; repeat those that count several times, and split those that both read and write."""
    both = None if codes is None or not (codes == BOTH).any() else codes == BOTH
    if both is None and repeat is None:
        yield requests
        return
    times = np.ones(len(requests.start), np.int64) if repeat is None else repeat
    times = times if both is None else times * np.where(both, 2, 1)
    ends, low = np.cumsum(times), 0
    while low < len(times):
        begin = int(ends[low - 1]) if low else 0
        part = slice(low, max(int(np.searchsorted(ends, begin + MOST_REPEATS, side="right")), low + 1))
        many, first = times[part], ends[part] - times[part] - begin
        made = Requests(*(None if column is None else np.repeat(column[part], many) for column in requests))
        if both is not None and made.write is not None:
            place = np.arange(int(many.sum())) - np.repeat(first, many)
            made = made._replace(write=np.where(np.repeat(both[part], many), place % 2 == 1, made.write))
        yield made
        low = part.stop


HEX = "--key hex (key=…) reads hexadecimal numbers; write no thousands separators"
PLAIN = "write whole numbers, without thousands separators and without units (--size-unit says the unit)"
REMEDIES = {
    "time": "--time-unit (time_unit=…) names a format, such as '%d/%m/%Y %H:%M'; decimals follow a point, not a comma",
    "offset": HEX,
    "sector": HEX,
    "size": PLAIN,
    "sectors": PLAIN,
    "count": PLAIN,
}


def remedy_of(role: str) -> str | None:
    """Return what to do about a malformed value in a column with this role; None if nothing in particular."""
    return REMEDIES.get("time" if role in TIMES else role)


def check_lifetimes(table: Table, roles: Roles, path: Path | None) -> None:
    """Raise an `InputError` if lifetimes are to be honoured, but the table has neither times to live nor deletes."""
    if table.lifetimes == "honour" and "ttl" not in roles and "delete" not in table.operations.values():
        raise InputError(
            f"{'the table ' * (path is None)}has neither times to live nor deletes", path=path,
            expected="a column of times to live (s), or a delete",
            remedy="name them with --columns ttl=… or --operations DEL=delete (columns=…, operations=…), or leave out"
            " --lifetimes (lifetimes=…)",
        )  # fmt: skip


def in_order_of_time(batches: Iterator[Requests], rows_read: Rows) -> Iterator[Requests]:
    """Yield all requests, sorted by time (stably), and count those that are earlier than the preceding request."""
    rows = [batch for batch in batches if batch.start.size]
    if not rows or rows[0].time is None:
        yield from rows
        return
    whole = [None if column[0] is None else np.concatenate(column) for column in zip(*rows, strict=True)]
    joined = Requests(*whole)
    rows_read.earlier = int(np.count_nonzero(np.diff(joined.time) < 0))
    order = np.argsort(joined.time, kind="stable")
    joined = Requests(*(None if column is None else column[order] for column in joined))
    yield joined._replace(time=joined.time - joined.time[0])
