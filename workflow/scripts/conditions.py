"""Judge a study's claims under other conditions; write those that are missed by the results or under a condition."""

from misspenalty_studies.common.judge import write_conditions
from misspenalty_studies.common.reporting.jobs import logged

with logged(snakemake.log[0]):
    write_conditions(snakemake.params.study, out=snakemake.output.table)
