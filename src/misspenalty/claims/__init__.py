"""The ledger of published statements, judged on the result tables.

`load_ledger` reads ``data/published/claims.yaml``, `judge` compares it with the tables of ``results/``, `summary` and
`format_summary` count the verdicts, `write_claims` does all of it from folder to file. The rules of a verdict are in
`judge`; the language of the formulas is in `formula`, what its worded forms mean in `phrases`.
"""

from misspenalty.claims.ledger import Claim, Fit, load_calibration, load_ledger
from misspenalty.claims.markers import update_between_markers
from misspenalty.claims.remarks import load_reasons, read_logged
from misspenalty.claims.report import COLUMNS, format_summary, judge, read_tables, summary, write_claims
from misspenalty.claims.verdicts import VERDICTS

__all__ = [
    "COLUMNS",
    "VERDICTS",
    "Claim",
    "Fit",
    "format_summary",
    "judge",
    "load_calibration",
    "load_ledger",
    "load_reasons",
    "read_logged",
    "read_tables",
    "summary",
    "update_between_markers",
    "write_claims",
]
