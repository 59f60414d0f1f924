"""Compile the paper or its supplement."""

from misspenalty.io.typesetting import compile_paper
from misspenalty_studies.common.reporting.jobs import logged

with logged(snakemake.log[0]):
    compile_paper(snakemake.input.main, ".", snakemake.output.pdf, config=snakemake.config)
