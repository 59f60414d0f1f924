"""Gather the tables of all traces, as one partitioned Parquet data set per table."""

from misspenalty.characterize.runs import gather
from misspenalty_studies.common.reporting.jobs import logged

with logged(snakemake.log[0]):
    gather(snakemake.params.folders, snakemake.output.folder)
