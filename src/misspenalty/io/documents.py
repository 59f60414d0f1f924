"""Read YAML documents, and check them against their schemas."""

import re
import sys
from pathlib import Path
from typing import NamedTuple

import yaml

from misspenalty.errors import InputError, did_you_mean

MOST_NODES = 1_000_000  # maximum number of values in a document after its aliases (*name) are expanded
# keywords of a schema that bound a number, and what they mean
BOUNDS = {"minimum": "at least", "exclusiveMinimum": "more than", "maximum": "at most", "exclusiveMaximum": "below"}
MAX_NESTING = 10_000  # limit on brackets and line length below which the C loader's stack cannot overflow


class _Unique:
    """Refuse a mapping with two equal keys; PyYAML would silently take the last."""

    def flatten_mapping(self, node):
        keys = set()
        for key, _ in node.value:
            if (key.tag, str(key.value)) in keys:
                raise yaml.constructor.ConstructorError(None, None, f"{key.value!r} is given twice", key.start_mark)
            keys.add((key.tag, str(key.value)))
        super().flatten_mapping(node)
        # Drop merged keys that the mapping overrides: this node may be flattened again where it is merged into another.
        node.value = list({(key.tag, str(key.value)): (key, value) for key, value in node.value}.values())


class _SlowLoader(_Unique, yaml.SafeLoader):
    pass


class _Loader(_Unique, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # the C loader is ten times as fast
    pass


def read_yaml(path, expected=None, remedy=None):
    """Read the contents of a YAML file.

    Raises
    ------
    InputError
        The file is missing or cannot be opened or decoded (the message then gives `expected` and `remedy` as hints); or
        it is not YAML, gives a key twice, is nested too deeply, has aliases that expand to too many values, or has a
        value that cannot be read.
    """
    path = Path(path)
    if not (path.is_file() or path.is_fifo()):
        raise InputError("no such file", path=path, expected=expected, remedy=remedy)
    try:
        text = path.read_text(encoding="utf-8")
        loader = _Loader if _shallow(text) else _SlowLoader
        if "*" in text and _written_out(text, loader) > MOST_NODES:
            raise InputError(
                f"its aliases expand to more than {MOST_NODES} values", path=path, remedy="write the values out"
            )
        return yaml.load(text, loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or error
        raise InputError(f"not YAML: {problem}", path=path, line=mark.line + 1 if mark else None) from error
    except RecursionError as error:
        raise InputError("cannot be read: nested too deeply", path=path) from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read ({error})", path=path, expected=expected, remedy=remedy) from error
    except ValueError as error:  # raised for a number with thousands of digits, or for the 45th of a month
        raise InputError(f"has a value that cannot be read ({error})", path=path) from error


def _shallow(text):
    return text.count("[") + text.count("{") < MAX_NESTING and max(map(len, text.splitlines()), default=0) < MAX_NESTING


def _written_out(text, loader):
    """Count the values in a document after expanding its aliases."""
    sizes = {}  # number of values in each anchor's node
    open_nodes = [["", 0]]  # anchor and size of each open collection, the document first
    for event in yaml.parse(text, loader):
        if isinstance(event, yaml.AliasEvent):
            open_nodes[-1][1] += sizes.get(event.anchor, 1)
        elif isinstance(event, yaml.ScalarEvent):
            open_nodes[-1][1] += 1
        elif isinstance(event, yaml.CollectionStartEvent):
            open_nodes.append([event.anchor, 1])
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, size = open_nodes.pop()
            sizes[anchor] = size
            open_nodes[-1][1] += size
    return open_nodes[0][1]


class Violation(NamedTuple):
    """A place in a document that violates a schema.

    Attributes
    ----------
    place : list of str or int
        Keys and positions that lead to the place; empty for the whole document.
    what : str
        What is wrong, and what is allowed.
    """

    place: list
    what: str


def violation(data, schema):
    """Return the most informative violation of a schema as a `Violation`, or None.

    Parameters
    ----------
    data : object
        The contents of a document, which `read_yaml` returned.
    schema : dict
        A JSON Schema of draft 2020-12.

    Examples
    --------
    >>> schema = {"properties": {"heads": {"type": "integer", "minimum": 1}}, "additionalProperties": False}
    >>> violation({"heads": 0}, schema)
    Violation(place=['heads'], what='0; expected a whole number, at least 1')
    >>> violation({"headz": 4}, schema).what, violation({"heads": 4}, schema)
    ("unknown key 'headz', did you mean 'heads'?", None)
    """
    jsonschema = _jsonschema()
    error = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(schema).iter_errors(data))
    return None if error is None else Violation(list(error.absolute_path), _said(error, schema))


def _said(error, schema):
    value, node = error.instance, error.schema
    if error.validator == "additionalProperties" and node["additionalProperties"] is False:
        known, forms = list(node.get("properties", {})), node.get("patternProperties", {})
        others = (name for name in value if name not in known)
        odd = next(name for name in others if not any(re.search(form, str(name)) for form in forms))
        meant = did_you_mean(odd, known) if isinstance(odd, str) else ""
        return f"unknown key {odd!r}" + (meant or (f"; expected one of {', '.join(known)}" if known else ""))
    if error.validator == "required":
        return f"the key {next(name for name in error.validator_value if name not in value)} is missing"
    if error.validator in ("type", "enum", "const", "anyOf", "oneOf", *BOUNDS):
        found = "empty" if value is None else f"{value!r:.60}"
        return f"{found}; expected {allowed(node, schema)}"
    return error.message[:300]


def allowed(node, schema):
    """Say in words what a part of a schema allows.

    Examples
    --------
    >>> allowed({"type": "integer", "minimum": 0}, {})
    'a whole number, at least 0'
    """
    node = resolved(node, schema)
    if "expected" in node:
        return node["expected"]
    if forms := node.get("anyOf") or node.get("oneOf"):
        return " or ".join(dict.fromkeys(allowed(form, schema) for form in forms))
    if "enum" in node:
        *others, last = (str(value) for value in node["enum"])
        return f"{', '.join(others)} or {last}" if others else last
    if "const" in node:
        return str(node["const"])
    kind = node.get("type")
    if kind == "array":
        return _list(node, schema)
    if kind == "object":
        names = node.get("properties")
        return f"a mapping of {', '.join(names)}" if names else _mapping(node, schema)
    words = {"integer": "a whole number", "number": "a number", "boolean": "true or false", "string": "text",
             "object": "a mapping", "array": "a list", "null": "nothing"}  # fmt: skip
    limits = [f"{word} {node[name]}" for name, word in BOUNDS.items() if name in node]
    first = " or ".join(words[one] for one in ([kind] if isinstance(kind, str) else kind or ["string"]))
    return ", ".join([first, " and ".join(limits)] if limits else [first])


def _list(node, schema):
    number = {0: "any number of ", 1: ""}.get(node.get("minItems", 0), f"at least {node.get('minItems')} ")
    values = "different values" if node.get("uniqueItems") else "values"
    items = resolved(node.get("items", {}), schema)
    return f"a list of {number}{values}" + (f", each {allowed(items, schema)}" if items else "")


def _mapping(node, schema):
    values = resolved(node.get("additionalProperties", {}), schema)
    return f"a mapping of names to {allowed(values, schema)}" if values else "a mapping"


def resolved(node, schema):
    """Return a part of a schema after looking up its ``$ref`` among the schema's definitions.

    A part that is true or false, which allows anything or nothing, has no keywords.
    """
    if isinstance(node, bool):
        return {}
    if "$ref" in node:
        return schema["$defs"][node["$ref"].removeprefix("#/$defs/")] | node
    return node


def _jsonschema():
    """Import jsonschema without its URI grammar, which takes seconds to build and which no schema here needs."""
    grammar = "rfc3987_syntax"
    absent = grammar not in sys.modules
    if absent:
        sys.modules[grammar] = None  # jsonschema then behaves as if the grammar were not installed
    try:
        import jsonschema
        import jsonschema.exceptions
    finally:
        if absent:
            del sys.modules[grammar]
    return jsonschema
