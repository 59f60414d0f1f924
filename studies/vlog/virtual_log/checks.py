"""Check external input to a virtual log: the places of a layout, and the places and the tree of a recovered map."""

import numpy as np

from misspenalty.errors import ParameterError


def check_places(free, unmapped, unit, step, logical, physical, records):
    """Raise an error unless blocks and map sectors are on the disk, not in use, and each listed once.

    Parameters
    ----------
    free : bool, shape (tracks, sectors)
        Free sectors.
    unmapped : bool, shape (blocks,)
        Logical blocks that have no place yet.
    unit, step : int
        Sectors per block, and from one block's start to the next one's.
    logical, physical : int, shape (n,)
        Blocks, and where to put them.
    records : int, shape (m,)
        Sectors of the map's pieces.

    Raises
    ------
    ParameterError
    """
    (tracks, sectors), blocks = free.shape, len(unmapped)
    per_track = (sectors - unit) // step + 1
    logical, physical, records = (np.asarray(numbers, np.int64) for numbers in (logical, physical, records))
    if len(logical) != len(physical):
        raise ParameterError(f"{len(logical)} logical blocks at {len(physical)} physical ones; expected equal numbers")
    for what, numbers, end in (
        ("logical block", logical, blocks),
        ("physical block", physical, tracks * per_track),
        ("map sector", records, tracks * sectors),
    ):
        outside = numbers[(numbers < 0) | (numbers >= end)]
        if len(outside):
            raise ParameterError(f"{what} {outside[0]}; expected 0 to {end - 1}")
    first = physical // per_track * sectors + physical % per_track * step
    places = np.concatenate([(first[:, None] + np.arange(unit)).ravel(), records])
    for what, numbers, unused in (("logical block", logical, unmapped), ("sector", places, free.ravel())):
        number, times = np.unique(numbers, return_counts=True)
        taken = number[(times > 1) | ~unused[number]]
        if len(taken):
            raise ParameterError(f"{what} {taken[0]} would be used twice")


def check_tree(pieces, number, children):
    """Raise an error unless `pieces` holds every piece of the map once and is a tree, with the log's tail first and
    children after their parents.

    Parameters
    ----------
    pieces : list of (piece, parent)
        The parent of the tail is -1.
    number : int
        Number of pieces.
    children : int
        Maximum number of children of the tail; other pieces may have one more, as an unfinished transaction's record
        also points to the tail before it.

    Raises
    ------
    ParameterError
    """
    if sorted(piece for piece, _ in pieces) != [*range(number)]:
        raise ParameterError(f"the map has {len(pieces)} pieces; expected pieces 0 to {number - 1}, each once")
    degree = {}
    for piece, parent in pieces:
        if parent not in degree and (degree or parent != -1):
            raise ParameterError(f"no newer map sector points to piece {piece} of the map")
        degree[piece] = 0
        if parent != -1:
            degree[parent] += 1
            most = children + (parent != pieces[0][0])
            if degree[parent] > most:
                raise ParameterError(
                    f"the map sector of piece {parent} points to {degree[parent]} others; expected at most {most}"
                )
