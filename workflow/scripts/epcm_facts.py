"""What a recorded workload consists of, and how well its opens and execs can be foreseen."""

import sys

import pandas as pd

from misspenalty.files import write_csv
from misspenalty.studies import epcm_setup, epcm_tables
from misspenalty.systems.file_client import ClientMachine
from misspenalty.systems.testbed import load_machine
from misspenalty.traces import builds

sys.stderr = open(snakemake.log[0], "w", buffering=1)

params, inputs, output = snakemake.params, snakemake.input, snakemake.output
machine = load_machine(inputs.machine[0], inputs.machine[1], ClientMachine).testbed
scale = float(pd.read_csv(inputs.scale)["value"].item())
capture = builds.read(inputs.capture[0])
study, _ = epcm_setup.set_up(params.build, capture, machine, **epcm_setup.options(params.settings))
bars = epcm_setup.bars(params.settings)
write_csv(epcm_tables.accuracy(params.build, study.workload, study.training, study.measured, bars), output.accuracy)
published = pd.read_csv(inputs.published)
facts = epcm_tables.workload_facts(params.build, study.workload, study.measured, capture, scale, published)
write_csv(facts, output.workload)
