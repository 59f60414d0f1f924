"""The ledger of published statements, judged on the result tables.

`load_ledger` reads ``data/published/claims.yaml``; the ``claims.py`` of a study records what was obtained, with a
`Recorder` that knows nothing published; `judge` compares the two; `summary` and `format_summary` count the verdicts.
`misspenalty.studies.claims` does all of it for all studies, from folder to file.
"""

from misspenalty.claims.forms import VERDICTS, below
from misspenalty.claims.ledger import Claim, Fit, load_calibration, load_ledger
from misspenalty.claims.recorder import Recorder
from misspenalty.claims.remarks import load_reasons, read_logged, with_reasons
from misspenalty.claims.report import COLUMNS, format_summary, judge, summary
from misspenalty.claims.tables import Table, cross

__all__ = [
    "COLUMNS",
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
    "load_reasons",
    "read_logged",
    "summary",
    "with_reasons",
]
