"""Reading the ledger: what is refused, and how the message names it."""

import copy
from pathlib import Path

import jsonschema
import pytest
import yaml

from misspenalty.claims import load_ledger
from misspenalty.errors import InputError

ROOT = Path(__file__).parents[2]
LEDGER = ROOT / "data" / "published" / "claims.yaml"
SCHEMA = LEDGER.with_name("claims.schema.yaml")
ENTRIES = yaml.load(LEDGER.read_bytes(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))

GOOD = {
    "id": "mq.one", "study": "mq", "source": "Table 4", "statement": "A statement.", "kind": "ratio",
    "published": 2.0, "status": "stated", "role": "result",
}  # fmt: skip


def load(tmp_path, *entries):
    path = tmp_path / "claims.yaml"
    path.write_text(yaml.safe_dump(list(entries), sort_keys=False))
    return load_ledger(path, SCHEMA)


def changed(**keys):
    return {key: value for key, value in (GOOD | keys).items() if value is not None}


def test_schemas_are_valid_and_closed():
    for path in (SCHEMA, ROOT / "data" / "calibration.schema.yaml"):
        schema = yaml.safe_load(path.read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["items"]["additionalProperties"] is False
        data = yaml.safe_load(path.with_name(path.name.replace(".schema", "")).read_text())
        jsonschema.Draft202012Validator(schema).validate(data)


def test_the_ledger_is_whole():
    ledger = load_ledger(LEDGER)
    assert len({claim.id for claim in ledger}) == len(ledger) > 500
    papers = [claim for claim in ledger if claim.study in ("mq", "sarc", "hac", "epcm", "vlog")]
    assert sum(claim.role == "setup" for claim in papers) == 18
    assert sum(claim.tie for claim in papers) == 5
    assert sum(claim.tolerance is not None for claim in papers) == 10
    for claim in ledger:
        assert claim.id.startswith(f"{claim.study}.")
        assert ".txt" not in claim.source


def test_a_good_entry_loads(tmp_path):
    (claim,) = load(tmp_path, GOOD)
    assert (claim.id, claim.published, claim.tolerance, claim.note) == ("mq.one", 2.0, None, "")


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (changed(colour="red"), r"entry mq\.one: .*'colour' was unexpected"),
        (changed(read={"column": "us"}), r"entry mq\.one: .*'read' was unexpected"),
        (changed(needs="mq_table4"), r"entry mq\.one: .*'needs' was unexpected"),
        (changed(kind="guess"), r"entry mq\.one, kind: 'guess' is not one of"),
        (changed(statement=None), r"entry mq\.one: 'statement' is a required property"),
        (changed(published="two"), r"entry mq\.one, published: 'two' is not of type 'number'"),
        (changed(tolerance={"relative": 0.1, "absolute": 1}), r"entry mq\.one, tolerance"),
        (changed(tolerance={"relative": -0.1}), r"entry mq\.one, tolerance\.relative"),
        (changed(kind="bound", published={"op": "~", "limit": 1}), r"entry mq\.one, published\.op"),
        (changed(kind="bound", published={"op": "in", "limit": 1}), r"entry mq\.one, published\.limit"),
        (changed(id="mq one"), r"entry mq one, id"),
    ],
)
def test_a_malformed_entry_is_named(tmp_path, entry, message):
    with pytest.raises(InputError, match=message) as caught:
        load(tmp_path, entry)
    assert "claims.yaml" in str(caught.value)


def test_an_id_is_used_once_and_the_line_is_named(tmp_path):
    with pytest.raises(InputError, match=r"claims\.yaml, line 9: claim mq\.one is listed twice"):
        load(tmp_path, GOOD, copy.deepcopy(GOOD))


def test_a_file_that_is_not_there_or_not_yaml_is_named(tmp_path):
    with pytest.raises(InputError, match=r"nowhere\.yaml: no such file"):
        load_ledger(tmp_path / "nowhere.yaml", SCHEMA)
    broken = tmp_path / "claims.yaml"
    broken.write_text("- id: [1\n- 2")
    with pytest.raises(InputError, match=r"claims\.yaml, line \d: not YAML"):
        load_ledger(broken, SCHEMA)
    broken.write_text("id: mq.one\n")
    with pytest.raises(InputError, match=r"entry list: .* is not of type 'array'"):
        load_ledger(broken, SCHEMA)
