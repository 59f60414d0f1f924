"""Read the values that a run logged, for the notes next to a verdict."""

import pandas as pd


def read_logged(paths):
    """Read values logged for claims that no table decides: claim id -> text, from CSV files with columns ``id,
    note``."""
    frames = [pd.read_csv(path) for path in paths]
    return {} if not frames else dict(pd.concat(frames)[["id", "note"]].itertuples(index=False, name=None))
