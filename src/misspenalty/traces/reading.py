"""Describe what was read from a file or table, and how; a trace made from either has such a description."""

import dataclasses
import re
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

from misspenalty.errors import InputError
from misspenalty.traces.table import SEPARATORS

# Map each option of a table to the columns it concerns, and to the attribute of a reading that is empty without them.
ABOUT = {
    "time_unit": ("times", "time_unit"),
    "order": ("times", "time_unit"),
    "address_unit": ("offsets", "address_unit"),
    "size_unit": ("sizes", "size_unit"),
    "operations": ("operations", "operations"),
    "key": ("keys", "columns"),
}
USUAL = {"order": ("file",), "key": ("auto", "hex")}  # values accepted without such a column; offsets may be in hex
MOST_SHOWN = 30  # maximum number of ignored columns that a note names
# Match a plural in the text that `counted` receives.
PLURAL = re.compile(r"\b(block|column|hit|line|miss|note|object|prompt|read|record|reference|request|row|write)e?s\b")


def counted(count: int, what: str) -> str:
    """Return a number and what it counts; the first noun of `what` is a plural, which becomes singular for 1.

    Examples
    --------
    >>> counted(2000, "records of action C"), counted(1, "records of action C"), counted(1, "cold misses")
    ('2,000 records of action C', '1 record of action C', '1 cold miss')
    """
    if count == 1:
        what = PLURAL.sub(r"\1", what, count=1)
    return f"{count:,} {what}"


def _first_of(names: tuple[str, ...]) -> str:
    """Return names with commas between them, or the first ones and the number of the others if there are many."""
    more = f" and {len(names) - MOST_SHOWN:,} more" if len(names) > MOST_SHOWN else ""
    return ", ".join(names[:MOST_SHOWN]) + more


def check_heeded(reading: "Reading", options: dict[str, Any], path: PathLike[str] | None) -> None:
    """Raise an `InputError` if a user's option concerns a column that the table lacks, so that it had no effect."""
    keyless = bool(reading.columns) and "block" not in reading.columns
    for name, (what, attribute) in ABOUT.items():
        given = options.get(name)
        usual = given is None or str(given).strip().lower() in USUAL.get(name, ())
        if not usual and (keyless if name == "key" else not getattr(reading, attribute)):
            lacks = f"{'the table ' * (path is None)}has no column of {what}"
            raise InputError(
                f"{lacks}, so that {name} would have no effect", path=path,
                remedy=f"name it with --columns (columns=…), or leave out --{name.replace('_', '-')}"
                f" ({name}=…)",
            )  # fmt: skip


@dataclass(frozen=True)
class Reading:
    """Description of how the content of a file was understood.

    Attributes
    ----------
    format : str
        Name of the format.
    columns : dict of str to str
        Names of the columns that were used, by role.
    ignored : tuple of str
        Columns that were not used, although neither the format nor the user leaves them out.
    separator, time_unit : str
    address_unit, size_unit : int or None
        Bytes per unit.
    block_bytes : int
        Block size; only recorded if requests were not split into blocks.
    devices : int or None
        Number of devices, each with its own address space; None if the format has no devices.
    operations : dict of str to (str, int)
        Maps operations to their meanings and numbers of rows.
    skipped : dict of str to int
        Number of lines or records that are not requests, by reason.
    rows, reads, writes : int
        Numbers of requests, of references that are reads, and of references that are writes.
    size_changes : int
        Number of references at which an object's size differs from that at its first reference.
    earlier : int
        Number of requests that are earlier than the preceding request.
    sorted : bool
        Whether requests were sorted by time.
    prefixes : dict of str to float
        For prompts, the result of `misspenalty.traces.prompts.soundness`, which shows whether equal hashes mean an
        equal prefix; otherwise empty.
    notes : tuple of str
        What was guessed or adjusted.
    """

    format: str = ""
    columns: dict[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    separator: str = ""
    time_unit: str = ""
    address_unit: int | None = None
    size_unit: int | None = None
    block_bytes: int = 0
    devices: int | None = None
    operations: dict[str, tuple[str, int]] = field(default_factory=dict)
    skipped: dict[str, int] = field(default_factory=dict)
    rows: int = 0
    reads: int = 0
    writes: int = 0
    size_changes: int = 0
    earlier: int = 0
    sorted: bool = False
    prefixes: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return all fields in a form that JSON can represent."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, entries: dict[str, Any]) -> "Reading":
        """Return the reading that `to_dict` described, even if the description was stored as JSON.

        Raises
        ------
        ValueError, TypeError, LookupError or AttributeError
            The entries are not such a description: one is missing, unknown or of another type.

        Examples
        --------
        >>> Reading.from_dict(Reading("csv", ignored=("x",)).to_dict()).ignored
        ('x',)
        """
        operations = {name: (str(meaning), int(count)) for name, (meaning, count) in entries["operations"].items()}
        lists = {name: tuple(entries[name]) for name in ("ignored", "notes")}
        made = cls(**{**entries, **lists, "operations": operations})
        if not all(isinstance(text, str) for text in made.describe().values()):
            raise TypeError("a note is not text")
        return made

    @property
    def changes(self) -> tuple[str, ...]:
        """What was ignored, guessed or adjusted, each in a few words."""
        said = list(self.notes)
        if self.ignored:
            said.append(f"ignored column{'s' * (len(self.ignored) > 1)} {_first_of(self.ignored)}")
        dropped = [
            f"{count:,} {name or 'blank'}"
            for name, (what, count) in self.operations.items()
            if what == "ignore" and count
        ]
        if dropped:
            said.append(f"ignored operations: {', '.join(dropped)}")
        if self.skipped:
            said.append(", ".join(f"skipped {counted(count, reason)}" for reason, count in self.skipped.items()))
        if self.earlier and self.sorted:
            said.append(
                f"sorted by time, as {self.earlier:,} of {self.rows:,} requests came earlier than the one before"
            )
        elif self.earlier:
            said.append(
                f"{self.earlier:,} of {self.rows:,} requests are earlier than the one before (--order time sorts)"
            )
        if self.prefixes and not self._sound:
            said.append(self._of_prefixes())
        return tuple(said)

    @property
    def _sound(self) -> bool:
        return not (self.prefixes["broken_chains"] or self.prefixes["repeated"])

    def _of_prefixes(self) -> str:
        """Say in words whether the hashes of prompts identify prefixes."""
        found = self.prefixes
        if self._sound:
            return f"{counted(found['prompts'], 'prompts')}, in which each block always follows the same one"
        return (
            f"{found['broken_chains']:,} of {found['references']:,} references do not follow the block"
            " that the first reference to the same block follows,"
            f" and {found['repeated']:,} repeat a block of their own prompt;"
            f" {found['unservable_share']:.2%} of the references to known blocks follow an unknown one, so that no"
            " prefix cache serves them (--prefix)"
        )

    def notice(self, name: str) -> str | None:
        """Return a one-line notice of what was ignored, guessed or adjusted, or None if nothing was.

        Examples
        --------
        >>> Reading("csv", ignored=("level",)).notice("mine.csv")
        'mine.csv: read as csv; ignored column level'
        """
        return f"{name}: read as {self.format}; {'; '.join(self.changes)}" if self.changes else None

    def describe(self) -> dict[str, str]:
        """Return the whole description as text, by subject."""
        lines = {"format": self.format}
        if self.columns:
            lines["columns"] = ", ".join(f"{role} = {column}" for role, column in self.columns.items())
        if self.ignored:
            lines["ignored"] = _first_of(self.ignored)
        if self.separator:
            said = {sign: word for word, sign in SEPARATORS.items()}
            lines["separator"] = said.get(self.separator, self.separator)
        units = [f"time in {self.time_unit}"] if self.time_unit else []
        for what, unit in (("addresses", self.address_unit), ("sizes", self.size_unit)):
            if unit is not None:
                units.append(f"{what} in {'bytes' if unit == 1 else f'units of {unit} bytes'}")
        if units:
            lines["units"] = ", ".join(units)
        lines["block size"] = f"{self.block_bytes} bytes"
        if self.devices is not None:
            lines["devices"] = f"{self.devices}, each with its own addresses"
        if self.operations:
            lines["operations"] = ", ".join(
                f"{count:,} {name or 'blank'} ({meaning})" for name, (meaning, count) in self.operations.items()
            )
        lines["references"] = f"{counted(self.reads, 'reads')}, {counted(self.writes, 'writes')}"
        if self.size_changes:
            lines["size changes"] = counted(
                self.size_changes, "references to an object with another size than at its first"
            )
        if self.time_unit or self.earlier:
            lines["order"] = counted(self.earlier, "requests earlier than the one before") + (
                "; sorted by time" if self.sorted else ""
            )
        if self.prefixes and self._sound:
            lines["prefixes"] = self._of_prefixes()
        for number, note in enumerate(self.changes):
            lines["note" if not number else f"note {number + 1}"] = note
        return lines
