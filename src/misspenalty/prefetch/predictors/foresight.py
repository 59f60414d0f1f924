"""Predict the events that follow, given the future: an upper bound, which is not in the register."""

from misspenalty.prefetch.predictors._foresight import Foresight

__all__ = ["Foresight"]
