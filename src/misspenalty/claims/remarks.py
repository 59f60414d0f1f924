"""What is noted next to a verdict: suspected reasons, written by people, and values that a run logged."""

from fnmatch import fnmatchcase
from pathlib import Path

import pandas as pd

from misspenalty.claims.ledger import load_entries
from misspenalty.errors import InputError

MISSED = ("direction", "not_reproduced")


def load_reasons(path, results, ledger):
    """Suspected reasons for one table of verdicts.

    Parameters
    ----------
    path : path-like
        ``data/suspected_reasons.yaml``; its schema is next to it.
    results : str
        Name of the table of verdicts, such as ``claims``.
    ledger : list of Claim

    Returns
    -------
    dict of str to str
        Claim id -> reason; where several match, the first.

    Raises
    ------
    InputError
        The file does not fit its schema, or a pattern matches no claim.
    """
    path = Path(path)
    reasons = {}
    for entry in load_entries(path, path.with_name("suspected_reasons.schema.yaml"), "results"):
        for pattern in entry["claims"]:
            matching = [claim.id for claim in ledger if fnmatchcase(claim.id, pattern)]
            if not matching:
                raise InputError(f"no claim matches {pattern!r}", path=path, remedy="see the ids in the ledger")
            if entry["results"] == results:
                reasons = {**dict.fromkeys(matching, entry["reason"]), **reasons}
    return reasons


def read_logged(paths):
    """Values logged for claims that no table decides: claim id -> text, from CSV files with columns ``id, note``."""
    frames = [pd.read_csv(path) for path in paths]
    return {} if not frames else dict(pd.concat(frames)[["id", "note"]].itertuples(index=False, name=None))


def with_reasons(frame, reasons):
    """The verdicts with a reason added to the note of each claim that missed."""
    missed = frame["verdict"].isin(MISSED) & frame["id"].isin(reasons)
    notes = [
        "; ".join(filter(None, [note, reasons[claim]])) if miss else note
        for claim, note, miss in zip(frame["id"], frame["note"], missed, strict=True)
    ]
    return frame.assign(note=notes)
