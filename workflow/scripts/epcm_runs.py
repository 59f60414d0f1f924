"""Play every bar of Figure 7 for one workload, with the buffer copy (linux22) or without it (linux24)."""

import sys
from dataclasses import replace

import pandas as pd

from misspenalty.io.files import write_csv
from misspenalty.machine import load_machine
from misspenalty.studies.epcm import runs as epcm
from misspenalty.studies.epcm import setup as epcm_setup
from misspenalty.systems.file_client.client import ClientMachine
from misspenalty.traces import builds

sys.stderr = open(snakemake.log[0], "w", buffering=1)

params, inputs = snakemake.params, snakemake.input
machine = load_machine(inputs.machine[0], inputs.machine[1], ClientMachine).testbed
copy_us, scale = (float(pd.read_csv(path)["value"].item()) for path in (inputs.copying, inputs.scale))
machine = replace(machine, copy_us_per_kb=copy_us, separate_buffers=params.kernel == "linux22")
options = epcm_setup.options(params.settings) | {"scale": scale}
study, _ = epcm_setup.set_up(params.build, builds.read(inputs.capture[0]), machine, **options)
write_csv(epcm.simulate(study, epcm_setup.bars(params.settings)), snakemake.output.table)
