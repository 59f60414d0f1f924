"""Sequential misses in one LRU list by prefetching strategy and cache size."""

import sys

from misspenalty.io.files import write_csv
from misspenalty.studies.sarc import sensitivity as sarc_inside

sys.stderr = open(snakemake.log[0], "w", buffering=1)

streams, length, degrees, sizes = (
    snakemake.params.anomaly[name] for name in ("streams", "length", "degrees", "tracks_a_stream")
)
tracks = [round(streams * size) for size in sizes]
write_csv(sarc_inside.anomaly(streams, length, degrees, tracks, snakemake.params.seed), snakemake.output.table)
