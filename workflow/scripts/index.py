"""Write the index from which the site is built: what makes each file of a run, and from which inputs."""

import json

from misspenalty.io.files import atomic_path
from misspenalty_studies.common.reporting.jobs import logged

with logged(snakemake.log[0]), atomic_path(snakemake.output[0]) as partial:
    partial.write_text(json.dumps(snakemake.params.index, indent=1, sort_keys=True) + "\n")
