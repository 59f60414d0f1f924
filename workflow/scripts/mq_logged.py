"""Values for the claims on MQ that no table decides."""

import sys
from pathlib import Path

import pandas as pd
import yaml

from misspenalty_studies.common.reporting.jobs import write_table
from misspenalty_studies.mq import claims

sys.stderr = open(snakemake.log[0], "w", buffering=1)

table4 = pd.read_csv(snakemake.input.table4).rename(columns={"hit_ratio_pct": "replayed_hit_ratio_pct"})
fig7 = pd.read_csv(snakemake.input.fig7).merge(
    table4[["cache_mb", "policy", "replayed_hit_ratio_pct"]], on=["cache_mb", "policy"]
)
facts = yaml.safe_load(Path(snakemake.input.facts).read_text())[Path(snakemake.params.raw).name]
write_table(claims.logged(fig7, facts["shared_buffers"], pd.read_csv(snakemake.input.fit)), snakemake.output.table)
