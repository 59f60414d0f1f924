"""Put the summary of the claims into the README, between its markers. Run by `make reproduce`."""

import pandas as pd

from misspenalty.claims import format_summary
from misspenalty.reporting.markers import update_between_markers

claims, variant = (pd.read_csv(f"results/{name}.csv") for name in ("claims", "claims_calibrated"))
text = f"""Multi-Queue behind a first level of 128 MB, as the paper has it. A *fitted* verdict reads a
value that a parameter was fitted to, a *predicted* one reads none; *conditions* hold for any numbers (setup,
identities) and do not count as reproduced.

{format_summary(claims)}

Calibrated: behind a first level whose size was chosen by the re-access distances of the paper's
Table 3, which no claim reads:

{format_summary(variant[variant["study"] == "mq"])}
"""
if update_between_markers("README.md", "claims", text):
    print("README.md: summary of the claims brought up to date")
