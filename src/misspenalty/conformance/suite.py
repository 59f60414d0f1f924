"""Read the vectors of a policy: short traces with the outcome of every reference, and longer ones with digests."""

import hashlib
import json
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from misspenalty.errors import InputError, ParameterError, did_you_mean
from misspenalty.policies.registry import ALIASES


@dataclass(frozen=True)
class Pattern:
    """Annotation of a string type with a regular expression, which pydantic adds to the schema that it makes."""

    expression: str

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], dict]) -> dict:
        """Return the string's schema with the regular expression added."""
        return handler(source) | {"pattern": self.expression}


def _schema(description: str | None = None, **limits: Any) -> dict[str, Any]:
    """Return a field's metadata, which pydantic copies into the schema."""
    return {"description": description} | limits


Digest = Annotated[str, Pattern("^[0-9a-f]{8}$")]
Sha256 = Annotated[str, Pattern("^[0-9a-f]{64}$")]
Hits = Annotated[str, Pattern("^[01]+$")]
Parameters = dict[str, float | int | None]


class Strict:
    """Base class of records that refuse unknown fields."""

    __pydantic_config__: ClassVar = {"extra": "forbid"}


@dataclass(frozen=True, kw_only=True)
class Reading(Strict):
    """One way to read what the paper leaves open; the first of a suite is that of Miss Penalty's own policy."""

    name: str
    says: str = field(metadata=_schema("What the reading decides, and why the paper leaves it open."))
    parameters: Parameters = field(
        default_factory=dict,
        metadata=_schema(
            "Parameters of the definition that give this reading, if parameters do.", json_schema_extra={"default": {}}
        ),
    )


@dataclass(frozen=True, kw_only=True)
class Outcome(Strict):
    """An allowed outcome of a vector; `hits` has one character, `cached` and `ghosts` one digest per reference."""

    readings: list[str] = field(metadata=_schema("Names of the readings that have this outcome.", min_length=1))
    hits: Hits = field(metadata=_schema("1 if the block was in the cache before the reference, else 0."))
    evicted: dict[int, list[int]] | None = field(
        default=None,
        metadata=_schema(
            "Number of a reference, from 0, to the blocks that it evicted, ascending; references that evict"
            " nothing are left out. Null if the reading leaves open which block is evicted."
        ),
    )
    cached: list[Digest] | None = field(
        default=None, metadata=_schema("Digest of the set of cached blocks after each reference.")
    )
    ghosts: list[Digest] | None = field(
        default=None,
        metadata=_schema("The same for the evicted blocks that are remembered; null if the policy remembers none."),
    )


@dataclass(frozen=True, kw_only=True)
class Vector(Strict):
    """A short trace on a small cache, which is empty at first."""

    id: str
    tests: str = field(metadata=_schema("What the vector tests, in one line."))
    decided_by: str = field(
        metadata=_schema("The sentence of the paper that decides the outcome, in our words, and where.")
    )
    catches: str | None = field(default=None, metadata=_schema("The fault that the vector detects, by a short name."))
    capacity: int = field(metadata=_schema("Capacity in blocks.", ge=1))
    parameters: Parameters = field(
        default_factory=dict,
        metadata=_schema("Parameters that differ from the definition's defaults.", json_schema_extra={"default": {}}),
    )
    trace: list[int] = field(metadata=_schema("Block numbers, below 2^53.", min_length=1))
    writes: list[int] = field(
        default_factory=list,
        metadata=_schema("Numbers of the references, from 0, that are writes.", json_schema_extra={"default": []}),
    )
    outcomes: list[Outcome] = field(
        metadata=_schema("All allowed outcomes; the first is that of the first reading.", min_length=1)
    )


@dataclass(frozen=True, kw_only=True)
class LongOutcome(Strict):
    """An allowed outcome of a long trace."""

    readings: list[str] = field(metadata=_schema(min_length=1))
    hits: int = field(metadata=_schema(ge=0))
    sha256: Sha256 | None = field(
        default=None, metadata=_schema("SHA-256 of the outcomes as a string of 0 and 1; null if it depends on chance.")
    )
    interval: tuple[float, float] | None = field(
        default=None,
        metadata=_schema(
            "If the hits depend on chance: from 4 standard deviations below the mean of 30 seeds to 4 above it."
        ),
    )


@dataclass(frozen=True, kw_only=True)
class LongVector(Strict):
    """A longer trace, in a file next to the vectors with one block number per line."""

    id: str
    tests: str
    capacity: int = field(metadata=_schema(ge=1))
    file: str
    references: int
    outcomes: list[LongOutcome] = field(metadata=_schema(min_length=1))


@dataclass(frozen=True, kw_only=True)
class Suite(Strict):
    """All vectors of one policy."""

    format: Literal[1] = field(metadata=_schema("Version of this format."))
    version: int = field(metadata=_schema("Version of the vectors of this policy.", ge=1))
    licence: Literal["CC-BY-4.0"]
    policy: str
    summary: str
    paper: str
    definition: str = field(metadata=_schema("The Python module that defines the policy readably."))
    readings: list[Reading] = field(metadata=_schema(min_length=1))
    vectors: list[Vector]
    long: list[LongVector]


@dataclass(frozen=True)
class Result:
    """A line of a results file: the answer of a library to a vector."""

    id: str
    hits: str
    evicted: dict[int, list[int]] | None = None


def set_digest(blocks: Iterable[int]) -> str:
    """Return the first 8 hexadecimal digits of the SHA-256 of a set's block numbers, ascending, separated by spaces.

    Examples
    --------
    >>> set_digest({10, 9}) == set_digest([9, 10]), set_digest([])
    (True, 'e3b0c442')
    """
    return hashlib.sha256(" ".join(map(str, sorted(blocks))).encode()).hexdigest()[:8]


def hits_digest(hits: str) -> str:
    """Return the SHA-256 of outcomes given as a string of 0 and 1.

    Examples
    --------
    >>> hits_digest("01")[:8]
    '938db8c9'
    """
    return hashlib.sha256(hits.encode()).hexdigest()


def folder() -> Path:
    """Return the folder of the vectors that come with the package."""
    installed = Path(__file__).parent / "vectors"
    return installed if installed.is_dir() else Path(__file__).parents[3] / "data" / "conformance"


def policies() -> list[str]:
    """Return the policies that have vectors.

    Examples
    --------
    >>> "arc" in policies()
    True
    """
    return sorted(path.stem for path in folder().glob("*.json") if not path.name.endswith(".schema.json"))


def load_suite(policy: str) -> Suite:
    """Return the vectors of a policy.

    Parameters
    ----------
    policy : str
        A name in upper or lower case, or another name of the policy, such as ``belady``.

    Raises
    ------
    ParameterError
        The policy has no vectors.
    InputError
        The file of the vectors is damaged.

    Examples
    --------
    >>> suite = load_suite("arc")
    >>> suite.vectors[0].tests, suite.vectors[0].outcomes[0].hits
    ('a cache of one block', '010100010')
    """
    name = str(policy).strip().lower()
    name, known = ALIASES.get(name, name), policies()
    if name not in known:
        raise ParameterError(
            f"no vectors for {policy!r}{did_you_mean(name, known)}; there are some for {', '.join(known)}"
        )
    path = folder() / f"{name}.json"
    try:
        return _suite(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(f"cannot be read: {error}", path=path, remedy="install the package again") from error


def _suite(record: dict[str, Any]) -> Suite:
    """Return the suite that a file's contents describe, without checking it; tests check files against the schema."""
    made: dict[str, list[Any]] = {"readings": [Reading(**each) for each in record["readings"]]}
    for part, make, outcome in (("vectors", Vector, _outcome), ("long", LongVector, LongOutcome)):
        made[part] = [
            make(**each | {"outcomes": [outcome(**one) for one in each["outcomes"]]}) for each in record[part]
        ]
    return Suite(**record | made)


def _outcome(evicted: Mapping[str, list[int]] | None = None, **record: Any) -> Outcome:
    """Return an outcome; the keys of its evictions, which are strings in JSON, become integers."""
    numbered = None if evicted is None else {int(number): blocks for number, blocks in evicted.items()}
    return Outcome(evicted=numbered, **record)


def load_trace(vector: LongVector) -> list[int]:
    """Return the references of a long vector.

    Raises
    ------
    InputError
        The file is missing or damaged, or does not have as many references as the vector states.
    """
    path = folder() / vector.file
    try:
        trace = [int(line) for line in path.read_text(encoding="ascii").split()]
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {error}", path=path, remedy="install the package again") from error
    if len(trace) != vector.references:
        raise InputError(f"has {len(trace)} references", path=path, expected=f"{vector.references}")
    return trace


def read_results(path: str | Path) -> list[Result]:
    """Read the answers of a library: a JSON object ``{"id": …, "hits": …}`` per line; ``evicted`` is optional.

    A line whose object has no ``id`` describes the library, and is ignored here. If the library's outcomes depend on
    chance, an id may occur several times, once per run.

    Raises
    ------
    InputError
        The file cannot be read, or a line of it is not a result; the message then names the line.
    """
    found = []
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"cannot be read: {error}", path=path, expected="results, or a class as in ./mine.py:Mine"
        ) from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            if not isinstance(record, dict):
                raise ValueError(f"a {type(record).__name__} instead of an object")
            if "id" in record:
                found.append(_result(record))
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"not a result: {'nested too deeply' if isinstance(error, RecursionError) else error}",
                path=path,
                line=number,
                expected='a JSON object such as {"id": "lru/01", "hits": "0011"}',
            ) from error
    return found


def _result(record: dict[str, Any]) -> Result:
    unknown = sorted(record.keys() - {"id", "hits", "evicted"})
    if unknown:
        raise ValueError(f"unknown fields: {', '.join(unknown)}")
    result = Result(record["id"], record.get("hits", ""), record.get("evicted"))
    if not isinstance(result.id, str):
        raise ValueError(f"id: {result.id!r} is not a string")
    if not isinstance(result.hits, str) or not re.fullmatch("[01]+", result.hits):
        raise ValueError("hits: expected a string of 0s and 1s, one for each reference")
    if result.evicted is None:
        return result
    try:
        evicted = {
            int(number): sorted(operator.index(block) for block in blocks) for number, blocks in result.evicted.items()
        }
    except (AttributeError, TypeError, ValueError):
        raise ValueError('evicted: expected blocks by the number of the reference, as in {"2": [1]}') from None
    return Result(result.id, result.hits, evicted)
