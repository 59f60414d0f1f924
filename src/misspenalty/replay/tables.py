"""Make tables of results that draw themselves."""

from types import SimpleNamespace
from typing import Any

import pandas as pd

from misspenalty.replay.cache_size import block_bytes_of
from misspenalty.traces.trace import Trace


class Plot:
    """The ``plot`` of a table: its own figure if it is called without arguments, otherwise the ``plot`` of pandas."""

    def __init__(self, table: pd.DataFrame) -> None:
        self._table = table

    def __getattr__(self, name: str) -> Any:
        return getattr(pd.DataFrame(self._table).plot, name)

    def __call__(self, *args: Any, **settings: Any) -> Any:
        """Return the `matplotlib.figure.Figure` of the table or, with arguments, the plot that pandas draws."""
        if args or settings:
            return pd.DataFrame(self._table).plot(*args, **settings)
        from misspenalty.plotting import curve  # importing Matplotlib takes longer than computing most curves

        facts, table = self._table.attrs, pd.DataFrame(self._table)
        counted = "blocks" if facts["block_bytes"] else "objects"
        trace = SimpleNamespace(name=facts["name"], footprint_bytes=facts["footprint_bytes"])
        return getattr(curve, facts["figure"])(table, facts["block_bytes"], curve.title(trace), counted)


class Drawn(pd.DataFrame):
    """A DataFrame whose ``plot()`` draws the table's figure; otherwise ``plot`` is that of pandas.

    ``attrs`` has ``figure``, the name of a function of `misspenalty.plotting.curve`, and the trace's ``name``,
    ``footprint_bytes`` and ``block_bytes`` (None if objects differ in size). Parts of the table are plain DataFrames.
    """

    @property
    def _constructor(self) -> Any:
        return pd.DataFrame

    @property
    def plot(self) -> Plot:  # type: ignore[override]
        """Draw the table."""
        return Plot(self)


def drawn(table: pd.DataFrame, figure: str, trace: Trace) -> Drawn:
    """Return a table of results for a trace as a `Drawn` table, which can draw itself.

    Examples
    --------
    >>> rows = pd.DataFrame({"policy": ["lru"], "cache_blocks": [2], "hit_ratio": [0.5]})
    >>> table = drawn(rows, "hit_ratio", Trace.from_blocks([1, 2, 1]))
    >>> [axes.get_ylabel() for axes in table.plot().axes], type(table[:1]).__name__
    (['Hit ratio (%)'], 'DataFrame')
    """
    made = Drawn(table)
    made.attrs |= {
        "figure": figure,
        "name": trace.name,
        "footprint_bytes": trace.footprint_bytes,
        "block_bytes": block_bytes_of(trace),
    }
    return made
