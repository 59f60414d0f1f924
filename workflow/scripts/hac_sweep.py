"""HAC's fetches, and what was counted between them, at every cache size of one traversal."""

import sys

import pandas as pd

from misspenalty.io.files import atomic_path
from misspenalty.studies.hac import runs as hac_runs
from misspenalty.systems.object_server.object_client import load_testbed

sys.stderr = open(snakemake.log[0], "w", buffering=1)

params = snakemake.params
words = load_testbed(snakemake.input.machine)["activation_words"]
database = hac_runs.database(params.seed, **params.database)
total = snakemake.wildcards.axis == "total"
tables = []
for size in params.sizes_mb:
    arguments = {"table": total, "activation_words": words}
    run = hac_runs.run(database, "hac", snakemake.wildcards.traversal, size, params.iterations, **arguments)
    frames, table = (part / hac_runs.MB for part in run.memory)
    tables.append(run.fetches.astype("int32").assign(cache_mb=size, frames_mb=frames, table_mb=table))
    print(f"{size:g} MB: {hac_runs.misses(run)} cold and hot misses", file=sys.stderr)
with atomic_path(snakemake.output.runs) as partial:
    pd.concat(tables, ignore_index=True).to_parquet(partial, compression="zstd")
