"""Draw tables of the HAC study as a figure, beside the published ones if there are any."""

import sys
from pathlib import Path

import pandas as pd

from misspenalty.figures import hac, save_figure

sys.stderr = open(snakemake.log[0], "w", buffering=1)

figure = getattr(hac, snakemake.params.draw)(**{name: pd.read_csv(path) for name, path in snakemake.input.items()})
save_figure(figure, Path(snakemake.output.pdf).with_suffix(""))
