"""Draw one or two tables as a figure."""

import sys
from pathlib import Path

import pandas as pd

from misspenalty.plotting import save_figure
from misspenalty.studies.vlog import figures as vlog

sys.stderr = open(snakemake.log[0], "w", buffering=1)

draw = getattr(vlog, snakemake.params.draw)
save_figure(draw(*map(pd.read_csv, snakemake.input)), Path(snakemake.output.pdf).with_suffix(""))
