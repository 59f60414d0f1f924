"""Draw the picture at the top of the README."""

from pathlib import Path

import pandas as pd

from misspenalty.plotting import save_figure
from misspenalty_studies.common.claims.ledger import load_calibration
from misspenalty_studies.common.overview import OVERVIEW_DPI, overview
from misspenalty_studies.common.reporting.jobs import logged


def read(paths):
    return dict(zip(snakemake.params.captures, map(pd.read_csv, paths), strict=True))


with logged(snakemake.log[0]):
    inputs = snakemake.input
    fits = [fit for fit in load_calibration(inputs.calibration) if fit.parameter == "database_cpu_us"]
    cells = [target["where"] for fit in fits for target in fit.published]
    figure = overview(
        read(inputs.table4),
        pd.read_csv(inputs.printed4),
        read(inputs.fig7),
        pd.read_csv(inputs.printed7),
        read(inputs.claims),
        fitted=[(cell["cache_mb"], cell["policy"]) for cell in cells],
    )
    save_figure(figure, Path(snakemake.output.png).with_suffix(""), formats=["png"], dpi=OVERVIEW_DPI)
