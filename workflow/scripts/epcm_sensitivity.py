"""Every other reading of the EPCM paper on one workload, one at a time."""

import sys
from dataclasses import replace

import pandas as pd

from misspenalty.io.files import write_csv
from misspenalty.machine import load_machine
from misspenalty.studies.epcm import sensitivity as epcm_sensitivity
from misspenalty.studies.epcm import setup as epcm_setup
from misspenalty.systems.file_client.client import ClientMachine
from misspenalty.traces import builds

sys.stderr = open(snakemake.log[0], "w", buffering=1)

params, inputs = snakemake.params, snakemake.input
machine = load_machine(inputs.machine[0], inputs.machine[1], ClientMachine)
copy_us, scale = (float(pd.read_csv(path)["value"].item()) for path in (inputs.copying, inputs.scale))
machine = replace(machine, testbed=replace(machine.testbed, copy_us_per_kb=copy_us))
choices = params.settings["sensitivity"]
options = epcm_setup.options(params.settings) | {"scale": scale}
capture = builds.read(inputs.capture[0])
study, placement = epcm_setup.set_up(params.build, capture, machine.testbed, **options)
varied = machine if params.build in choices["machine"] else None
table = epcm_sensitivity.sensitivity(
    study,
    capture,
    epcm_setup.varied(params.settings),
    epcm_sensitivity.variations_of(choices, varied, before=study.measured[-choices["runs"] :][0]),
    placement,
    choices["runs"],
)
write_csv(table, snakemake.output.table)
