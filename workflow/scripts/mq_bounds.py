"""The upper-bound and the cache-doubling argument."""

import sys

import pandas as pd

from misspenalty.io.files import write_csv
from misspenalty.studies.mq import tables as mq

sys.stderr = open(snakemake.log[0], "w", buffering=1)

tables = {name: pd.read_csv(path) for name, path in snakemake.input.items()}
write_csv(mq.bounds(tables["table4"], tables["fig7"], tables["lru_curve"]), snakemake.output.table)
