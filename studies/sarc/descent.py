"""Search along one parameter after another, with strides that are halved when no neighbour is better."""


def moved(point, place, stride, bounds, doubled=False):
    """Return a point with one parameter changed, or None if the new value is out of range.

    A value that is multiplied is rounded to three significant digits.

    Parameters
    ----------
    point : tuple of float
    place : int
        Index of the parameter.
    stride : float
        Amount of the change; if `doubled`, the number of doublings (negative: of halvings).
    bounds : (float, float)
        Lowest and highest value.
    doubled : bool

    Returns
    -------
    tuple of float or None

    Examples
    --------
    >>> moved((1.0, 64), 1, -1, (16, 1024), doubled=True)
    (1.0, 32.0)
    """
    value = float(f"{point[place] * 2.0**stride:.3g}") if doubled else round(point[place] + stride, 10)
    low, high = bounds
    return (*point[:place], value, *point[place + 1 :]) if low <= value <= high else None


def descend(factors, start, strides, finest, ranges, doubled=None):
    """Search along one parameter after another, with ever smaller strides.

    Parameters
    ----------
    factors : callable
        Returns the factor of each point of a list; the smaller, the better.
    start : tuple of float
    strides, finest : sequence of float
        Per parameter: first stride and the stride at which the search ends; their ratio is a power of two.
    ranges : sequence of (float, float)
        Lowest and highest value of each parameter.
    doubled : sequence of bool, optional
        Whether a parameter's strides are doublings.

    Returns
    -------
    tuple of float
        A point none of whose neighbours, one finest stride away, is better.

    Examples
    --------
    >>> bowl = lambda points: [abs(x - 3) + abs(y - 2) for x, y in points]
    >>> descend(bowl, (9, 9), (4, 4), (1, 1), ((0, 10), (0, 10)))
    (3, 2)
    """
    doubled = doubled or [False] * len(start)
    point, best = start, factors([start])[0]
    while True:
        before = point
        for place, (stride, bounds, twice) in enumerate(zip(strides, ranges, doubled, strict=True)):
            ways = [-stride, stride]
            while ways:
                near = [moved(point, place, way, bounds, twice) for way in ways]
                near = {found: way for found, way in zip(near, ways, strict=True) if found is not None}
                least, nearest = min(zip(factors(list(near)), near, strict=True), default=(best, point))
                ways = [near[nearest]] if least < best else []
                if ways:
                    point, best = nearest, least
        if point == before:
            if list(strides) == list(finest):
                return point
            strides = [max(stride / 2, end) for stride, end in zip(strides, finest, strict=True)]
            strides = [int(stride) if stride == int(stride) else stride for stride in strides]
