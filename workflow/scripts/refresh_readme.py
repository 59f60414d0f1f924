"""Put the summary of the claims into the README, between its markers. Run by `make reproduce`."""

import pandas as pd

from misspenalty.claims import format_summary
from misspenalty.reporting.markers import update_between_markers

claims, variant = (pd.read_csv(f"results/{name}.csv") for name in ("claims", "claims_64mb"))
text = f"""Multi-Queue behind a first level of 128 MB, as the paper has it; `results/claims.csv` marks what is fitted:

{format_summary(claims)}

Fitted: the variant behind 64 MB, chosen because its re-access distances are closer to the paper's:

{format_summary(variant[variant["study"] == "mq"])}
"""
if update_between_markers("README.md", "claims", text):
    print("README.md: summary of the claims brought up to date")
