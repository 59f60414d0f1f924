"""Measure what share of its touched pages each traversal uses, with two layouts of the database.

The representation of objects was chosen to match the size of the database and the used shares of pages, both
recollected from the paper (``data/calibration.yaml``). The table that `layouts` returns shows our values next to the
recollected ones.
"""

import numpy as np
import pandas as pd

from misspenalty_studies.common.claims.ledger import load_calibration
from misspenalty_studies.hac.objects.format import OID_BITS, PAGE, object_sizes
from misspenalty_studies.hac.objects.traversals import STATIC, Program
from misspenalty_studies.hac.runs import MB, database, make_cache
from misspenalty_studies.hac.seeds import mean_over_seeds

KEYS = ["documents", "traversal"]


def layouts(calibration, seeds, sizes):
    """Compute `used` with documents between the composite parts and apart from them, as means over seeds (a workflow
    job).

    Parameters
    ----------
    calibration : path-like
        ``data/calibration.yaml``, whose entry ``object_layout`` has the recollected values.
    seeds : sequence of int
    sizes : dict
        Sizes of the database.

    Returns
    -------
    DataFrame
        Columns of `used`, with the half width of a 95 % confidence interval of each mean; then columns
        ``recollected_<column>``, which have a value only in the rows for which the paper's value is recollected.
    """
    tables = [
        pd.concat([used(database(seed, **sizes | {"documents": where}), where) for where in ("between", "apart")])
        for seed in seeds
    ]
    table = mean_over_seeds(tables, KEYS)
    (declared,) = [fit for fit in load_calibration(calibration) if fit.parameter == "object_layout"]
    for target in declared.published:
        rows = (table[KEYS] == pd.Series(target["where"])[KEYS]).all(axis=1)
        table.loc[rows, f"recollected_{target['column']}"] = float(target["value"])
    return table


def used(data, documents):
    """Compute how many pages each traversal touches, and what share of these pages' bytes and objects it uses,
    without evictions.

    Parameters
    ----------
    data : Database
    documents : str
        Label of the rows.

    Returns
    -------
    DataFrame
        ``documents, traversal, database_mb`` (10**6 bytes), ``pages, used_bytes_pct`` (of the pages touched),
        ``used_objects_pct`` (of the objects on them).
    """
    orefs, sizes = object_sizes(data.pages)
    rows = []
    for name in STATIC:
        cache = make_cache(data, "fpc", 3 * data.pages.nbytes / MB)
        Program(cache, data).run(name)
        taken = np.isin(orefs, cache.installed())
        pages = np.unique(orefs[taken] >> OID_BITS)
        there = np.isin(orefs >> OID_BITS, pages)
        rows.append(
            {
                "documents": documents,
                "traversal": name,
                "database_mb": data.pages.nbytes / 1e6,
                "pages": len(pages),
                "used_bytes_pct": 100 * sizes[taken].sum() / (len(pages) * PAGE),
                "used_objects_pct": 100 * taken.sum() / there.sum(),
            }
        )
    return pd.DataFrame(rows)
