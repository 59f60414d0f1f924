"""Read the ledgers once for all tests of a process; checking them takes longer than most tests."""

from pathlib import Path

from misspenalty_studies.common.claims.ledger import load_ledger

LEDGER = load_ledger(Path(__file__).parents[1])
