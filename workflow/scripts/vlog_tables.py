"""The paper's tables from the runs: those of the platforms one below the other."""

import sys

import pandas as pd

from misspenalty.io.files import write_csv

sys.stderr = open(snakemake.log[0], "w", buffering=1)

for name, output in snakemake.output.items():
    paths = snakemake.input.get(name)
    parts = [pd.read_csv(path) for path in ([paths] if isinstance(paths, str) else paths)]
    write_csv(pd.concat(parts, ignore_index=True), output)
