"""Tell which studies a run recomputes, and for which it reads archived tables because registered files are absent."""

import pandas as pd

COLUMNS = ["study", "state", "missing_files"]


def recomputed(studies, archived):
    """Return one row per study (a workflow job).

    Parameters
    ----------
    studies : sequence of str
    archived : dict of str to sequence of str
        By study, the registered files that are absent.

    Returns
    -------
    DataFrame
        ``study``, ``state`` (recomputed or archived) and ``missing_files``, the names of the absent files, joined by
        ``"; "``.

    Examples
    --------
    >>> recomputed(["mq", "classics"], {"classics": ["arc/P3"]}).to_numpy().tolist()
    [['mq', 'recomputed', ''], ['classics', 'archived', 'arc/P3']]
    """
    missing = {study: list(archived.get(study, ())) for study in studies}
    rows = [(study, "archived" if files else "recomputed", "; ".join(files)) for study, files in missing.items()]
    return pd.DataFrame(rows, columns=COLUMNS)
