"""Judge the ledger of published statements on the result tables."""

import sys

from misspenalty.claims import format_summary, read_logged, write_claims

sys.stderr = open(snakemake.log[0], "w", buffering=1)

frame = write_claims(
    dict(zip(snakemake.params.tables, snakemake.input.tables, strict=True)),
    snakemake.input.ledger,
    snakemake.output.table,
    calibration_path=snakemake.input.calibration,
    reasons_path=snakemake.input.reasons,
    notes=read_logged(snakemake.input.logged),
    basis=snakemake.params.basis,
    variant=snakemake.params.variant,
)
print(format_summary(frame), file=sys.stderr)
