"""Draw one figure of the classics study, with published values next to ours."""

import sys
from pathlib import Path

import pandas as pd

from misspenalty.plotting import save_figure
from misspenalty.studies.classics import figures

sys.stderr = open(snakemake.log[0], "w", buffering=1)

draw = getattr(figures, snakemake.wildcards.item)
figure = draw(pd.read_csv(snakemake.input.table), pd.read_csv(snakemake.input.published))
save_figure(figure, Path(snakemake.output.pdf).with_suffix(""))
