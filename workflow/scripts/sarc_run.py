"""One run through a load schedule, minute by minute."""

import sys

from misspenalty.io.files import write_csv
from misspenalty.studies.sarc import tables as sarc
from misspenalty.studies.sarc.runs import fitted_shark

sys.stderr = open(snakemake.log[0], "w", buffering=1)

settings, wildcards = snakemake.params.settings, snakemake.wildcards
shark, _ = fitted_shark(snakemake.input.machine, snakemake.input["values"], settings)
write_csv(sarc.simulate(shark, wildcards.config, wildcards.sarc_policy, int(wildcards.seed)), snakemake.output.table)
