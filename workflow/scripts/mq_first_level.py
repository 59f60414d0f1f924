"""Calibrate the size of MQ's first level on the paper's Table 3.

Write the accesses that reach the storage cache below the first level, and a table of the hit ratios of storage caches
below first levels of several sizes.
"""

import misspenalty
from misspenalty_studies.common.claims.ledger import load_calibration
from misspenalty_studies.common.reporting.jobs import logged, write_table
from misspenalty_studies.mq.first_level import calibrate

with logged(snakemake.log[0]):
    fits = load_calibration(snakemake.input.calibration)
    (fit,) = [fit for fit in fits if fit.parameter == "first_level_mb"]
    (published,) = fit.published
    stream, table = calibrate(
        misspenalty.open_trace(snakemake.input.trace),
        published["value"],
        fit.range,
        snakemake.params.threshold_mb,
        snakemake.params.cache_mb,
        snakemake.params.shown_mb,
        snakemake.params.reads,
        snakemake.threads,
    )
    stream.save(snakemake.output.trace)
    write_table(table, snakemake.output.table)
