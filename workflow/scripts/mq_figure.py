"""Draw one table as a figure."""

import sys
from pathlib import Path

import pandas as pd

from misspenalty.figures import mq, save_figure

sys.stderr = open(snakemake.log[0], "w", buffering=1)

draw = getattr(mq, snakemake.params.draw)
figure = draw(pd.read_csv(snakemake.input.table), **snakemake.params.get("options", {}))
save_figure(figure, Path(snakemake.output.pdf).with_suffix(""))
