"""Compute the tables of the sample study."""


def added(faults):
    """Return the faults that one more frame adds.

    Parameters
    ----------
    faults : DataFrame
        ``policy, frames, faults``.

    Returns
    -------
    DataFrame
        ``policy, frames, added_faults``: one row per policy and size except the smallest.
    """
    ordered = faults.sort_values(["policy", "frames"])
    ordered["added_faults"] = ordered.groupby("policy")["faults"].diff()
    found = ordered.dropna(subset=["added_faults"]).astype({"added_faults": int})
    return found[["policy", "frames", "added_faults"]].reset_index(drop=True)
