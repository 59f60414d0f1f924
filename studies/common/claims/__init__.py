"""Judge the published statements of the ledgers against the result tables.

`load_ledger` reads ``studies/*/ledger.yaml``. The ``claims.py`` of a study records the obtained numbers in a
`Recorder`, which has no published values. `judge` compares the two. `summary` and `headline` count the verdicts on
the claims of papers; `agreement` lists the comparisons with programs, and `forecasts` the forecasts of this project;
`under_conditions` judges the claims under other measured conditions. `misspenalty_studies.common.judge` reads the
files, judges all studies, and writes the tables of verdicts.
"""
