"""Judge a study's claims on its tables under other conditions; write the missed claims and those that are lost."""

from misspenalty_studies.common.judge import write_conditions
from misspenalty_studies.common.reporting.jobs import logged

with logged(snakemake.log[0]):
    write_conditions(snakemake.params.study, out=snakemake.output.table)
