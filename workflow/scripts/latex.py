"""Write the result tables as LaTeX."""

import sys

from misspenalty_studies.common.reporting.latex import write_latex

sys.stderr = open(snakemake.log[0], "w", buffering=1)
write_latex(snakemake.input.tables, snakemake.output.folder)
