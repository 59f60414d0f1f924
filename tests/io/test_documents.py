"""A YAML document that is missing, broken or hostile gives an error that names the file."""

import subprocess
import sys

import pytest

from misspenalty.errors import InputError
from misspenalty.io.documents import read_checked, read_yaml

SCHEMA = "type: object\nadditionalProperties: false\nproperties:\n  heads: {type: integer, minimum: 1}\n"


BOMB = "a0: &a0 [x]\n" + "".join(f"a{i + 1}: &a{i + 1} [{', '.join([f'*a{i}'] * 10)}]\n" for i in range(9))


@pytest.mark.parametrize("text, message", [
    (BOMB, "its aliases expand to more than 1000000 values"),
    (f"heads: {{{BOMB.strip().replace(chr(10), ', ')}}}", "its aliases expand to more than 1000000 values"),
    ("a: [1\nb: 2\n", "line 2: not YAML"),
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


def test_missing_files_and_files_that_are_not_text_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"mine\.yaml: no such file"):
        read_yaml(tmp_path / "mine.yaml")
    (tmp_path / "mine.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="cannot be read"):
        read_yaml(tmp_path / "mine.yaml")


def test_the_schema_beside_a_file_is_its_own(tmp_path):
    (tmp_path / "mine.schema.yaml").write_text(SCHEMA)
    path = tmp_path / "mine.yaml"
    path.write_text("heads: 0\n")
    with pytest.raises(InputError, match=r"heads: 0 is less than the minimum of 1; see mine\.schema\.yaml"):
        read_checked(path)
    path.write_text("heads: 4\n")
    assert read_checked(path) == {"heads": 4}


def test_no_grammar_of_addresses_is_built(tmp_path):
    """Building the grammar would take seconds at every start of a job or a command."""
    (tmp_path / "mine.schema.yaml").write_text(SCHEMA)
    (tmp_path / "mine.yaml").write_text("heads: 4\n")
    program = (
        "import sys; from misspenalty.io.documents import read_checked; read_checked(sys.argv[1]);"
        "print('jsonschema' in sys.modules, 'rfc3987_syntax' in sys.modules, 'lark' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "mine.yaml")], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "False", "False"]
