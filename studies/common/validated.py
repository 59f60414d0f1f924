"""Check the content of a file against a model; errors name the file, the place and a remedy."""

import re

from pydantic import ValidationError

from misspenalty.errors import InputError
from misspenalty.io.documents import read_yaml


def validated(model, data, path, remedy, *place):
    """Check data from a file against a model and return the model's instance.

    Parameters
    ----------
    model : type
        A Pydantic model.
    data : dict
    path : path-like
        The file, for the message.
    remedy : str
        What to do about an error, for the message.
    *place : str or int
        Place of the data in the file, for the message.

    Raises
    ------
    InputError
        The data do not match the model; the message names an unknown key, if there is one, and otherwise the first
        fault.

    Examples
    --------
    >>> from pydantic import BaseModel
    >>> class Point(BaseModel):
    ...     x: int
    >>> validated(Point, {}, "points.yaml", "give every point its x", "entry", 2)
    Traceback (most recent call last):
    misspenalty.errors.InputError: points.yaml: entry.2.x: Field required; give every point its x
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = min(error.errors(), key=lambda one: one["type"] != "extra_forbidden")  # unknown keys (typos) come first
        where = ".".join(map(str, (*place, *first["loc"]))) or "the document"
        what = first["msg"].removeprefix("Value error, ")
        named = first["type"] == "value_error" and re.match(r"\w+: ", what)  # the message names the part already
        raise InputError(where + ("." if named else ": ") + what, path=path, remedy=remedy) from error


def read_entries(model, path, remedy, **given):
    """Read a YAML file that is a list, and check each entry against a model.

    Parameters
    ----------
    model : type
        A Pydantic model.
    path : path-like
    remedy : str
        What to do about an error, for the message.
    **given
        Fields that every entry has, but which the file may not name.

    Returns
    -------
    list of model

    Raises
    ------
    InputError
        The file is missing, is not YAML or is not a list, or an entry does not match the model or names a field that is
        given.
    """
    entries = read_yaml(path, remedy=remedy)
    if not isinstance(entries, list):
        raise InputError("contains no list of entries", path=path, remedy=remedy)
    for number, entry in enumerate(entries, 1):
        if isinstance(entry, dict) and (named := given.keys() & entry.keys()):
            what = f"entry.{number}.{min(named)}: follows from the path of the file"
            raise InputError(what, path=path, remedy="leave the key out")
    return [
        validated(model, given | entry if isinstance(entry, dict) else entry, path, remedy, "entry", number)
        for number, entry in enumerate(entries, 1)
    ]
