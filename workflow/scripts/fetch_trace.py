"""Fetch the raw file of a row of the table of traces from the mirror folder or from its URL, and verify it."""

from misspenalty.characterize.runs import fetch
from misspenalty_studies.common.reporting.jobs import logged

with logged(snakemake.log[0]):
    fetch(snakemake.wildcards.own, snakemake.params.row, snakemake.output.raw, snakemake.params.mirror)
