"""Read YAML documents, and check them against their schemas."""

import sys
from pathlib import Path

import yaml

from misspenalty.errors import InputError

MOST_NODES = 1_000_000  # maximum number of values in a document after its aliases (*name) are expanded
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


def worst_error(data, schema):
    """Return the most informative violation of a schema, or None.

    Parameters
    ----------
    data : object
        The contents of a document, which `read_yaml` returned.
    schema : dict
        A JSON Schema of draft 2020-12.

    Returns
    -------
    jsonschema.ValidationError or None
    """
    jsonschema = _jsonschema()
    return jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(schema).iter_errors(data))


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
