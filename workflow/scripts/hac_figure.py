"""Draw tables of the HAC study as a figure, beside the published ones if there are any."""

import sys
from pathlib import Path

import pandas as pd

from misspenalty.plotting import save_figure
from misspenalty.studies.hac import figures as hac
from misspenalty.studies.hac import figures_hit_time as hac_hit_time

sys.stderr = open(snakemake.log[0], "w", buffering=1)

draw = getattr(hac_hit_time if snakemake.params.draw.startswith("hit_time") else hac, snakemake.params.draw)
figure = draw(**{name: pd.read_csv(path) for name, path in snakemake.input.items()})
save_figure(figure, Path(snakemake.output.pdf).with_suffix(""))
