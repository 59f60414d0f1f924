"""Define the records of requests as the kernels write them: ``record_t`` of `_state.pxd`, times in ns."""

import numpy as np

TIMES = ("arrival", "start", "done", "queue", "overhead", "seek", "rotation", "switch", "transfer", "bus", "cache")
RECORD = np.dtype(
    [
        *((name, np.int64) for name in (*TIMES, "tag", "lbn")),
        ("count", np.int32),
        ("write", np.uint8),
        ("hit", np.uint8),
        ("unused", np.uint16),
    ]
)
