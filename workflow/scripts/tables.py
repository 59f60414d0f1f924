"""Make the light tables of a study, one after another, because a table may be made from those before it."""

import sys

from misspenalty_studies.common.reporting.jobs import function_of, logged, read_tables, write_tables
from misspenalty_studies.common.reporting.recorded import check_recorded

with logged(snakemake.log[0]):
    check_recorded(snakemake.input)
    for entry in snakemake.params.tables:
        print(", ".join(entry["outputs"]), file=sys.stderr)
        make = function_of(entry["job"]["function"])
        write_tables(make(**read_tables(entry["inputs"]), **entry["options"]), entry["outputs"])
