"""Draw tables of the SARC study as a figure."""

import sys
from pathlib import Path

import pandas as pd

from misspenalty.plotting import save_figure
from misspenalty.studies.sarc import figures as sarc

sys.stderr = open(snakemake.log[0], "w", buffering=1)

draw = getattr(sarc, snakemake.params.draw)
figure = draw(**{name: pd.read_csv(path) for name, path in snakemake.input.items()})
save_figure(figure, Path(snakemake.output.pdf).with_suffix(""))
