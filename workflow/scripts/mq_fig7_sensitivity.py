"""Transaction rates as the testbed's parameters vary one at a time."""

import sys
from pathlib import Path

import pandas as pd
import yaml

import misspenalty
from misspenalty.io.files import write_csv
from misspenalty.machine import load_machine
from misspenalty.studies.mq import rates as mq_rates
from misspenalty.systems.storage_server.testbed import StorageServerTestbed

sys.stderr = open(snakemake.log[0], "w", buffering=1)

params = snakemake.params
facts = yaml.safe_load(Path(snakemake.input.facts).read_text())[Path(params.raw).name]
trace = misspenalty.open_trace(snakemake.input.trace[0])
table = mq_rates.rate_sensitivity(
    trace,
    load_machine(snakemake.input.machine, kind=StorageServerTestbed),
    mq_rates.points(trace, params.cache_mb, threads=snakemake.threads),
    facts["reads"] / facts["transactions"]["all"],
    cpu_us=int(pd.read_csv(snakemake.input.fit)["value_us"].item()),
    seed=params.seed,
    threads=snakemake.threads,
)
write_csv(table, snakemake.output.table)
