"""Judge the claims under other measured conditions, and list the verdicts that concern a missed claim."""

import numpy as np
import pandas as pd

from misspenalty.errors import InputError
from misspenalty_studies.common.claims.decided import Decided
from misspenalty_studies.common.claims.numbers import number

MISSED = ("direction", "not_reproduced")
KEPT = ("reproduced",)
COLUMNS = ["claim", "condition", "value", "verdict", "judged"]


def under_conditions(ledger, name, module, judged, tables):
    """Judge a study's claims under other conditions, and list those missed there or on the result tables.

    Parameters
    ----------
    ledger : list of Claim
        From `load_ledger`.
    name : str
        The study.
    module : module
        The study's `claims` module, see `judge`.
    judged : mapping of str to str
        Verdicts on the study's result tables by id. Claims whose verdict is not in `MISSED` or `KEPT` are left out.
    tables : mapping of str to DataFrame
        By item, the rows of a result table under each condition, which the column ``condition`` names.

    Returns
    -------
    DataFrame
        ``claim, condition, value, verdict, judged`` (the verdict on the result tables): one row per missed claim and
        condition whose tables decide the claim, and one per claim that is reproduced on the result tables and missed
        under the condition; the claims in the order of the ledger, the conditions in the order in which they first
        appear in `tables`. A claim that reads a table without rows for a condition is not decided under that condition.
        Values have six digits; intervals are ignored, because most conditions are run once.

    Raises
    ------
    InputError
        A table lacks the column ``condition`` or a key column, has rows that name no condition, has two rows for a key
        under one condition, or belongs to an item that the study's claims do not read.
    """
    for item, frame in tables.items():
        where = f"table {name}_{item} under conditions"
        if item not in module.TABLES:
            raise InputError(f"{where}: no claim reads it", expected=", ".join(module.TABLES))
        if "condition" not in frame or frame["condition"].isna().any():
            raise InputError(f"{where}: a row has no value in the column condition", expected="its condition in words")
    claims = [claim for claim in ledger if judged.get(claim.id) in MISSED + KEPT]
    place = {claim.id: number for number, claim in enumerate(claims)}
    rows = []
    for condition in dict.fromkeys(label for frame in tables.values() for label in frame["condition"]):
        own = {
            f"{name}_{item}": frame[frame["condition"] == condition].drop(columns="condition")
            for item, frame in tables.items()
            if (frame["condition"] == condition).any()
        }
        study = Decided(name, module, own, variant=True)
        for claim in claims:
            form = study.forms[claim.id]
            if form is not None and form.complete():
                with np.errstate(all="ignore"):
                    outcome = form.decide(claim, write=number)
                if judged[claim.id] in MISSED or outcome.verdict in MISSED:
                    rows.append((claim.id, condition, outcome.obtained, outcome.verdict, judged[claim.id]))
    rows.sort(key=lambda row: place[row[0]])
    return pd.DataFrame(rows, columns=COLUMNS, dtype=str)
