"""Measure how often predictors predict the next file correctly."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from misspenalty.errors import InputError
from misspenalty.prefetch.predictors.registry import find_predictor
from misspenalty.traces.columns import unmasked


class Accuracy(NamedTuple):
    """Counts of predictions of the next event.

    Attributes
    ----------
    events : int
        Events that were checked against the predictions: all except the first.
    predicted : int
        Events before which at least one file was predicted.
    first : int
        Events whose file was the first of those predicted.
    among : int
        Events whose file was among those predicted.
    files : float
        Mean number of files predicted after an event.
    memory : int
        Bytes of the learnt state.
    """

    events: int
    predicted: int
    first: int
    among: int
    files: float
    memory: int


def measure_accuracy(ids: ArrayLike, predictor: str | type, **parameters: Any) -> Accuracy:
    """Feed a trace to a predictor, and count how often it predicted the next event.

    Parameters
    ----------
    ids : array-like of int, shape (n,)
        Files in the order of their events, as dense ids; the block ids of any trace are accepted, too.
    predictor : str or type
        A name (see `known_predictors`), or a class with ``access(file)``.
    **parameters
        Parameters of the predictor.

    Returns
    -------
    Accuracy

    Raises
    ------
    InputError
        `ids` is empty or not a one-dimensional array of whole numbers, or holds negative numbers or ids of 2**31 or
        more.
    ParameterError
        The predictor or a parameter is unknown or invalid, some of `ids` are masked or rows of different lengths, or
        ``access`` of a predictor written in Python failed or predicted an id out of range.
    """
    definition = find_predictor(predictor)
    parameters = definition.check(parameters)
    ids = unmasked(ids, "ids")
    if ids.ndim != 1 or ids.dtype.kind not in "iu" or not ids.size or ids.min() < 0 or ids.max() >= 2**31:
        raise InputError("the trace is empty or its ids are not dense; expected files numbered from 0")
    ids = np.ascontiguousarray(ids, np.uint32)
    kernel = definition.kernel(int(ids.max()) + 1, **parameters)
    rank, number = np.empty((2, len(ids)), np.uint32)
    kernel.feed(ids, rank, number)
    return Accuracy(
        events=len(ids) - 1,
        predicted=int((number[:-1] > 0).sum()),
        first=int((rank[1:] == 1).sum()),
        among=int((rank[1:] > 0).sum()),
        files=float(number.mean()),
        memory=kernel.memory,
    )
