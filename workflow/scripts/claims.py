"""Judge the statements in the ledgers by the result tables."""

import sys
from pathlib import Path

from misspenalty_studies.common.claims.summary import format_summary
from misspenalty_studies.common.judge import write_claims
from misspenalty_studies.common.reporting.jobs import logged

with logged(snakemake.log[0]):
    out = Path(snakemake.output.table)
    frame = write_claims(out.parent, out, variant=snakemake.params.variant)
    print(format_summary(frame), file=sys.stderr)
