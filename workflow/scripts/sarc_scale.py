"""A few load points of every policy at one scale of the model."""

import sys

import pandas as pd

from misspenalty.io.files import write_csv
from misspenalty.studies.sarc import sensitivity as sarc_inside
from misspenalty.studies.sarc.runs import PAPERS, fitted_shark

sys.stderr = open(snakemake.log[0], "w", buffering=1)

settings, config = snakemake.params.settings, snakemake.wildcards.config
shark, _ = fitted_shark(
    snakemake.input.machine, snakemake.input["values"], settings, settings["short"], int(snakemake.wildcards.divisor)
)
tables = [sarc_inside.scale(shark, config, p, settings["seed"], snakemake.params.loads) for p in PAPERS]
write_csv(pd.concat(tables, ignore_index=True), snakemake.output.table)
