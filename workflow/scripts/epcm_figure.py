"""Draw one table as a figure, beside the published one if there is any."""

import sys
from pathlib import Path

import pandas as pd

from misspenalty.plotting import save_figure
from misspenalty.studies.epcm import figures as epcm

sys.stderr = open(snakemake.log[0], "w", buffering=1)

draw = getattr(epcm, snakemake.params.draw)
tables = {name: pd.read_csv(path) for name, path in snakemake.input.items()}
figure = draw(tables.pop("table"), **tables, **snakemake.params.get("options", {}))
save_figure(figure, Path(snakemake.output.pdf).with_suffix(""))
