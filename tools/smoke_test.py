"""Check that the installed package is imported from site-packages, replays a trace, and lists its policies."""

from pathlib import Path

import numpy as np

import misspenalty
from misspenalty.policies._lru import LRU

assert "site-packages" in Path(misspenalty.__file__).parts, misspenalty.__file__
ids = np.array([0, 1, 0, 2, 1, 0], np.uint32)
hit = np.empty(len(ids), np.uint8)
assert LRU(2, 3).replay(ids, hit) == 1  # the second reference to 0 hits; then 2 evicts 1, 1 evicts 0, 0 evicts 2
assert hit.tolist() == [0, 0, 1, 0, 0, 0]
assert {"lru", "arc", "sarc", "opt"} <= set(misspenalty.policies())
print("the installed package works")
