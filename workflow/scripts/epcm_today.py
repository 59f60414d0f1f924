"""The same recorded calls on a machine of today: its own compute, NVMe, a page cache without the copy."""

import sys

from misspenalty.io.files import write_csv
from misspenalty.machine import load_machine
from misspenalty.studies.epcm import runs as epcm
from misspenalty.studies.epcm import setup as epcm_setup
from misspenalty.studies.epcm import tables as epcm_tables
from misspenalty.systems.file_client.client import ClientMachine
from misspenalty.traces import builds

sys.stderr = open(snakemake.log[0], "w", buffering=1)

params, inputs = snakemake.params, snakemake.input
machine = load_machine(inputs.machine[2], inputs.machine[1], ClientMachine).testbed
study, _ = epcm_setup.set_up(
    params.build, builds.read(inputs.capture[0]), machine, **epcm_setup.options(params.settings)
)
settings = epcm_setup.varied(params.settings)
write_csv(epcm_tables.fig7(epcm.simulate(study, settings)), snakemake.output.table)
