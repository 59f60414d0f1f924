"""Read the ledgers of published statements and the record of fitted parameters, as checked Python objects."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, NotRequired

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    field_validator,
    with_config,
)
from typing_extensions import TypedDict

from misspenalty.errors import InputError
from misspenalty.io.documents import read_yaml, violation
from misspenalty_studies.common.study import studies
from misspenalty_studies.common.validated import validated

SCHEMA = Path(__file__).with_name("ledger.schema.yaml")


@dataclass(frozen=True)
class Claim:
    """One statement of the ledger; the fields are the keys that ``studies/README.md`` explains."""

    id: str
    study: str
    source: str
    statement: str
    kind: str
    published: object
    status: str
    role: str
    unit: str = ""
    tolerance: dict | None = None
    complement: bool = False
    tie: bool = False
    clear: bool = False
    quote: str = ""
    stated_on: str = ""
    stated_in: str = ""
    follows: tuple = ()
    note: str = ""
    changed: str = ""

    @property
    def group(self):
        """The id of the first claim that a derived entry follows from; the entry's own id if it is not derived."""
        return self.follows[0] if self.follows else self.id

    @property
    def form(self):
        """``number`` if a printed number or range of numbers decides the entry, ``comparison`` otherwise."""
        if self.kind == "bound":
            limit = self.published["limit"]
            between = isinstance(limit, list) and all(isinstance(end, int | float) for end in limit)
            return "number" if between or {"near", "reached"} & set(self.published) else "comparison"
        return "number" if self.kind in ("value", "ratio") else "comparison"


Number = StrictInt | StrictFloat
Text = Annotated[str, Field(min_length=1)]
Cells = dict[str, StrictStr | StrictBool | Number]


@with_config(extra="forbid")
class Target(TypedDict):
    """A cell of a result table, and the published value to which it was fitted."""

    table: str
    where: Annotated[Cells, Field(min_length=1)]
    column: str
    value: Number
    source: Text


@with_config(extra="forbid")
class Driven(TypedDict):
    """A result table that depends on a parameter, in the listed `columns` or, without a list, in all columns."""

    table: str
    columns: NotRequired[Annotated[list[str], Field(min_length=1)]]


@with_config(extra="forbid")
class Follower(TypedDict):
    """A cell that depends on a parameter as directly as the targets, such as a mean of targets."""

    table: str
    where: Cells
    column: str


class Fit(BaseModel):
    """An entry of the calibration: a parameter that no source states, and the published values it was fitted to.

    Such a fit is the only way for a published value to influence a reproduced value. A value that was derived from
    published ones, or chosen with knowledge of them, is listed as a fit, too. The sensitivity table lists the values
    that were tried, or the results with other values.

    Attributes
    ----------
    parameter, study : str
    published : tuple of dict
        The targets of the fit, each a `Target`.
    range : (number, number)
        Smallest and largest values tried.
    unit : str
    sensitivity : str
        The table with the values tried, ``results/<study>/<item>.csv``.
    reason : str
    drives : tuple of dict
        The tables that depend on the parameter, each a `Driven`. An entry of the ledger that reads one of them is
        calibrated, unless it is fitted.
    basis : {'fitted', 'calibrated', 'recollected'}
        Fitted by default; calibrated if no claim reads the targets, which may then come from any table; recollected
        if, in addition, the targets were recalled from memory instead of read in the paper, and were used to choose
        among readings by hand.
    follows : tuple of dict
        Each a `Follower`; an entry of the ledger that reads one is fitted.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    parameter: str = Field(pattern="^[a-z][a-z0-9_]*$")
    study: str
    published: tuple[Target, ...] = Field(min_length=1)
    range: tuple[Number, Number]
    unit: Text
    sensitivity: str = Field(pattern=r"^results/[a-z]+/[a-z0-9_]+\.csv$")
    reason: Text
    drives: tuple[Driven, ...] = Field(min_length=1)
    basis: Literal["fitted", "calibrated", "recollected"] = "fitted"
    follows: tuple[Follower, ...] = ()

    @field_validator("study")
    @classmethod
    def check_study(cls, name):
        """Refuse a name that is not that of a study with claims."""
        if name not in studies() or not studies()[name].judged:
            raise ValueError(f"{name!r} is not a study with claims")
        return name


def load_ledger(root=".", study=None):
    """Read and check the ledgers of all studies, or of one.

    Parameters
    ----------
    root : path-like
        The checkout.
    study : str, optional
        The study, if not all.

    Returns
    -------
    list of Claim
        In the order of the studies and of their files, ``studies/<study>/ledger.yaml``.

    Raises
    ------
    InputError
        See `read_ledger`.
    """
    names = [study] if study else [name for name, one in studies().items() if one.judged]
    return [claim for name in names for claim in read_ledger(Path(root, "studies", name, "ledger.yaml"))]


def read_ledger(path):
    """Read and check the ledger of one study.

    Parameters
    ----------
    path : path-like
        ``ledger.yaml`` in the study's folder.

    Returns
    -------
    list of Claim
        In the order of the file.

    Raises
    ------
    InputError
        The file is missing or is not YAML, an entry does not match the schema, its id does not begin with the study's
        name, an id is used twice, or a derived entry follows from an entry that is not a claim. The message names the
        entry at fault, if there is one, and the entry's line if all entries match the schema.
    """
    path = Path(path)
    study = path.absolute().parent.name
    entries = _entries(path)
    lines = {
        m[1]: n
        for n, text in enumerate(path.read_text().splitlines(), 1)
        if (m := re.match(r"- \{?id: ([^,\s]+)", text))
    }
    claims, seen = [], set()
    for entry in entries:
        place = {"path": path, "line": lines.get(entry["id"])}
        if entry["id"].partition(".")[0] != study:
            raise InputError(
                f"the id {entry['id']} does not belong to the study {study}",
                **place,
                expected=f"ids that begin with {study}.",
            )
        if entry["id"] in seen:
            raise InputError(f"claim {entry['id']} is listed twice", **place, remedy="give each entry its own id")
        seen.add(entry["id"])
        claims.append(Claim(**entry | {"study": study, "follows": tuple(entry.get("follows", ()))}))
    roles = {claim.id: claim.role for claim in claims}
    for claim in claims:
        for id in claim.follows:
            if roles.get(id) != "claim":
                found = f"an entry with the role {roles[id]}" if id in roles else "not in the ledger"
                raise InputError(
                    f"entry {claim.id} follows from {id}, which is {found}",
                    path=path,
                    line=lines.get(claim.id),
                    expected="the ids of claims",
                )
    return claims


def load_calibration(path):
    """Read and check ``data/calibration.yaml``; return a list of `Fit`.

    Raises
    ------
    InputError
        The file is missing, is not YAML, or is not a list of fits; the message names the entry at fault, if there is
        one.
    """
    entries = _yaml(path)
    if not isinstance(entries, list):
        raise InputError("is not a list", path=path, expected="one entry per fitted parameter")
    remedy = "misspenalty_studies.common.claims.ledger.Fit has every key"
    names = [one.get("parameter", number) if isinstance(one, dict) else number for number, one in enumerate(entries, 1)]
    return [validated(Fit, one, path, remedy, f"entry {name}") for name, one in zip(names, entries, strict=True)]


def _yaml(path):
    return read_yaml(path, remedy="studies/README.md explains what belongs where")


def _entries(path):
    """Read the list of a ledger's entries and check it against the schema; errors identify an entry by its id."""
    entries = _yaml(path)
    problem = violation(entries, _yaml(SCHEMA))
    if problem is not None:
        place, *steps = problem.place or (None,)
        if place is None:
            raise InputError("is not a list", path=path, expected="one entry per statement")
        label = (isinstance(entries[place], dict) and entries[place].get("id")) or f"number {place + 1}"
        where = ", ".join(filter(None, [f"entry {label}", ".".join(map(str, steps))]))
        remedy = f"the allowed keys are in {SCHEMA.name}"
        raise InputError(f"{where}: {problem.what}", path=path, remedy=remedy)
    return entries
