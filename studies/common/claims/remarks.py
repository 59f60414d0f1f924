"""Read the values that a run logged; they are printed as notes next to a verdict."""

import pandas as pd


def read_logged(paths):
    """Read the values logged for claims that no table decides, from CSV files with the columns ``id, note``; return a
    dict from claim id to text."""
    frames = [pd.read_csv(path) for path in paths]
    return {} if not frames else dict(pd.concat(frames)[["id", "note"]].itertuples(index=False, name=None))
