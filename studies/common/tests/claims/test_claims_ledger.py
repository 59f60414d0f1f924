"""Test reading the ledger: what it must contain, which entries are refused, and whether the message names them."""

import copy
import hashlib
import json
import re
from pathlib import Path

import jsonschema
import pytest
import yaml
from ledgers import LEDGER

from misspenalty.errors import InputError
from misspenalty_studies.common.claims.ledger import SCHEMA, read_ledger
from misspenalty_studies.common.study import studies

ROOT = Path(__file__).parents[4]
LEDGERS = [study.folder / "ledger.yaml" for study in studies().values() if study.judged]
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
ENTRIES = [entry for path in LEDGERS for entry in yaml.load(path.read_bytes(), LOADER)]

GOOD = {
    "id": "mq.one", "source": "Table 4", "statement": "A statement.", "kind": "ratio",
    "published": 2.0, "status": "stated", "role": "claim",
}  # fmt: skip


def load(tmp_path, *entries):
    path = tmp_path / "mq" / "ledger.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(yaml.safe_dump(list(entries), sort_keys=False))
    return read_ledger(path)


def changed(**keys):
    return {key: value for key, value in (GOOD | keys).items() if value is not None}


def test_the_schema_is_valid_and_closed():
    schema = yaml.safe_load(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["items"]["additionalProperties"] is False
    for file in LEDGERS:
        jsonschema.Draft202012Validator(schema).validate(yaml.load(file.read_bytes(), LOADER))


def test_the_ledger_is_whole():
    assert len({claim.id for claim in LEDGER}) == len(LEDGER) > 500
    papers = [claim for claim in LEDGER if claim.study in ("mq", "sarc", "hac", "epcm", "vlog")]
    assert sum(claim.tie for claim in papers) == 5
    assert sum(claim.tolerance is not None for claim in papers) == 11
    assert [claim.id for claim in LEDGER if claim.complement] == ["hac.proj.server_hit.t1"]
    for claim in LEDGER:
        assert claim.id.startswith(f"{claim.study}.")
        assert ".txt" not in claim.source


def test_only_what_papers_say_is_a_claim_and_what_is_derived_names_claims():
    roles = {claim.id: claim.role for claim in LEDGER}
    assert set(roles.values()) >= {"claim", "derived"}
    for claim in LEDGER:
        if claim.role == "claim":
            assert claim.status in ("stated", "digitised") or claim.quote, claim.id
        if claim.role == "derived":
            assert claim.follows and {roles[id] for id in claim.follows} == {"claim"}, claim.id
            assert claim.group == claim.follows[0] != claim.id
        else:
            assert claim.group == claim.id
        if claim.role == "agreement":
            assert claim.status in ("computed", "stated"), claim.id
        if claim.role in ("forecast", "observation"):
            assert claim.status == "own" and claim.stated_on and claim.stated_in, claim.id
        if claim.role == "given":
            assert claim.note or ".setup." in claim.id or claim.changed or claim.status == "stated", claim.id


def test_an_id_that_was_withdrawn_is_listed_and_not_used_again():
    text = (ROOT / "studies" / "README.md").read_text()
    withdrawn = set(re.findall(r"^\| `([a-z0-9_.]+)` \|", text.partition("### Withdrawn")[2], re.MULTILINE))
    assert len(withdrawn) == 17 and not withdrawn & {claim.id for claim in LEDGER}


# Digests of the published side of each study's entries. To change an entry, state the reason in the entry's key
# `changed`, and put the new digest here.
FACTS = {
    "classics": "dd139508bbcc78e3",
    "delayed_hits": "b185f77804c88c56",
    "dispute": "bbcab534dd878594",
    "epcm": "1762c91771b5ca20",
    "hac": "6e82e15030eb0065",
    "kvcache": "a889f809f0761323",
    "mq": "374b37f0c279278b",
    "sarc": "873786106eb43281",
    "vlog": "2df7c7c892a51e2a",
}


@pytest.mark.parametrize("study", sorted(FACTS))
def test_published_values_units_and_tolerances_do_not_change_unnoticed(study):
    assert facts(study) == FACTS[study]


def facts(study):
    """Return a digest of the published side of a study's entries."""
    keys = ("id", "kind", "published", "unit", "tolerance", "tie")
    rows = [[entry.get(key) for key in keys] for entry in ENTRIES if entry["id"].startswith(f"{study}.")]
    return hashlib.sha256(json.dumps(sorted(rows, key=lambda row: row[0])).encode()).hexdigest()[:16]


def test_a_good_entry_loads(tmp_path):
    (claim,) = load(tmp_path, GOOD)
    assert (claim.id, claim.published, claim.tolerance, claim.note) == ("mq.one", 2.0, None, "")


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (changed(colour="red"), r"entry mq\.one: unknown key 'colour'"),
        (changed(read={"column": "us"}), r"entry mq\.one: unknown key 'read'"),
        (changed(needs="mq_table4"), r"entry mq\.one: unknown key 'needs'"),
        (changed(kind="guess"), r"entry mq\.one, kind: 'guess'; expected"),
        (changed(statement=None), r"entry mq\.one: the key statement is missing"),
        (changed(published="two"), r"entry mq\.one, published: 'two'; expected a number"),
        (changed(tolerance={"relative": 0.1, "absolute": 1}), r"entry mq\.one, tolerance"),
        (changed(tolerance={"relative": -0.1}), r"entry mq\.one, tolerance\.relative"),
        (changed(kind="bound", published={"op": "~", "limit": 1}), r"entry mq\.one, published\.op"),
        (changed(kind="bound", published={"op": "in", "limit": 1}), r"entry mq\.one, published\.limit"),
        (changed(id="mq one"), r"entry mq one, id"),
        (changed(id="arc.one"), r"line 1: the id arc\.one does not belong to the study mq"),
        (changed(role="result"), r"entry mq\.one, role: 'result'; expected"),
        (changed(status="computed"), r"entry mq\.one, status: 'computed'; expected"),
        (changed(status="implied"), r"entry mq\.one: the key quote is missing"),
        (changed(role="derived"), r"entry mq\.one: the key follows is missing"),
        (changed(follows=["mq.two"]), r"entry mq\.one: False schema does not allow \['mq\.two'\]"),
        (changed(role="forecast"), r"entry mq\.one, role"),
        (changed(status="own", role="forecast", stated_on="2026-11-23"), r"the key stated_in is missing"),
        (
            changed(role="derived", follows=["mq.two"]),
            r"line 1: entry mq\.one follows from mq\.two, which is not in the ledger",
        ),
        (changed(role="derived", follows=["mq.one"]), r"follows from mq\.one, which is an entry with the role derived"),
    ],
)
def test_a_malformed_entry_is_named(tmp_path, entry, message):
    with pytest.raises(InputError, match=message) as caught:
        load(tmp_path, entry)
    assert "mq/ledger.yaml" in str(caught.value)


def test_an_id_is_used_once_and_the_line_is_named(tmp_path):
    with pytest.raises(InputError, match=r"ledger\.yaml, line 8: claim mq\.one is listed twice"):
        load(tmp_path, GOOD, copy.deepcopy(GOOD))


def test_a_file_that_is_missing_or_not_yaml_is_named(tmp_path):
    with pytest.raises(InputError, match=r"nowhere\.yaml: no such file"):
        read_ledger(tmp_path / "nowhere.yaml")
    broken = tmp_path / "ledger.yaml"
    broken.write_text("- id: [1\n- 2")
    with pytest.raises(InputError, match=r"ledger\.yaml, line \d: not YAML"):
        read_ledger(broken)
    broken.write_text("id: mq.one\n")
    with pytest.raises(InputError, match=r"ledger\.yaml: is not a list; expected one entry per statement"):
        read_ledger(broken)
    with pytest.raises(InputError, match=r"entry number 2: 'mq\.two'; expected a mapping"):
        load(tmp_path, GOOD, "mq.two")
