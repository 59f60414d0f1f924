"""Judge the published statements of the ledgers against the result tables.

`load_ledger` reads ``studies/*/ledger.yaml``. The ``claims.py`` of a study records the obtained numbers in a
`Recorder`, which has no published values. `judge` compares the two. `summary` and `headline` count the verdicts on
the claims of papers; `agreement` lists the comparisons with programs, and `forecasts` the forecasts of this project;
`under_conditions` judges the claims under other measured conditions. `misspenalty_studies.common.judge` reads the
files, judges all studies, and writes the tables of verdicts.
"""

# ruff: noqa: F401
from misspenalty_studies.common.claims.conditions import MISSED, under_conditions
from misspenalty_studies.common.claims.decided import Decided
from misspenalty_studies.common.claims.forms import VERDICTS
from misspenalty_studies.common.claims.ledger import Claim, Fit, load_calibration, load_ledger, read_ledger
from misspenalty_studies.common.claims.numbers import below
from misspenalty_studies.common.claims.recorder import Recorder
from misspenalty_studies.common.claims.remarks import read_logged
from misspenalty_studies.common.claims.report import BASES, COLUMNS, judge
from misspenalty_studies.common.claims.summary import (
    agreement,
    claims_of,
    conclusion,
    forecasts,
    format_summary,
    headline,
    summary,
)
from misspenalty_studies.common.claims.tables import Table, cross
