"""Fit the factor on recorded compute to the published compute of the cold run."""

import sys
from dataclasses import replace

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
(fit,) = [fit for fit in load_calibration(inputs.calibration) if fit.parameter == "compute_scale"]
(target,) = [cell["value"] for cell in fit.published if cell["where"]["benchmark"] == params.build]
machine = load_machine(inputs.machine[0], inputs.machine[1], ClientMachine).testbed
machine = replace(machine, copy_us_per_kb=float(pd.read_csv(inputs.copying)["value"].item()))
study, _ = epcm_setup.set_up(
    params.build, builds.read(inputs.capture[0]), machine, **epcm_setup.options(params.settings)
)
value = epcm.fit_scale(study, target, *fit.range)
reached = epcm.cold_compute_s(study._replace(scale=value))
row = {"parameter": fit.parameter, "benchmark": params.build, "value": value, "unit": fit.unit, "target": target}
write_csv(pd.DataFrame([row | {"reached": reached}]), snakemake.output.table)
