"""Compile the paper or its supplement."""

import sys

from misspenalty.io.typesetting import compile_paper

sys.stderr = open(snakemake.log[0], "w", buffering=1)

compile_paper(snakemake.input.main, ".", snakemake.output.pdf, config=snakemake.config)
