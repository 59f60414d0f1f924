"""Measured conditions under which a claim is reproduced that is not reproduced on the result tables."""

import numpy as np
import pandas as pd

from misspenalty.claims.numbers import number
from misspenalty.claims.study import Study
from misspenalty.errors import InputError

MISSED = ("direction", "not_reproduced")
COLUMNS = ["claim", "condition", "value", "verdict"]


def under_conditions(ledger, name, module, missed, tables):
    """Judge the claims that a study misses on the tables of other conditions.

    Parameters
    ----------
    ledger : list of Claim
        From `load_ledger`.
    name : str
        The study.
    module : module
        The study's `claims` module, see `judge`.
    missed : set of str
        Ids of the claims that are not reproduced on the study's result tables.
    tables : mapping of str to DataFrame
        By item, the rows of a result table under each condition, named in column ``condition``.

    Returns
    -------
    DataFrame
        ``claim, condition, value, verdict``: one row per missed claim and condition whose tables decide the claim, the
        claims in the order of the ledger, the conditions in the order in which they first appear in `tables`. A claim
        that reads a table without rows for a condition is not decided under it. Values have six digits, and intervals
        are not looked at: most conditions are run once.

    Raises
    ------
    InputError
        A table without the column ``condition``, with rows that name no condition, or of an item that the study's
        claims do not read.
    """
    for item, frame in tables.items():
        where = f"table {name}_{item} under conditions"
        if item not in module.TABLES:
            raise InputError(f"{where}: no claim reads it", expected=", ".join(module.TABLES))
        if "condition" not in frame or frame["condition"].isna().any():
            raise InputError(f"{where}: a row names no condition", expected="a column condition, in words")
    claims = [claim for claim in ledger if claim.id in missed]
    place = {claim.id: number for number, claim in enumerate(claims)}
    rows = []
    for condition in dict.fromkeys(label for frame in tables.values() for label in frame["condition"]):
        own = {
            f"{name}_{item}": frame[frame["condition"] == condition].drop(columns="condition")
            for item, frame in tables.items()
            if (frame["condition"] == condition).any()
        }
        study = Study(name, module, own, variant=True)
        for claim in claims:
            form = study.forms[claim.id]
            if form is not None and form.complete():
                with np.errstate(all="ignore"):
                    outcome = form.decide(claim, write=number)
                rows.append((claim.id, condition, outcome.obtained, outcome.verdict))
    rows.sort(key=lambda row: place[row[0]])
    return pd.DataFrame(rows, columns=COLUMNS, dtype=str)
