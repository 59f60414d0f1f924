"""The ledger of published statements, judged on the result tables.

`load_ledger` reads ``data/published/claims.yaml``; the ``claims.py`` of a study records what was obtained, with a
`Recorder` that knows no published values; `judge` compares the two; `summary` and `format_summary` count the verdicts;
`under_conditions` looks for a measured condition under which a missed claim is reproduced.
`misspenalty.studies.claims` does all of it for all studies, from folder to file.
"""

from misspenalty.claims.conditions import MISSED, under_conditions, with_conditions
from misspenalty.claims.forms import VERDICTS, below
from misspenalty.claims.ledger import Claim, Fit, load_calibration, load_ledger
from misspenalty.claims.recorder import Recorder
from misspenalty.claims.remarks import read_logged
from misspenalty.claims.report import BASES, COLUMNS, format_summary, judge, summary
from misspenalty.claims.tables import Table, cross

__all__ = [
    "BASES",
    "COLUMNS",
    "MISSED",
    "VERDICTS",
    "Claim",
    "Fit",
    "Recorder",
    "Table",
    "below",
    "cross",
    "format_summary",
    "judge",
    "load_calibration",
    "load_ledger",
    "read_logged",
    "summary",
    "under_conditions",
    "with_conditions",
]
