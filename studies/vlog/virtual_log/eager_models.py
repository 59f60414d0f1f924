"""Compute the expected cost of eager writing by the closed-form models of the virtual-log paper, in sectors that pass
unused.

Paper: R. Y. Wang, T. E. Anderson, D. A. Patterson, "Virtual Log Based File Systems for a Programmable Disk", OSDI 1999,
sections 2.1 to 2.3 and appendix. The recurrence of the single track and the structure of the compactor's cost are
printed there; the closed forms are derived from them. `n` is the number of sectors per track, `p` the share of them
that is free, and waits are counted from the boundary of a sector.
"""

import math

from misspenalty.errors import ParameterError


def track_skip(n, p):
    """Return the mean number of sectors that pass before a free one on a single track: (1-p) n / (1 + p n).

    The formula solves E(n, k) = (n-k)/n (1 + E(n-1, k)) for k = p n free sectors in random places.
    """
    _check(n, p)
    return (1 - p) * n / (1 + p * n)


def cylinder_skip(n, p, tracks, switch):
    """Return the mean number of sectors that pass before a free one in a cylinder of `tracks` tracks, if a head switch
    takes `switch` sectors.

    This is E[min(x, y)], where x is the wait on the arm's own track, P(x >= k) = (1-p)^k, and y is the wait on the
    others, none of which can be reached during the first `switch` sectors: P(y >= k) = q^max(k - switch, 0),
    q = (1-p)^(tracks-1).
    """
    _check(n, p)
    stay, whole = 1 - p, math.floor(switch)
    own_track = math.fsum(stay**k for k in range(1, whole + 1))
    # The other terms are a geometric series with the ratio stay**tracks = 1 - p (1 + stay + … + stay**(tracks-1)).
    first = stay ** (whole + 1) * stay ** ((tracks - 1) * (whole + 1 - switch))
    return own_track + first / (p * math.fsum(stay**k for k in range(tracks)))


def fill_skip(n, m):
    """Return the mean number of sectors that would pass unused while an empty track is filled down to `m` free sectors,
    if the free sectors were always in random places.

    This is the sum of (n-i)/(1+i) for i = m+1 … n free sectors: (n+1)(H(n+1) - H(m+1)) - (n-m), where H(k) is the k-th
    harmonic number.
    """
    _check_fill(n, m)
    return math.fsum((n - i) / (1 + i) for i in range(m + 1, n + 1))


def crowding(n, m):
    """Return what filling costs in addition to `fill_skip`, because writes are crowded on a track that is filled from
    empty.

    The exponent 1 + n/36 is printed; the rest of the formula is recalled from the paper.
    """
    _check_fill(n, m)
    e = 1 + n / 36
    return max(n - m - 0.5, 0) ** (e + 2) / ((8 - n / 96) * (e + 2) * n**e)


def compactor_ns(n, m, switch_ns, sector_ns, crowded=True):
    """Return the mean time to locate a free sector when empty tracks are filled down to `m` free sectors, one after
    another, in ns."""
    skipped = fill_skip(n, m) + (crowding(n, m) if crowded else 0)
    return (switch_ns + sector_ns * skipped) / (n - m)


def _check(n, p):
    if n < 1 or not 0 < p <= 1:
        raise ParameterError(f"n is {n!r}, p is {p!r}; expected n of at least 1, and p above 0 and at most 1")


def _check_fill(n, m):
    if not 0 <= m < n:
        raise ParameterError(f"filling {n!r} sectors down to {m!r} free ones; expected 0 to {n - 1}")
