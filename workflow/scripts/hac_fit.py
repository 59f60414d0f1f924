"""Fit the one cost of HAC's client that nothing states."""

import sys

import pandas as pd

from misspenalty.claims import load_calibration
from misspenalty.io.files import write_csv
from misspenalty.studies.hac import runs as hac_runs
from misspenalty.studies.hac import tables as hac
from misspenalty.studies.hac.prices import Costs
from misspenalty.systems.object_server.object_client import load_testbed

sys.stderr = open(snakemake.log[0], "w", buffering=1)

params = snakemake.params
(fit,) = [fit for fit in load_calibration(snakemake.input.calibration) if fit.parameter == "install_instructions"]
(published,) = fit.published
database = hac_runs.database(params.seed, **params.database)
costs = Costs(load_testbed(snakemake.input.machine), len(database.pages), params.seed)
table = hac.fit(pd.read_parquet(snakemake.input.sweep), params.point_mb, costs, published["value"], *fit.range)
write_csv(table, snakemake.output.table)
