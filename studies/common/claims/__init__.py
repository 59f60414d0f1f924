"""Judge the published statements of the ledgers against the result tables.

`ledger.load_ledger` reads ``studies/*/ledger.yaml``. The ``claims.py`` of a study records the obtained numbers in a
`recorder.Recorder`, which has no published values. `report.judge` compares the two. `summary.summary` and
`summary.headline` count the verdicts on the claims of papers; `summary.agreement` lists the comparisons with programs,
and `summary.forecasts` the forecasts of this project; `conditions.under_conditions` judges the claims under other
measured conditions. `misspenalty_studies.common.judge` reads the files, judges all studies, and writes the tables of
verdicts.
"""
