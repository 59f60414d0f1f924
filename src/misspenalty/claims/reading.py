"""How one ledger entry is read off the result tables: its `read` checked and compiled."""

import re
from dataclasses import dataclass, field

from misspenalty.claims import phrases
from misspenalty.claims.formula import FormulaError, compile_formula
from misspenalty.claims.layout import TABLES

_RANKED = re.compile(r"(?P<member>[\w+-]+) (?P<place>lowest|highest)(?: at every \w+)?")


@dataclass(frozen=True)
class Reading:
    """A compiled `read`; which fields are set depends on the kind of the claim."""

    columns: tuple
    trees: tuple  # one compiled formula for each column
    where: dict = field(default_factory=dict)
    without: dict = field(default_factory=dict)
    report: dict = field(default_factory=dict)  # label -> compiled formula whose value goes into the note
    plain: bool = True  # no formula: the column itself
    by: str | None = None
    groups: tuple = ()
    test: tuple | None = None  # ("group",), ("lowest" | "highest", member) or ("tree", compiled comparison)
    pairs: tuple = ()
    along: str | None = None
    scatter: tuple | None = None  # (compiled horizontal axis, keys within which points are compared)
    order: tuple = ()
    direction: str | None = None
    limits: tuple = ()  # compiled limits of a bound
    peak: str | None = None  # key whose member at the maximum of the column is meant


def compile_reading(entry):
    """Compile the `read` of an entry (a dict of the ledger).

    Raises
    ------
    FormulaError
        A key, member, column or formula that the layout and the language do not know.
    """
    read, table, kind = entry["read"], entry["needs"], entry["kind"]
    if table not in TABLES:
        raise FormulaError(f"needs {table!r}, which is no result table; there are {', '.join(TABLES)}")
    columns = read["column"] if isinstance(read["column"], list) else [read["column"]]
    phrase = _phrase(table, read.get("formula"))
    where = _filter(table, read.get("where", {}) | phrase.get("where", {}))
    values = {"columns": tuple(columns), "where": where, "without": phrase.get("without", {})}
    for column in columns:
        if column not in (*TABLES[table].values, *TABLES[table].optional, *TABLES[table].keys):
            raise FormulaError(f"{column!r} is not a column of {table}")
    values["plain"] = "expr" not in phrase
    expr = phrase.get("expr", "column")
    values["trees"] = tuple(compile_formula(expr, table, column) for column in columns)
    values["report"] = {
        label: compile_formula(text, table, columns[0]) for label, text in phrase.get("report", {}).items()
    }
    values["peak"] = phrase.get("peak")
    if kind == "ordering":
        values |= _ordering(entry, read, table, columns[0])
    elif kind == "trend":
        values |= _trend(entry, read, table, columns[0])
    elif kind == "bound":
        limit = entry["published"]["limit"]
        listed = limit if isinstance(limit, list) else [limit]
        texts = [phrases.LIMITS.get(x, x) if isinstance(x, str) else repr(x) for x in listed]
        values["limits"] = tuple(compile_formula(text, table, columns[0]) for text in texts)
    if "pairs" in read:
        values["pairs"] = tuple(tuple(_filter(table, side) for side in pair) for pair in read["pairs"])
    reading = Reading(**values)
    _check(kind, reading)
    return reading


def _check(kind, reading):
    """The formula has to give what the kind of the claim compares."""
    verdicts = [tree[0] in ("compare", "and", "or") for tree in reading.trees]
    equality = all(tree[:2] == ("compare", "==") for tree in reading.trees)
    decided = reading.by or reading.pairs or (reading.test and reading.test[0] == "tree")
    if kind in ("value", "ratio") and any(verdicts):
        raise FormulaError(f"the formula of a {kind} has to give a number")
    if kind == "ordering" and not decided and not all(verdicts):
        raise FormulaError("an ordering needs `by`, `pairs`, or a formula or test that compares")
    if kind == "trend" and not (reading.along or reading.scatter) and not all(verdicts):
        raise FormulaError("a trend needs `along` or a formula that compares")
    if kind == "equivalence" and not reading.pairs and not equality:
        raise FormulaError("an equivalence needs `pairs` or a formula with one equality")


def _phrase(table, text):
    """The strict form of a formula: ``expr``, ``report``, ``where``, ``without``, ``peak``."""
    if text is None:
        return {}
    found = phrases.FORMULAS.get(table, {}).get(text, text)
    return found if isinstance(found, dict) else {"expr": found}


def _filter(table, where):
    layout = TABLES[table]
    for key, members in where.items():
        if key not in layout.keys:
            raise FormulaError(f"{key!r} is not a key of {table}; its keys are {', '.join(layout.keys)}")
        _members(table, key, members if isinstance(members, list) else [members])
    return dict(where)


def _members(table, key, members):
    known = TABLES[table].keys[key]
    for member in members:
        numeric = isinstance(member, int | float) and not isinstance(member, bool)
        if (known is None and not numeric) or (known is not None and member not in known):
            raise FormulaError(f"{member!r} is not a member of {key} in {table}")


def _ordering(entry, read, table, column):
    published = entry["published"]
    groups = read.get("low_to_high") or (published if isinstance(published, list) else [])
    values = {"by": read.get("by"), "groups": tuple(tuple(group) for group in groups)}
    text = read.get("test")
    if values["by"]:
        if values["by"] not in TABLES[table].keys:
            raise FormulaError(f"{values['by']!r} is not a key of {table}")
        if text not in phrases.TESTS:
            _members(table, values["by"], [m for group in groups for m in group if text is None or _RANKED.match(text)])
    if text:
        ranked = _RANKED.fullmatch(text)
        if text == "lowest group":
            values["test"] = ("group",)
        elif ranked:
            values["test"] = (ranked["place"], ranked["member"])
            if not any(ranked["member"] in group for group in groups):
                raise FormulaError(f"test {text!r} names a member that is not among the published ones")
        else:
            tree = compile_formula(phrases.TESTS.get(text, text), table, column)
            if tree[0] not in ("compare", "and", "or"):
                raise FormulaError(f"test {text!r} compares nothing")
            values["test"] = ("tree", tree)
    return values


def _trend(entry, read, table, column):
    along = read.get("along")
    values = {"direction": read.get("direction", entry["published"]), "order": tuple(read.get("order", ()))}
    if along in phrases.ALONG:
        text, within = phrases.ALONG[along]
        values["scatter"] = (compile_formula(text, table, column), within)
    elif along:
        if along not in TABLES[table].keys:
            raise FormulaError(f"along {along!r}, which is neither a key of {table} nor a known wording")
        _members(table, along, values["order"])
        values["along"] = along
    if (along or values["order"]) and values["direction"] not in ("increasing", "decreasing"):
        raise FormulaError(f"direction {values['direction']!r} is neither increasing nor decreasing")
    return values
