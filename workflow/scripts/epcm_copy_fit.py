"""Fit the time to copy a KB to the published hot read latency."""

import sys

import pandas as pd

from misspenalty.claims import load_calibration
from misspenalty.io.files import write_csv
from misspenalty.machine import load_machine
from misspenalty.studies.epcm import runs as epcm
from misspenalty.studies.epcm import setup as epcm_setup
from misspenalty.systems.file_client.client import ClientMachine
from misspenalty.traces import builds

sys.stderr = open(snakemake.log[0], "w", buffering=1)

params, inputs = snakemake.params, snakemake.input
(fit,) = [fit for fit in load_calibration(inputs.calibration) if fit.parameter == "copy_us_per_kb"]
target = fit.published[0]["value"]
machine = load_machine(inputs.machine[0], inputs.machine[1], ClientMachine).testbed
study, _ = epcm_setup.set_up(
    params.build, builds.read(inputs.capture[0]), machine, **epcm_setup.options(params.settings)
)
value = epcm.fit_copy(study, target, *fit.range)
reached = epcm.hot_read_us(study, value)
row = {"parameter": fit.parameter, "benchmark": params.build, "value": value, "unit": fit.unit, "target": target}
write_csv(pd.DataFrame([row | {"reached": reached}]), snakemake.output.table)
