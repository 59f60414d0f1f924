"""Read the vectors of a policy: short traces with the outcome of every reference, and longer ones with digests."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from misspenalty.errors import InputError, ParameterError, did_you_mean

Digest = Annotated[str, Field(pattern="^[0-9a-f]{8}$")]
Hits = Annotated[str, Field(pattern="^[01]+$")]


class Strict(BaseModel):
    """Base class of records that refuse unknown fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Reading(Strict):
    """One way to read what the paper leaves open; the first one of a suite is followed by Miss Penalty's own policy."""

    name: str
    says: str = Field(description="What it decides, and why it is open.")
    parameters: dict[str, float | int | None] = Field(
        default={}, description="Parameters of the definition that give this reading, if parameters do."
    )


class Outcome(Strict):
    """An allowed outcome of a vector. A character or digest per reference, in order."""

    readings: list[str] = Field(description="Names of the readings that have this outcome.", min_length=1)
    hits: Hits = Field(description="1 if the block was in the cache before the reference, else 0.")
    evicted: dict[int, list[int]] | None = Field(
        default=None,
        description="Number of a reference, from 0, to the blocks that it evicted, ascending; references that evict"
        " nothing are left out. Null if the reading leaves open which block it is.",
    )
    cached: list[Digest] | None = Field(default=None, description="Digest of the set of cached blocks after each.")
    ghosts: list[Digest] | None = Field(
        default=None, description="The same for evicted blocks that are remembered; null if the policy has none."
    )


class Vector(Strict):
    """A short trace on a small cache, which is empty at first."""

    id: str
    tests: str = Field(description="What it tests, in one line.")
    decided_by: str = Field(description="The sentence of the paper that decides the outcome, in our words, and where.")
    catches: str | None = Field(default=None, description="The fault that it tells apart, by a short name.")
    capacity: int = Field(ge=1, description="Blocks.")
    parameters: dict[str, float | int | None] = Field(default={}, description="Other than the definition's defaults.")
    trace: list[int] = Field(min_length=1, description="Block numbers, below 2^53.")
    writes: list[int] = Field(default=[], description="Numbers of the references, from 0, that are writes.")
    outcomes: list[Outcome] = Field(min_length=1, description="All allowed ones; the first is the first reading's.")


class LongOutcome(Strict):
    """An allowed outcome of a long trace."""

    readings: list[str] = Field(min_length=1)
    hits: int = Field(ge=0)
    sha256: str | None = Field(
        default=None,
        pattern="^[0-9a-f]{64}$",
        description="SHA-256 of the outcomes as a string of 0 and 1; null if it depends on chance.",
    )
    interval: tuple[float, float] | None = Field(
        default=None, description="Hits, if they depend on chance: 4 standard deviations around the mean of 30 seeds."
    )


class LongVector(Strict):
    """A longer trace, in a file next to the vectors with one block number per line."""

    id: str
    tests: str
    capacity: int = Field(ge=1)
    file: str
    references: int
    outcomes: list[LongOutcome] = Field(min_length=1)


class Suite(Strict):
    """All vectors of one policy."""

    format: Literal[1] = Field(description="Version of this format.")
    version: int = Field(ge=1, description="Version of the vectors of this policy.")
    licence: Literal["CC-BY-4.0"]
    policy: str
    summary: str
    paper: str
    definition: str = Field(description="The Python module that defines the policy readably.")
    readings: list[Reading] = Field(min_length=1)
    vectors: list[Vector]
    long: list[LongVector]


class Result(Strict):
    """A line of a results file: what a library answered to a vector."""

    id: str
    hits: Hits
    evicted: dict[int, list[int]] | None = None


def set_digest(blocks: Iterable[int]) -> str:
    """Return the digest of a set of blocks: 8 digits of the SHA-256 of their numbers, ascending, with spaces between.

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

    Raises
    ------
    ParameterError
        There are none.
    InputError
        The file of the vectors is damaged.

    Examples
    --------
    >>> suite = load_suite("arc")
    >>> suite.vectors[0].tests, suite.vectors[0].outcomes[0].hits
    ('a cache of one block', '010100010')
    """
    name = policy.strip().lower()
    known = policies()
    if name not in known:
        raise ParameterError(
            f"no vectors for {policy!r}{did_you_mean(name, known)}; there are some for {', '.join(known)}"
        )
    path = folder() / f"{name}.json"
    try:
        return Suite.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ValidationError) as error:
        raise InputError(
            f"cannot be read: {first_line(error)}", path=path, remedy="install the package again"
        ) from error


def load_trace(vector: LongVector) -> list[int]:
    """Return the references of a long vector.

    Raises
    ------
    InputError
        The file is missing or has another number of references.
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
    """Return what a library answered: JSON, an object ``{"id": …, "hits": …}`` per line; ``evicted`` is optional.

    A line whose object has no ``id`` describes the library, and is ignored here. An id may occur several times, once
    per run, if the library's outcomes depend on chance.

    Raises
    ------
    InputError
        The file cannot be read; the message names the line.
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
                found.append(Result.model_validate(record))
        except ValueError as error:
            raise InputError(
                f"not a result: {first_line(error)}",
                path=path,
                line=number,
                expected='a JSON object such as {"id": "lru/01", "hits": "0011"}',
            ) from error
    return found


def first_line(error: Exception) -> str:
    """Return what pydantic, or another library, complains about, in one line."""
    if isinstance(error, ValidationError):
        worst = error.errors()[0]
        return f"{'.'.join(map(str, worst['loc'])) or 'value'}: {worst['msg']}"
    return str(error).splitlines()[0]
