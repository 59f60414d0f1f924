"""Bring README.md and ARTIFACT.md up to date with the claims, and with --cost with what the last run took; write
results/README.md, the data dictionary.

`make reproduce` does all but the cost, which is the same on every machine; `make cost` does everything.
"""

import json
import sys
from pathlib import Path

import pandas as pd

from misspenalty.claims import format_summary
from misspenalty.io.files import atomic_path
from misspenalty.reporting.cost import artifact_text, expected_text, readme_text
from misspenalty.reporting.dictionary import dictionary_text
from misspenalty.reporting.markers import update_between_markers

claims, variant = (pd.read_csv(f"results/{name}.csv") for name in ("claims", "claims_calibrated"))
summary = f"""Multi-Queue is judged behind a first level of 128 MB, as in the paper. A *fitted* verdict reads a
value that a parameter was fitted to, a *predicted* one reads none; HAC's are *calibrated*, because the layout of
its objects was chosen by recollected values that no claim reads; *conditions* hold for any numbers (setup,
identities) and do not count as reproduced.

{format_summary(claims)}

*Calibrated* results for Multi-Queue, behind a first level whose size was chosen by the re-access distances of the
paper's Table 3, which no claim reads:

{format_summary(variant[variant["study"] == "mq"])}
"""
texts = {("README.md", "claims"): summary, ("ARTIFACT.md", "expected"): expected_text(claims)}
manifest = Path("results/manifest.json")
if "--cost" in sys.argv[1:] and manifest.is_file():
    run = json.loads(manifest.read_text())
    texts[("README.md", "cost")] = readme_text(run, Path())
    texts[("ARTIFACT.md", "cost")] = artifact_text(run, Path())
for (path, name), text in texts.items():
    if text and update_between_markers(path, name, text):
        print(f"{path}: {name} brought up to date")
with atomic_path("results/README.md") as partial:
    partial.write_text(dictionary_text(), encoding="utf-8")
