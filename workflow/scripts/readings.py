"""Write the rows that each claim of a study reads, and the line of code that decides the claim."""

from pathlib import Path

from misspenalty_studies.common.reporting.jobs import logged
from misspenalty_studies.common.site.readings import write_readings

with logged(snakemake.log[0]):
    tables = {Path(path).stem: path for path in snakemake.input.tables}
    write_readings(snakemake.wildcards.study, tables, snakemake.output[0], threads=snakemake.threads)
