"""The SARC study's responses as one parameter of its machine varies."""

import sys

from misspenalty.io.files import write_csv
from misspenalty.studies.sarc import sensitivity as sarc_inside
from misspenalty.studies.sarc.runs import fitted_shark

sys.stderr = open(snakemake.log[0], "w", buffering=1)

settings, parameter = snakemake.params.settings, snakemake.wildcards.parameter
shark, entries = fitted_shark(snakemake.input.machine, snakemake.input["values"], settings, settings["short"])
values = ["none"] if parameter == "none" else sarc_inside.variations(shark, entries)[parameter]
table = sarc_inside.vary(shark, parameter, values, settings["seed"], snakemake.params.load)
write_csv(table, snakemake.output.table)
