"""Predict the events that follow, given the future: an upper bound, which is not a registered predictor."""

from misspenalty.prefetch.predictors._foresight import Foresight

__all__ = ["Foresight"]
