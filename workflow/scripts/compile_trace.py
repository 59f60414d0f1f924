"""Compile a raw trace into a folder, from which replays load it or, if it is large, map it into memory."""

import sys

import misspenalty
from misspenalty_studies.common.reporting.jobs import logged
from misspenalty_studies.common.reporting.recorded import check_recorded

with logged(snakemake.log[0]):
    check_recorded([snakemake.input.raw])
    trace = misspenalty.open_trace(snakemake.input.raw)
    trace.save(snakemake.output.trace)
    print(f"{len(trace)} references, {trace.reads} of them reads, {trace.blocks} blocks", file=sys.stderr)
