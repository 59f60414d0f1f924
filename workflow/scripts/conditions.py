"""Judge the claims that a study misses on its tables under other conditions."""

from misspenalty.reporting.jobs import logged
from misspenalty.studies.claims import write_conditions

with logged(snakemake.log[0]):
    write_conditions(snakemake.params.study, out=snakemake.output.table)
