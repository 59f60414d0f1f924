"""What a recorded workload consists of, and how well its opens and execs can be foreseen."""

import sys
from dataclasses import replace

import pandas as pd

from misspenalty.io.files import write_csv
from misspenalty.machine import load_machine
from misspenalty.studies.epcm import setup as epcm_setup
from misspenalty.studies.epcm import tables as epcm_tables
from misspenalty.systems.file_client.client import ClientMachine
from misspenalty.traces import builds

sys.stderr = open(snakemake.log[0], "w", buffering=1)

params, inputs, output = snakemake.params, snakemake.input, snakemake.output
machine = load_machine(inputs.machine[0], inputs.machine[1], ClientMachine).testbed
copy_us, scale = (float(pd.read_csv(path)["value"].item()) for path in (inputs.copying, inputs.scale))
machine = replace(machine, copy_us_per_kb=copy_us)
capture = builds.read(inputs.capture[0])
options = epcm_setup.options(params.settings) | {"scale": scale}
study, _ = epcm_setup.set_up(params.build, capture, machine, **options)
bars = epcm_setup.bars(params.settings)
write_csv(epcm_tables.accuracy(params.build, study.workload, study.training, study.measured, bars), output.accuracy)
published = pd.read_csv(inputs.published)
facts = epcm_tables.workload_facts(study, capture, published)
write_csv(facts, output.workload)
