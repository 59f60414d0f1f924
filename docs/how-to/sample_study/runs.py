"""Run the sample study: replay one reference string through FIFO and LRU.

Every page is loaded when it is first referenced, and the first references count as faults.
"""

import pandas as pd

import misspenalty

STRING = (1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5)
POLICIES = ("fifo", "lru")


def faults(frames):
    """Count the faults of each policy at each size.

    Parameters
    ----------
    frames : sequence of int
        Sizes of the memory.

    Returns
    -------
    DataFrame
        ``policy, frames, faults``.
    """
    trace = misspenalty.Trace.from_blocks(list(STRING))
    rows = [
        {"policy": policy, "frames": size, "faults": misspenalty.simulate(trace, policy, size).misses}
        for policy in POLICIES
        for size in frames
    ]
    return pd.DataFrame(rows)
