"""Draw a study's figures from its tables (PDF for print, SVG for the report, PNG for pages) and write captions."""

import sys
from pathlib import Path

from misspenalty.plotting import save_figure
from misspenalty_studies.common.reporting.jobs import caption_of, function_of, logged, read_tables

with logged(snakemake.log[0]):
    for entry in snakemake.params.figures:
        print(entry["output"], file=sys.stderr)
        draw = function_of(entry["job"]["function"])
        save_figure(draw(**read_tables(entry["inputs"]), **entry["options"]), Path(entry["output"]))
        Path(entry["caption"]).write_text(caption_of(entry["job"]["function"]) + "\n")
