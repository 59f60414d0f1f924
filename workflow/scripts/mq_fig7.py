"""Fit the closed-loop model's one free parameter and time every cache size and policy."""

import sys
from pathlib import Path

import yaml

import misspenalty
from misspenalty.claims import load_calibration
from misspenalty.io.files import write_csv
from misspenalty.machine import load_machine
from misspenalty.studies.mq import rates as mq_rates
from misspenalty.systems.storage_server.testbed import StorageServerTestbed

sys.stderr = open(snakemake.log[0], "w", buffering=1)

params = snakemake.params
facts = yaml.safe_load(Path(snakemake.input.facts).read_text())[Path(params.raw).name]
(fit,) = [fit for fit in load_calibration(snakemake.input.calibration) if fit.parameter == "database_cpu_us"]
(published,) = fit.published
trace = misspenalty.open_trace(snakemake.input.trace[0])
result = mq_rates.transaction_rates(
    trace,
    load_machine(snakemake.input.machine, kind=StorageServerTestbed),
    mq_rates.points(trace, params.cache_mb, threads=snakemake.threads),
    facts["reads"] / facts["transactions"]["all"],
    fitted_mb=published["where"]["cache_mb"],
    target=published["value"],
    span=fit.range,
    seed=params.seed,
    variant=params.capture,
    threads=snakemake.threads,
)
write_csv(result.rates, snakemake.output.rates)
write_csv(result.components, snakemake.output.components)
write_csv(result.fit, snakemake.output.fit)
print(result.fit.to_string(index=False), file=sys.stderr)
