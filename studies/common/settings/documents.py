"""Make the text of files from the models of settings: the commented default file, the JSON Schema, tables of keys."""

import textwrap
from functools import lru_cache
from typing import get_args

import yaml

from misspenalty_studies.common.settings.types import NAMES, OWN, Settings

WIDTH = 120
BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}


@lru_cache
def json_schema(model):
    """Return the JSON Schema of a model, draft 2020-12.

    Parameters
    ----------
    model : type
        A subclass of `Settings`.

    Returns
    -------
    dict
    """
    made = _tidied(model.model_json_schema(by_alias=True))
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | made


def _tidied(node):
    """Remove generated titles and null alternatives from a schema, rename Pydantic's bounds as in JSON Schema, and turn
    ``patternProperties`` into ``propertyNames``."""
    if isinstance(node, list):
        return [_tidied(value) for value in node]
    if not isinstance(node, dict):
        return node
    if "properties" in node:
        node = node | {"properties": {name: _tidied(value) for name, value in node["properties"].items()}}
    node = {key: value if key in ("properties", "default", "notes") else _tidied(value) for key, value in node.items()}
    node = {BOUNDS.get(key, key): value for key, value in node.items() if key != "title" or not isinstance(value, str)}
    if {"type": "null"} in node.get("anyOf", ()):
        (own,) = (option for option in node.pop("anyOf") if option != {"type": "null"})
        node = own | {key: value for key, value in node.items() if key != "default"}
    if "patternProperties" in node:
        ((pattern, values),) = node.pop("patternProperties").items()
        names = {"type": "string", "pattern": pattern, "expected": NAMES[pattern]}
        node |= {"propertyNames": names, "additionalProperties": values}
    return node


def schema_text(model, head):
    """Return the schema as YAML for editors; its descriptions include the reasons for the defaults.

    Parameters
    ----------
    model : type
    head : str
        First lines, which are comments.
    """
    return head + yaml.safe_dump(
        _for_editors(json_schema(model)), sort_keys=False, width=WIDTH, default_flow_style=None
    )


def _for_editors(node):
    if isinstance(node, list):
        return [_for_editors(value) for value in node]
    if not isinstance(node, dict):
        return node
    if isinstance(node.get("description"), str):
        node = node | {"description": " ".join(part for part in (node["description"], node.get("why")) if part)}
    return {
        key: value if key == "default" else _for_editors(value)
        for key, value in node.items()
        if key not in OWN or (isinstance(value, dict) and key != "notes")
    }


def default_text(model, head):
    """Return the text of the commented default file.

    Parameters
    ----------
    model : type
        A subclass of `Settings` whose keys all have defaults.
    head : str
        First lines, which are comments.

    Returns
    -------
    str
        YAML that contains the defaults.
    """
    lines = head.splitlines()
    data = model().plain()
    for key, field in model.model_fields.items():
        if key not in data:  # a key whose default is None is left out
            continue
        inside = block_of(field)
        lines += ["", *_comment(_told(field), 0)]
        if inside is None or _extra(field).get("block"):
            lines += _entry(key, data[key], field, 0)
            continue
        lines.append(f"{key}:")
        for name, one in _named(inside):
            if name in data[key]:
                lines += [*_comment(_told(one), 2), *_entry(name, data[key][name], one, 2), ""]
        lines.pop()
    return "\n".join(lines) + "\n"


def _entry(key, value, field, indent):
    """Return the lines of a key with its value: one line, or a block with a comment on each entry."""
    start = " " * indent
    if not _extra(field).get("block"):
        return [f"{start}{_flow(key)}: {_flow(value)}"]
    inside, lines = block_of(field), [f"{start}{_flow(key)}:"]
    if inside is not None:
        for name, one in _named(inside):
            if name in value:
                lines += _remarked(_entry(name, value[name], one, indent + 2), _told(one), indent + 2)
        return lines
    notes = _extra(field).get("notes", {})
    entries = value.items() if isinstance(value, dict) else ((item, None) for item in value)
    for name, item in entries:
        text = f"{start}  {_flow(name)}: {_flow(item)}" if isinstance(value, dict) else f"{start}  - {_flow(name)}"
        lines += _remarked([text], notes.get(name), indent + 2)
    return lines


def _remarked(lines, note, indent):
    """Add a comment to lines: at the end of the first line if it fits there, otherwise on lines above it."""
    if not note:
        return lines
    joined = f"{lines[0]}  # {note}"
    return [joined, *lines[1:]] if len(joined) <= WIDTH else [*_comment(note, indent), *lines]


def _comment(text, indent):
    start = " " * indent + "# "
    return textwrap.wrap(text, WIDTH, initial_indent=start, subsequent_indent=start, break_long_words=False)


def _flow(value):
    """Return a value as YAML on one line, in the style of hand-written files."""
    if isinstance(value, dict):
        inside = ", ".join(f"{_flow(key)}: {_flow(item)}" for key, item in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    return yaml.safe_dump([value], default_flow_style=True, width=10**6, allow_unicode=True).strip()[1:-1]


def _told(field):
    return " ".join(part for part in (field.description, _extra(field).get("why")) if part)


def _extra(field):
    return field.json_schema_extra or {}


def _named(model):
    """Return the pairs (key, field) of a model, with the keys as spelt in YAML."""
    return [(field.alias or name, field) for name, field in model.model_fields.items()]


def block_of(field):
    """Return the model of a key that is a block of keys, else None."""
    for kind in (field.annotation, *get_args(field.annotation)):
        if isinstance(kind, type) and issubclass(kind, Settings) and not hasattr(field.annotation, "__origin__"):
            return kind
    return None


def table_text(model, prefix, allowed, nested=True):
    """Return a table of keys as Markdown.

    Parameters
    ----------
    model : type
    prefix : str
        Prefix of each key, such as ``mq.``.
    allowed : callable
        ``(node, schema)`` -> the values that a part of the schema allows, see
        `misspenalty_studies.common.settings.messages.allowed`.
    nested : bool
        Whether blocks are shown, each followed by its keys; otherwise they are left out.

    Returns
    -------
    str
        One row per key: its name, its meaning and its allowed values.
    """
    rows = ["| key | meaning | allowed |", "|---|---|---|"]
    rows += [f"| `{key}` | {what} | {values} |" for key, what, values in _rows(model, prefix, allowed, nested)]
    return "\n".join(rows) + "\n"


def _rows(model, prefix, allowed, nested=True):
    schema = json_schema(model)
    for name, field in _named(model):
        inside = block_of(field)
        if inside is None or inside.one_row:
            yield prefix + name, _told(field), allowed(schema["properties"][name], schema)
        elif nested:
            yield prefix + name, _told(field), "the keys below"
            yield from _rows(inside, f"{prefix}{name}.", allowed)
