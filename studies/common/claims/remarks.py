"""Read the values that a run logged; they become notes on the verdicts."""

import pandas as pd

from misspenalty.errors import InputError


def read_logged(paths):
    """Read the values logged for claims that no table decides.

    Parameters
    ----------
    paths : list of path-like
        CSV files with the columns ``id, note``.

    Returns
    -------
    dict of str to str
        Notes by claim id.

    Raises
    ------
    InputError
        A claim has two notes.
    """
    notes = {}
    for path in paths:
        for id, note in pd.read_csv(path)[["id", "note"]].itertuples(index=False, name=None):
            if id in notes:
                raise InputError(f"{id} has a second note", path=path, remedy="join the notes of one claim")
            notes[id] = note
    return notes
