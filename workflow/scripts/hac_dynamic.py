"""Misses of all systems on the dynamic traversal."""

import sys

from misspenalty.io.files import write_csv
from misspenalty.studies.hac import runs as hac_runs
from misspenalty.studies.hac import variants as hac_variants

sys.stderr = open(snakemake.log[0], "w", buffering=1)

params = snakemake.params
database = hac_runs.database(params.seed, **{**params.database, "modules": 2})
systems = ["hac", "fpc", "gom"]
table = hac_variants.dynamic(database, params.seed, systems, params.sizes_mb, params.dynamic, params.shares)
write_csv(table, snakemake.output.table)
