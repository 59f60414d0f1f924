"""Compile a raw trace into the folder that replays map into memory."""

import sys

import misspenalty

sys.stderr = open(snakemake.log[0], "w", buffering=1)

trace = misspenalty.open_trace(snakemake.input.raw)
trace.save(snakemake.output.trace)
print(f"{len(trace)} references, {trace.reads} of them reads, {trace.blocks} blocks", file=sys.stderr)
