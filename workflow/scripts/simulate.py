"""Call the function that the rule names, with its inputs, parameters and wildcards, and write the tables it returns.

Inputs called `drives` are descriptions of drives, which the package finds by name, and those called `files` are files
whose paths are in a parameter; neither kind is passed to the function. Captures must have the recorded SHA-256.
"""

import inspect

from misspenalty_studies.common.reporting.jobs import function_of, logged, write_tables
from misspenalty_studies.common.reporting.recorded import check_recorded

with logged(snakemake.log[0]):
    check_recorded(snakemake.input)
    arguments = {name: paths for name, paths in snakemake.input.items() if name not in ("drives", "files")}
    arguments |= {name: value for name, value in snakemake.params.items() if name != "job"}
    function = function_of(snakemake.params.job["function"])
    offered = {**snakemake.wildcards, "threads": snakemake.threads}
    taken = inspect.signature(function).parameters
    arguments |= {name: value for name, value in offered.items() if name in taken and name not in arguments}
    write_tables(function(**arguments), dict(snakemake.output.items()))
