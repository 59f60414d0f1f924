"""Define the base class of settings, and the types of their values."""

from typing import Annotated, ClassVar, TypeVar

from pydantic import AfterValidator, AllowInfNan, BaseModel, ConfigDict, Field, WrapValidator
from pydantic.fields import PydanticUndefined

T = TypeVar("T")
OWN = ("why", "notes", "block", "expected")  # attributes of a key beyond JSON Schema


class Settings(BaseModel):
    """A block of a configuration: unknown keys and values of another type are errors, and defaults are checked too."""

    model_config = ConfigDict(extra="forbid", strict=True, validate_default=True)
    one_row: ClassVar[bool] = False  # whether tables of keys show the block as one key

    def plain(self):
        """Return the block as plain dictionaries, lists and numbers, with defaults filled in and keys as spelt in
        YAML."""
        return self.model_dump(by_alias=True, exclude_none=True)


def setting(default=PydanticUndefined, what="", why=None, *, notes=None, block=False, **constraints):
    """Declare a key of a block.

    Parameters
    ----------
    default : object, optional
        Value in the default configuration, as read from YAML. None leaves the key out of that configuration; without a
        default, the key is required.
    what : str
        Meaning of the key, with its unit.
    why : str, optional
        Reason for the default: the paper's words, a source, an argument.
    notes : dict of str to str, optional
        Comments on entries of a mapping or a list, by entry.
    block : bool
        Whether the default file shows the value on separate lines, one per entry.
    **constraints
        Constraints of `pydantic.Field`: ``ge``, ``gt``, ``le``, ``lt``, ``min_length``, ``alias``.
    """
    extra = {"why": why, "notes": notes, "block": block}
    extra = {name: value for name, value in extra.items() if value}
    if extra:  # empty notes would override the notes of the type
        constraints["json_schema_extra"] = extra
    return Field(default, description=what, **constraints)


def _as_written(value, handler):
    handler(value)
    return value


def _distinct(values):
    repeated = [value for i, value in enumerate(values) if value in values[:i]]
    if repeated:
        raise ValueError(f"{repeated[0]!r} is listed twice; list each value once")
    return values


def _without_braces(path):
    if "{" in path or "}" in path:
        raise ValueError(
            f"{path!r} has braces, which the workflow would treat as a wildcard; rename the file or its folder"
        )
    return path


def _named(pattern):
    return Annotated[str, Field(pattern=pattern, json_schema_extra={"expected": NAMES[pattern]})]


NAMES = {  # pattern of a name -> description
    "^[a-z0-9][a-z0-9-]*$": "a name of lower-case letters, digits and hyphens",
    "^[a-z0-9][a-z0-9_]*$": "a name of lower-case letters, digits and underscores",
    "^[a-z][a-z0-9_]*$": "a name of lower-case letters, digits and underscores that starts with a letter",
}

Number = Annotated[
    float, AllowInfNan(False), WrapValidator(_as_written)
]  # whole numbers stay integers, because they become part of file names
Positive = Annotated[Number, Field(gt=0)]
Share = Annotated[Number, Field(ge=0, le=1)]
InnerShare = Annotated[Number, Field(gt=0, lt=1)]
Seed = Annotated[int, Field(ge=0, le=2**32 - 1)]
Count = Annotated[int, Field(ge=1, le=10_000_000)]
Unique = Annotated[list[T], Field(json_schema_extra={"uniqueItems": True}), AfterValidator(_distinct)]
Distinct = Annotated[Unique[T], Field(min_length=1)]
Name, Identifier, Label = map(_named, NAMES)
Path = Annotated[str, Field(min_length=1, json_schema_extra={"expected": "a path"}), AfterValidator(_without_braces)]
