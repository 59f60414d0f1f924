"""Hits and misses of one policy by temporal distance, with the settings that its replay found best."""

import json
import sys

import pandas as pd

import misspenalty
from misspenalty.io.files import write_csv
from misspenalty.studies.mq import tables as mq

sys.stderr = open(snakemake.log[0], "w", buffering=1)

trace = misspenalty.open_trace(snakemake.input.trace)
replay = pd.read_csv(snakemake.input.replay, keep_default_na=False)
rows = []
for row in replay[replay["cache_mb"] == snakemake.params.cache_mb].itertuples():
    chosen = dict(setting.split("=") for setting in row.parameters.split())
    rows.append(
        mq.distance_split(
            trace,
            snakemake.params.entry["policy"],
            snakemake.params.cache_mb,
            label=row.policy,
            writes=row.writes,
            parameters={name: json.loads(value) for name, value in chosen.items()},
        )
    )
table = pd.concat(rows, ignore_index=True)
table.insert(0, "capture", snakemake.wildcards.capture)
write_csv(table, snakemake.output.table)
