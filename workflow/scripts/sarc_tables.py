"""The SARC study's tables, made from its runs."""

import sys

import pandas as pd

from misspenalty.io.files import write_csv
from misspenalty.studies.sarc import tables as sarc
from misspenalty.studies.sarc.runs import load_shark

sys.stderr = open(snakemake.log[0], "w", buffering=1)

settings, output = snakemake.params.settings, snakemake.output
shark, _ = load_shark(snakemake.input.machine, values=settings["values"])
runs = pd.concat(map(pd.read_csv, snakemake.input.runs), ignore_index=True)
first = runs[runs["seed"] == snakemake.params.seed]
points = sarc.points(runs, shark.discarded_minutes)
tables = {name: getattr(sarc, name)(points) for name in ("table2", "fig6", "internals", "components")}
tables["peaks"] = sarc.peaks(tables["fig6"], tables["table2"])
tables["minutes"] = sarc.over_time(first)
others = [first, *map(pd.read_csv, snakemake.input.beyond)]
tables["beyond"] = sarc.beyond(sarc.points(pd.concat(others, ignore_index=True), shark.discarded_minutes))
for name, table in tables.items():
    write_csv(table, output[name])
