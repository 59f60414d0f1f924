"""A YAML document that is missing, broken or hostile is refused with an error that names the file."""

import subprocess
import sys

import pytest

from misspenalty.errors import InputError
from misspenalty.io.documents import allowed, read_yaml, violation

SCHEMA = {"properties": {"heads": {"type": "integer", "minimum": 1}}}


BOMB = "a0: &a0 [x]\n" + "".join(f"a{i + 1}: &a{i + 1} [{', '.join([f'*a{i}'] * 10)}]\n" for i in range(9))


@pytest.mark.parametrize("text, message", [
    (BOMB, "its aliases expand to more than 1000000 values"),
    (f"heads: {{{BOMB.strip().replace(chr(10), ', ')}}}", "its aliases expand to more than 1000000 values"),
    ("a: [1\nb: 2\n", "line 2: not YAML"),
    ("a: 1\nb: {c: 2, d: 3, c: 2}\n", "line 2: not YAML: 'c' is given twice"),
    ("[" * 1_000_000, "nested too deeply"),
    ("- " * 100_000, "nested too deeply"),
    ("{a: " * 100_000, "nested too deeply"),
    ("[\n{a:\n" * 100_000, "nested too deeply"),
    ("[" * 9_000, "not YAML"),
])  # fmt: skip
def test_broken_and_hostile_files_are_refused(tmp_path, text, message):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        read_yaml(path)
    assert str(path) in str(caught.value)


def test_aliases_are_read(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("a: &a {x: 1}\nb: *a\nc: &c [*a, *a]\nd: [*c, '* no alias']\n")
    assert read_yaml(path)["d"] == [[{"x": 1}, {"x": 1}], "* no alias"]
    path.write_text("a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3, 1: 4, '1': 5}\n")
    assert read_yaml(path)["b"] == {"x": 1, "y": 3, 1: 4, "1": 5}
    path.write_text("a: &a {x: 1}\nb: {c: {d: &d {<<: *a, x: 2}}}\ne: {<<: *d}\n")
    assert read_yaml(path) == {"a": {"x": 1}, "b": {"c": {"d": {"x": 2}}}, "e": {"x": 2}}


def test_missing_files_and_files_that_are_not_text_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"mine\.yaml: no such file"):
        read_yaml(tmp_path / "mine.yaml")
    (tmp_path / "mine.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="cannot be read"):
        read_yaml(tmp_path / "mine.yaml")


def test_the_worst_fault_is_named():
    assert violation({"heads": 0}, SCHEMA).what == "0; expected a whole number, at least 1"
    assert violation({"heads": 4}, SCHEMA) is None


@pytest.mark.parametrize(
    ("data", "schema", "what"),
    [
        ({"x_1": 1, "y": 2}, {"patternProperties": {"^x_": {}}, "additionalProperties": False}, "unknown key 'y'"),
        ({None: 1}, {"properties": {"zones": {}}, "additionalProperties": False},
         "unknown key None; expected one of zones"),
        ("a", {"oneOf": [{"type": "integer"}, {"type": "array", "items": True}]},
         "'a'; expected a whole number or a list of any number of values"),
        (7, {"type": "object", "additionalProperties": True}, "7; expected a mapping"),
        (7, {"type": "array", "prefixItems": [{"type": "integer"}]}, "7; expected a list of any number of values"),
        (7, False, "False schema does not allow 7"),
    ],
)  # fmt: skip
def test_any_schema_is_put_into_words(data, schema, what):
    assert violation(data, schema).what == what


def test_parts_that_allow_anything_are_no_text():
    assert allowed({"type": "array", "items": {}}, {}) == allowed({"type": "array", "items": True}, {})


def test_no_grammar_of_addresses_is_built():
    """Checking a document must not import the grammar of addresses (rfc3987_syntax), which takes seconds to build."""
    program = (
        "import sys; from misspenalty.io.documents import violation; violation({}, {});"
        "print('jsonschema' in sys.modules, 'rfc3987_syntax' in sys.modules, 'lark' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False", "False"]
