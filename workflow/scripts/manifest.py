"""Write the manifest of a run: its inputs, its outputs and its cost."""

from misspenalty_studies.common.reporting.jobs import logged
from misspenalty_studies.common.reporting.provenance import build_manifest, write_manifest

with logged(snakemake.log[0]):
    manifest = build_manifest(
        snakemake.input.sources,
        snakemake.input.outputs,
        seeds=snakemake.params.seeds,
        benchmarks=snakemake.params.benchmarks,
    )
    write_manifest(manifest | {"config": snakemake.config}, snakemake.output.manifest)
