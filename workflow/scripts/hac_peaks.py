"""Where replacement overhead peaks, beside the paper's cache sizes."""

import sys

import pandas as pd

from misspenalty.io.files import write_csv
from misspenalty.studies.hac import tables as hac

sys.stderr = open(snakemake.log[0], "w", buffering=1)

total, frames, published = (pd.read_csv(snakemake.input[name]) for name in ("total", "frames", "published"))
write_csv(hac.peaks(total, frames, published.set_index("traversal")["cache_mb"]), snakemake.output.table)
