"""Draw the server capture and its variant beside the published values."""

import sys
from pathlib import Path

import pandas as pd

from misspenalty.claims import load_calibration
from misspenalty.plotting import save_figure
from misspenalty.studies.mq import figures as mq

sys.stderr = open(snakemake.log[0], "w", buffering=1)

tables = [pd.read_csv(path) for path in (snakemake.input.server, snakemake.input.variant)]
options = {}
if "calibration" in snakemake.input.keys():  # noqa: SIM118 - it is a list of files that also has names
    fits = [fit for fit in load_calibration(snakemake.input.calibration) if fit.study == "mq"]
    cells = [target["where"] for fit in fits for target in fit.published]
    options["fitted"] = [(cell["cache_mb"], cell["policy"]) for cell in cells]
figure = getattr(mq, snakemake.params.draw)(
    dict(zip(snakemake.params.captures, tables, strict=True)), pd.read_csv(snakemake.input.published), **options
)
save_figure(figure, Path(snakemake.output.pdf).with_suffix(""))
