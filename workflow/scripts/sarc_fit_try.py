"""Run the trials of a step of SARC's fit that one job makes."""

import sys

import pandas as pd

from misspenalty.files import write_csv
from misspenalty.studies import sarc_fit
from misspenalty.studies.sarc_machine import load_shark

sys.stderr = open(snakemake.log[0], "w", buffering=1)

settings, step, wildcards = snakemake.params.settings, snakemake.params.step, snakemake.wildcards
grid = dict(snakemake.params.grid)
chosen = {name: min(values) for name, values in grid.items()}  # those that a trial doesn't set don't matter to it
if "factor" in wildcards.keys():  # noqa: SIM118 - wildcards are a list that also has names
    grid["load_factor"] = [float(wildcards.factor)]
else:
    chosen |= pd.read_csv(snakemake.input.chosen).iloc[0].drop("mean_factor").to_dict()
shark, _ = load_shark(
    snakemake.input.machine, settings["divisor"], {**chosen, **settings["values"], **settings["short"]}
)
trials = [values for config, values in sarc_fit.trials(step, grid) if config == wildcards.config]
tables = [sarc_fit.try_values(shark, step, wildcards.config, values, settings["seed"]) for values in trials]
write_csv(pd.concat(tables, ignore_index=True), snakemake.output.table)
