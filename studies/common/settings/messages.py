"""Explain errors in a configuration: name the file, key, value and allowed values; suggest the key that was meant."""

import math
from contextlib import contextmanager

import numpy as np

from misspenalty.errors import MissPenaltyError, ParameterError, did_you_mean
from misspenalty.io.documents import allowed, read_yaml, resolved
from misspenalty_studies.common.settings.documents import json_schema

MAX_LINES = 10  # maximum number of errors that one message lists


class SettingError(ParameterError):
    """A value that does not fit the package, the data, or other settings.

    Parameters
    ----------
    what : str
        What is wrong, what is allowed, and the remedy.
    *key : str
        Path of the key, from the block whose check fails.
    """

    def __init__(self, what, *key):
        self.key = key
        super().__init__(what)


@contextmanager
def at(*key):
    """Add the key of the setting at fault to the library's errors.

    Raises
    ------
    SettingError
        In place of any other error that bad input causes.
    """
    try:
        yield
    except SettingError:
        raise
    except MissPenaltyError as error:
        raise SettingError(str(error), *key) from error


def explain(error, model, data, files=()):
    """Say what is wrong, one line per error, for at most `MAX_LINES` errors.

    Parameters
    ----------
    error : pydantic.ValidationError
    model : type
        The `Settings` that were violated.
    data : dict
        The configuration, as merged from `files`.
    files : sequence of path-like
        In the order in which they were read; later files override earlier ones.

    Returns
    -------
    str
    """
    schema, contents = json_schema(model), [(path, read_yaml(path)) for path in files]
    lines = []
    for one in error.errors():
        place, text = _line(one, schema)
        name = _key(place)
        source = _source(place, data, contents)
        lines.append(": ".join(part for part in (source, name, text) if part))
    more = [f"… and {len(lines) - MAX_LINES} more"] if len(lines) > MAX_LINES else []
    return "\n".join([*dict.fromkeys(lines[:MAX_LINES]), *more])


def _line(error, schema):
    """Return the path of the key at fault, and a text that says what is wrong with it."""
    place, kind = list(error["loc"]), error["type"]
    if kind == "value_error":
        cause = error["ctx"]["error"]
        return place + list(getattr(cause, "key", ())), str(cause)
    if kind in ("extra_forbidden", "invalid_key"):
        names = list(_node(schema, place[:-1]).get("properties", {}))
        return place, "unknown key" + (did_you_mean(str(place[-1]), names) or f"; expected one of {', '.join(names)}")
    if kind == "missing":
        node = _node(schema, place)
        return place, f"missing; expected {allowed(node, schema)} ({node.get('description', 'required').rstrip('.')})"
    if place[-1:] == ["[key]"]:
        names = _node(schema, place[:-2]).get("propertyNames", {})
        return place[:-2], f"{place[-2]!r} is not a valid name; expected {allowed(names, schema)}"
    found = "empty" if kind == "too_short" and not error["input"] else repr(error["input"])
    return place, f"{found}; expected {allowed(_node(schema, place), schema)}{_hint(error['input'], kind)}"


def _hint(value, kind):
    """Return how to write a number that YAML reads as text because it lacks a point or its exponent lacks a sign."""
    if kind == "float_type" and isinstance(value, str):
        try:
            number = float(value)
        except ValueError:
            return ""
        if number and math.isfinite(number):
            return f"; YAML reads it as text; write {np.format_float_scientific(number, trim='0', exp_digits=2)}"
    return ""


def _node(schema, place):
    """Return the part of a schema that describes a key."""
    node = schema
    for step in place:
        node = resolved(node, schema)
        if isinstance(step, int):
            node = node.get("items", {})
        else:
            node = node.get("properties", {}).get(step) or node.get("additionalProperties") or {}
    return resolved(node, schema)


def _key(place):
    text = ""
    for step in place:
        text += f"[{step}]" if isinstance(step, int) else f".{step}"
    return text.lstrip(".")


def _source(place, data, contents):
    """Return the file that sets a key, that is, the last one with the longest part of the key's path; return
    ``--config`` if the command line sets it, and an empty text if no files are given."""
    found, path_of = 0, None
    for path, content in contents:
        depth = len(_followed(content, place))
        if depth and depth >= found:
            found, path_of = depth, path
    if contents and (path_of is None or _overridden(place, data, dict(contents)[path_of])):
        return "--config"
    return str(path_of) if path_of else ""


def _followed(content, place):
    """Return the values along a key's path, as far as the path exists."""
    values = []
    for step in place:
        inside = isinstance(content, list) and isinstance(step, int) and step < len(content)
        if not inside and not (isinstance(content, dict) and step in content):
            break
        content = content[step]
        values.append(content)
    return values


def _overridden(place, data, content):
    """Tell whether neither the value nor any part of it comes from the file."""
    merged, own = _followed(data, place), _followed(content, place)
    if len(merged) != len(own):
        return len(merged) > len(own)
    return bool(merged) and not isinstance(merged[-1], dict) and merged[-1] != own[-1]
