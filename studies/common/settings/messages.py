"""Explain errors in a configuration: name the file, key, value and allowed values; suggest the key that was meant."""

import difflib
import math
from contextlib import contextmanager

import numpy as np

from misspenalty.errors import MissPenaltyError, ParameterError
from misspenalty.io.documents import read_yaml
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


def nearest(name, names):
    """Return ``; did you mean NAME?``, or nothing if no name is similar.

    Examples
    --------
    >>> nearest("cahce_mb", ["cache_mb", "table2_mb"])
    '; did you mean cache_mb?'
    """
    close = difflib.get_close_matches(str(name), [str(one) for one in names], 1)
    return f"; did you mean {close[0]}?" if close else ""


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
        return place, "unknown key" + (nearest(place[-1], names) or f"; expected one of {', '.join(names)}")
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
        node = _resolved(node, schema)
        if isinstance(step, int):
            node = node.get("items", {})
        else:
            node = node.get("properties", {}).get(step) or node.get("additionalProperties") or {}
    return _resolved(node, schema)


def _resolved(node, schema):
    if "$ref" in node:
        return schema["$defs"][node["$ref"].removeprefix("#/$defs/")] | node
    return node


def allowed(node, schema):
    """Say in words what a part of a schema allows.

    Examples
    --------
    >>> allowed({"type": "integer", "minimum": 0}, {})
    'a whole number, at least 0'
    """
    node = _resolved(node, schema)
    if "expected" in node:
        return node["expected"]
    if "enum" in node:
        *others, last = (str(value) for value in node["enum"])
        return f"{', '.join(others)} or {last}" if others else last
    if "const" in node:
        return str(node["const"])
    kind = node.get("type")
    if kind == "array":
        number = {0: "any number of ", 1: ""}.get(node.get("minItems", 0), f"at least {node.get('minItems')} ")
        values = "different values" if node.get("uniqueItems") else "values"
        return f"a list of {number}{values}, each {allowed(node['items'], schema)}"
    if kind == "object":
        names = node.get("properties")
        return f"a mapping of {', '.join(names)}" if names else _mapping(node, schema)
    words = {"integer": "a whole number", "number": "a number", "boolean": "true or false", "string": "text"}
    bounds = {"minimum": "at least", "exclusiveMinimum": "more than", "maximum": "at most", "exclusiveMaximum": "below"}
    limits = [f"{word} {node[name]}" for name, word in bounds.items() if name in node]
    first = " or ".join(words[one] for one in ([kind] if isinstance(kind, str) else kind or ["string"]))
    return ", ".join([first, " and ".join(limits)] if limits else [first])


def _mapping(node, schema):
    values = node.get("additionalProperties") or {}
    return f"a mapping of names to {allowed(values, schema)}" if values else "a mapping"


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
