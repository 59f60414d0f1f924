"""Looking cells up in result tables, with the row filters of the ledger."""

import itertools
import math

from misspenalty.claims.formula import UntestableError, Vector, constant, is_close
from misspenalty.claims.layout import TABLES
from misspenalty.errors import InputError


def prepare(name, frame):
    """Rows of a result table as dicts, after a check of its columns and keys.

    Raises
    ------
    InputError
        A column that the ledger needs is not there, or two rows have the same keys.
    """
    layout = TABLES[name]
    optional = set(layout.defaults)
    absent = [c for c in (*layout.keys, *layout.values) if c not in frame.columns and c not in optional]
    if absent:
        raise InputError(
            f"result table {name} lacks the column {absent[0]!r}",
            expected=", ".join((*layout.keys, *layout.values)),
            remedy="see data/published/README.md",
        )
    rows, seen = [], set()
    for record in frame.to_dict("records"):
        row = {c: record.get(c) for c in (*layout.keys, *layout.values, *layout.optional)}
        for key, members in layout.keys.items():
            row[key] = _key(row[key], members, layout.defaults.get(key))
        keys = tuple(row[key] for key in layout.keys)
        if keys in seen:
            raise InputError(
                f"result table {name} has two rows for " + describe(zip(layout.keys, keys, strict=True)),
                expected="one row for each combination of " + ", ".join(layout.keys),
            )
        seen.add(keys)
        rows.append(row)
    columns = set(frame.columns) | optional
    return rows, columns


def _key(value, members, default):
    """A key as it is compared: numbers as int or float, an empty cell as None or the default."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return default
    if members is None:
        try:
            number = float(value)
        except (TypeError, ValueError):
            return str(value)
        return int(number) if number.is_integer() else number
    if members == (True, False):
        return str(value).strip().lower() in ("true", "1", "1.0")
    return str(value)


def describe(pairs):
    """``key member, key member`` for a message."""
    return ", ".join(f"{key} {member}" for key, member in pairs if member is not None)


def _same(value, wanted):
    if isinstance(value, int | float) and isinstance(wanted, int | float):
        return isinstance(value, bool) == isinstance(wanted, bool) and is_close(value, wanted)
    return value == wanted


class Reader:
    """Turns atoms into vectors for one claim, and remembers which cells were read.

    Parameters
    ----------
    tables : mapping
        Prepared tables: name -> (rows, columns).
    table : str
        The claim's own table.
    where, without : dict
        Row filter and its opposite; the members of a list all have to be there.
    fixed : dict, optional
        Further filter, of the member or case under consideration.
    """

    def __init__(self, tables, table, where, without=None, fixed=None, swept=()):
        self.tables, self.table = tables, table
        self.where, self.without, self.fixed, self.swept = where, without or {}, fixed or {}, swept
        self.cells = set()

    def fixing(self, **members):
        """The same reader with further members fixed; it adds to the same set of cells."""
        other = Reader(self.tables, self.table, self.where, self.without, self.fixed | members, self.swept)
        other.cells = self.cells
        return other

    def __call__(self, atom):
        if atom.table not in self.tables:
            raise UntestableError(f"result table {atom.table} is not there")
        layout = TABLES[atom.table]
        rows, columns = self.tables[atom.table]
        if atom.column not in columns:
            raise UntestableError(f"{atom.table} has no column {atom.column}")
        wanted = {k: v for k, v in (self.where | self.fixed).items() if k in layout.keys} | dict(atom.members)
        for key, member in layout.defaults.items():
            wanted.setdefault(key, member)
        if atom.parts:
            wanted["component"] = list(layout.parts)
        rows = self._select(rows, wanted, atom)
        open_keys = self._open_keys(rows, wanted, layout)
        if "cache_mb" in open_keys and layout.points and "cache_mb" not in self.swept:
            open_keys.remove("cache_mb")
            rows = [r for r in rows if _same(r["cache_mb"], layout.points.get(r["traversal"]))]
            if isinstance(wanted.get("traversal"), str):
                wanted["cache_mb"] = layout.points[wanted["traversal"]]
        if atom.column not in layout.keys:
            rows = self._complete(rows, open_keys, wanted, layout, atom)
        if not rows:
            raise UntestableError(f"{atom.table} has no row for {_words(wanted)}")
        data = {tuple(r[key] for key in open_keys): self._number(r, atom) for r in rows}
        return Vector(tuple(open_keys), data, atom.table == self.table, frozenset(layout.inner))

    def _select(self, rows, wanted, atom):
        for key, members in wanted.items():
            listed = members if isinstance(members, list) else [members]
            rows = [r for r in rows if any(_same(r[key], member) for member in listed)]
            for member in listed:
                if not any(_same(r[key], member) for r in rows):
                    raise UntestableError(f"{atom.table} has no row for {_words(wanted | {key: member})}")
        if atom.table == self.table:
            rows = [r for r in rows if not any(_same(r[k], v) for k, v in self.without.items())]
        return rows

    @staticmethod
    def _open_keys(rows, wanted, layout):
        """Keys not settled by the filter; one that is empty in every row does not apply."""
        return [
            key
            for key in layout.keys
            if (key not in wanted or isinstance(wanted[key], list)) and any(r[key] is not None for r in rows)
        ]

    def _complete(self, rows, open_keys, wanted, layout, atom):
        """Keep the members that "every" stands for, and insist on all of them."""
        names = [key for key in open_keys if key in layout.complete]
        spans = []
        for key in names:
            members = layout.complete[key]
            if isinstance(members, dict):
                members = tuple(itertools.chain.from_iterable(members.values()))
            listed = wanted.get(key)
            spans.append([m for m in members if listed is None or any(_same(m, x) for x in listed)])
        for point in itertools.product(*spans):
            here = dict(zip(names, point, strict=True))
            if not self._belongs(here, wanted, layout):
                continue
            if not any(all(_same(r[k], m) for k, m in here.items()) for r in rows):
                raise UntestableError(f"{atom.table} has no row for {_words(wanted | here)}")
        kept = [(key, span) for key, span in zip(names, spans, strict=True)]
        return [r for r in rows if all(any(_same(r[k], m) for m in span) for k, span in kept)]

    @staticmethod
    def _belongs(here, wanted, layout):
        """Whether a load belongs to the configuration (each has loads of its own)."""
        for key, members in layout.complete.items():
            if isinstance(members, dict) and key in here:
                config = here.get("config", wanted.get("config"))
                configs = config if isinstance(config, list) else [config] if config else list(members)
                if not any(here[key] in members.get(c, ()) for c in configs):
                    return False
        return True

    def _number(self, row, atom):
        layout = TABLES[atom.table]
        keys = [(key, row[key]) for key in layout.keys]
        self.cells.add((atom.table, atom.column, tuple(keys)))
        value = row[atom.column]
        if isinstance(value, bool):
            return value
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        if not math.isfinite(number):
            raise UntestableError(f"{atom.table} has no number in {atom.column} for {describe(keys)}")
        return number


def _words(wanted):
    return describe((k, v if not isinstance(v, list) else "/".join(map(str, v))) for k, v in wanted.items())


def neutral_lookup(values):
    """A lookup that gives each atom a constant, for the value that a comparison takes between equals."""
    return lambda atom: constant(values[atom])
