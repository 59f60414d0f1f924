"""Draw the figures of a trace and typeset its page."""

from pathlib import Path

from misspenalty.characterize.page import draw
from misspenalty_studies.common.reporting.jobs import logged

with logged(snakemake.log[0]):
    draw(Path(snakemake.output.pdf).parent, snakemake.output.pdf)
