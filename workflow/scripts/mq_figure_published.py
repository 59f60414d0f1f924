"""Draw the server capture and its variant beside the published values."""

import sys
from pathlib import Path

import pandas as pd

from misspenalty.figures import mq, save_figure

sys.stderr = open(snakemake.log[0], "w", buffering=1)

tables = [pd.read_csv(path) for path in (snakemake.input.server, snakemake.input.variant)]
figure = getattr(mq, snakemake.params.draw)(
    dict(zip(snakemake.params.captures, tables, strict=True)),
    pd.read_csv(snakemake.input.published),
)
save_figure(figure, Path(snakemake.output.pdf).with_suffix(""))
