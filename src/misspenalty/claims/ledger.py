"""The ledger of published statements and the record of fitted parameters, as checked Python objects."""

import re
from dataclasses import dataclass
from pathlib import Path

from misspenalty.claims.formula import FormulaError
from misspenalty.claims.layout import TABLES
from misspenalty.claims.reading import Reading, compile_reading
from misspenalty.errors import InputError
from misspenalty.io.documents import read_yaml, worst_error

STUDIES = ("mq", "sarc", "hac", "epcm", "vlog")


@dataclass(frozen=True)
class Claim:
    """One statement of the ledger; the fields are the keys explained at the head of ``claims.yaml``."""

    id: str
    study: str
    source: str
    statement: str
    kind: str
    published: object
    needs: str
    status: str
    role: str
    unit: str = ""
    tolerance: dict | None = None
    tie: bool = False
    note: str = ""
    reading: Reading | None = None


@dataclass(frozen=True)
class Fit:
    """One parameter that no source states, and the published cells it was fitted to."""

    parameter: str
    study: str
    published: tuple  # dicts: table, where, column, value
    range: tuple
    unit: str
    sensitivity: str
    reason: str
    follows: tuple = ()  # dicts: table, where, column; cells that hang on the parameter as directly as the targets do

    def reads(self, cell):
        """Whether `cell`, a (table, column, keys) triple, is one of the fitted targets."""
        return _among(self.published, cell)

    def decides(self, cell):
        """Whether `cell` is one that follows from the fit."""
        return _among(self.follows, cell)


def _among(targets, cell):
    """Whether a (table, column, keys) triple is one of the cells that `targets` describe."""
    table, column, keys = cell
    keys = dict(keys)
    return any(
        target["table"] == table
        and target["column"] == column
        and all(keys.get(key) == member for key, member in target["where"].items())
        for target in targets
    )


def load_ledger(path, schema=None):
    """Read and check a ledger.

    Parameters
    ----------
    path : path-like
        ``claims.yaml``.
    schema : path-like, optional
        JSON Schema of the ledger; by default ``claims.schema.yaml`` beside it.

    Returns
    -------
    list of Claim
        In the order of the file.

    Raises
    ------
    InputError
        An entry with an unknown key, a formula that cannot be read, a name that no table has, or an id used twice.
        The message names the entry and its line.
    """
    path = Path(path)
    entries = load_entries(path, schema or path.with_name("claims.schema.yaml"), "id")
    lines = {
        m[1]: n
        for n, text in enumerate(path.read_text().splitlines(), 1)
        if (m := re.match(r"- \{?id: ([^,\s]+)", text))
    }
    claims, seen = [], set()
    for entry in entries:
        place = {"path": path, "line": lines.get(entry["id"])}
        if entry["id"] in seen:
            raise InputError(f"claim {entry['id']} stands twice", **place, remedy="give each entry an id of its own")
        seen.add(entry["id"])
        if ("read" in entry) == (entry["needs"] == "none"):
            raise InputError(
                f"claim {entry['id']} needs {entry['needs']} but has {'a' if 'read' in entry else 'no'} read",
                **place,
                expected="a read exactly where a result table is needed",
            )
        fields = {key: value for key, value in entry.items() if key != "read"}
        try:
            reading = compile_reading(entry) if "read" in entry else None
        except FormulaError as error:
            raise InputError(
                f"claim {entry['id']}: {error}", **place, remedy="the grammar is in data/published/README.md"
            ) from error
        claims.append(Claim(**fields, reading=reading))
    return claims


def load_calibration(path, schema=None):
    """Read and check ``data/calibration.yaml``; returns a list of `Fit`.

    Raises
    ------
    InputError
        The file does not fit its schema, or a target names a table or column that does not exist.
    """
    path = Path(path)
    fits = []
    for entry in load_entries(path, schema or path.with_name("calibration.schema.yaml"), "parameter"):
        for target in entry["published"]:
            layout = TABLES.get(target["table"])
            missing = set(layout.keys) - set(target["where"]) if layout else set()
            known = layout and target["column"] in layout.values and set(target["where"]) <= set(layout.keys)
            if not known or any(layout.keys[key] for key in missing):  # a numeric key may be empty in the cell's row
                raise InputError(
                    f"parameter {entry['parameter']}: {target['table']}, {target['column']} is not one cell",
                    path=path,
                    expected="a result table, one of its value columns, and a member for each of its keys",
                )
        for target in entry.get("follows", ()):
            layout = TABLES.get(target["table"])
            if not layout or target["column"] not in layout.values or not set(target["where"]) <= set(layout.keys):
                raise InputError(
                    f"parameter {entry['parameter']}: {target['table']}, {target['column']} does not exist",
                    path=path,
                    expected="a result table, one of its value columns, and some of its keys",
                )
        lists = {key: tuple(entry.get(key, ())) for key in ("published", "range", "follows")}
        fits.append(Fit(**entry | lists))
    return fits


def _yaml(path):
    return read_yaml(path, remedy="data/published/README.md says what belongs where")


def load_entries(path, schema, name):
    """Parse a YAML list of entries and validate it, naming the entry at fault by its `name` key.

    Raises
    ------
    InputError
        The file is not there, is no YAML, or does not fit its schema.
    """
    entries = _yaml(path)
    problem = worst_error(entries, _yaml(schema))
    if problem is not None:
        steps = list(problem.absolute_path)
        entry = entries[steps[0]] if steps else None
        label = entry.get(name, f"number {steps[0] + 1}") if isinstance(entry, dict) else "list"
        where = ".".join(str(step) for step in steps[1:])
        raise InputError(
            f"entry {label}{', ' + where if where else ''}: {problem.message}",
            path=path,
            remedy=f"the allowed keys are in {Path(schema).name}",
        )
    return entries
