"""How often the blocks of each trace are accessed."""

import sys
from pathlib import Path

import pandas as pd

import misspenalty
from misspenalty.io.files import write_csv
from misspenalty.studies.mq import tables as mq

sys.stderr = open(snakemake.log[0], "w", buffering=1)

tables = [
    mq.frequency_curve(misspenalty.open_trace(path)).assign(capture=Path(path).stem) for path in snakemake.input.traces
]
write_csv(pd.concat(tables, ignore_index=True), snakemake.output.table)
