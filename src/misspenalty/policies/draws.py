"""Draw random numbers from SplitMix64, as the kernels do, for policies that decide by chance."""

from misspenalty.traces.splitmix import GOLDEN, MASK, mix


class Draws:
    """Random numbers of SplitMix64, from a seed.

    Examples
    --------
    >>> Draws(0).next()
    16294208416658607535
    """

    def __init__(self, seed):
        self.state = seed

    def next(self):
        """Return the next whole number below 2**64."""
        self.state = self.state + GOLDEN & MASK
        return mix(self.state)

    def below(self, bound):
        """Return a whole number below `bound`, which is at most 2**32.

        Examples
        --------
        >>> draws = Draws(0)
        >>> [draws.below(6) for _ in range(5)]
        [5, 2, 0, 5, 0]
        """
        return ((self.next() >> 32) * bound) >> 32

    def share(self):
        """Return a number of at least 0 and below 1.

        Examples
        --------
        >>> round(Draws(0).share(), 4)
        0.8833
        """
        return (self.next() >> 11) * 2.0**-53


def draw_of(number):
    """Return draw `number`, counted from 0, of the generator with seed 0: the hash of the block with that number.

    Examples
    --------
    >>> draw_of(0), draw_of(1) % 100
    (16294208416658607535, 0)
    """
    return mix((number + 1) * GOLDEN & MASK)
