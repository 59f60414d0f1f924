"""Run the trials of a step of SARC's fit that one job makes."""

import sys

import pandas as pd

from misspenalty.io.files import write_csv
from misspenalty.studies.sarc import fit as sarc_fit
from misspenalty.studies.sarc.runs import load_shark

sys.stderr = open(snakemake.log[0], "w", buffering=1)

settings, step, wildcards = snakemake.params.settings, snakemake.params.step, snakemake.wildcards
grid = snakemake.params.grid
values = {name: tried[0] for name, tried in grid.items()}  # those that a trial doesn't set don't matter to it
if "chosen" in snakemake.input.keys():  # noqa: SIM118 - inputs are a list that also has names
    values |= pd.read_csv(snakemake.input.chosen).iloc[0].drop("mean_factor").to_dict()
values |= {**settings["values"], **settings["short"]}
shark, _ = load_shark(snakemake.input.machine, settings["divisor"], values)
group = (step, wildcards.config, wildcards.sarc_policy)
tables = [sarc_fit.try_values(shark, *group, trial, settings["seed"]) for trial in sarc_fit.trials(*group, grid)]
write_csv(pd.concat(tables, ignore_index=True), snakemake.output.table)
