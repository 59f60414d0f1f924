"""Perfect foresight: predicts the events that follow, since it is given the future. A ceiling, not in the register."""

from misspenalty.prefetch.predictors._foresight import Foresight

__all__ = ["Foresight"]
