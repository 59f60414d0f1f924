"""ARTIFACT.md names claims, tables and targets that exist, and states the ledger's values; SECURITY.md names tests."""

import re
from pathlib import Path

from ledgers import LEDGER

from misspenalty_studies.common.claims.report import published_text
from misspenalty_studies.common.reporting import cost

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "ARTIFACT.md").read_text()


def test_claims_are_those_of_the_ledger():
    published = {claim.id: published_text(claim) for claim in LEDGER}
    quoted = dict(re.findall(r"`(\w+(?:\.\w+)+)`: ([^;|\n]*[^;|\s])", TEXT))
    assert set(quoted) == {name for _, claims in cost.looked_at().values() for name in claims}
    assert {name: published.get(name) for name in quoted} == quoted


def test_tables_are_archived():
    tables = re.findall(r"--cores all (results/\w+/\w+\.csv)", TEXT)
    assert tables == [f"results/{study}/{item}.csv" for study, (item, _) in cost.looked_at().items()]
    assert [name for name in tables if not (ROOT / name).is_file()] == []


def test_targets_exist():
    targets = set(re.findall(r"^make ([a-z]+)", TEXT, re.MULTILINE))
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[1].split()
    assert targets == {"smoke", "reproduce", "supplement", "archive", "verify", "test"}
    assert targets <= set(phony)


def test_every_promise_of_security_names_tests_that_exist():
    text = (ROOT / "SECURITY.md").read_text()
    rows = re.findall(r"^\| (.+?) \| (.+) \|$", text, re.MULTILINE)[2:]
    assert len(rows) >= 8
    for promise, tests in rows:
        named = re.findall(r"`((?:tests|studies)/[\w/]+\.py)`", tests)
        assert named and all((ROOT / name).is_file() for name in named), promise
