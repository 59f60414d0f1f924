"""Compute SplitMix64 for whole numbers and for arrays, as the kernels do (``_splitmix.pxd``).

G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014: the state grows by
`GOLDEN` at each draw, and the draw is `mix` of the new state. `mix` alone is a good hash of 64 bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import numpy as np

Word = TypeVar("Word", int, "np.ndarray")
GOLDEN = 0x9E3779B97F4A7C15
MASK = (1 << 64) - 1


def mix(z: Word) -> Word:
    """Return the random number that is drawn from a state.

    Parameters
    ----------
    z : int or uint64 array
        Below 2**64.

    Returns
    -------
    int or uint64 array

    Examples
    --------
    >>> import numpy as np
    >>> mix(GOLDEN), mix(np.uint64([GOLDEN])).tolist()
    (16294208416658607535, [16294208416658607535])
    """
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31
